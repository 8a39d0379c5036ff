"""Types of numbers in files of vehicles: as in models, with units, but no expressions: there are no parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, get_args

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from sekant.errors import ModelError
from sekant.model.expressions.expression import Expression
from sekant.model.quantities import Vector, read_value, unit_of, wrong


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


def plain_unit(field: Any) -> str | None:
    """The unit of a field of such numbers, or of quantities of models; None where any will do."""

    def found(part: Any) -> Iterator[number]:
        if isinstance(part, number):
            yield part
        for inner in (*getattr(part, "__metadata__", ()), *get_args(part)):
            yield from found(inner)

    own = [marker for part in (*field.metadata, field.annotation) for marker in found(part)]
    return own[0].unit if own else unit_of(field)


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
