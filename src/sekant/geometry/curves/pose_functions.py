"""Pose curves from formulas: CasADi expressions of the parameter, sampled to Hermite tables, and control
points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import DataError
from sekant.geometry import jets
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.fit.bsplines import pieces_of
from sekant.geometry.fit.report import FitReport
from sekant.geometry.pose_kinematics import component_count, parse_orientation
from sekant.geometry.rotations import check_rotations, continue_signs, quaternion_from_rotation
from sekant.tables.hermite import refine
from sekant.tables.table import Table

Array = NDArray[np.float64]


def curve_from_function(
    function: Callable[[ca.SX], Any], range: tuple[float, float], **options: Any
) -> PoseCurve:
    """Curve of `function`, which takes the parameter as a CasADi SX and returns the position p_FM (3) [m], or
    (position, rotation) with `rotation` as in `curve_from_expression`."""
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
    tolerance: float = 1e-10,
    degree: int = 7,
    breaks: Sequence[float] = (),
    parameter: str = "u",
    unit: str = "",
    extrapolation: str = "error",
    name: str = "",
) -> PoseCurve:
    """Curve of expressions in `symbol` over `range`, as Hermite pieces with exact derivatives at their nodes.

    `position` (3) is p_FM [m] in F. `rotation` is a rotation matrix R_FM (3, 3), a quaternion (4) of any
    length, or, with `orientation="euler:zyx"`, the angles [rad] of that sequence; None keeps M parallel to F.
    Pieces are halved until values agree to `tolerance` (m, or 1 for orientation components). `breaks` are the
    places where the formula has kinks. The report states the largest errors of value, first and second
    derivative seen between the nodes.
    """
    y, kind = pose_components(position, rotation, orientation)
    others = [s.name() for s in ca.symvar(y) if not ca.is_equal(s, symbol)]
    if others:
        raise DataError(
            f"the curve depends on {', '.join(sorted(others))} besides its parameter; give them values first"
        )
    function = _jet_function(symbol, y, 4, matrix=kind == "matrix")
    if kind == "matrix":
        function = _sign_safe(function, range)
    pieces = refine(function, range, tolerance=tolerance, degree=degree, breaks=breaks)
    tag = {"none": "none", "matrix": "quaternion"}.get(kind, orientation)
    table = Table(pieces.breaks, pieces.coefficients, extrapolation=extrapolation, name=name, unit=unit)
    report = FitReport.of_function(pieces, parameter, unit, tag, tolerance)
    curve = PoseCurve(table, tag, parameter=parameter, unit=unit, name=name, report=report)
    if extrapolation == "periodic":
        curve.check_closed()
    return curve


def pose_components(position: Any, rotation: Any, orientation: str) -> tuple[ca.SX, str]:
    """Stacked components and what the orientation part is: "none", "matrix", "quaternion" or "euler"."""
    p = ca.SX(ca.vertcat(*position)) if isinstance(position, (list, tuple)) else ca.SX(position)
    if p.numel() != 3:
        raise DataError(f"a position has three components, the function gives {p.numel()}")
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


def _jet_function(symbol: ca.SX, y: ca.SX, order: int, matrix: bool) -> Callable[[Array], Array]:
    """u (n,) -> derivatives 0..order of the components, (order + 1, n, m); matrices become quaternions."""
    stack = [ca.densify(y)]
    for _ in np.arange(order):
        stack.append(ca.densify(ca.jacobian(stack[-1], symbol)))
    function = ca.Function("pose", [symbol], [ca.horzcat(*stack)])
    m = y.numel()

    def evaluate(u: Array) -> Array:
        flat = np.asarray(function.map(len(u))(u.reshape(1, -1)).full())
        jet = flat.reshape(m, len(u), order + 1).transpose(2, 1, 0)
        if not matrix:
            return jet
        R = jet[..., 3:].reshape(order + 1, len(u), 3, 3)
        check_rotations(R[0])
        q = jets.quaternion_from_rate(quaternion_from_rotation(R[0]), jets.rate_from_rotation(R))
        return np.concatenate([jet[..., :3], q], axis=-1)

    return evaluate


def _sign_safe(evaluate: Callable[[Array], Array], range: tuple[float, float]) -> Callable[[Array], Array]:
    """Quaternions of a matrix come with either sign; fix it by following the rotation over samples close
    enough that neighbors are less than about 70 degrees apart."""
    count = 257
    while True:
        record_u = np.linspace(*range, count)
        record_q = evaluate(record_u)[0, :, 3:]
        if np.abs(np.sum(record_q[1:] * record_q[:-1], axis=1)).min() > 0.82 or count > 200_000:
            break
        count = 2 * count - 1
    record_q = continue_signs(record_q)

    def continued(u: Array) -> Array:
        jet = evaluate(u)
        nearest = np.clip(np.round((u - range[0]) / (record_u[1] - record_u[0])).astype(int), 0, count - 1)
        sign = np.where(np.sum(jet[0, :, 3:] * record_q[nearest], axis=1) < 0.0, -1.0, 1.0)
        jet[..., 3:] *= sign[None, :, None]
        return jet

    return continued


def curve_from_control_points(
    points: ArrayLike,
    *,
    degree: int = 5,
    closed: bool = False,
    parameter: str = "u",
    name: str = "",
) -> PoseCurve:
    """Position-only B-spline of control points (n, 3) [m] with uniform knots over [0, 1].

    Its ends are clamped, or it repeats if `closed`. `along_arc_length` and `with_frame` go on from there.
    """
    from scipy.interpolate import BSpline

    P = np.asarray(points, float)
    if P.ndim != 2 or P.shape[1] != 3:
        raise DataError(f"control points must have shape (n, 3), got {P.shape}")
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
    table = Table(*pieces_of(BSpline(knots, P, degree)), extrapolation=extrapolation, name=name)
    return PoseCurve(table, parameter=parameter, name=name)
