"""Blocks: sequences of operations that a tape repeats with other values, such as those of the bodies of a chain.

The operations themselves determine where a tape is cut: each piece ends where a fingerprint of the last few
operations is a local minimum (content-defined chunking). So where the tape repeats itself, the cuts do too,
wherever the repetition begins and however long it is. Pieces are equal if they apply the same operations to
operands of the same kinds, at the same places if they come from the piece itself. Equal pieces become one
function. Each call has a table with the places of its inputs and results. The code and its compilation time
shrink by the number of repetitions, and the code stays in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sekant.engine.codegen.tape import CONST, INPUT, LOOKUP, Tape

LEAST_OPERATIONS = 4000
"""Smallest number of operations of a tape that is searched for blocks."""
SHORTEST, LONGEST = 100, 400
"""Smallest and largest number of operations of a piece."""
LEAST_CALLS = 3
SOON = 8
"""Lifetime, in chunks, up to which the values of a call are stored separately from longer-lived ones."""
NEAR = 64
"""Distance, in operations, up to which the distance of an operand is part of the fingerprint."""
LAST_FEW = 8
_NONE, _VALUE, _NUMBER, _OTHERS = -1, -2, -3, -8
_ODD = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_MASK = (1 << 64) - 1


@dataclass(frozen=True, eq=False)
class Block:
    """`chunks`: the chunks that the block computes; `values[k]`: the values of the tape that call k computes."""

    chunks: tuple[int, ...]
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Blocks:
    """`chunk`: the chunk of every value of the tape, -1 for inputs and constants."""

    chunk: np.ndarray
    blocks: tuple[Block, ...]

    def with_equals(self, last: np.ndarray) -> np.ndarray:
        """The last chunk that needs each value, made equal for corresponding values of equal pieces where
        possible."""
        found = last.copy()
        for block in self.blocks:
            crosses = np.any(last[block.values] > self.chunk[block.values], axis=0)
            values = block.values[:, crosses]
            found[values] = np.maximum(found[values], self.chunk[values] + 1)
        return found

    def frames(self, last: np.ndarray) -> dict[int, list[int]]:
        """Every value of a block's call that others use, and the values stored next to it: either the
        short-lived ones of the same call or the long-lived ones."""
        found: dict[int, list[int]] = {}
        for block in self.blocks:
            life = np.max(last[block.values] - self.chunk[block.values], axis=0)
            for members in ((life > 0) & (life <= SOON), life > SOON):
                for values in block.values[:, members].tolist():
                    found.update(dict.fromkeys(values, values))
        return found


def find_blocks(tape: Tape, size: int, numbers: Mapping[int, int]) -> Blocks | None:
    """The blocks of a tape, the rest of it in chunks of `size` operations; None if blocks do not pay."""
    works = np.flatnonzero((tape.op != INPUT) & (tape.op != CONST))
    if works.size < LEAST_OPERATIONS:
        return None
    place = np.full(tape.op.size, -1)
    place[works] = np.arange(works.size)
    kinds = _kinds(tape, numbers)
    operands = [_operands(tape, works, of) for of in (tape.a, tape.b)]
    cuts = _cuts(tape, works, place, kinds, operands)
    keys = _keys(tape, works, place, kinds, operands, cuts)
    equal: dict[bytes, list[int]] = {}
    for piece, key in enumerate(keys):
        if piece and key:  # the first chunk copies outputs that are not computed
            equal.setdefault(key, []).append(piece)
    shared = [pieces for pieces in equal.values() if len(pieces) >= LEAST_CALLS]
    length = np.diff(cuts)
    spared = sum(int(length[pieces[0]]) * (len(pieces) - 1) for pieces in shared)
    if 2 * spared < works.size:
        return None
    number = _numbered(length, {piece for pieces in shared for piece in pieces}, size)
    chunk = np.full(tape.op.size, -1)
    chunk[works] = np.repeat(number, length)
    blocks = [
        Block(tuple(int(number[i]) for i in pieces), np.array([works[cuts[i] : cuts[i + 1]] for i in pieces]))
        for pieces in shared
    ]
    return Blocks(chunk, tuple(blocks))


def _operands(tape: Tape, works: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Indices of the operands of the operations, -1 if there is none."""
    return np.where(tape.op[works] == LOOKUP, -1, of[works])


def _kinds(tape: Tape, numbers: Mapping[int, int]) -> np.ndarray:
    """For every value, what the code must know about it as an operand from outside."""
    kind = np.full(tape.op.size, _VALUE)
    constants = np.flatnonzero(tape.op == CONST)
    bits = np.ascontiguousarray(tape.constant[constants]).view(np.int64)
    kind[constants] = _OTHERS - len(tape.sizes_in) - np.unique(bits, return_inverse=True)[1]
    kind[list(numbers)] = _NUMBER
    inputs = tape.op == INPUT
    kind[inputs] = _OTHERS - tape.a[inputs]
    return kind


def _cuts(
    tape: Tape, works: np.ndarray, place: np.ndarray, kinds: np.ndarray, operands: list[np.ndarray]
) -> np.ndarray:
    """The starts of the pieces, and the end."""
    mark = _mixed(tape.op[works].astype(np.int64))
    for k, x in enumerate(operands, start=1):
        distance = np.arange(works.size) - place[x]
        seen = np.where(kinds[x] == _VALUE, np.where(distance <= NEAR, distance, _VALUE), kinds[x])
        mark = mark * np.uint64(_ODD[0]) + _mixed(np.where(x < 0, _NONE, seen) + 1000 * k)
    total, factor = mark.copy(), 1
    for k in range(1, LAST_FEW):
        factor = factor * _ODD[1] & _MASK
        total[k:] += mark[:-k] * np.uint64(factor)
    total = _mixed(total.view(np.int64))
    for look in tape.lookups:  # all values of a lookup stay together
        total[place[look.first] : place[look.first] + len(look.values) - 1] = _MASK
    cuts, count = [0], works.size
    while count - cuts[-1] > LONGEST:
        first = cuts[-1] + SHORTEST
        cuts.append(first + int(np.argmin(total[first : cuts[-1] + LONGEST])) + 1)
    return np.array([*cuts, count])


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Numbers of 64 bits that look random."""
    x = numbers.astype(np.int64).view(np.uint64) * np.uint64(_ODD[0])
    x = (x ^ (x >> np.uint64(30))) * np.uint64(_ODD[1])
    x = (x ^ (x >> np.uint64(27))) * np.uint64(_ODD[2])
    return x ^ (x >> np.uint64(31))


def _keys(
    tape: Tape,
    works: np.ndarray,
    place: np.ndarray,
    kinds: np.ndarray,
    operands: list[np.ndarray],
    cuts: np.ndarray,
) -> list[bytes]:
    """Everything that the code of each piece depends on; empty for pieces with a lookup, which cannot be shared."""
    begin = np.repeat(cuts[:-1], np.diff(cuts))
    columns = [tape.op[works].astype(np.int64)]
    for x in operands:
        inside = (x >= 0) & (place[x] >= begin)
        columns.append(np.where(x < 0, _NONE, np.where(inside, place[x] - begin, kinds[x])))
    results = np.zeros(tape.op.size, dtype=np.int64)
    for i, numbers in enumerate(tape.outputs):
        np.add.at(results, numbers, _mixed(np.array([i])).view(np.int64)[0])
    columns.append(results[works])
    table = np.column_stack(columns)
    looks = np.logical_or.reduceat(tape.op[works] == LOOKUP, cuts[:-1])
    return [
        b"" if look else table[i:j].tobytes()
        for i, j, look in zip(cuts[:-1].tolist(), cuts[1:].tolist(), looks.tolist(), strict=True)
    ]


def _numbered(length: np.ndarray, shared: set[int], size: int) -> np.ndarray:
    """The chunk of every piece: its own for shared pieces, else chunks of about `size` operations."""
    numbers, current, room = [], -1, 0
    for piece, count in enumerate(length.tolist()):
        if piece in shared or room < count:
            current, room = current + 1, 0 if piece in shared else max(size, count)
        room -= 0 if piece in shared else count
        numbers.append(current)
    return np.array(numbers)
