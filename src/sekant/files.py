"""Files of the user: reading with a size limit, writing atomically."""

from __future__ import annotations

import io
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from sekant.cache.files import note_read
from sekant.errors import DataError, SekantError

MOST_BYTES = 1_000_000_000
"""Largest size of a file of data (tables, curves, meshes)."""
PICTURE_FORMATS = ("svg", "pdf", "png")
_PROBE = bytes(4096)  # one block, so that a full disk is detected
_OPEN_AT_ONCE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe would wait


def file_path(given: Any, error: type[SekantError] = DataError) -> Path:
    """The name of a file that a caller gives, as a path; refuses everything else."""
    try:
        return Path(os.fsdecode(given))
    except TypeError:
        raise error(f"expected the name of a file (got {type(given).__name__})") from None


@contextmanager
def open_file(
    path: str | PathLike[str], error: type[SekantError] = DataError
) -> Iterator[tuple[BinaryIO, int]]:
    """Context manager: a regular file, open for reading and recorded as read, and its size.

    Errors of the operating system become an `error`. Pipes and devices are refused, because they may never end.
    """
    file = os.fspath(path)
    try:
        descriptor = os.open(path, _OPEN_AT_ONCE)
        with os.fdopen(descriptor, "rb") as stream:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise error("is not a regular file; give the name of a file on disk", file=file)
            note_read(path)
            yield stream, status.st_size
    except FileNotFoundError:
        raise error(f"cannot be read: there is no such file{_neighbors(Path(path))}", file=file) from None
    except IsADirectoryError:
        raise error("is a directory; give the name of a file in it", file=file) from None
    except (OSError, ValueError) as cause:
        reason = getattr(cause, "strerror", None) or cause
        raise error(f"cannot be read: {reason}", file=file) from None


def read_file(
    path: str | PathLike[str],
    limit: int = MOST_BYTES,
    error: type[SekantError] = DataError,
    remedy: str = "",
) -> bytes:
    """The content of a regular file of at most `limit` bytes, which is recorded as read.

    `remedy` ends the message about a file that is too large.
    """
    with open_file(path, error) as (stream, size):
        content = stream.read(limit + 1) if size <= limit else b""
        if max(size, len(content)) > limit:
            raise error(f"is larger than {limit / 1e6:g} MB{remedy}", file=os.fspath(path))
        return content


def _neighbors(path: Path) -> str:
    """Names of files similar to the missing one."""
    with suppress(OSError, ValueError):
        near = sorted(p.name for p in path.parent.glob(f"[!.]*{path.suffix}"))
        if close := get_close_matches(path.name, near, n=1, cutoff=0.75):
            return f"; did you mean '{close[0]}'?"
        return f"; in that directory: {', '.join(near[:5])}" if near else ""
    return ""


def partial_path(target: Path) -> Path:
    """The file that this process writes before it becomes `target`."""
    return target.with_name(f"{target.name}.{os.getpid()}.partial")


def cannot_write(path: str | PathLike[str], error: OSError, more: str = "") -> SekantError:
    """The error for a failed write to `path`."""
    return SekantError(f"cannot be written: {error.strerror or error}{more}", file=os.fspath(path))


def check_writable(path: str | PathLike[str]) -> None:
    """Raise an error that names the file and the cause, if no file can be written to `path`."""
    target = Path(os.path.realpath(path))
    cause = None
    try:
        if target.is_dir():
            cause = "is a directory; give the name of a file"
        elif target.exists() and not target.is_file():
            cause = "is not a regular file"
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


def make_folder(path: str | PathLike[str]) -> None:
    """Create a folder for files and its parents, unless it exists."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error


def replace_file(path: str | PathLike[str], content: bytes | str) -> None:
    """Write a whole file to `path` atomically, so that readers never see a part of it; text as UTF-8."""
    check_writable(path)
    target = Path(os.path.realpath(path))
    try:
        _put(partial_path(target), content.encode() if isinstance(content, str) else content, target)
    except OSError as error:
        raise cannot_write(path, error) from error


def write_lines(path: str | PathLike[str], lines: Iterable[str]) -> Path:
    """Write lines of text as `replace_file` does; return the path."""
    replace_file(path, "\n".join([*lines, ""]))
    return Path(path)


def replace_folder(folder: str | PathLike[str], texts: Mapping[str, str]) -> None:
    """Write files, given by name, into a folder. A new folder is created with all files or not at all."""
    place = Path(os.path.realpath(folder))
    if place.exists():
        for name, text in texts.items():
            replace_file(place / name, text)
        return
    partial = partial_path(place)
    try:
        partial.mkdir(parents=True)
        for name, text in texts.items():
            (partial / name).write_bytes(text.encode())
        os.replace(partial, place)
    except OSError as error:
        raise cannot_write(folder, error) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def check_ending(path: str | PathLike[str], what: str, endings: Sequence[str]) -> None:
    """Raise an error unless the name of a file for `what` ends in one of `endings`."""
    if Path(path).suffix.lower() not in endings:
        raise SekantError(f"the name of {what} must end in {endings[0]}", file=os.fspath(path))


def picture_format(path: str | PathLike[str]) -> str:
    """The picture format for the extension of `path`."""
    ending = Path(path).suffix.lower().lstrip(".")
    if ending not in PICTURE_FORMATS:
        found = f"'.{ending}' is not a supported picture format" if ending else "has no extension"
        raise SekantError(f"{found}; use .svg, .pdf or .png", file=os.fspath(path))
    return ending


def save_figure(figure: Any, path: str | PathLike[str], **options: Any) -> None:
    """Write a figure of Matplotlib, with the `options` of its `savefig`; the extension sets the format."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=picture_format(path), **options)
    replace_file(path, buffer.getvalue())


def _put(partial: Path, content: bytes, target: Path | None) -> None:
    try:
        partial.write_bytes(content)
        if target is not None:
            os.replace(partial, target)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
