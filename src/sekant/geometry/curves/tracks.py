"""Composite tracks: segments joined end to end over arc length, with checked continuity and a frame along them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import AnalysisWarning, DataError
from sekant.geometry.curves.arc_length import unit_speed_error
from sekant.geometry.curves.frames import FramedPositions, check_jumps
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.curves.tabulate import TOLERANCE, tabulated
from sekant.geometry.curves.track_segments import Fitted, Segment, frame_along
from sekant.geometry.curves.transport import Transport
from sekant.geometry.fit.report import FitReport
from sekant.geometry.rotations import rotation_from_quaternion

Array = NDArray[np.float64]
_REQUIRE = ("position", "tangent", "curvature")


class _Placed:
    """One segment in F, as a formula over its own length from 0."""

    orientation = "none"

    def __init__(self, label: str, segment: Segment, p: Array, R: Array):
        self.label, self.segment, self.p, self.R = label, segment, p, R
        self.length = float(segment.length)
        self.breaks = segment.breaks if isinstance(segment, Fitted) else np.array([0.0, self.length])

    def jet(self, u: Array, order: int, side: int = 1) -> Array:
        if isinstance(self.segment, Fitted):
            local = self.segment.jet(u, order, side)
        else:
            local = self.segment.jet(u, order)
        out = local @ self.R.T
        out[0] += self.p
        return out

    def end(self, last: bool, order: int) -> Array:
        """Derivative (3,) of the position at its start or end."""
        at = np.array([self.length if last else 0.0])
        return self.jet(at, order, -1 if last else 1)[order, 0]


class TrackFormula:
    """Placed segments one after another over s [m], each moved by its shift (3,); `rest` (3,) [m] is
    distributed over the whole track."""

    orientation = "none"

    def __init__(self, placed: list[_Placed], shifts: list[Array], rest: Array):
        self.placed, self.shifts = placed, shifts
        self.starts = np.concatenate([[0.0], np.cumsum([part.length for part in placed])])
        self.drift = rest / self.starts[-1]
        inner = [at + part.breaks[1:] for at, part in zip(self.starts, placed, strict=False)]
        self.breaks = np.concatenate([[0.0], *inner])
        self.breaks[np.cumsum([len(part) for part in inner])] = self.starts[1:]

    def jet(self, u: Array, order: int, side: int = 1) -> Array:
        owner = np.searchsorted(self.starts, u, side="right" if side > 0 else "left") - 1
        owner = np.clip(owner, 0, len(self.placed) - 1)
        out = np.empty((order + 1, len(u), 3))
        for i in np.unique(owner):
            rows = owner == i
            out[:, rows] = self.placed[i].jet(u[rows] - self.starts[i], order, side)
            out[0, rows] += self.shifts[i]
        out[0] += u[:, None] * self.drift
        out[1:2] += self.drift
        return out


def composite(
    segments: Sequence[Segment],
    *,
    start: tuple[ArrayLike, ArrayLike] = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
    up: ArrayLike = (0.0, 0.0, 1.0),
    frame: str | None = "rmf",
    closed: bool = False,
    require: str = "tangent",
    gap: float = 1e-6,
    turn: float = 1e-5,
    tolerance: float = TOLERANCE,
    degree: int | None = None,
    extrapolation: str = "error",
    name: str = "",
    **frame_options: Any,
) -> PoseCurve:
    """Track of `segments` (see `track_segments`) over arc length s [m].

    It begins at `start` = (point [m], direction); each segment joins the end of the previous one unless it is
    placed `at` a point. Joints are checked up to `require`: "position" within `gap` [m], "tangent" within
    `turn` [rad], "curvature" within 1e-3 of the largest (1/m). Where the curvature jumps although it need not
    be continuous, the track is only C1, and the report contains a warning. `closed` joins the end to the start.
    `frame` (None for positions only) and `frame_options`: see `frames.with_frame`. Pose, twist and the twist's
    rate follow the formulas of the segments to `tolerance`, in as few pieces as possible (see
    `refinement.refine`); a straight is one piece.
    """
    if require not in _REQUIRE:
        raise DataError(f"require='{require}' is unknown; use one of {', '.join(_REQUIRE)}")
    if not segments:
        raise DataError("a track needs at least one segment")
    placed = _place(segments, start, up)
    shifts, warnings = _check_joints(placed, closed, require, gap, turn)
    formula: Any = TrackFormula(placed, shifts[: len(placed)], shifts[-1] if closed else np.zeros(3))
    notes: tuple[str, ...] = ()
    told = "none"
    if frame is not None:
        formula = FramedPositions(formula, closed, frame, up=up, parameter="s", **frame_options)
        told = f"quaternion, {frame} frame" + (" with bank" if frame_options.get("bank") is not None else "")
        notes = formula.notes
    report = FitReport(
        source="track of segments",
        method=", ".join(s.kind for s in segments),
        parameter="s",
        unit="m",
        orientation=told,
        warnings=tuple(warnings),
        notes=notes,
    )
    curve = tabulated(
        formula,
        report,
        tolerance=tolerance,
        degree=degree,
        extrapolation="periodic" if closed else extrapolation,
        parameter="s",
        unit="m",
        name=name,
    )
    if frame is not None:
        check_jumps(curve, frame)
    return curve.reported(unit_speed_error=unit_speed_error(curve.table.breaks, curve.table.coefficients))


def _place(segments: Sequence[Segment], start: tuple[ArrayLike, ArrayLike], up: ArrayLike) -> list[_Placed]:
    p, R = np.asarray(start[0], float), frame_along(start[1], up)
    placed: list[_Placed] = []
    for i, segment in enumerate(segments, 1):
        label = f"segment {i} ({segment.kind})"
        length = float(segment.length)
        if not np.isfinite(length) or length <= 0.0:
            raise DataError(
                f"{label}: its length is {length:g} m; give a positive length or radius, and a nonzero angle"
            )
        if segment.at is not None:
            p = np.asarray(segment.at[0], float)
            R = segment.axes if isinstance(segment, Fitted) else frame_along(segment.at[1], up)
        part = _Placed(label, segment, p, _turned(segment, R, label))
        placed.append(part)
        p = part.end(True, 0)
        R = rotation_from_quaternion(
            Transport(part, R, "s").q[-1]
        )  # turned with the tangent, but not about it
    return placed


def _turned(segment: Segment, R: Array, label: str) -> Array:
    """Frame of the segment: the transported one, rolled about the tangent, or oriented so that the segment
    bends about `axis`."""
    if segment.axis is None:
        c, s = np.cos(segment.roll), np.sin(segment.roll)
        return R @ np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    axis = np.asarray(segment.axis, float)
    axis = axis / np.linalg.norm(axis)
    t = R[:, 0]
    climb = float(np.arcsin(np.clip(axis @ t, -1.0, 1.0)))
    wanted = getattr(segment, "climb", 0.0)
    if abs(climb - wanted) > 1e-6:
        raise DataError(
            f"{label}: its axis ({', '.join(f'{x:.4g}' for x in axis)}) is inclined by "
            f"{np.degrees(climb):.4g} deg from the plane perpendicular to the track, but must be inclined "
            f"by {np.degrees(wanted):.4g} deg; correct the axis, or give roll instead"
        )
    y = np.cross(axis, t)
    y /= np.linalg.norm(y)
    return np.stack([t, y, np.cross(t, y)], axis=1)


def _check_joints(
    placed: list[_Placed], closed: bool, require: str, gap: float, turn: float
) -> tuple[list[Array], list[AnalysisWarning]]:
    """Shifts (n + 1 of (3,)) that close gaps within the tolerance, and warnings; DataError for larger ones."""
    shifts, warnings = [np.zeros(3)], []
    bends = [np.linalg.norm(p.end(last, 2)) for p in placed for last in (False, True)]
    allowed = 1e-3 * max(*bends, 1e-3)
    s = 0.0
    pairs = list(pairwise(placed)) + ([(placed[-1], placed[0])] if closed else [])
    for k, (one, two) in enumerate(pairs):
        s += one.length
        place = f"s = {s:.6g} m"
        where = f"{one.label} and {two.label} at {place}"
        jump = two.end(False, 0) - one.end(True, 0)
        if np.linalg.norm(jump) > gap:
            raise DataError(
                f"there is a gap of {np.linalg.norm(jump):.4g} m between {where} (allowed {gap:g} m); move "
                "one of the segments, or omit `at` of the second, which joins it to the first"
            )
        t1, t2 = one.end(True, 1), two.end(False, 1)
        angle = float(np.arctan2(np.linalg.norm(np.cross(t1, t2)), t1 @ t2))
        if angle > turn:
            text = f"the tangent turns by {np.degrees(angle):.4g} deg between {where}"
            if require != "position":
                raise DataError(f"{text}; correct a direction, or put an arc between the segments")
            cause = f"{text.removesuffix(f' at {place}')}, so the velocity jumps there"
            remedy = "correct a direction, or put an arc between the segments"
            warnings.append(AnalysisWarning("path_corner", "", place, cause, remedy))
        bend = float(np.linalg.norm(two.end(False, 2) - one.end(True, 2)))
        if bend > allowed:
            text = f"the curvature jumps by {bend:.4g} 1/m between {where}"
            if require == "curvature":
                raise DataError(f"{text}; put a clothoid between the segments")
            cause = f"{text.removesuffix(f' at {place}')}, so the acceleration jumps there (C1 only)"
            remedy = "put a clothoid between the segments"
            warnings.append(AnalysisWarning("curvature_jump", "", place, cause, remedy))
        shifts.append(shifts[-1] - jump)
        if k == len(placed) - 1:  # the closing joint: the gap between the shifted end and the start
            shifts[-1] = jump - shifts[k]
    return shifts, warnings
