"""Path generation: from measured poses to a pose curve (HALL 3.2.2).

1. The order of the rows along the path, by projection on a first estimate; outliers are left out (`order`,
`outliers`). 2. A first quintic spline: interpolation of clean data, least squares with Tao and Watson's knots for
   noisy data, over chord length or a parameter column. A kind of spline that predicts left-out points better
   replaces it; if none predicts them as well as the polygon, the data are refused (`selection`).
3. For arc length: the length of that spline by quadrature; data points move to their nearest points on it and
   the spline is fitted again over its own length, until the parameter converges (`settle`). It must stay near
   the polygon through its points (`bounds`).
4. Dense points of that spline over exact arc length, fitted again with the iterative knot search to a tolerance.
5. Conversion to piecewise polynomials, and a report of the errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import AnalysisWarning, DataError, suggest
from sekant.geometry.curves.arc_length import along_arc_length, cumulative_length
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.fit.alternating_fit import settle
from sekant.geometry.fit.ambiguity import uncertain_order
from sekant.geometry.fit.bounds import check_apart, check_bounds, check_prediction
from sekant.geometry.fit.bsplines import merged_pieces, periodic_least_squares
from sekant.geometry.fit.checks import (
    LEAST_POINTS,
    check_count,
    check_gaps,
    check_parameter,
    check_turns,
    unread_angles,
)
from sekant.geometry.fit.closed_paths import Seam, blend_seam
from sekant.geometry.fit.data import PoseData, read_poses
from sekant.geometry.fit.errors import describe
from sekant.geometry.fit.initial import Initial, cubic, first_spline, is_clean
from sekant.geometry.fit.knots import fit_to_tolerance, halved_knots
from sekant.geometry.fit.noise import find_kinks, find_straights, noise_level
from sekant.geometry.fit.order import Arranged, along_column, arrange, without_noise, without_repeats
from sekant.geometry.fit.outliers import outlier_warning, unlikely, unpredicted
from sekant.geometry.fit.polyline import chord_length
from sekant.geometry.fit.selection import FEW, Tried, best_of, try_initial
from sekant.geometry.pose_kinematics import component_count
from sekant.geometry.rotations import euler_from_quaternion
from sekant.tables.table import Table

Array = NDArray[np.float64]
METHODS = ("auto", "interpolation", "tao-watson", "hall")
_DENSE = 20_000


@dataclass(frozen=True)
class FitOptions:
    """Options of a fit; see `fit_curve`."""

    orientation: str = "auto"
    method: str = "auto"
    noise: float | None = None
    orientation_noise: float | None = None
    tolerance: float | None = None
    C: float | None = None
    extrapolation: str = "error"
    allow_gaps: bool = False
    name: str = ""
    robust: bool = True

    @property
    def item(self) -> str:
        """Label of the path in warnings."""
        return f"curve '{self.name}'" if self.name else ""


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
    """Pose curve through measured poses; `curve.report` contains the errors.

    `data`, `columns`, `units`, `sequence`, `weights`: see `data.read_poses`. `parameter`: "arc_length" [m], "chord"
    [m], or the name of a monotone column (travel, flexion angle). Options:

    - `orientation`: "auto" (quaternion if the data have orientations), "none", "quaternion" or e.g. "euler:zyx";
    - `method`: "auto", "interpolation", "tao-watson" or "hall" (his iterative knots); `noise` [m] and
      `orientation_noise` [rad] replace the
      estimates of the noise level; `C` is the constant of the stopping rule (2.13);
    - `tolerance` [m]: of the refit over arc length, by default 1e-10 of the size of the path;
    - `robust`: points far from the spline get less weight, and outliers are left out and listed;
    - `extrapolation`: "error", "linear", or "periodic" for closed paths; `allow_gaps`; `name`.

    DataError if the data do not determine a path: a fit that predicts left-out points worse than the polygon through
    the others is not returned.
    """
    try:
        chosen = FitOptions(**options)
    except TypeError:
        known = list(FitOptions.__dataclass_fields__)
        wrong = next(name for name in options if name not in known)
        raise DataError(f"unknown option '{wrong}' of a fit; {suggest(wrong, known, 'options')}") from None
    if chosen.method not in METHODS:
        raise DataError(f"unknown method '{chosen.method}'; use {', '.join(METHODS)}")
    poses = read_poses(data, columns=columns, units=units, sequence=sequence, weights=weights)
    check_count(poses)
    fit = _fit_by_length if parameter in ("arc_length", "chord") else _fit_by_column
    try:
        curve = fit(poses, parameter, chosen)
    except np.linalg.LinAlgError:
        raise poses.error(
            "the rows are spaced so unevenly that no spline fits them; remove rows that nearly repeat others"
        ) from None
    unread = unread_angles(poses, (parameter,), chosen.orientation, chosen.item)
    if unread and curve.report is not None:
        curve = replace(curve, report=replace(curve.report, warnings=(*curve.report.warnings, *unread)))
    return curve


def _orientation_components(poses: PoseData, wanted: str) -> tuple[str, Array | None]:
    """Orientation tag and components (n, k) to fit."""
    kind, sequence = poses.wanted_orientation(wanted)
    if poses.quaternion is None or kind == "none":
        return "none", None
    if kind == "quaternion":
        return "quaternion", poses.quaternion
    if poses.angles is not None and poses.sequence == sequence:
        return f"euler:{sequence}", poses.angles
    return f"euler:{sequence}", euler_from_quaternion(poses.quaternion, sequence)


def _fit_by_column(poses: PoseData, name: str, options: FitOptions) -> PoseCurve:
    """Fit over a column: its values are exact, so the result consists of the first splines that predict
    left-out rows."""
    if name not in poses.columns:
        hint = suggest(name, ["arc_length", "chord", *poses.columns], "possible")
        raise poses.error(f"there is no column '{name}' to fit over; {hint}")
    poses = along_column(without_noise(without_repeats(poses, name), name), name)
    check_turns(poses)
    u = check_parameter(poses, name, poses.columns[name])
    warnings: list[AnalysisWarning] = []
    if options.method != "interpolation" and options.robust:
        order = np.argsort(u)
        sigma = noise_level(u[order], poses.position[order]) if options.noise is None else options.noise
        odd = order[unpredicted(u[order], poses.position[order], sigma)]
        if odd.size:
            warnings.append(outlier_warning(poses, options.item, odd))
            poses = poses.take(np.delete(np.arange(len(u)), odd))
            u = poses.columns[name]
    tag, turns = _orientation_components(poses, options.orientation)
    order = np.argsort(u)
    u, r, w = u[order], poses.position[order], None if poses.weights is None else poses.weights[order]
    y = None if turns is None else turns[order]
    closing = None
    places, rows, turned, weights = u, r, y, w
    if options.extrapolation == "periodic":
        sigma = noise_level(u, r) if options.noise is None else options.noise
        closing = Seam.over_column(poses, u, r, y, tag, sigma)
        r, y = closing.joined(r, y)
        places, rows, turned, weights = closing.extended(u, r, y, w)
    first, corners = _position_spline(places, rows, weights, options)
    second = None if turned is None else _orientation_spline(places, turned, weights, tag, corners, options)
    source = order if closing is None else order[closing.source]
    first = _predicting(poses, source, places, rows, weights, first, corners, closing, options, "path", " m")
    if second is not None and turned is not None:
        second = _predicting(
            poses, source, places, turned, weights, second, corners, closing, options, "orientation", ""
        )
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
    report = describe(curve, poses, order, u, first, second, corners, options.item, warnings)
    return replace(curve, report=report)


def _predicting(
    poses: PoseData,
    source: NDArray[np.int64],
    u: Array,
    y: Array,
    w: Array | None,
    first: Initial,
    corners: list[tuple[float, int]],
    closing: Seam | None,
    options: FitOptions,
    of: str,
    unit: str,
) -> Initial:
    """A spline over a column that predicts left-out rows at least as well as straight lines do; `source` (n,): rows
    of the data. Only the first choice supports closed paths."""
    if options.method != "auto" or options.C is not None:
        return first
    if closing is None:
        tried = best_of(u, y, w, first, corners, False, exact=True)
    else:
        tried = try_initial(u, y, w, first, corners, exact=True)
    remedy = "give more rows, check for outliers, or choose the method yourself"
    check_prediction(poses, source, tried, remedy, of, unit)
    return tried.initial


def _position_spline(
    u: Array, r: Array, w: Array | None, options: FitOptions, across: bool = False
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
    settings = {"method": options.method, "weights": w, "C": options.C, "across": across}
    return first_spline(u, r, noise=options.noise, corners=corners, **settings), corners


def _orientation_spline(
    u: Array, y: Array, w: Array | None, tag: str, corners: list[tuple[float, int]], options: FitOptions
) -> Initial:
    """First spline of orientation components; a rotation by d changes a unit quaternion by d / 2."""
    noise = options.orientation_noise
    if noise is not None and tag == "quaternion":
        noise = 0.5 * noise
    return first_spline(u, y, method=options.method, noise=noise, corners=corners, weights=w, C=options.C)


def _fit_by_length(poses: PoseData, parameter: str, options: FitOptions) -> PoseCurve:
    """Order the rows, leave out outliers, fit; repeat without the outliers that the fit reveals."""
    arranged = arrange(poses, options.item)
    index, u, lost = arranged.index, arranged.u, [*arranged.outliers]
    found = arranged.poses
    if parameter == "arc_length" and not arranged.jitter and len(u) > LEAST_POINTS:
        u = _smoothest_parameter(u, found.position)
    sigma = noise_level(u, found.position) if options.noise is None else options.noise
    odd = unpredicted(u, found.position, sigma)
    for _ in range(4):
        if len(odd):
            lost += list(index[odd])
            rest = np.delete(np.arange(len(u)), odd)
            found, index, u = found.take(rest), index[rest], u[rest]
        warnings = [*arranged.warnings]
        if lost:
            warnings.append(outlier_warning(poses, options.item, np.array(lost)))
        check_count(found)
        check_turns(found)
        if not options.allow_gaps:
            check_gaps(found, u)
        try:
            curve, odd = _fit_in_order(found, u, parameter, options, warnings, arranged)
        except DataError as error:
            if not arranged.shuffled:
                raise
            raise poses.error(
                "the rows are not in order along the path, and no path fits them in the most likely order: "
                f"{error.message}; sort the rows, or add a time column"
            ) from None
        if not len(odd):
            break
    if arranged.shuffled:
        check_apart(found, curve)
    return curve


def _fit_in_order(
    poses: PoseData,
    u: Array,
    parameter: str,
    options: FitOptions,
    warnings: list[AnalysisWarning],
    arranged: Arranged,
) -> tuple[PoseCurve, NDArray[np.int64]]:
    """Fit of rows in the order `arranged`; also returns the rows (indices) that turn out to be outliers."""
    tag, y = _orientation_components(poses, options.orientation)
    r, w = poses.position, poses.weights
    closing = Seam.of(poses, u, y, tag) if options.extrapolation == "periodic" else None
    if closing:
        u, r, y, w = closing.extended(u, r, y, w)
    order = np.arange(len(u))
    if parameter == "arc_length" and options.method != "interpolation":
        u, order = _projected(u, r, w, options)
    y, w = None if y is None else y[order], None if w is None else w[order]
    first, corners = _position_spline(u, r[order], w, options, parameter == "arc_length")
    forced = options.method != "auto" or options.C is not None
    tried = best_of(u, r[order], w, first, corners, forced)
    u = tried.u
    if parameter == "arc_length":
        u, again, tried = _over_own_length(u, r[order], w, tried, options, forced)
        order = order[again]
        y, w = None if y is None else y[again], None if w is None else w[again]
    first, corners = tried.initial, tried.corners
    rows = order if closing is None else closing.source[order]
    check_bounds(poses, rows, u, r[order], tried, forced)
    second = None if y is None else _orientation_spline(u, y, w, tag, corners, options)
    before = u
    curve, u = _refit(u, order, first, second, corners, tag, parameter, closing, options)
    if closing is not None and parameter == "arc_length":
        curve = along_arc_length(curve)  # blending over the seam has changed the speed
    inside = np.ones(len(u), bool) if closing is None else closing.inside[order]
    odd = np.zeros(0, np.int64)
    if not first.interpolated:
        odd = np.unique(rows[inside & unlikely(first.spline(before) - r[order])])
    placed = [(float(np.interp(p, before, u)), k) for p, k in corners]
    placed = [(p, k) for p, k in placed if curve.range[0] < p < curve.range[1]]
    if not arranged.timed:
        along = np.flatnonzero(inside)[np.argsort(u[inside], kind="stable")]
        on_path = curve.position(np.clip(u[along], *curve.range))
        told = any(warning.code == "rows_reordered" for warning in warnings)
        settings = (options.item, told, arranged.shuffled)
        warnings = [*warnings, *uncertain_order(poses, rows[along], on_path, *settings)]
    report = describe(curve, poses, rows[inside], u[inside], first, second, placed, options.item, warnings)
    edges = np.concatenate([before[:1], np.unique(first.inner), before[-1:]])
    fewest = int(np.histogram(before, edges)[0].min())
    return replace(curve, report=replace(report, fewest_points=fewest)), odd


def _projected(u: Array, r: Array, w: Array | None, options: FitOptions) -> tuple[Array, NDArray[np.int64]]:
    """Parameter and order of noisy points by projection on a spline that follows them except for noise across
    the path.

    The polygon of points that are closer to each other than the noise is too long and too rough as a measure
    of length.
    """
    sigma = noise_level(u, r) if options.noise is None else options.noise
    order = np.arange(len(u))
    if is_clean(r, sigma) or len(u) <= FEW:
        return u, order
    found = halved_knots(u, r, np.zeros(0), w, across=True)
    rough = Initial(found.spline, found.inner, sigma, False, found.stopped)
    settled = settle(u, r, w, rough, [], options.robust)
    if noise_level(settled.u, r[settled.order]) > 1.5 * sigma:
        return u, order  # the spline did not follow: corners
    return settled.u, settled.order


def _smoothest_parameter(u: Array, r: Array) -> Array:
    """The length of the cubic through the points, if the data have less noise over it than over u: chord
    length of unevenly spaced points is rough even if the points are exact."""
    level = noise_level(u, r)
    for _ in range(3):
        length = cumulative_length(partial(cubic(u, r), nu=1), u)
        better = noise_level(length, r)
        if length[-1] > 1.6 * chord_length(r)[-1] or better > 0.9 * level:
            break
        u, level = length, better
    return u


def _over_own_length(
    u: Array, r: Array, w: Array | None, tried: Tried, options: FitOptions, forced: bool
) -> tuple[Array, NDArray[np.int64], Tried]:
    """The fit over its own arc length, and the order of the points along it."""
    order = np.arange(len(u))
    if tried.initial.interpolated:
        for _ in range(4):
            spline = tried.initial.spline
            places = np.array([place for place, _ in tried.corners])
            grid = np.unique(np.concatenate([u, places]))
            s = cumulative_length(partial(spline, nu=1), grid)
            length = np.interp(u, grid, s)
            if not np.all(np.diff(length) > 1e-14 * length[-1]):  # rows that nearly coincide
                break
            corners = [(float(np.interp(place, grid, s)), k) for place, k in tried.corners]
            if tried.initial.degree == 3:
                initial = replace(tried.initial, spline=cubic(length, r), inner=length[2:-2])
            else:
                settings = {"method": "interpolation", "noise": tried.initial.noise, "corners": corners}
                initial = replace(first_spline(length, r, **settings), method=tried.initial.method)
            again = try_initial(length, r, w, initial, corners)
            if again.missed > tried.missed and not forced:
                break
            change = float(np.abs(length - (u - u[0])).max())
            u, tried = again.u, again
            if change < 1e-12 * u[-1]:
                break
        return u, order, tried
    settled = settle(u, r, w, tried.initial, tried.corners, options.robust)
    u, order, first, corners = settled.u, settled.order, settled.first, settled.corners
    weights = None if w is None else w[order]
    if (
        first.method.startswith("Tao") and len(first.inner) <= 30
    ):  # over its own length a path may need fewer knots
        settings = {"method": "tao-watson", "corners": corners, "weights": weights, "C": options.C}
        first = first_spline(u, r[order], noise=first.noise, **settings)
    again = try_initial(u, r[order], weights, first, corners)
    if not forced:
        again = best_of(u, r[order], weights, first, corners, forced)
    return again.u, order, again


def _within(nodes: Array, per: NDArray[np.int64]) -> Array:
    """Starts of the parts if each interval of the nodes (n + 1,) is divided into `per` (n,) equal parts."""
    share = np.arange(per.sum()) - np.repeat(np.cumsum(per) - per, per)
    return np.repeat(nodes[:-1], per) + share * np.repeat(np.diff(nodes) / per, per)


def _refit(
    u: Array,
    order: NDArray[np.int64],
    first: Initial,
    second: Initial | None,
    corners: list[tuple[float, int]],
    tag: str,
    parameter: str,
    closing: Seam | None,
    options: FitOptions,
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
    per = np.full(len(nodes) - 1, max(1, -(-4000 // len(nodes))) if len(nodes) > 400 else 12)
    start = None
    while True:
        dense = np.append(_within(nodes, per), b)
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
        fitted, miss = fit_to_tolerance(s, y, tolerance, fixed=knots, start=start)
        wrong = np.any(miss > tolerance, axis=1)
        if not wrong.any() or len(dense) >= 2 * _DENSE:
            break
        near = np.unique(
            np.clip(np.searchsorted(nodes, dense[wrong], "right")[:, None] - [2, 1, 0], 0, len(per) - 1)
        )
        per[near] *= 2
        start = fitted.t[fitted.k + 1 : -fitted.k - 1]
    if not np.all(miss[:, :3] <= 1e-3 * size):
        raise DataError(
            "no spline over arc length follows the path (the best one misses it by "
            f"{np.max(miss[:, :3]):.3g} m), because its points are spaced too unevenly; remove rows that "
            "nearly repeat others, or give more points"
        )
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
