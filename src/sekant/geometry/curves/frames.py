"""Orientation from the shape of a path: Frenet, rotation-minimizing and upright frames, with a bank angle.

All three are the rotation-minimizing frame turned about the tangent by an angle psi(u), so one set of exact
derivatives serves them. M has x along the tangent; for a Frenet frame y is the normal and z the binormal (HALL 4.5).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import DataError, suggest
from sekant.geometry import jets
from sekant.geometry.curves.frame_angles import AngleFunction, frenet_angle, upright_angle
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.curves.transport import Transport
from sekant.geometry.fit.report import FitReport
from sekant.geometry.rotations import quaternion_product
from sekant.tables.continuity import break_jumps
from sekant.tables.hermite import refine
from sekant.tables.pieces import shift_polynomial
from sekant.tables.table import Table

Array = NDArray[np.float64]
KINDS = ("rmf", "frenet", "upright")


def with_frame(
    curve: PoseCurve,
    kind: str = "rmf",
    *,
    bank: Any = None,
    up: ArrayLike = (0.0, 0.0, 1.0),
    blend: str = "quintic",
    signed: bool = True,
    least_curvature: float | None = None,
    tolerance: float = 1e-10,
) -> PoseCurve:
    """The positions of `curve` with an orientation that follows the path, x of M along the tangent.

    - "rmf": turns as little as possible; starts with z nearest to `up`; on a closed curve the angle that is left
      after a lap is spread evenly over it.
    - "upright": z as near to `up` as possible everywhere; the path must not become vertical.
    - "frenet": y along the principal normal. Where the curvature is below `least_curvature` [1/m] (2 % of
      its largest value unless given) the normal is undefined or unsteady, and psi is blended between the ends of that
      stretch: "quintic" continues psi, psi', psi''; "cubic" is HALL's blend of the angle with zero end slopes
      (3.76-3.80). With `signed` the normal keeps its side at inflections; without, it is the true normal and turns
      over within the stretch.

    `bank` [rad] turns M further about the tangent: a number, a `Table` of the parameter, or a function of a CasADi
    symbol. Quaternion pieces are of degree 7 and follow the frame to `tolerance`.
    """
    if kind not in KINDS:
        raise DataError(f"unknown frame '{kind}'; {suggest(kind, KINDS, 'frames')}")
    transport = Transport(curve, up)
    angle, breaks, notes = _angle(transport, kind, np.asarray(up, float), blend, signed, least_curvature)
    banks, more = _bank(bank)

    def orientation(u: Array) -> Array:
        psi = angle(u) + banks(u)
        half = jets.cos_sin(0.5 * psi)
        roll = np.stack([half[0], half[1], np.zeros_like(psi), np.zeros_like(psi)], axis=-1)
        return jets.product(transport.frame_jet(u), roll, quaternion_product)

    corners = sorted({*curve.table.breaks[1:-1].tolist(), *breaks, *more})
    pieces = refine(orientation, curve.range, tolerance=tolerance, degree=7, breaks=corners, pieces=1)
    table = curve.table
    owner = np.clip(
        np.searchsorted(table.breaks, pieces.breaks[:-1], side="right") - 1, 0, len(table.coefficients) - 1
    )
    position = np.zeros((len(owner), 3, 8))
    local = pieces.breaks[:-1] - table.breaks[owner]
    k = table.coefficients.shape[2]
    for i, (o, at) in enumerate(zip(owner, local, strict=True)):
        c = table.coefficients[o, :3]
        position[i, :, :k] = c if at == 0.0 else shift_polynomial(c, float(at))
    coefficients = np.concatenate([position, pieces.coefficients], axis=1)
    increment = np.append(table.increment[:3], np.zeros(4)) if curve.closed else None
    framed = Table(pieces.breaks, coefficients, table.extrapolation, table.name, table.unit, increment)
    report = curve.report or FitReport("curve", "", curve.parameter, curve.unit, "quaternion")
    result = replace(curve, table=framed, orientation="quaternion", R_constant=np.eye(3))
    _check_jumps(result, kind)
    if curve.closed:
        result.check_closed()
    report = replace(
        report,
        orientation=f"quaternion, {kind} frame" + (" with bank" if bank is not None else ""),
        pieces=len(coefficients),
        continuity=str(result.continuity),
        notes=(*report.notes, *notes),
    )
    return replace(result, report=report)


def _check_jumps(curve: PoseCurve, kind: str) -> None:
    """The frame must not jump: a path whose curvature changes its direction at once has no continuous normal."""
    jumps = np.abs(break_jumps(curve.table.breaks, curve.table.coefficients, 0)[:, 3:]).max(
        axis=1, initial=0.0
    )
    if jumps.size and jumps.max() > 1e-6:
        i = int(np.argmax(jumps))
        at = curve.table.breaks[i + 1]
        raise DataError(
            f"the {kind} frame turns by about {np.degrees(2.0 * jumps[i]):.3g} deg at once at {curve.parameter} = "
            f"{at:.6g} {curve.unit}, where the path has a corner or bends to another side; put a clothoid or a "
            "straight piece between the two parts, or use the frame 'rmf'"
        )


def _angle(
    transport: Transport, kind: str, up: Array, blend: str, signed: bool, least: float | None
) -> tuple[AngleFunction, list[float], list[str]]:
    """Angle psi of M about the tangent from the transported frame, its breaks, and notes for the report."""
    curve = transport.curve
    a, b = curve.range
    if kind == "frenet":
        return frenet_angle(transport, blend, signed, least)
    if kind == "upright":
        return upright_angle(transport, up), [], []
    rate = -transport.holonomy / (b - a) if curve.closed else 0.0

    def spread(u: Array) -> Array:
        psi = np.zeros((4, len(u)))
        psi[0], psi[1] = rate * (u - a), rate
        return psi

    notes = []
    if curve.closed:
        left = np.degrees(transport.holonomy)
        notes.append(f"the frame turns by {left:.4g} deg about the tangent in a lap; spread evenly")
    return spread, [], notes


def _bank(bank: Any) -> tuple[AngleFunction, list[float]]:
    """Jet (4, n) of the bank angle and the places where it is not smooth."""
    if bank is None or isinstance(bank, (int, float)):
        value = 0.0 if bank is None else float(bank)

        def constant(u: Array) -> Array:
            psi = np.zeros((4, len(u)))
            psi[0] = value
            return psi

        return constant, []
    if isinstance(bank, Table):
        if bank.components != 1:
            raise DataError(f"the table of the bank angle must have one component, it has {bank.components}")
        return lambda u: np.stack([bank(u, k)[:, 0] for k in range(4)]), bank.breaks[1:-1].tolist()
    if callable(bank):
        import casadi as ca

        build: Any = bank
        x = ca.SX.sym("u")  # type: ignore[call-arg]
        stack = [ca.densify(ca.SX(build(x)))]
        for _ in range(3):
            stack.append(ca.densify(ca.jacobian(stack[-1], x)))
        function = ca.Function("bank", [x], [ca.vertcat(*stack)])
        return lambda u: np.asarray(function.map(len(u))(u.reshape(1, -1)).full()), []
    raise DataError(f"the bank angle must be a number, a Table or a function, not {type(bank).__name__}")
