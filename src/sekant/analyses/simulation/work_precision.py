"""Work-precision diagrams: runs of one system with several methods and tolerances, compared with a tighter run.

The error of a run is the largest deviation of any coordinate or position at any time, relative to its range in
the reference (HALL 3.5). Fixed-step methods are excluded because they have no tolerance.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from sekant.analyses.simulation.simulate import simulate
from sekant.engine.system import System, as_system
from sekant.errors import SekantError
from sekant.extensions import picture
from sekant.results.compare import compare
from sekant.results.result import Result

if TYPE_CHECKING:
    from sekant.model.model import Model
    from sekant.model.points.collector import Collector


@dataclass(frozen=True)
class WorkPoint:
    """One run: the requested tolerance, the error (relative to the range) and the run time in seconds."""

    method: str
    rtol: float
    error: float
    seconds: float
    steps: int


@dataclass(frozen=True)
class WorkPrecision:
    """The runs of `work_precision`; `plot` draws them."""

    model: str
    points: tuple[WorkPoint, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(point.method for point in self.points))

    def plot(self, to: str | os.PathLike[str] | None = None) -> Any:
        """Plot run time against error, with one line per method; `to`: a file to write (.svg, .pdf, .png)."""
        return picture("work_precision", self, to=to)

    def __str__(self) -> str:
        rows = ["method             rtol     error   seconds   steps"]
        rows += [
            f"{p.method:<14} {p.rtol:8.0e}  {p.error:8.1e}  {p.seconds:8.2g}  {p.steps:6d}"
            for p in self.points
        ]
        return "\n".join(rows)


def work_precision(
    model: System | Model | Collector,
    until: float,
    methods: Sequence[str] = ("taylor", "radau5", "dop853"),
    tolerances: Sequence[float] = (1e-4, 1e-6, 1e-8, 1e-10),
    reference: float = 1e-13,
) -> WorkPrecision:
    """Run `model` (or a compiled system) with every method at every tolerance.

    Before the timed runs, every method has one run that is not timed. The reference is a run of the first method at
    the tolerance `reference`.
    """
    system = as_system(model)
    step = until / 400
    exact = _run(system, until, methods[0], reference, step)
    names = [name for name in exact.names if name.endswith((".q", ".position")) or "." not in name]
    names = [name for name in names if not name.startswith(("energy", "constraints"))]
    points = []
    for method in methods:
        _run(system, until, method, max(tolerances), step)
        for rtol in tolerances:
            began = perf_counter()
            result = _run(system, until, method, rtol, step)
            seconds = perf_counter() - began
            error = max(column.largest for column in compare(result, exact, names))
            points.append(WorkPoint(method, rtol, error, seconds, int(result.stats["steps"])))
    return WorkPrecision(exact.model_name, tuple(points))


def _run(system: System, until: float, method: str, rtol: float, step: float) -> Result:
    result = simulate(system, until, method=method, rtol=rtol, atol=rtol, output_step=step)
    if not result.ok:
        raise SekantError(f"{method} at tolerance {rtol:g} did not finish: {result.message}")
    return result
