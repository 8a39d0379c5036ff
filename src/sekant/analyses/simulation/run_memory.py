"""The memory of a run with any method, for programs that run a loop outside Python: C libraries and pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.procedures import Procedure
from sekant.loops.declare.structs import Struct
from sekant.object_code.portable import PortableCode
from sekant.object_code.target import Target
from sekant.solvers.common.checks import StepOptions
from sekant.solvers.dae.problem import DaeProblem
from sekant.solvers.ode.integrate import METHODS
from sekant.solvers.ode.problem import OdeProblem

if TYPE_CHECKING:
    from sekant.solvers.taylor.run import TaylorRun

Floats = NDArray[np.float64]
BLENDING = 0.8
"""Spectral radius of generalized-alpha at infinite frequency."""


@dataclass(frozen=True, eq=False)
class RunMemory:
    """The struct of a run, and what a program sets and reads in it.

    `functions`: functions that the loop calls, by name. `fields`: struct fields (``clock.t``) by the names that the
    programs use. `states`: fields with the state, in order; `rows`: matrices with one row per output time, the states
    first. `parameters`: arrays of one number each, None for those that the loop does not need. `tables`: of the
    functions, shared by all runs.
    """

    struct: Struct
    advance: Procedure
    kernel: int
    functions: dict[str, Any]
    fields: dict[str, str]
    states: Sequence[str]
    rows: Sequence[str]
    parameters: Sequence[Floats | None]
    tables: Floats

    def array(self, field: str) -> Floats:
        """The array in a struct field."""
        return reduce(getattr, field.split("."), self.struct)

    @property
    def times(self) -> Floats:
        """The output times."""
        return self.array(self.fields["t_eval"])

    @property
    def width(self) -> int:
        """Number of values in a row."""
        return self.array(self.rows[0]).shape[1]


_STEPS = {
    "t": "clock.t",
    "row": "clock.row",
    "span_start": "clock.span_start",
    "earliest": "clock.earliest",
    "latest": "clock.latest",
    "steps": "counts.steps",
    "rejected": "counts.rejected",
    "snap": "plan.snap",
    "step": "plan.step",
    "rtol": "plan.rtol",
    "atol": "plan.atol",
    "next": "step.h",
    "step_start": "step.start",
    "window_start": "step.pace.start",
    "x_old": "x_old",
    "blamed": "failed.component",
    "which": "watched.which",
    "events": "watched.call.function",
    "rows": "rows",
    **{name: f"plan.{name}" for name in ("t_eval", "edges", "low", "high")},
}
_EXPLICIT = {
    "rates_at": "step.forecast.at",
    "usual": "step.usual",
    "kept": "step.kept",
    "after_rejection": "step.after_rejection",
    "stiff": "step.stiff",
    "held_rows": "held.rows",
    "sampled": "held.sampled",
}
_SERIES = {
    "t": "clock.t",
    "row": "clock.row",
    "step_start": "clock.step_start",
    "steps": "counts.steps",
    "rejected": "counts.shortened",
    "snap": "plan.snap",
    "rtol": "plan.rtol",
    "tol": "plan.tol",
    "atol": "plan.scale_abs",
    "atol_work": "plan.atol_work",
    "t_eval": "plan.t_eval",
    "blamed": "ending.component",
    "which": "ending.which",
    "jumped": "ending.jumped",
    "rows": "rows.x",
    "a_rows": "rows.a",
    "lam_rows": "rows.lam",
}


def explicit_memory(problem: OdeProblem, method: str, options: StepOptions) -> RunMemory:
    """Memory of an explicit method."""
    from sekant.solvers.ode.memory import lay_out

    run = lay_out(problem, np.zeros(problem.n), options)
    called = {name: getattr(problem, name) for name in ("projection", "kinematics")}
    return RunMemory(
        run,
        METHODS[method].advance,
        METHODS[method].kernel,
        _used({"rates": problem.rhs, **called}, problem),
        {**_STEPS, **_EXPLICIT},
        ["x"],
        ["rows"],
        [run.p[i : i + 1] for i in range(run.p.size)],
        problem.tables,
    )


def implicit_memory(problem: DaeProblem, method: str, start: Floats, options: StepOptions) -> RunMemory:
    """Memory of radau5 or generalized-alpha; `start` (n,): a state, in which some constraints may be redundant."""
    from sekant.solvers.dae.integrate import METHODS as IMPLICIT
    from sekant.solvers.dae.memory import lay_out
    from sekant.solvers.dae.state_matrices import has_redundant_rows

    redundant = has_redundant_rows(problem, float(options.times[0]), start)
    memory = lay_out(problem, start, options, redundant, BLENDING)
    names = ("residual", "jacobian", "kinematics", "constraints", "saddle", "bias", "power")
    assert problem.tables is not None
    return RunMemory(
        memory,
        IMPLICIT[method].advance,
        IMPLICIT[method].kernel,
        _used({f"dae_{name}": getattr(problem.functions, name) for name in names}, problem),
        {**_STEPS, "a_rows": "a_rows", "lam_rows": "lam_rows"},
        ["x"],
        ["rows", "a_rows", "lam_rows"],
        [problem.p[i : i + 1] for i in range(problem.p.size)],
        problem.tables,
    )


def _used(functions: dict[str, Any], problem: OdeProblem | DaeProblem) -> dict[str, Any]:
    """The functions that exist, including functions for modes and events."""
    switching = problem.switching
    functions |= {"guards": problem.events, "modes": None if switching is None else switching.guards}
    return {name: function for name, function in functions.items() if function is not None}


@dataclass(frozen=True, eq=False)
class SeriesCode:
    """The kernel of a series in the form of the other functions of a program; its IR is sufficient."""

    text: str
    work_size: int
    address: int

    def portable(self, target: Target) -> PortableCode:
        return PortableCode((self.text,), np.zeros(1), self.work_size, looped=True)


def series_memory(run: TaylorRun) -> RunMemory:
    """Memory of a run by Taylor series."""
    from sekant.solvers.taylor.advance import advance

    layout, memory = run.problem.layout, run.memory
    kernel, nodes = layout.kernel, layout.program.inputs["p"].tolist()
    code = None if kernel is None else SeriesCode(kernel.text, kernel.work_size, kernel.address)
    return RunMemory(
        memory,
        advance,
        0,
        {} if code is None else {"series": code},
        _SERIES,
        ["point.q", "point.v", "point.w"],
        ["rows.x", "rows.a", "rows.lam"],
        [memory.series[node, :1] if node >= 0 else None for node in nodes],
        np.zeros(1),
    )
