"""Integration of initial value problems: checks, segments, and the Python side of the time loop.

The steps themselves run in compiled loops. Between two calls of such a loop, each lasting about 0.15 s,
rows are handed out and Ctrl-C is heard.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import SolverError, suggest
from sekant.solvers.common.checks import check_first_step, check_times, check_tolerances, merge_stops
from sekant.solvers.ode.memory import (
    CHATTERING,
    CONSTRAINTS,
    EVENT,
    FINISHED,
    MORE,
    NOT_FINITE,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
    Options,
    Run,
    lay_out,
    take_back,
)
from sekant.solvers.ode.methods import METHODS, Method
from sekant.solvers.ode.problem import OdeEvent, OdeOutcome, OdeProblem, OdeStats, Status

OnChunk = Callable[..., object]

CHUNK_SECONDS = 0.15
FIRST_CHUNK_STEPS = 512
MOST_FIRST_ROWS = 2048
ADAPTIVE_MAX_STEPS = 10_000_000
UNLIMITED = 2**62
STATUS: dict[int, Status] = {
    MORE: "interrupted",
    FINISHED: "finished",
    NOT_FINITE: "not_finite",
    STEP_TOO_SMALL: "step_too_small",
    TOO_MANY_STEPS: "too_many_steps",
    CONSTRAINTS: "constraints",
    CHATTERING: "chattering",
    EVENT: "event",
}


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
) -> OdeOutcome:
    """Integrate from ``t_eval[0]``, where the state is `x0` (n,), to ``t_eval[-1]``; output at `t_eval` (m,).

    `method`: a name in `METHODS`. Fixed-step methods need `step`; a step is shortened to land exactly on
    output times and stops only where these are not multiples of the step away from the one before.
    `rtol`, `atol` (scalar or (n,)), `max_step`, `first_step`: for adaptive methods. `usual_step`: `next_step` of the
    run that this one goes on from, after an event: the first step is one like it if the slope does not speak against.
    `stops`: times at which the right-hand side jumps. They are landed on exactly, and on either side the
    right-hand side only sees times strictly inside that side; times closer than 1e-14 of the largest are one.
    `max_steps`: limit of accepted and rejected steps; by default 10 million for adaptive methods and none for
    fixed steps, whose number is known beforehand.
    `on_chunk(t_rows, x_rows, progress)`: called between chunks with the outputs since the last call (perhaps
    none) and the fraction of the interval done; with samples also with the held values (rows, nh) up to each.
    `chunk_steps`: steps in a chunk; by default for 0.15 s.

    A run ends at the first of the problem's events, with status "event". dop853 locates it on its dense output, fixed
    steps by shortening the step in which it happens, both to round-off of time. Outputs before it are given.
    The result does not depend on the chunks. A KeyboardInterrupt ends the run with status "interrupted".
    """
    chosen = choose(method, problem, step)
    times = check_times(t_eval)
    start = _check_state(problem, x0)
    check_first_step(first_step)
    check_first_step(usual_step)
    if chunk_steps is not None and chunk_steps < 1:
        raise SolverError(f"chunk_steps must be at least 1 (got {chunk_steps})")
    tolerances = check_tolerances(rtol, atol, problem.n, max_step, max_steps)
    snap = 1e-14 * max(abs(times[0]), abs(times[-1]))
    if problem.sampling is not None:
        stops = np.concatenate([np.asarray(stops, dtype=np.float64).ravel(), problem.sampling.times])
    options = Options(
        times=times,
        edges=merge_stops(stops, float(times[0]), float(times[-1]), snap),
        snap=float(snap),
        step=float(step or 0.0),
        max_step=float(max_step),
        max_steps=int(max_steps or (ADAPTIVE_MAX_STEPS if chosen.adaptive else UNLIMITED)),
        first_step=float(first_step or 0.0),
        usual_step=float(usual_step or 0.0),
        rtol=float(rtol),
        atol=tolerances,
    )
    run = lay_out(problem, start, options)
    code = _advance(chosen, run, times, on_chunk, chunk_steps)
    site = ""
    if code == CHATTERING and problem.switching is not None:
        site = problem.switching.label(run.blame)
    outcome = outcome_of(STATUS[code], chosen, times, run, site)
    take_back(problem, run)
    return outcome


def _advance(
    method: Method, run: Run, times: NDArray[np.float64], on_chunk: OnChunk | None, chunk_steps: int | None
) -> int:
    """Run the loop to its end, chunk by chunk; returns its last code."""
    rows, delivered = run.rows, 0

    def deliver() -> None:
        nonlocal delivered
        first, delivered = delivered, run.row
        if on_chunk is not None:
            progress = 1.0
            if times.size > 1:
                progress = float((run.t - times[0]) / (times[-1] - times[0]))
            held = [run.held_rows[first:delivered]] if run.held_rows.shape[1] else []
            on_chunk(times[first:delivered], rows[first:delivered], progress, *held)

    code = MORE if times.size > 1 else FINISHED
    budget = chunk_steps or FIRST_CHUNK_STEPS + min(times.size, MOST_FIRST_ROWS)
    try:
        while code == MORE:
            began = perf_counter()
            code = method.advance(run, budget, method.kernel)
            if chunk_steps is None:
                ratio = CHUNK_SECONDS / max(perf_counter() - began, 1e-6)
                budget = max(FIRST_CHUNK_STEPS, int(budget * min(max(ratio, 0.1), 16.0)))
            deliver()
        if delivered == 0:
            deliver()
    except KeyboardInterrupt:
        if code == MORE and delivered < run.row:
            deliver()
    return code


def outcome_of(status: Status, method: Method, times: NDArray[np.float64], run: Run, site: str) -> OdeOutcome:
    """What the memory of a run says at its end."""
    rows, steps = run.row, run.steps
    return OdeOutcome(
        status=status,
        t=times[:rows],
        x=run.rows[:rows],
        t_last=run.t,
        x_last=run.x.copy(),
        t_failed=run.t_failed,
        component=run.component,
        stats=OdeStats(
            steps=steps,
            rejected=run.rejected,
            evaluations=run.evaluations + steps * method.evaluations_per_step,
            restarts=run.restarts,
            landings=run.landings,
        ),
        site=site,
        event=OdeEvent(run.which, run.t, run.x.copy()) if status == "event" else None,
        held=run.held_rows[:rows],
        next_step=run.h,
        held_last=run.p[run.held_first : run.held_first + run.held_fresh.size].copy(),
    )


def choose(name: str, problem: OdeProblem, step: float | None) -> Method:
    """The method of this name; `step` must be given for one of fixed steps, and only then."""
    if name not in METHODS:
        raise SolverError(f"unknown method '{name}'; {suggest(name, list(METHODS))}")
    method = METHODS[name]
    if method.adaptive:
        if step is not None:
            raise SolverError(
                f"method '{name}' chooses its own steps: give rtol, atol or max_step instead of step"
            )
        return method
    if step is None:
        raise SolverError(f"method '{name}' needs a step, e.g. step=1e-3")
    if not 0.0 < step < np.inf:
        raise SolverError(f"step must be positive and finite (got {step})")
    if method.needs_positions and (problem.nq == 0 or problem.nv == 0):
        raise SolverError(
            f"method '{name}' treats positions and velocities apart: the problem must say how many it has "
            f"(got nq = {problem.nq}, nv = {problem.nv}); use 'euler' or 'rk4' otherwise"
        )
    return method


def _check_state(problem: OdeProblem, x0: ArrayLike) -> NDArray[np.float64]:
    start = np.array(x0, dtype=np.float64)
    if start.shape != (problem.n,):
        raise SolverError(f"x0 has shape {start.shape}, but the problem has {problem.n} states")
    if not np.all(np.isfinite(start)):
        i = int(np.argmin(np.isfinite(start)))
        raise SolverError(f"x0[{i}] = {start[i]} is not finite")
    for first, length, stride in problem.unit_blocks.tolist():
        block = slice(first, first + length * stride, stride)
        if not np.any(start[block]):
            last = first + (length - 1) * stride + 1
            raise SolverError(f"x0[{first}:{last}] is zero, but must be a unit vector")
    return start
