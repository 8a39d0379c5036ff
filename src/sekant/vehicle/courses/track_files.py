"""Tracks from CSV files: center line and widths. Errors name the position on the track.

The columns are ``x [m], y [m]`` of the center line, the free widths ``left [m], right [m]`` to each side (or ``width
[m]`` of both together), the height ``z [m]``, and the bank ``bank [deg]`` of the road, which is positive if the left
side is higher. A track whose last point is near its first point is closed. The center line is a fit with continuous
curvature, which interpolates exact points and smooths noisy ones.
"""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import NDArray

from sekant.columns import Columns, read_columns
from sekant.errors import DataError, counted
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.vehicle.courses.course import Course, course_along

Floats = NDArray[np.float64]
WIDTH = 3.0  # m, default width of a track
NARROWEST = 1.5  # m
STEEPEST = 0.6  # rise over run between two points
MOST_BANK = np.radians(45.0)
JUMP = 6.0  # times the usual distance between two points


def read_track(path: str | PathLike[str]) -> Course:
    """The center line of a track with its edges."""
    columns = read_columns(path)
    values = dict(zip(columns.names, columns.in_si().T, strict=True))
    missing = [name for name in ("x", "y") if name not in values]
    if missing:
        raise columns.wrong(
            f"has no column '{missing[0]}'; a track needs the columns x [m] and y [m], and may also have left [m], "
            "right [m], z [m] and bank [deg]"
        )
    points = np.column_stack([values["x"], values["y"]])
    if len(points) < 4:
        raise columns.wrong(f"has only {counted(len(points), 'points')}; a track needs at least four")
    half = values["width"] / 2 if "width" in values else np.full(len(points), WIDTH / 2)
    left, right = values.get("left", half), values.get("right", half)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    same = np.flatnonzero(steps <= 1e-6)
    if same.size:
        raise columns.wrong(
            f"the point {_place(points[same[0]])} occurs in two successive rows; remove one of them",
            int(same[0]) + 1,
        )
    closed = bool(np.linalg.norm(points[-1] - points[0]) <= 2 * np.median(steps) and len(points) > 8)
    _check_steps(columns, points, steps)
    _check_widths(columns, points, left + right)
    height, bank = (values.get(name, np.zeros(len(points))) for name in ("z", "bank"))
    _check_heights(columns, points, steps, height, bank)
    if closed and np.linalg.norm(points[-1] - points[0]) <= 1e-6:
        points, left, right = points[:-1], left[:-1], right[:-1]
        height, bank = height[:-1], bank[:-1]
    course = _fitted(columns, points, (left, right, height, bank), closed)
    _check_crossings(columns.file, course)
    _check_edges(columns.file, course)
    return course


def _fitted(columns: Columns, points: Floats, rows: tuple[Floats, ...], closed: bool) -> Course:
    """The fit of the points (n, 2), closed if requested, with rows (n,) of widths, height and bank."""
    if closed:
        points = np.vstack([points, points[:1]])
        rows = tuple(np.append(row, row[0]) for row in rows)
    data = {"x": points[:, 0], "y": points[:, 1], "z": np.zeros(len(points))}
    ends = "periodic" if closed else "linear"
    try:
        curve = PoseCurve.fit(data, "chord", extrapolation=ends, allow_gaps=True, orientation="none")
    except DataError as error:
        raise columns.wrong(f"no center line can be fitted: {error.message}") from None
    chords = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    low, high = curve.range
    u = low + chords * (high - low) / chords[-1]
    left, right, height, bank = rows
    return course_along(
        lambda at, order: curve.position(at, order)[:, :2], u, (left, right, height, bank), closed=closed
    )


def _check_heights(columns: Columns, points: Floats, steps: Floats, height: Floats, bank: Floats) -> None:
    steep = np.flatnonzero(np.abs(np.diff(height)) > STEEPEST * steps)
    if steep.size:
        k = int(steep[0])
        raise columns.wrong(
            f"the height jumps by {abs(height[k + 1] - height[k]):.3g} m within {steps[k]:.3g} m at "
            f"{_place(points[k])}; correct z there, or remove the column z",
            k + 1,
        )
    tilted = np.flatnonzero(np.abs(bank) > MOST_BANK)
    if tilted.size:
        k = int(tilted[0])
        raise columns.wrong(
            f"the bank at {_place(points[k])} is {np.degrees(bank[k]):.3g} deg, but at most "
            f"{np.degrees(MOST_BANK):.0f} deg is allowed; check the unit in the header: bank [deg] or bank [rad]",
            k,
        )


def _check_steps(columns: Columns, points: Floats, steps: Floats) -> None:
    usual = float(np.median(steps))
    far = np.flatnonzero(steps > JUMP * usual)
    if far.size:
        k = int(far[0])
        raise columns.wrong(
            f"the center line jumps by {steps[k]:.3g} m, from {_place(points[k])} to {_place(points[k + 1])}, but "
            f"its points are usually {usual:.3g} m apart; add points in between, or sort the rows",
            k + 1,
        )


def _check_widths(columns: Columns, points: Floats, widths: Floats) -> None:
    narrow = np.flatnonzero(widths < NARROWEST)
    if narrow.size:
        k = int(narrow[0])
        raise columns.wrong(
            f"the track is only {widths[k]:.3g} m wide at {_place(points[k])}, but a car needs {NARROWEST} m; "
            "check that left and right are positive distances from the center line",
            k,
        )


def _check_edges(file: str, course: Course) -> None:
    """Refuse a course that would fold over, because its inner edge is beyond the center of a curve."""
    inner = np.where(course.curvature > 0, course.left, course.right)
    folded = np.flatnonzero(inner * np.abs(course.curvature) >= 1.0)
    if folded.size:
        k = int(folded[0])
        raise DataError(
            f"the radius of curvature of the center line is {1 / abs(course.curvature[k]):.3g} m at "
            f"{_place((course.x[k], course.y[k]))}, which is less than the distance of {inner[k]:.3g} m to the "
            "inner edge of the track; smooth the center line there, or give more points",
            file=file,
        )


def _check_crossings(file: str, course: Course) -> None:
    """Refuse a center line that crosses itself."""
    p = np.column_stack([course.x, course.y])
    a, d = p[:-1], np.diff(p, axis=0)
    for k in range(len(a) - 2):
        last = len(a) - 1 if course.closed and k == 0 else len(a)
        b, e = a[k + 2 : last], d[k + 2 : last]
        cross = d[k, 0] * e[:, 1] - d[k, 1] * e[:, 0]
        away = b - a[k]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (away[:, 0] * e[:, 1] - away[:, 1] * e[:, 0]) / cross
            u = (away[:, 0] * d[k, 1] - away[:, 1] * d[k, 0]) / cross
        hit = np.flatnonzero((t >= 0) & (t < 1) & (u >= 0) & (u < 1))
        if hit.size:
            at = a[k] + t[hit[0]] * d[k]
            raise DataError(
                f"the center line crosses itself at {_place(at)} ({course.s[k]:.4g} m and "
                f"{course.s[k + 2 + hit[0]]:.4g} m from its start); check the order of the rows",
                file=file,
            )


def _place(point: object) -> str:
    x, y = np.asarray(point, float)
    return f"({x:.4g}, {y:.4g}) m"
