"""Loops of methods for a page: the memory of a run, what it calls, and where a page finds what it sets and reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.problems import dae_problem, explicit_problem, taylor_problem
from sekant.engine.system import State, System
from sekant.io.export.engine_loops import CapturedText, KernelCode
from sekant.loops.declare.procedures import Procedure
from sekant.loops.declare.structs import Struct
from sekant.solvers.common.checks import check_options
from sekant.solvers.ode.methods import METHODS

Floats = NDArray[np.float64]
MOST_EDGES = 258
"""Start, end, and times at which signals switch that a run in a page may have."""


@dataclass(frozen=True)
class Asked:
    """What a run is asked for. `times` (m,) s of the rows; `step` s of fixed steps, None: the method chooses."""

    times: Floats
    step: float | None
    rtol: float
    atol: float


@dataclass(frozen=True, eq=False)
class PageLoop:
    """`functions`: what the loop calls, by name. `states`: arrays that hold the state at the start, one after the
    other. `parameters`: arrays of one number each, None where the loop needs it not. `rows` (m, n): the states at the
    outputs. `fields`: names in the struct of what a page sets and reads, by the names that it uses; `edges`: whether
    the run is cut into segments at times at which signals switch."""

    struct: Struct
    advance: Procedure
    kernel: int
    functions: dict[str, Any]
    states: tuple[Floats, ...]
    parameters: tuple[Floats | None, ...]
    rows: Floats
    times: Floats
    tables: Floats
    fields: dict[str, str]
    edges: bool


_SEGMENTS = {"edges": "plan.edges", "low": "plan.low", "high": "plan.high"}
_CLOCK = {
    "t": "clock.t",
    "row": "clock.row",
    "earliest": "clock.earliest",
    "latest": "clock.latest",
    "steps": "counts.steps",
    "rejected": "counts.rejected",
    "blamed": "failed.component",
}


def page_loop(system: System, method: str, asked: Asked, start: State, parameters: Any) -> PageLoop:
    """The loop of a method by its name; `start`: at the first parameters, for facts that a run needs beforehand."""
    if method in METHODS:
        return _explicit(system, method, asked, parameters)
    if method == "taylor":
        return _series(system, asked, start, parameters)
    return _implicit(system, method, asked, start, parameters)


def _options(asked: Asked, n: int) -> Any:
    times = asked.times
    stops = np.linspace(times[0], times[-1], MOST_EDGES)[1:-1]  # room; a page writes its own
    return check_options(times, stops, n, asked.rtol, asked.atol, asked.step, np.inf, None, None)


def _explicit(system: System, method: str, asked: Asked, parameters: Any) -> PageLoop:
    from sekant.solvers.ode.memory import lay_out

    problem: Any = explicit_problem(system, parameters, True, method)
    run = lay_out(problem, np.zeros(problem.n), _options(asked, problem.n))
    called = {
        "rates": problem.rhs,
        "projection": problem.projection,
        "kinematics": problem.kinematics,
        "guards": None if problem.switching is None else problem.switching.guards,
    }
    return PageLoop(
        struct=run,
        advance=METHODS[method].advance,
        kernel=METHODS[method].kernel,
        functions={name: function for name, function in called.items() if function is not None},
        states=(run.x,),
        parameters=tuple(run.p[i : i + 1] for i in range(run.p.size)),
        rows=run.rows,
        times=run.plan.t_eval,
        tables=problem.tables,
        fields={**_SEGMENTS, **_CLOCK, "sampled": "held.sampled", "x_old": "x_old"},
        edges=True,
    )


def _implicit(system: System, method: str, asked: Asked, start: State, parameters: Any) -> PageLoop:
    from sekant.solvers.dae.memory import lay_out
    from sekant.solvers.dae.methods import METHODS as IMPLICIT
    from sekant.solvers.dae.state_matrices import has_redundant_rows

    chosen = IMPLICIT[method]
    problem = dae_problem(system, parameters, lands=chosen.adaptive)
    functions = problem.functions
    z = system.element_states(start, parameters)
    x = np.concatenate([start.q, start.v, z, np.zeros(functions.nw)])
    redundant = has_redundant_rows(problem, float(asked.times[0]), x)
    memory = lay_out(problem, x, _options(asked, x.size), redundant, 0.8)
    names = ("residual", "jacobian", "kinematics", "constraints", "saddle", "bias", "power")
    called = {f"dae_{name}": getattr(functions, name) for name in names}
    called["guards"] = None if problem.switching is None else problem.switching.guards
    assert problem.tables is not None
    return PageLoop(
        struct=memory,
        advance=chosen.advance,
        kernel=chosen.kernel,
        functions={name: function for name, function in called.items() if function is not None},
        states=(memory.x,),
        parameters=tuple(problem.p[i : i + 1] for i in range(problem.p.size)),
        rows=memory.rows,
        times=memory.plan.t_eval,
        tables=problem.tables,
        fields={**_SEGMENTS, **_CLOCK, "x_old": "x_old"},
        edges=True,
    )


def _series(system: System, asked: Asked, start: State, parameters: Any) -> PageLoop:
    from sekant.solvers.taylor.advance import advance
    from sekant.solvers.taylor.problem import TaylorProblem
    from sekant.solvers.taylor.run import TaylorRun

    tape = taylor_problem(system, None, True).tape
    problem = TaylorProblem(tape, unit_blocks=system.facts.unit_blocks, compiler=CapturedText)  # type: ignore[arg-type]
    p = system.parameter_vector(parameters)[: problem.n_parameters]
    v = np.concatenate([start.v, system.element_states(start, parameters)])
    run = TaylorRun(
        *(problem, asked.times, start.q, v),
        p=p,
        rtol=asked.rtol,
        atol=asked.atol,
        reactions=False,
    )
    memory, kernel, called = run.memory, problem.layout.kernel, {}
    if kernel is not None:
        called["series"] = KernelCode(kernel.code.text, kernel.work_size, kernel.address)  # type: ignore[attr-defined]
    nodes = problem.layout.program.inputs["p"].tolist()
    return PageLoop(
        struct=memory,
        advance=advance,
        kernel=0,
        functions=called,
        states=(memory.point.q, memory.point.v, memory.point.w),
        parameters=tuple(memory.series[node, :1] if node >= 0 else None for node in nodes),
        rows=memory.rows.x,
        times=memory.plan.t_eval,
        tables=np.zeros(1),
        fields={
            "t": "clock.t",
            "row": "clock.row",
            "steps": "counts.steps",
            "rejected": "counts.shortened",
            "blamed": "ending.component",
        },
        edges=False,
    )
