"""Item types that stand above the core: modules that register them are loaded when an unknown type is first met.

`sekant/__init__.py` names those modules, so that no file of the core knows who builds on it.
"""

from __future__ import annotations

from collections.abc import Callable

PENDING: list[Callable[[], object]] = []


def load_extensions() -> bool:
    """Load what has not been loaded; whether there was anything."""
    found = bool(PENDING)
    while PENDING:
        PENDING.pop()()
    return found
