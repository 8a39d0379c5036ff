"""Root loci: eigenvalues over a parameter, each mode followed from value to value."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.linear.linear_model import LinearModel
from sekant.analyses.linear.linearize import linearize
from sekant.analyses.statics.equilibrium import equilibrium
from sekant.engine.system import State, System, as_system
from sekant.errors import AnalysisWarning, SolverError, without_repeats
from sekant.model.model import Model
from sekant.model.points.collector import Collector
from sekant.results.pictures import picture

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class RootLocus:
    """`values` (k,) of the parameter and `eigenvalues` (k, n): each column is one mode, followed by its shape."""

    name: str
    values: Array
    eigenvalues: Array
    warnings: tuple[AnalysisWarning, ...] = ()

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
        """(value, mode) where a real part changes its sign, by linear interpolation."""
        found = []
        real = np.real(self.eigenvalues)
        limit = 1e-9 * np.max(np.abs(self.eigenvalues), initial=1e-300)
        for k in range(real.shape[1]):
            for i in range(real.shape[0] - 1):
                a, b = real[i, k], real[i + 1, k]
                if a * b < 0 and max(abs(a), abs(b)) > limit:
                    share = a / (a - b)
                    found.append((float(self.values[i] + share * (self.values[i + 1] - self.values[i])), k))
        return sorted(found)


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
    rows: list[Array] = []
    warned: list[AnalysisWarning] = []
    vectors: Array | None = None
    for value in points:
        if isinstance(system, System):
            given = {**(parameters or {}), name: value}
            guess = equilibrium(system, guess, parameters=given)
            model = linearize(system, guess)
        else:
            model = system(float(value))
        modes = model.modes()
        here = f"{name} = {value:.6g}"
        warned += [replace(w, place=f"{w.place}, {here}" if w.place else here) for w in model.warnings]
        found = modes.eigenvalues
        shapes = np.vstack([modes.shapes, modes.shapes * found])
        shapes = shapes / np.maximum(np.linalg.norm(shapes, axis=0), 1e-300)
        if vectors is not None:
            if found.size != rows[-1].size:
                raise SolverError(
                    f"root locus: {found.size} eigenvalues at {name} = {value:.6g}, {rows[-1].size} before: contacts "
                    "or constraints changed"
                )
            order = _matching(rows[-1], vectors, found, shapes)
            found, shapes = found[order], shapes[:, order]
        rows.append(found)
        vectors = shapes
    return RootLocus(name, points, np.array(rows), without_repeats(warned))


def _matching(before: Array, shapes: Array, after: Array, new_shapes: Array) -> Array:
    """The order of the new modes that pairs like with like: near eigenvalues, parallel shapes."""
    distance = np.abs(before[:, None] - after[None, :])
    scale = max(
        float(np.median(np.min(distance, axis=1))), 1e-9 * float(np.max(np.abs(after), initial=1e-300))
    )
    parallel = np.abs(shapes.conj().T @ new_shapes) ** 2
    cost = distance / (distance + 10 * scale) + (1.0 - np.clip(parallel, 0.0, 1.0))
    return scipy.optimize.linear_sum_assignment(cost)[1]
