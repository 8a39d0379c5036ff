"""Pose curves and surfaces on disk: plain JSON that preserves doubles exactly.

A curve is one object::

    {"format": "sekant pose curve", "version": 1, "name", "parameter", "unit",
     "orientation": "none" | "quaternion" | "euler:zyx",   "components": [names in order],
     "R_constant": 3 x 3,   "extrapolation": "error" | "linear" | "periodic",   "increment": (m) or null,
     "breaks": (n + 1),   "coefficients": (n, m, k), ascending powers of u - breaks[i],
     "report": {...} or null}

A surface has "sekant pose surface", "parameters" and "units" (2 each), "breaks1" (n1 + 1),
"breaks2" (n2 + 1) and "coefficients" (n1, n2, m, k1, k2). A table of poses (`pose_table`) has "sekant pose table",
"parameter", "unit", "drive" (n) and "bodies": for each name "position", "quaternion", "velocity", "angular",
"acceleration" and "angular_acceleration", (n, 3) or (n, 4), in the world and with respect to the drive. Lengths
are in m, angles in rad. Values are written with the digits that identify a double, so reading gives the same
bits.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from sekant.errors import DataError
from sekant.files import read_file, replace_file
from sekant.geometry.fit.report import FitReport
from sekant.geometry.pose_kinematics import component_names
from sekant.tables.table import Table, Table2

if TYPE_CHECKING:
    from sekant.geometry.curves.pose_curve import PoseCurve
    from sekant.geometry.surfaces.pose_surface import PoseSurface

CURVE_FORMAT = "sekant pose curve"
SURFACE_FORMAT = "sekant pose surface"
VERSION = 1


def save_pose(pose: PoseCurve | PoseSurface, path: str | PathLike[str]) -> None:
    """Write a curve or a surface."""
    replace_file(path, json.dumps(pose_as_dict(pose), allow_nan=False) + "\n")


def load_pose(path: str | PathLike[str], *wanted: str) -> Any:
    """Read a curve or a surface in one of the formats `wanted`, by default any; DataError for other files."""
    data = read_format(path, *(wanted or (CURVE_FORMAT, SURFACE_FORMAT)))
    with naming(path):
        return _pose(data)


def pose_from_dict(data: Any) -> PoseCurve | PoseSurface:
    """The curve or surface that `pose_as_dict` described."""
    _check(data, (CURVE_FORMAT, SURFACE_FORMAT), None)
    with naming(None):
        return _pose(data)


def pose_as_dict(pose: PoseCurve | PoseSurface) -> dict[str, Any]:
    """The contents of a file."""
    from sekant.geometry.curves.pose_curve import PoseCurve

    table = pose.table
    common = {
        "version": VERSION,
        "name": pose.name,
        "orientation": pose.orientation,
        "components": component_names(pose.orientation),
        "R_constant": pose.R_constant.tolist(),
        "coefficients": table.coefficients.tolist(),
        "report": pose.report.as_dict() if pose.report else None,
    }
    if isinstance(pose, PoseCurve):
        increment = pose.table.increment
        return {
            "format": CURVE_FORMAT,
            **common,
            "parameter": pose.parameter,
            "unit": pose.unit,
            "extrapolation": pose.table.extrapolation,
            "increment": increment.tolist() if np.any(increment) else None,
            "breaks": pose.table.breaks.tolist(),
        }
    return {
        "format": SURFACE_FORMAT,
        **common,
        "parameters": list(pose.parameters),
        "units": list(pose.units),
        "extrapolation": list(pose.table.extrapolation),
        "breaks1": pose.table.breaks1.tolist(),
        "breaks2": pose.table.breaks2.tolist(),
    }


def _pose(data: dict[str, Any]) -> PoseCurve | PoseSurface:
    from sekant.geometry.curves.pose_curve import PoseCurve
    from sekant.geometry.surfaces.pose_surface import PoseSurface

    surface = data["format"] == SURFACE_FORMAT
    breaks = [np.asarray(data[key], float) for key in (("breaks1", "breaks2") if surface else ("breaks",))]
    coefficients, name = np.asarray(data["coefficients"], float), data.get("name", "")
    outside = data["extrapolation"]
    common: dict[str, Any] = {
        "orientation": data["orientation"],
        "R_constant": np.asarray(data["R_constant"], float),
        "name": name,
        "report": FitReport.from_dict(data["report"]) if data.get("report") else None,
    }
    if surface:
        table = Table2(breaks[0], breaks[1], coefficients, extrapolation=tuple(outside), name=name)
        (first, second), (unit1, unit2) = data["parameters"], data["units"]
        return PoseSurface(table, parameters=(first, second), units=(unit1, unit2), **common)
    increment = data.get("increment")
    increment = None if increment is None else np.asarray(increment, float)
    table = Table(breaks[0], coefficients, extrapolation=outside, name=name, increment=increment)
    return PoseCurve(table, parameter=data["parameter"], unit=data["unit"], **common)


@contextmanager
def naming(path: str | PathLike[str] | None) -> Iterator[None]:
    """Context manager: a missing entry or a ragged array raises a DataError, which names the file if there is one."""
    file = None if path is None else str(path)
    try:
        yield
    except KeyError as error:
        message = f"the entry {error} is missing; save the curve, surface or table again"
        raise DataError(message, file=file) from None
    except DataError as error:
        raise DataError(error.message, file=error.file or file) from None
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise DataError(f"an entry has the wrong shape or type ({error})", file=file) from None


def read_format(path: str | PathLike[str], *wanted: str) -> dict[str, Any]:
    """The contents of a JSON file in one of the formats `wanted`; DataError if it has none of them."""
    try:
        text = read_file(path).decode()
    except UnicodeDecodeError:
        raise DataError("is not a text file", file=str(path)) from None
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"is not valid JSON: {error.msg}", file=str(path), line=error.lineno) from None
    _check(data, wanted, str(path))
    return data


def _check(data: Any, wanted: tuple[str, ...], file: str | None) -> None:
    """DataError unless `data` has one of the formats and this version."""
    found = data.get("format") if isinstance(data, dict) else None
    if found not in wanted:
        raise DataError(f"is not a {' or '.join(wanted)} (its entry 'format' is {found!r})", file=file)
    if data.get("version") != VERSION:
        raise DataError(
            f"has version {data.get('version')!r}; this version of Sekant reads version {VERSION}", file=file
        )
