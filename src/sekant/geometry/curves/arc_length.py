"""Arc length of curves by Gauss quadrature, and any pose curve over its arc length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError
from sekant.geometry import jets
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.fit.report import FitReport
from sekant.tables.hermite import piece_coefficients
from sekant.tables.pieces import horner
from sekant.tables.table import Table

Array = NDArray[np.float64]
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


def cumulative_length(derivative: Callable[[Array], Array], u: Array) -> Array:
    """Arc length (n,) from u[0] to each of the increasing u (n,): the integral of |dr/du| (HALL 3.72).

    `derivative` gives dr/du (k, 3) at k parameters. Eight Gauss points an interval.
    """
    h = np.diff(u)
    x = u[:-1, None] + 0.5 * h[:, None] * (1.0 + _NODES)
    speed = np.linalg.norm(derivative(x.ravel()), axis=-1).reshape(x.shape)
    return np.concatenate([[0.0], np.cumsum(0.5 * h * (speed @ _WEIGHTS))])


def along_arc_length(curve: PoseCurve, tolerance: float = 1e-10, parameter: str = "s") -> PoseCurve:
    """The same poses over arc length s [m], as septic Hermite pieces with exact derivatives at their nodes.

    Nodes are those of the curve and as many between them as `tolerance` [m, or 1 for orientation components] asks.
    The derivatives by s follow from u' = 1 / |r_u| by the chain rule. DataError where the position stands still:
    there arc length is no parameter.
    """
    c = curve.table.coefficients
    left, right = curve.table.breaks[:-1], curve.table.breaks[1:]
    piece = np.arange(len(left))
    done: list[tuple[Array, Array, Array]] = []
    total = 0
    for _ in range(40):
        offset = left - curve.table.breaks[piece]
        h = right - left
        length = _lengths(c[piece], offset, h)
        scale = max(float(np.abs(c[:, :3, 0]).max()), 1e-300)
        start = _over_length(_jet(c[piece], offset), left, curve)
        end = _over_length(_jet(c[piece], offset + h), right, curve)
        q = piece_coefficients(length, start, end)
        good = np.ones(len(left), bool)
        for share in (0.25, 0.5, 0.75):
            s = _lengths(c[piece], offset, share * h)
            miss = np.abs(horner(q, s[:, None], 0) - horner(c[piece], (offset + share * h)[:, None], 0))
            good &= np.all(miss <= np.maximum(tolerance, 1e-14 * scale), axis=1)
            speed = np.linalg.norm(horner(q[:, :3], s[:, None], 1), axis=1)
            good &= np.abs(speed - 1.0) <= max(100.0 * tolerance, 1e-11)
        good |= h < 1e-9 * curve.length
        done.append((left[good], length[good], q[good]))
        total += int(good.sum())
        if good.all():
            break
        keep = ~good
        middle = 0.5 * (left[keep] + right[keep])
        left, right = np.concatenate([left[keep], middle]), np.concatenate([middle, right[keep]])
        piece = np.concatenate([piece[keep], piece[keep]])
    starts = np.concatenate([d[0] for d in done])
    order = np.argsort(starts)
    lengths = np.concatenate([d[1] for d in done])[order]
    coefficients = np.concatenate([d[2] for d in done])[order]
    breaks = np.concatenate([[0.0], np.cumsum(lengths)])
    t = curve.table
    increment = t.increment if curve.closed else None
    table = Table(breaks, coefficients, t.extrapolation, t.name, t.unit, increment)
    report = curve.report or FitReport("curve", "", parameter, "m", curve.orientation)
    report = replace(
        report,
        parameter=parameter,
        unit="m",
        pieces=total,
        unit_speed_error=unit_speed_error(breaks, coefficients),
    )
    return replace(curve, table=table, parameter=parameter, unit="m", report=report)


def unit_speed_error(breaks: Array, coefficients: Array, samples: int = 7) -> float:
    """Largest | |dr/ds| - 1 | (HALL 3.75) over `samples` places in each piece."""
    h = np.diff(breaks)
    worst = 0.0
    for share in np.linspace(0.0, 1.0, samples):
        speed = np.linalg.norm(horner(coefficients[:, :3], (share * h)[:, None], 1), axis=1)
        worst = max(worst, float(np.abs(speed - 1.0).max()))
    return worst


def _lengths(c: Array, offset: Array, h: Array) -> Array:
    """Arc length (n,) of each piece between the local coordinates offset and offset + h."""
    total = np.zeros(len(h))
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        slope = horner(c[:, :3], (offset + 0.5 * h * (1.0 + node))[:, None], 1)
        total += weight * np.linalg.norm(slope, axis=1)
    return 0.5 * h * total


def _jet(c: Array, local: Array) -> Array:
    return np.stack([horner(c, local[:, None], k) for k in range(5)])


def _over_length(y: Array, u: Array, curve: PoseCurve) -> Array:
    """Jet (4, n, m) by arc length from the jet (5, n, m) by u."""
    r1 = y[1:, :, :3]
    size = np.linalg.norm(r1[0], axis=1)
    bad = np.flatnonzero(size <= 1e-9 * max(float(size.max()), 1e-300))
    if bad.size:
        raise DataError(
            f"pose curve '{curve.name or curve.parameter}': the position stands still at {curve.parameter} = "
            f"{u[bad[0]]:.6g} {curve.unit}, so arc length is no parameter there; keep the present one"
        )
    speed = jets.root(jets.dot(r1, r1))  # ds/du and its derivatives by u
    one = np.zeros_like(speed)
    one[0] = 1.0
    g = jets.quotient(one, speed)  # du/ds as a function of u
    # derivatives of u by s: u' = g, u'' = g g_u, u''' = g (g g_u)_u
    gg = jets.product(g, g[1:])
    third = g[0] * gg[1]
    return jets.compose(y[:4], np.stack([u, g[0], gg[0], third]))
