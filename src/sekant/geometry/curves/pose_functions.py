"""Pose curves from formulas: CasADi expressions of the parameter, sampled to Hermite tables, and control
points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sekant.errors import DataError, suggest
from sekant.geometry.curves.arc_length import ArcLength, unit_speed_error
from sekant.geometry.curves.formulas import ExpressionFormula
from sekant.geometry.curves.frames import FramedPositions, check_jumps
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.curves.refinement import check_range
from sekant.geometry.curves.tabulate import TOLERANCE, tabulated
from sekant.geometry.fit.report import FitReport
from sekant.geometry.pose_kinematics import component_count, parse_orientation
from sekant.tables.table import Table


def curve_from_function(
    function: Callable[[ca.SX], Any], range: tuple[float, float], **options: Any
) -> PoseCurve:
    """Curve of `function`, which takes the parameter as a CasADi SX and returns the position p_FM (3) [m], or
    (position, rotation) with `rotation` as in `curve_from_expression`, which lists the options."""
    known = list(signature(curve_from_expression).parameters)[4:]
    wrong = [name for name in options if name not in known]
    if wrong:
        raise DataError(f"unknown option '{wrong[0]}' of a curve; {suggest(wrong[0], known, 'options')}")
    u = ca.SX.sym("u")  # type: ignore[call-arg]
    value = function(u)
    if isinstance(value, tuple) and len(value) == 2:
        return curve_from_expression(u, value[0], range, value[1], **options)
    return curve_from_expression(u, value, range, None, **options)


def curve_from_expression(
    symbol: ca.SX,
    position: Any,
    range: tuple[float, float],
    rotation: Any = None,
    *,
    orientation: str = "quaternion",
    frame: str | None = None,
    bank: Any = None,
    up: ArrayLike = (0.0, 0.0, 1.0),
    blend: str = "quintic",
    signed: bool = True,
    least_curvature: float | None = None,
    arc_length: bool = False,
    tolerance: float = TOLERANCE,
    degree: int | None = None,
    breaks: Sequence[float] = (),
    parameter: str = "u",
    unit: str = "",
    extrapolation: str = "error",
    name: str = "",
) -> PoseCurve:
    """Curve of expressions in `symbol` over `range`, as pieces with exact derivatives at their ends.

    `position` (3) is p_FM [m] in F. `rotation` is a rotation matrix R_FM (3, 3), a quaternion (4) of any
    length, or, with `orientation="euler:zyx"`, the angles [rad] of that sequence; None keeps M parallel to F,
    unless a `frame` along the path is requested ("frenet", "rmf" or "upright"; `bank`, `up`, `blend`, `signed` and
    `least_curvature`: see `frames.with_frame`). With `arc_length` the parameter is the length s [m] of the path.

    Pose, twist and the twist's rate follow the expressions to `tolerance`: position [m], rotation [rad], the
    rest as shares of the largest values along the curve; the report contains the errors measured between the
    nodes. The tolerance determines the number of pieces and, unless `degree` is given, their degree. `breaks`
    are the places where the formula has kinks.
    """
    if frame is not None and rotation is not None:
        raise DataError("the orientation is given twice, by rotation and by frame; omit one of them")
    if frame is None and bank is not None:
        raise DataError("a bank angle needs a frame: set it to frenet, rmf or upright")
    y, kind = pose_components(position, rotation, orientation)
    others = [s.name() for s in ca.symvar(y) if not ca.is_equal(s, symbol)]
    if others:
        raise DataError(
            f"the curve depends on {', '.join(sorted(others))} in addition to its parameter; substitute "
            "values for the other symbols first"
        )
    tag = {"none": "none", "matrix": "quaternion"}.get(kind, orientation)
    check_range(*range)
    formula: Any = ExpressionFormula(symbol, y, range, tag, kind == "matrix", tuple(map(float, breaks)))
    told, notes = tag, ()
    if arc_length:
        formula = ArcLength(formula, f"pose curve '{name or parameter}'", parameter, unit)
        parameter, unit = "s", "m"
    if frame is not None:
        closed = extrapolation == "periodic"
        formula = FramedPositions(formula, closed, frame, bank, up, blend, signed, least_curvature, parameter)
        told = f"quaternion, {frame} frame" + (" with bank" if bank is not None else "")
        notes = formula.notes
    method = "pieces with exact derivatives at their ends"
    curve = tabulated(
        formula,
        FitReport("function", method, parameter, unit, told, notes=notes),
        tolerance=tolerance,
        degree=degree,
        extrapolation=extrapolation,
        parameter=parameter,
        unit=unit,
        name=name,
    )
    if frame is not None:
        check_jumps(curve, frame)
    if not arc_length:
        return curve
    return curve.reported(unit_speed_error=unit_speed_error(curve.table.breaks, curve.table.coefficients))


def pose_components(position: Any, rotation: Any, orientation: str) -> tuple[ca.SX, str]:
    """Stacked components and the kind of orientation: "none", "matrix", "quaternion" or "euler"."""
    p = ca.SX(ca.vertcat(*position)) if isinstance(position, (list, tuple)) else ca.SX(position)
    if p.numel() != 3:
        raise DataError(f"a position has three components (the function gives {p.numel()})")
    p = ca.reshape(p, 3, 1)
    if rotation is None:
        return p, "none"
    r = ca.SX(ca.vertcat(*rotation)) if isinstance(rotation, (list, tuple)) else ca.SX(rotation)
    kind, _ = parse_orientation(orientation)
    if r.shape == (3, 3):
        if kind == "euler":
            raise DataError("a rotation matrix cannot be stored as Euler angles; leave `orientation` out")
        return ca.vertcat(p, ca.reshape(r.T, 9, 1)), "matrix"
    wanted = component_count(orientation) - 3
    if kind == "none" or r.numel() != wanted:
        raise DataError(
            f"the rotation has {r.numel()} components; give a 3 x 3 matrix, 4 quaternion components, or "
            f"the angles of a sequence with orientation='euler:zyx' (here it is '{orientation}')"
        )
    return ca.vertcat(p, ca.reshape(r, wanted, 1)), kind


def curve_from_control_points(
    points: ArrayLike,
    *,
    degree: int = 5,
    closed: bool = False,
    parameter: str = "u",
    name: str = "",
) -> PoseCurve:
    """Position-only B-spline of control points (n, 3) [m] with uniform knots over [0, 1].

    Its ends are clamped, or it repeats if `closed`. Apply `along_arc_length` and `with_frame` to the result
    as needed.
    """
    from scipy.interpolate import BSpline

    P = np.asarray(points, float)
    if P.ndim != 2 or P.shape[1] != 3:
        raise DataError(f"control points must have shape (n, 3) (got {P.shape})")
    if len(P) < degree + 1:
        raise DataError(
            f"{len(P)} control points are too few for degree {degree}; give at least {degree + 1}"
        )
    if closed:
        n = len(P)
        knots = np.arange(-degree, n + degree + 1) / n
        P = np.concatenate([P, P[:degree]])
    else:
        inner = np.linspace(0.0, 1.0, len(P) - degree + 1)
        knots = np.concatenate([np.zeros(degree), inner, np.ones(degree)])
    extrapolation = "periodic" if closed else "error"
    table = Table.from_scipy(BSpline(knots, P, degree), extrapolation=extrapolation, name=name)
    return PoseCurve(table, parameter=parameter, name=name)
