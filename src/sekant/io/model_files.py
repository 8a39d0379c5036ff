"""A model as a YAML file with its curves and surfaces in JSON files beside it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sekant.errors import SekantError
from sekant.files import replace_file
from sekant.io.writing import plain_model, yaml_text
from sekant.model.model import Model


def write_model(model: Model, path: str | os.PathLike[str]) -> list[Path]:
    """Write `model` to the file `path` (.yaml), each curve to ``<path>_<curve>.json``; gives all files."""
    place = Path(path)
    if place.suffix not in (".yaml", ".yml"):
        raise SekantError(f"'{place}' is no name for a model file; let it end in .yaml")
    named, data = plain_model(model, inline=False)
    files = [place]
    for name, curve in named.curves.items():
        file = place.with_name(f"{place.stem}_{re.sub(r'[^A-Za-z0-9_.-]', '_', name)}.json")
        data["curves"][name] = {"file": file.name}
        files.append(file)
        curve.save(file)
    replace_file(place, yaml_text(data))
    return files
