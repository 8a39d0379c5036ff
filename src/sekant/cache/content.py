"""Answers about a model, cached on disk for later processes as plain data, with the content of the model as the
key.
`Recent` holds the last answers to repeated questions in one process: equations, and results for parts of cars.

The key contains everything on which an answer can depend: the model, the question with its options, and the source
of this package. Models with item types of other packages, whose source may change at any time, are not cached.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from math import isfinite
from threading import Lock
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from sekant.cache.files import cached_of_files, source_stamp
from sekant.cache.store import make_key
from sekant.version import __version__

PACKAGE = __name__.partition(".")[0]


def cached(model: BaseModel, question: str, make: Callable[[], Any]) -> Any:
    """The answer to `question` (with its options) about `model`: the result of `make`, here or in an earlier
    process."""
    key = answer_key(model, question)
    return make() if key is None else cached_of_files((key,), make, lambda _: True)


def answer_key(model: BaseModel, question: str) -> str | None:
    """The key of an answer; None if the answer may depend on more than the key contains."""
    types: list[str] = []
    if not _note_types(model, types):
        return None
    try:
        content = model.model_dump_json()
    except (PydanticSerializationError, ValueError):
        return None
    return make_key(["answer", __version__, source_stamp(), question, content, *types])


def is_foreign(value: Any) -> bool:
    """Whether an item, or a part of it, has a type from outside this package."""
    return not _note_types(value, [])


def _note_types(value: Any, found: list[str]) -> bool:
    """Add the types of all items in order, because different types may have equal fields. Returns False if a type is
    from outside this package."""
    kind = type(value)
    if kind in _PLAIN or isinstance(value, (float, int, str)):  # most are
        if isinstance(value, float) and not isfinite(value):  # null in JSON
            found.append(repr(value))
        return True
    if isinstance(value, BaseModel):
        if kind.__module__.partition(".")[0] != PACKAGE:
            return False
        found.append(kind.__qualname__)
        return _note_named(value.__dict__, found)
    if isinstance(value, Mapping):
        return _note_named(value, found)
    if isinstance(value, (tuple, list)):
        found.append(f"{len(value)}")
        return all(_note_types(part, found) for part in value)
    found.append(kind.__qualname__)
    return not callable(value) and kind.__module__.partition(".")[0] in (PACKAGE, "numpy", "builtins")


def _note_named(parts: Mapping[Any, Any], found: list[str]) -> bool:
    for name, part in parts.items():
        found.append(str(name))
        if not _note_types(part, found):
            return False
    return True


_PLAIN = frozenset({float, int, str, bool, type(None)})


MOST = 64


class Recent:
    """The last answers (`most`) by their keys; those of `once` are never removed.

    Several threads may use it.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._answers: OrderedDict[Hashable, Any] = OrderedDict()
        self._values: dict[Hashable, Any] = {}
        self._lock = Lock()

    def get(self, key: Hashable) -> Any:
        """The answer; None if it is not stored."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]
        return None

    def put(self, key: Hashable, answer: Any) -> Any:
        with self._lock:
            self._answers[key] = answer
            if len(self._answers) > self._most:
                self._answers.popitem(last=False)
        return answer

    def answer(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The cached answer, or the result of `make`."""
        known = self.get(key)
        return (self.put(key, (make(),)) if known is None else known)[0]

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The result of `make`, computed once."""
        if key not in self._values:
            self._values[key] = make()
        return self._values[key]
