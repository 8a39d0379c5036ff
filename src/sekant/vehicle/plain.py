"""Types of numbers in files of vehicles: as in models, with units, but no expressions: there are no parameters."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from sekant.errors import ModelError
from sekant.model.expressions.expression import Expression
from sekant.model.quantities import Vector, read_value, wrong


def number(unit: str | None) -> BeforeValidator:
    def read(given: Any) -> float:
        try:
            value = read_value(given, unit)
        except ModelError as error:
            raise wrong(error.message) from None
        if isinstance(value, Expression):
            raise wrong(
                f"'{value.text}' is no number; write one out, with its unit; expressions cannot stand here"
            )
        return value

    return BeforeValidator(read)


Metres = Annotated[float, number("m")]
Radians = Annotated[float, number("rad")]
Kilograms = Annotated[float, number("kg")]
Newtons = Annotated[float, number("N")]
StiffnessNumber = Annotated[float, number("N/m")]
DampingNumber = Annotated[float, number("N*s/m")]
Plain = Annotated[float, number("")]
_Inertia = Annotated[float, number("kg*m^2")]
PointNumbers = Annotated[tuple[Metres, Metres, Metres], Vector()]
InertiaNumbers = Annotated[tuple[_Inertia, _Inertia, _Inertia], Vector(("Ixx", "Iyy", "Izz"))]
MetresPerSecond = Annotated[float, number("m/s")]
NewtonMetres = Annotated[float, number("N*m")]
SquareMetres = Annotated[float, number("m^2")]
Seconds = Annotated[float, number("s")]
