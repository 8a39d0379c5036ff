"""Blocks -> LLVM IR: one function for all calls of a block, and a table of places for each call (see `blocks`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sekant.engine.codegen.blocks import Block
from sekant.engine.codegen.layout import ChunkLayout
from sekant.engine.codegen.linking import SYMBOL
from sekant.engine.codegen.sites import TapeSites
from sekant.engine.codegen.tape import CONST, INPUT, Tape
from sekant.engine.codegen.writer import SIGNATURE, ChunkWriter

_WORK, _NUMBERS = -1, -2
"""Array that a block may read in addition to the arguments, and array that it may write in addition to the
results."""


@dataclass(frozen=True, eq=False)
class BlockCode:
    """`text`: IR of a function with a further argument, its table; `tables`: (calls, groups), elements of arrays."""

    text: str
    tables: np.ndarray


def block_code(
    name: str, block: Block, tape: Tape, layout: ChunkLayout, numbers: Mapping[int, int], fused: bool
) -> BlockCode:
    own, outside = _own_tape(block, tape, numbers)
    written, places = _writes(block, layout)
    elements = np.column_stack([_inputs(outside, tape, layout, numbers), *places])
    arrays = [*own.a[: outside.shape[1]].tolist(), *(array for array, _ in written)]
    group, step, first = _groups(arrays, elements)
    own_layout = ChunkLayout(_with_outputs(own, written), own.op.size)
    writer = _BlockWriter(own, TapeSites(), own_layout, 0, {}, fused=fused)
    writer.places = list(zip(group, step, strict=True))
    writer.written = [array for array, _ in written]
    head = f"define void @{name}({SIGNATURE}, ptr noalias readonly %t) noinline nounwind"
    return BlockCode(f"{head} {{\n{writer.body()}\n ret void\n}}", elements[:, first])


def _groups(arrays: list[int], elements: np.ndarray) -> tuple[list[int], list[int], list[int]]:
    """For each column of elements: its group (columns of one array at the same distances in all calls) and
    its distance from the first of the group; and the first column of each group."""
    moves = elements - elements[0]
    groups: dict[tuple[int, bytes], int] = {}
    group, step, first = [], [], []
    for column, array in enumerate(arrays):
        k = groups.setdefault((array, moves[:, column].tobytes()), len(groups))
        if k == len(first):
            first.append(column)
        group.append(k)
        step.append(int(elements[0, column] - elements[0, first[k]]))
    return group, step, first


def _own_tape(block: Block, tape: Tape, numbers: Mapping[int, int]) -> tuple[Tape, np.ndarray]:
    """The operations of a block as a tape, and the outside values that are its inputs, (calls, inputs)."""
    first = block.values[0]
    in_code = tape.op == CONST
    in_code[list(numbers)] = False
    sides = [of[block.values] for of in (tape.a, tape.b)]
    inside = [(x[0] >= 0) & np.isin(x[0], first) for x in sides]
    constant = [(x[0] >= 0) & in_code[x[0]] for x in sides]
    reads = [(x[0] >= 0) & ~here & ~fixed for x, here, fixed in zip(sides, inside, constant, strict=True)]
    outside, which = np.unique(
        np.column_stack([x[:, mask] for x, mask in zip(sides, reads, strict=True)]),
        axis=1,
        return_inverse=True,
    )
    which = np.split(which.ravel(), [int(np.count_nonzero(reads[0]))])
    fixed = np.unique(np.concatenate([x[0][mask] for x, mask in zip(sides, constant, strict=True)]))
    before = outside.shape[1]
    operands = []
    for x, here, known, read, column in zip(sides, inside, constant, reads, which, strict=True):
        operand = np.full(first.size, -1, dtype=np.int32)
        operand[here] = before + fixed.size + np.searchsorted(first, x[0][here])
        operand[known] = before + np.searchsorted(fixed, x[0][known])
        operand[read] = column
        operands.append(operand)
    source = outside[0]
    base = np.where(
        tape.op[source] == INPUT, tape.a[source], np.where(tape.op[source] == CONST, _NUMBERS, _WORK)
    )
    nothing = np.full(fixed.size, -1)
    return Tape(
        np.concatenate([np.full(before, INPUT), np.full(fixed.size, CONST), tape.op[first]]).astype(np.int16),
        np.concatenate([base, nothing, operands[0]]).astype(np.int32),
        np.concatenate([np.arange(before), nothing, operands[1]]).astype(np.int32),
        np.concatenate([np.zeros(before), tape.constant[fixed], np.zeros(first.size)]),
        (),
        (),
        tape.sizes_in,
    ), outside


def _inputs(outside: np.ndarray, tape: Tape, layout: ChunkLayout, numbers: Mapping[int, int]) -> np.ndarray:
    """The array elements of the outside values."""
    element = np.where(tape.op == INPUT, tape.b, -1)
    for places in (layout.slot, numbers):
        if places:
            element[list(places)] = list(places.values())
    return element[outside]


def _writes(block: Block, layout: ChunkLayout) -> tuple[list[tuple[int, int]], list[list[int]]]:
    """The values that a block stores: (array, number of the operation), and the elements, by call."""
    written, places = [], []
    for position, values in enumerate(block.values.T.tolist()):
        if values[0] in layout.slot:
            written.append((_WORK, position))
            places.append([layout.slot[value] for value in values])
        results = [layout.outputs.get(value, ()) for value in values]
        for k, (i, _) in enumerate(results[0]):
            written.append((i, position))
            places.append([of[k][1] for of in results])
    return written, places


def _with_outputs(own: Tape, written: list[tuple[int, int]]) -> Tape:
    first = own.op.size - int(np.count_nonzero((own.op != INPUT) & (own.op != CONST)))
    numbers = np.array([first + position for _, position in written], dtype=np.int64)
    return replace(own, outputs=(numbers,))


class _BlockWriter(ChunkWriter):
    """Text of a block. Its inputs, and then its outputs, are at `places`: (column of the table, distance).

    `written`: the arrays to which the outputs belong.
    """

    places: list[tuple[int, int]]
    written: list[int]

    def copies(self) -> None:
        """Do nothing, because the first chunk copies them."""

    def input(self, i: int, element: int) -> str:
        base = {_WORK: "%w", _NUMBERS: f"@{SYMBOL}"}.get(i) or self.array("arg", i)
        return self.load(self.start("r", base, element), self.places[element][1])

    def output(self, name: str, i: int, element: int) -> None:
        array, column = self.written[element], len(self.places) - len(self.written) + element
        base = "%w" if array == _WORK else self.array("res", array)
        self.store(name, self.start("o", base, column), self.places[column][1])

    def start(self, prefix: str, base: str, column: int) -> str:
        """Pointer to the first element of a group."""
        n = self.places[column][0]
        name = f"%{prefix}{n}"
        if name not in self.arrays:
            self.arrays[name] = name
            self.head += [
                f"{name}.t = getelementptr i32, ptr %t, i64 {n}",
                f"{name}.o = load i32, ptr {name}.t, align 4, !invariant.load !{{}}",
                f"{name} = getelementptr double, ptr {base}, i32 {name}.o",
            ]
        return name


def table_text(name: str, tables: list[np.ndarray]) -> str:
    """All tables one after the other, as a constant."""
    data = np.concatenate([table.ravel() for table in tables]).astype("<i4").tobytes()
    text = "".join(map("\\{:02X}".format, data))
    return f'@{name} = internal constant [{len(data)} x i8] c"{text}", align 4'
