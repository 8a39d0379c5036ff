"""Work of non-conservative elements along a motion, by quadrature between the rows of a result.

Integrators that carry no quadratures of their own give the motion at Gauss points between the requested times
as well; the powers there are summed up with Gauss's weights, which is exact for polynomials of degree 7.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
_NODES, _WEIGHTS = 0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS


FEWEST = 1000
"""Stretches into which a run is cut at least, so that coarse output does not make coarse sums."""


class WorkAlongMotion:
    """Turns rows [q; v] at `times` and the points between into rows [q; v; w] at the requested times.

    The motion starts at `begin`, where `work` (nw,) has been done. `power(t (k,), x (k, nq + nv)) -> (k, nw)`;
    `stops`: times at which powers may jump. `longest` (s) of a stretch; by default a part of the whole.
    """

    def __init__(
        self,
        begin: float,
        requested: Floats,
        stops: list[float],
        power: Callable[[Floats, Floats], Floats],
        work: Floats,
        longest: float | None = None,
    ):
        edges = _edges(np.concatenate([[begin], requested]), stops, longest)
        self._wanted = np.isin(edges, requested)
        self._edges, self._power, self.work = edges, power, work.copy()
        between = edges[:-1, None] + np.diff(edges)[:, None] * _NODES
        self.times: Floats = np.concatenate([edges[:1], np.hstack([between, edges[1:, None]]).ravel()])
        self._t: Floats = np.zeros(0)
        self._x: Any = None
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
        if ready:
            inside = np.arange(ready * size).reshape(ready, size)[:, :-1].ravel()
            powers = self._power(self._t[inside], self._x[inside]).reshape(ready, _NODES.size, -1)
            lengths = np.diff(self._edges[self._interval : self._interval + ready + 1])
            gained = lengths[:, None] * np.einsum("g,igw->iw", _WEIGHTS, powers)
            for k in range(ready):
                self.work = self.work + gained[k]
                self._take(size, rows_t, rows_x)
        if not rows_t:
            return np.zeros(0), np.zeros((0, x.shape[1] + self.work.size))
        return np.array(rows_t), np.array(rows_x)

    def _take(self, size: int, rows_t: list, rows_x: list) -> None:
        self._interval += 1
        self.edge = (float(self._t[size - 1]), self._x[size - 1].copy())
        if self._wanted[self._interval]:
            rows_t.append(self._t[size - 1])
            rows_x.append(np.concatenate([self._x[size - 1], self.work]))
        self._t, self._x = self._t[size:], self._x[size:]

    def inside(self, end: float) -> Floats:
        """The points that lead from the last edge to `end`, which is no edge."""
        assert self.edge is not None
        return self.edge[0] + (end - self.edge[0]) * _NODES

    def close(self, end: float, t: Floats, x: Floats) -> None:
        """Add the work from the last edge to `end`, given the motion at the points that `inside` named."""
        assert self.edge is not None
        self.work = self.work + (end - self.edge[0]) * (_WEIGHTS @ self._power(t, x))


def _edges(kept: Floats, stops: list[float], longest: float | None) -> Floats:
    """The times `kept` and the stops between them, with stretches no longer than `longest` (s)."""
    kept = np.unique(kept)
    span = kept[-1] - kept[0]
    apart = [stop for stop in stops if kept[0] < stop < kept[-1] and np.abs(kept - stop).min() > 1e-12 * span]
    marks = np.unique(np.concatenate([kept, apart]))
    longest = longest or span / FEWEST
    parts = [marks[:1]]
    for low, high in pairwise(marks):
        count = max(1, int(np.ceil((high - low) / longest * (1 - 1e-9))))
        parts.append(low + (high - low) * np.arange(1, count) / count)
        parts.append(np.array([high]))
    return np.concatenate(parts)
