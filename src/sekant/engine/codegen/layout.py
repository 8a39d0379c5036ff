"""The division of a tape into chunks, and the storage of values that are used across chunks."""

from __future__ import annotations

import numpy as np

from sekant.engine.codegen.blocks import Blocks
from sekant.engine.codegen.regions import Regions
from sekant.engine.codegen.tape import CONST, INPUT, LOOKUP, Tape
from sekant.object_code.link import ENTRY


class ChunkLayout:
    """The chunk in which each value is computed, and the place in w of values that are used across chunks.

    `op`, `a`, `b`: the tape's arrays as lists, which Python reads faster. `members[c]`: values of chunk c
    in the order in which they are computed.
    """

    def __init__(
        self,
        tape: Tape,
        size: int,
        regions: Regions | None = None,
        entry: str = ENTRY,
        blocks: Blocks | None = None,
    ):
        self.entry, self.blocks = entry, blocks
        op, n = tape.op, tape.op.size
        self.op, self.a, self.b = op.tolist(), tape.a.tolist(), tape.b.tolist()
        self.regions = regions
        self.twin: dict[int, int] = regions.twins if regions is not None else {}
        self.left_of: dict[int, int] = {right: left for left, right in self.twin.items()}
        order = np.arange(n) if regions is None else np.array(regions.order, dtype=np.int64)
        free = (op == INPUT) | (op == CONST)
        self.outputs: dict[int, list[tuple[int, int]]] = {}
        for i, numbers in enumerate(tape.outputs):
            for j, number in enumerate(numbers.tolist()):
                self.outputs.setdefault(number, []).append((i, j))
        self.chunk = blocks.chunk if blocks is not None else self._by_size(tape, size, order, free)
        self.count = int(self.chunk.max(initial=0)) + 1
        self.members = _split(order, self.chunk, self.count)
        self.slot = self._slots(self._last_use(tape))

    def _by_size(self, tape: Tape, size: int, order: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Successive chunks of `size` operations; the values of a lookup and twins stay together."""
        n = tape.op.size
        weight = np.where(free, 0, 1)
        start = np.ones(n, dtype=bool)
        for lookup in tape.lookups:
            results = len(lookup.orders) * lookup.shape.components
            start[lookup.first + 1 : lookup.first + results] = False
        second = list(self.twin.values())
        start[second] = False
        weight[second] = 0
        begins = start[order]
        position = np.cumsum(weight[order])[begins] - 1
        chunk = np.maximum(position, 0) // size
        found = np.empty(n, dtype=np.int64)
        found[order] = chunk[np.cumsum(begins) - 1]
        found[free] = -1
        return found

    def _last_use(self, tape: Tape) -> np.ndarray:
        """The last chunk that needs each value."""
        last = self.chunk.copy()
        users = np.flatnonzero((self.chunk >= 0) & (tape.op != LOOKUP))
        for operand in (tape.a, tape.b):
            using = users[operand[users] >= 0]
            np.maximum.at(last, operand[using], self.chunk[using])
        for lookup in tape.lookups:
            for number in lookup.arguments:
                last[number] = max(last[number], self.chunk[lookup.first])
        if self.regions is not None:
            for i, region in enumerate(self.regions.of):
                for number in self.regions.values(region) if region >= 0 else ():
                    last[number] = max(last[number], self.chunk[i])
        return last if self.blocks is None else self.blocks.with_equals(last)

    def _slots(self, last: np.ndarray) -> dict[int, int]:
        crossing = np.flatnonzero((self.chunk >= 0) & (last > self.chunk))
        in_order = crossing[np.argsort(self.chunk[crossing], kind="stable")]
        together = {first: [first, second] for first, second in self.twin.items()}
        framed = self.blocks.frames(last) if self.blocks is not None else {}
        slot: dict[int, int] = {}
        free: dict[int, list[int]] = {}  # by size of the free block
        dying: dict[int, list[tuple[int, int]]] = {}
        size, current = 0, 0
        order: list[int] = in_order.tolist()
        for number, chunk in zip(order, self.chunk[in_order].tolist(), strict=True):
            if number in slot:  # stored together with others
                continue
            while current < chunk:
                for room, place in dying.pop(current, ()):
                    free.setdefault(room, []).append(place)
                current += 1
            first = self.left_of.get(number, number)
            members = framed.get(number) or together.get(first) or [first]
            room = len(members)
            if free.get(room):
                place = free[room].pop()
            else:
                place, size = size, size + room
            slot.update(zip(members, range(place, place + room), strict=True))
            dying.setdefault(int(last[members].max()), []).append((room, place))
        self.work_size = size
        return slot


def _split(order: np.ndarray, chunk: np.ndarray, count: int) -> list[list[int]]:
    order = order[np.argsort(chunk[order], kind="stable")]
    bounds = np.searchsorted(chunk[order], np.arange(count + 1))
    return [order[bounds[c] : bounds[c + 1]].tolist() for c in range(count)]
