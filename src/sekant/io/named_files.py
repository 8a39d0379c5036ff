"""Files that curves and shapes of a model refer to: saved curves and meshes (``file``), measured poses (``data``),
tables of poses (``pose_table``), and numeric functions of signals (``grip: {type: numeric, file: grip.py, ...}``).

Names are relative to the model file. They are read when the model is built, so a loaded model no longer depends on
them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sekant.errors import ModelError
from sekant.files import read_file
from sekant.io.source import KeyPath, Places, find_place, locate

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
            value[key] = existing_file(entry, folder, places, (*path, key))
        elif key != "inline":
            _locate(entry, folder, places, (*path, key))


def existing_file(name: str, folder: Path, places: Places, path: KeyPath) -> str:
    """The path of a file that the entry at `path` of a file in `folder` names."""
    found = folder / name if name and "\0" not in name else None
    if found is not None and found.is_file():
        return str(found)
    near = sorted(p.name for p in found.parent.glob(f"[!.]*{found.suffix}"))[:5] if found is not None else []
    hint = f"; in that directory: {', '.join(near)}" if near else ""
    what = f"there is no file '{name}'{hint}" if name else "is empty; name a file"
    place = find_place(places, path)
    where = {} if place is None else {"file": place.file, "line": place.line}
    raise ModelError(what, path=path, **where)


LARGEST = 1_000_000
"""Largest size of a file in bytes."""


def read_code_files(signals: Any, folder: Path, places: Places, path: KeyPath) -> None:
    """Replace the key `file` of numeric signals by `function`, in the `signals` at `path` of one file."""
    for name, signal in signals.items() if isinstance(signals, dict) else ():
        if not isinstance(signal, dict) or signal.get("type") != "numeric" or "file" not in signal:
            continue
        try:
            rest = {key: value for key, value in signal.items() if key != "file"}
            if "function" in rest:
                raise ModelError("give either 'function' or 'file', not both")
            signals[name] = {**rest, "function": _text(signal["file"], folder)}
        except ModelError as error:
            locate(error, places, (*path, name), "file")
            raise


def _text(name: Any, folder: Path) -> str:
    if not isinstance(name, str) or not name or "\0" in name:
        raise ModelError(
            f"file: '{name}' is not a file name; give the name of the file that contains the Python function"
        )
    try:
        return read_file(folder / name, LARGEST, ModelError, "; is it a Python function?").decode()
    except UnicodeDecodeError:
        raise ModelError("is not a text file in UTF-8", file=str(folder / name)) from None
