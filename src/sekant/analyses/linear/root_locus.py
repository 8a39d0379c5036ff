"""Root loci: eigenvalues over a parameter, each mode followed from value to value."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.linear.linear_model import LinearModel
from sekant.analyses.linear.linearize import linearize
from sekant.analyses.statics.equilibrium import equilibrium
from sekant.engine.system import State, System, as_system
from sekant.errors import AnalysisWarning, SolverError, without_repeats
from sekant.extensions import picture
from sekant.model.model import Model
from sekant.model.points.collector import Collector

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class RootLocus:
    """`values` (k,) of the parameter and `eigenvalues` (k, n): each column is one mode, followed by its shape.

    `trace`: how it was made; without it crossings are found by straight lines.
    """

    name: str
    values: Array
    eigenvalues: Array
    warnings: tuple[AnalysisWarning, ...] = ()
    trace: Trace | None = field(default=None, repr=False)

    @property
    def damping_ratio(self) -> Array:
        """(k, n); NaN for zero eigenvalues."""
        size = np.abs(self.eigenvalues)
        zero = size <= 1e-9 * np.max(size, initial=1e-300)
        return np.where(zero, np.nan, -np.real(self.eigenvalues) / np.where(zero, 1.0, size))

    @property
    def undamped_frequency(self) -> Array:
        """(k, n) Hz."""
        return np.abs(self.eigenvalues) / (2 * np.pi)

    def plot(self, to: str | os.PathLike[str] | None = None) -> Any:
        """The eigenvalues in the complex plane; also written to `to` (.svg, .pdf, .png), if given."""
        return picture("root_locus", self, to=to)

    def crossings(self) -> list[tuple[float, int]]:
        """(value, mode) where a real part changes its sign: found on the model, between the values of the locus."""
        found = []
        real = np.real(self.eigenvalues)
        limit = 1e-9 * np.max(np.abs(self.eigenvalues), initial=1e-300)
        for k in range(real.shape[1]):
            for i in range(real.shape[0] - 1):
                a, b = real[i, k], real[i + 1, k]
                if a * b < 0 and max(abs(a), abs(b)) > limit:
                    found.append((self._crossing(i, k), k))
        return sorted(found)

    def _crossing(self, i: int, k: int) -> float:
        """Where the real part of mode k vanishes between values i and i + 1."""
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
        """The row at another value, each mode in the column of the one that it goes on from."""
        model, guess = self.model(value, row.guess)
        found = _row(value, model, guess)
        if found.eigenvalues.size != row.eigenvalues.size:
            raise SolverError(
                f"root locus: {found.eigenvalues.size} eigenvalues at {value:.6g}, {row.eigenvalues.size} at "
                f"{row.value:.6g}: contacts or constraints changed"
            )
        order = _matching(row.eigenvalues, row.shapes, found.eigenvalues, found.shapes)
        return replace(found, eigenvalues=found.eigenvalues[order], shapes=found.shapes[:, order]), model

    def between(self, i: int) -> Callable[[float], Array]:
        """Eigenvalues (n,) at values between rows i and i + 1, followed from the nearest value known."""
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
) -> RootLocus:
    """Eigenvalues of a system over the run-time parameter `name`.

    At each value the equilibrium is found anew, from the one before, first from `guess`. For steady motions (a
    speed as the parameter) give in place of the system a function that returns the linear model at a value.
    """
    points = np.atleast_1d(np.asarray(values, float))
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
    for value in points.tolist():
        if rows:
            row, model = Trace((), model_at).after(rows[-1], value)
        else:
            model, found = model_at(value, guess)
            row = _row(value, model, found)
        here = f"{name} = {value:.6g}"
        warned += [replace(w, place=f"{w.place}, {here}" if w.place else here) for w in model.warnings]
        rows.append(row)
    values = np.array([row.eigenvalues for row in rows])
    return RootLocus(name, points, values, without_repeats(warned), Trace(tuple(rows), model_at))


def _matching(before: Array, shapes: Array, after: Array, new_shapes: Array) -> Array:
    """The order of the new modes that pairs like with like: near eigenvalues, parallel shapes."""
    distance = np.abs(before[:, None] - after[None, :])
    scale = max(
        float(np.median(np.min(distance, axis=1))), 1e-9 * float(np.max(np.abs(after), initial=1e-300))
    )
    parallel = np.abs(shapes.conj().T @ new_shapes) ** 2
    cost = distance / (distance + 10 * scale) + (1.0 - np.clip(parallel, 0.0, 1.0))
    return scipy.optimize.linear_sum_assignment(cost)[1]
