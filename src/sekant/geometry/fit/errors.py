"""Errors of a fitted curve: on its data, and on data that were left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import AnalysisWarning
from sekant.geometry.curves.arc_length import unit_speed_error
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.fit.data import PoseData
from sekant.geometry.fit.initial import Initial
from sekant.geometry.fit.noise import find_straights, noise_level
from sekant.geometry.fit.report import EVERY, FitReport, root_mean_square
from sekant.geometry.pose_kinematics import rotations
from sekant.geometry.rotations import angle_between, continue_signs, quaternion_from_rotation

Array = NDArray[np.float64]
_FAR = 3.0 * np.sqrt(
    3.0
)  # noise levels of a component above which the rms angle of three components is not noise

MOST_STRAIGHTS = 3
"""Largest number of straight pieces that are reported separately."""


def describe(
    curve: PoseCurve,
    poses: PoseData,
    rows: NDArray[np.int64],
    u: Array,
    first: Initial,
    second: Initial | None,
    corners: list[tuple[float, int]],
    item: str = "",
    found: Sequence[AnalysisWarning] = (),
) -> FitReport:
    """Report of a curve fitted to the data `rows` at the parameters u of the curve.

    `item`: label of the curve in warnings; `found`: warnings of the previous steps.
    """
    r = poses.position[rows]
    a, b = curve.range
    at = np.clip(u, a, b)
    gaps = np.linalg.norm(curve.position(at) - r, axis=1)
    values: dict[str, Any] = {"position_rms": root_mean_square(gaps), "position_max": float(gaps.max())}
    fine = curve.sample(1001)
    residuals: dict[str, Any] = {"u": u, "position": r, "position_error": gaps}
    residuals |= {"fitted_u": fine, "fitted": curve.position(fine)}
    angles = None
    if poses.quaternion is not None and curve.orientation != "none":
        angles = angle_between(curve.quaternion(at), poses.quaternion[rows])
        values |= {"orientation_rms": root_mean_square(angles), "orientation_max": float(angles.max())}
        residuals["orientation_error"] = angles
    held = np.zeros(len(u), bool)
    if len(u) >= 30:
        held[EVERY // 2 :: EVERY] = True
        weights = None if poses.weights is None else poses.weights[rows]
        gap = np.linalg.norm(_without(u, r, held, first, corners, weights) - r[held], axis=1)
        values |= {"held_out_position_rms": root_mean_square(gap), "held_out_position_max": float(gap.max())}
        if second is not None and angles is not None and poses.quaternion is not None:
            y = curve.components(at)[:, 3:]
            y = _target(curve.orientation, poses, rows, y)
            predicted = _without(u, y, held, second, corners, weights)
            q = _quaternions(curve, predicted)
            gap = angle_between(q, poses.quaternion[rows][held])
            values |= {
                "held_out_orientation_rms": root_mean_square(gap),
                "held_out_orientation_max": float(gap.max()),
            }
    warnings = [*found, *_kink_warnings(curve, corners, item)]
    if curve.parameter == "s":
        values["unit_speed_error"] = speed = unit_speed_error(curve.table.breaks, curve.table.coefficients)
        if speed > 1e-3:
            cause = f"|dr/ds| differs from 1 by {speed:.2g}: the path bends too sharply for the spacing of its points"
            remedy = "give more points, state the noise, or fit over a column"
            warnings.append(AnalysisWarning("unit_speed", item, "", cause, remedy))
    if (
        first.noise > 0.0
        and values["position_rms"] > 3.0 * np.sqrt(3.0) * first.noise
        and not first.interpolated
    ):
        cause = (
            f"the position residual ({values['position_rms']:.3g} m rms) is well above the noise estimate "
            f"({first.noise:.3g} m): the path may have details that the knots of the fit do not resolve"
        )
        warnings.append(
            AnalysisWarning("fit_residual", item, "", cause, "give more points, or specify the noise")
        )
    if second is not None and angles is not None and not second.interpolated:
        noise = _orientation_noise(curve, poses, second)
        if noise > 0.0 and values["orientation_rms"] > _FAR * noise:
            rms, level = np.degrees([values["orientation_rms"], noise])
            cause = (
                f"the orientation residual ({rms:.3g} deg rms) is well above its noise estimate ({level:.3g} deg): "
                f"the orientation is not a function of {curve.parameter}; noise may hide the order of the rows"
            )
            remedy = "fit over a column that orders the poses, such as an angle or the time"
            warnings.append(AnalysisWarning("fit_residual", item, "", cause, remedy))
    return FitReport(
        source="data",
        method=first.method + ("" if second is None else f"; orientation: {second.method}"),
        parameter=curve.parameter,
        unit=curve.unit,
        orientation=curve.orientation,
        points=len(poses),
        held_out=int(held.sum()),
        pieces=len(curve.table.coefficients),
        knots=len(first.inner),
        continuity=str(curve.continuity),
        noise=first.noise,
        orientation_noise=None
        if second is None
        else second.noise * (2.0 if curve.orientation == "quaternion" else 1.0),
        warnings=tuple(warnings),
        notes=(*poses.notes, *_straight_notes(curve, r, u, first)),
        residuals=residuals,
        **values,
    )


def _orientation_noise(curve: PoseCurve, poses: PoseData, second: Initial) -> float:
    """Standard deviation [rad] of a component of the rotation, along the curve or along the rows of the data
    (the second is smaller if the rows are in order but the places on the curve are not)."""
    assert poses.quaternion is not None
    along = second.noise * (2.0 if curve.orientation == "quaternion" else 1.0)
    order = np.argsort(poses.rows, kind="stable")
    q = continue_signs(poses.quaternion[order])
    return min(along, 2.0 * noise_level(np.arange(len(q), dtype=float), q))


def _without(
    u: Array,
    y: Array,
    held: NDArray[np.bool_],
    initial: Initial,
    corners: list[tuple[float, int]],
    weights: Array | None,
) -> Array:
    """Prediction at the held-out points by a spline of the same kind through the others."""
    keep = ~held
    w = None if weights is None else weights[keep]
    return initial.through(u[keep], y[keep], corners, w)(u[held])


def _target(orientation: str, poses: PoseData, rows: NDArray[np.int64], fitted: Array) -> Array:
    """Orientation components of the data on the branch (sign, turns) of the fitted ones."""
    assert poses.quaternion is not None
    if orientation == "quaternion":
        q = poses.quaternion[rows]
        return q * np.where(np.sum(q * fitted, axis=1, keepdims=True) < 0.0, -1.0, 1.0)
    if poses.angles is not None and orientation == f"euler:{poses.sequence}":
        angles = poses.angles[rows]
        return angles - 2.0 * np.pi * np.round((angles - fitted) / (2.0 * np.pi))
    return fitted


def _quaternions(curve: PoseCurve, y: Array) -> Array:
    """Unit quaternions of orientation components (n, k)."""
    full = np.concatenate([np.zeros((len(y), 3)), y], axis=1)
    return quaternion_from_rotation(rotations(full, curve.orientation, curve.R_constant))


def _straight_notes(curve: PoseCurve, r: Array, u: Array, first: Initial) -> list[str]:
    """Straight pieces found in the data, unless noise hides them."""
    size = float(np.linalg.norm(np.ptp(r, axis=0)))
    if first.noise > 1e-4 * size or np.any(np.diff(u) < 0.0):
        return []
    runs = find_straights(r, max(4.0 * first.noise, 1e-9 * size))
    texts = [f"from {curve.parameter} = {u[i]:.6g} to {u[j]:.6g} {curve.unit}" for i, j in runs]
    if len(runs) <= MOST_STRAIGHTS:
        return [f"straight {text}" for text in texts]
    longest = max(range(len(runs)), key=lambda k: u[runs[k][1]] - u[runs[k][0]])
    return [
        f"{len(runs)} pieces of the path are straight to within the noise of the data; the longest goes "
        f"{texts[longest]}"
    ]


def _kink_warnings(curve: PoseCurve, corners: list[tuple[float, int]], item: str) -> list[AnalysisWarning]:
    found = []
    for u, multiplicity in corners:
        place = f"{curve.parameter} = {u:.6g} {curve.unit}".rstrip()
        if multiplicity == 5:
            cause = "the path has a corner, so the velocity jumps there (C0)"
            remedy = "smooth the data, or put an arc there"
            found.append(AnalysisWarning("path_corner", item, place, cause, remedy))
        elif multiplicity == 4:
            cause = "the curvature jumps, and with it the acceleration (C1 only)"
            found.append(AnalysisWarning("curvature_jump", item, place, cause, "give more points there"))
    return found
