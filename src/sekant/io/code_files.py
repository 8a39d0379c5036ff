"""Numeric functions of signals from files: ``grip: {type: numeric, file: grip.py, ...}``.

The model contains the text, so a loaded model does not depend on the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sekant.errors import ModelError
from sekant.files import read_file
from sekant.io.source import KeyPath, Places, locate

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
                raise ModelError("give 'function' or 'file', not both")
            signals[name] = {**rest, "function": _text(signal["file"], folder)}
        except ModelError as error:
            locate(error, places, (*path, name), "file")
            raise


def _text(name: Any, folder: Path) -> str:
    if not isinstance(name, str) or not name or "\0" in name:
        raise ModelError(f"file: '{name}' is not the name of a file with a Python function")
    try:
        return read_file(folder / name, LARGEST, ModelError, "; is it a Python function?").decode()
    except UnicodeDecodeError:
        raise ModelError("is not text", file=str(folder / name)) from None
