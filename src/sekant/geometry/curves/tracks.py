"""Composite tracks: segments joined end to end over arc length, with checked continuity and a frame along them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import AnalysisWarning, DataError
from sekant.geometry.curves.arc_length import unit_speed_error
from sekant.geometry.curves.frames import with_frame
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.curves.track_segments import Fitted, Segment, Straight, frame_along
from sekant.geometry.fit.report import FitReport
from sekant.geometry.rotations import rotation_from_vector
from sekant.tables.hermite import refine
from sekant.tables.pieces import horner
from sekant.tables.table import Table

Array = NDArray[np.float64]
_REQUIRE = ("position", "tangent", "curvature")


@dataclass(frozen=True)
class _Placed:
    """Pieces of one segment in F: breaks from 0, coefficients (n, 3, 8), and the frame at its end."""

    label: str
    breaks: Array
    coefficients: Array

    def end(self, last: bool, order: int) -> Array:
        """Derivative (3,) of the position at its start or end."""
        i, x = (-1, self.breaks[-1] - self.breaks[-2]) if last else (0, 0.0)
        return horner(self.coefficients[i], x, order)


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
    tolerance: float = 1e-10,
    extrapolation: str = "error",
    name: str = "",
    **frame_options: Any,
) -> PoseCurve:
    """Track of `segments` (see `track_segments`) over arc length s [m].

    It begins at `start` = (point [m], direction); each segment joins the end of the one before unless it is
    placed `at` a point. Joints are checked up to `require`: "position" within `gap` [m], "tangent" within `turn`
    [rad], "curvature" within 1e-3 of the largest (1/m). A curvature that jumps although it need not be continuous
    is a warning in the report: the track is C1 there. `closed` joins the end to the start. `frame` (None for
    positions only) and `frame_options`: see `frames.with_frame`. Curved segments follow their formula to
    `tolerance` [m].
    """
    if require not in _REQUIRE:
        raise DataError(f"require '{require}' is unknown; use {', '.join(_REQUIRE)}")
    if not segments:
        raise DataError("a track needs at least one segment")
    placed = _place(segments, start, up, tolerance)
    shifts, warnings = _check_joints(placed, closed, require, gap, turn)
    offset, breaks, blocks = 0.0, [np.zeros(1)], []
    for part, shift in zip(placed, shifts, strict=False):
        c = part.coefficients.copy()
        c[:, :, 0] += shift
        blocks.append(c)
        breaks.append(offset + part.breaks[1:])
        offset += part.breaks[-1]
    coefficients, edges = np.concatenate(blocks), np.concatenate(breaks)
    if closed:  # spread what is left of the closing gap, at most `gap`, over the lap
        rest = shifts[-1]
        coefficients[:, :, 0] += np.outer(edges[:-1] / offset, rest)
        coefficients[:, :, 1] += rest / offset
        extrapolation = "periodic"
    table = Table(edges, coefficients, extrapolation, name)
    report = FitReport(
        source="track of segments",
        method=", ".join(s.kind for s in segments),
        parameter="s",
        unit="m",
        orientation="none",
        pieces=len(coefficients),
        tolerance=tolerance,
        unit_speed_error=unit_speed_error(edges, coefficients),
        warnings=tuple(warnings),
    )
    curve = PoseCurve(table, parameter="s", unit="m", name=name, report=report)
    if frame is None:
        return replace(curve, report=replace(report, continuity=str(curve.continuity)))
    return with_frame(curve, frame, up=up, **frame_options)


def _place(segments: Sequence[Segment], start: tuple[ArrayLike, ArrayLike], up: ArrayLike, tolerance: float):
    p, R = np.asarray(start[0], float), frame_along(start[1], up)
    placed: list[_Placed] = []
    for i, segment in enumerate(segments, 1):
        label = f"segment {i} ({segment.kind})"
        length = float(segment.length)
        if not np.isfinite(length) or length <= 0.0:
            raise DataError(
                f"{label}: its length is {length:g} m; give positive lengths, radii and non-zero angles"
            )
        if segment.at is not None:
            p = np.asarray(segment.at[0], float)
            R = segment.axes if isinstance(segment, Fitted) else frame_along(segment.at[1], up)
        R_segment = _turned(segment, R, label)
        if isinstance(segment, Straight):
            breaks, local = np.array([0.0, length]), np.zeros((1, 3, 8))
            local[0, 0, 1] = 1.0
        else:
            corners = (
                segment.curve.table.breaks - segment.curve.range[0] if isinstance(segment, Fitted) else ()
            )
            pieces = refine(segment.jet, (0.0, length), tolerance=tolerance, breaks=list(corners), pieces=4)
            breaks, local = pieces.breaks, pieces.coefficients
        coefficients = np.einsum("ij,njk->nik", R_segment, local)
        coefficients[:, :, 0] += p
        part = _Placed(label, breaks, coefficients)
        placed.append(part)
        p = part.end(True, 0)
        R = _carried(R, part)
    return placed


def _turned(segment: Segment, R: Array, label: str) -> Array:
    """Frame of the segment: the carried one, rolled about the tangent, or turned so that it bends about `axis`."""
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
            f"{label}: its axis ({', '.join(f'{x:.4g}' for x in axis)}) leans by {np.degrees(climb):.4g} deg from "
            f"being square to the track, where {np.degrees(wanted):.4g} deg are needed; correct the axis, or use roll"
        )
    y = np.cross(axis, t)
    y /= np.linalg.norm(y)
    return np.stack([t, y, np.cross(t, y)], axis=1)


def _carried(R: Array, part: _Placed) -> Array:
    """The frame at the end of a segment: turned with its tangent, step by step, but not about it."""
    ends = [horner(c, h, 1) for c, h in zip(part.coefficients, np.diff(part.breaks), strict=True)]
    for slope in ends:
        t = slope / np.linalg.norm(slope)
        axis = np.cross(R[:, 0], t)
        sine = np.linalg.norm(axis)
        if sine > 0.0:
            R = rotation_from_vector(axis / sine * np.arctan2(sine, R[:, 0] @ t)) @ R
    return R


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
        s += one.breaks[-1]
        place = f"s = {s:.6g} m"
        where = f"{one.label} and {two.label} at {place}"
        jump = two.end(False, 0) - one.end(True, 0)
        if np.linalg.norm(jump) > gap:
            raise DataError(
                f"there is a gap of {np.linalg.norm(jump):.4g} m between {where} (allowed {gap:g} m); move one of "
                "them or leave out its `at` to join it"
            )
        t1, t2 = one.end(True, 1), two.end(False, 1)
        angle = float(np.arctan2(np.linalg.norm(np.cross(t1, t2)), t1 @ t2))
        if angle > turn:
            text = f"the tangent turns by {np.degrees(angle):.4g} deg between {where}"
            if require != "position":
                raise DataError(f"{text}; correct a direction, or put an arc between them")
            cause = f"{text.removesuffix(f' at {place}')}: velocity jumps there"
            remedy = "correct a direction, or put an arc between them"
            warnings.append(AnalysisWarning("path_corner", "", place, cause, remedy))
        bend = float(np.linalg.norm(two.end(False, 2) - one.end(True, 2)))
        if bend > allowed:
            text = f"the curvature jumps by {bend:.4g} 1/m between {where}"
            if require == "curvature":
                raise DataError(f"{text}; put a clothoid between them")
            cause = f"{text.removesuffix(f' at {place}')}: acceleration jumps there (C1 only)"
            remedy = "put a clothoid between them"
            warnings.append(AnalysisWarning("curvature_jump", "", place, cause, remedy))
        shifts.append(shifts[-1] - jump)
        if k == len(placed) - 1:  # the closing joint: what the shifted end lacks to meet the start
            shifts[-1] = jump - shifts[k]
    return shifts, warnings
