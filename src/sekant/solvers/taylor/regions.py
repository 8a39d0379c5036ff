"""Regions: values whose series matter only under a condition, and are skipped while it does not hold.

`SELECT` takes one of two operands by a value that is held during a step. A value is needed if *any* of its
conditions holds. Conditions are propagated backwards from the results: they are the conditions of the users of
a value, or the side on which a selection that is always needed reads it. Values with the same conditions form a
region; a region that is too small for a test is merged with a larger region that is also needed under its
conditions. If none of its conditions holds, the coefficients of a region are unchanged, and no selection reads
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from sekant.solvers.taylor.codes import FIRST_OPERATION, Op
from sekant.solvers.taylor.nodes import Nodes

ALWAYS = -1
LEAST = 8
"""Smallest number of operations of a region that is worth a test."""

Condition = tuple[int, bool]  # a held value, and whether it must be nonzero
Conditions = frozenset[Condition]
_NOTHING: Conditions = frozenset()


def find_regions(
    nodes: Nodes, results: Iterable[int], operands: Callable[[int], tuple[int, ...]]
) -> list[int]:
    """For every value a held value that is zero when it is not needed, or `ALWAYS`.

    `results`: values that are needed in any case. `operands(i)`: moving values that the operation reads.
    """
    results, moved = list(results), dict[Conditions, Conditions | None]()
    while True:
        found = _needs(nodes, results, operands, moved)
        sizes = Counter(conditions for conditions in found if conditions)
        small = [conditions for conditions in sizes if sizes[conditions] < LEAST]
        if not small:
            break
        for one in small:
            wider = [other for other in sizes if other > one and sizes[other] >= LEAST]
            moved[one] = min(wider, key=lambda other: (len(other), sorted(other)), default=None)
    numbers = {conditions: _either(nodes, conditions) for conditions in sizes}
    region = [numbers[conditions] if conditions else ALWAYS for conditions in found]
    return region + [ALWAYS] * (len(nodes.op) - len(region))


def _needs(
    nodes: Nodes,
    results: list[int],
    operands: Callable[[int], tuple[int, ...]],
    moved: dict[Conditions, Conditions | None],
) -> list[Conditions | None]:
    """For every value the conditions under which it is needed; None: always."""
    need: list[Conditions | None] = [_NOTHING] * len(nodes.op)
    work: list[int] = []

    def ask(i: int, conditions: Conditions | None) -> None:
        had = need[i]
        if had is None or nodes.held[i]:
            return
        both = None if conditions is None or nodes.op[i] < FIRST_OPERATION else had | conditions
        while both in moved:
            both = moved[both]
        if both != had:
            need[i] = both
            work.append(i)

    for i in results:
        ask(i, None)
    while work:
        i = work.pop()
        select = need[i] is None and nodes.op[i] == Op.SELECT
        for j in operands(i):
            ask(j, _sides(nodes, i, j) if select else need[i])
    return need


def _sides(nodes: Nodes, i: int, j: int) -> Conditions:
    """The conditions under which selection i reads its operand j."""
    return frozenset((nodes.a[i], on) for on in (True, False) if j == (nodes.b[i] if on else nodes.c[i]))


def _either(nodes: Nodes, conditions: Conditions) -> int:
    """A held value that is zero if none of the conditions holds."""
    first, *others = (value if on else nodes.add(Op.NOT, value) for value, on in sorted(conditions))
    for other in others:
        first = nodes.add(Op.OR, first, other)
    return first
