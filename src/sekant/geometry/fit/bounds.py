"""Limits of a fit: its length, bending and distance from its points, compared with the polygon through them."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from sekant.geometry.curves.arc_length import cumulative_length
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.fit.data import PoseData
from sekant.geometry.fit.noise import smoothed
from sekant.geometry.fit.polyline import Array, chord_length, turning
from sekant.geometry.fit.selection import Tried, across, typical_step

_LONGER = 1.6  # a half circle relative to its chord
_SHORTER = 0.5


def check_prediction(
    poses: PoseData, rows: NDArray[np.int64], tried: Tried, remedy: str, of: str = "path", unit: str = " m"
) -> None:
    """DataError if a fit through the `rows` (n,) of the data misses left-out points by more than the polygon
    does. `of`: path or orientation."""
    if tried.lost >= 0:
        raise poses.error(
            f"near {poses.row(int(rows[tried.lost]))}, the {of} bends too sharply for the spacing and noise "
            "of its points: every smooth fit is farther from these points than the polygon through them; "
            f"{remedy}"
        )
    if not tried.worth:
        raise poses.error(
            f"{len(rows)} points do not determine the {of}: a fit of some of the points misses the other "
            f"points by {tried.missed:.3g}{unit} (rms), and straight lines between their neighbors miss "
            f"them by {tried.polygon:.3g}{unit}; {remedy}"
        )


def check_bounds(
    poses: PoseData, rows: NDArray[np.int64], u: Array, r: Array, tried: Tried, forced: bool
) -> None:
    """DataError if the fit over u (n,) through r (n, 3), the `rows` (n,) of the data, goes far from the polygon
    through its points.

    A method that the caller chose (`forced`) may predict left-out points badly, as interpolation of noise does.
    """
    spline = tried.initial.spline
    remedy = "give more points, check for outliers and rows out of order, or fit over a column"
    if not forced:
        check_prediction(poses, rows, tried, remedy)
    polygon = float(chord_length(smoothed(r)[0])[-1])
    fine = np.linspace(u[0], u[-1], max(2001, 4 * len(u)))
    length = float(cumulative_length(partial(spline, nu=1), fine)[-1])
    if not _SHORTER * polygon <= length <= _LONGER * polygon:
        raise poses.error(
            f"the fit would be {length:.4g} m long, but the polygon through its points is {polygon:.4g} m "
            f"long; {remedy}"
        )
    speed = np.linalg.norm(spline(fine, 1), axis=1)
    slow = int(np.argmin(speed))
    if not speed[slow] > (1e-3 if forced else 0.03) * float(np.median(speed)):
        near = int(np.argmin(np.abs(u - fine[slow])))
        raise poses.error(f"the fit would turn back near {poses.row(int(rows[near]))}; {remedy}")
    bends, allowed = turning(spline(fine)), 2.0 * turning(r) + np.pi
    if not bends <= allowed:
        raise poses.error(
            f"the fit would turn by {np.degrees(bends):.0f} deg in total, but the polygon through its points "
            f"turns by only {np.degrees(turning(r)):.0f} deg; {remedy}"
        )
    residual = float(np.sqrt(np.mean(across(spline, u, r, typical_step(r)) ** 2)))
    if not forced and not residual <= 1.5 * tried.polygon + 1e-9 * polygon:
        raise poses.error(
            f"the fit would miss its own points by {residual:.3g} m (rms), more than straight lines between "
            f"neighboring points would ({tried.polygon:.3g} m); {remedy}"
        )


def check_apart(poses: PoseData, curve: PoseCurve) -> None:
    """DataError if a path through unordered rows comes so close to itself that points alone do not determine
    how it continues there (closer than its widest steps and the noise), or if its ends are closer to each
    other than two neighbors, so that a shorter path joins the ends and opens between these neighbors.
    `poses`: rows in the order along the
    path. A path may end where it begins."""
    from scipy.spatial import KDTree

    r = poses.position
    step = np.linalg.norm(np.diff(r, axis=0), axis=1)
    widest = int(np.argmax(step))
    if step[widest] > max(float(np.linalg.norm(r[-1] - r[0])), 2.0 * float(np.median(step))):
        raise poses.error(
            "the rows are not in order along the path, and its ends are nearer to each other than "
            f"{poses.row(widest)} and {poses.row(widest + 1)}: the path may be open there; sort the rows, or "
            "add a time column"
        )
    off = (curve.report.position_rms or 0.0) if curve.report is not None else 0.0
    near = max(1.5 * float(step.max()), 4.0 * off)
    s = curve.sample(int(np.clip(8.0 * curve.length / near, 200, 4000)))
    pairs = KDTree(curve.position(s)).query_pairs(near, output_type="ndarray")
    apart = s[pairs.max(axis=1)] - s[pairs.min(axis=1)] if len(pairs) else np.zeros(0)
    if np.any((apart > 4.0 * near) & (apart < curve.length - 4.0 * near)):
        raise poses.error(
            "the rows are not in order along the path, and the points alone do not determine their order "
            "(the path crosses or approaches itself); sort the rows, or add a time column"
        )
