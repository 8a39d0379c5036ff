"""From named parameters to numbers: symbolic parameters become inputs, the others become constants."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from sekant.errors import ModelError, suggest
from sekant.geometry.spatial import scalar
from sekant.model.body import check_body
from sekant.model.expressions.expression import Expression
from sekant.model.fields import Path, replace_numbers, unit_at
from sekant.model.model import Model
from sekant.model.number_signs import SignedNumber, signed_numbers
from sekant.model.quantities import Description, Given
from sekant.model.surface_shape import SurfaceShape
from sekant.tables.bound_oracle import BoundOracle
from sekant.tables.table import Table
from sekant.units import parse_unit

ITEMS = ("bodies", "joints", "forces", "constraints", "contacts", "motions", "sensors", "signals", "shapes")

PLAIN = "plain_number_"
"""Prefix of the names of parameters that replace plain numbers of a model (see `sekant.engine.structure`)."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A run-time input of a compiled model: a scalar, or several numbers under one name."""

    name: str
    default: np.ndarray  # (size,) in SI


@dataclass(frozen=True, eq=False)
class BodyCheck:
    """Check that parameter values are possible for the bodies and allowed by the items.

    `bodies`: those whose mass or inertia follows from p; `numbers`: p (np,) -> mass and inertia of each (7, n);
    `causes`: names and places in p of the numbers from which each follows; `size`: np; `signed`: numbers that
    must have a sign.
    """

    bodies: tuple[str, ...]
    numbers: BoundOracle | None
    causes: tuple[tuple[tuple[str, slice], ...], ...]
    size: int
    signed: tuple[SignedNumber, ...] = ()

    def __call__(self, p: np.ndarray) -> None:
        """Check p; entries after the (np,) parameters are ignored."""
        for number in self.signed:
            number.check(p)
        if self.numbers is None:
            return
        rows = self.numbers(p[: self.size])[0].reshape(7, -1).T
        for name, (mass, *inertia), causes in zip(self.bodies, rows.tolist(), self.causes, strict=True):
            try:
                check_body(mass, inertia)
            except ValueError as fault:
                given = ", ".join(f"{cause} = {_shown(p[span])}" for cause, span in causes)
                raise ModelError(f"{fault} (with {given})", path=("bodies", name)) from None


@dataclass(frozen=True)
class ResolvedModel:
    """A model whose numbers are floats or SX; only signals are still expressions."""

    model: Model
    parameters: tuple[Parameter, ...]
    p: ca.SX  # (np,), the symbolic parameters in order
    values: Mapping[str, Any]  # every named parameter: float, or SX where it depends on p
    given: Mapping[str, Table] = field(default_factory=dict)  # inputs that are functions of time
    paths: Mapping[str, tuple[Any, ...]] = field(
        default_factory=dict
    )  # of parameters that replace numbers of items

    @property
    def defaults(self) -> np.ndarray:
        """(np,) default values of the symbolic parameters."""
        return np.concatenate([np.zeros(0), *[parameter.default for parameter in self.parameters]])

    @cached_property
    def check(self) -> BodyCheck:
        """Refuses values (np,) of the parameters that are impossible for a body."""
        numbers = {name: (body.mass, *body.inertia) for name, body in self.model.bodies.items()}
        found = {
            name: ca.vertcat(*(scalar(x) for x in row))
            for name, row in numbers.items()
            if any(isinstance(number, ca.SX) for number in row)
        }
        if not found:
            return BodyCheck((), None, (), 0, self.signed)
        function = ca.Function("bodies", [self.p], [ca.densify(ca.horzcat(*found.values()))])
        causes = tuple(self._parameters_in(row) for row in found.values())
        return BodyCheck(tuple(found), BoundOracle(function), causes, self.p.numel(), self.signed)

    @property
    def signed(self) -> tuple[SignedNumber, ...]:
        """Scalars of items among the parameters that must have a sign, but for masses, which follow from bodies."""
        start, places = 0, []
        for one in self.parameters:
            path = self.paths.get(one.name)
            if path is not None and one.default.size == 1 and path[0] != "bodies":
                places.append((path, start))
            start += one.default.size
        return signed_numbers(self.model, places)

    def _parameters_in(self, numbers: ca.SX) -> tuple[tuple[str, slice], ...]:
        """Names of the parameters from which some numbers follow, and their slices of p."""
        used = {symbol.element_hash() for symbol in ca.symvar(numbers)}
        symbols = [symbol.element_hash() for symbol in ca.vertsplit(self.p)] if self.p.numel() else []
        start, found = 0, []
        for one in self.parameters:
            span = slice(start, start + one.default.size)
            if used.intersection(symbols[span]):
                found.append((one.name, span))
            start = span.stop
        return tuple(found)


def resolve(
    model: Model, symbolic: Sequence[str] = (), given: Mapping[str, Table] | None = None
) -> ResolvedModel:
    """Replace every number and every expression in parameters by its value.

    `symbolic` lists the numbers that remain inputs: names of parameters, or ``item.field`` of any number in the
    model (``strut.stiffness``, ``arm.com``, ``arm.com[2]``). Inputs of the model always remain inputs, except those
    that are `given` as functions of time.
    """
    given = given or {}
    symbolic = [*symbolic, *(name for name in model.inputs if name not in symbolic and name not in given)]
    duplicates = {name for name in symbolic if list(symbolic).count(name) > 1}
    if duplicates:
        raise ModelError(f"parameter '{min(duplicates)}' is listed twice")
    for curve, names in model.curve_parameters.items():
        baked = _depends(model, names) & set(symbolic)
        if baked:
            raise ModelError(
                f"parameter '{min(baked)}' defines the curve '{curve}' and cannot vary from run to run, "
                "because curves are computed when the model is loaded; load the model again for each value "
                f"(set={{'{min(baked)}': ...}})"
            )
    defaults = parameter_values(model)
    parameters, values, fields, inputs = [], {}, {}, {}
    plain: dict[str, Path] = {}
    for name in symbolic:
        if name in model.parameters:
            default = np.array([defaults[name]])
            symbols = ca.SX.sym(name)
            values[name] = symbols
        elif name in model.inputs:
            default = np.array([_evaluate(model.inputs[name].default, defaults)])
            symbols = inputs[name] = ca.SX.sym(name)
        else:
            path, number = find_field(model, name)
            numbers = number if isinstance(number, tuple) else (number,)
            _refuse_signals(name, numbers, defaults)
            default = np.array([_evaluate(x, defaults) for x in numbers])
            symbols = ca.SX.sym(name, len(numbers))
            paths = [(*path, i) for i in range(len(numbers))] if isinstance(number, tuple) else [path]
            fields.update(zip(paths, ca.vertsplit(symbols), strict=True))
            if not isinstance(number, (tuple, Expression)):
                plain[name] = path
        parameters.append((Parameter(name, default), symbols))
    values = parameter_values(model, values) | inputs

    def replace(path: Path, number: Any) -> Any:
        if path in fields:
            return fields[path]
        if isinstance(number, Expression) and number.names <= values.keys() and not number.calls:
            return _evaluate(number, values)
        return number

    update = {name: replace_numbers(getattr(model, name), replace, (name,)) for name in (*ITEMS, "ground")}
    update["natural"] = replace_numbers(model.natural, replace, ("natural",))
    update["gravity"] = replace_numbers(model.gravity, replace, ("gravity",))
    update["simulation"] = replace_numbers(model.simulation, replace, ("simulation",))
    for name in ("joints", "constraints", "forces", "contacts"):
        update[name] = {key: with_geometry(model, item) for key, item in update[name].items()}
    p = ca.vertcat(*[symbols for _, symbols in parameters]) if parameters else ca.SX.zeros(0, 1)
    found = ResolvedModel(
        model.model_copy(update=update),
        tuple(parameter for parameter, _ in parameters),
        p,
        values,
        given,
        plain,
    )
    _check_bodies(model, found)
    return found


def default_values(model: Model, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Default values of the run-time parameters `names`, as `resolve` finds them, without building equations."""
    known = parameter_values(model)
    found = {}
    for name in names:
        if name in known:
            numbers: tuple[Any, ...] = (known[name],)
        elif name in model.inputs:
            numbers = (model.inputs[name].default,)
        else:
            number = find_field(model, name)[1]
            numbers = number if isinstance(number, tuple) else (number,)
        found[name] = np.array([_evaluate(x, known) for x in numbers])
    return found


def _check_bodies(model: Model, resolved: ResolvedModel) -> None:
    """Check masses and inertias that follow from parameters, at their default values."""
    for name, body in resolved.model.bodies.items():
        numbers = (body.mass, *body.inertia)
        if all(isinstance(number, float) for number in numbers):
            try:
                check_body(body.mass, body.inertia)  # type: ignore[arg-type]
            except ValueError as fault:
                given = model.bodies[name]
                used = {n for x in (given.mass, *given.inertia) for n in getattr(x, "names", ())}
                shown = ", ".join(f"{n} = {resolved.values[n]:g}" for n in sorted(used))
                raise ModelError(
                    f"{fault} (with {shown})" if shown else str(fault), path=("bodies", name)
                ) from None
    resolved.check(resolved.defaults)


def _shown(values: np.ndarray) -> str:
    row = ", ".join(f"{value:g}" for value in values)
    return row if values.size == 1 else f"({row})"


def with_geometry(model: Model, item: Any) -> Any:
    """A joint, constraint or contact that names a curve or surface of the model receives the geometry itself."""
    for key in ("pose_surface",) if isinstance(item, SurfaceShape) else ("curve", "surface"):
        given = getattr(item, key, None)
        bound = getattr(item, "bound", None)
        if given is not None and bound is not None:
            return bound(model.curves[given] if isinstance(given, str) else given)
        if isinstance(given, str):
            return item.model_copy(update={key: model.curves[given]})
    return item


def _depends(model: Model, names: Sequence[str]) -> set[str]:
    """`names` and the parameters that they are computed from."""
    found, front = set(names), list(names)
    while front:
        for name in getattr(model.parameters.get(front.pop()), "names", ()):
            if name not in found:
                found.add(name)
                front.append(name)
    return found


def parameter_values(model: Model, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Value of every named parameter; those in `given` are taken from there, others follow from them."""
    values: dict[str, Any] = dict(given or {})

    def value(name: str) -> Any:
        if name not in values:
            number = model.parameters[name]
            values[name] = number.evaluate(value, _no_call) if isinstance(number, Expression) else number
        return values[name]

    for name in model.parameters:
        value(name)
    return values


def _evaluate(number: Any, values: Mapping[str, Any]) -> Any:
    return number.evaluate(values.__getitem__, _no_call) if isinstance(number, Expression) else number


def _no_call(name: str, arguments: list) -> Any:
    raise ModelError(f"table '{name}' cannot be used in a constant")


def number_unit(model: Model, name: str) -> str | None:
    """The unit of the number that a run may set by `name`; None of named parameters without one. Raises for unknown
    names."""
    if name in model.parameters:
        value = model.parameters[name]
        return parse_unit(value.text).si if isinstance(value, Given) else None
    return model.inputs[name].unit if name in model.inputs else unit_at(model, find_field(model, name)[0])


def find_field(model: Model, name: str) -> tuple[Path, Any]:
    """Path and value of the number called ``item.field`` (or ``item.field[i]``, ``item.a.b``)."""
    collections: list[tuple[Path, Any]] = [
        ((collection,), getattr(model, collection)) for collection in ITEMS
    ]
    if model.natural is not None:
        collections += [
            (("natural", "items", section), items) for section, items in model.natural.items.items()
        ]
    for place, items in collections:
        for item_name in sorted(items, key=len, reverse=True):
            if not name.startswith(item_name + "."):
                continue
            path: Path = (*place, item_name)
            value: Any = items[item_name]
            for part in re.findall(r"[^.\[\]]+", name[len(item_name) + 1 :]):
                value, key = _step(value, part, name)
                path = (*path, key)
            return path, _numeric(value, name)
    hint = suggest(name.split(".")[0], [*model.parameters, *(n for _, items in collections for n in items)])
    raise ModelError(f"unknown parameter '{name}'; {hint}")


def _refuse_signals(name: str, numbers: tuple[Any, ...], defaults: Mapping[str, Any]) -> None:
    for number in numbers:
        if isinstance(number, Expression) and (number.calls or not number.names <= defaults.keys()):
            raise ModelError(
                f"parameter '{name}' varies in time ({number}) and has no single value; use a named "
                "parameter in this expression, and list that parameter instead"
            )


def _step(value: Any, part: str, name: str) -> tuple[Any, str | int]:
    if isinstance(value, Description):
        fields = list(type(value).model_fields)
        if part in fields:
            return getattr(value, part), part
        raise ModelError(f"parameter '{name}': there is no field '{part}'; {suggest(part, fields, 'fields')}")
    if isinstance(value, dict) and part in value:
        return value[part], part
    if isinstance(value, tuple) and part.isdigit() and int(part) < len(value):
        return value[int(part)], int(part)
    raise ModelError(f"parameter '{name}': there is no entry '{part}'")


def _numeric(value: Any, name: str) -> Any:
    numbers = value if isinstance(value, tuple) else (value,)
    if numbers and all(isinstance(number, (float, Expression)) for number in numbers):
        return value
    raise ModelError(f"parameter '{name}' is neither a number nor a list of numbers")
