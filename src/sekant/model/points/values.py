"""Numbers of mechanisms modeled with points: quantities as in other models, and in Python also CasADi expressions.

A file contains numbers, numbers with units and expressions as text. In Python, a value can also be a CasADi
expression of the symbols of points and angles (`A.x`, `A.velocity`, `m.t`): it works in every analysis, but cannot
be written to a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import GetJsonSchemaHandler
from pydantic_core import CoreSchema

from sekant.model.quantities import InUnit, Quantity, write_value, wrong


def is_symbolic(value: object) -> bool:
    """Whether a value is a CasADi expression (without loading CasADi)."""
    return type(value).__name__ == "SX" and type(value).__module__.startswith("casadi")


@dataclass(frozen=True)
class Symbolic(Quantity):
    """Annotation of a scalar that may be a CasADi expression too."""

    def read(self, given: object) -> Any:
        if not is_symbolic(given):
            return super().read(given)
        if given.numel() != 1:  # type: ignore[attr-defined]
            raise wrong(f"got an expression with {given.numel()} components, but one component is expected")  # type: ignore[attr-defined]
        return super().read(float(given)) if given.is_constant() else given  # type: ignore[attr-defined, arg-type]

    @staticmethod
    def written(value: Any) -> Any:
        return value.serialize() if is_symbolic(value) else write_value(value)


@dataclass(frozen=True)
class Components(InUnit):
    """Annotation of a tuple of numbers in one unit: allowed `sizes`, and whether a single number is allowed."""

    unit: str | None
    sizes: tuple[int, ...] = (2, 3)
    single: bool = False

    def read(self, given: object) -> tuple[Any, ...]:
        one = Symbolic(self.unit)
        if is_symbolic(given):
            given = [given[i] for i in range(given.numel())]  # type: ignore[index, attr-defined]
        elif hasattr(given, "tolist"):
            given = given.tolist()  # type: ignore[attr-defined]
        if not isinstance(given, (list, tuple)):
            if self.single:
                return (one.read(given),)
            what = "nothing" if given is None else repr(given) if len(repr(given)) < 40 else "one value"
            raise wrong(f"must be a list of {self._wanted} (got {what})")
        if self.sizes and len(given) not in self.sizes and not (self.single and len(given) == 1):
            raise wrong(f"must be a list of {self._wanted} (got {len(given)})")
        return tuple(one.read(entry) for entry in given)

    @property
    def _wanted(self) -> str:
        counts = " or ".join(str(size) for size in self.sizes)
        return f"{counts} numbers" if counts else "numbers"

    @staticmethod
    def written(value: Any) -> Any:
        return [Symbolic.written(entry) for entry in value]

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        row: dict[str, Any] = {"type": "array", "items": self.number_schema}
        return {"anyOf": [self.number_schema, row]} if self.single else row


@dataclass(frozen=True)
class Moments(InUnit):
    """Annotation of an inertia about the center of mass: a number, three, or a symmetric (3, 3) matrix, kg m^2."""

    unit = "kg*m^2"

    def read(self, given: object) -> Any:
        if hasattr(given, "tolist") and not is_symbolic(given):
            given = given.tolist()  # type: ignore[attr-defined]
        if isinstance(given, Mapping):
            raise wrong("must be a number, three numbers or a symmetric (3, 3) matrix, not a mapping")
        if not isinstance(given, (list, tuple)):
            return self._one(given)
        if len(given) != 3:
            raise wrong(
                "must be a number, three numbers or a symmetric (3, 3) matrix (got a list of length "
                f"{len(given)})"
            )
        rows = [isinstance(row, (list, tuple)) for row in given]
        if not any(rows):
            return tuple(self._one(entry) for entry in given)
        if not all(rows) or any(len(row) != 3 for row in given):
            raise wrong("the inertia matrix must have 3 rows of 3 numbers")
        return tuple(tuple(self._one(entry) for entry in row) for row in given)

    def _one(self, given: object) -> Any:
        return Quantity(self.unit).read(given)

    @staticmethod
    def written(value: Any) -> Any:
        return [Moments.written(entry) for entry in value] if isinstance(value, tuple) else write_value(value)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        one = self.number_schema
        return {"anyOf": [one, {"type": "array", "items": {"anyOf": [one, {"type": "array", "items": one}]}}]}


Length = Annotated[Any, Symbolic("m")]
Mass = Annotated[Any, Symbolic("kg")]
MomentOfInertia = Annotated[Any, Symbolic("kg*m^2")]
Stiffness = Annotated[Any, Symbolic("N/m")]
Damping = Annotated[Any, Symbolic("N*s/m")]
RotationalStiffness = Annotated[Any, Symbolic("N*m/rad")]
RotationalDamping = Annotated[Any, Symbolic("N*m*s/rad")]
Force = Annotated[Any, Symbolic("N")]
Angle = Annotated[Any, Symbolic("rad")]
Number = Annotated[Any, Symbolic("")]
Anything = Annotated[Any, Symbolic(None)]
Position = Annotated[Any, Components("m")]
"""(dim,) m in W."""
VelocityVector = Annotated[Any, Components("m/s")]
ForceVector = Annotated[Any, Components("N")]
Torque = Annotated[Any, Components("N*m", (1, 3), single=True)]
"""A number in the plane, (3,) in W in space."""
Direction = Annotated[Any, Components("")]
Numbers = Annotated[Any, Components(None)]
FrameLengths = Annotated[Any, Components(None, (1, 3))]
Values = Annotated[Any, Components(None, (), single=True)]
"""One expression or a list of them."""
Inertia = Annotated[Any, Moments()]
