"""Events for methods whose loops do not know them: found between closely spaced rows, located by shorter runs.

The motion is computed in windows, with rows at least every thousandth of the run, or after every fixed step. Where a
guard has changed its sign from one row to the next, or turns close to zero between them, the run is repeated from the
row before, to times that close in on the root: the search of `sekant.solvers.common.landing`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.engine.system import State
from sekant.solvers.common.landing import NONE, landing, turns
from sekant.solvers.common.outcome import EventRecord
from sekant.solvers.ode.events import happened, hold_sign, lay_out_events, pass_by

Floats = NDArray[np.float64]
WINDOW = 100
"""Rows that are computed before their guards are looked at."""
ON_IT = 1e-9
"""Value of a guard, against its changes in a window, up to which a run begins on the event."""
PartRun = Callable[[Any, Floats], Any]
"""(setup, work done before) -> run over the times of the setup."""


def run_located(
    part: PartRun,
    values: Callable[[Floats, Floats], Floats],
    setup: Any,
    t_start: float,
    work: Floats,
    rows: Any,
) -> Any:
    """A run from `setup.start` at `t_start` to the last time or to the first event.

    `values(t (k,), x (k, n)) -> (k, ne)`: the guards; `rows`: their directions (ne,), and how far rows are apart.
    """
    return _Located(part, values, setup, work, *rows).run(t_start)


def _look(located: _Located, watch: Any, t: float, h: float, theta: float, how: int) -> None:
    located.look(t, t + theta * h)


first_exit, *_ = landing(_look, pass_by)


class _Located:
    def __init__(self, part, values, setup, work: Floats, directions: Floats, longest: float):
        self.part, self.values, self.setup, self.work = part, values, setup, work
        self.directions, self.longest = directions, longest
        system = setup.system
        self.ends = np.cumsum([system.nq, system.nv, system.nz])
        self.counts: Counter[str] = Counter()
        self.watched = lay_out_events(np.asarray(directions, dtype=np.int64))
        self.sign: Floats | None = None
        self.reached: dict[float, Floats] = {}

    def run(self, t: float) -> Any:
        setup, end = self.setup, float(self.setup.times[-1])
        start, work, done = setup.start, self.work, 0
        while True:
            ahead = t + WINDOW * self.longest
            ahead = end if ahead > end - self.longest else ahead
            grid = np.append(np.arange(t, ahead - 1e-6 * self.longest, self.longest), ahead)
            wanted = setup.times[done:][setup.times[done:] <= ahead]
            times = np.unique(np.concatenate([grid, wanted]))
            run, t_rows, x_rows = self._over(start, work, times)
            crossing = self._first_crossing(t_rows, x_rows)
            if crossing is not None:
                number, at, x = crossing
                done += self._deliver(done, wanted[wanted <= at], t_rows, x_rows)
                nq, n = self.ends[0], self.ends[2]
                return self._ended(run, done, at, x, EventRecord(number, at, x[:n], nq))
            done += self._deliver(done, wanted, t_rows, x_rows)
            if run.status != "finished" or ahead >= end:
                return replace(run, t=setup.times[:done], stats={**run.stats, **self.counts})
            t, start, work = ahead, self._state(x_rows[-1]), x_rows[-1, self.ends[2] :].copy()

    def _over(self, start: State, work: Floats, times: Floats) -> tuple[Any, Floats, Floats]:
        found: list[tuple[Floats, Floats]] = []
        given = replace(
            self.setup, start=start, times=times, on_chunk=lambda t, x, _: found.append((t, x.copy()))
        )
        run = self.part(given, work)
        self.counts.update({name: count for name, count in run.stats.items() if isinstance(count, int)})
        return run, np.concatenate([t for t, _ in found]), np.concatenate([x for _, x in found])

    def _state(self, row: Floats) -> State:
        q, v, z, _ = np.split(row, self.ends)
        return State(q.copy(), v.copy(), z=z.copy(), held=self.setup.start.held)

    def _deliver(self, done: int, wanted: Floats, t: Floats, x: Floats) -> int:
        reached = wanted[wanted <= t[-1]]
        fraction = float(
            (t[-1] - self.setup.times[0]) / max(self.setup.times[-1] - self.setup.times[0], 1e-300)
        )
        self.setup.on_chunk(reached, x[np.searchsorted(t, reached)], fraction)
        return reached.size

    def _first_crossing(self, t: Floats, x: Floats) -> tuple[int, float, Floats] | None:
        """Number of the guard, time and state of the first event among the rows."""
        g = self.values(t, x[:, : self.ends[2]])
        sign = self.sign
        if sign is None:
            on_it = np.abs(g[0]) <= ON_IT * np.max(np.abs(g), axis=0, initial=0.0)
            sign = np.sign(np.where(on_it, g[min(1, t.size - 1)], g[0]))
        change = np.diff(g, axis=0)
        extreme = (change[1:] * change[:-1] <= 0) & (change[1:] != change[:-1])
        rows = set((np.flatnonzero(extreme.any(axis=1)) + 1).tolist())
        for k in range(t.size - 1):
            self._hold(sign)
            if np.any(sign * g[k + 1] <= 0) or any(self._turns(t, g, row) for row in rows & {k, k + 1}):
                found = self._located(t[k], t[k + 1], x[k], g[k])
                if found is not None:
                    return found
            sign = np.where(g[k + 1] != 0, np.sign(g[k + 1]), sign)
        self.sign = sign
        return None

    def _hold(self, sign: Floats) -> None:
        for i, one in enumerate(sign.tolist()):
            hold_sign(self.watched, i, int(one))

    def _turns(self, t: Floats, g: Floats, row: int) -> bool:
        """Whether a guard turns close to zero about a row."""
        w = self.watched.watch
        w.a[:], w.middle[:], w.b[:] = g[row - 1 : row + 2]
        return turns(w, *t[row - 1 : row + 2].tolist())

    def _located(self, low: float, high: float, row: Floats, g: Floats) -> tuple[int, float, Floats] | None:
        """The first event on the motion from `row` at time `low`, where the guards are g."""
        w = self.watched.watch
        w.start[:] = g
        self.reached = {float(low): row}
        theta = first_exit(self, w, float(low), float(high - low), 0, 1)
        if theta == NONE:
            return None
        w.value[:] = w.b
        at = low + theta * (high - low)
        return happened(self.watched), at, self.reached[at]

    def look(self, low: float, at: float) -> None:
        """Guards on the motion from the row at time `low`."""
        if at not in self.reached:
            row = self.reached[low]
            start, work = self._state(row), row[self.ends[2] :].copy()
            self.reached[at] = self._over(start, work, np.array([low, at]))[2][-1]
        x = self.reached[at][None, : self.ends[2]]
        self.watched.watch.value[:] = self.values(np.array([at]), x)[0]

    def _ended(self, run: Any, done: int, t: float, x: Floats, event: EventRecord) -> Any:
        return replace(
            run,
            t=self.setup.times[:done],
            status="event",
            t_last=t,
            x_last=x,
            stats={**run.stats, **self.counts},
            work=x[self.ends[2] :].copy(),
            event=event,
        )
