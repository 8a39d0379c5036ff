"""Path generation: from measured poses to a pose curve (HALL 3.2.2).

1. A first quintic spline through the raw data: interpolation of clean data, least squares with Tao and Watson's
   knots for noisy data, over chord length or a parameter column.
2. For arc length: the length of that spline by quadrature; data points move to their nearest points on it and
   the spline is fitted again over its own length, until the parameter settles.
3. Dense points of that spline over exact arc length, fitted again with the iterative knot search to a tolerance.
4. Conversion to piecewise polynomials, and a report of what was achieved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError, suggest
from sekant.geometry.curves.arc_length import along_arc_length, cumulative_length
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.fit.bsplines import admissible, least_squares, merged_pieces, periodic_least_squares
from sekant.geometry.fit.checks import check_count, check_parameter, check_spacing, check_turns
from sekant.geometry.fit.closing import Closing, blend_seam
from sekant.geometry.fit.data import PoseData, read_poses
from sekant.geometry.fit.errors import describe
from sekant.geometry.fit.initial import Initial, first_spline, foot_points
from sekant.geometry.fit.knots import fit_to_tolerance
from sekant.geometry.fit.noise import chord_length, find_kinks, find_straights, noise_level, smoothed
from sekant.geometry.pose_kinematics import component_count, parse_orientation
from sekant.geometry.rotations import euler_from_quaternion
from sekant.tables.table import Table

Array = NDArray[np.float64]
METHODS = ("auto", "interpolation", "tao-watson")
_DENSE = 20_000


@dataclass(frozen=True)
class Options:
    """What the caller may choose about a fit; see `fit_curve`."""

    orientation: str = "auto"
    method: str = "auto"
    noise: float | None = None
    orientation_noise: float | None = None
    tolerance: float | None = None
    C: float | None = None
    extrapolation: str = "error"
    allow_gaps: bool = False
    name: str = ""


def fit_curve(
    data: Any,
    parameter: str = "arc_length",
    *,
    columns: Mapping[str, Any] | None = None,
    units: Mapping[str, str] | None = None,
    sequence: str | None = None,
    weights: Any = None,
    **options: Any,
) -> PoseCurve:
    """Pose curve through measured poses; `curve.report` says how well.

    `data`, `columns`, `units`, `sequence`, `weights`: see `data.read_poses`. `parameter`: "arc_length" [m], "chord"
    [m], or the name of a monotone column (travel, flexion angle). Options:

    - `orientation`: "auto" (quaternion if the data have orientations), "none", "quaternion" or e.g. "euler:zyx";
    - `method`: "auto", "interpolation" or "tao-watson"; `noise` [m] and `orientation_noise` [rad] replace the
      estimates of the noise level; `C` is the constant of the stopping rule (2.13);
    - `tolerance` [m]: of the refit over arc length, 1e-10 of the size of the path unless given;
    - `extrapolation`: "error", "linear", or "periodic" for closed paths; `allow_gaps`; `name`.
    """
    try:
        chosen = Options(**options)
    except TypeError:
        known = list(Options.__dataclass_fields__)
        wrong = next(name for name in options if name not in known)
        raise DataError(f"unknown option '{wrong}' of a fit; {suggest(wrong, known, 'options')}") from None
    if chosen.method not in METHODS:
        raise DataError(f"unknown method '{chosen.method}'; use {', '.join(METHODS)}")
    poses = read_poses(data, columns=columns, units=units, sequence=sequence, weights=weights)
    check_count(poses)
    check_turns(poses)
    tag, turns = _orientation_components(poses, chosen.orientation)
    if parameter in ("arc_length", "chord"):
        return _fit_by_length(poses, parameter, tag, turns, chosen)
    return _fit_by_column(poses, parameter, tag, turns, chosen)


def _orientation_components(poses: PoseData, wanted: str) -> tuple[str, Array | None]:
    """Orientation tag and components (n, k) to fit."""
    if poses.quaternion is None:
        if wanted not in ("auto", "none"):
            raise poses.error(f"orientation '{wanted}' was asked for, but the data have no orientation")
        return "none", None
    kind, sequence = parse_orientation("quaternion" if wanted == "auto" else wanted)
    if kind == "none":
        return "none", None
    if kind == "quaternion":
        return "quaternion", poses.quaternion
    if poses.angles is not None and poses.sequence == sequence:
        return f"euler:{sequence}", poses.angles
    return f"euler:{sequence}", euler_from_quaternion(poses.quaternion, sequence)


def _fit_by_column(poses: PoseData, name: str, tag: str, turns: Array | None, options: Options) -> PoseCurve:
    """Fit over a column: its values are exact, so the first splines are the result."""
    if name not in poses.columns:
        hint = suggest(name, ["arc_length", "chord", *poses.columns], "possible")
        raise poses.error(f"there is no column '{name}' to fit over; {hint}")
    u = check_parameter(poses, name, poses.columns[name])
    order = np.argsort(u)
    u, r, w = u[order], poses.position[order], None if poses.weights is None else poses.weights[order]
    y = None if turns is None else turns[order]
    closing = None
    places, rows, turned, weights = u, r, y, w
    if options.extrapolation == "periodic":
        sigma = noise_level(u, r) if options.noise is None else options.noise
        closing = Closing.over_column(poses, u, r, y, tag, sigma)
        r, y = closing.joined(r, y)
        places, rows, turned, weights = closing.extended(u, r, y, w)
    first, corners = _position_spline(places, rows, weights, options)
    second = None if turned is None else _orientation_spline(places, turned, weights, tag, corners, options)
    increment = None
    if closing is not None:
        first = replace(first, spline=closing.spline(first, u, r, np.zeros(3), 1.0, w))
        if second is not None and y is not None:
            second = replace(second, spline=closing.spline(second, u, y, closing.gain, closing.sign, w))
        increment = closing.increment(component_count(tag))
        corners = [(place, k) for place, k in corners if u[0] < place < u[-1]]
    breaks, coefficients = merged_pieces([first.spline] + ([second.spline] if second else []))
    if increment is not None:
        coefficients[:, :, 0] += np.outer((breaks[:-1] - u[0]) / (u[-1] - u[0]), increment)
        coefficients[:, :, 1] += increment / (u[-1] - u[0])
    table = Table(breaks, coefficients, options.extrapolation, options.name, increment=increment)
    curve = PoseCurve(table, tag, parameter=name, unit=poses.units.get(name, ""), name=options.name)
    if options.extrapolation == "periodic":
        curve.check_closed()
    report = describe(curve, poses, order, u, first, second, corners)
    return replace(curve, report=report)


def _position_spline(
    u: Array, r: Array, w: Array | None, options: Options
) -> tuple[Initial, list[tuple[float, int]]]:
    """First spline of the positions, and the knots (u, multiplicity) set at kinks and ends of straights."""
    sigma = noise_level(u, r) if options.noise is None else options.noise
    corners = [(float(u[k.index]), 5 - k.order) for k in find_kinks(u, r, sigma)]
    size = float(np.linalg.norm(np.ptp(r, axis=0)))
    if sigma < 1e-5 * size:
        for run in find_straights(r, max(4.0 * sigma, 1e-9 * size)):
            for i in run:
                if 6 < i < len(u) - 7 and all(abs(u[i] - place) > 7 * (u[1] - u[0]) for place, _ in corners):
                    corners.append((float(u[i]), 3))
    corners.sort()
    settings = {"method": options.method, "weights": w, "C": options.C}
    return first_spline(u, r, noise=options.noise, corners=corners, **settings), corners


def _orientation_spline(
    u: Array, y: Array, w: Array | None, tag: str, corners: list[tuple[float, int]], options: Options
) -> Initial:
    """First spline of orientation components; a rotation by d changes a unit quaternion by d / 2."""
    noise = options.orientation_noise
    if noise is not None and tag == "quaternion":
        noise = 0.5 * noise
    return first_spline(u, y, method=options.method, noise=noise, corners=corners, weights=w, C=options.C)


def _fit_by_length(
    poses: PoseData, parameter: str, tag: str, turns: Array | None, options: Options
) -> PoseCurve:
    r, y, w = poses.position, turns, poses.weights
    smooth = smoothed(r)
    u = chord_length(smooth)
    check_spacing(poses, u[-1], options.allow_gaps)
    if not np.all(np.diff(u) > 0.0):
        u = u + 1e-12 * u[-1] * np.arange(len(u))
    if parameter == "arc_length":
        u = _smoothest_parameter(u, r)
    closing = Closing.of(poses, u, y, tag) if options.extrapolation == "periodic" else None
    if closing:
        u, r, y, w = closing.extended(u, r, y, w)
    first, corners = _position_spline(u, r, w, options)
    order = np.arange(len(u))
    if parameter == "arc_length":
        u, order, first, corners = _settle_parameter(u, r, w, first, corners, options.C)
    second = None
    if y is not None:
        second = _orientation_spline(u, y[order], None if w is None else w[order], tag, corners, options)
    before = u
    curve, u = _refit(u, order, first, second, corners, tag, parameter, closing, options)
    if closing is not None and parameter == "arc_length":
        curve = along_arc_length(curve)  # blending the seam has disturbed the speed
    inside = np.ones(len(u), bool) if closing is None else closing.inside
    rows = order if closing is None else closing.source[order]
    placed = [(float(np.interp(p, before, u)), k) for p, k in corners]
    placed = [(p, k) for p, k in placed if curve.range[0] < p < curve.range[1]]
    report = describe(curve, poses, rows[inside[order]], u[inside[order]], first, second, placed)
    return replace(curve, report=report)


def _smoothest_parameter(u: Array, r: Array) -> Array:
    """The length of the interpolating spline at the points, if it makes the data look less noisy than u does:
    chord length of unevenly spaced points is rough even if the points are exact."""
    level = noise_level(u, r)
    for _ in range(2):
        spline = first_spline(u, r, method="interpolation", noise=0.0).spline
        length = cumulative_length(partial(spline, nu=1), u)
        better = noise_level(length, r)
        if not better < 0.5 * level:
            break
        u, level = length, better
    return u


def _settle_parameter(
    u: Array,
    r: Array,
    w: Array | None,
    first: Initial,
    corners: list[tuple[float, int]],
    C: float | None,
) -> tuple[Array, NDArray[np.int64], Initial, list[tuple[float, int]]]:
    """Move from chord length to the spline's own arc length, and noisy points to their feet on the spline."""
    order = np.arange(len(u))
    for _ in range(4 if first.interpolated else 3):
        spline = first.spline
        feet = u if first.interpolated else foot_points(spline, u, r[order])
        rank = np.argsort(feet, kind="stable")
        feet, order = feet[rank], order[rank]
        feet = feet + (feet[-1] - feet[0]) * 1e-13 * np.arange(len(feet))
        places = np.array([place for place, _ in corners] + list(first.inner))
        grid = np.unique(np.concatenate([feet, places]))
        s = cumulative_length(partial(spline, nu=1), grid)
        change = np.abs(np.interp(feet, grid, s) - (u - u[0])).max()
        u = np.interp(feet, grid, s)
        corners = [(float(np.interp(place, grid, s)), k) for place, k in corners]
        weights = None if w is None else w[order]
        if first.interpolated:
            first = first_spline(u, r[order], method="interpolation", noise=first.noise, corners=corners)
        else:
            inner = admissible(u, np.interp(first.inner, grid, s))
            first = replace(first, spline=least_squares(u, r[order], inner, weights), inner=inner)
        if change < 1e-12 * u[-1]:
            break
    if not first.interpolated and len(first.inner) <= 30:  # over its own length a path may need fewer knots
        weights = None if w is None else w[order]
        settings = {"method": "tao-watson", "corners": corners, "weights": weights, "C": C}
        first = first_spline(u, r[order], noise=first.noise, **settings)
    return u, order, first, corners


def _refit(
    u: Array,
    order: NDArray[np.int64],
    first: Initial,
    second: Initial | None,
    corners: list[tuple[float, int]],
    tag: str,
    parameter: str,
    closing: Closing | None,
    options: Options,
) -> tuple[PoseCurve, Array]:
    """Steps 3 and 4: dense points over exact arc length, iterative knots, piecewise polynomials.

    Also returns the parameters of the data on the result.
    """
    spline = first.spline
    a, b = u[0], u[-1]
    nodes = np.unique(
        np.concatenate([spline.t[spline.k : len(spline.t) - spline.k], u, [p for p, _ in corners]])
    )
    nodes = nodes[(nodes >= a) & (nodes <= b)]
    nodes = nodes[np.concatenate([[True], np.diff(nodes) > 1e-12 * (b - a)])]
    thin = max(1, len(nodes) // _DENSE)
    nodes = np.unique(np.concatenate([nodes[::thin], nodes[-1:], [p for p, _ in corners]]))
    per = max(1, -(-4000 // len(nodes))) if len(nodes) > 400 else 12
    while True:
        share = np.arange(per) / per
        dense = np.append((nodes[:-1, None] + np.diff(nodes)[:, None] * share).ravel(), b)
        s = cumulative_length(partial(spline, nu=1), dense) if parameter == "arc_length" else dense - a
        y = np.concatenate([spline(dense)] + ([second.spline(dense)] if second else []), axis=1)
        size = float(np.linalg.norm(np.ptp(y[:, :3], axis=0)))
        tolerance = np.full(y.shape[1], 1e-10)
        rounding = 64.0 * np.finfo(float).eps * float(np.abs(y[:, :3]).max())
        tolerance[:3] = max(1e-10 * size if options.tolerance is None else options.tolerance, rounding)
        place = np.interp(u, dense, s)
        knots = (
            np.concatenate([np.full(k, np.interp(p, dense, s)) for p, k in corners])
            if corners
            else np.zeros(0)
        )
        fitted, miss = fit_to_tolerance(s, y, tolerance, fixed=knots)
        if np.all(miss <= tolerance) or len(dense) >= 2 * _DENSE:
            break
        per = 2 * per
    extra: dict[str, Any] = {}
    if closing is not None:
        start, end = closing.lap_range(place, order)
        period = end - start
        place = place - start
        s = s - start
        if first.interpolated:  # both passes over the seam are the same
            lap = (s > -1e-9 * period) & (s < (1.0 + 1e-9) * period)
            s, y = s[lap], y[lap]
            s[0], s[-1] = 0.0, period
        else:
            s, y = blend_seam(s, y, period, closing)
        knots = knots - start
        rough = fit_to_tolerance(s, y, tolerance, fixed=knots[(knots > 0.0) & (knots < period)])[0]
        inner = rough.t[rough.k + 1 : -rough.k - 1]
        extra["increment"] = closing.increment(y.shape[1])
        drift = np.outer((s - s[0]) / period, extra["increment"])
        knots = np.append(0.0, inner)
        fitted = periodic_least_squares(s[:-1], (y - drift)[:-1], knots, period, closing.signs(y.shape[1]))
    breaks, coefficients = merged_pieces([fitted])
    if closing is not None:
        coefficients[:, :, 0] += np.outer(breaks[:-1] / period, extra["increment"])
        coefficients[:, :, 1] += extra["increment"] / period
    table = Table(breaks, coefficients, options.extrapolation, options.name, **extra)
    name = "s" if parameter == "arc_length" else "chord"
    curve = PoseCurve(table, tag, parameter=name, unit="m", name=options.name)
    if closing is not None:
        curve.check_closed(max(1e-6, 1e-6 * size))
    return curve, place
