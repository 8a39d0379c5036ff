"""Model files -> `Model`.

A file is processed in this order: text, plain data with the line of every entry (`source`), included files
(`includes`), CSV tables (`table_files`), templates (`templates`), values from the caller (`overrides`), the model.
All errors are `ModelError` (or `ModelErrors`), which begin with the file and the line.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sekant.errors import ModelError, SekantError
from sekant.extensions import DESCRIPTIONS
from sekant.io.format import checked_format
from sekant.io.includes import read_with_includes
from sekant.io.overrides import apply_overrides
from sekant.io.source import KeyPath, Source, find_place, located, read_source
from sekant.io.templates import expand_templates
from sekant.model.model import Model
from sekant.model.parse import model_from_dict


def read_model(path: Path, given: Mapping[str, Any]) -> Model:
    """The model in a file, with values from the caller."""
    described = _described(path, given)
    if described is not None:
        return described
    source = _expanded(path, ())
    data, places = source.data, source.places
    try:
        apply_overrides(data, places, given)
        return model_from_dict(data)
    except SekantError as error:
        raise located(error, places, str(path)) from None
    except RecursionError:
        message = "a chain of expressions or items that depend on one another is too long"
        raise ModelError(message, file=str(path)) from None


def located_in_file(error: SekantError, path: Path) -> SekantError:
    """The error with the line of its item, if the model file `path`, or the one that it names by `model`, contains
    it.

    Errors in equations occur long after a file was read, so it is read again for the line. A file that describes a
    car or a suspension has no line for an item of the model; then the error names only the file.
    """
    if error.file is not None or not error.path or not path.is_file():
        return error
    try:
        data = read_source(path).data
        if any(key in DESCRIPTIONS for key in data):
            return located(error, {}, str(path))
        named = data.get("model")  # in studies, and next to the roles of a corner
        file = path.parent / named if isinstance(named, str) else path
        places = _expanded(file, ()).places
    except SekantError:  # it is not a model file
        return error
    return located(error, places, str(file)) if error.path[:2] in places else error


def _described(path: Path, given: Mapping[str, Any]) -> Model | None:
    """The model of a file with a key of `DESCRIPTIONS`, such as that of a car."""
    data = read_source(path).data
    build = next((DESCRIPTIONS[key] for key in data if key in DESCRIPTIONS), None)
    if build is None:
        return None
    if given:
        raise ModelError(
            f"'{min(given)}' cannot be overridden in this kind of file; change the file itself",
            file=str(path),
        )
    return build(str(path))


def _expanded(path: Path, above: tuple[Path, ...]) -> Source:
    """The contents of a model file with included files and mounted models; `above` are the files that mount it."""
    source = read_with_includes(path)
    data, places = source.data, source.places

    def part(name: str, at: KeyPath) -> Source:
        place = find_place(places, at)
        file = (path if place is None else Path(place.file)).parent / name
        trail = (*above, path)
        if file.resolve() in [step.resolve() for step in trail]:
            names = " -> ".join(str(step) for step in (*trail, file))
            raise ModelError(f"models are mounted on one another in a circle: {names}", path=at)
        return _expanded(file, trail)

    try:
        checked_format(data)
        expand_templates(data, places, part)
    except SekantError as error:
        raise located(error, places, str(path)) from None
    except RecursionError:
        message = "a chain of expressions or items that depend on one another is too long"
        raise ModelError(message, file=str(path)) from None
    return source
