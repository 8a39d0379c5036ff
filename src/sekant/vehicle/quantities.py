"""Types of numbers in files of vehicles. They have units as in models, but cannot be expressions, because these files
have no parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from sekant.model.expressions.expression import Expression
from sekant.model.quantities import Quantity, Vector, wrong

GRAVITY = 9.81  # m/s^2


@dataclass(frozen=True)
class number(Quantity):
    """Annotation of a number that has this unit in files and is in SI in memory.

    An empty unit means a dimensionless number, None means any unit.
    """

    def read(self, given: Any) -> float:
        value = super().read(given)
        if isinstance(value, Expression):
            raise wrong(
                f"'{value.text}' is not a number; expressions are not allowed here; write a number with its unit"
            )
        return value


Meters = Annotated[float, number("m")]
Radians = Annotated[float, number("rad")]
Kilograms = Annotated[float, number("kg")]
Newtons = Annotated[float, number("N")]
StiffnessNumber = Annotated[float, number("N/m")]
DampingNumber = Annotated[float, number("N*s/m")]
Plain = Annotated[float, number("")]
_Inertia = Annotated[float, number("kg*m^2")]
PointNumbers = Annotated[tuple[Meters, Meters, Meters], Vector()]
InertiaNumbers = Annotated[tuple[_Inertia, _Inertia, _Inertia], Vector(("Ixx", "Iyy", "Izz"))]
MetersPerSecond = Annotated[float, number("m/s")]
NewtonMeters = Annotated[float, number("N*m")]
SquareMeters = Annotated[float, number("m^2")]
Seconds = Annotated[float, number("s")]
