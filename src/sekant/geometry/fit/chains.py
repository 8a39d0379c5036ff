"""Unordered points: a chain through them from their minimum spanning tree, and strokes that pass over it
repeatedly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sekant.geometry.fit.noise import BACK, smoothed, step_cosines
from sekant.geometry.fit.polyline import Array, Index, chord_length, project

FEW = 60  # points up to which the chain is improved by exchanges
_AROUND = -0.5  # cosine of the angle of a step that goes back along a path
MOST = 200  # points up to which exchanges are tried to find an order without sharp turns


@dataclass(frozen=True)
class Chain:
    """A line through points, found without using their order."""

    line: Array | None  # (k, 3), smoothed; None if the points do not form one line
    length: float  # of that line, or of the tree
    given_length: float  # of the smoothed polygon in the given order
    shuffled: bool  # the given order is not an order along any path
    way: Index  # points on the line in their order along it

    def place(self, r: Array) -> Array:
        """Length (n,) [m] along the line at which the points lie: in the order of the chain if it goes through all of
        them, by projection otherwise."""
        assert self.line is not None
        if len(self.way) < len(r):
            return project(r, self.line)[0]
        out = np.empty(len(r))
        out[self.way] = chord_length(r[self.way])
        return out


@dataclass(frozen=True)
class Strokes:
    """Passes over one line."""

    count: int
    place: Array  # (n,) length along the line [m]
    distance: float  # rms [m] of the points from the line


def shortest_chain(r: Array) -> Chain:
    """The longest path in the minimum spanning tree of the points r (n, 3).

    The given order counts as shuffled if averaging three neighbors contracts the points (ordered points
    hardly move, random ones contract to a third) and the tree is much shorter than the polygon.
    """
    given = smoothed(r, back=0.02)[0]
    given_length = float(chord_length(given)[-1])
    way, tree_length = _tree(r)
    polygon = float(chord_length(r)[-1])
    means = (r[:-2] + r[1:-1] + r[2:]) / 3.0
    kept = float(np.sum(np.var(means, axis=0)) / max(float(np.sum(np.var(r, axis=0))), 1e-300))
    shuffled = kept < 0.7 and polygon > 1.6 * tree_length
    if len(r) <= FEW and shuffled:
        way = improved(r, _walk(r, int(way[0])), len(r))
        tree_length = float(chord_length(r[way])[-1])
        shuffled = polygon > 1.3 * tree_length
    if len(way) < len(r):
        line, _ = smoothed(r[way])
        if not _covers(line, r) and shuffled:
            way = _walk(r, int(way[0]))
            step = np.linalg.norm(np.diff(r[way], axis=0), axis=1)
            line = r[way] if step.max() <= 5.0 * np.median(step) else None
    else:
        line, _ = smoothed(r[way])
    if line is not None and not _covers(line, r):
        line = None
    if line is not None and project(r[:1], line)[0][0] > 0.5 * chord_length(line)[-1]:
        line, way = line[::-1], way[::-1]  # from the end at which the data begin
    length = tree_length if line is None else float(chord_length(line)[-1])
    return Chain(line, length, given_length, shuffled, way)


def _covers(line: Array, r: Array) -> bool:
    """Whether nearly all points are close to the line and not far beyond its ends."""
    place, off = project(r, line)
    length = float(chord_length(line)[-1])
    beyond = np.maximum(-place, place - length)
    return bool(np.quantile(np.maximum(off, beyond), 0.95) <= 0.03 * length)


def strokes_of(r: Array, chain: Chain) -> Strokes | None:
    """Strokes, if the points in their order go back and forth over the chain; None if they pass over it once."""
    if chain.line is None or chain.given_length < 1.5 * chain.length:
        return None
    place, off = project(r, chain.line)
    swing = 0.2 * float(np.ptp(place))
    turn, best, way = 1, float(place[0]), 0.0
    for value in place:  # a turning point counts once the points have come back by a fifth of the travel
        if way == 0.0:
            way = np.sign(value - best) if abs(value - best) > swing else 0.0
            best = float(value) if way else best
        elif way * (value - best) > 0.0:
            best = float(value)
        elif abs(value - best) > swing:
            turn, way, best = turn + 1, -way, float(value)
    if turn < 2:
        return None
    return Strokes(turn, place, float(np.sqrt(np.mean(off**2))))


def _tree(r: Array) -> tuple[Index, float]:
    """Points on the longest path in the minimum spanning tree, and the length of the tree. Edges join nearby
    points, and neighbors in the given order, so that the tree is connected."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree
    from scipy.spatial import KDTree

    n = len(r)
    near = min(8, n - 1)
    found: Any = KDTree(r).query(r, near + 1)
    distance, other = found
    i = np.concatenate([np.repeat(np.arange(n), near), np.arange(n - 1)])
    j = np.concatenate([other[:, 1:].ravel(), np.arange(1, n)])
    w = np.concatenate([distance[:, 1:].ravel(), np.linalg.norm(np.diff(r, axis=0), axis=1)])
    w = np.maximum(w, 1e-300)
    low, high = np.minimum(i, j), np.maximum(i, j)
    _, first = np.unique(low * n + high, return_index=True)
    graph = coo_array((w[first], (low[first], high[first])), shape=(n, n)).tocsr()
    tree = minimum_spanning_tree(graph)
    start = int(np.argmax(dijkstra(tree, directed=False, indices=0)))
    reached, before = dijkstra(tree, directed=False, indices=start, return_predecessors=True)
    way = [int(np.argmax(reached))]
    while way[-1] != start:
        way.append(int(before[way[-1]]))
    return np.array(way[::-1]), float(tree.sum())


def _walk(r: Array, start: int) -> Index:
    """An order that always continues from a start to the nearest remaining point; points straight ahead count
    as closer."""
    left = np.ones(len(r), bool)
    left[start] = False
    way = [start]
    ahead = np.zeros(3)
    for _ in range(len(r) - 1):
        choice = np.flatnonzero(left)
        d = r[choice] - r[way[-1]]
        length = np.maximum(np.linalg.norm(d, axis=1), 1e-300)
        best = int(np.argmin(length * (2.0 - (d @ ahead) / length)))
        step = d[best] / length[best]
        ahead = ahead + step
        ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-300)
        way.append(int(choice[best]))
        left[choice[best]] = False
    return np.array(way)


def straightest(r: Array, ways: Sequence[Index]) -> Index:
    """The order of few points r (n, 3) with the least turning: among the given ones, shorter ones obtained by
    exchanges, and one that always continues to the nearest point. Each step back costs two half turns."""
    tried = [*ways, *(improved(r, way, len(r), turned=False) for way in ways)]
    for way in (*ways, _walk(r, int(_tree(r)[0][0]))):
        tried += [improved(r, way, 6), improved(r, way, len(r))]
    return min(tried, key=lambda way: float(np.sum(1.0 - step_cosines(r[way]))))


def smooth_way(r: Array) -> Index | None:
    """An order of few points (n, 3) without sharp turns where the given order turns around; None if there is none."""
    given = np.arange(len(r))
    if len(r) > MOST or not np.any(step_cosines(r) < _AROUND):
        return None
    way = straightest(r, [given])
    if np.any(step_cosines(r[way]) < BACK):
        return None
    return way if np.sum(np.diff(way) > 0) >= np.sum(np.diff(way) < 0) else way[::-1]


def improved(r: Array, way: Index, reach: int, turned: bool = True) -> Index:
    """The order with single points moved and parts reversed (`turned`), by up to `reach` places, as long as
    that makes it shorter; the change with the largest gain comes first."""
    n = len(way)
    between = np.linalg.norm(r[:, None] - r[None], axis=2)
    i, j = np.triu_indices(n, 1)
    i, j = (
        i[j - i <= reach] + 1,
        j[j - i <= reach] + 1,
    )  # places in the order, with nothing before the first and after the last
    least = 1e-12 * float(between[way[:-1], way[1:]].sum())
    for _ in range(20 * n):
        d = np.zeros((n + 2, n + 2))
        d[1:-1, 1:-1] = between[np.ix_(way, way)]
        into, out = d[i - 1, i], d[j, j + 1]
        change = np.stack(
            [
                d[i - 1, j] + d[i, j + 1] - into - out,
                d[i - 1, i + 1] + d[j, i] + d[i, j + 1] - into - d[i, i + 1] - out,
                d[j - 1, j + 1] + d[i - 1, j] + d[j, i] - into - d[j - 1, j] - out,
            ]
        )
        kind, best = np.unravel_index(np.argmin(change if turned else change[1:]), change.shape)
        kind += not turned
        if change[kind, best] >= -least:
            break
        part = slice(i[best] - 1, j[best])
        way = way.copy()
        way[part] = way[part][::-1] if kind == 0 else np.roll(way[part], -1 if kind == 1 else 1)
    return way
