"""A line on the road as a function of its arc length: position, heading, curvature, and height and bank of the road.

With the arc length s in the plane, the heading psi (rad, not wrapped) and the curvature k = dpsi/ds (1/m,
positive to the left),

    x' = cos psi ,   y' = sin psi ,   psi' = k .
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import ModelError
from sekant.tables.table import Table

Floats = NDArray[np.float64]
SPACING = 0.5  # m between the points of a course
LEVEL = 10.0  # m over which the road changes from level to its slope and bank
_ROWS = ("s", "x", "y", "heading", "curvature", "left", "right", "height", "bank")
FINE = 8  # divisions of a spacing over which a course is integrated


@dataclass(frozen=True, eq=False)
class Course:
    """A line with the arc length `s` (n,) m, positions `x`, `y` (n,) m, `heading` (n,) rad and `curvature` (n,) 1/m.

    `left` and `right` (n,) m are the free widths to both sides, infinite without an edge. `height` (n,) m and `bank`
    (n,) rad are those of the road; the bank is positive if the left side is higher.
    """

    s: Floats
    x: Floats
    y: Floats
    heading: Floats
    curvature: Floats
    left: Floats
    right: Floats
    height: Floats
    bank: Floats
    closed: bool = False

    @property
    def level(self) -> bool:
        """Whether the road is level everywhere."""
        return not np.any(self.bank) and float(np.ptp(self.height)) == 0.0

    @property
    def slope(self) -> Floats:
        """Slope dz/ds (n,) of the road."""
        return np.gradient(self.height, self.s)

    @property
    def length(self) -> float:
        """Length of the course, m."""
        return float(self.s[-1] - self.s[0])

    def mirrored(self) -> Course:
        """The mirror image of the course, in which left turns become right turns."""
        return replace(
            self,
            y=-self.y,
            heading=-self.heading,
            curvature=-self.curvature,
            left=self.right,
            right=self.left,
            bank=-self.bank,
        )

    def moved_to_start(self) -> Course:
        """The course, moved and rotated such that it begins at the origin along x, where the road has height 0."""
        c, s = np.cos(self.heading[0]), np.sin(self.heading[0])
        dx, dy = self.x - self.x[0], self.y - self.y[0]
        heading = self.heading - self.heading[0]
        return replace(
            self,
            s=self.s - self.s[0],
            x=c * dx + s * dy,
            y=c * dy - s * dx,
            heading=heading,
            height=self.height - self.height[0],
        )

    def from_level(self) -> Course:
        """The course on a road that is level at its beginning: slope and bank increase to their values over the
        first `LEVEL` meters. On a closed course they decrease again over the last meters, and the course ends at
        the height at which it begins.
        """
        if self.level:
            return self
        share = blended((self.s - self.s[0]) / LEVEL)
        if self.closed:
            share = share * blended((self.s[-1] - self.s) / LEVEL)
        slope = share * self.slope
        rise = np.diff(self.s) * (slope[1:] + slope[:-1]) / 2
        height = self.height[0] + np.concatenate([[0.0], np.cumsum(rise)])
        if self.closed:
            height -= (height[-1] - height[0]) * blended((self.s - self.s[0]) / self.length)
        return replace(self, height=height, bank=share * self.bank)

    def laps(self, count: int) -> Course:
        """A closed course repeated `count` times."""
        if not self.closed:
            raise ModelError(
                "only a closed course has laps, but this course is open; close the course, or drive it once"
            )
        grown = self._growth
        rows = {
            key: np.concatenate(
                [getattr(self, key)[(1 if k else 0) :] + k * grown.get(key, 0.0) for k in range(count)]
            )
            for key in _ROWS
        }
        return replace(self, **rows)

    @property
    def _growth(self) -> dict[str, float]:
        """By how much rows grow from one lap to the next."""
        return {"s": self.length, "heading": self.heading[-1] - self.heading[0]}

    def around(self, by: float) -> Course:
        """A closed course, extended by the length `by` (m) at both ends: its last meters precede its beginning, and
        its first meters follow its end."""
        last, first = self.s > self.s[-1] - by, self.s < self.s[0] + by
        last[-1] = first[0] = False
        rows = {}
        for key in _ROWS:
            row, more = getattr(self, key), self._growth.get(key, 0.0)
            rows[key] = np.concatenate([row[last] - more, row, row[first] + more])
        return replace(self, **rows)

    def with_lead(self, before: float) -> Course:
        """The course with a straight piece of the length `before` (m) before its start, where s remains 0."""
        whole = self.with_run_out(before, 1.0)
        rows = {key: getattr(whole, key)[:-4] for key in _ROWS}
        return replace(whole, **rows)

    def with_run_out(self, before: float, behind: float) -> Course:
        """The course with straight pieces of the given lengths (m) before its start, where s remains 0, and behind
        its end."""
        first, last = np.linspace(-before, 0.0, 5)[:-1], np.linspace(0.0, behind, 5)[1:]
        pieces = (self._straight(0, first), self, self._straight(-1, last))
        rows = {key: np.concatenate([getattr(piece, key) for piece in pieces]) for key in _ROWS}
        return replace(self, closed=False, **rows)

    def _straight(self, end: int, far: Floats) -> Course:
        """A straight piece without edges, at the distances `far` (k,) m from an end of the course."""
        psi, none = np.full(far.size, self.heading[end]), np.zeros(far.size)
        return Course(
            self.s[end] + far,
            self.x[end] + far * np.cos(psi),
            self.y[end] + far * np.sin(psi),
            psi,
            none,
            none + np.inf,
            none + np.inf,
            self.height[end] + far * self.slope[end],
            none + self.bank[end],
        )


def blended(u: Floats) -> Floats:
    """Smooth step from 0 at u <= 0 to 1 at u >= 1 with continuous curvature."""
    u = np.clip(u, 0.0, 1.0)
    return u**3 * (10 - 15 * u + 6 * u**2)


def course_of_pieces(
    pieces: Sequence[tuple[float, float, float]], *, width: float = np.inf, spacing: float = SPACING
) -> Course:
    """A course from the origin along x, composed of straight lines, arcs and clothoids.

    Each piece has a length (m) and the curvatures (1/m) at its start and end. `width` (m) is the total free width.
    """
    lengths = np.array([piece[0] for piece in pieces], float)
    if not lengths.size or np.any(lengths <= 0) or not np.all(np.isfinite(lengths)):
        raise ModelError(
            f"a course must consist of pieces with positive, finite lengths (got {lengths.tolist()})"
        )
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    rows: list[Floats] = []
    for k, length in enumerate(lengths):
        count = max(int(np.ceil(length / spacing)), 2) * FINE
        rows.append(np.linspace(ends[k], ends[k + 1], count + 1)[(1 if k else 0) :])
    fine = np.concatenate(rows)
    which = np.clip(np.searchsorted(ends, fine, side="left") - 1, 0, lengths.size - 1)
    first, last = (np.array([piece[j] for piece in pieces], float) for j in (1, 2))
    before = np.concatenate([[0.0], np.cumsum(lengths * (first + last) / 2)])

    def at(s: Floats, part: NDArray[np.intp]) -> tuple[Floats, Floats]:
        u, slope = s - ends[part], (last - first)[part] / lengths[part]
        return before[part] + u * (first[part] + slope * u / 2), first[part] + slope * u

    psi, curvature = at(fine, which)
    middle, _ = at((fine[1:] + fine[:-1]) / 2, which[1:])
    begin, _ = at(fine[:-1], which[1:])
    step = np.diff(fine)

    def integral(f: np.ufunc) -> Floats:
        return np.concatenate([[0.0], np.cumsum(step * (f(begin) + 4 * f(middle) + f(psi[1:])) / 6)])

    x, y = integral(np.cos), integral(np.sin)
    chosen = np.unique(np.append(np.arange(0, fine.size, FINE), fine.size - 1))
    edge = np.full(chosen.size, width / 2)
    flat = np.zeros(chosen.size)
    return Course(fine[chosen], x[chosen], y[chosen], psi[chosen], curvature[chosen], edge, edge, flat, flat)


def course_through(
    points: ArrayLike,
    *,
    closed: bool = False,
    left: ArrayLike = np.inf,
    right: ArrayLike = np.inf,
    spacing: float = SPACING,
) -> Course:
    """A course with continuous curvature through points (n, 2) m, with the free widths (m) at these points.

    A closed course continues from the last point to the first, which must not be repeated.
    """
    given = np.asarray(points, float)
    left, right = (np.broadcast_to(np.asarray(w, float), len(given)) for w in (left, right))
    if given.ndim != 2 or given.shape[1] != 2 or len(given) < 4:
        raise ModelError(
            f"the points of a course must be an array of shape (n, 2), with n at least 4 (got shape {given.shape})"
        )
    if closed:
        given, left, right = (
            np.vstack([given, given[:1]]),
            np.append(left, left[0]),
            np.append(right, right[0]),
        )
    chords = np.linalg.norm(np.diff(given, axis=0), axis=1)
    if np.any(chords <= 0):
        k = int(np.argmax(chords <= 0))
        second = (k + 1) % len(chords) + 1 if closed else k + 2
        raise ModelError(
            f"points {k + 1} and {second} of the course coincide, at ({given[k][0]:g}, {given[k][1]:g}) m; remove "
            "one of them"
        )
    u = np.concatenate([[0.0], np.cumsum(chords)])
    spline = Table.cubic(u, given, ends="periodic" if closed else "not-a-knot")
    flat = np.zeros(u.size)
    return course_along(spline, u, (left, right, flat, flat), closed=closed, spacing=spacing)


def course_along(
    position: Callable[[Floats, int], Floats],
    u: Floats,
    rows: tuple[Floats, Floats, Floats, Floats],
    *,
    closed: bool,
    spacing: float = SPACING,
) -> Course:
    """The course along a curve; `position` returns a derivative (k, 2) of its position at parameters (k,).

    `rows` contains the widths to the left and right (m), the height (m) and the bank (rad) at the parameters `u`
    (n,).
    """
    fine = np.unique(np.concatenate([np.linspace(a, b, 4 * FINE + 1) for a, b in pairwise(u)]))
    d = position(fine, 1)
    middle = position((fine[1:] + fine[:-1]) / 2, 1)
    speed, half = np.linalg.norm(d, axis=1), np.linalg.norm(middle, axis=1)
    s = np.concatenate([[0.0], np.cumsum(np.diff(fine) * (speed[1:] + 4 * half + speed[:-1]) / 6)])
    at = np.interp(np.linspace(0.0, s[-1], max(int(np.ceil(s[-1] / spacing)), 8) + 1), s, fine)
    place, d, dd = position(at, 0), position(at, 1), position(at, 2)
    curvature = (d[:, 0] * dd[:, 1] - d[:, 1] * dd[:, 0]) / np.linalg.norm(d, axis=1) ** 3
    heading = np.unwrap(np.arctan2(d[:, 1], d[:, 0]))
    left, right = (np.interp(at, u, row) for row in rows[:2])
    height, bank = (Table.pchip(u, row)(at)[:, 0] if np.any(row) else np.zeros(at.size) for row in rows[2:])
    return Course(
        np.interp(at, fine, s),
        place[:, 0],
        place[:, 1],
        heading,
        curvature,
        left,
        right,
        height,
        bank,
        closed,
    )
