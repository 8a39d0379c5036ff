"""A run of the Taylor method: checks of the arguments, and the state between calls of the compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import SolverError
from sekant.solvers.common.checks import check_limits, check_shape, check_times, check_vector
from sekant.solvers.common.chunks import advance_in_chunks
from sekant.solvers.common.outcome import (
    CHATTERING,
    CONSTRAINTS,
    EVENT,
    MORE,
    NOT_FINITE,
    STATUSES,
    EventRecord,
    Outcome,
)
from sekant.solvers.common.sites import PIECE
from sekant.solvers.taylor.advance import advance
from sekant.solvers.taylor.machine import START, TaylorPlan, lay_out_run
from sekant.solvers.taylor.problem import TaylorProblem
from sekant.tables.table import Table

Floats = NDArray[np.float64]
MOST_STEPS = 10_000_000
FIRST_CHUNK_STEPS = 16
LOWEST_ORDER, HIGHEST_ORDER = 4, 40
LOCAL, ROUND_OFF = 1e-3, 1e-15
"""Share of the tolerance for a step, and its lower limit, round-off: errors of steps accumulate and grow, and
three more digits cost a Taylor series only a few more orders."""


def _strictness(rtol: float) -> float:
    return max(LOCAL, min(1.0, ROUND_OFF / rtol)) if rtol > 0.0 else LOCAL


def order_for(tol: float) -> int:
    """The order of the series for a tolerance of a step: 11 for 1e-6, 16 for 1e-10, 19 for 1e-12.

    For series of convergence radius R the cheapest step is about R/e^2, for which order -log(tol)/2 is
    sufficient. Work per step that does not depend on the order makes a few more orders worthwhile.
    """
    return min(max(ceil(-0.6 * log(tol)) + 2, LOWEST_ORDER), HIGHEST_ORDER)


def order_of(rtol: float) -> int:
    """The default order of a run at relative tolerance `rtol` > 0."""
    return order_for(_strictness(rtol) * min(rtol, 1e-3))


class TaylorRun:
    """A run that can be stopped, changed and continued. It owns its times, tolerances and memory.

    It goes to ``t_eval[-1]`` from the point `q0` (nq,), `v0` (nv,) at `t_start` (by default ``t_eval[0]``), which is
    projected onto the constraints. `rtol`, `atol` (scalar or (nv,), by default rtol): each step keeps the last terms
    of the series of v_i below a thousandth of atol_i + rtol |v_i|, because errors accumulate over steps. `order`:
    order of these series; by default it follows from rtol. `p` (np,): parameters. `work` (nw,): work at the start,
    by default zero; rows are [q; v; w], and the terms of w have the tolerance of the largest work. `directions`
    (ne,): which crossings of the event functions count: -1 falling, +1 rising, 0 both. `reactions`: whether outputs
    include accelerations and multipliers.
    """

    def __init__(
        self,
        problem: TaylorProblem,
        t_eval: ArrayLike,
        q0: ArrayLike,
        v0: ArrayLike,
        *,
        p: ArrayLike | None = None,
        work: ArrayLike | None = None,
        t_start: float | None = None,
        rtol: float = 1e-10,
        atol: ArrayLike | None = None,
        order: int | None = None,
        max_step: float = np.inf,
        max_steps: int = MOST_STEPS,
        directions: ArrayLike | None = None,
        reactions: bool = True,
    ):
        self.problem = problem
        times = check_times(t_eval)
        start = float(times[0]) if t_start is None else float(t_start)
        if not start <= times[0]:
            raise SolverError(f"t_start = {start} is after the first output time {float(times[0])}")
        q, v = check_vector("q0", q0, problem.nq, problem.unit_blocks), check_vector("v0", v0, problem.nv)
        parameters = check_vector("p", p, problem.n_parameters)
        w = check_vector("work", work, problem.n_powers)
        strict = _strictness(rtol)
        atol = rtol if atol is None else atol
        scale = strict * _tolerances(problem, rtol, atol)
        check_limits(max_step, max_steps)
        tol = strict * float(min(rtol, 1e-3)) if rtol > 0.0 else float(np.min(scale))
        chosen = order_for(tol) if order is None else order
        if not LOWEST_ORDER <= chosen <= HIGHEST_ORDER:
            raise SolverError(f"the order must be in {LOWEST_ORDER}..{HIGHEST_ORDER} (got {chosen})")
        signs = np.zeros(problem.n_events) if directions is None else np.asarray(directions)
        if signs.shape != (problem.n_events,) or not all(sign in (-1, 0, 1) for sign in signs.tolist()):
            raise SolverError(f"directions must be -1, 0 or 1 for each of {problem.n_events} events")
        self.plan = TaylorPlan(
            t_eval=times,
            snap=float(1e-14 * max(abs(start), abs(times[-1]))),
            order=int(chosen),
            rtol=strict * float(rtol),
            scale_abs=scale,
            tol=tol,
            atol_work=strict * float(np.max(atol)),
            max_step=float(max_step),
            max_steps=int(max_steps),
            direction=signs.astype(np.int64),
            reactions=int(reactions),
        )
        self.memory = lay_out_run(problem.layout, self.plan, start, q, v, w, parameters)
        self.x_rows, self.a_rows = self.memory.rows.x, self.memory.rows.a
        self.lam_rows = self.memory.rows.lam
        self._given: tuple[Floats, Floats] | None = (q, v)
        self._moved = (0.0, 0.0)
        self._code = MORE
        self._events: list[EventRecord] = []

    @property
    def t(self) -> float:
        return self.memory.clock.t

    @property
    def q(self) -> Floats:
        return self.memory.point.q.copy()

    @property
    def v(self) -> Floats:
        return self.memory.point.v.copy()

    @property
    def rows(self) -> int:
        """Output rows written so far."""
        return self.memory.clock.row

    def set_point(self, q: ArrayLike, v: ArrayLike) -> None:
        """Continue from another point at the current time, for example after an impact."""
        self.memory.point.q[:] = check_vector("q", q, self.problem.nq)
        self.memory.point.v[:] = check_vector("v", v, self.problem.nv)
        self.memory.clock.phase = START

    def advance(self, steps: int) -> int:
        """Take at most `steps` steps; returns a code of `advance`. Call again after MORE or EVENT."""
        code = advance(self.memory, steps)
        if self._given is not None:
            q, v = self._given
            first = self.x_rows[0] if self.rows and self.plan.t_eval[0] <= self.t else None
            if first is not None:
                self._moved = (
                    float(np.max(np.abs(first[: q.size] - q), initial=0.0)),
                    float(np.max(np.abs(first[q.size : q.size + v.size] - v), initial=0.0)),
                )
            self._given = None
        if code == EVENT:
            m, x = self.memory, np.concatenate([self.q, self.v])
            self._events.append(
                EventRecord(m.ending.which, self.t, x, self.problem.nq, bool(m.ending.jumped))
            )
        self._code = code
        return code

    @property
    def series(self) -> tuple[float, Floats, Floats]:
        """Start of the last step, and the coefficients of q (nq, order + 2) and v (nv, order + 1) about it."""
        m = self.memory
        return m.clock.step_start, m.step.q.copy(), m.step.v.copy()

    @property
    def last_event(self) -> EventRecord:
        return self._events[-1]

    def _left_table(self) -> str:
        """A text about the table whose range the motion has left; empty if there is none."""
        rows = self.memory.modes.row
        for s, switch in enumerate(self.problem.nodes.switches):
            if switch.kind == PIECE and rows[s] in (0, switch.breaks.size):
                lookup = self.problem.nodes.lookups[switch.lookup]
                table = lookup.table
                kinds = (table.extrapolation,) if isinstance(table, Table) else table.extrapolation
                if kinds[lookup.switches.index(s)] == "error":
                    a, b = float(switch.breaks[0]), float(switch.breaks[-1])
                    end = f"below {a:.6g}" if rows[s] == 0 else f"above {b:.6g}"
                    return f"{table.label} is evaluated {end}, but its range is [{a:.6g}, {b:.6g}]"
        return ""

    @property
    def sweeps(self) -> float:
        """Average number of back-substitutions per stage."""
        return float(self.memory.factor.solves[0]) / max(1, self.memory.counts.steps * self.plan.order)

    def outcome(self) -> Outcome:
        m, rows = self.memory, self.rows
        return Outcome(
            status=STATUSES[self._code],
            t=self.plan.t_eval[:rows],
            x=self.x_rows[:rows],
            a=self.a_rows[:rows],
            lam=self.lam_rows[:rows],
            t_last=self.t,
            x_last=np.concatenate([m.point.q, m.point.v, m.point.w]),
            t_failed=m.ending.t_failed,
            component=m.ending.component + self.problem.nq if m.ending.component >= 0 else -1,
            which=m.ending.which if self._code in (EVENT, CONSTRAINTS, CHATTERING) else -1,
            reason=self._left_table() if self._code == NOT_FINITE else "",
            events=tuple(self._events),
            start_moved=self._moved,
            largest_residuals=(m.worst.position, m.worst.velocity),
            stats={
                "steps": m.counts.steps,
                "rejected": m.counts.shortened,
                "restarts": m.counts.landings,
                "order": self.plan.order,
            },
        )


def integrate(
    problem: TaylorProblem,
    t_eval: ArrayLike,
    q0: ArrayLike,
    v0: ArrayLike,
    *,
    on_event: Callable[[EventRecord], tuple[ArrayLike, ArrayLike] | bool | None] | None = None,
    on_chunk: Callable[..., object] | None = None,
    chunk_steps: int | None = None,
    **options: Any,
) -> Outcome:
    """Integrate to ``t_eval[-1]``; `options`: of `TaylorRun`.

    `on_event(record)`: called where an event happens; it returns None to continue, (q, v) to continue with
    these, or False to stop. Without it the run stops at the first event, with status "event".
    `on_chunk(t_rows, x_rows, progress)`, `chunk_steps`: as in the ODE methods.

    The result does not depend on the chunks. A KeyboardInterrupt ends the run with status "interrupted".
    """
    run = TaylorRun(problem, t_eval, q0, v0, **options)

    def advance(steps: int) -> int:
        code = run.advance(steps)
        if code == EVENT and on_event is not None:
            answer = on_event(run.last_event)
            if answer is None or isinstance(answer, tuple):
                code = MORE
                if answer is not None:
                    run.set_point(*answer)
        return code

    times, clock = run.plan.t_eval, run.memory.clock
    advance_in_chunks(advance, clock, times, [run.x_rows], on_chunk, FIRST_CHUNK_STEPS, chunk_steps)
    return run.outcome()


def _tolerances(problem: TaylorProblem, rtol: float, atol: ArrayLike) -> Floats:
    given = check_shape(atol, problem.nv, "velocities")
    if not 0.0 <= rtol < 1.0 or not np.all(given > 0.0):
        raise SolverError(f"atol must be positive and rtol in [0, 1) (got rtol = {rtol}, atol = {atol})")
    scale = np.broadcast_to(given, (problem.nv,)).copy()
    if problem.counts is not None:
        scale[~np.asarray(problem.counts, dtype=bool)] = np.inf
    return scale
