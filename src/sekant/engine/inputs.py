"""Inputs as functions of time: a system whose inputs follow numbers, rows of data or Python functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sekant import formulations
from sekant.cache.store import make_key
from sekant.engine.system import System
from sekant.errors import DataError, SolverError, suggest
from sekant.tables.following import following
from sekant.tables.table import Table

InputValue = float | tuple[ArrayLike, ArrayLike] | Callable[[float], float]
"""A constant; rows (times (n,), values (n,)) with linear interpolation and constant extrapolation, where a
repeated time is a jump; or a function of time."""


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
        if system.structure is None:
            return formulations.equations_of(system.model, formulation, names, given=given)
        plain = [*names, *(name for name in system.inputs if name not in tables), *system.structure.numbers]
        return formulations.equations_of(system.structure.model, formulation, plain, given=given)

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
            f"input '{name}' needs a value for each time, and at least two times (got {t.size} and {u.size})"
        )
    if not (np.all(np.isfinite(t)) and np.all(np.isfinite(u))):
        raise SolverError(f"input '{name}' contains NaN or infinity")
    width = np.diff(t)
    wrong = (width < 0) | ((width == 0) & (np.diff(t, prepend=t[0])[:-1] == 0))
    wrong[-1] |= width[-1] == 0
    if np.any(wrong):
        row = int(np.argmax(wrong))
        raise SolverError(
            f"times of input '{name}' must increase, except for jumps between two rows: "
            f"times[{row}] = {t[row]:g} s is followed by times[{row + 1}] = {t[row + 1]:g} s"
        )
    positive = width > 0
    slope = np.diff(u)[positive] / width[positive]
    coefficients = np.stack([u[:-1][positive], slope], axis=1)[:, None, :]
    return Table(np.append(t[:-1][positive], t[-1]), coefficients, extrapolation="constant", name=name)


def _sampled(name: str, function: Callable[[float], float], begin: float, end: float) -> Table:
    """The function of time as a table over [begin, end], split where it jumps or kinks."""
    try:
        return following(function, begin, end, name)
    except DataError as fault:
        raise SolverError(
            f"input '{name}': this Python function cannot be approximated by a table: {fault}; give the input as "
            "rows (times, values), as an expression of t, or step by step (sk.Simulation)"
        ) from None
