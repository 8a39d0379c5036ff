"""Compiles models that differ only in numbers once: the numbers that differ become inputs of the system.

A number is the value of a field or a numeral in an expression; curves, tables, names and everything else must
agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sekant.cache.content import Recent, answer_key
from sekant.engine.by_structure import compile_by_structure
from sekant.engine.state import State
from sekant.engine.structure import Numeral, rewritten
from sekant.engine.system import Engine, System, compile
from sekant.model.model import Model
from sekant.model.resolve import PLAIN

MOST = 8
"""Largest number of kinds of models in the cache."""


@dataclass(frozen=True, eq=False)
class Variant:
    """A system, and the `values` of its run-time parameters with which it represents `model`."""

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
    """Compiles models; one that differs from an earlier one only in numbers reuses its system."""

    def __init__(self) -> None:
        self._kinds = Recent(MOST)

    def variant(self, model: Model, parameters: Sequence[str] = (), engine: Engine = "llvm") -> Variant:
        """`model` compiled, with further run-time `parameters`, which are not among the values."""
        numbers: dict[Numeral, float] = {}

        def note(place: Numeral, value: float) -> str:
            numbers[place] = value
            return "0"

        bare = rewritten(model, parameters, note)
        content = answer_key(bare.model_copy(update={"shapes": {}}), "alike")
        if content is None:
            return Variant(compile(model, parameters=parameters, engine=engine), model)
        key = (content, tuple(parameters), engine)
        kind: _Kind = self._kinds.answer(key, lambda: _Kind(model, numbers))
        differ = [
            place for place, x in numbers.items() if x != kind.numbers[place] and place not in kind.inputs
        ]
        if differ or kind.system is None:
            kind.inputs |= {place: f"{PLAIN}{len(kind.inputs) + i}" for i, place in enumerate(differ)}
            names = [*parameters, *kind.inputs.values()]
            kind.system = compile_by_structure(
                _with_inputs(kind, parameters), parameters=names, engine=engine
            )
        return Variant(kind.system, model, {name: numbers[place] for place, name in kind.inputs.items()})


def _with_inputs(kind: _Kind, parameters: Sequence[str]) -> Model:
    """The model of a kind, with the names of its inputs instead of their numbers."""
    if not kind.inputs:
        return kind.model
    written = rewritten(kind.model, parameters, lambda place, x: kind.inputs.get(place, repr(x)))
    own = {name: kind.numbers[place] for place, name in kind.inputs.items()}
    return written.model_copy(update={"parameters": {**written.parameters, **own}})
