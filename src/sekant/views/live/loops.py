"""Loops of methods for a page: the memory of a run, the functions that it calls, and the fields that a page sets
and reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.problems import (
    EventFunctions,
    dae_problem,
    explicit_problem,
    taylor_problem,
    with_events,
)
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.io.export.engine_loops import KernelCode
from sekant.loops.declare.procedures import Procedure
from sekant.loops.declare.structs import Struct
from sekant.solvers.common.checks import check_options
from sekant.solvers.ode.integrate import METHODS
from sekant.views.live.program import PageProgram

Floats = NDArray[np.float64]
MOST_EDGES = 258
"""Largest number of times in a stretch of a run in a page: start, end, and times at which signals switch."""


@dataclass(frozen=True)
class Asked:
    """The request of a run.

    `times` (m,) s of the rows; `step` s of fixed steps, None if the method chooses its steps; `nodes`: further
    times within a stretch.
    """

    times: Floats
    step: float | None
    rtol: float
    atol: float
    nodes: int = 0


@dataclass(frozen=True, eq=False)
class PageLoop:
    """The loop of a method in a page.

    `functions`: functions that the loop calls, by name. `states`: arrays of the state at the start, in order.
    `parameters`: arrays of one number each, None for those that the loop does not need. `rows`: matrices with one
    row per output time, the states first. `fields`: struct fields that a page sets and reads, by their names in the
    page; `begins`: fields with the time of the start; `counted`: fields with the number of output times.
    """

    struct: Struct
    advance: Procedure
    kernel: int
    functions: dict[str, Any]
    states: tuple[Floats, ...]
    parameters: tuple[Floats | None, ...]
    rows: tuple[Floats, ...]
    times: Floats
    tables: Floats
    fields: dict[str, str]
    begins: Sequence[str]
    counted: Sequence[str]

    def added(self, program: PageProgram) -> dict[str, Any]:
        """Add the loop to a program; returns the data that `Stretches` of simulation.js requires."""
        for array in (self.tables, self.times, *self.rows):
            program.add_array(array)
        run = program.add_run(self.struct, {"advance": self.advance}, self.fields, called=self.functions)
        states = [program.place(array)[0] + 8 * i for array in self.states for i in range(array.size)]
        return {
            "run": run,
            "kernel": self.kernel,
            "states": states,
            "parameters": [0 if one is None else program.place(one)[0] for one in self.parameters],
            "times": program.place(self.times),
            "rows": program.place(self.rows[0]),
            "width": self.rows[0].shape[1],
            "begins": list(self.begins),
            "counted": list(self.counted),
        }


_SEGMENTS = {"edges": "plan.edges", "low": "plan.low", "high": "plan.high"}
_CLOCK = {
    "t": "clock.t",
    "row": "clock.row",
    "earliest": "clock.earliest",
    "latest": "clock.latest",
    "span_start": "clock.span_start",
    "step_start": "step.start",
    "window_start": "step.pace.start",
    "snap": "plan.snap",
    "t_eval": "plan.t_eval",
    "steps": "counts.steps",
    "rejected": "counts.rejected",
    "blamed": "failed.component",
    "which": "watched.which",
    "x_old": "x_old",
}
_BEGINS = ("t", "span_start", "step_start", "window_start")


def page_loop(
    system: System, method: str, asked: Asked, start: State, parameters: Any, watched: EventFunctions
) -> PageLoop:
    """The loop of a method by its name; `start`: at the first parameters; `watched`: event functions that end a
    stretch of the run."""
    if method in METHODS:
        return _explicit(system, method, asked, parameters, watched)
    if method == "taylor":
        return _series(system, asked, start, parameters, watched)
    return _implicit(system, method, asked, start, parameters, watched)


def _options(asked: Asked, n: int) -> Any:
    """Space for all output times, start, end, and the nodes of delays in a stretch; a page writes its own times."""
    first, last = asked.times[0], asked.times[-1]
    times, stops = (
        np.linspace(first, last, asked.times.size + 2 + asked.nodes),
        np.linspace(first, last, MOST_EDGES)[1:-1],
    )
    return check_options(times, stops, n, asked.rtol, asked.atol, asked.step, np.inf, None, None)


def _explicit(
    system: System, method: str, asked: Asked, parameters: Any, watched: EventFunctions
) -> PageLoop:
    from sekant.solvers.ode.memory import lay_out

    problem: Any = with_events(explicit_problem(system, parameters, True, method), system, watched)
    run = lay_out(problem, np.zeros(problem.n), _options(asked, problem.n))
    run.rows[:] = 0.0
    called = {
        "rates": problem.rhs,
        "projection": problem.projection,
        "kinematics": problem.kinematics,
        "guards": None if problem.switching is None else problem.switching.guards,
        "events": problem.events,
    }
    own = {"usual": "step.usual", "rates_at": "step.forecast.at", "held_rows": "held.rows", "rows": "rows"}
    return PageLoop(
        struct=run,
        advance=METHODS[method].advance,
        kernel=METHODS[method].kernel,
        functions={name: function for name, function in called.items() if function is not None},
        states=(run.x,),
        parameters=tuple(run.p[i : i + 1] for i in range(run.p.size)),
        rows=(run.rows,),
        times=run.plan.t_eval,
        tables=problem.tables,
        fields={**_SEGMENTS, **_CLOCK, **own, "sampled": "held.sampled", "next": "step.h"},
        begins=(*_BEGINS, "rates_at"),
        counted=("t_eval", "rows", "held_rows"),
    )


def _implicit(
    system: System, method: str, asked: Asked, start: State, parameters: Any, watched: EventFunctions
) -> PageLoop:
    from sekant.solvers.dae.integrate import METHODS as IMPLICIT
    from sekant.solvers.dae.memory import lay_out
    from sekant.solvers.dae.state_matrices import has_redundant_rows

    chosen = IMPLICIT[method]
    problem = with_events(dae_problem(system, parameters, lands=chosen.adaptive), system, watched)
    functions = problem.functions
    z = system.element_states(start, parameters)
    x = np.concatenate([start.q, start.v, z, np.zeros(functions.nw)])
    redundant = has_redundant_rows(problem, float(asked.times[0]), x)
    memory = lay_out(problem, x, _options(asked, x.size), redundant, 0.8)
    names = ("residual", "jacobian", "kinematics", "constraints", "saddle", "bias", "power")
    called: dict[str, Any] = {f"dae_{name}": getattr(functions, name) for name in names}
    called["guards"] = None if problem.switching is None else problem.switching.guards
    called["events"] = problem.events
    assert problem.tables is not None
    rows = (memory.rows, memory.a_rows, memory.lam_rows)
    for one in rows:
        one[:] = 0.0
    return PageLoop(
        struct=memory,
        advance=chosen.advance,
        kernel=chosen.kernel,
        functions={name: function for name, function in called.items() if function is not None},
        states=(memory.x,),
        parameters=tuple(problem.p[i : i + 1] for i in range(problem.p.size)),
        rows=rows,
        times=memory.plan.t_eval,
        tables=problem.tables,
        fields={**_SEGMENTS, **_CLOCK, "rows": "rows", "a_rows": "a_rows", "lam_rows": "lam_rows"},
        begins=_BEGINS,
        counted=("t_eval", "rows", "a_rows", "lam_rows"),
    )


def _series(system: System, asked: Asked, start: State, parameters: Any, watched: EventFunctions) -> PageLoop:
    from sekant.solvers.taylor.advance import advance
    from sekant.solvers.taylor.run import TaylorRun

    problem = taylor_problem(system, watched, True)
    p = system.parameter_vector(parameters)[: problem.n_parameters]
    v = np.concatenate([start.v, system.element_states(start, parameters)])
    run = TaylorRun(
        *(problem, _options(asked, v.size).times, start.q, v),
        p=p,
        rtol=asked.rtol,
        atol=asked.atol,
        directions=watched.directions if problem.n_events else None,
        reactions=False,
    )
    memory, kernel, called = run.memory, problem.layout.kernel, {}
    if kernel is not None:
        called["series"] = KernelCode(kernel.text, kernel.work_size, kernel.address)
    rows = (memory.rows.x, memory.rows.a, memory.rows.lam)
    for one in rows:
        one[:] = 0.0
    nodes = problem.layout.program.inputs["p"].tolist()
    return PageLoop(
        struct=memory,
        advance=advance,
        kernel=0,
        functions=called,
        states=(memory.point.q, memory.point.v, memory.point.w),
        parameters=tuple(memory.series[node, :1] if node >= 0 else None for node in nodes),
        rows=rows,
        times=memory.plan.t_eval,
        tables=np.zeros(1),
        fields={
            "t": "clock.t",
            "row": "clock.row",
            "step_start": "clock.step_start",
            "snap": "plan.snap",
            "t_eval": "plan.t_eval",
            "rows": "rows.x",
            "a_rows": "rows.a",
            "lam_rows": "rows.lam",
            "steps": "counts.steps",
            "rejected": "counts.shortened",
            "blamed": "ending.component",
            "which": "ending.which",
            "jumped": "ending.jumped",
        },
        begins=("t", "step_start"),
        counted=("t_eval", "rows", "a_rows", "lam_rows"),
    )
