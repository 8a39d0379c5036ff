"""Models that differ in their numbers alone, compiled once: the numbers that differ are inputs of the system.

A number stands in a field or as a numeral in an expression; curves, tables, names and all else must be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sekant.cache.content import answer_key
from sekant.engine.state import State
from sekant.engine.system import Engine, System, compile
from sekant.model.expressions.expression import Expression
from sekant.model.fields import Path, replace_numbers
from sekant.model.model import Model
from sekant.model.resolve import ITEMS

PARTS = (*(name for name in ITEMS if name != "shapes"), "ground", "gravity", "parameters", "natural")
"""Of a model, in which numbers may differ; pictures of one model are those of all."""
MOST = 8
"""Kinds of models that are kept compiled."""
WHOLE = -1
PREFIX = "alike_"
Numeral = tuple[Path, int]
"""Where a number stands: its path, and which node of the expression there, or the `WHOLE` of the field."""


@dataclass(frozen=True, eq=False)
class Variant:
    """A system, and the `values` of its run-time parameters with which it is `model`."""

    system: System
    model: Model
    values: Mapping[str, float] = field(default_factory=dict)

    def initial_state(self) -> State:
        return self.system.initial_state(self.values)


@dataclass(eq=False)
class _Kind:
    model: Model
    numbers: Mapping[Numeral, float]
    inputs: dict[Numeral, str] = field(default_factory=dict)
    system: System | None = None


class Alike:
    """Compiles models; one that differs from an earlier one in numbers only takes its system."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[Any, ...], _Kind] = {}

    def variant(self, model: Model, parameters: Sequence[str] = (), engine: Engine = "llvm") -> Variant:
        """`model` compiled, with further run-time `parameters`, which are not among the values."""
        numbers: dict[Numeral, float] = {}

        def note(place: Numeral, value: float) -> str:
            numbers[place] = value
            return "0"

        bare = _rewritten(model, parameters, note)
        content = answer_key(bare.model_copy(update={"shapes": {}}), "alike")
        if content is None:
            return Variant(compile(model, parameters=parameters, engine=engine), model)
        key = (content, tuple(parameters), engine)
        kind = self._kinds.pop(key, None) or _Kind(model, numbers)
        while len(self._kinds) >= MOST:
            self._kinds.pop(next(iter(self._kinds)))
        self._kinds[key] = kind
        differ = [
            place for place, x in numbers.items() if x != kind.numbers[place] and place not in kind.inputs
        ]
        if differ or kind.system is None:
            kind.inputs |= {place: f"{PREFIX}{len(kind.inputs) + i}" for i, place in enumerate(differ)}
            names = [*parameters, *kind.inputs.values()]
            kind.system = compile(_with_inputs(kind, parameters), parameters=names, engine=engine)
        return Variant(kind.system, model, {name: numbers[place] for place, name in kind.inputs.items()})


def _with_inputs(kind: _Kind, parameters: Sequence[str]) -> Model:
    """The model of a kind, with the names of its inputs where their numbers stand."""
    if not kind.inputs:
        return kind.model
    written = _rewritten(kind.model, parameters, lambda place, x: kind.inputs.get(place, repr(x)))
    own = {name: kind.numbers[place] for place, name in kind.inputs.items()}
    return written.model_copy(update={"parameters": {**written.parameters, **own}})


def _rewritten(model: Model, parameters: Sequence[str], text_of: Callable[[Numeral, float], str]) -> Model:
    """The model with `text_of` each number, but those of `parameters`, in its place: a numeral, or a name."""

    def replace(path: Path, number: Any) -> Any:
        if path[0] == "parameters" and path[-1] in parameters:
            return number
        if isinstance(number, float):
            text = text_of((path, WHOLE), number)
            return Expression(text) if text.startswith(PREFIX) else float(text)
        text = number.text
        for k in sorted(range(len(number.nodes)), key=lambda k: -number.nodes[k].start):
            node = number.nodes[k]
            if node.kind == "number":
                text = text[: node.start] + text_of((path, k), float(node.value)) + text[node.end :]
        return Expression(text)

    return model.model_copy(
        update={part: replace_numbers(getattr(model, part), replace, (part,)) for part in PARTS}
    )
