"""Delays: the input is stored as polynomials and played back later (method of steps).

The delay T is divided into pieces. Within a piece, the input is sampled at Chebyshev points; a polynomial
through these is the delayed signal T later. Kinks that pass through the delay are therefore at ends of pieces. If
the motion itself jumps or kinks within a piece (events, samples), the piece ends there, and the delayed
signal kinks T later; after three passes such kinks are smooth enough to ignore.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.procedures import inner
from sekant.loops.declare.structs import Cube, IntegerMatrix, Integers, Matrix, Real, Struct, Vector
from sekant.solvers.common.memory import Call, CompiledFunction, call_at
from sekant.solvers.instants.fit import PolynomialFit, fit, lay_out_fit
from sekant.solvers.instants.samples import ON_TIME

SMOOTH = 3
"""Number of passes through delays after which a kink is ignored."""
MORE = 4
"""Number of points beyond the number of coefficients: the fit is by least squares, and its error is known."""
STRETCHES = 4
"""Largest number of stretches of motion in a piece."""


class DelayLines(Struct):
    """n delays. Line i stores points of its input, and `count` pieces from number `first` on, in a ring buffer."""

    time: Vector
    grid: Vector  # length of a piece
    degree: Integers
    place: (
        IntegerMatrix  # (n, 2 + most) in p: middle and half length of the piece that is played, coefficients
    )
    nodes: Vector  # points in (-1, 1) of a stretch at which inputs are sampled
    input: Vector  # (n,) at the point
    at_input: Call
    began: Real
    cut: Integers  # index of the next end of a piece on the grid
    since: Vector  # start of the piece that is being stored
    ended: Vector  # end of the piece that is played, in the time of the input
    played_kink: Integers  # passes of the kink there
    points: Integers  # number of points of the next piece
    t_point: Matrix  # (n, m)
    u_point: Matrix
    first: Integers
    count: Integers
    begin: Matrix  # (n, k) of pieces
    end: Matrix
    kink: IntegerMatrix  # passes of the kink at the end
    coefficient: Cube  # (n, k, most) of powers of s in (-1, 1)
    fit: PolynomialFit
    error: Vector  # (n,) largest error of a polynomial at its points
    worst: Vector  # its time
    largest: Vector  # the largest input


def lay_out_delays(
    point: Sequence[NDArray[np.float64]], function: CompiledFunction, k: int, **lines: NDArray[Any]
) -> DelayLines:
    """`function`: (t, q, v, z, p) -> (n,) inputs; `k`: pieces that a line can store; `lines`: the fields `time`,
    `grid`, `degree` and `place`."""
    n, most = lines["time"].size, int(lines["degree"].max()) + 1
    nodes = -np.cos(np.pi * (np.arange(most + MORE) + 0.5) / (most + MORE))
    m = STRETCHES * nodes.size + 2
    value = np.zeros(n)
    return DelayLines(
        **lines,
        nodes=nodes,
        input=value,
        at_input=call_at(function, point, [value]),
        **{name: np.zeros(n, dtype=np.int64) for name in ("cut", "played_kink", "points", "first", "count")},
        **{name: np.zeros(n) for name in ("since", "ended", "error", "worst", "largest")},
        **{name: np.zeros((n, m)) for name in ("t_point", "u_point")},
        **{name: np.zeros((n, k)) for name in ("begin", "end")},
        kink=np.zeros((n, k), dtype=np.int64),
        coefficient=np.zeros((n, k, most)),
        fit=lay_out_fit(m, most),
    )


def hold_twice_as_many(d: DelayLines) -> None:
    """Make room for twice as many pieces; stored pieces are kept."""
    for name in ("begin", "end", "kink", "coefficient"):
        old = getattr(d, name)
        turned = np.stack([np.roll(line, -first, axis=0) for line, first in zip(old, d.first, strict=True)])
        setattr(d, name, np.concatenate([turned, np.zeros_like(turned)], axis=1))
    d.first[:] = 0


@inner
def start_delays(d, t):
    d.began = t
    for i in range(d.time.size):
        d.cut[i], d.since[i], d.ended[i] = 1, t, t
        d.played_kink[i], d.points[i], d.first[i], d.count[i] = 0, 0, 0, 0
        d.error[i], d.worst[i], d.largest[i] = 0.0, t, 0.0


@inner
def next_cut(d, i):
    return d.began + d.cut[i] * d.grid[i]


@inner
def next_piece(d, i):
    return d.ended[i] + d.time[i]


@inner
def next_delay(d):
    """The next time at which a piece ends or the next one is played."""
    found = np.inf
    for i in range(d.time.size):
        found = min(found, next_cut(d, i), next_piece(d, i))
    return found


@inner
def delay_due(d, i, when, t):
    return when <= t + ON_TIME * d.grid[i]


@inner
def delayed_kink(d, t):
    """Number of passes of the kink that leaves the delays at time t; SMOOTH if there is none."""
    kink = SMOOTH
    for i in range(d.time.size):
        if delay_due(d, i, next_piece(d, i), t):
            kink = min(kink, d.played_kink[i] + 1)
    return kink


@inner
def turn_delays(d, t, p):
    """Switch to the pieces that are played next, if it is time."""
    for i in range(d.time.size):
        if delay_due(d, i, next_piece(d, i), t) and d.count[i] > 0:
            k = d.first[i]
            begin, end = d.begin[i, k], d.end[i, k]
            p[d.place[i, 0]] = 0.5 * (begin + end) + d.time[i]
            p[d.place[i, 1]] = 0.5 * (end - begin)
            for j in range(d.degree[i] + 1):
                p[d.place[i, 2 + j]] = d.coefficient[i, k, j]
            d.ended[i], d.played_kink[i] = end, d.kink[i, k]
            d.first[i] = (k + 1) % d.begin.shape[1]
            d.count[i] -= 1


@inner
def keep_inputs(d, t):
    """Store the inputs as points at time t."""
    for i in range(d.time.size):
        if d.points[i] < d.t_point.shape[1]:
            d.t_point[i, d.points[i]], d.u_point[i, d.points[i]] = t, d.input[i]
            d.points[i] += 1


@inner
def end_pieces(d, t, kink):
    """End a stretch at t, at a kink with this number of passes; pieces end at kinks and on their grid.
    Returns False if there is no room for another piece."""
    for i in range(d.time.size):
        end, ends = t, kink < SMOOTH or d.points[i] + d.nodes.size > d.t_point.shape[1]
        if delay_due(d, i, next_cut(d, i), t):
            end, ends = next_cut(d, i), True
            d.cut[i] += 1
        if ends and d.points[i] > 1:
            if d.count[i] == d.begin.shape[1]:
                return False
            k = (d.first[i] + d.count[i]) % d.begin.shape[1]
            _fit_piece(d, i, k, end)
            d.begin[i, k], d.end[i, k], d.kink[i, k] = d.since[i], end, kink
            d.count[i] += 1
            d.since[i], d.points[i] = end, 0
    return True


@inner
def _fit_piece(d, i, k, end):
    f, begin, n = d.fit, d.since[i], d.points[i]
    for j in range(n):
        f.s[j] = (2.0 * d.t_point[i, j] - begin - end) / (end - begin)
        f.u[j] = d.u_point[i, j]
        d.largest[i] = max(d.largest[i], abs(f.u[j]))
    off = fit(f, n, d.degree[i])
    if off > d.error[i]:
        d.error[i], d.worst[i] = off, end
    for j in range(d.degree[i] + 1):
        d.coefficient[i, k, j] = f.power[j]
