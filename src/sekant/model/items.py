"""The collections of a model, and the classes of the items in them, as the model itself declares them."""

from __future__ import annotations

from typing import Any, get_args, get_origin

from sekant.extensions import load_extensions
from sekant.model.model import Model
from sekant.model.quantities import Description


def _description_class(annotation: Any) -> type[Description] | None:
    if isinstance(annotation, type) and issubclass(annotation, Description):
        return annotation
    return next((cls for part in get_args(annotation) if (cls := _description_class(part)) is not None), None)


ITEM_CLASSES: dict[str, type[Description]] = {
    name: cls
    for name, field in Model.model_fields.items()
    if get_origin(field.annotation) is dict and (cls := _description_class(field.annotation)) is not None
}
"""Collection -> class of its items; their base where there are several types."""

COLLECTIONS = tuple(ITEM_CLASSES)
NAMED = ("parameters", "curves", *COLLECTIONS)
"""All keys of a model with entries by name."""

SINGLE = tuple(name for name, field in Model.model_fields.items() if get_origin(field.annotation) is not dict)
"""Keys of a model that contain no collection: name, gravity, ground, simulation, ..."""


def item_types(base: type[Description]) -> dict[str, type[Description]]:
    """The types derived from `base` by the names they have in files; empty where there is only one."""
    load_extensions()
    found: dict[str, type[Description]] = {}
    for cls in base.__subclasses__():
        name = cls.__dict__.get("type")
        if isinstance(name, str):
            found[name] = cls
        found.update(item_types(cls))
    return found
