"""From plain data (as in a YAML file) to a `Model`, with errors that name the item."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from sekant.errors import ModelError, SekantError, one_error, suggest
from sekant.model.constraints import constraint_class
from sekant.model.contacts import contact_class
from sekant.model.curves import GEOMETRY, CurveSource, Surroundings, source_class
from sekant.model.curves.cached import cached_geometry
from sekant.model.explain import kind_of, read_as
from sekant.model.expressions.expression import Expression
from sekant.model.fields import replace_numbers
from sekant.model.forces import force_class
from sekant.model.items import ITEM_CLASSES
from sekant.model.joints import joint_class
from sekant.model.model import Ground, Model
from sekant.model.points.natural import Natural
from sekant.model.quantities import ANY, Description, read_value
from sekant.model.resolve import parameter_values
from sekant.model.sensors import sensor_class
from sekant.model.settings import SimulationSettings, View
from sekant.model.shapes import shape_class
from sekant.model.signals import signal_class

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_TYPES: dict[str, Callable[[Any, tuple], type[Description]]] = {
    "joints": joint_class,
    "forces": force_class,
    "constraints": constraint_class,
    "contacts": contact_class,
    "sensors": sensor_class,
    "signals": signal_class,
    "shapes": shape_class,
}
_SINGLE = {"ground": Ground, "simulation": SimulationSettings, "view": View}
RENAMED = {"drivers": "motions"}
"""Former names of sections."""


def model_from_dict(raw: Any) -> Model:
    """Build and check a model; every fault found is reported, as one `ModelError` or a `ModelErrors`."""
    if not isinstance(raw, Mapping):
        raise ModelError(f"a model must be a mapping of keys (bodies, joints, ...), not {kind_of(raw)}")
    found: list[SekantError] = []
    known = list(Model.model_fields)
    for key in raw:
        if key not in known:
            now = RENAMED.get(key)
            remedy = f"it was renamed to '{now}'" if now else suggest(str(key), known, "keys")
            found.append(ModelError(f"unknown key '{key}'; {remedy}", path=(str(key),)))
    fields: dict[str, Any] = {"parameters": _parameters(raw.get("parameters"), found)}
    for collection in ITEM_CLASSES:
        fields[collection] = {
            name: built
            for name, entry in _entries(raw.get(collection), collection, found).items()
            if (built := _build(collection, entry, (collection, name), found)) is not None
        }
    fields["curves"], fields["curve_parameters"] = _curves(raw, fields, found)
    for key, cls in _SINGLE.items():
        if raw.get(key) is not None:
            built = _build(cls, raw[key], (key,), found)
            if built is not None:
                fields[key] = built
    if raw.get("natural") is not None:
        fields["natural"] = _natural(raw["natural"], found)
    for key in ("name", "description", "gravity"):
        if raw.get(key) is not None:
            fields[key] = raw[key]
    if found:
        raise one_error(found)
    model = read_as(Model, fields)
    _check_values(model)
    return model


def build_item(collection: str, raw: Any, path: tuple[str | int, ...]) -> Description:
    """One item of a collection (or the ground, or the source of a curve), not yet checked against the rest."""
    found: list[SekantError] = []
    item = _build(collection, raw, path, found)
    if item is None:
        raise one_error(found)
    return item


def _natural(raw: Any, found: list[SekantError]) -> Natural | None:
    """The section of a mechanism modeled with points: its own sections, each a collection of items."""
    if isinstance(raw, Natural):
        return raw
    if not isinstance(raw, Mapping):
        found.append(ModelError(f"must be a mapping of sections, not {kind_of(raw)}", path=("natural",)))
        return None
    from sekant.model.points.sections import sections

    plain, items, known = {}, {}, sections()
    for key, content in raw.items():
        if key in known:
            items[key] = {
                name: built
                for name, entry in _entries(content, key, found, ("natural",)).items()
                if (built := _build_element(key, entry, ("natural", key, name), found)) is not None
            }
        elif key in ("dim", "gravity"):
            plain[key] = content
        else:
            hint = suggest(str(key), [*known, "dim", "gravity"], "sections")
            found.append(ModelError(f"unknown section '{key}'; {hint}", path=("natural", str(key))))
    built = _build(Natural, plain, ("natural",), found)
    return built.model_copy(update={"items": items}) if isinstance(built, Natural) else None


def _build_element(section: str, raw: Any, path: tuple, found: list[SekantError]) -> Description | None:
    from sekant.model.points.sections import element_class

    try:
        cls = element_class(section, raw, path)
    except ModelError as error:
        found.append(error)
        return None
    return _build(cls, cls.from_short(raw), path, found)


def _parameters(raw: Any, found: list[SekantError]) -> dict[str, Any]:
    values = {}
    for name, entry in _entries(raw, "parameters", found).items():
        try:
            values[name] = read_value(entry, ANY)
        except ModelError as error:
            found.append(ModelError(error.message, path=("parameters", name)))
    return values


def _curves(
    raw: Mapping[str, Any], fields: dict[str, Any], found: list[SekantError]
) -> tuple[dict[str, Any], dict[str, tuple[str, ...]]]:
    """The curves and surfaces, and the parameters that went into each."""
    entries = _entries(raw.get("curves"), "curves", found)
    given = _entries(raw.get("curve_parameters"), "curve_parameters", found)
    used = {name: tuple(sorted(names)) for name, names in given.items() if name in entries}
    curves: dict[str, Any] = {}
    if not entries:
        return curves, used
    try:
        values = parameter_values(Model(parameters=fields["parameters"]))
    except SekantError as error:
        found.append(error)
        return curves, used
    for name, entry in entries.items():
        if isinstance(entry, GEOMETRY):
            curves[name] = entry
            continue
        source = _build("curves", entry, ("curves", name), found)
        if not isinstance(source, CurveSource):
            continue
        around = Surroundings(name, values, fields["tables"])
        try:
            curves[name] = cached_geometry(source, around)
        except SekantError as error:
            error.path = ("curves", name, *error.path)
            found.append(error)
            continue
        if around.used:
            used[name] = tuple(sorted(around.used))
    return curves, used


def _entries(raw: Any, collection: str, found: list[SekantError], above: tuple = ()) -> dict[str, Any]:
    """The named entries of a collection, with faulty names and shapes reported."""
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        found.append(
            ModelError(
                f"must be a mapping of names to {collection}, not {kind_of(raw)}", path=(*above, collection)
            )
        )
        return {}
    good = {}
    for name, entry in raw.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            found.append(
                ModelError(
                    f"'{name}' is not a valid name; use letters, digits and underscores, e.g. 'front_arm'",
                    path=(*above, collection, str(name)),
                )
            )
        else:
            good[name] = entry
    return good


def _class_of(collection: str, raw: Mapping[str, Any], path: tuple) -> type[Description]:
    if collection == "curves":
        return source_class(raw, path)
    if collection in _TYPES:
        return _TYPES[collection](raw.get("type"), path)
    return {"ground": Ground, **ITEM_CLASSES}[collection]


def _build(
    kind: str | type[Description], raw: Any, path: tuple, found: list[SekantError]
) -> Description | None:
    """An item of a collection, or of a class."""
    if isinstance(raw, Description):
        return raw
    if not isinstance(raw, Mapping):
        found.append(ModelError(f"must be a mapping of fields, not {kind_of(raw)}", path=path))
        return None
    try:
        cls = _class_of(kind, raw, path) if isinstance(kind, str) else kind
        return read_as(cls, {key: value for key, value in raw.items() if key != "type"}, path)
    except ModelError as error:
        found.extend(getattr(error, "errors", [error]))
    return None


def _check_values(model: Model) -> None:
    """Check the values of expressions in parameters as if they had been written as numbers."""
    values = parameter_values(model)
    found: list[SekantError] = []
    for name, value in values.items():
        if not isinstance(value, float) or value != value or value in (float("inf"), float("-inf")):
            found.append(ModelError(f"evaluates to {value}, not a finite number", path=("parameters", name)))
    if found:
        raise one_error(found)

    def bake(path, number):
        if isinstance(number, Expression) and number.names <= values.keys() and not number.calls:
            return number.evaluate(values.__getitem__, lambda name, arguments: None)
        return number

    for collection in ("bodies", "joints", "forces", "constraints", "contacts", "shapes"):
        for name, item in getattr(model, collection).items():
            baked = replace_numbers(item, bake)
            if baked is not item:
                fields = {field: getattr(baked, field) for field in type(item).model_fields}
                try:
                    read_as(type(item), fields, (collection, name))
                except ModelError as error:
                    found.extend(getattr(error, "errors", [error]))
    if found:
        raise one_error(found)
