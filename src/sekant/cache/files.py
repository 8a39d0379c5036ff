"""Results computed from a file. Later processes reuse them while the file and all files read with it are unchanged.

All code that reads a file of the user calls `note_read` first. An entry contains the hashes of these files, and is
valid only while all of them have the same content; its key includes the source of this package.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from sekant.cache import plain
from sekant.cache.store import make_key, user_cache
from sekant.errors import DataError
from sekant.version import __version__

Made = TypeVar("Made")
_NOTED: ContextVar[dict[str, str] | None] = ContextVar("noted", default=None)
"""File -> hash of its content, for all files that contribute to the current result."""


WITHIN = "SEKANT_WITHIN"
"""Environment variable with the folder outside of which no file of the user is read (`sekant --within`)."""


def note_read(path: str | PathLike[str]) -> None:
    """Note that a file is about to be read. Its content is hashed first, so a later change is detected."""
    within = os.environ.get(WITHIN)
    if within and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(within)):
        message = (
            f"is not read because it is outside '{within}'; move it there, or allow a folder that contains it"
        )
        raise DataError(f"{message} (--within)", file=os.fspath(path))
    noted = _NOTED.get()
    if noted is not None:
        place = os.path.abspath(path)
        noted.setdefault(place, _content_hash(place))


@contextmanager
def files_read() -> Iterator[Mapping[str, str]]:
    """Context manager: the files of the user that are read in the block, with the hash of their content."""
    files: dict[str, str] = {}
    outer = _NOTED.set(files)
    try:
        yield files
    finally:
        _NOTED.reset(outer)
        for place in files:
            note_read(place)


def cached_of_file(
    path: str | PathLike[str],
    question: Sequence[str],
    make: Callable[[], Made],
    may_cache: Callable[[Made], bool],
) -> Made:
    """The answer to `question` about the file: the result of `make`, here or in an earlier process.

    An answer is cached if `may_cache` allows it. It may contain the path as given, which is part of the key.
    Errors of `make` are not cached.
    """
    return cached_of_files(("file", os.path.abspath(path), str(path), *question), make, may_cache)


def cached_of_files(
    question: Sequence[str], make: Callable[[], Made], may_cache: Callable[[Made], bool]
) -> Made:
    """The answer to `question`, which depends only on the question, the files that `make` reads and this package."""
    store = user_cache()
    if store is None:
        return make()
    versions = [__version__, sys.version, source_stamp()]
    key = make_key([*versions, *question])
    entry = store.load(key)
    if entry is not None and _unchanged(entry.header["files"]):
        with suppress(plain.NotPlain):
            return plain.read(entry, store)
    with files_read() as files:
        made = make()
    entry = plain.written(made, store, {"files": files}) if may_cache(made) else None
    if entry is not None:
        store.store(key, entry)
    return made


def _unchanged(files: Mapping[str, str]) -> bool:
    if any(_content_hash(place) != content for place, content in files.items()):
        return False
    for place in files:
        note_read(place)
    return True


def _content_hash(place: str) -> str:
    """Hash of a file's content; empty if it cannot be read; unique if reading it would change it."""
    try:
        if not stat.S_ISREG(os.stat(place).st_mode):  # a pipe, a device
            return os.urandom(8).hex()
        with open(place, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""


def plain_text(given: Mapping[str, Any]) -> str | None:
    """Values as a part of a question; None if a string cannot represent them."""
    plain = all(isinstance(value, (str, int, float)) for value in given.values())
    return repr(sorted(given.items())) if plain else None


@cache
def source_stamp() -> str:
    """A string that changes with any file of this package."""
    root, states = str(Path(__file__).parents[1]), []
    folders = [root]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    states.append(f"{entry.path} {status.st_size} {status.st_mtime_ns}")
                elif entry.is_dir() and entry.name != "__pycache__":
                    folders.append(entry.path)
    return make_key([root, *sorted(states)])
