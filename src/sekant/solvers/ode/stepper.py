"""Single steps with the time loops of the explicit methods.

The memory of a run is allocated once; a step sets its end and calls the compiled loop. Steps to the same
times give the same bits as `integrate` does with these as output times.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SolverError
from sekant.solvers.common.checks import UNLIMITED, StepOptions
from sekant.solvers.common.outcome import Outcome
from sekant.solvers.ode import dop853
from sekant.solvers.ode.integrate import choose, outcome_of
from sekant.solvers.ode.memory import lay_out
from sekant.solvers.ode.problem import OdeProblem

Floats = NDArray[np.float64]
_ALL = float(2**60)


@dataclass(frozen=True, eq=False)
class StepperPosition:
    """The position of a stepper: time, state (n,), the next step of an adaptive method, and the earliest time
    that the right-hand side may receive since the last stop."""

    t: float
    x: Floats
    h: float
    earliest: float


class Stepper:
    """`problem` from the state `x0` (n,) at time `t`; its `x` and `p` may be changed between steps."""

    def __init__(
        self,
        problem: OdeProblem,
        x0: Floats,
        t: float,
        method: str,
        rtol: float = 1e-8,
        atol: float = 1e-10,
    ):
        self.problem = problem
        self.method = choose(method, problem, None if method == "dop853" else 1.0)
        edge = np.array([t, t + 1.0])
        run = lay_out(
            problem,
            np.array(x0, float),
            StepOptions(edge, edge.copy(), 0.0, 0.0, np.inf, UNLIMITED, 0.0, rtol, np.full(problem.n, atol)),
        )
        self._run, self.x, self.p = run, run.x, run.p
        self._short = run.plan.edges, run.plan.low, run.plan.high
        self._t_eval, self._edges = run.plan.t_eval, run.plan.edges
        self._row, self._phase, self._step = (
            run.clock.place("row"),
            run.step.place("phase"),
            run.plan.place("step"),
        )
        self._length = 0.0
        self._stops: list[float] = []
        self._segment(t, float(np.nextafter(t, np.inf)), np.inf)
        self._call: Any = self.method.advance

    @property
    def t(self) -> float:
        return self._run.clock.t

    def _segment(self, t: float, earliest: float, stop: float) -> None:
        """Set the run to `t`; the right-hand side receives only times from `earliest` up to but excluding `stop`."""
        latest = float(np.nextafter(min(stop, 1e300), -np.inf))
        self._run.clock.set(t=t, span_start=t, span_step=0, segment=0, earliest=earliest, latest=latest)
        self._earliest, self._until = earliest, stop

    def step(self, end: float, length: float) -> int:
        """Advance to the time `end` in steps of `length` (an adaptive method chooses its own); returns a code
        of `memory`."""
        if end >= self._until:
            return self._step_over_stops(end, length)
        self._t_eval[1] = self._edges[1] = end
        words, row = self._row
        words[row] = 1
        if self.method.adaptive:
            words, phase = self._phase
            words[phase] = dop853.FRESH
        elif length != self._length:
            numbers, step = self._step
            numbers[step] = self._length = length
        return self._call(self._run, _ALL, self.method.kernel)

    def _step_over_stops(self, end: float, length: float) -> int:
        """Like `step`, with stops in between."""
        run, t = self._run, self.t
        snap = 1e-14 * max(abs(t), abs(end))
        inside = [stop for stop in self._stops if t + snap < stop < end - snap]
        at_end = any(abs(stop - end) <= snap for stop in self._stops)
        beyond = self._stops[bisect_right(self._stops, end + snap) :]
        last = end if at_end else (beyond[0] if beyond else np.inf)
        edges = np.array([t, *inside, end])
        low = np.array([self._earliest, *np.nextafter(inside, np.inf)])
        high = np.array([*np.nextafter(inside, -np.inf), np.nextafter(min(last, 1e300), -np.inf)])
        run.plan.set(edges=edges, low=low, high=high, snap=snap, step=length)
        run.clock.set(segment=0, span_step=0, span_start=t, row=1)
        run.clock.set(earliest=float(low[0]), latest=float(high[0]))
        run.step.phase = dop853.FRESH
        run.plan.t_eval[1] = end
        code = self._call(run, _ALL, self.method.kernel)
        reached = run.clock.t
        edges, low, high = self._short
        run.plan.set(edges=edges, low=low, high=high, snap=0.0)
        run.clock.segment = 0
        self._length = length
        passed = [stop for stop in self._stops if stop <= reached + snap]
        self._stops = self._stops[len(passed) :]
        earliest = float(np.nextafter(passed[-1], np.inf)) if passed else self._earliest
        self._segment(reached, earliest, self._stops[0] if self._stops else np.inf)
        return code

    def land_on(self, stops: Iterable[float]) -> None:
        """Set times at which the right-hand side jumps, in addition to the current one."""
        self._stops = sorted(stop for stop in stops if stop > self.t)
        self._segment(self.t, self._earliest, self._stops[0] if self._stops else np.inf)

    def outcome(self, code: int) -> Outcome:
        """The outcome of the last step, for a reader."""
        return outcome_of(code, self.method, self._t_eval, self._run, "")

    def save(self) -> StepperPosition:
        return StepperPosition(self.t, self.x.copy(), self._run.step.h, self._earliest)

    def restore(self, position: StepperPosition) -> None:
        """Return to the stepper's earlier point; stops must be set again."""
        if position.x.shape != self.x.shape:
            raise SolverError(f"the state has size {position.x.size}, but this run needs size {self.x.size}")
        self.x[:] = position.x
        self._run.step.set(h=position.h, after_rejection=0, kept=0.0)
        self._stops = []
        self._segment(position.t, position.earliest, np.inf)
