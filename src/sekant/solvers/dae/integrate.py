"""Integration of differential-algebraic systems: checks, segments, and the Python side of the time loop.

The steps themselves run in compiled loops. Between two calls of such a loop, each lasting about 0.15 s,
output rows are passed on and Ctrl-C is handled.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from sekant.errors import SolverError
from sekant.solvers.common.checks import check_options, check_times, check_vector
from sekant.solvers.common.chunks import advance_in_chunks
from sekant.solvers.common.methods import Method, choose
from sekant.solvers.common.outcome import CHATTERING, CONSTRAINTS, EVENT, STATUSES, EventRecord, Outcome
from sekant.solvers.dae import generalized_alpha, radau
from sekant.solvers.dae.memory import DaeMemory, Floats, lay_out
from sekant.solvers.dae.problem import DaeProblem
from sekant.solvers.dae.state_matrices import has_redundant_rows

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "radau5",
            5,
            True,
            "Radau IIA of order 5 on index 3, adaptive step, for stiff systems",
            radau.advance,
        ),
        Method(
            "generalized_alpha",
            2,
            False,
            "generalized-alpha on index 3, fixed step, numerical damping by the spectral radius",
            generalized_alpha.advance,
        ),
    )
}


OnChunk = Callable[[Floats, Floats, float], object]
FIRST_CHUNK_STEPS = 64


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
) -> Outcome:
    """Integrate from ``t_eval[0]``, where the state is `q0` (nq,), `v0` (nv,), `w0` (nw,; zero by default).

    The start is projected on the constraints; `Outcome.start_moved` is the change. Output at `t_eval` (k,),
    with accelerations and multipliers; every output satisfies the constraints on positions and velocities.
    `method`: a name in `METHODS`. "generalized_alpha" needs `step`; a step is shortened to end exactly on an
    output time or stop only if the distance from the previous one is not a multiple of the step. `rtol`,
    `atol` (scalar or (nq + nv + nw,)), `max_step`, `first_step`: for "radau5". Under constraints on
    positions, the error of velocities times the step is kept below the tolerance. `spectral_radius`: of
    "generalized_alpha" at infinite frequency, 1 (no damping) to 0 (strongest). `stops`, `max_steps`,
    `chunk_steps`: as in `sekant.solvers.ode.integrate`. `on_chunk(t_rows, x_rows, progress)`: called between
    chunks with the outputs since the last call.

    A run ends at the first of the problem's events, with status "event": located by steps of the method
    itself from the same start, to round-off of time. Outputs before the event are included. The result does
    not depend on the chunks. A KeyboardInterrupt ends the run with status "interrupted".
    """
    chosen = choose(METHODS, method, step)
    times = check_times(t_eval)
    f = problem.functions
    start = np.concatenate(
        [
            check_vector("q0", q0, f.nq, f.unit_blocks),
            check_vector("v0", v0, f.nv),
            check_vector("w0", w0, f.nw),
        ]
    )
    if not 0.0 <= spectral_radius <= 1.0:
        raise SolverError(f"spectral_radius must lie between 0 and 1 (got {spectral_radius})")
    options = check_options(times, stops, start.size, rtol, atol, step, max_step, max_steps, first_step)
    redundant = has_redundant_rows(problem, float(times[0]), start)
    memory = lay_out(problem, start, options, redundant, float(spectral_radius))

    code = advance_in_chunks(
        lambda steps: chosen.advance(memory, steps),
        memory.clock,
        times,
        [memory.rows],
        on_chunk,
        FIRST_CHUNK_STEPS,
        chunk_steps,
    )
    chatters = code == CHATTERING and problem.switching is not None
    site = problem.switching.label(memory.modes.last) if chatters and problem.switching else ""
    return _outcome(code, times, memory, site)


def _outcome(code: int, times: Floats, memory: DaeMemory, site: str) -> Outcome:
    rows, blamed, clock = memory.clock.row, memory.failed.component, memory.clock
    event = EventRecord(memory.watched.which, clock.t, memory.x[: memory.nq + memory.nv].copy(), memory.nq)
    return Outcome(
        status=STATUSES[code],
        t=times[:rows],
        x=memory.rows[:rows],
        a=memory.a_rows[:rows],
        lam=memory.lam_rows[:rows],
        t_last=memory.clock.t,
        x_last=memory.x.copy(),
        t_failed=memory.failed.t,
        component=-1 if code == CONSTRAINTS else blamed,
        which=blamed if code == CONSTRAINTS else event.number if code == EVENT else -1,
        events=(event,) if code == EVENT else (),
        start_moved=(memory.moved_q, memory.moved_v),
        largest_residuals=(memory.found.largest_phi, memory.found.largest_rate),
        stats={
            "steps": memory.counts.steps,
            "rejected": memory.counts.rejected,
            "evaluations": memory.counts.evaluations,
            "jacobians": memory.newton.jacobians,
            "factorizations": memory.newton.factorizations,
            "restarts": memory.counts.restarts,
            "landings": memory.counts.landings,
        },
        site=site,
        implicit=True,
    )


__all__ = ["METHODS", "integrate_dae"]
