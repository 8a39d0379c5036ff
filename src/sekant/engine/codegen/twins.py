"""Twins: operations of a tape that differ only in their operands, as on the left and right side of a car.

The search starts at pairs of lookups of one shape and continues to the users of their values: two operations
are twins if their operands are twins in the same order, or the same value for both. Further inputs and
constants become twins if only one assignment is possible. A pair of twins becomes one operation on a vector
of two numbers. This halves the instructions and the code, whose length limits the speed of long tapes.

The right-hand side of `examples/car/hatchback.yaml` takes 0.91 us with twins and 1.07 us without, that of `hall.yaml`
0.37 and 0.63 us (processor time, November 2026).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from sekant.engine.codegen.operation_table import having
from sekant.engine.codegen.tape import COMMUTATIVE, CONST, INPUT, LOOKUP, Tape

Sources = Sequence[tuple[int, ...]]
SIDE_BY_SIDE = having("pair")
"""Operations that processors perform on two numbers as fast as on one."""
LEAST = 32
"""Smallest number of pairs that pays."""


def find_twins(tape: Tape, possible: Callable[[int], bool]) -> dict[int, int]:
    """Left twin -> right twin of the `possible` operations that pay, without constants and inputs."""
    if len(tape.lookups) < 2:
        return {}
    finder = _TwinFinder(tape)
    finder.run()
    found = {
        i: j
        for i, j in finder.right.items()
        if finder.op[i] in SIDE_BY_SIDE and possible(i) and possible(j) and not finder.follows(i, j)
    }
    return found if len(found) >= LEAST else {}


class _TwinFinder:
    def __init__(self, tape: Tape):
        self.tape = tape
        self.op, self.a, self.b = tape.op.tolist(), tape.a.tolist(), tape.b.tolist()
        self.users: dict[int, list[int]] = defaultdict(list)
        self.number: dict[tuple[int, int, int], int] = {}
        for i, (op, a, b) in enumerate(zip(self.op, self.a, self.b, strict=True)):
            if op not in (INPUT, CONST, LOOKUP):
                self.number[op, a, b] = i
                for operand in {a, b} - {-1}:
                    self.users[operand].append(i)
        self.right: dict[int, int] = {}
        self.left: dict[int, int] = {}
        self.front: list[tuple[int, int]] = []
        self.waiting: list[tuple[int, int, int]] = []

    def run(self) -> None:
        self._lookups()
        while True:
            while self.front:
                self._follow(*self.front.pop())
            if not self._guess():
                return

    def _pair(self, x: int, y: int) -> None:
        if x != y and not (self._paired(x) or self._paired(y)):
            self.right[x], self.left[y] = y, x
            self.front.append((x, y))

    def _paired(self, x: int) -> bool:
        return x in self.right or x in self.left

    def follows(self, x: int, y: int) -> bool:
        """Whether one of them is computed from the other."""
        return x in (self.a[y], self.b[y]) or y in (self.a[x], self.b[x])

    def _lookups(self) -> None:
        alone: dict[tuple, list[int]] = defaultdict(list)
        for k, look in enumerate(self.tape.lookups):
            shape = look.shape
            same = alone[shape.components, shape.powers, shape.periodic, look.orders]
            if not same:
                same.append(k)
                continue
            other = self.tape.lookups[same.pop()]
            for i in range(len(look.orders) * shape.components):
                self._pair(other.first + i, look.first + i)
            for x, y in zip(other.arguments, look.arguments, strict=True):
                if self.op[x] == self.op[y]:
                    self._pair(x, y)

    def _other(self, user: int, x: int) -> int:
        """The other operand of an operation on x; x itself if it is both, -1 if there is only one."""
        return self.b[user] if self.a[user] == x else self.a[user]

    def _follow(self, x: int, y: int) -> None:
        """Operations on x whose twin on y is determined by the other operand."""
        for user in self.users[x]:
            if self._paired(user):
                continue
            other = self._other(user, x)
            if other in self.left:
                continue  # belongs to the other side
            twin = y if other == x else self.right.get(other, other)
            a, b = (y, twin) if self.a[user] == x else (twin, y)
            if self.op[user] in COMMUTATIVE and a > b:
                a, b = b, a
            found = self.number.get((self.op[user], a, b))
            if found is not None:
                self._pair(user, found)
            elif other >= 0 and self.op[other] in (CONST, INPUT):
                self.waiting.append((x, y, user))

    def _guess(self) -> bool:
        """Operations whose other operand is a separate constant or input: paired by order, if both sides have
        the same number."""
        waiting, self.waiting, found = self.waiting, [], False
        for x, y, user in waiting:
            if self._paired(user):
                continue
            other = self._other(user, x)
            if self._paired(other):
                self._follow(x, y)
                continue
            mine, its = self._alike(x, user, x), self._alike(y, user, x)
            if len(mine) != len(its) or (self.op[other] == INPUT and len(mine) > 1):
                continue
            for one, two in zip(mine, its, strict=True):
                first, second = self._other(one, x), self._other(two, y)
                if self.op[other] == INPUT:
                    self._pair(first, second)
                self._pair(one, two)
                found = True
        return found or bool(self.front)

    def _alike(self, of: int, user: int, x: int) -> list[int]:
        """Operations on `of` that could be the twin of the operation `user` on x."""
        other, op = self._other(user, x), self.op[user]
        found = []
        for candidate in self.users[of]:
            if self.op[candidate] != op or self._paired(candidate):
                continue
            if op not in COMMUTATIVE and (self.a[candidate] == of) != (self.a[user] == x):
                continue
            rest = self._other(candidate, of)
            if rest < 0 or self._paired(rest) or self.op[rest] != self.op[other]:
                continue
            if self.op[other] == CONST or self.a[rest] == self.a[other]:
                found.append(candidate)
        return found


def without_circles(sources: Sources, together: dict[int, list[int]]) -> dict[int, list[int]]:
    """The groups of adjacent values, except pairs that would depend on one another, which are separated."""
    together = dict(together)
    while (stuck := _stuck(sources, together)) is not None:
        for member in together.pop(stuck):
            together.pop(member, None)
    return together


def _stuck(sources: Sources, together: dict[int, list[int]]) -> int | None:
    """The first member of a pair that depends on itself; None if everything can be ordered."""
    count = len(sources)
    lead = list(range(count))
    for i, members in together.items():
        lead[i] = members[0]
    left = [0] * count  # sources, of a pair those of both, that are not done yet
    users: list[list[int]] = [[] for _ in range(count)]
    for leader, its_sources in zip(lead, sources, strict=True):
        for x in its_sources:
            if lead[x] != leader:
                left[leader] += 1
                users[lead[x]].append(leader)
    ready = [i for i in range(count) if lead[i] == i and not left[i]]
    done = bytearray(count)
    while ready:
        i = ready.pop()
        done[i] = 1
        for user in users[i]:
            left[user] -= 1
            if not left[user]:
                ready.append(user)
    return next(
        (i for i in range(count) if lead[i] == i and not done[i] and len(together.get(i, ())) == 2), None
    )
