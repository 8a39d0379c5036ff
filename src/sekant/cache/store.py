"""Object code on disk, so that a model compiles once.

An entry is one file, named by the hash of everything its code depends on, in a directory that only its owner may
enter. It contains a magic line, the SHA-256 of its name and the rest, a JSON header and the object code. An
entry that is damaged, or has another name, is treated as absent. Nothing in an entry is executed before
its checksum has been verified.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # not on Windows: two processes may then compile the same code, which is harmless
    fcntl = None

MAGIC = b"sekant-object-2\n"
DEFAULT_LIMIT = 512 * 1024 * 1024
_SUFFIX = ".skobj"
_UNFINISHED = ".new-"
_LOCK = "lock"
_EMPTIED = stat.S_ISVTX
"""Mode of a directory that is closed, but may still contain files of other users: no process uses it."""
_ROOM: dict[Path, int] = {}
"""Bytes that this process may write to a directory before it checks its size."""
_ABANDONED_AFTER = 3600.0


@dataclass(frozen=True)
class Entry:
    """`header`: numbers and strings that belong to the code; `objects`: object code, one for each module."""

    header: dict[str, Any]
    objects: tuple[bytes, ...]


def default_directory() -> Path:
    """SEKANT_CACHE_DIR, or ``sekant`` in XDG_CACHE_HOME, or in ``~/.cache``."""
    own = os.environ.get("SEKANT_CACHE_DIR")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "sekant"


def user_cache() -> Cache | None:
    """The cache of this user; None if there is no home directory for it."""
    try:
        return Cache()
    except RuntimeError:
        return None


def why_nothing_is_cached(store: Cache | None) -> str:
    """The reason why nothing is cached, with the remedy; empty if caching works."""
    if store is None:
        reason = "there is no home directory in which to store compiled code"
    elif store.is_usable():
        return ""
    else:
        place, what = store.directory, "cannot be written"
        if place.is_symlink():
            what = "is a symbolic link, which Sekant does not follow"
        elif place.exists() and not place.is_dir():
            what = "is not a directory"
        reason = f"the cache {place} {what}"
    return f"{reason}, so every run compiles again; set SEKANT_CACHE_DIR to another folder"


class Cache:
    """Entries in one directory. If their total size exceeds `limit` bytes, the least recently used are removed."""

    def __init__(self, directory: Path | None = None, limit: int = DEFAULT_LIMIT):
        self.directory = Path(directory) if directory is not None else default_directory()
        self.limit = limit

    def load(self, key: str) -> Entry | None:
        """The entry, or None if it is absent, damaged, or in a directory that others could have written."""
        path = self._path(key)
        if not self._is_private():
            return None
        try:
            data = path.read_bytes()
        except OSError:
            return None
        entry = decode(data, key)
        if entry is None:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return entry

    def store(self, key: str, entry: Entry) -> bool:
        """Write the entry in one step; False if the directory cannot be used, which is not an error."""
        if not self._prepare():
            return False
        temporary = None
        try:
            descriptor, temporary = tempfile.mkstemp(prefix=_UNFINISHED, dir=self.directory)
            data = encode(entry, key)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
            os.replace(temporary, self._path(key))
        except OSError:
            if temporary is not None:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
            return False
        room = _ROOM.get(self.directory, 0) - len(data)
        _ROOM[self.directory] = room if room > 0 else self._prune(keep=self._path(key))
        return True

    def lock(self) -> IO[bytes] | None:
        """Wait until no other process holds this lock, then hold it until the file is closed; None if locking is
        impossible."""
        if fcntl is None or not self._prepare():
            return None
        try:
            stream = (self.directory / _LOCK).open("ab")
            fcntl.flock(stream, fcntl.LOCK_EX)
        except OSError:
            return None
        return stream

    def is_usable(self) -> bool:
        """Whether entries can be written; creates the directory if necessary."""
        return self._prepare() and os.access(self.directory, os.W_OK)

    def usage(self) -> tuple[int, int]:
        """Number of entries, and bytes in all."""
        sizes = []
        for path in self.directory.glob("*" + _SUFFIX):
            with contextlib.suppress(OSError):  # another process may have removed it in the meantime
                sizes.append(path.stat().st_size)
        return len(sizes), sum(sizes)

    def clear(self) -> None:
        """Remove all entries, and files left by killed writers."""
        for pattern in ("*" + _SUFFIX, _UNFINISHED + "*"):
            for path in self.directory.glob(pattern):
                with contextlib.suppress(OSError):
                    path.unlink()

    def _path(self, key: str) -> Path:
        return self.directory / (key + _SUFFIX)

    def _prepare(self) -> bool:
        """Create the directory, or remove access of other users and empty it; False if neither works."""
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            return False
        if self._is_private():
            return True
        try:
            if self.directory.is_symlink() or self.directory.stat().st_uid != os.getuid():
                return False
            self.directory.chmod(0o700 | _EMPTIED)
            self._clear()
            self.directory.chmod(0o700)
        except OSError:
            return False
        return self._is_private()

    def _is_private(self) -> bool:
        """Whether only this user can have written to the directory."""
        try:
            status = os.lstat(self.directory)
        except OSError:
            return False
        if not stat.S_ISDIR(status.st_mode):
            return False
        if not hasattr(os, "getuid"):
            return True
        return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH | _EMPTIED)

    def _clear(self) -> None:
        """Remove the contents of a directory that others could write to."""
        for pattern in ("*" + _SUFFIX, _UNFINISHED + "*", _LOCK):
            for path in self.directory.glob(pattern):
                path.unlink()

    def _prune(self, keep: Path) -> int:
        """Remove the least recently used entries above the limit; returns the bytes that this process may write
        before the next check. The time for a check is proportional to the number of entries, so checks must be
        rare. Other processes also write.
        """
        found, total = [], 0
        for item in os.scandir(self.directory):
            with contextlib.suppress(OSError):
                status = item.stat()
                if item.name.endswith(_SUFFIX):
                    found.append((status.st_mtime_ns, status.st_size, item.path))
                    total += status.st_size
                elif item.name.startswith(_UNFINISHED) and time.time() - status.st_mtime > _ABANDONED_AFTER:
                    os.unlink(item.path)
        for _, size, path in sorted(found):
            if total <= self.limit:
                break
            if path != str(keep):
                with contextlib.suppress(OSError):
                    os.unlink(path)
                total -= size
        return max((self.limit - total) // 2, self.limit // 50)


def make_key(parts: Sequence[str | bytes]) -> str:
    """SHA-256 over the parts and their lengths."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def encode(entry: Entry, key: str = "") -> bytes:
    """The entry as bytes, which `decode` accepts only with the same key."""
    header = {"sizes": [len(o) for o in entry.objects], "header": entry.header}
    line = json.dumps(header).encode() + b"\n"
    payload = line + b"".join(entry.objects)
    return MAGIC + _checksum(key, payload) + payload


def _checksum(key: str, payload: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\n" + payload).digest()


def decode(data: bytes, key: str = "") -> Entry | None:
    """The entry that was stored under `key`; None if it is damaged or belongs to another key."""
    start = len(MAGIC) + 32
    if data[: len(MAGIC)] != MAGIC or len(data) < start:
        return None
    payload = data[start:]
    if _checksum(key, payload) != data[len(MAGIC) : start]:
        return None
    line, _, rest = payload.partition(b"\n")
    content = json.loads(line)
    objects, position = [], 0
    for size in content["sizes"]:
        objects.append(rest[position : position + size])
        position += size
    return Entry(content["header"], tuple(objects)) if position == len(rest) else None
