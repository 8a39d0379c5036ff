"""What was made of a file, found again by later processes while it and all files read with it are as they were.

Whatever reads a file of the user calls `note_read` before it does. An entry holds the hashes of these files, and
counts only while all of them have the same content; its key holds the source of this package.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from sekant.object_code.cache import Entry, make_key, user_cache
from sekant.version import __version__

Made = TypeVar("Made")
MOST_BYTES = 32 * 1024 * 1024
"""Of one answer: what is larger takes longer to read than to make."""
_NOTED: ContextVar[dict[str, str] | None] = ContextVar("noted", default=None)
"""File -> hash of its content, of all files that go into what is made now."""


def note_read(path: str | PathLike[str]) -> None:
    """Tell that a file is about to be read. Its content is taken before, so that a change meanwhile shows later."""
    noted = _NOTED.get()
    if noted is not None:
        place = os.path.abspath(path)
        noted.setdefault(place, _content_hash(place))


def kept_of_file(
    path: str | PathLike[str],
    question: Sequence[str],
    make: Callable[[], Made],
    may_keep: Callable[[Made], bool],
) -> Made:
    """The answer to `question` about the file: what `make` returned, here or in an earlier process.

    An answer is kept if `may_keep` says so of it. Its texts may hold the path as it was given, which is part of the
    key. What `make` raises is raised each time.
    """
    return kept_of_files(("file", os.path.abspath(path), str(path), *question), make, may_keep)


def kept_of_files(
    question: Sequence[str], make: Callable[[], Made], may_keep: Callable[[Made], bool]
) -> Made:
    """The answer to `question`, which depends on what it says and on the files that `make` reads."""
    store = user_cache()
    if store is None:
        return make()
    versions = [__version__, sys.version, source_stamp()]
    key = make_key([*versions, *question])
    entry = store.load(key)
    if entry is not None and len(entry.objects) == 1 and _unchanged(entry.header["files"]):
        try:
            return pickle.loads(entry.objects[0])
        except Exception:  # written with other versions of what it consists of: as good as absent
            pass
    files: dict[str, str] = {}
    outer = _NOTED.set(files)
    try:
        made = make()
    finally:
        _NOTED.reset(outer)
        for place in files:
            note_read(place)
    if may_keep(made):
        try:
            data = pickle.dumps(made, protocol=5)
        except (pickle.PicklingError, TypeError, AttributeError):
            return made
        if len(data) <= MOST_BYTES:
            store.store(key, Entry({"files": files}, (data,)))
    return made


def _unchanged(files: Mapping[str, str]) -> bool:
    if any(_content_hash(place) != content for place, content in files.items()):
        return False
    for place in files:
        note_read(place)
    return True


def _content_hash(place: str) -> str:
    """Of a file's content; empty where it cannot be read, and never the same where reading it would change it."""
    try:
        if not stat.S_ISREG(os.stat(place).st_mode):  # a pipe, a device
            return os.urandom(8).hex()
        with open(place, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""


def plain_text(given: Mapping[str, Any]) -> str | None:
    """Values as a part of a question; None where their text does not tell all of them."""
    plain = all(isinstance(value, (str, int, float)) for value in given.values())
    return repr(sorted(given.items())) if plain else None


@cache
def source_stamp() -> str:
    """Of all files of this package: another file, or another state of one, gives another text."""
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
