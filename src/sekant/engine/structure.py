"""What a model is apart from its numbers, and its numbers beside it.

Models that differ in numbers alone (masses, springs, hard points, coefficients of tires) have one structure, and one
compiled system serves all of them: its plain numbers are run-time parameters that nobody sees. Functions and facts
are then found on disk by the structure, before any equation is built.

A number stands in a field or as a numeral in an expression. Zeros, ones in vectors and a numeral 1 simplify
equations, and exponents decide on their kind: they are part of the structure, as are names, types, curves, tables,
fields that only take numbers, and which entries of one vector are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from sekant.model.expressions.expression import Expression
from sekant.model.fields import Path, replace_numbers
from sekant.model.model import Model
from sekant.model.resolve import ITEMS, PLAIN

PARTS = (*(name for name in ITEMS if name != "shapes"), "ground", "gravity", "parameters", "natural")
"""Of a model, in which numbers may differ; pictures of one model are those of all."""
WHOLE = -1
Numeral = tuple[Path, int]
"""Where a number stands: its path, and which node of the expression there, or the `WHOLE` of the field."""


@dataclass(frozen=True, eq=False)
class Structure:
    """`model`: names in place of the plain numbers, which it has as parameters; `numbers`: their values."""

    model: Model
    numbers: Mapping[str, float]

    @property
    def bare(self) -> Model:
        """The model without the values of its plain numbers, pictures and texts: the same for all models of this
        structure."""
        named = {**self.model.parameters, **dict.fromkeys(self.numbers, 0.0)}
        return self.model.model_copy(
            update={"parameters": named, "shapes": {}, "name": "", "description": ""}
        )


def structure_of(model: Model, parameters: Sequence[str] = ()) -> Structure:
    """The structure of a model whose run-time `parameters` are no plain numbers."""
    numbers: dict[str, float] = {}
    shared: dict[tuple[Path, float], str] = {}

    def name(place: Numeral, x: float) -> str:
        path, node = place
        simple = (0.0, 1.0, -1.0) if node == WHOLE and isinstance(path[-1], int) else (0.0,)
        if x in simple or not isfinite(x):
            return repr(float(x))
        found = f"{PLAIN}{len(numbers)}"
        if isinstance(path[-1], int):  # of a vector, such as equal moments of inertia across an axis
            found = shared.setdefault((path[:-1], x), found)
        numbers[found] = x
        return found

    written = rewritten(model, parameters, name)
    return Structure(written.model_copy(update={"parameters": {**written.parameters, **numbers}}), numbers)


def rewritten(model: Model, parameters: Sequence[str], text_of: Callable[[Numeral, float], str]) -> Model:
    """The model with `text_of` each number, but those of `parameters`, in its place: a numeral, or a name."""

    def replace(path: Path, number: Any) -> Any:
        if path[0] == "parameters" and path[-1] in parameters:
            return number
        if isinstance(number, float):
            text = text_of((path, WHOLE), number)
            return Expression(text) if text.startswith(PLAIN) else float(text)
        text = number.text
        for k, start, end, value in reversed(_numerals(number)):
            text = text[:start] + text_of((path, k), value) + text[end:]
        return Expression(text)

    return model.model_copy(
        update={part: replace_numbers(getattr(model, part), replace, (part,), data=False) for part in PARTS}
    )


def _numerals(expression: Expression) -> list[tuple[int, int, int, float]]:
    """Node, begin and end in the text, and value of each numeral, a minus before it included, in the order of the
    text; without exponents and a plain 1."""
    nodes, text = expression.nodes, expression.text
    powers = {node.args[1] for node in nodes if node.kind == "operator" and node.value == "^"}
    exponents = powers | {part for k in powers for part in nodes[k].args}
    signs = {node.args[0]: node for node in nodes if node.kind == "operator" and node.value == "neg"}
    found = []
    for k, node in enumerate(nodes):
        if node.kind == "number" and k not in exponents and text[node.start : node.end] != "1":
            sign = signs.get(k)
            if sign is not None and text[sign.start : node.start].strip() == "-":
                found.append((k, sign.start, node.end, -float(node.value)))
            else:
                found.append((k, node.start, node.end, float(node.value)))
    return sorted(found, key=lambda one: one[1])
