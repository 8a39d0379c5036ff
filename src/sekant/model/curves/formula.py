"""Curves given by formulas of their parameter."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, model_validator

from sekant.errors import DataError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.rotations import check_sequence
from sekant.model.curves.base import Framed, Surroundings, check_parameter, increasing, numbers, register
from sekant.model.quantities import ANY, AnyQuantity, Dimensionless, Length, PerAxis, Quantity, Value, Vector

Pair = Annotated[tuple[AnyQuantity, AnyQuantity], Vector(("start", "end"))]
Triple = PerAxis[Length]
Turn = Annotated[Value, Quantity(ANY)]


def _read_rotation(given: Any) -> dict[str, tuple[Any, ...]]:
    """Notation and components of ``{zyx: [...]}`` (any Euler sequence), ``{quaternion: [...]}`` or
    ``{matrix: [...]}``, a matrix row by row; raises `ValueError`."""
    if not isinstance(given, dict) or len(given) != 1:
        raise ValueError("must be {zyx: [a, b, c]}, {quaternion: [w, x, y, z]} or {matrix: [3 rows of 3]}")
    notation, parts = next(iter(given.items()))
    parts = list(parts) if isinstance(parts, (list, tuple)) else [parts]
    if notation == "matrix":
        if len(parts) != 3 or any(not isinstance(row, (list, tuple)) or len(row) != 3 for row in parts):
            raise ValueError("write 3 rows of 3 numbers")
        return {notation: tuple(entry for row in parts for entry in row)}
    if notation == "quaternion":
        wanted = 4
    else:
        try:
            wanted = len(check_sequence(str(notation)))
        except DataError as error:
            raise ValueError(error.message) from None
    if len(parts) != wanted:
        raise ValueError(f"'{notation}' needs {wanted} value{'s' if wanted > 1 else ''} (got {len(parts)})")
    return {str(notation): tuple(parts)}


Rotation = Annotated[dict[str, tuple[Turn, ...]], BeforeValidator(_read_rotation)]


@register
class Formula(Framed):
    """The position, and optionally the rotation, as expressions of one parameter."""

    key: ClassVar[str] = "position"
    shown: ClassVar = "{parameter: x, range: [-2, 2], position: [x, 0, x^2], frame: upright}"
    summary: ClassVar[str] = "the position, and optionally the rotation, as formulas of one parameter"
    functions: ClassVar[tuple[str, ...]] = ("position", "rotation", "bank")

    position: Triple
    """x, y, z of the path, as expressions of the parameter"""
    parameter: str = "u"
    """name of the parameter in the expressions"""
    unit: str = ""
    """SI unit of the parameter: m, rad, or empty"""
    range: Pair
    """first and last value of the parameter"""
    rotation: Rotation | None = None
    """rotation in terms of the parameter, as {zyx: [...]} (or any other Euler sequence), {quaternion: [...]}
    or {matrix: [...]}"""
    breaks: tuple[AnyQuantity, ...] = ()
    """values of the parameter at which the formulas have kinks"""
    arc_length: bool = False
    """whether the coordinate is the arc length of the path, instead of the parameter"""
    tolerance: Dimensionless = 1e-10
    """largest error of the stored piecewise polynomials: in m for the position, in rad for the rotation, and
    relative to the largest value for the twist and for its rate"""

    @model_validator(mode="after")
    def _fits_together(self):
        check_parameter(self.parameter)
        if self.rotation is not None and self.frame is not None:
            raise ValueError("the orientation is given twice, by rotation and by frame; remove one")
        return self

    def build(self, around: Surroundings) -> PoseCurve:
        import casadi as ca

        symbol = ca.SX.sym(self.parameter)  # type: ignore[call-arg]
        symbols = {self.parameter: symbol}
        position = around.column(self.position, symbols, ("position",))
        rotation, orientation = None, "quaternion"
        if self.rotation is not None:
            ((notation, parts),) = self.rotation.items()
            rotation = around.column(parts, symbols, ("rotation", notation))
            if notation == "matrix":
                rotation = ca.reshape(rotation, 3, 3).T
            elif notation != "quaternion":
                orientation = f"euler:{notation}"
        return PoseCurve.from_expression(
            symbol,
            position,
            increasing(self.range, ("range",)),
            rotation,
            orientation=orientation,
            tolerance=float(self.tolerance),  # type: ignore[arg-type]
            breaks=numbers(self.breaks),
            parameter=self.parameter,
            unit=self.unit,
            extrapolation=self.outside,
            name=around.name,
            arc_length=self.arc_length,
            **self.frame_options("s" if self.arc_length else self.parameter, around),
        )
