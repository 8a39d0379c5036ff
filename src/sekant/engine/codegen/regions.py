"""Regions of a tape: operations that are needed only under a condition, grouped so that one jump skips them.

``if_else_zero(c, x)`` needs x only if c is not zero, and a comparison needs its operands only if its site is
free (see `sekant.solvers.common.sites`). So a value is needed if *any* of some conditions holds, which are
propagated backwards from the results: the conditions of its users, or the condition under which a user that
is always needed reads it. Values with the same conditions form a region. If none of these holds, its values
stay undefined and are not read. Conditions are of three kinds:

====== ====================================================================================================
value  value `number` of the tape is not zero
free   site `number` is not held
mode   the comparison `number` of the tape has a free site, or is held true: of what it compares itself
====== ====================================================================================================

Values keep the order of the tape as far as they can: a region is placed where the first of its values is used.

The right-hand side of `examples/car/hatchback.yaml` takes 1.07 us with regions and 1.29 us without (processor time,
November 2026, both without `twins`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from sekant.engine.codegen.operation_table import having
from sekant.engine.codegen.sites import OF_FLOOR, TapeSites
from sekant.engine.codegen.tape import CONST, INPUT, LOOKUP, Tape
from sekant.engine.codegen.twins import find_twins, without_circles

Condition = tuple[str, int]
Conditions = frozenset[Condition]
_ALWAYS: Conditions = frozenset([("always", 0)])
_NEVER: Conditions = frozenset()
_TESTS = frozenset([ca.OP_LT, ca.OP_LE])
_COMPARISONS = _TESTS | {ca.OP_SIGN} | OF_FLOOR
_CHEAP = having("cheap")
WEIGHT = 6
"""Weight of an operation that costs more than an addition or a comparison, relative to those."""
LEAST = 24
"""Smallest weight of a region that is worth a jump."""
MOST_CONDITIONS = 4


@dataclass(frozen=True)
class Regions:
    """`conditions[r]`: any of them makes region r needed. `of[i]`: region of value i of the tape, or -1.

    `order`: the values in an order in which they can be computed, those of a region at one level are
    adjacent, and so are `twins`, left -> right (see `sekant.engine.codegen.twins`).
    """

    conditions: tuple[tuple[Condition, ...], ...]
    of: list[int]
    order: list[int]
    twins: dict[int, int]

    def values(self, region: int) -> list[int]:
        """Values of the tape that decide whether the region is needed."""
        return [number for kind, number in self.conditions[region] if kind == "value"]


def find_regions(tape: Tape, sites: TapeSites, alone: bool = True) -> Regions | None:
    """The regions of a tape that are worth a jump and, without lanes (`alone`), its twins; None if there are
    neither."""
    finder = _Finder(tape, sites)
    if ca.OP_IF_ELSE_ZERO not in finder.op and not sites.switches and not (alone and len(tape.lookups) > 1):
        return None
    return finder.found(alone)


class _Finder:
    def __init__(self, tape: Tape, sites: TapeSites):
        self.tape, self.sites = tape, sites
        self.op, self.a, self.b = tape.op.tolist(), tape.a.tolist(), tape.b.tolist()
        decide = {a for op, a in zip(self.op, self.a, strict=True) if op == ca.OP_IF_ELSE_ZERO}
        self.deciding = {i for i in decide if self.op[i] in _TESTS}
        self.works = [op not in (INPUT, CONST) for op in self.op]
        self.weight = [1 if op in _CHEAP else WEIGHT for op in self.op]
        self.before: dict[int, bytearray] = {}
        self.dissolved: dict[Conditions, Conditions] = {}
        self.need: list[Conditions] = []

    def found(self, alone: bool) -> Regions | None:
        weights = self._weights()
        while small := {conditions for conditions, weight in weights.items() if weight < LEAST}:
            self.dissolved.update({conditions: _wider(conditions, weights) for conditions in small})
            weights = self._weights()
        number = {conditions: r for r, conditions in enumerate(weights)}
        of = [number.get(conditions, -1) if self.works[i] else -1 for i, conditions in enumerate(self.need)]
        twins = find_twins(self.tape, lambda i: of[i] < 0) if alone else {}
        if not weights and not twins:
            return None
        regions = tuple(tuple(sorted(conditions)) for conditions in weights)
        return Regions(regions, of, *self._order(of, regions, twins))

    def _weights(self) -> dict[Conditions, int]:
        """The weight of every region."""
        self._find_needs()
        found: dict[Conditions, int] = {}
        for conditions, works, weight in zip(self.need, self.works, self.weight, strict=True):
            if conditions is not _ALWAYS and works:
                found[conditions] = found.get(conditions, 0) + weight
        return found

    def _operands(self, i: int) -> tuple[int, ...]:
        if not self.works[i]:
            return ()
        if self.op[i] == LOOKUP:
            return self.tape.lookups[self.a[i]].arguments
        return (self.a[i], self.b[i]) if self.b[i] >= 0 else (self.a[i],)

    # -- what is needed where --------------------------------------------------------------------------

    def _find_needs(self) -> None:
        op, a, b, works = self.op, self.a, self.b, self.works
        need = self.need = [_NEVER] * len(op)
        for numbers in self.tape.outputs:
            for number in numbers.tolist():
                need[number] = _ALWAYS
        for i in range(len(op) - 1, -1, -1):
            code = op[i]
            if not works[i]:
                continue
            if code == LOOKUP:
                self._ask_lookup(i)
                continue
            here = need[i] = need[i] or _ALWAYS
            first, second = here, here
            if here is _ALWAYS:
                site = self.sites.switch(i)
                if code == ca.OP_IF_ELSE_ZERO:
                    second = frozenset([("value", a[i])])
                elif site is not None and code in _COMPARISONS:
                    # the values that it decides about mostly need the same values
                    free = ("mode", i) if i in self.deciding else ("free", site[0])
                    first = second = frozenset([free])
            for operand, conditions in ((a[i], first), (b[i], second)):
                if operand < 0 or need[operand] is _ALWAYS or not works[operand]:
                    continue
                if conditions is _ALWAYS:
                    need[operand] = _ALWAYS
                else:
                    self._ask(operand, conditions)

    def _ask(self, number: int, conditions: Conditions) -> None:
        had = self.need[number]
        if had is _ALWAYS or not self.works[number] or (had and conditions <= had):
            return
        both = _ALWAYS if conditions is _ALWAYS else self._possible(number, had | conditions)
        while both in self.dissolved:
            wider = self.dissolved[both]
            both = wider if wider is _ALWAYS else self._possible(number, wider)
        self.need[number] = _ALWAYS if len(both) > MOST_CONDITIONS else both

    def _possible(self, number: int, conditions: Conditions) -> Conditions:
        """The conditions that can be evaluated before the value `number`; of a comparison of this value, only
        its mode."""
        found = set(conditions)
        for condition in conditions:
            kind, test = condition
            if kind != "value" or not self._before(test)[number]:
                continue
            site = self.sites.switch(test)
            if site is None or self.op[test] not in _TESTS:
                return _ALWAYS
            found -= {condition, ("free", site[0])}
            found.add(("mode", test))
        if any(self._opposite(test) in found for kind, test in found if kind == "value"):
            return _ALWAYS
        held = {self.sites.switch(test)[0] for kind, test in found if kind == "mode"}  # type: ignore[index]
        return frozenset(found - {("free", site) for site in held})

    def _opposite(self, test: int) -> Condition:
        """The value whose negation `number` is."""
        return ("value", self.a[test]) if self.op[test] == ca.OP_NOT else ("always", 0)

    def _before(self, number: int) -> bytearray:
        """For every value, whether `number` depends on it."""
        known = self.before.get(number)
        if known is None:
            known = self.before[number] = bytearray(len(self.op))
            front = [number]
            while front:
                i = front.pop()
                if not known[i]:
                    known[i] = 1
                    front.extend(self._operands(i))
                    front.extend(self._together(i))
        return known

    def _together(self, i: int) -> range:
        """All values of the lookup to which value i belongs."""
        if self.op[i] != LOOKUP:
            return range(0)
        look = self.tape.lookups[self.a[i]]
        return range(look.first, look.first + len(look.orders) * look.shape.components)

    def _ask_lookup(self, i: int) -> None:
        """All values of a lookup are computed together as soon as any of them is needed."""
        values = self._together(i)
        last = values[-1]
        if i != last:
            return
        for number in values:
            self._ask(last, self.need[number])
        together = self.need[last] or _ALWAYS
        for number in values:
            self.need[number] = together
        for number in self._operands(i):
            self._ask(number, together)

    # -- the order -------------------------------------------------------------------------------------

    def _order(
        self, of: list[int], regions: tuple[tuple[Condition, ...], ...], twins: dict[int, int]
    ) -> tuple[list[int], dict[int, int]]:
        """The order, and the twins that can be computed side by side."""
        deciding = [[number for kind, number in region if kind == "value"] for region in regions]

        sources = [
            self._operands(i) if region < 0 else (*self._operands(i), *deciding[region])
            for i, region in enumerate(of)
        ]
        level = _levels(sources, of)
        blocks: dict[tuple[int, int], list[int]] = {}
        for i, region in enumerate(of):
            if region >= 0:
                blocks.setdefault((level[i], region), []).append(i)
        sines = {self.a[i]: i for i, op in enumerate(self.op) if op == ca.OP_SIN}
        together = {i: blocks[level[i], of[i]] for i in range(len(of)) if of[i] >= 0}
        for i, op in enumerate(self.op):  # one call computes both, if they are adjacent
            if op == ca.OP_COS and self.a[i] in sines and of[i] < 0 and of[sines[self.a[i]]] < 0:
                together[i] = together[sines[self.a[i]]] = [sines[self.a[i]], i]
        for i, j in twins.items():
            together[i] = together[j] = [i, j]
        together = without_circles(sources, together)
        return _sorted(sources, together), {i: j for i, j in twins.items() if i in together}


def _wider(conditions: Conditions, weights: dict[Conditions, int]) -> Conditions:
    """The heaviest region that is needed whenever a small one is needed, and so may absorb its values."""
    found = [
        (weight, tuple(sorted(other)))
        for other, weight in weights.items()
        if other is not conditions
        and all(one in other or (one[0] == "value" and ("mode", one[1]) in other) for one in conditions)
    ]
    return frozenset(max(found)[1]) if found else _ALWAYS


def _sorted(sources: Sequence[tuple[int, ...]], together: dict[int, list[int]]) -> list[int]:
    """All values, in an order as close to the original as dependencies and adjacency allow."""
    done, order = bytearray(len(sources)), []
    for top in range(len(sources)):
        front = [top]
        while front:
            i = front[-1]
            if done[i]:
                front.pop()
                continue
            members = together.get(i)
            if members is None:
                members = [i]
                waiting = sorted((x for x in sources[i] if not done[x]), reverse=True)
            else:
                inside = set(members)
                found = {x for member in members for x in sources[member] if not done[x]}
                waiting = sorted(found - inside, reverse=True)
            if waiting:
                front.extend(waiting)
                continue
            front.pop()
            order.extend(members)
            for member in members:
                done[member] = 1
    return order


def _levels(sources: Sequence[tuple[int, ...]], of: list[int]) -> list[int]:
    """Number of successive regions that each value depends on."""
    level, asked = [-1] * len(of), bytearray(len(of))
    for top in range(len(of)):
        front = [top]
        while front:
            i = front[-1]
            waiting = [x for x in sources[i] if level[x] < 0] if level[i] < 0 else []
            if waiting:
                assert not asked[i], "the condition of a region depends on values computed in that region"
                asked[i] = 1
                front.extend(waiting)
                continue
            front.pop()
            if level[i] < 0:
                late = of[i] < 0
                level[i] = max([level[x] + (late and of[x] >= 0) for x in sources[i]], default=0)
    return level
