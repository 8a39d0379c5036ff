"""Angles about the tangent, measured from the transported frame, that make Frenet and upright frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError
from sekant.geometry import jets
from sekant.geometry.curves.transport import Transport
from sekant.geometry.rotations import rotation_from_quaternion
from sekant.tables.hermite import piece_coefficients
from sekant.tables.pieces import horner

Array = NDArray[np.float64]
AngleFunction = Callable[[Array], Array]  # u (n,) -> psi and its first three derivatives (4, n)
_SAMPLES = 24  # a piece of the transport


def direction_angle(transport: Transport, u: Array, direction: Array) -> Array:
    """Jet (4, n) of the angle about the tangent from the frame's y axis to a direction with jet (4, n, 3)."""
    w = jets.cross(t := transport.tangent_jet(u, 3), t[1:])  # rate of the transported frame, in F
    R0 = rotation_from_quaternion(transport.frame(u))
    y, z = [R0[..., 1]], [R0[..., 2]]
    for k in range(3):
        y.append(jets.leibniz(k, w, y, np.cross))
        z.append(jets.leibniz(k, w, z, np.cross))
    c, s = jets.dot(direction, np.stack(y)), jets.dot(direction, np.stack(z))
    return np.concatenate([np.arctan2(s[:1], c[:1]), jets.angle_rate(c, s)])


def upright_angle(transport: Transport, up: Array) -> AngleFunction:
    """Angle for which z of M is as close to `up` as possible: y along up x tangent."""
    up = up / np.linalg.norm(up)
    record = _samples(transport)
    steep = np.linalg.norm(np.cross(up, transport.tangent_jet(record, 0)[0]), axis=1)
    worst = int(np.argmin(steep))
    if steep[worst] < 0.02:
        raise DataError(
            f"the path is almost vertical near {transport.parameter} = {record[worst]:.6g} "
            f"({np.degrees(np.arcsin(min(1.0, steep[worst]))):.2g} deg from vertical), where an upright frame is "
            "undefined; use the frame 'rmf', with a bank angle if needed"
        )

    def raw(u: Array) -> Array:
        t = transport.tangent_jet(u, 3)
        return direction_angle(transport, u, np.asarray([np.cross(up, t[k]) for k in range(4)], dtype=float))

    return _unwrapped(raw, record, 2.0 * np.pi)


@dataclass(frozen=True)
class _Stretch:
    """A blend of psi from `start` to `end` (over the seam of a closed curve: end > range end)."""

    start: float
    end: float
    coefficients: Array  # (k,) of powers of u - start


def frenet_angle(
    transport: Transport, closed: bool, blend: str, signed: bool, least: float | None
) -> tuple[AngleFunction, list[float], list[str]]:
    """Angle of the principal normal, blended over straight stretches and inflections; its breaks and notes."""
    if blend not in ("quintic", "cubic"):
        raise DataError(f"unknown blend '{blend}' of the normal; use 'quintic' or 'cubic'")
    a, b = float(transport.breaks[0]), float(transport.breaks[-1])
    record = _samples(transport)
    bend = _curvature(transport, record)
    largest = float(bend.max())
    least = 0.02 * largest if least is None else least
    good = bend > least

    def raw(u: Array) -> Array:
        return direction_angle(transport, u, transport.position_jet(u, 5)[2:])

    if not good.any() or largest < 1e-9 / (b - a):
        return (lambda u: np.zeros((4, len(u)))), [], ["the path is straight, so the frame does not turn"]
    period = np.pi if signed else 2.0 * np.pi
    psi = raw(record[good])[0]
    runs = _runs(good)
    record_psi = np.full(len(record), np.nan)
    record_psi[good] = np.unwrap(psi, period=period)
    base = _unwrapped(raw, record[good], period, record_psi[good])
    lap = transport.holonomy if closed else 0.0
    stretches = _stretches(record, runs, base, blend, transport.breaks, closed, lap, period)
    notes = [
        f"the normal is blended from {transport.parameter} = {s.start:.6g} to {min(s.end, b):.6g}, where the path is "
        "straight or starts to bend the other way"
        for s in stretches
    ]

    def angle(u: Array) -> Array:
        inside = np.zeros(len(u), bool)
        out = np.zeros((4, len(u)))
        for s in stretches:
            for shift, turn in ((0.0, 0.0), (b - a, lap)) if s.end > b else ((0.0, 0.0),):
                x = u + shift
                hit = (x >= s.start) & (x <= s.end) & ~inside
                out[:, hit] = np.stack([horner(s.coefficients, x[hit] - s.start, k) for k in range(4)])
                out[0, hit] += turn
                inside |= hit
        if not inside.all():
            out[:, ~inside] = base(u[~inside])
        return out

    places = [p for s in stretches for p in (s.start, s.end if s.end <= b else s.end - (b - a))]
    return angle, [p for p in places if a < p < b], notes


def _stretches(
    record: Array,
    runs: list[tuple[int, int]],
    base: AngleFunction,
    blend: str,
    breaks: Array,
    closed: bool,
    lap: float,
    period: float,
) -> list[_Stretch]:
    """Blends between the runs (first, last sample) of sufficient curvature, and at the ends of the curve."""
    a, b = float(breaks[0]), float(breaks[-1])
    nudge = 8.0 * np.finfo(float).eps * max(abs(a), abs(b))
    out = []

    def leave(last: int) -> tuple[float, Array]:
        """The end of a run (a break right after its last sample, if there is one), and psi just before it."""
        following = record[min(last + 1, len(record) - 1)]
        after = breaks[(breaks > record[last]) & (breaks <= following)]
        place = float(after[0]) if after.size else float(record[last])
        return place, base(np.array([place - nudge if after.size else place]))[:, 0]

    for (_, last), (first, _) in pairwise(runs):
        start, left = leave(last)
        end = float(record[first])
        out.append(_blend(start, end, left, base(np.array([end]))[:, 0], blend, period))
    first = float(record[runs[0][0]])
    last, left = leave(runs[-1][1])
    ends = np.stack([base(np.array([first]))[:, 0], left], axis=1)
    if closed and (first > a or last < b):
        after = ends[:, 0].copy()
        after[0] -= lap  # the same frame, relative to the transported frame after a lap
        out.append(_blend(last, first + (b - a), ends[:, 1], after, blend, period))
        return out
    still = np.zeros(4)
    if first > a:
        still[0] = ends[0, 0]
        out.append(_blend(a, first, still, ends[:, 0], blend, period))
    if last < b:
        still = np.array([ends[0, 1], 0.0, 0.0, 0.0])
        out.append(_blend(last, b, ends[:, 1], still, blend, period))
    return out


def _blend(start: float, end: float, left: Array, right: Array, blend: str, period: float) -> _Stretch:
    """Hermite polynomial from psi and its derivatives at both ends; of equivalent angles, the nearer one is used."""
    right = right.copy()
    right[0] -= period * np.round((right[0] - left[0]) / period)
    s = 2 if blend == "cubic" else 3
    l, r = left[:s].copy(), right[:s].copy()
    if blend == "cubic":
        l[1] = r[1] = 0.0  # (3.78): the blend has zero slope at both ends
    c = piece_coefficients(np.array([end - start]), l[:, None, None], r[:, None, None])[0, 0]
    return _Stretch(start, end, c)


def _unwrapped(raw: AngleFunction, record: Array, period: float, psi: Array | None = None) -> AngleFunction:
    """The angle on one continuous branch, fixed by samples close to each other."""
    reference = np.unwrap(raw(record)[0], period=period) if psi is None else psi

    def angle(u: Array) -> Array:
        out = raw(u)
        near = np.interp(u, record, reference)
        out[0] += period * np.round((near - out[0]) / period)
        return out

    return angle


def _curvature(transport: Transport, u: Array) -> Array:
    r = transport.position_jet(u, 2)
    return np.linalg.norm(np.cross(r[1], r[2]), axis=1) / np.linalg.norm(r[1], axis=1) ** 3


def _samples(transport: Transport) -> Array:
    nodes = transport.nodes
    share = np.arange(_SAMPLES) / _SAMPLES
    return np.append((nodes[:-1, None] + np.diff(nodes)[:, None] * share).ravel(), nodes[-1])


def _runs(good: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """(first, last) index of each run of at least two true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(int)))
    return [(int(i), int(j - 1)) for i, j in zip(edges[::2], edges[1::2], strict=True) if j - i > 1]
