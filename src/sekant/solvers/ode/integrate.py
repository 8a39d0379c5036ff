"""Integration of initial value problems: checks, segments, and the Python side of the time loop.

The steps themselves run in compiled loops. Between two calls of such a loop, each lasting about 0.15 s, rows
are passed on and Ctrl-C is handled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import SolverError
from sekant.solvers.common.checks import StepOptions, check_options, check_times, check_vector
from sekant.solvers.common.chunks import advance_in_chunks
from sekant.solvers.common.methods import Method
from sekant.solvers.common.methods import choose as choose_method
from sekant.solvers.common.outcome import (
    CHATTERING,
    CONSTRAINTS,
    EVENT,
    FINISHED,
    STATUSES,
    EventRecord,
    Outcome,
)
from sekant.solvers.ode import dop853, euler, fixed_step, rk4, semi_implicit_euler
from sekant.solvers.ode.memory import Run
from sekant.solvers.ode.pool import RunPool
from sekant.solvers.ode.problem import OdeProblem


def _fixed(
    name: str, order: int, description: str, kernel: int, module, needs_positions: bool = False
) -> Method:
    evaluations = module.EVALUATIONS_PER_STEP
    alone, lanes = fixed_step.advance_fixed, fixed_step.advance_lanes
    return Method(name, order, False, description, alone, kernel, evaluations, needs_positions, lanes)


METHODS: dict[str, Method] = {}


def register(method: Method) -> Method:
    """Register a method by its name for `integrate`, simulations and the command line."""
    METHODS[method.name] = method
    return method


register(_fixed("euler", 1, "explicit Euler, fixed step", fixed_step.EULER, euler))
register(
    _fixed(
        "semi_implicit_euler",
        1,
        "semi-implicit (symplectic) Euler, fixed step: positions follow the new velocities",
        fixed_step.SEMI_IMPLICIT_EULER,
        semi_implicit_euler,
        needs_positions=True,
    )
)
register(_fixed("rk4", 4, "classical Runge-Kutta, fixed step", fixed_step.RK4, rk4))
register(
    Method("dop853", 8, True, "Dormand-Prince 8(5,3), adaptive step, dense output of order 7", dop853.advance)
)


OnChunk = Callable[..., object]
FIRST_CHUNK_STEPS = 512
MOST_FIRST_ROWS = 2048


def integrate(
    problem: OdeProblem,
    t_eval: ArrayLike,
    x0: ArrayLike,
    *,
    method: str = "dop853",
    step: float | None = None,
    rtol: float = 1e-8,
    atol: ArrayLike = 1e-10,
    stops: ArrayLike = (),
    max_step: float = np.inf,
    first_step: float | None = None,
    usual_step: float | None = None,
    max_steps: int | None = None,
    on_chunk: OnChunk | None = None,
    chunk_steps: int | None = None,
    pool: RunPool | None = None,
) -> Outcome:
    """Integrate from ``t_eval[0]``, where the state is `x0` (n,), to ``t_eval[-1]``; output at `t_eval` (m,).

    `method`: a name in `METHODS`. Fixed-step methods need `step`; a step is shortened to land exactly on output
    times and stops only where their distance from the previous one is not a multiple of the step. `rtol`,
    `atol` (scalar or (n,)), `max_step`, `first_step`: for adaptive methods. `usual_step`: `next_step` of the
    run that this one continues after an event: the first step is similar unless the slope contradicts it.
    `stops`: times at which the right-hand side jumps. Steps end exactly there, and on either side the
    right-hand side receives only times strictly inside that side; times closer than 1e-14 of the largest count
    as the same time. `max_steps`: limit of accepted and rejected steps; by default 10 million for adaptive
    methods and none for fixed steps, whose number is known in advance. `on_chunk(t_rows, x_rows, progress)`:
    called between chunks with the outputs since the last call (perhaps none) and the fraction of the interval
    done; with samples also with the held values (rows, nh) up to each. `chunk_steps`: steps in a chunk; by
    default for 0.15 s. `pool`: memory of earlier runs with the same functions, which this run reuses and
    returns.

    A run ends at the first of the problem's events, with status "event". dop853 locates it on its dense
    output, fixed steps by shortening the step in which it happens, both to round-off of time. Outputs before
    the event are included. The result does not depend on the chunks. A KeyboardInterrupt ends the run with
    status "interrupted".
    """
    chosen = choose(method, problem, step)
    start = check_vector("x0", x0, problem.n, problem.unit_blocks.tolist())
    pool = RunPool() if pool is None else pool
    numbers = (rtol, step, max_step, max_steps, first_step, usual_step)
    options = _options(problem, t_eval, stops, atol, numbers, pool)
    times = options.times
    memory = pool.take(problem, start, options)
    run = memory.run

    loop = chosen.lanes if chosen.lanes is not None and problem.lanes > 1 else chosen.advance

    def advance(steps: int) -> int:
        return loop(run, steps, chosen.kernel) if times.size > 1 else FINISHED

    first_steps = FIRST_CHUNK_STEPS + min(times.size, MOST_FIRST_ROWS)
    rows = [run.rows, run.held.rows] if run.held.rows.shape[1] else [run.rows]
    code = advance_in_chunks(advance, run.clock, times, rows, on_chunk, first_steps, chunk_steps)
    site = ""
    if code == CHATTERING and problem.switching is not None:
        site = problem.switching.label(run.modes.last)
    outcome = outcome_of(code, chosen, times, run, site)
    pool.put_back(memory)
    return outcome


def _options(
    problem: OdeProblem,
    t_eval: ArrayLike,
    stops: ArrayLike,
    atol: ArrayLike,
    numbers: tuple[Any, ...],
    pool: RunPool,
) -> StepOptions:
    """The checked options, or those of the pool's last run if they are unchanged."""

    def check() -> StepOptions:
        landings = stops
        if problem.sampling is not None:
            landings = np.concatenate([np.asarray(stops, dtype=np.float64).ravel(), problem.sampling.times])
        rtol, *others = numbers
        return check_options(check_times(t_eval), landings, problem.n, rtol, atol, *others)

    fixed = isinstance(t_eval, np.ndarray) and not t_eval.flags.writeable and isinstance(atol, float)
    if fixed and problem.sampling is None and isinstance(stops, (list, tuple)):
        return pool.options(t_eval, (atol, numbers, tuple(stops)), check)
    return check()


def outcome_of(code: int, method: Method, times: NDArray[np.float64], run: Run, site: str) -> Outcome:
    """The outcome of a run, from its memory at its end."""
    rows, steps = run.clock.row, run.counts.steps
    return Outcome(
        status=STATUSES[code],
        t=times[:rows],
        x=run.rows[:rows],
        t_last=run.clock.t,
        x_last=run.x.copy(),
        t_failed=run.failed.t,
        component=run.failed.component,
        stats={
            "steps": steps,
            "rejected": run.counts.rejected,
            "evaluations": run.counts.evaluations + steps * method.evaluations_per_step,
            "restarts": run.counts.restarts,
            "landings": run.counts.landings,
        },
        site=site,
        which=run.watched.which if code == EVENT else -1,
        x_failed=run.stage.copy() if code == CONSTRAINTS else np.zeros(0),
        events=(EventRecord(run.watched.which, run.clock.t, run.x.copy(), run.nq),) if code == EVENT else (),
        held=run.held.rows[:rows],
        next_step=run.step.h or None,
        held_last=run.p[run.held.first : run.held.first + run.held.fresh.size].copy(),
    )


def choose(name: str, problem: OdeProblem, step: float | None) -> Method:
    """The method of this name, if it suits the problem; see `common.methods.choose`."""
    method = choose_method(METHODS, name, step)
    if method.needs_positions and (problem.nq == 0 or problem.nv == 0):
        raise SolverError(
            f"method '{name}' treats positions and velocities separately: the problem must define nq and nv "
            f"(got nq = {problem.nq}, nv = {problem.nv}); use 'euler' or 'rk4' otherwise"
        )
    return method
