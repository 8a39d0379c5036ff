"""Types of numbers in files of vehicles: as in models, with units, but no expressions: there are no parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from sekant.errors import ModelError
from sekant.model.expressions.expression import Expression
from sekant.model.quantities import Vector, read_value, wrong


@dataclass(frozen=True)
class number:
    """Annotation: a number with this unit in files, SI inside; an empty unit has none, None is any."""

    unit: str | None

    def read(self, given: Any) -> float:
        try:
            value = read_value(given, self.unit)
        except ModelError as error:
            raise wrong(error.message) from None
        if isinstance(value, Expression):
            raise wrong(
                f"'{value.text}' is no number; write one out, with its unit; expressions cannot stand here"
            )
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.read, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        unit = {} if self.unit is None else {"x-unit": self.unit or "1"}
        return {"type": ["number", "string"], **unit}


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
