"""YAML <-> `Model`: `load` a file, `save` or `dump` a model to text that loads back to an equal one.

The way of a file: text, plain data with the line of every entry (`source`), what it includes (`includes`), CSV
tables (`table_files`), templates (`templates`), values from outside (`overrides`), the model. Whatever is wrong on
the way comes as `ModelError` (or `ModelErrors`) that begin with the file and the line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from io import StringIO
from os import PathLike
from pathlib import Path
from typing import Any

from sekant.errors import ModelError, ModelErrors, SekantError
from sekant.extensions import DESCRIPTIONS
from sekant.io.format import checked_format, with_format
from sekant.io.includes import read_with_includes
from sekant.io.overrides import apply_overrides
from sekant.io.plain import to_plain
from sekant.io.source import KeyPath, Places, Source, find_place, read_source
from sekant.io.templates import expand_templates
from sekant.model.curves import GEOMETRY
from sekant.model.model import Model
from sekant.model.parse import model_from_dict
from sekant.model.points.collector import Collector


def load(path: str | PathLike[str], set: Mapping[str, Any] | None = None) -> Model:
    """The model in a YAML, URDF or MJCF file.

    `set` gives values from outside, by the name of a parameter or as ``item.field``; texts may carry units or
    be expressions. Raises `ModelError` if the file or the model in it is wrong.
    """
    if Path(path).suffix.lower() in (".urdf", ".mjcf", ".xml"):
        from sekant.io.importers import load_foreign

        return load_foreign(Path(path), set or {})
    described = _described(Path(path), set or {})
    if described is not None:
        return described
    source = _expanded(Path(path), ())
    data, places = source.data, source.places
    try:
        apply_overrides(data, places, set or {})
        model = model_from_dict(data)
        _READ.append((str(path), places))
        return model
    except SekantError as error:
        raise located(error, places, str(path)) from None
    except RecursionError:
        message = "expressions or items depend on one another in too long a chain"
        raise ModelError(message, file=str(path)) from None


_READ: deque[tuple[str, Places]] = deque(maxlen=1)
"""The file that was read last, for faults that show in the equations only."""


def located_in_last(error: SekantError) -> SekantError:
    """The error with the place of its item in the file that was read last, if it is there."""
    for file, places in _READ:
        if error.file is None and error.path and error.path[:2] in places:
            return located(error, places, file)
    return error


def _described(path: Path, given: Mapping[str, Any]) -> Model | None:
    """The model that a file describes in words of its own, if it has a key of `DESCRIPTIONS`."""
    data = read_source(path).data
    build = next((DESCRIPTIONS[key] for key in data if key in DESCRIPTIONS), None)
    if build is None:
        return None
    if given:
        raise ModelError(f"'{min(given)}' cannot be set from outside: change the description", file=str(path))
    return build(str(path))


def _expanded(path: Path, above: tuple[Path, ...]) -> Source:
    """The contents of a model file with what it includes and mounts; `above` are the files that mount it."""
    source = read_with_includes(path)
    data, places = source.data, source.places

    def part(name: str, at: KeyPath) -> Source:
        place = find_place(places, at)
        file = (path if place is None else Path(place.file)).parent / name
        trail = (*above, path)
        if file.resolve() in [step.resolve() for step in trail]:
            names = " -> ".join(str(step) for step in (*trail, file))
            raise ModelError(f"models are mounted on each other in a circle: {names}", path=at)
        return _expanded(file, trail)

    try:
        checked_format(data)
        expand_templates(data, places, part)
    except SekantError as error:
        raise located(error, places, str(path)) from None
    except RecursionError:
        message = "expressions or items depend on one another in too long a chain"
        raise ModelError(message, file=str(path)) from None
    return source


def located(error: SekantError, places: Places, file: str) -> SekantError:
    """The error with the file and the line of what it is about."""
    if isinstance(error, ModelErrors):
        return ModelErrors([located(part, places, file) for part in error.errors])
    if error.file is None:
        place = find_place(places, error.path)
        error.file, error.line = (place.file, place.line) if place is not None else (file, None)
    return error


def dump(model: Model | Collector) -> str:
    """The model as YAML text; what has its default value is left out."""
    described = model.model if isinstance(model, Collector) else model
    if not isinstance(described, Model):
        raise ModelError(f"only models and mechanisms can be written to a file (got {model!r})")
    return yaml_text(with_format(plain_model(described)[1]))


def save(model: Model | Collector, path: str | PathLike[str]) -> Path:
    """Write the model to a YAML file that `load` reads back; returns its path."""
    target = Path(path)
    if target.suffix.lower() not in (".yaml", ".yml"):
        raise ModelError(
            f"'{target}' must end in .yaml; results are saved by save_result, curves by their own save"
        )
    from sekant.results.place import replace_file

    replace_file(target, dump(model).encode())
    return target


def plain_model(model: Model, inline: bool = True) -> tuple[Model, dict[str, Any]]:
    """The model with all its curves under names, and the same as plain data; unless `inline`, curves as null."""
    named = _with_named_curves(model)
    shown = named if inline else named.model_copy(update={"curves": dict.fromkeys(named.curves)})
    return named, to_plain(shown)


def yaml_text(data: Any) -> str:
    """Plain data as YAML text."""
    from ruamel.yaml import YAML

    yaml = YAML(typ="rt", pure=True)
    yaml.default_flow_style = False
    yaml.width = 110
    stream = StringIO()
    yaml.dump(_styled(data), stream)
    return stream.getvalue()


def _with_named_curves(model: Model) -> Model:
    """The model with curves and surfaces that joints and constraints hold themselves among those of the model."""
    curves = dict(model.curves)
    update: dict[str, Any] = {}
    for collection in ("joints", "constraints"):
        items = {}
        for name, item in getattr(model, collection).items():
            for field in ("curve", "surface"):
                held = getattr(item, field, None)
                if isinstance(held, GEOMETRY):
                    own = next((key for key, curve in curves.items() if curve is held), f"{name}.{field}")
                    curves[own] = held
                    item = item.model_copy(update={field: own})
            items[name] = item
        update[collection] = items
    return model.model_copy(update={**update, "curves": curves}) if len(curves) > len(model.curves) else model


def json_schema() -> dict[str, Any]:
    """The JSON Schema of model files."""
    from sekant.io.schema import json_schema

    return json_schema()


def _styled(value: Any) -> Any:
    """Plain data with lists of scalars in one line."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    if isinstance(value, dict):
        return CommentedMap((key, _styled(entry)) for key, entry in value.items())
    if isinstance(value, list):
        items = CommentedSeq(_styled(entry) for entry in value)
        if not any(isinstance(entry, (dict, list)) for entry in value):
            items.fa.set_flow_style()
        return items
    return value
