"""Orientation from the shape of a path: Frenet, rotation-minimizing and upright frames, with a bank angle.

All three are the rotation-minimizing frame turned about the tangent by an angle psi(u), so they share one set
of exact derivatives. M has x along the tangent; for a Frenet frame y is the normal and z the binormal (HALL 4.5).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import DataError, suggest
from sekant.geometry import jets
from sekant.geometry.curves.formulas import PoseFormula, beside
from sekant.geometry.curves.frame_angles import AngleFunction, frenet_angle, upright_angle
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.curves.tabulate import formula_of, retabulated, with_positions_of
from sekant.geometry.curves.transport import Transport
from sekant.geometry.fit.report import FitReport
from sekant.geometry.rotations import quaternion_product
from sekant.tables.continuity import break_jumps
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
    tolerance: float | None = None,
) -> PoseCurve:
    """The positions of `curve` with an orientation that follows the path, x of M along the tangent.

    - "rmf": rotates as little as possible; starts with z closest to `up`; on a closed curve, the angle that
    remains after a lap is distributed evenly over it.
    - "upright": z as close to `up` as possible everywhere; the path must not become vertical.
    - "frenet": y along the principal normal. Where the curvature is below `least_curvature` [1/m] (2 % of
      its largest value unless given) the normal is undefined or erratic, and psi is blended between the ends of that
      stretch: "quintic" continues psi, psi', psi''; "cubic" is HALL's blend of the angle with zero end slopes
      (3.76-3.80). With `signed` the normal keeps its side at inflections; without, it is the true normal and
      flips within the stretch.

    `bank` [rad] turns M further about the tangent: a number, a `Table` of the parameter, or a function of a CasADi
    symbol. Frames are computed from the curve's formula if it is known, else from its pieces. They are within
    `tolerance` in pose, twist and the twist's rate (see `refinement.refine`; by default that of the curve).
    """
    formula = FramedPositions(
        formula_of(curve), curve.closed, kind, bank, up, blend, signed, least_curvature, curve.parameter
    )
    report = curve.report or FitReport("curve", "", curve.parameter, curve.unit, "quaternion")
    report = replace(
        report,
        orientation=f"quaternion, {kind} frame" + (" with bank" if bank is not None else ""),
        notes=(*report.notes, *formula.notes),
    )
    increment = np.append(curve.table.increment[:3], np.zeros(4)) if curve.closed else None
    result = retabulated(curve, formula, tolerance, report, increment)
    if curve.formula is None:
        result = with_positions_of(result, curve.table)
    check_jumps(result, kind)
    return result


class FramedPositions:
    """The positions of a formula with quaternions of a frame along them; see `with_frame`."""

    orientation = "quaternion"

    def __init__(
        self,
        formula: PoseFormula,
        closed: bool,
        kind: str,
        bank: Any = None,
        up: ArrayLike = (0.0, 0.0, 1.0),
        blend: str = "quintic",
        signed: bool = True,
        least_curvature: float | None = None,
        parameter: str = "u",
    ):
        if kind not in KINDS:
            raise DataError(f"unknown frame '{kind}'; {suggest(kind, KINDS, 'frames')}")
        self.formula = formula
        self.transport = Transport(formula, up, parameter)
        self._angle, places, notes = _angle(
            self.transport, closed, kind, np.asarray(up, float), blend, signed, least_curvature
        )
        self._bank, more = _bank(bank)
        self.notes = tuple(notes)
        inner = np.unique([*formula.breaks[1:-1], *places, *more])
        a, b = formula.breaks[0], formula.breaks[-1]
        inner = inner[(inner > a) & (inner < b)]
        self.breaks = np.concatenate([[a], inner, [b]])

    def jet(self, u: Array, order: int, side: int = 1) -> Array:
        places = beside(u, self.breaks, side)
        psi = (self._angle(places) + self._bank(places))[: order + 1]
        half = jets.cos_sin(0.5 * psi)
        roll = np.stack([half[0], half[1], np.zeros_like(psi), np.zeros_like(psi)], axis=-1)
        q = jets.product(self.transport.frame_jet(places, order), roll, quaternion_product)
        return np.concatenate([self.formula.jet(u, order, side)[..., :3], q], axis=-1)


def check_jumps(curve: PoseCurve, kind: str) -> None:
    """Check that the frame does not jump: a path whose curvature changes its direction suddenly has no
    continuous normal."""
    jumps = np.abs(break_jumps(curve.table.breaks, curve.table.coefficients, 0)[:, 3:]).max(
        axis=1, initial=0.0
    )
    if jumps.size and jumps.max() > 1e-6:
        i = int(np.argmax(jumps))
        at = curve.table.breaks[i + 1]
        raise DataError(
            f"the {kind} frame jumps by about {np.degrees(2.0 * jumps[i]):.3g} deg at {curve.parameter} = "
            f"{at:.6g} {curve.unit}, where the path has a corner or starts to bend the other way; put a "
            "clothoid or a straight piece between the two parts, or use the frame 'rmf'"
        )


def _angle(
    transport: Transport, closed: bool, kind: str, up: Array, blend: str, signed: bool, least: float | None
) -> tuple[AngleFunction, list[float], list[str]]:
    """Angle psi of M about the tangent from the transported frame, its breaks, and notes for the report."""
    a, b = transport.breaks[0], transport.breaks[-1]
    if kind == "frenet":
        return frenet_angle(transport, closed, blend, signed, least)
    if kind == "upright":
        return upright_angle(transport, up), [], []
    rate = -transport.holonomy / (b - a) if closed else 0.0

    def spread(u: Array) -> Array:
        psi = np.zeros((4, len(u)))
        psi[0], psi[1] = rate * (u - a), rate
        return psi

    notes = []
    if closed:
        left = np.degrees(transport.holonomy)
        notes.append(
            f"the frame turns by {left:.4g} deg about the tangent in a lap; this angle is distributed evenly"
        )
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
            raise DataError(f"the table of the bank angle must have one component (got {bank.components})")
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
