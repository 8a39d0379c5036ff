"""The structure of a model, separated from its numbers.

Models that differ in numbers alone (masses, springs, hard points, coefficients of tires) have one structure, and one
compiled system serves all of them: its plain numbers are hidden run-time parameters. Functions and facts are
then cached by the structure, and found before any equation is built.

A number is the value of a field or a numeral in an expression. Zeros, ones in vectors and a numeral 1 simplify
equations, and exponents determine their type: these are part of the structure, as are names, types, fields that only
take numbers, and which entries of one vector are equal (except for points and start velocities). For curves
and surfaces that equations only look up (`Joint.looks_up`), and for tables that only expressions call, the
shape is part of the structure and the pieces are data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from sekant.cache.plain import NotPlain
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.expressions.expression import Expression
from sekant.model.fields import Path, replace_numbers
from sekant.model.joints.base import Joint
from sekant.model.model import Model
from sekant.model.quantities import Description
from sekant.model.resolve import ITEMS, PLAIN
from sekant.model.table import TableData
from sekant.tables.table import Table, Table2

PARTS = (*(name for name in ITEMS if name != "shapes"), "ground", "gravity", "parameters", "natural")
"""Parts of a model whose numbers may differ. Shapes are not among them."""
WHOLE = -1
CALLED = "table "
"""Prefix of the names of tables, because curves may have the same names."""
_ENCLOSED = re.compile(rf"(?<!\w)\(({PLAIN}\d+)\)")
"""A name in parentheses, the form of negative numbers in the mirror image of an expression."""
STARTS = ("velocity", "v0")
"""Fields of joints with start values: a zero there does not simplify equations."""
POINTS = ("position", "at", "com")
"""Fields whose entries are equal only by coincidence."""
Numeral = tuple[Path, int]
"""The place of a number: its path, and the node of the expression there, or `WHOLE` for the field."""


Geometry = PoseCurve | PoseSurface


@dataclass(frozen=True, eq=False)
class Structure:
    """`model`: the model with names instead of plain numbers, which become parameters; `numbers`: their
    values; `geometry`: curves and surfaces whose pieces are data, by their names in the model; `tables`:
    names of such tables."""

    model: Model
    numbers: Mapping[str, float]
    geometry: Mapping[str, Geometry]
    tables: frozenset[str] = frozenset()

    @property
    def bare(self) -> Model:
        """The model without the values of its plain numbers, pieces of curves, pictures and texts: the same for all
        models of this structure."""
        named = {**self.model.parameters, **dict.fromkeys(self.numbers, 0.0)}
        first: dict[int, int] = {}
        for number, curve in enumerate(self.geometry.values()):
            first.setdefault(id(curve.table), number)
        curves = {name: _shape_of(curve, first[id(curve.table)]) for name, curve in self.geometry.items()}
        given = self.model.tables
        tables = {name: _bare_table(data) if name in self.tables else data for name, data in given.items()}
        changes = {"parameters": named, "curves": {**self.model.curves, **curves}, "tables": tables}
        return self.model.model_copy(update={**changes, "shapes": {}, "name": "", "description": ""})

    def with_numbers(self, numbers: Mapping[str, float]) -> Structure:
        """A copy with different values of some numbers."""
        own = {**self.numbers, **numbers}
        model = self.model.model_copy(update={"parameters": {**self.model.parameters, **own}})
        return Structure(model, own, self.geometry, self.tables)

    def name_of(self, value: Any) -> str | None:
        """Name of a table of the geometry, or of one that expressions call (see `sekant.cache.plain.Known`)."""
        name = self._names.get(id(value))
        if name is None and isinstance(value, Table) and value.name in self.tables:
            if value.content != self._called[value.name].content:
                raise NotPlain(f"values computed from table '{value.name}' are not part of the structure")
            return f"{CALLED}{value.name}"
        return name

    def named(self, name: str) -> Table | Table2:
        if name.startswith(CALLED):
            return self._called[name.removeprefix(CALLED)]
        return self.geometry[name].table

    @cached_property
    def _called(self) -> dict[str, Table]:
        return {name: self.model.tables[name].table(name) for name in self.tables}

    @cached_property
    def _names(self) -> dict[int, str]:
        return {id(curve.table): name for name, curve in reversed([*self.geometry.items()])}


def _shape_of(curve: Geometry, number: int) -> Geometry:
    """A curve with one piece instead of all; `number` distinguishes curves that share no table."""
    table, ends = curve.table, np.array([-1.0, 1.0])
    if isinstance(table, Table2):
        pieces = np.full((1, 1, *table.coefficients.shape[2:]), float(number))
        return replace(curve, table=Table2(ends, ends, pieces, table.extrapolation))  # type: ignore[arg-type]
    pieces = np.full((1, *table.coefficients.shape[1:]), float(number))
    return replace(curve, table=Table(ends, pieces, table.extrapolation))  # type: ignore[arg-type]


def _bare_table(data: TableData) -> TableData:
    """A table with four points instead of all."""
    return TableData(x=(0.0, 1.0, 2.0, 3.0), y=(0.0,) * 4, kind=data.kind, extrapolation=data.extrapolation)


def _called_tables(model: Model) -> frozenset[str]:
    """Tables of one variable that are used only in expressions (springs, for example, also need the integrals
    of their tables)."""
    found = {name for name, data in model.tables.items() if data.dimension == 1}
    for part in (*ITEMS, "curves"):
        if not found:
            break
        found -= _words_of(getattr(model, part))
    return frozenset(found)


def _words_of(item: Any) -> set[str]:
    """All texts in an item that are not expressions."""
    if isinstance(item, str):
        return {item}
    if isinstance(item, Description):
        parts = [getattr(item, name) for name in type(item).model_fields]
    elif isinstance(item, dict):
        parts = [*item.values()]
    else:
        parts = [*item] if isinstance(item, (tuple, list)) else []
    return set().union(*map(_words_of, parts)) if parts else set()


def _looked_up(model: Model) -> dict[str, Geometry]:
    """Curves and surfaces from which items only look up values."""
    users: dict[str, list[Any]] = {name: [] for name in model.curves}
    for items in (model.joints, model.constraints, model.contacts, model.forces):
        for item in items.values():
            for field in ("curve", "surface", "pose_surface"):
                used = getattr(item, field, None)
                if isinstance(used, str) and used in users:
                    users[used].append(item)
    return {
        name: model.curves[name]
        for name, items in users.items()
        if items and all(isinstance(item, Joint) and item.looks_up(model.curves[name]) for item in items)
    }


def structure_of(
    model: Model, parameters: Sequence[str] = (), more: Mapping[str, float] | None = None
) -> Structure:
    """The structure of a model; its run-time `parameters` are not plain numbers. `more`: further numbers of
    its equations."""
    numbers: dict[str, float] = dict(more or {})
    shared: dict[tuple[Path, float], str] = {}

    def name(place: Numeral, x: float) -> str:
        path, node = place
        entry = node == WHOLE and isinstance(path[-1], int)
        starts = path[0] == "joints" and path[-2] in STARTS
        if (x in ((0.0, 1.0, -1.0) if entry else (0.0,)) and not starts) or not isfinite(x):
            return repr(float(x) + 0.0)  # -0.0 as 0.0, because a mirror image may have -0.0
        found = f"{PLAIN}{len(numbers)}"
        if entry and path[-2] not in POINTS and not starts:  # such as equal moments of inertia across an axis
            found = shared.setdefault((path[:-1], x), found)
        numbers[found] = x
        return found

    written = rewritten(model, parameters, name)
    named = written.model_copy(update={"parameters": {**written.parameters, **numbers}})
    return Structure(named, numbers, _looked_up(model), _called_tables(model))


def rewritten(model: Model, parameters: Sequence[str], text_of: Callable[[Numeral, float], str]) -> Model:
    """The model with each number, except those of `parameters`, replaced by its `text_of`: a numeral or a name."""

    def replace(path: Path, number: Any) -> Any:
        if path[0] == "parameters" and path[-1] in parameters:
            return number
        if isinstance(number, float):
            text = text_of((path, WHOLE), number)
            return Expression(text) if text.startswith(PLAIN) else float(text)
        text = number.text
        for k, start, end, value in reversed(_numerals(number)):
            text = text[:start] + text_of((path, k), value) + text[end:]
        return Expression(_ENCLOSED.sub(r"\1", text))

    return model.model_copy(
        update={part: replace_numbers(getattr(model, part), replace, (part,), data=False) for part in PARTS}
    )


def _numerals(expression: Expression) -> list[tuple[int, int, int, float]]:
    """Node, begin and end in the text, and value of each numeral in the order of the text. A preceding minus
    belongs to the numeral; exponents and a plain 1 are excluded."""
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
