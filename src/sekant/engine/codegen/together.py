"""Functions that share code: several entries to the chunks of one tape.

Rates, outputs, events and forces of friction of a system mostly consist of the same operations: kinematics, forces,
accelerations. Compiled together, each operation becomes code once. The values of the tape are sorted by the set of
functions that need them; each set has chunks of its own, so that every function calls exactly what it needs. Sites
are always free in such functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from sekant.engine.codegen.blocks import Blocks, find_blocks
from sekant.engine.codegen.layout import ChunkLayout
from sekant.engine.codegen.llvm import Code, modules_of
from sekant.engine.codegen.sites import TapeSites
from sekant.engine.codegen.tape import CONST, INPUT, Tape, needed_for
from sekant.engine.codegen.writer import SIGNATURE, ChunkWriter
from sekant.object_code.link import ENTRY
from sekant.object_code.target import host_target


@dataclass(frozen=True, eq=False)
class TapePart:
    """A function of the symbols `inputs` with the values of `outputs`."""

    name: str
    inputs: Sequence[ca.SX]
    outputs: Sequence[ca.SX]


@dataclass(frozen=True)
class PartShape:
    """What the code of a part depends on: the numbers of its first output and of the one behind its last; its
    number of inputs, and of which pieces of them each input of the tape consists, as (number, first element there,
    first element here, length)."""

    first: int
    end: int
    inputs: int
    pieces: tuple[tuple[tuple[int, int, int, int], ...], ...]


def entry_of(part: int) -> str:
    return f"{ENTRY}.part{part}"


def shapes_of(parts: Sequence[TapePart]) -> tuple[PartShape, ...]:
    """The shapes of parts; the inputs of the tape are those of the first one."""
    common, shapes, first = [_elements(x) for x in parts[0].inputs], [], 0
    for part in parts:
        place = {one: (i, j) for i, x in enumerate(part.inputs) for j, one in enumerate(_elements(x))}
        pieces = tuple(_pieces([place.get(one) for one in elements]) for elements in common)
        shapes.append(PartShape(first, first + len(part.outputs), len(part.inputs), pieces))
        first += len(part.outputs)
    return tuple(shapes)


def _elements(symbols: ca.SX) -> list[int]:
    return [one.element_hash() for one in ca.vertsplit(ca.vec(symbols))] if symbols.numel() else []


def _pieces(places: Sequence[tuple[int, int] | None]) -> tuple[tuple[int, int, int, int], ...]:
    """Runs of places; an element without a place, such as accumulated work, is not needed."""
    found: list[tuple[int, int, int, int]] = []
    for here, place in enumerate(places):
        if place is None:
            continue
        if found:
            number, there, begin, length = found[-1]
            if (number, there + length, begin + length) == (*place, here):
                found[-1] = (number, there, begin, length + 1)
                continue
        found.append((*place, here, 1))
    return tuple(found)


def emit_together(
    tape: Tape, parts: Sequence[PartShape], chunk: int, sites: TapeSites, numbers: Mapping[int, int]
) -> Code | None:
    """LLVM IR of a tape with an entry for each part; None if its repeated blocks (see `blocks`) are less code."""
    if find_blocks(tape, chunk, numbers) is not None:
        return None
    asked = [np.concatenate([np.zeros(0, np.int64), *tape.outputs[one.first : one.end]]) for one in parts]
    needs = sum(needed_for(tape, results).astype(np.int64) << k for k, results in enumerate(asked))
    chunks, users = _chunks(tape, np.asarray(needs), len(parts), chunk)
    layout = ChunkLayout(tape, chunk, blocks=Blocks(chunks, ()))
    fused = host_target().fused
    texts = {}
    for c in range(layout.count):
        texts[f"{ENTRY}.{c}"] = _Writer(tape, sites, layout, c, numbers, fused=fused).text()
    entries: list[tuple[int, PartShape, list[str]]] = []
    for k, part in enumerate(parts):
        name = f"{ENTRY}.copies{k}"
        texts[name] = _Writer(tape, sites, layout, 0, numbers, fused=fused).copies_of(
            name, range(part.first, part.end)
        )
        calls = [f"{ENTRY}.{c}" for c in range(layout.count) if users[c] >> k & 1]
        entries.append((k, part, [*calls, name]))
    work = layout.work_size + sum(tape.sizes_in) + max(tape.sizes_out)

    def first(others: Sequence[str]) -> str:
        declared = [f"declare void @{name}(ptr, ptr, ptr) nounwind" for name in others]
        declared.append("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        made = [_entry(k, part, calls, tape, layout.work_size) for k, part, calls in entries]
        return "\n".join([*declared, *made])

    return Code(tuple(modules_of(texts, first, numbers)), work, layout.count)


def _chunks(tape: Tape, needs: np.ndarray, parts: int, size: int) -> tuple[np.ndarray, list[int]]:
    """The chunk of every value, -1 for inputs and constants; and the parts that need each chunk, as bits.

    What a value needs is needed by at least as many parts, so chunks that many parts need come first.
    """
    works = np.flatnonzero((tape.op != INPUT) & (tape.op != CONST))
    counts = np.sum([needs >> k & 1 for k in range(parts)], axis=0)
    works = works[np.lexsort((works, needs[works], -counts[works]))]
    start = np.ones(tape.op.size, dtype=bool)
    for look in tape.lookups:  # the values of a lookup stay together
        start[look.first + 1 : look.first + len(look.values)] = False
    chunks, users = np.full(tape.op.size, -1), []
    room, last = 0, -1
    for i, bits, begins in zip(works.tolist(), needs[works].tolist(), start[works].tolist(), strict=True):
        if bits != last or (room <= 0 and begins):
            users.append(bits)
            room, last = size, bits
        chunks[i] = len(users) - 1
        room -= 1
    return chunks, users


class _Writer(ChunkWriter):
    """Text of a chunk; values that are inputs or constants are results of functions of their own."""

    def copies(self) -> None:
        """Nothing: `copies_of` writes them."""

    def copies_of(self, name: str, outputs: range) -> str:
        for number, places in self.layout.outputs.items():
            for i, j in places if self.layout.chunk[number] < 0 else ():
                if i in outputs:
                    self.output(self.operand(number), i, j)
        body = "\n".join([*self.head, *self.lines])
        return f"define void @{name}({SIGNATURE}) noinline nounwind {{\n{body}\n ret void\n}}"


def _entry(k: int, part: PartShape, calls: Sequence[str], tape: Tape, work: int) -> str:
    """The function of a part. It calls the chunks with the inputs of the tape, and with scratch memory instead of
    results of other parts."""
    inputs, outputs, place = len(tape.sizes_in), len(tape.outputs), work
    lines = [f" %given = alloca [{inputs + 2} x i64]", f" %back = alloca [{outputs} x i64]"]
    for i in range(part.inputs + 1):
        lines += [f" %a{i} = getelementptr i64, ptr %arg, i64 {i}", f" %in{i} = load ptr, ptr %a{i}, align 8"]
    for i, (size, pieces) in enumerate(zip(tape.sizes_in, part.pieces, strict=True)):
        if len(pieces) == 1 and pieces[0][1:3] == (0, 0):
            lines += _stored("given", i, f"%in{pieces[0][0]}")
            continue
        lines.append(f" %x{i} = getelementptr double, ptr %w, i64 {place}")
        lines += _stored("given", i, f"%x{i}")
        for n, (source, there, here, length) in enumerate(pieces):
            name = f"{i}.{n}"
            lines += [
                f" %to{name} = getelementptr double, ptr %x{i}, i64 {here}",
                f" %from{name} = getelementptr double, ptr %in{source}, i64 {there}",
                f" call void @llvm.memcpy.p0.p0.i64(ptr %to{name}, ptr %from{name}, i64 {8 * length}, i1 false)",
            ]
        place += size
    lines += _stored("given", inputs, f"%in{part.inputs}")
    lines.append(f" %unused = getelementptr double, ptr %w, i64 {work + sum(tape.sizes_in)}")
    for i in range(outputs):
        own = part.first <= i < part.end
        if own:
            j = i - part.first
            lines += [
                f" %r{j} = getelementptr i64, ptr %res, i64 {j}",
                f" %out{j} = load ptr, ptr %r{j}, align 8",
            ]
        lines += _stored("back", i, f"%out{i - part.first}" if own else "%unused")
    lines += [f" call void @{name}(ptr %given, ptr %back, ptr %w)" for name in calls]
    body = "\n".join(lines)
    return f"define void @{entry_of(k)}({SIGNATURE}) nounwind {{\n{body}\n ret void\n}}"


def _stored(table: str, i: int, pointer: str) -> list[str]:
    """Instructions that store a pointer as entry i of a table; entries have eight bytes."""
    name = f"%{table}.{i}"
    return [f" {name} = getelementptr i64, ptr %{table}, i64 {i}", f" store ptr {pointer}, ptr {name}"]
