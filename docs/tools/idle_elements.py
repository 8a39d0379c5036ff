"""What elements add to an evaluation while they are idle, on the arm of `benchmarks/elements.py`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))


def shares(names: Sequence[str] = ()) -> dict[str, tuple[float, float, float, float, float]]:
    """Percent of operations by element (all unless named).

    In fixed steps of one evaluation, with switches held, in Taylor series; and what of an evaluation and of a series
    it takes to know where the body of a contact is.
    """
    import elements

    import sekant as sk

    def counted(name: str) -> list[float]:
        system = sk.compile(elements.with_element(name))
        return [count(system) for count in counts]

    counts = elements.fixed_operations, elements.operations, elements.series_operations

    base = sk.compile(elements.with_element(""))
    alone = counted("")
    found = {}
    for name in names or elements.IDLE:
        free, held, series = (
            (now / before - 1) * 100 for now, before in zip(counted(name), alone, strict=True)
        )
        where = elements.PLACES.get(name, [])
        places = elements.place(base, where) / alone[0], elements.place_in_series(where) / alone[2]
        found[name] = (free, held, series, *(100 * place for place in places))
    return found


def markdown() -> str:
    rows = [
        f"| {name} | {free:.1f} | {held:.1f} | {series:.1f} | {f'{place:.1f} | {seen:.1f}' if place else ' | '} |"
        for name, (free, held, series, place, seen) in shares().items()
    ]
    head = [
        "| idle element | fixed steps, % | held switches, % | series, % "
        "| position, fixed steps, % | position, series, % |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join([*head, *rows])


def rubbing() -> str:
    """What friction by a coefficient adds."""
    import elements

    import sekant as sk

    alone = elements.operations(sk.compile(elements.with_element("")))
    whole, one = elements.rounds_of_friction()
    rounds = elements.friction.ROUNDS * one
    return (
        f"The equations of the same arm have {alone} operations. Friction with a coefficient in one hinge adds "
        f"{whole} ({100 * whole / alone:.0f} %): {whole - rounds} for the reaction and its dependence on "
        f"friction, and {rounds} for "
        f"{elements.friction.ROUNDS} iterations of Newton's method."
    )
