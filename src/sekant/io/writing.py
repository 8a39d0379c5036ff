"""Writes a `Model` to files from which an equal model can be loaded."""

from __future__ import annotations

import os
import re
from io import StringIO
from os import PathLike
from pathlib import Path
from typing import Any

from sekant.errors import ModelError, SekantError
from sekant.files import replace_file
from sekant.io.format import with_format
from sekant.io.plain import to_plain
from sekant.model.curves import GEOMETRY
from sekant.model.model import Model
from sekant.model.points.collector import Collector


def model_text(model: Model | Collector) -> str:
    """The model as YAML text, without default values."""
    described = model.model if isinstance(model, Collector) else model
    if not isinstance(described, Model):
        raise ModelError(f"only models and mechanisms can be written to a file (got {model!r})")
    return yaml_text(with_format(plain_model(described)[1]))


def save(model: Model | Collector, path: str | PathLike[str]) -> Path:
    """Write the model to a YAML file, which `load` can read. Returns the path of the file."""
    target = Path(path)
    if target.suffix.lower() not in (".yaml", ".yml"):
        raise ModelError(f"'{target}' must end in .yaml; to save a result or a curve, call its method save")
    replace_file(target, model_text(model).encode())
    return target


def plain_model(model: Model, inline: bool = True) -> tuple[Model, dict[str, Any]]:
    """The model with all its curves under names, and its plain data; unless `inline`, curves as null."""
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
    """The model with a name for each curve and surface that joints and constraints contain."""
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


def _styled(value: Any) -> Any:
    """Plain data with lists of scalars on one line."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    if isinstance(value, dict):
        return CommentedMap((key, _styled(entry)) for key, entry in value.items())
    if isinstance(value, list):
        items = CommentedSeq(_styled(entry) for entry in value)
        if not any(isinstance(entry, (dict, list)) for entry in value):
            items.fa.set_flow_style()
        return items
    return value


def write_model(model: Model, path: str | os.PathLike[str]) -> list[Path]:
    """Write `model` to the file `path` (.yaml), each curve to ``<path>_<curve>.json``; returns all files."""
    place = Path(path)
    if place.suffix not in (".yaml", ".yml"):
        raise SekantError(f"'{place}' is not a valid name for a model file; the name must end in .yaml")
    named, data = plain_model(model, inline=False)
    files = [place]
    for name, curve in named.curves.items():
        file = place.with_name(f"{place.stem}_{re.sub(r'[^A-Za-z0-9_.-]', '_', name)}.json")
        data["curves"][name] = {"file": file.name}
        files.append(file)
        curve.save(file)
    replace_file(place, yaml_text(data))
    return files
