"""`load`: the model in a file, read by `reading` or from the cache for unchanged files."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from sekant.cache.files import cached_of_file, plain_text
from sekant.errors import ModelError
from sekant.extensions import FROM_ELSEWHERE
from sekant.files import file_path

if TYPE_CHECKING:
    from sekant.model.model import Model


def load(path: str | PathLike[str], set: Mapping[str, Any] | None = None) -> Model:
    """The model in a YAML, URDF or MJCF file.

    `set` overrides values. Each key is the name of a parameter or has the form `item.field`; a value may be a string
    that contains a unit or an expression. Raises `ModelError` if the file or the model in it is wrong.
    """
    path = file_path(path, ModelError)
    if path.suffix.lower() in (".urdf", ".mjcf", ".xml"):
        from sekant.io.importers import load_foreign

        return load_foreign(path, set or {})
    given = set or {}
    asked = plain_text(given)

    def read() -> Model:
        from sekant.io.reading import read_model

        return read_model(path, given)

    if asked is None or FROM_ELSEWHERE:
        return read()
    return cached_of_file(path, ("model", asked), read, _may_cache)


def _may_cache(model: Model) -> bool:
    from sekant.cache.content import is_foreign

    return not is_foreign(model)
