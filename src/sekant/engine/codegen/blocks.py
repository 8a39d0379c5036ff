"""Blocks: runs of operations that a tape repeats on other values, such as those of the bodies of a chain.

A tape is cut where its own operations say so: each piece ends where a fingerprint of the last few operations is
least among those that follow. So where the tape repeats itself, the cuts do too, wherever the repetition begins and
however long it is. Pieces are equal if they apply the same operations to operands of the same kinds, in the same
places of the piece where they come from the piece itself. Equal pieces are one function, which finds the values from
outside and the places for its results in a table of its own for each call. Code, and the time to compile it, shrink
by the number of repetitions, and the processor finds the code in its cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sekant.engine.codegen.tape import CONST, INPUT, LOOKUP, Tape

LEAST_OPERATIONS = 4000
"""Of a tape that is searched for blocks."""
SHORTEST, LONGEST = 100, 400
"""Operations of a piece."""
LEAST_CALLS = 3
SOON = 8
"""Chunks for which the values of a call are kept apart from those that live longer."""
NEAR = 64
"""Operations between which the distance is part of the fingerprint."""
LAST_FEW = 8
_NONE, _VALUE, _NUMBER, _OTHERS = -1, -2, -3, -8
_ODD = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_MASK = (1 << 64) - 1


@dataclass(frozen=True, eq=False)
class Block:
    """`chunks`: those that the block computes; `values[k]`: the values of the tape that are computed in call k."""

    chunks: tuple[int, ...]
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Blocks:
    """`chunk`: of every value of the tape, -1 where it is an input or a constant."""

    chunk: np.ndarray
    blocks: tuple[Block, ...]

    def with_equals(self, last: np.ndarray) -> np.ndarray:
        """The last chunk that needs each value: at least the next, where that of an equal value is a later one."""
        found = last.copy()
        for block in self.blocks:
            crosses = np.any(last[block.values] > self.chunk[block.values], axis=0)
            values = block.values[:, crosses]
            found[values] = np.maximum(found[values], self.chunk[values] + 1)
        return found

    def frames(self, last: np.ndarray) -> dict[int, list[int]]:
        """Every value that a call of a block leaves for others, and those that live side by side with it: of the same
        call those that are needed for a few chunks, or those that are needed for longer."""
        found: dict[int, list[int]] = {}
        for block in self.blocks:
            life = np.max(last[block.values] - self.chunk[block.values], axis=0)
            for members in ((life > 0) & (life <= SOON), life > SOON):
                for values in block.values[:, members].tolist():
                    found.update(dict.fromkeys(values, values))
        return found


def find_blocks(tape: Tape, size: int, numbers: Mapping[int, int]) -> Blocks | None:
    """The blocks of a tape, the rest of it in chunks of `size` operations; None where blocks are not worth it."""
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
        if piece and key:  # the first chunk copies what is not computed
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
    """Numbers of the operands of the operations, -1 where there is none."""
    return np.where(tape.op[works] == LOOKUP, -1, of[works])


def _kinds(tape: Tape, numbers: Mapping[int, int]) -> np.ndarray:
    """Of every value, what code must know of it as an operand from outside."""
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
    """Where pieces begin, and the end."""
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
    """All that the code of each piece depends on; empty where it has a lookup, which no other can share."""
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
    """The chunk of every piece: one of its own for those that are shared, else chunks of about `size` operations."""
    numbers, current, room = [], -1, 0
    for piece, count in enumerate(length.tolist()):
        if piece in shared or room < count:
            current, room = current + 1, 0 if piece in shared else max(size, count)
        room -= 0 if piece in shared else count
        numbers.append(current)
    return np.array(numbers)
