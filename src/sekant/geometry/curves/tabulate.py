"""Pose curves from formulas: pieces, range, report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.geometry.curves.formulas import PoseFormula, TableFormula
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.curves.refinement import Pieces, refine
from sekant.geometry.fit.report import FitReport
from sekant.tables.pieces import shift_polynomial
from sekant.tables.table import Table

Array = NDArray[np.float64]
TOLERANCE = 1e-10
"""Default tolerance: position [m], rotation [rad], and twist and its rate as shares of their largest values."""


def tabulated(
    formula: PoseFormula,
    report: FitReport,
    *,
    tolerance: float = TOLERANCE,
    degree: int | None = None,
    extrapolation: str = "error",
    increment: Array | None = None,
    **curve: Any,
) -> PoseCurve:
    """The curve of a formula; `curve`: fields of `PoseCurve`. The report contains the errors reached."""
    pieces = refine(formula.jet, formula.breaks, formula.orientation, tolerance=tolerance, degree=degree)
    name = curve.get("name", "")
    table = Table(pieces.breaks, pieces.coefficients, extrapolation, name, increment=increment)
    result = PoseCurve(table, formula.orientation, report=report, formula=formula, **curve)
    if extrapolation == "periodic":
        result.check_closed()
    return result.reported(**achieved(pieces, tolerance), continuity=str(result.continuity))


def achieved(pieces: Pieces, tolerance: float) -> dict[str, Any]:
    """Entries of a report about pieces of a formula."""
    seen = pieces.errors
    return {
        "pieces": len(pieces.coefficients),
        "degree": pieces.coefficients.shape[2] - 1,
        "tolerance": tolerance,
        "between_nodes": (seen.position, seen.rotation, *seen.twist, *seen.twist_rate),
    }


def formula_of(curve: PoseCurve) -> PoseFormula:
    """The formula of the curve, or its own pieces."""
    return curve.formula or TableFormula(curve.table, curve.orientation)


def retabulated(
    curve: PoseCurve,
    formula: PoseFormula,
    tolerance: float | None,
    report: FitReport,
    increment: Array | None,
    **changes: Any,
) -> PoseCurve:
    """`curve` with another formula; the tolerance is by default that of its report."""
    if tolerance is None:
        known = None if curve.formula is None or curve.report is None else curve.report.tolerance
        tolerance = TOLERANCE if known is None else known
    result = tabulated(
        formula,
        report,
        tolerance=tolerance,
        extrapolation=curve.extrapolation,
        increment=increment,
        name=curve.name,
        R_constant=np.eye(3) if formula.orientation == "quaternion" else curve.R_constant,
        **{"parameter": curve.parameter, "unit": curve.unit, **changes},
    )
    # a curve made from pieces is no more accurate than these
    return result if curve.formula is not None else replace(result, formula=None)


def with_positions_of(curve: PoseCurve, table: Table) -> PoseCurve:
    """`curve`, whose breaks include those of `table`, with exactly the positions of `table`."""
    breaks, c = curve.table.breaks, curve.table.coefficients
    owner = np.clip(
        np.searchsorted(table.breaks, breaks[:-1], side="right") - 1, 0, len(table.coefficients) - 1
    )
    k = max(c.shape[2], table.powers)
    merged = np.zeros((*c.shape[:2], k))
    merged[:, 3:, : c.shape[2]] = c[:, 3:]
    local = breaks[:-1] - table.breaks[owner]
    for i, (piece, at) in enumerate(zip(owner, local, strict=True)):
        position = table.coefficients[piece, :3]
        merged[i, :3, : table.powers] = position if at == 0.0 else shift_polynomial(position, float(at))
    t = curve.table
    increment = t.increment if curve.closed else None
    return replace(curve, table=Table(breaks, merged, t.extrapolation, t.name, t.unit, increment))
