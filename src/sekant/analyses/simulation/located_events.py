"""Events for methods whose loops do not know them: found between closely spaced rows, located by shorter runs.

The motion is computed in windows, with rows at least every thousandth of the run, or after every fixed step. Where a
guard has changed its sign from one row to the next, the run is repeated from the row before, to times that close in
on the root. A guard that passes zero twice between two rows is not seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.engine.system import State
from sekant.solvers.common.outcome import EventRecord
from sekant.solvers.newton.bracketed import bracketed_zero

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


class _Located:
    def __init__(self, part, values, setup, work: Floats, directions: Floats, longest: float):
        self.part, self.values, self.setup, self.work = part, values, setup, work
        self.directions, self.longest = directions, longest
        system = setup.system
        self.ends = np.cumsum([system.nq, system.nv, system.nz])
        self.counts: Counter[str] = Counter()

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
        signs = np.where(g < 0, -1.0, 1.0)
        if t.size > 1:
            on_it = np.abs(g[0]) <= ON_IT * np.max(np.abs(g), axis=0, initial=0.0)
            signs[0] = np.where(on_it, signs[1], signs[0])
        change = np.diff(signs, axis=0)
        counts = (change != 0) & ((self.directions == 0) | (np.sign(change) == self.directions))
        if not counts.any():
            return None
        k = int(np.argmax(counts.any(axis=1)))
        found = [(*self._located(t[k], t[k + 1], x[k], i), i) for i in np.flatnonzero(counts[k]).tolist()]
        at, state, number = min(found, key=lambda item: item[0])
        return int(number), at, state

    def _located(self, low: float, high: float, row: Floats, i: int) -> tuple[float, Floats]:
        """Time and state where guard i is zero, on the motion from `row` at time `low`."""
        start, work = self._state(row), row[self.ends[2] :].copy()
        reached: dict[float, Floats] = {low: row}

        def value(t: float) -> float:
            if t not in reached:
                reached[t] = self._over(start, work, np.array([low, t]))[2][-1]
            return float(self.values(np.array([t]), reached[t][None, : self.ends[2]])[0, i])

        if value(low) * value(high) >= 0:  # a root at an end, to round-off
            at = min((low, high), key=lambda t: abs(value(t)))
        else:
            at = bracketed_zero(value, low, high, within=1e-14 * max(abs(high), 1e-3))
        value(at)
        return at, reached[at]

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
