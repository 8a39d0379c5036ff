"""Constructors of descriptions: they accept keyword arguments only and have readable errors and signatures."""

from __future__ import annotations

import re
from inspect import Parameter, Signature, formatannotation
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from sekant.errors import ModelError

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)


class DescriptionClass(ModelMetaclass):
    """Metaclass of descriptions. It changes only direct calls of the class; nested items are validated by
    pydantic as usual."""

    if not TYPE_CHECKING:

        def __call__(cls, *values, **fields):
            if values:
                names = ", ".join(cls.model_fields)
                raise ModelError(f"accepts keyword arguments only: {names}", path=(cls.__name__,))
            try:
                return super().__call__(**fields)
            except ValidationError as error:
                from sekant.model.explain import construction_fault

                raise construction_fault(error, cls) from None

    @property
    def __signature__(cls) -> Signature:
        """Fields with their units and defaults, required ones first, as editors and notebooks show them."""
        fields: dict[str, Any] = vars(cls)["__pydantic_fields__"]
        given = [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                annotation=_Shown(form_of(field)),
                default=Parameter.empty if field.is_required() else _default(field),
            )
            for name, field in fields.items()
        ]
        return Signature(sorted(given, key=lambda one: one.default is not Parameter.empty))

    @__signature__.setter
    def __signature__(cls, value: Any) -> None:
        """Pydantic's own signature does not show units."""


class _Shown:
    """An annotation whose `repr` is a given string."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _default(field: Any) -> Any:
    value = field.get_default(call_default_factory=True)
    return _Shown(f"{type(value).__name__}()") if isinstance(value, BaseModel) else value


_MODULES = re.compile(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])")
_ANNOTATED = re.compile(r"Annotated\[(\w+), \w+\(\)\]")


def _containers(annotation: Any) -> str:
    """``list of list of`` for a matrix, ``dict of`` for a mapping; empty for a number."""
    if get_origin(annotation) in (Union, UnionType):
        annotation = get_args(annotation)[0]
    kind = {tuple: "list of ", dict: "dict of "}.get(get_origin(annotation), "")
    return kind + _containers(get_args(annotation)[kind.startswith("dict")]) if kind else ""


def form_of(field: Any) -> str:
    """The type of a field, for readers: ``kg``, ``[x, y, z] m``, ``name``, ``bool``."""
    from sekant.model.quantities import Quantity, Reference, Vector, markers_of, mirror_of

    if mirror_of(field) == "coordinates":
        return "number, or one per coordinate"
    markers = markers_of(field)
    unit = next((m.unit for m in markers if isinstance(m, Quantity)), "")
    labels = next((m.labels for m in markers if isinstance(m, Vector)), ())
    if any(isinstance(m, Quantity) for m in markers):
        what = "number of any unit" if unit is None else unit or "number"
        return f"[{', '.join(labels)}] {what}" if labels else _containers(field.annotation) + what
    if any(isinstance(m, Reference) for m in markers):
        return "name"
    text = _MODULES.sub("", formatannotation(field.annotation)).removesuffix(" | None")
    return _ANNOTATED.sub(r"\1", text)
