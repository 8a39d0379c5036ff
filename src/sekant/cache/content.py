"""Answers about a model that a later process finds again: plain data, on disk, under the content of the model.

The key holds all that an answer can depend on: the model, the question with its options, and the source of this
package. A model with a type of item from elsewhere, whose source may change at any time, is not cached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from sekant.cache.files import source_stamp
from sekant.cache.store import Cache, Entry, make_key, user_cache
from sekant.version import __version__

PACKAGE = __name__.partition(".")[0]


def cached(model: BaseModel, question: str, make: Callable[[], Any], store: Cache | None = None) -> Any:
    """The answer to `question` (with its options) about `model` as JSON holds it: what `make` returned, here or in
    an earlier process."""
    key = answer_key(model, question)
    return make() if key is None else _found(key, make, store or user_cache())


def cached_by(parts: Sequence[str | bytes], make: Callable[[], Any]) -> Any:
    """What `make` returned, here or in an earlier process, as JSON holds it; `parts` and the source of this package
    are all that it depends on."""
    return _found(make_key(["answer", __version__, source_stamp(), *parts]), make, user_cache())


def _found(key: str, make: Callable[[], Any], store: Cache | None) -> Any:
    if store is None:
        return make()
    found = store.load(key)
    if found is not None:
        return found.header["answer"]
    answer = make()
    store.store(key, Entry({"answer": answer}, ()))
    return answer


def answer_key(model: BaseModel, question: str) -> str | None:
    """None where the answer may depend on more than the key contains."""
    if is_foreign(model):
        return None
    try:
        content = model.model_dump_json()
    except (PydanticSerializationError, ValueError):
        return None
    return make_key(["answer", __version__, source_stamp(), question, content, *_types(model)])


def _types(value: Any) -> Iterator[str]:
    """Types of all items in their order: the fields of a hinge and of a slider may be the same."""
    if isinstance(value, BaseModel):
        yield type(value).__qualname__
        for name, part in value.__dict__.items():
            yield name
            yield from _types(part)
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield str(name)
            yield from _types(part)
    elif isinstance(value, (tuple, list)):
        yield f"{len(value)}"
        for part in value:
            yield from _types(part)
    elif not isinstance(value, (float, int, str, type(None))):
        yield type(value).__qualname__
    elif isinstance(value, float) and not isfinite(value):  # null in JSON
        yield repr(value)


def is_foreign(value: Any) -> bool:
    """Whether an item, or something in it, is of a type that is not this package's."""
    if isinstance(value, BaseModel):
        if type(value).__module__.partition(".")[0] != PACKAGE:
            return True
        return any(is_foreign(part) for part in value.__dict__.values())
    if isinstance(value, Mapping):
        return any(is_foreign(part) for part in value.values())
    if isinstance(value, (tuple, list)):
        return any(is_foreign(part) for part in value)
    known = isinstance(value, (float, int, str, type(None)))
    return not known and (
        callable(value) or type(value).__module__.partition(".")[0] not in (PACKAGE, "numpy", "builtins")
    )
