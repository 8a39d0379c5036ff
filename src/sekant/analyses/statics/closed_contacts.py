"""A system in which given contacts are constraints: what equilibria and small motions on them work with."""

from __future__ import annotations

from sekant.engine.system import System


def variant_of(system: System, closed: frozenset[str]) -> System:
    """The system in which the contacts `closed` stay closed."""
    if not closed:
        return system
    return system.variant(f"closed {sorted(closed)}", lambda: system.equations.variant(closed=closed))
