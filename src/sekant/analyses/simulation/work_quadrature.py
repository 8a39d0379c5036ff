"""Work of non-conservative elements along a motion, by quadrature between the rows of a result.

Integrators that carry no quadratures of their own give the motion at Gauss points between the requested times
as well; the powers there are summed up with Gauss's weights, which is exact for polynomials of degree 7. Rules of
degree 4 over the ends and three of the points tell how much that is off; a stretch that is off by more than the
tolerance of the motion, because a law bends or jumps within it or it holds too many oscillations, is cut into parts
over which the motion is integrated again, and these into parts as far as need be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
_NODES, _WEIGHTS = 0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS
_ALL = np.concatenate([[0.0], _NODES, [1.0]])
_CHECKS = np.zeros((_NODES.size, _ALL.size))  # rules of degree 4, each without one of the inner points
for _row, _out in zip(_CHECKS, range(1, _NODES.size + 1), strict=True):
    _used = np.delete(np.arange(_ALL.size), _out)
    _row[_used] = np.linalg.solve(np.vander(_ALL[_used], increasing=True).T, 1.0 / np.arange(1.0, _ALL.size))

FEWEST = 1000
"""Stretches into which a run is cut at least, so that coarse output does not make coarse sums."""
SHARE = 0.1  # of the tolerance that the sum over a stretch may be off by
SAFETY = 30.0
PARTS, MOST = 8, 200  # into which a stretch is cut that is off, and how often that may happen within one
ROUND_OFF = 1e-14  # of the work

Power = Callable[[Floats, Floats], Floats]
Motion = Callable[[float, Floats, Floats], Floats]


class WorkAlongMotion:
    """Turns rows [q; v] at `times` and the points between into rows [q; v; w] at the requested times.

    The motion starts at `begin`, where `work` (nw,) has been done. `power(t (k,), x (k, nq + nv)) -> (k, nw)`;
    `motion(t0, x0 (nq + nv,), t (k,)) -> (k, nq + nv)` goes on from a row. `stops`: times at which powers may jump.
    `rtol`, `atol` (J): of the work. `longest` (s) of a stretch; by default a part of the whole.
    """

    def __init__(
        self,
        begin: float,
        requested: Floats,
        stops: list[float],
        power: Power,
        motion: Motion,
        work: Floats,
        rtol: float,
        atol: float,
        longest: float | None = None,
    ):
        edges = _edges(np.concatenate([[begin], requested]), stops, longest)
        self._wanted = np.isin(edges, requested)
        self._edges, self._power, self._motion, self.work = edges, power, motion, work.copy()
        self._rtol, self._atol = rtol, atol
        self._largest = float(np.max(np.abs(work), initial=0.0))
        self.times: Floats = _with_nodes(edges)
        self._t: Floats = np.zeros(0)
        self._x: Any = None
        self._cuts = 0  # left for the stretch that is cut
        self._interval = -1  # last edge that has been passed
        self.edge: tuple[float, Floats] | None = None  # time and row [q; v] of that edge

    def add(self, t: Floats, x: Floats) -> tuple[Floats, Floats]:
        """Take further rows; returns those of the requested times that are complete."""
        self._t = np.concatenate([self._t, t])
        self._x = x.copy() if self._x is None else np.concatenate([self._x, x])
        rows_t, rows_x = [], []
        if self._interval < 0 and self._t.size:
            self._take(1, rows_t, rows_x)
        size = _NODES.size + 1
        ready = self._t.size // size if self._interval >= 0 else 0
        if ready and self.edge is not None:
            rows = np.concatenate([self.edge[1][None], self._x[: ready * size]])
            gained = self._gained(self._edges[self._interval : self._interval + ready + 1], rows)
            for k in range(ready):
                self.work = self.work + gained[k]
                self._take(size, rows_t, rows_x)
        if not rows_t:
            return np.zeros(0), np.zeros((0, x.shape[1] + self.work.size))
        return np.array(rows_t), np.array(rows_x)

    def _gained(self, edges: Floats, rows: Floats) -> Floats:
        """Work (k, nw) done between `edges` (k + 1,), given the motion at `_with_nodes(edges)`."""
        gained, off = self._sums(edges, rows)
        self._largest = max(self._largest, float(np.max(np.abs(self.work + np.cumsum(gained, axis=0)))))
        for k in np.flatnonzero(off > self._allowed):
            self._cuts = MOST
            gained[k] = self._parts(edges[k], edges[k + 1], rows[k * (_NODES.size + 1)], gained[k])
        return gained

    @property
    def _allowed(self) -> float:
        return max(SHARE * (self._atol + self._rtol * self._largest), ROUND_OFF * self._largest)

    def _sums(self, edges: Floats, rows: Floats) -> tuple[Floats, Floats]:
        """Work (k, nw) done between `edges` (k + 1,), and by how much each sum is off (k,)."""
        size, count = _NODES.size + 1, edges.size - 1
        powers = self._power(_with_nodes(edges), rows)
        inside = np.arange(count)[:, None] * size + np.arange(size + 1)
        powers, lengths = powers[inside], np.diff(edges)[:, None]  # (k, 6, nw)
        gained = lengths * np.einsum("g,igw->iw", _WEIGHTS, powers[:, 1:-1])
        others = lengths * np.einsum("rg,igw->riw", _CHECKS, powers)
        missed = np.max(np.abs(gained - others), axis=0)
        varied = lengths * np.mean(np.abs(powers - powers.mean(axis=1, keepdims=True)), axis=1)
        share = np.minimum(1.0, missed / np.maximum(varied, 1e-300))
        smooth = SAFETY * varied * share**1.5  # errors of order 9 and 6 in the length
        return gained, np.max(np.minimum(missed, smooth), axis=1)

    def _parts(self, a: float, b: float, x: Floats, gained: Floats) -> Floats:
        """Work (nw,) done from `a`, where the motion is at `x`, to `b`, by parts; `gained`: the sum without them."""
        edges = np.linspace(a, b, PARTS + 1)
        if self._cuts == 0 or not np.all(np.diff(edges) > 1e-13 * max(abs(a), abs(b))):
            return gained
        self._cuts -= 1
        rows = np.concatenate([x[None], self._motion(a, x, _with_nodes(edges)[1:])])
        if len(rows) != PARTS * (_NODES.size + 1) + 1:
            return gained
        sums, off = self._sums(edges, rows)
        for k in np.flatnonzero(off > self._allowed):
            sums[k] = self._parts(edges[k], edges[k + 1], rows[k * (_NODES.size + 1)], sums[k])
        return sums.sum(axis=0)

    def _take(self, size: int, rows_t: list, rows_x: list) -> None:
        self._interval += 1
        self.edge = (float(self._t[size - 1]), self._x[size - 1].copy())
        if self._wanted[self._interval]:
            rows_t.append(self._t[size - 1])
            rows_x.append(np.concatenate([self._x[size - 1], self.work]))
        self._t, self._x = self._t[size:], self._x[size:]

    def close(self, end: float) -> None:
        """Add the work from the last edge to `end`, which is no edge."""
        assert self.edge is not None
        a, x = self.edge
        edges = np.array([a, end])
        rows = np.concatenate([x[None], self._motion(a, x, _with_nodes(edges)[1:])])
        if len(rows) == _ALL.size:
            self.work = self.work + self._gained(edges, rows)[0]


def _with_nodes(edges: Floats) -> Floats:
    """The edges (k + 1,) and the points between them, (5 k + 1,)."""
    between = edges[:-1, None] + np.diff(edges)[:, None] * _NODES
    return np.concatenate([edges[:1], np.hstack([between, edges[1:, None]]).ravel()])


def _edges(kept: Floats, stops: list[float], longest: float | None) -> Floats:
    """The times `kept` and the stops between them, with stretches no longer than `longest` (s)."""
    kept = np.unique(kept)
    span = kept[-1] - kept[0]
    apart = [stop for stop in stops if kept[0] < stop < kept[-1] and np.abs(kept - stop).min() > 1e-12 * span]
    marks = np.unique(np.concatenate([kept, apart]))
    longest = longest or span / FEWEST
    lengths = np.diff(marks)
    counts = np.maximum(1, np.ceil(lengths / longest * (1 - 1e-9))).astype(int)
    last = np.cumsum(counts) - 1
    number = np.arange(counts.sum()) - np.repeat(last - counts, counts)  # 1, 2, ... within each length
    edges = np.repeat(marks[:-1], counts) + np.repeat(lengths, counts) * number / np.repeat(counts, counts)
    edges[last] = marks[1:]
    return np.concatenate([marks[:1], edges])
