"""Checks of pose data before a fit: each error names the row, the numbers, the cause and the remedy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sekant.errors import AnalysisWarning
from sekant.geometry.fit.data import PoseData
from sekant.geometry.rotations import angle_between

Array = NDArray[np.float64]
LEAST_POINTS = 7  # a quintic has six coefficients; one more point allows a comparison


def check_count(data: PoseData) -> None:
    """Check that there are enough rows for a quintic."""
    if len(data) < LEAST_POINTS:
        raise data.error(f"{len(data)} points are too few for a quintic path; give at least {LEAST_POINTS}")


def check_parameter(data: PoseData, name: str, u: Array) -> Array:
    """Check that the parameter column increases (the caller reverses decreasing data)."""
    bad = np.flatnonzero(~np.isfinite(u))
    if bad.size:
        raise data.error(f"{name} is {u[bad[0]]}; remove the row", int(bad[0]))
    step = np.diff(u)
    sign = 1.0 if np.median(step) >= 0.0 else -1.0
    repeated = np.flatnonzero(step == 0.0)
    if repeated.size:
        i = int(repeated[0])
        raise data.error(
            f"{name} = {u[i + 1]:.9g} repeats the value of {data.row(i)} ({repeated.size} such "
            f"row{'s' if repeated.size > 1 else ''}); average or remove the repeated rows, or fit over "
            "parameter='arc_length'",
            i + 1,
        )
    wrong = np.flatnonzero(sign * step < 0.0)
    if wrong.size:
        i = int(wrong[0])
        turn = abs(step[i]) > 0.9 * 2.0 * np.pi and data.units.get(name) == "rad"
        remedy = (
            "the angle seems to jump by a full turn, so unwrap it first"
            if turn
            else "sort the rows, remove the return stroke, or fit over parameter='arc_length' or 'chord'"
        )
        word = "falls" if sign > 0 else "rises"
        raise data.error(
            f"{name} {word} from {u[i]:.9g} to {u[i + 1]:.9g} ({wrong.size} such "
            f"row{'s' if wrong.size > 1 else ''}), so it is not monotonic; {remedy}",
            i + 1,
        )
    return u


def unread_angles(
    data: PoseData, parameters: Sequence[str], orientation: str, item: str
) -> list[AnalysisWarning]:
    """A warning if a fit without orientations passes over columns of angles."""
    passed = [name for name, unit in data.units.items() if unit == "rad" and name not in parameters]
    if data.quaternion is not None or orientation == "none" or not passed:
        return []
    names = ",".join(passed)
    return [
        AnalysisWarning(
            "orientation_unread",
            item,
            f"column{'s' if len(passed) > 1 else ''} {', '.join(passed)}",
            "these angles are not used, so the body keeps its orientation along the path",
            f"name the angles and the order of their axes, e.g. --angles {names} --sequence zyx; if the body does "
            "not turn, write orientation: none (--orientation none)",
        )
    ]


def check_gaps(data: PoseData, u: Array) -> None:
    """Check that the path has no gap: no step of more than 20 median steps and 5 % of its length, along u
    (n,) [m]."""
    step = np.diff(u)
    typical = float(np.median(step))
    gap = np.flatnonzero((step > 20.0 * typical) & (step > 0.05 * (u[-1] - u[0])))
    if gap.size:
        i = int(gap[np.argmax(step[gap])])
        raise data.error(
            f"there is a gap of {step[i]:.4g} m after {data.row(i)} (typical step {typical:.3g} m); the "
            "path inside the gap is unknown; add points, fit the parts as segments of a track, or pass "
            "allow_gaps=True (--allow-gaps)",
            i + 1,
        )


def check_turns(data: PoseData) -> None:
    """Check that neighboring orientations are less than 120 degrees apart, so that the rotation can be followed."""
    q = data.quaternion
    if q is None:
        return
    angle = angle_between(q[1:], q[:-1])
    bad = np.flatnonzero(angle > np.radians(120.0))
    if bad.size:
        i = int(bad[0])
        raise data.error(
            f"the orientation turns by {np.degrees(angle[i]):.0f} deg between {data.row(i)} and the next "
            "row, so the direction of the rotation is uncertain; check the unit (deg or rad) and the Euler "
            "sequence, or add rows",
            i + 1,
        )
