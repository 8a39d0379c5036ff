"""What elements add to an evaluation while they have nothing to do, on the arm of `benchmarks/elements.py`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))


def shares(names: Sequence[str] = ()) -> dict[str, tuple[float, float]]:
    """Percent of operations by element (all unless named): as fixed steps call the equations, with switches held."""
    import elements

    import sekant as sk

    def counted(name: str) -> list[int]:
        system = sk.compile(elements.with_element(name))
        return [elements.operations(system, held) for held in (False, True)]

    alone = counted("")
    found = {}
    for name in names or elements.IDLE:
        free, held = ((now / before - 1) * 100 for now, before in zip(counted(name), alone, strict=True))
        found[name] = (free, held)
    return found


def markdown() -> str:
    rows = [f"| {name} | {free:.1f} | {held:.1f} |" for name, (free, held) in shares().items()]
    head = ["| idle element | fixed steps, % | switches held, % |", "|---|---|---|"]
    return "\n".join([*head, *rows])
