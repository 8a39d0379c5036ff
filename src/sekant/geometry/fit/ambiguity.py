"""Whether points determine their order: if another order turns only slightly more, it is unclear which one is
right.

The turning of a polygon is the sum of 1 - cos(angle) over its points (0 straight on, 2 back). Along a
well-sampled path no other order is nearly as smooth: exchanging two neighbors causes two steps back, or one
at an end, which costs nearly 2. Where points are so far apart that the path turns by more than 0.7 rad from
one to the next, an exchange may cost much less. Over random curves sampled that coarsely, the advantage of
the right order ranged from
-0.33 to 1.5, that of a wrong one from -2.7 to 0.43 (unless its rows were reported as moved).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import AnalysisWarning
from sekant.geometry.fit.data import PoseData
from sekant.geometry.fit.noise import step_cosines
from sekant.geometry.fit.order import out_of_order
from sekant.geometry.fit.polyline import Array, Index

_SHARP = 0.76  # cosine of 0.7 rad: if no step turns more, points are close enough to each other
_MARGIN = 0.6  # least additional turning of any other order
_SMOOTHER = -0.5  # difference of turning below which another order is clearly better
_LONGER = 2.5  # additional length of another order, in mean steps
_NEAR = 12  # number of neighbors in space with which a point may be exchanged


@dataclass(frozen=True)
class Doubt:
    """An order that is as plausible as the given one: its point at place `first` moves to place `second`."""

    first: int
    second: int
    more: float  # turning minus that of the given order
    turn: float  # largest angle [rad] between steps of the given order near the two places


def doubt(p: Array) -> Doubt | None:
    """The most plausible other order of the points p (n, 3) in which one is moved or two are exchanged, if any."""
    cosine = step_cosines(p)
    sharp = np.flatnonzero(cosine < _SHARP) + 1
    if not sharp.size:
        return None
    around = np.unique(np.clip(sharp[:, None] + np.arange(-2, 3), 0, len(p) - 1))
    longest = float(np.sum(np.linalg.norm(np.diff(p, axis=0), axis=1))) * (1.0 + _LONGER / (len(p) - 1))
    best, places = _MARGIN, (-1, -1)
    for i, others, orders in _changes(p, around):
        step = np.diff(p[orders], axis=1)
        length = np.linalg.norm(step, axis=2)
        product = np.maximum(length[:, 1:] * length[:, :-1], 1e-300)
        more = np.sum(1.0 - np.sum(step[:, 1:] * step[:, :-1], axis=2) / product, axis=1)
        more -= np.sum(1.0 - cosine)
        more[np.sum(length, axis=1) > longest] = np.inf
        k = int(np.argmin(more))
        if more[k] < best:
            best, places = float(more[k]), (i, int(others[k]))
    if places[0] < 0:
        return None
    near = [cosine[max(0, k - 3) : k + 2].min() for k in places]
    return Doubt(*places, best, float(np.arccos(np.clip(min(near), -1.0, 1.0))))


def _changes(p: Array, points: Index) -> Iterator[tuple[int, Index, Index]]:
    """For each of the `points` its partners (m,), near ones, and the orders (m, n) in which it is exchanged
    with them, or placed before or after them. On a closed path, moving one end to the other does not change
    the order."""
    from scipy.spatial import KDTree

    n = len(p)
    given = np.arange(n)
    found: Any = KDTree(p).query(p[points], min(_NEAR, n - 1) + 1)[1]
    for i, near in zip(points, found, strict=True):
        partners, orders = [], []
        for j in near[near != i]:
            rest = np.delete(given, i)
            place = j - (j > i)
            swapped = given.copy()
            swapped[[i, j]] = j, i
            tried = [np.insert(rest, place, i), np.insert(rest, place + 1, i)]
            if {int(i), int(j)} != {0, n - 1}:
                tried.append(swapped)
            for order in tried:
                around = (int(order[0]), int(order[-1])) in ((1, 0), (n - 1, n - 2))
                if not around and not np.array_equal(order, given):
                    partners.append(j)
                    orders.append(order)
        yield int(i), np.array(partners), np.array(orders)


def uncertain_order(
    poses: PoseData, rows: NDArray[np.int64], p: Array, item: str, told: bool, shuffled: bool
) -> list[AnalysisWarning]:
    """A warning if the points p (n, 3) on a fit could as well be in another order, or if their order differs
    from that of the data where the path turns sharply, unless this was already reported (`told`). `rows` (n,)
    of the data, in their order along the fit. DataError if another order is clearly smoother, or as smooth
    and the data have no order (`shuffled`)."""
    found = doubt(p)
    if found is not None:
        one, other = int(rows[found.first]), int(rows[found.second])
        named = [one, other]
        turn = found.turn
        place = f"with {poses.row(one)} moved to the position of {poses.row(other)}, or next to it"
        if shuffled or found.more < _SMOOTHER:
            remedy = "" if shuffled else "; sort the rows, add a time column, or give more points there"
            raise poses.error(
                f"the order of the points along the path is ambiguous: {place}, the path would be "
                f"{'smoother' if found.more < 0.0 else 'about as smooth'}{remedy}"
            )
        why = f"{place}, the path would be about as smooth"
    elif told:
        return []
    else:
        named, turn = _moved(poses.rows[rows], step_cosines(p))
        named = rows[named].tolist()
        why = "the order of these rows along the path differs from their order in the data"
    if not named:
        return []
    return [
        AnalysisWarning(
            "order_uncertain",
            item,
            poses.row_list(named),
            f"the path turns by up to {np.degrees(turn):.0f} deg from one row to the next there, so the points alone "
            f"do not determine their order: {why}",
            "give more points there, or add a time column",
        )
    ]


def _moved(numbers: Index, cosine: Array) -> tuple[Index, float]:
    """Places of points whose `numbers` (n,) in the data are out of order: up to two steps from a sharp turn or, if
    they are few of many, far from their place in the data; and the sharpest turn [rad] there."""
    n = len(numbers)
    if numbers[-1] < numbers[0]:
        numbers = -numbers
    places = np.flatnonzero(np.isin(numbers, out_of_order(numbers)))
    around = np.clip(places[:, None] + np.arange(-3, 2), 0, n - 3)
    sharpest = np.min(cosine[around], axis=1, initial=1.0)
    given = np.argsort(np.argsort(numbers))[places]
    far = (np.abs(given - places) > max(3.0, 0.25 * n)) & (len(places) <= 0.2 * n)
    named = (sharpest < _SHARP) | far
    return places[named], float(np.arccos(np.clip(np.min(sharpest, initial=1.0), -1.0, 1.0)))
