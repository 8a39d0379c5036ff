"""Inputs as functions of time: from numbers, rows of data and Python functions to a system that they drive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.engine.system import System
from sekant.errors import SolverError, suggest
from sekant.formulations.build import equations_of
from sekant.object_code.cache import make_key
from sekant.tables.table import Table

InputValue = float | tuple[ArrayLike, ArrayLike] | Callable[[float], float]
"""A constant; rows (times (n,), values (n,)), joined by straight lines and held beyond; or a function of time."""
FIRST_ROWS, MOST_ROWS = 65, 32769
CLOSE = 1e-9
"""How closely the table of a function follows it, relative to its largest value."""


def split_inputs(
    system: System, given: Mapping[str, InputValue] | None, begin: float, end: float
) -> tuple[dict[str, float], dict[str, Table]]:
    """Constant inputs, and those that vary in time as tables over [begin, end] (s)."""
    constant: dict[str, float] = {}
    varying: dict[str, Table] = {}
    for name, value in (given or {}).items():
        if name not in system.inputs:
            hint = suggest(name, system.inputs, "inputs of the model")
            raise SolverError(f"'{name}' is not an input of this model; {hint}")
        if callable(value):
            varying[name] = _sampled(name, value, begin, end)
        elif not isinstance(value, (tuple, list, str)) and np.ndim(value) == 0:
            constant[name] = float(value)  # type: ignore[arg-type]
        else:
            varying[name] = _joined(name, value)
    return constant, varying


def driven_by(system: System, tables: Mapping[str, Table]) -> System:
    """The system with some of its inputs as functions of time."""
    if not tables:
        return system
    names = [name for name in system.parameters if name not in tables and name not in system.inputs]
    before = system.equations.resolved.given if system.facts.given else {}
    given, formulation = {**before, **tables}, system.facts.formulation

    def make() -> Any:
        return equations_of(system.model, formulation, names, given=given)

    content = [part for name, table in sorted(given.items()) for part in (name, *table.content)]
    return system.related(f"driven {names} {make_key(content)}", make)


def _joined(name: str, rows: Any) -> Table:
    try:
        t, u = (np.asarray(part, float).ravel() for part in rows)
    except (TypeError, ValueError):
        raise SolverError(
            f"input '{name}' must be a number, a pair (times, values) or a function of time"
        ) from None
    if t.size != u.size or t.size < 2:
        raise SolverError(
            f"input '{name}' needs as many times as values, two at least (got {t.size} and {u.size})"
        )
    if not (np.all(np.isfinite(t)) and np.all(np.isfinite(u))):
        raise SolverError(f"input '{name}' holds NaN or infinity")
    if np.any(np.diff(t) <= 0):
        row = int(np.argmax(np.diff(t) <= 0))
        raise SolverError(
            f"times of input '{name}' must increase: row {row + 1} has {t[row + 1]:g} s after {t[row]:g} s"
        )
    return Table.linear(t, u, extrapolation="constant", name=name)


def _sampled(name: str, function: Callable[[float], float], begin: float, end: float) -> Table:
    """A cubic spline through the function, refined until it follows between its nodes."""
    rows = FIRST_ROWS
    while True:
        t = np.linspace(begin, end, rows)
        u = _values(name, function, t)
        table = Table.cubic(t, u, extrapolation="constant", name=name)
        between = 0.5 * (t[1:] + t[:-1])
        exact = _values(name, function, between)
        error = float(np.max(np.abs(np.array([table(x)[0] for x in between]) - exact)))
        if error <= CLOSE * max(float(np.max(np.abs(u))), 1e-300):
            return table
        if rows >= MOST_ROWS:
            raise SolverError(
                f"input '{name}' cannot be followed as a smooth function of time (error {error:.2g}, {rows} rows): "
                "it jumps, kinks or oscillates fast; give it as rows (times, values), or as an expression of t"
            )
        rows = 2 * rows - 1


def _values(name: str, function: Callable[[float], float], t: NDArray[np.float64]) -> NDArray[np.float64]:
    values = np.array([float(function(float(x))) for x in t])
    if not np.all(np.isfinite(values)):
        raise SolverError(f"input '{name}' is not finite at t = {t[int(np.argmin(np.isfinite(values)))]:g} s")
    return values
