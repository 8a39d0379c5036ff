"""Types of the numbers in a model: a quantity is a float in SI, or an `Expression`; on input also "12 mm".

Fields of the model classes are annotated with the aliases below, e.g. ``mass: Mass`` or ``com: Point``. They read
numbers (SI), expressions and texts with units, carry the unit for messages, documentation and schema, and define
how the field behaves under a reflection, for mirrored instances of templates:

=====================  ========================================================  =========================
alias                  holds                                                     mirrored about y
=====================  ========================================================  =========================
Length, Mass, ...      a scalar                                                  unchanged
HandedLength           a scalar that changes its sign (pitch of a screw)         -s
Point, ForceVector...  polar: force, velocity, position; Direction               (x, -y, z)
TorqueVector, ...      axial: torque, angular velocity; AxialDirection           (-x, y, -z)
Stiffnesses, ...       three numbers along the axes (bushing)                    unchanged
EulerAngles            angles about the axes named in the field `sequence`       those about x and z: -angle
Quaternion             (w, x, y, z), scalar first                                (w, -x, y, -z)
InertiaTensor          (Ixx, Iyy, Izz, Ixy, Ixz, Iyz), elements of the tensor    Ixy, Iyz change their sign
ZAxis                  where z of a frame is turned to, and its x, y along       (x, -y, z)
Mirror("coordinates")  start values of a joint: each `Coordinate` sets it        its `mirror`
=====================  ========================================================  =========================

Further aliases are made with ``PolarVector[Acceleration]``, ``AxialVector[...]``, ``PerAxis[...]``,
``Handed[...]``. A field that holds another description is mirrored field by field.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from sekant.cache.plain import Codec
from sekant.errors import ModelError, clipped, suggest
from sekant.model.construction import DescriptionClass
from sekant.model.expressions.expression import Expression
from sekant.model.field_docs import field_docs
from sekant.units import check_name, convert, is_unit, parse_unit

Value = float | Expression
"""A number of the model: known (SI), or computed from parameters and the motion."""

T = TypeVar("T")
MirrorKind = Literal[
    "none", "handed", "polar", "axial", "z_axis", "euler", "quaternion", "inertia", "coordinates"
]


class Description(BaseModel, metaclass=DescriptionClass):
    """Base of every class that describes a part of a model: frozen; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)
    shown: ClassVar[str] = ""  # an example for readers, as a file has it, where no random instance serves

    def changed(self, **update: Any) -> Self:
        """A copy with other values of some fields, validated like a new item."""
        return type(self)(**({name: getattr(self, name) for name in self.model_fields_set} | update))

    def mirror_changes(self, plane: str) -> dict[str, Any]:
        """Fields of the mirror image about `plane` ("x", "y" or "z") that do not follow from the annotations of
        fields.

        Most types have none: the annotations of quantities, directions and coordinates define how they are mirrored.
        """
        return {}

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None:
            if not name.startswith("_"):
                if name not in type(self).model_fields:
                    known = suggest(name, list(type(self).model_fields), "fields")
                    raise ModelError(f"there is no such field; {known}", path=(type(self).__name__, name))
                raise ModelError(
                    f"cannot be changed in place; make a changed copy with .changed({name}=...)",
                    path=(type(self).__name__, name),
                )
            super().__setattr__(name, value)

        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError as error:
                if name.startswith("_"):
                    raise
                raise _NoField(str(error), name, type(self)) from None

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """The schema, with the docstrings below the fields as their descriptions."""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, text in field_docs(cls).items():
            if name in properties:
                properties[name].setdefault("description", text)
        return schema


class _NoField(AttributeError):
    """Similar names are searched only when the message is read: most callers that access a field have a default."""

    def __init__(self, message: str, name: str, kind: type[BaseModel]):
        super().__init__(message, name, kind)

    def __str__(self) -> str:
        message, name, kind = self.args
        return f"{message}; {suggest(name, list(kind.model_fields), 'fields')}"


def wrong(message: str) -> PydanticCustomError:
    """An error for validators to raise; `explain` shows `message` unchanged."""
    return PydanticCustomError("sekant", "{message}", {"message": message})


_LITERAL = re.compile(r"\s*([+-]?\s*(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(.*?)\s*", re.DOTALL)


class Given(float):
    """A value in SI that was given as `number` with the unit `text`, whose dimension is not yet checked."""

    def __new__(cls, value: float, number: float, text: str) -> Given:
        made = super().__new__(cls, value)
        made.number, made.text = number, text
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Given, (float(self), self.number, self.text)

    number: float
    text: str


Codec(Given, __name__, lambda given: (float(given), given.number, given.text), lambda parts: Given(*parts))


def read_value(given: object, unit: str | None) -> Value:
    """`given` as a number in SI, or an expression; raises `ModelError`.

    `unit` is the one expected: "" or "1" for a plain number, None for any unit (a parameter).
    """
    if isinstance(given, (Expression, Given)):
        return given
    if isinstance(given, bool):
        raise ModelError(f"{str(given).lower()} is not a number; write {_form(unit)}")
    if isinstance(given, str):
        return _read_text(given, unit)
    if given is None:
        raise ModelError(f"the value is missing; write {_form(unit)}")
    if isinstance(given, (list, tuple, Mapping)):
        what = "a mapping" if isinstance(given, Mapping) else f"a list of length {len(given)}"
        raise ModelError(f"got {what}, but one number is expected; write {_form(unit)}")
    try:
        value = float(given)  # pyright: ignore[reportArgumentType]
    except OverflowError:
        raise ModelError(f"the number is too large; write {_form(unit)}") from None
    except (TypeError, ValueError, RuntimeError, NotImplementedError):
        raise ModelError(f"{clipped(repr(given))} is not a number; write {_form(unit)}") from None
    if not math.isfinite(value):
        raise ModelError(f"{value} is not a finite number; write {_form(unit)}")
    return value


def _read_text(text: str, unit: str | None) -> Value:
    if not text.strip():
        raise ModelError(f"the text is empty; write {_form(unit)}")
    literal = _LITERAL.fullmatch(text)
    if literal is None:
        return Expression(text)
    number, suffix = float(literal[1].replace(" ", "")), literal[2]
    if not math.isfinite(number):
        raise ModelError(f"the number '{text.strip()}' is too large")
    if suffix:
        try:
            parse_unit(suffix)
        except ModelError:
            return Expression(text)
        value = convert(number, suffix, suffix if unit is None else unit)
        return Given(value, number, suffix) if unit is None else value
    if unit in (None, "", "1"):
        raise ModelError(f"'{text.strip()}' is text; write the number without quotes")
    example = next((name for name in parse_unit(unit).examples[1:] if is_unit(name)), unit)
    raise ModelError(
        f"'{text.strip()}' has no unit; write it with one ('{text.strip()} {example}') "
        f"or as a plain number in {unit}, without quotes"
    )


def _form(unit: str | None) -> str:
    """The ways to write a value in `unit`, for messages."""
    if unit is None:
        return "a number, one with a unit ('12 mm'), or an expression"
    if unit in ("", "1"):
        return "a number or an expression"
    example = next((name for name in parse_unit(unit).examples[1:]), unit)
    return f"a number in {unit}, '12 {example}', or an expression"


def _unit_name(text: str) -> str:
    try:
        return check_name(text)
    except ModelError as error:
        raise wrong(
            f"{error.message} (this entry is the unit of the values next to it; write '1' for values "
            "without a unit)"
        ) from None


UnitName = Annotated[str, AfterValidator(_unit_name)]
"""Unit of a value, for readers."""


def write_value(value: object) -> Any:
    """A value as it is written to a file: a number, or the text of an expression."""
    return (
        value.text if isinstance(value, Expression) else float(value) if isinstance(value, Given) else value
    )


class InUnit:
    """Base of annotations for numbers in a `unit` ("" for plain numbers, None for any unit)."""

    unit: str | None

    def read(self, given: object) -> Any:
        """The checked value; raises an error of pydantic."""
        raise NotImplementedError(f"{type(self).__name__} does not implement 'read'")

    @staticmethod
    def written(value: Any) -> Any:
        """The value as it is written to a file."""
        return write_value(value)

    @property
    def number_schema(self) -> dict[str, Any]:
        """The JSON schema of one number."""
        return {"type": ["number", "string"], **({} if self.unit is None else {"x-unit": self.unit or "1"})}

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        serialization = core_schema.plain_serializer_function_ser_schema(self.written)
        return core_schema.no_info_plain_validator_function(self.read, serialization=serialization)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return self.number_schema


@dataclass(frozen=True)
class Quantity(InUnit):
    """Annotation of a scalar."""

    unit: str | None

    def read(self, given: object) -> Value:
        try:
            return read_value(given, self.unit)
        except ModelError as error:
            raise wrong(error.message) from None


@dataclass(frozen=True)
class Sign:
    """Annotation of a scalar that must be positive; or, with `zero`, must not be negative; `why`: what to do then."""

    zero: bool = False
    why: str = ""

    def read(self, value: Any) -> Any:
        if isinstance(value, float) and (value < 0 or (value == 0 and not self.zero)):
            raise wrong(f"must {'not be negative' if self.zero else 'be positive'} (got {value:g}){self.why}")
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.read, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), ("minimum" if self.zero else "exclusiveMinimum"): 0}


@dataclass(frozen=True)
class Mirror:
    """Annotation: how the field behaves under a reflection. Without one it does not change."""

    kind: MirrorKind


@dataclass(frozen=True)
class Reference:
    """Annotation of a string that is the name of another item of the model, so that instances can rename it."""


FrameName = Annotated[str, Reference()]
"""``body``, ``body.frame``, ``ground`` or ``ground.frame``."""
JointName = Annotated[str, Reference()]
TableName = Annotated[str, Reference()]
CurveName = Annotated[str, Reference()]
SignalName = Annotated[str, Reference()]


@dataclass(frozen=True)
class Vector:
    """Annotation of a tuple: the number of its entries, their names, and other notations."""

    labels: tuple[str, ...] = ("x", "y", "z")
    prepare: Callable[[Any], Any] | None = None
    """Converts other notations to a list; raises `ModelError`."""

    def read(self, given: object) -> list[Any]:
        try:
            return self._check(self.prepare(given) if self.prepare is not None else given)
        except ModelError as error:
            raise wrong(error.message) from None

    def _check(self, given: Any) -> list[Any]:
        number, names = len(self.labels), ", ".join(self.labels)
        if len(getattr(given, "shape", ())) == 1:
            given = given.tolist()
        if not isinstance(given, (list, tuple)):
            what = "the value is missing" if given is None else f"got {clipped(repr(given))}"
            raise ModelError(f"{what}, but a list of {number} values is expected: [{names}]")
        if len(given) != number:
            raise ModelError(
                f"got a list of length {len(given)}, but {number} values are expected: [{names}]"
            )
        return list(given)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.read, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        listed = handler(schema)
        return listed if self.prepare is None else {"anyOf": [listed, {"type": ["array", "object"]}]}


def _list_inertia(given: Any) -> Any:
    """(Ixx, Iyy, Izz), a symmetric 3 x 3 matrix or {xx: .., xy: ..} as the list of six."""
    if isinstance(given, Mapping):
        if not set(_INERTIA[:3]) <= set(given) <= set(_INERTIA):
            keys = ", ".join(str(key) for key in given)
            raise ModelError(
                "an inertia needs the keys xx, yy and zz, and may also have xy, xz and yz (got "
                f"{keys or 'none'})"
            )
        return [given.get(key, 0.0) for key in _INERTIA]
    if hasattr(given, "shape"):
        given = given.tolist()
    if not isinstance(given, (list, tuple)) or len(given) != 3:
        return given
    rows = [row for row in given if isinstance(row, (list, tuple))]
    if not rows:
        return [*given, 0.0, 0.0, 0.0]
    if len(rows) != 3 or any(len(row) != 3 for row in rows):
        raise ModelError("the inertia matrix must have 3 rows of 3 numbers")
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if rows[i][j] != rows[j][i]:
            raise ModelError(
                f"the inertia matrix is not symmetric: {rows[i][j]} and {rows[j][i]} should be equal"
            )
    return [rows[0][0], rows[1][1], rows[2][2], rows[0][1], rows[0][2], rows[1][2]]


_INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")


def is_known(value: object, number: float) -> bool:
    """Whether a value is exactly this number, not a symbol that may have it at run time."""
    return isinstance(value, (int, float)) and value == number


def quantity(unit: str | None) -> Any:
    """The type of a scalar in `unit`: "" for a plain number, None for any unit."""
    return Annotated[Value, Quantity(unit)]


ANY = None
"""Annotation of a scalar of any unit."""
AnyQuantity = Annotated[Value, Quantity(ANY)]
"""A scalar of any unit: a parameter, or a number whose unit depends on another field."""
Length = Annotated[Value, Quantity("m")]
Angle = Annotated[Value, Quantity("rad")]
Mass = Annotated[Value, Quantity("kg")]
MomentOfInertia = Annotated[Value, Quantity("kg*m^2")]
Time = Annotated[Value, Quantity("s")]
Velocity = Annotated[Value, Quantity("m/s")]
AngularVelocity = Annotated[Value, Quantity("rad/s")]
Acceleration = Annotated[Value, Quantity("m/s^2")]
Force = Annotated[Value, Quantity("N")]
Torque = Annotated[Value, Quantity("N*m")]
Stiffness = Annotated[Value, Quantity("N/m")]
Damping = Annotated[Value, Quantity("N*s/m")]
RotationalStiffness = Annotated[Value, Quantity("N*m/rad")]
RotationalDamping = Annotated[Value, Quantity("N*m*s/rad")]
Slowness = Annotated[Value, Quantity("s/m")]
Dimensionless = Annotated[Value, Quantity("")]

Positive = Annotated[T, Sign()]
NotNegative = Annotated[T, Sign(zero=True)]
Restoring = Annotated[T, Sign(zero=True, why=": for a negative one, use a table or an expression")]
"""A stiffness or a damping."""

Handed = Annotated[T, Mirror("handed")]
PolarVector = Annotated[tuple[T, T, T], Vector(), Mirror("polar")]
AxialVector = Annotated[tuple[T, T, T], Vector(), Mirror("axial")]
PerAxis = Annotated[tuple[T, T, T], Vector()]

Point = PolarVector[Length]
Direction = PolarVector[Dimensionless]
VelocityVector = PolarVector[Velocity]
AccelerationVector = PolarVector[Acceleration]
ForceVector = PolarVector[Force]
AxialDirection = AxialVector[Dimensionless]
AngularVelocityVector = AxialVector[AngularVelocity]
TorqueVector = AxialVector[Torque]
Stiffnesses = PerAxis[Restoring[Stiffness]]
Dampings = PerAxis[Restoring[Damping]]
RotationalStiffnesses = PerAxis[Restoring[RotationalStiffness]]
RotationalDampings = PerAxis[Restoring[RotationalDamping]]
HandedLength = Handed[Length]
ZAxis = Annotated[tuple[Dimensionless, Dimensionless, Dimensionless], Vector(), Mirror("z_axis")]
EulerAngles = Annotated[tuple[Angle, Angle, Angle], Vector(("first", "second", "third")), Mirror("euler")]
Quaternion = Annotated[
    tuple[Dimensionless, Dimensionless, Dimensionless, Dimensionless],
    Vector(("w", "x", "y", "z")),
    Mirror("quaternion"),
]
InertiaTensor = Annotated[
    tuple[
        MomentOfInertia, MomentOfInertia, MomentOfInertia, MomentOfInertia, MomentOfInertia, MomentOfInertia
    ],
    Vector(tuple(f"I{key}" for key in _INERTIA), _list_inertia),
    Mirror("inertia"),
]


def _markers(parts: Iterable[Any]) -> Iterable[Any]:
    """All nested annotations, from the outside in, through Optional, tuples and lists."""
    for part in parts:
        if isinstance(part, (InUnit, Mirror, Reference, Vector)):
            yield part
        yield from _markers(getattr(part, "__metadata__", ()))
        if not isinstance(part, type) or get_args(part):
            yield from _markers(get_args(part))


_OF_FIELDS: dict[int, tuple[Any, tuple[Any, ...]]] = {}
"""Cache of the markers of class fields, by the identity of the field (classes are never deleted)."""


def markers_of(field: Any) -> tuple[Any, ...]:
    """The markers of this module on a pydantic `FieldInfo`, an annotation, or a tuple of both."""
    if isinstance(field, tuple):
        return tuple(_markers(field))
    if not hasattr(field, "annotation"):
        return tuple(_markers((field,)))
    if id(field) not in _OF_FIELDS:
        _OF_FIELDS[id(field)] = field, tuple(_markers((*field.metadata, field.annotation)))
    return _OF_FIELDS[id(field)][1]


def unit_of(field: Any) -> str | None:
    """The unit of a field ("" for a plain number); None if it is not a quantity, or of any unit."""
    return next((marker.unit for marker in markers_of(field) if isinstance(marker, Quantity)), None)


def negative(value: Value) -> Value:
    """-value, of a number or an expression."""
    return value.negated() if isinstance(value, Expression) else 0.0 - value


def mirror_of(field: Any) -> MirrorKind:
    """The behavior of a field under a reflection."""
    for marker in markers_of(field):
        if isinstance(marker, Mirror):
            return marker.kind
    return "none"


def mirror_sign(behavior: str, plane: str) -> float:
    """Sign that a number takes when its mechanism is mirrored about `plane`.

    `behavior`: "same", "opposite", or the component it is of a polar or axial vector: "polar x", "axial z".
    """
    if behavior in ("same", "opposite"):
        return 1.0 if behavior == "same" else -1.0
    kind, component = behavior.split()
    return -1.0 if (kind == "polar") == (component == plane) else 1.0


def is_reference(field: Any) -> bool:
    """Whether a field names another item of the model."""
    return any(isinstance(marker, Reference) for marker in markers_of(field))
