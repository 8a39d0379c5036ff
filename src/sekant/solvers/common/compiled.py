"""The decorator of all compiled loops: numba, cached on disk, with a cache that notices changed sources.

Numba keys its cache by the file of the decorated function alone. A loop that calls helpers of another file
would go on running their old code after a change there; so the key used here covers all sources that a loop's own
package imports, directly or not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit

import sekant.solvers.common.intrinsics  # noqa: F401 (numba learns what helpers are)

_HERE = Path(__file__).parent.parent
EVERYTHING = ""  # the package of a loop outside the solvers
_IMPORT = re.compile(r"^\s*(?:from|import)\s+sekant\.solvers\.(\w+)", re.MULTILINE)


@cache
def source_stamp(package: str) -> str:
    """A digest of all sources that end up in the loops of one package (or module) of the solvers."""
    digest = sha256((_HERE.parent / "native_call.py").read_bytes())
    for path in sorted({file for name in _needed_by(package) for file in _sources(name)}):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _needed_by(package: str) -> set[str]:
    """The packages and modules of the solvers that `package` imports, directly or not, and itself."""
    found, new = set[str](), {package}
    while new:
        found |= new
        texts = [file.read_text() for name in new for file in _sources(name)]
        new = {match[1] for text in texts for match in _IMPORT.finditer(text)} - found
    return found


def _sources(name: str) -> list[Path]:
    module = _HERE / f"{name}.py"
    return [module] if module.exists() else sorted((_HERE / name).rglob("*.py"))


def compiled(function: Callable[..., Any]) -> Any:
    """Compile on first call. Division by zero gives inf or NaN as in NumPy, not an exception."""
    dispatcher: Any = njit(cache=True, error_model="numpy")(function)
    tie_to_sources(dispatcher._cache, Path(function.__code__.co_filename))
    return dispatcher


def inner(function: Callable[..., Any]) -> Any:
    """As `compiled`, for functions that are called by compiled code only: no entry from Python, nothing cached."""
    options: Any = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return njit(**options)(function)


def tie_to_sources(function_cache: Any, file: Path) -> None:
    """Let a cache of numba's forget what was compiled from other sources; `file`: of the function."""
    index: Any = getattr(function_cache, "_cache_file", None)
    if index is not None:
        inside = file.is_relative_to(_HERE)
        package = file.relative_to(_HERE).parts[0].removesuffix(".py") if inside else EVERYTHING
        index._source_stamp = source_stamp(package)
