"""Loops of methods for a page: the memory of a run, the functions that it calls, and the fields that a page sets
and reads."""

from __future__ import annotations

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
from sekant.analyses.simulation.run_memory import (
    RunMemory,
    explicit_memory,
    implicit_memory,
    series_memory,
)
from sekant.analyses.simulation.runs import TAYLOR, is_adaptive
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.solvers.common.checks import StepOptions, check_options
from sekant.solvers.ode.integrate import METHODS
from sekant.views.live.program import PageProgram

Floats = NDArray[np.float64]
MOST_EDGES = 258
"""Largest number of times in a stretch of a run in a page: start, end, and times at which signals switch."""
BEGINS = ("t", "span_start", "step_start", "window_start", "rates_at")
"""Fields with the time of the start."""
COUNTED = ("t_eval", "rows", "held_rows", "a_rows", "lam_rows")
"""Fields with the number of output times."""


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


def add_loop(program: PageProgram, memory: RunMemory) -> dict[str, Any]:
    """Add a loop to a program; returns the data that `Stretches` of simulation.js requires."""
    fields, rows = memory.fields, [memory.array(name) for name in memory.rows]
    for one in rows:
        one[:] = 0.0
    for array in (memory.tables, memory.times, *rows):
        program.add_array(array)
    run = program.add_run(memory.struct, {"advance": memory.advance}, fields, called=memory.functions)
    start = [memory.array(name) for name in memory.states]
    return {
        "run": run,
        "kernel": memory.kernel,
        "states": [program.place(array)[0] + 8 * i for array in start for i in range(array.size)],
        "parameters": [0 if one is None else program.place(one)[0] for one in memory.parameters],
        "times": program.place(memory.times),
        "rows": program.place(rows[0]),
        "width": memory.width,
        "begins": [name for name in BEGINS if name in fields],
        "counted": [name for name in COUNTED if name in fields],
    }


def page_loop(
    system: System, method: str, asked: Asked, start: State, parameters: Any, watched: EventFunctions
) -> RunMemory:
    """The memory of a run with a method by its name; `start`: at the first parameters; `watched`: event functions
    that end a stretch of the run."""
    v = np.concatenate([start.v, system.element_states(start, parameters)])
    if method in METHODS:
        explicit: Any = with_events(explicit_problem(system, parameters, True, method), system, watched)
        return explicit_memory(explicit, method, _options(asked, explicit.n))
    if method != TAYLOR:
        problem = with_events(dae_problem(system, parameters, lands=is_adaptive(method)), system, watched)
        x = np.concatenate([start.q, v, np.zeros(problem.functions.nw)])
        return implicit_memory(problem, method, x, _options(asked, x.size))
    from sekant.solvers.taylor.run import TaylorRun

    series = taylor_problem(system, watched, True)
    run = TaylorRun(
        *(series, _options(asked, v.size).times, start.q, v),
        p=system.parameter_vector(parameters)[: series.n_parameters],
        rtol=asked.rtol,
        atol=asked.atol,
        directions=watched.directions if series.n_events else None,
        reactions=False,
    )
    return series_memory(run)


def _options(asked: Asked, n: int) -> StepOptions:
    """Space for all output times, start, end, and the nodes of delays in a stretch; a page writes its own times."""
    first, last = asked.times[0], asked.times[-1]
    times, stops = (
        np.linspace(first, last, asked.times.size + 2 + asked.nodes),
        np.linspace(first, last, MOST_EDGES)[1:-1],
    )
    return check_options(times, stops, n, asked.rtol, asked.atol, asked.step, np.inf, None, None)
