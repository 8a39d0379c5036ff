"""Copies the models that `sekant new` offers; they are files of the package, and tests run each of them."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from sekant.errors import SekantError
from sekant.files import make_folder, replace_file

FOLDER = files("sekant.views") / "templates"


def write_template(name: str, folder: str | os.PathLike[str]) -> list[Path]:
    """Copy the files of a template into `folder`; the model file comes first in the list."""
    source = sorted(
        ((entry.name, entry.read_bytes()) for entry in (FOLDER / name).iterdir() if entry.is_file()),
        key=lambda item: (not item[0].endswith(".yaml"), item[0]),
    )
    target = Path(folder)
    for file, _ in source:
        if (target / file).exists():
            raise SekantError(
                f"exists already and is not overwritten; name another folder: sekant new {name} FOLDER",
                file=str(target / file),
            )
    make_folder(target)
    for file, content in source:
        replace_file(target / file, content)
    return [target / file for file, _ in source]
