"""IR of procedures and of all that they call, for targets whose code is one module; kept in the user's cache."""

from __future__ import annotations

from collections.abc import Sequence

from sekant.loops.declare.procedures import Procedure
from sekant.loops.store.objects import procedure_of
from sekant.loops.translate import translate


def texts_of(procedures: Sequence[Procedure]) -> list[str]:
    """One text a procedure."""
    found: dict[str, str] = {}
    waiting = {procedure.symbol for procedure in procedures}
    while waiting:
        symbol = waiting.pop()
        found[symbol], needs = translate(procedure_of(symbol))
        waiting |= needs - found.keys()
    return list(found.values())
