"""Integration by Taylor series: the Python side of the time loop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.solvers.common.chunks import advance_in_chunks
from sekant.solvers.common.outcome import EVENT, MORE, EventRecord, Outcome
from sekant.solvers.taylor.problem import TaylorProblem
from sekant.solvers.taylor.run import MOST_STEPS, TaylorRun

Floats = NDArray[np.float64]
OnChunk = Callable[[Floats, Floats, float], object]
OnEvent = Callable[[EventRecord], tuple[ArrayLike, ArrayLike] | bool | None]

FIRST_CHUNK_STEPS = 16


def integrate(
    problem: TaylorProblem,
    t_eval: ArrayLike,
    q0: ArrayLike,
    v0: ArrayLike,
    *,
    p: ArrayLike = (),
    work: ArrayLike | None = None,
    t_start: float | None = None,
    rtol: float = 1e-10,
    atol: ArrayLike | None = None,
    order: int | None = None,
    max_step: float = np.inf,
    max_steps: int = MOST_STEPS,
    directions: ArrayLike | None = None,
    reactions: bool = True,
    on_event: OnEvent | None = None,
    on_chunk: OnChunk | None = None,
    chunk_steps: int | None = None,
) -> Outcome:
    """Integrate to ``t_eval[-1]`` from the point `q0` (nq,), `v0` (nv,) at `t_start` (by default ``t_eval[0]``).

    The start is projected onto the constraints. `rtol`, `atol` (scalar or (nv,), by default rtol): each step
    keeps the last terms of the series of v_i below a thousandth of atol_i + rtol |v_i|, because errors
    accumulate over steps. `order`: order of these series; by default it follows from rtol. `p` (np,):
    parameters. `work` (nw,): work at the start, by default zero; rows are [q; v; w], and the terms of w have
    the tolerance of the largest work. `directions` (ne,): which crossings of the event functions count: -1
    falling, +1 rising, 0 both. `reactions`: whether outputs include accelerations and multipliers.
    `on_event(record)`: called where an event happens; it returns None to continue, (q, v) to continue with
    these, or False to stop. Without it the run stops at the first event, with status "event".
    `on_chunk(t_rows, x_rows, progress)`, `chunk_steps`: as in the ODE methods.

    The result does not depend on the chunks. A KeyboardInterrupt ends the run with status "interrupted".
    """
    run = TaylorRun(
        problem,
        t_eval,
        q0,
        v0,
        p=p,
        work=work,
        t_start=t_start,
        rtol=rtol,
        atol=atol,
        order=order,
        max_step=max_step,
        max_steps=max_steps,
        directions=directions,
        reactions=reactions,
    )
    times, begin = run.plan.t_eval, run.t

    def hand_out(first: int, last: int) -> None:
        if on_chunk is not None:
            span = times[-1] - begin
            progress = float((run.t - begin) / span) if span > 0.0 else 1.0
            on_chunk(times[first:last], run.x_rows[first:last], progress)

    def advance(steps: int) -> int:
        code = run.advance(steps)
        if code == EVENT and on_event is not None:
            answer = on_event(run.last_event)
            if answer is None or isinstance(answer, tuple):
                code = MORE
                if answer is not None:
                    run.set_point(*answer)
        return code

    advance_in_chunks(advance, lambda: run.rows, hand_out, FIRST_CHUNK_STEPS, chunk_steps, times.size)
    return run.outcome()
