"""Root loci: eigenvalues as functions of a parameter, with each mode tracked from value to value."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.linear.linear_model import LinearModel
from sekant.analyses.linear.linearize import linearize
from sekant.analyses.statics.equilibrium import equilibrium
from sekant.engine.state import State
from sekant.engine.system import System, as_system
from sekant.errors import AnalysisWarning, SolverError, without_repeats
from sekant.extensions import picture
from sekant.model.model import Model
from sekant.model.points.collector import Collector
from sekant.progress_bar import through
from sekant.units import in_si

Array = NDArray[Any]
BEND = 0.004
"""Largest bend of the lines between rows, relative to the size of the picture."""
ROUNDS = 12
"""Largest number of halvings of an interval."""
MOST = 8
"""Largest number of rows for each requested value."""


@dataclass(frozen=True, eq=False)
class RootLocus:
    """`values` (k,) of the parameter and `eigenvalues` (k, n): each column is one mode, tracked by its shape.

    Where lines bend, values are added to the requested ones. `trace`: computes further rows; without it, crossings
    are interpolated linearly.
    """

    name: str
    values: Array
    eigenvalues: Array
    warnings: tuple[AnalysisWarning, ...] = ()
    trace: Trace | None = field(default=None, repr=False)

    @property
    def damping_ratio(self) -> Array:
        """Damping ratios (k, n); NaN for zero eigenvalues."""
        size = np.abs(self.eigenvalues)
        zero = size <= 1e-9 * np.max(size, initial=1e-300)
        return np.where(zero, np.nan, -np.real(self.eigenvalues) / np.where(zero, 1.0, size))

    @property
    def undamped_frequency(self) -> Array:
        """Undamped frequencies (k, n) in Hz."""
        return np.abs(self.eigenvalues) / (2 * np.pi)

    def plot(self, to: str | os.PathLike[str] | None = None) -> Any:
        """Plot the eigenvalues in the complex plane; `to`: a file to write (.svg, .pdf, .png)."""
        return picture("root_locus", self, to=to)

    def crossings(self) -> list[tuple[float, int]]:
        """(value, mode) of every change of sign of a real part. The value is computed with the model, between the
        values of the locus."""
        found = []
        real = np.real(self.eigenvalues)
        limit = 1e-9 * np.max(np.abs(self.eigenvalues), initial=1e-300)
        for k in range(real.shape[1]):
            seen = np.flatnonzero(np.abs(real[:, k]) > limit).tolist()
            for i, j in pairwise(seen):
                if real[i, k] * real[j, k] < 0:  # there may be values in between at which it vanishes
                    found.append((self._crossing(i, k) if j == i + 1 else float(self.values[i + 1]), k))
        return sorted(found)

    def _crossing(self, i: int, k: int) -> float:
        """The value at which the real part of mode k vanishes between values i and i + 1."""
        a, b = (float(value) for value in self.values[i : i + 2])
        ends = {a: self.eigenvalues[i, k].real, b: self.eigenvalues[i + 1, k].real}
        if self.trace is None:
            return a + ends[a] / (ends[a] - ends[b]) * (b - a)
        follow = self.trace.between(i)

        def growth(value: float) -> float:
            return ends[value] if value in ends else float(follow(value)[k].real)

        root = scipy.optimize.root_scalar(
            growth, bracket=(a, b), xtol=1e-12 * max(abs(a), abs(b)), rtol=1e-12
        ).root
        return float(root)


@dataclass(frozen=True, eq=False)
class Row:
    """One value of the parameter: eigenvalues (n,), unit shapes (2 nv, n), and the equilibrium, if there is one."""

    value: float
    eigenvalues: Array
    shapes: Array
    guess: State | None


@dataclass(frozen=True, eq=False)
class Trace:
    """The rows of a locus, and `model`: (value, guess) -> the linear model there and its equilibrium."""

    rows: tuple[Row, ...]
    model: Callable[[float, State | None], tuple[LinearModel, State | None]]

    def after(self, row: Row, value: float) -> tuple[Row, LinearModel]:
        """The row at another value, each mode in the column of its predecessor."""
        model, guess = self.model(value, row.guess)
        found = _row(value, model, guess)
        if found.eigenvalues.size != row.eigenvalues.size:
            raise SolverError(
                f"root locus: there are {row.eigenvalues.size} eigenvalues at {row.value:.6g}, but "
                f"{found.eigenvalues.size} at {value:.6g}: contacts or constraints changed"
            )
        order = _matching(row.eigenvalues, row.shapes, found.eigenvalues, found.shapes)
        return replace(found, eigenvalues=found.eigenvalues[order], shapes=found.shapes[:, order]), model

    def between(self, i: int) -> Callable[[float], Array]:
        """A function for the eigenvalues (n,) at a value between rows i and i + 1, tracked from the nearest known
        value."""
        known = [self.rows[i], self.rows[i + 1]]

        def follow(value: float) -> Array:
            nearest = min(known, key=lambda row: abs(row.value - value))
            known.append(self.after(nearest, value)[0])
            return known[-1].eigenvalues

        return follow


def _row(value: float, model: LinearModel, guess: State | None) -> Row:
    modes = model.modes()
    shapes = np.vstack([modes.shapes, modes.shapes * modes.eigenvalues])
    shapes = shapes / np.maximum(np.linalg.norm(shapes, axis=0), 1e-300)
    return Row(value, modes.eigenvalues, shapes, guess)


def root_locus(
    system: System | Model | Collector | Callable[[float], LinearModel],
    name: str,
    values: ArrayLike,
    *,
    guess: State | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    refine: bool = True,
) -> RootLocus:
    """Eigenvalues of a system as functions of the run-time parameter `name`, at the given `values`.

    The equilibrium is computed at each value, starting from the previous one, and at the first value from `guess`.
    For steady motions, for example with a speed as the parameter, pass a function that returns the linear model at a
    value instead of the system. `refine`: add values where branches meet or bend.
    """
    points = np.atleast_1d(in_si(values, f"root locus: values of '{name}'"))
    if points.size < 2:
        raise SolverError("root locus: give at least two values of the parameter")
    if isinstance(system, Model | Collector):
        system = as_system(system, parameters, [name])

    def model_at(value: float, start: State | None) -> tuple[LinearModel, State | None]:
        if not isinstance(system, System):
            return system(value), None
        found = equilibrium(system, start, parameters={**(parameters or {}), name: value})
        return linearize(system, found), found

    rows: list[Row] = []
    warned: list[AnalysisWarning] = []
    for value in through(points.tolist()):
        if rows:
            row, model = Trace((), model_at).after(rows[-1], value)
        else:
            model, found = model_at(value, guess)
            row = _row(value, model, found)
        here = f"{name} = {value:.6g}"
        warned += [replace(w, place=f"{w.place}, {here}" if w.place else here) for w in model.warnings]
        rows.append(row)
    trace = Trace(tuple(rows), model_at)
    if refine:
        trace = refined(trace)
    given = np.array([row.value for row in trace.rows])
    found = np.array([row.eigenvalues for row in trace.rows])
    return RootLocus(name, given, found, without_repeats(warned), trace)


def refined(trace: Trace) -> Trace:
    """The locus with further rows where its lines bend, for example where branches meet.

    An interval is halved if a pair of complex eigenvalues becomes real in it, or if a line bends at one of its ends
    by more than `BEND` of the picture, until lines are smooth or there are `MOST` rows for each given one.
    """
    rows, most = list(trace.rows), MOST * len(trace.rows)
    for _ in range(ROUNDS):
        wanted = _bent(rows)
        if not wanted or len(rows) + len(wanted) > most:
            break
        for i in reversed(wanted):
            middle = (rows[i].value + rows[i + 1].value) / 2
            try:
                row, _model = trace.after(rows[i], middle)
            except SolverError:
                continue  # eigenvalues exist at the given values, but not necessarily in between
            rows.insert(i + 1, row)
    for before, k in zip(rows, range(1, len(rows)), strict=False):
        row = rows[k]
        order = _matching(before.eigenvalues, before.shapes, row.eigenvalues, row.shapes)
        rows[k] = replace(row, eigenvalues=row.eigenvalues[order], shapes=row.shapes[:, order])
    return replace(trace, rows=tuple(rows))


def _bent(rows: Sequence[Row]) -> list[int]:
    """Indices of the intervals between rows to halve."""
    values = np.array([row.eigenvalues for row in rows])
    real_parts, imaginary = np.real(values), np.imag(values)
    spans = np.ptp(real_parts), np.ptp(imaginary)
    scaled = real_parts / max(spans[0], 1e-300) + 1j * imaginary / max(spans[1], 1e-300)
    steps = np.max(np.abs(np.diff(scaled, axis=0)), axis=1)
    tiny = 1e-9 * np.max(np.abs(values), initial=1e-300)
    real = np.sum(np.abs(imaginary) <= tiny, axis=1)
    found = {i for i in np.flatnonzero(np.diff(real)).tolist() if steps[i] > BEND}
    if len(rows) > 2:
        off = np.abs(scaled[1:-1] - _nearest(scaled[:-2], scaled[2:], scaled[1:-1]))
        for i in np.flatnonzero(np.max(off, axis=1) > BEND).tolist():
            found |= {k for k in (i, i + 1) if steps[k] > BEND}
    return sorted(found)


def _nearest(a: Array, b: Array, point: Array) -> Array:
    """The points on the segments from a to b that are nearest to `point`; all complex, of the same shape."""
    along = b - a
    size = np.maximum(np.abs(along) ** 2, 1e-300)
    return a + np.clip(np.real(np.conj(along) * (point - a)) / size, 0.0, 1.0) * along


def _matching(before: Array, shapes: Array, after: Array, new_shapes: Array) -> Array:
    """The order (n,) of the new modes that pairs similar modes: close eigenvalues, parallel shapes."""
    distance = np.abs(before[:, None] - after[None, :])
    scale = max(
        float(np.median(np.min(distance, axis=1))), 1e-9 * float(np.max(np.abs(after), initial=1e-300))
    )
    parallel = np.abs(shapes.conj().T @ new_shapes) ** 2
    cost = distance / (distance + 10 * scale) + (1.0 - np.clip(parallel, 0.0, 1.0))
    return scipy.optimize.linear_sum_assignment(cost)[1]
