"""Files that curves and shapes of a model refer to: saved curves and meshes (``file``), measured poses (``data``),
tables of poses (``pose_table``).

Names are relative to the model file. They are read when the model is built, so a loaded model no longer depends on
them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sekant.errors import ModelError
from sekant.io.source import KeyPath, Places, find_place

_KEYS = ("file", "data", "pose_table")


def locate_files(items: Any, folder: Path, places: Places, path: KeyPath) -> None:
    """Replace names of files in the `items` at `path` of a model file by paths that begin with its `folder`."""
    if isinstance(items, dict):
        for name, item in items.items():
            _locate(item, folder, places, (*path, name))


def _locate(value: Any, folder: Path, places: Places, path: KeyPath) -> None:
    if isinstance(value, list):
        for index, entry in enumerate(value):
            _locate(entry, folder, places, (*path, index))
    if not isinstance(value, dict):
        return
    for key, entry in value.items():
        if key in _KEYS and isinstance(entry, str):
            value[key] = _existing(entry, folder, places, (*path, key))
        elif key != "inline":
            _locate(entry, folder, places, (*path, key))


def _existing(name: str, folder: Path, places: Places, path: KeyPath) -> str:
    found = folder / name if name and "\0" not in name else None
    if found is not None and found.is_file():
        return str(found)
    near = sorted(p.name for p in found.parent.glob(f"[!.]*{found.suffix}"))[:5] if found is not None else []
    hint = f"; in that directory: {', '.join(near)}" if near else ""
    what = f"there is no file '{name}'{hint}" if name else "is empty; name a file"
    place = find_place(places, path)
    where = {} if place is None else {"file": place.file, "line": place.line}
    raise ModelError(what, path=path, **where)
