"""Translates pydantic's validation errors into the terms of model files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, get_args

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from sekant.errors import ModelError, SekantError, clipped, nearest, one_error, suggest
from sekant.model.field_docs import field_docs
from sekant.model.quantities import Description, unit_of, wrong
from sekant.units import parse_unit

Read = TypeVar("Read", bound=Description)
_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a smaller whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping of names",
    "mapping_type": "a mapping of names",
    "model_type": "a mapping of keys",
    "model_attributes_type": "a mapping of keys",
    "none_required": "nothing",
}
_NUMBER_OR_TEXT = re.compile(
    r"(function-.*, )?(float|str|int|bool)\]?"
)  # pydantic's tags of choices of a union
_CHOICE = re.compile(r"function-(after|before|wrap|plain)\[")


def explain(
    error: ValidationError, cls: type[Description], path: Sequence[str | int] = ()
) -> list[ModelError]:
    """One `ModelError` for each fault of an item of class `cls` at `path` in the model."""
    found: dict[tuple[str | int, ...], ModelError] = {}
    faults = error.errors(include_url=False)
    for fault in faults:
        if _other_choice(fault, faults):
            continue
        at, owner, field = _locate(cls, fault["loc"])
        place = (*path, *at)
        if fault["type"] == "missing":
            message = f"'{at[-1]}' is missing{_wanted(field, owner, str(at[-1]))}" if at else "is missing"
            found.setdefault(place, ModelError(message, path=place[:-1]))
        else:
            message = _message(fault, owner, field)
            if fault["type"] == "value_error":
                named, message = _split(message, cls, at)
                place = (*place, *named)
            found.setdefault(place, ModelError(message, path=place))
    return list(found.values())


def read_as(cls: type[Read], given: Any, path: Sequence[str | int] = ()) -> Read:
    """`given` as an item of the class at `path` in the model; its faults as one error."""
    try:
        return cls.model_validate(given)
    except ValidationError as error:
        raise one_error(explain(error, cls, path)) from None


def fault_within(error: SekantError) -> PydanticCustomError:
    """An error of the containing field with the faults of a nested part, for validators to raise."""
    faults = getattr(error, "errors", (error,))
    texts = [": ".join(part for part in (".".join(map(str, f.path)), f.message) if part) for f in faults]
    return wrong("; ".join(texts))


def _other_choice(fault: Any, faults: Sequence[Any]) -> bool:
    """Whether a mapping was refused both as a mapping and as the number, text or object allowed in its place."""
    *before, last = fault["loc"] or ("",)
    n = len(before)
    return (
        isinstance(fault.get("input"), Mapping)
        and (fault["type"] == "is_instance_of" or _NUMBER_OR_TEXT.fullmatch(str(last)) is not None)
        and any(
            [*each["loc"][:n]] == before
            and each["type"] != "is_instance_of"
            and not _NUMBER_OR_TEXT.fullmatch(str(each["loc"][n]))
            for each in faults
            if len(each["loc"]) > n
        )
    )


def construction_fault(error: ValidationError, cls: type[Description]) -> SekantError:
    """The error that a call of the class `cls` raises: the class name before each fault; for unknown fields,
    the known ones."""
    found = explain(error, cls, (cls.__name__,))
    unknown = {(cls.__name__, *each["loc"]) for each in error.errors() if each["type"] == "extra_forbidden"}
    for fault in found:
        if len(fault.path) == 2 and fault.path in unknown:
            name = str(fault.path[-1])
            close = nearest(name, _keys(cls))
            hint = f"did you mean '{close}'? " if close else ""
            fault.message = f"unknown field '{clipped(name)}'; {hint}fields: {', '.join(_keys(cls))}"
            fault.path = fault.path[:1]
    return one_error(found)


def _split(message: str, cls: type[Description], at: tuple[str | int, ...]) -> tuple[tuple[str, ...], str]:
    """A message about a whole item that begins with the name of one of its fields: the field, the rest."""
    inner = _locate(cls, (*at, ""))[1]
    first, _, rest = message.partition(" ")
    named = first.removesuffix(":")
    return ((named,), rest) if rest and named in _keys(inner) else ((), message)


def kind_of(value: object) -> str:
    """The name of a value in a message: "a list", "text", ..."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"the text '{clipped(value)}'"
    if isinstance(value, (int, float)):
        return f"the number {value:g}" if abs(value) < 1e300 else "a huge number"
    if isinstance(value, (list, tuple)):
        return f"a list of length {len(value)}"
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    return type(value).__name__


def _message(fault: Any, owner: type[Description] | None, field: FieldInfo | None) -> str:
    kind, given = fault["type"], fault.get("input")
    context = fault.get("ctx", {})
    if kind == "extra_forbidden":
        key = str(fault["loc"][-1])
        return f"unknown key '{clipped(key)}'; {suggest(key, _keys(owner), 'keys')}"
    if kind == "value_error":
        return str(context.get("error", fault["msg"]))
    if kind == "literal_error":
        choices = [choice.strip(" '\"") for choice in context["expected"].replace(" or ", ", ").split(",")]
        hint = suggest(str(given), choices, "possible")
        return f"cannot be {kind_of(given)}; {hint}"
    if kind in ("too_long", "too_short"):
        limit = f"most {context['max_length']}" if kind == "too_long" else f"least {context['min_length']}"
        return f"has {context.get('actual_length')} values, but needs at {limit}"
    if kind in _EXPECTED:
        like = _example(field) if kind.startswith("model_") else ""
        return f"must be {_EXPECTED[kind]}{like}, not {kind_of(given)}"
    return fault["msg"]


def _example(field: FieldInfo | None) -> str:
    """The form of the items of a field: an example in the syntax of files, or the keys."""
    cls = None if field is None else _description_in(field.annotation)
    cls = cls.cls if isinstance(cls, _Items) else cls
    if not _is_description(cls):
        return ""
    shown = getattr(cls, "shown", None)
    if isinstance(shown, str) and shown:
        return f" such as {shown}"
    return f" ({', '.join(_keys(cls)[:8])}{', ...' if len(_keys(cls)) > 8 else ''})"


def _locate(
    cls: type[Description], location: Iterable[str | int]
) -> tuple[tuple[str | int, ...], type[Description] | None, FieldInfo | None]:
    """The location without pydantic's own tags; the class that owns its last part, and the field."""
    at: list[str | int] = []
    owner: type[Description] | None = cls
    inner: Any = cls
    field: FieldInfo | None = None
    for part in location:
        if isinstance(part, str) and _CHOICE.match(part):
            continue
        if _is_description(inner):
            if part in ("float", "str", "int", "bool") and part not in inner.model_fields:
                continue
            owner, field = inner, inner.model_fields.get(part)
            at.append(part)
            inner = None if field is None else _description_in(field.annotation)
        elif isinstance(inner, _Items):
            at.append(part)
            inner = inner.cls
        elif isinstance(part, int) or not ("[" in part or part in ("float", "str", "int", "bool")):
            at.append(part)
    return tuple(at), owner, field


def _is_description(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, Description)


def _description_in(annotation: Any) -> Any:
    """The description class in an annotation; for collections, that of the entries."""
    if _is_description(annotation):
        return annotation
    found = [inner for part in get_args(annotation) if (inner := _description_in(part)) is not None]
    if not found:
        return None
    return (
        found[0] if getattr(annotation, "__origin__", None) not in (dict, list, tuple) else _Items(found[0])
    )


class _Items:
    """A collection of descriptions: one part of the location is a name or an index."""

    def __init__(self, cls: Any):
        self.cls = cls


def _keys(owner: type[Description] | None) -> list[str]:
    return list(owner.model_fields) if owner is not None else []


def _wanted(field: FieldInfo | None, owner: type | None, name: str) -> str:
    if field is None:
        return ""
    unit = unit_of(field)
    text = f"; give {parse_unit(unit).kind} in {unit}" if unit else ""
    about = field_docs(owner).get(name) if owner is not None else None
    return f"{text} ({' '.join(about.split())})" if about else text
