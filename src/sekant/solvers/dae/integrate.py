"""Integration of differential-algebraic systems: checks, segments, and the Python side of the time loop.

The steps themselves run in compiled loops. Between two calls of such a loop, each lasting about 0.15 s,
rows are handed out and Ctrl-C is heard.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from sekant.errors import SolverError
from sekant.solvers.common.checks import check_first_step, check_times, check_tolerances, merge_stops
from sekant.solvers.dae import memory as at
from sekant.solvers.dae.memory import Floats, Memory, Options, lay_out
from sekant.solvers.dae.methods import METHODS, Method, choose
from sekant.solvers.dae.problem import DaeOutcome, DaeProblem, DaeStats, Status
from sekant.solvers.dae.state_matrices import has_redundant_rows

OnChunk = Callable[[Floats, Floats, float], object]

CHUNK_SECONDS = 0.15
FIRST_CHUNK_STEPS = 64
ADAPTIVE_MAX_STEPS = 10_000_000
UNLIMITED = 2**62
_STATUS: dict[int, Status] = {
    at.MORE: "interrupted",
    at.FINISHED: "finished",
    at.NOT_FINITE: "not_finite",
    at.STEP_TOO_SMALL: "step_too_small",
    at.TOO_MANY_STEPS: "too_many_steps",
    at.NO_CONVERGENCE: "no_convergence",
    at.CONSTRAINTS: "constraints",
    at.CHATTERING: "chattering",
}


def integrate_dae(
    problem: DaeProblem,
    t_eval: ArrayLike,
    q0: ArrayLike,
    v0: ArrayLike,
    w0: ArrayLike | None = None,
    *,
    method: str = "radau5",
    step: float | None = None,
    rtol: float = 1e-8,
    atol: ArrayLike = 1e-8,
    spectral_radius: float = 0.8,
    stops: ArrayLike = (),
    max_step: float = np.inf,
    first_step: float | None = None,
    max_steps: int | None = None,
    on_chunk: OnChunk | None = None,
    chunk_steps: int | None = None,
) -> DaeOutcome:
    """Integrate from ``t_eval[0]``, where the state is `q0` (nq,), `v0` (nv,), `w0` (nw,; zero by default).

    The start is projected on the constraints; `DaeOutcome.start_moved` says by how much. Output at `t_eval` (k,),
    with accelerations and multipliers; every output satisfies the constraints on positions and velocities.
    `method`: a name in `METHODS`. "generalized_alpha" needs `step`; a step is shortened to land exactly on output
    times and stops only where these are not multiples of the step away from the one before.
    `rtol`, `atol` (scalar or (nq + nv + nw,)), `max_step`, `first_step`: for "radau5". Under constraints on
    positions the error of velocities times the step is held below the tolerance.
    `spectral_radius`: of "generalized_alpha" at infinite frequency, 1 (no damping) to 0 (strongest).
    `stops`, `max_steps`, `chunk_steps`: as in `sekant.solvers.ode.integrate`.
    `on_chunk(t_rows, x_rows, progress)`: called between chunks with the outputs since the last call.

    The result does not depend on the chunks. A KeyboardInterrupt ends the run with status "interrupted".
    """
    chosen = choose(method, step)
    times = check_times(t_eval)
    start = _check_state(problem, q0, v0, w0)
    check_first_step(first_step)
    if chunk_steps is not None and chunk_steps < 1:
        raise SolverError(f"chunk_steps must be at least 1 (got {chunk_steps})")
    if not 0.0 <= spectral_radius <= 1.0:
        raise SolverError(f"spectral_radius must lie between 0 and 1 (got {spectral_radius})")
    tolerances = check_tolerances(rtol, atol, start.size, max_step, max_steps)
    snap = 1e-14 * max(abs(times[0]), abs(times[-1]))
    options = Options(
        times=times,
        edges=merge_stops(stops, float(times[0]), float(times[-1]), snap),
        snap=float(snap),
        step=float(step or 0.0),
        max_step=float(max_step),
        max_steps=int(max_steps or (ADAPTIVE_MAX_STEPS if chosen.adaptive else UNLIMITED)),
        first_step=float(first_step or 0.0),
        rtol=float(rtol),
        atol=tolerances,
        redundant=has_redundant_rows(problem, float(times[0]), start),
        spectral_radius=float(spectral_radius),
    )
    memory = lay_out(problem, start, options)
    code = _run(chosen, memory, times, on_chunk, chunk_steps)
    chatters = code == at.CHATTERING and problem.switching is not None
    site = problem.switching.label(memory.site) if chatters and problem.switching else ""
    return _outcome(_STATUS[code], times, memory, site)


def _run(
    method: Method, memory: Memory, times: Floats, on_chunk: OnChunk | None, chunk_steps: int | None
) -> int:
    rows, delivered = memory.rows, 0

    def deliver() -> None:
        nonlocal delivered
        first, delivered = delivered, memory.row
        if on_chunk is not None:
            progress = 1.0
            if times.size > 1:
                progress = float((memory.t - times[0]) / (times[-1] - times[0]))
            on_chunk(times[first:delivered], rows[first:delivered], progress)

    code, budget = at.MORE, chunk_steps or FIRST_CHUNK_STEPS
    try:
        while code == at.MORE:
            began = perf_counter()
            code = method.advance(memory, budget)
            if chunk_steps is None:
                ratio = CHUNK_SECONDS / max(perf_counter() - began, 1e-6)
                budget = max(FIRST_CHUNK_STEPS, int(budget * min(max(ratio, 0.1), 16.0)))
            deliver()
    except KeyboardInterrupt:
        if code == at.MORE and delivered < memory.row:
            deliver()
    return code


def _outcome(status: Status, times: Floats, memory: Memory, site: str) -> DaeOutcome:
    rows = memory.row
    return DaeOutcome(
        status=status,
        t=times[:rows],
        x=memory.rows[:rows],
        a=memory.a_rows[:rows],
        lam=memory.lam_rows[:rows],
        t_last=memory.t,
        x_last=memory.x.copy(),
        t_failed=memory.t_failed,
        component=memory.component,
        start_moved=(memory.moved_q, memory.moved_v),
        largest_residuals=(memory.largest_phi, memory.largest_rate),
        stats=DaeStats(
            steps=memory.steps,
            rejected=memory.rejected,
            diverged=memory.diverged,
            residuals=memory.residuals,
            jacobians=memory.jacobians,
            factorizations=memory.factorizations,
            restarts=memory.restarts,
            landings=memory.turns,
        ),
        site=site,
    )


def _check_state(problem: DaeProblem, q0: ArrayLike, v0: ArrayLike, w0: ArrayLike | None) -> Floats:
    f = problem.functions
    parts = []
    for name, given, size in (("q0", q0, f.nq), ("v0", v0, f.nv), ("w0", w0, f.nw)):
        part = np.zeros(size) if given is None else np.array(given, dtype=np.float64)
        if part.shape != (size,):
            raise SolverError(f"{name} has shape {part.shape}, but the problem has {size} of them")
        if not np.all(np.isfinite(part)):
            i = int(np.argmin(np.isfinite(part)))
            raise SolverError(f"{name}[{i}] = {part[i]} is not finite")
        parts.append(part)
    for first, length in f.unit_blocks:
        if not np.any(parts[0][first : first + length]):
            raise SolverError(f"q0[{first}:{first + length}] is zero, but must be a unit vector")
    return np.concatenate(parts)


__all__ = ["METHODS", "integrate_dae"]
