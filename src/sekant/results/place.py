"""Putting files in place: checked before a run starts, and never half-written."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from sekant.errors import SekantError

_PROBE = bytes(4096)  # a block, so that a full disk is noticed


def partial_path(target: Path) -> Path:
    """Where this process makes the file that shall become `target`."""
    return target.with_name(f"{target.name}.{os.getpid()}.partial")


def cannot_write(path: str | os.PathLike[str], error: OSError, more: str = "") -> SekantError:
    """The error to raise when writing `path` failed."""
    return SekantError(f"cannot be written: {error.strerror or error}{more}", file=os.fspath(path))


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise an error that names the file and the cause, if no file can be put at `path`."""
    target = Path(os.path.realpath(path))
    cause = None
    try:
        if target.is_dir():
            cause = "is a directory; give the name of a file"
        elif target.exists() and not target.is_file():
            cause = "is not an ordinary file"
        elif not target.parent.is_dir():
            cause = f"cannot be written: there is no directory '{Path(path).parent}'"
        elif target.exists() and not os.access(target, os.W_OK):
            cause = "cannot be written: it is read-only"
        else:
            _put(partial_path(target), _PROBE, None)
    except OSError as error:
        raise cannot_write(path, error) from error
    if cause:
        raise SekantError(cause, file=os.fspath(path))


def replace_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Put a whole file at `path` at once, so that no reader ever sees a part of it."""
    check_writable(path)
    target = Path(os.path.realpath(path))
    try:
        _put(partial_path(target), content, target)
    except OSError as error:
        raise cannot_write(path, error) from error


def _put(partial: Path, content: bytes, target: Path | None) -> None:
    try:
        partial.write_bytes(content)
        if target is not None:
            os.replace(partial, target)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
