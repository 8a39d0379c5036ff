"""The decorator of all compiled loops: numba, cached on disk, with a cache that notices changed sources.

Numba keys its cache by the file of the decorated function alone. A loop that calls helpers of another file
would go on running their old code after a change there; so the key used here covers all sources of the solvers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit


@cache
def source_stamp() -> str:
    """A digest of all sources that end up in compiled loops."""
    here = Path(__file__).parent
    digest = sha256()
    for path in [here.parent / "native_call.py", *sorted(here.rglob("*.py"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def compiled(function: Callable[..., Any]) -> Any:
    """Compile on first call. Division by zero gives inf or NaN as in NumPy, not an exception."""
    dispatcher: Any = njit(cache=True, error_model="numpy")(function)
    tie_to_sources(dispatcher._cache)
    return dispatcher


def inner(function: Callable[..., Any]) -> Any:
    """As `compiled`, for functions that are called by compiled code only: no entry from Python, nothing cached."""
    options: Any = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return njit(**options)(function)


def tie_to_sources(function_cache: Any) -> None:
    """Let a cache of numba's forget what was compiled from other sources."""
    index: Any = getattr(function_cache, "_cache_file", None)
    if index is not None:
        index._source_stamp = source_stamp()
