"""Tape -> LLVM IR text.

The tape is cut into functions ("chunks") of about 500 operations, which the compiler must not join: its work
grows faster than linearly with the size of a function, and long functions use registers less well (a
car's derivative of 6,000 operations takes a tenth longer in chunks of 1,500, and twice the time as one function).
Values that are used across chunks are stored in the scratch array w; a place in w is reused once its value is
dead. A jump skips operations of a region (see `regions`) that are not needed. Twins (see `twins`) are one
operation on two numbers, which are adjacent in w. Equal chunks (see `blocks`) are one function.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from sekant.engine.codegen.block_code import block_code, table_text
from sekant.engine.codegen.blocks import find_blocks
from sekant.engine.codegen.layout import ChunkLayout
from sekant.engine.codegen.linking import SYMBOL
from sekant.engine.codegen.lookup_ir import SEARCH
from sekant.engine.codegen.operations import DECLARATIONS, ERFINV
from sekant.engine.codegen.regions import find_regions
from sekant.engine.codegen.sites import TapeSites, find_sites
from sekant.engine.codegen.tape import Tape
from sekant.engine.codegen.turning import turning_functions
from sekant.engine.codegen.writer import SIGNATURE, ChunkWriter
from sekant.object_code.link import ENTRY
from sekant.object_code.target import Target, host_target

CHUNK = 500
CHUNKS_PER_MODULE = 24
FORMAT = 14
"""Increase with every change of the generated code, so that old cached code is not used."""
FREE = "@sekant.free = internal constant [2 x double] zeroinitializer\n"


@dataclass(frozen=True)
class Code:
    """Modules of LLVM IR that together define the function `ENTRY`; `work_size`: doubles of scratch."""

    modules: tuple[str, ...]
    work_size: int
    chunks: int


def emit(
    tape: Tape,
    chunk: int = CHUNK,
    chunks_per_module: int = CHUNKS_PER_MODULE,
    sites: TapeSites | None = None,
    numbers: Mapping[int, int] | None = None,
    entry: str = ENTRY,
    target: Target | None = None,
    twins: bool = True,
    skips: bool = True,
) -> Code:
    """LLVM IR of a tape with the calling convention of `sekant.loops.declare.calls`; the last arguments are
    the tables T and the modes M.

    `sites`: the sites of the tape, by default found here. `numbers`: constants that the code reads from
    memory, with their places there (see `sekant.engine.codegen.numbers`); by default none. `entry`: name of
    the function. `target`: by default this processor; the code for sines depends on whether it has fused
    operations. `twins`: whether to search for them; they pay if few of their values are results. `skips`:
    whether jumps skip operations of regions; quickly compiled code computes all of them.
    """
    fused = (target or host_target()).fused
    sites = find_sites(tape) if sites is None else sites
    numbers, regions = numbers or {}, find_regions(tape, sites, twins) if skips else None
    blocks = find_blocks(tape, chunk, numbers) if regions is None else None
    layout = ChunkLayout(tape, chunk, regions, entry, blocks)
    texts, calls, table = _functions(tape, sites, layout, numbers, fused)

    def first(others: Sequence[str]) -> str:
        return "\n".join([table, entry_text(entry, calls, others)])

    modules = modules_of(texts, first, numbers, chunks_per_module, bool(layout.twin))
    return Code(tuple(modules), layout.work_size, len(texts))


def modules_of(
    texts: Mapping[str, str],
    first: Callable[[Sequence[str]], str],
    numbers: Mapping[int, int],
    chunks_per_module: int = CHUNKS_PER_MODULE,
    twins: bool = False,
) -> list[str]:
    """Modules of these functions, by name; `first`: further text of the first module, from the names of functions in
    others."""
    modules, names = [], list(texts)
    for begin in range(0, len(names), chunks_per_module):
        body = [texts[name] for name in names[begin : begin + chunks_per_module]]
        if begin == 0:
            body.append(first(names[chunks_per_module:]))
        text = "\n".join(body)
        helpers = SEARCH + FREE if "@sekant.row" in text else ""
        helpers += ERFINV if "@sekant.erfinv" in text else ""
        helpers += turning_functions(text)
        helpers += "declare <2 x double> @llvm.sqrt.v2f64(<2 x double>)\n" if twins else ""
        helpers += f"@{SYMBOL} = external constant [{len(numbers)} x double]\n" if numbers else ""
        modules.append(f"{DECLARATIONS}\n{helpers}\n{text}\n")
    return modules


def _functions(
    tape: Tape, sites: TapeSites, layout: ChunkLayout, numbers: Mapping[int, int], fused: bool
) -> tuple[dict[str, str], list[str], str]:
    """Texts of the functions by name, their calls in order, and the tables of functions with several calls."""
    texts, calls = {}, [""] * layout.count
    tables, size = [], 0
    for block in layout.blocks.blocks if layout.blocks is not None else ():
        name = f"{layout.entry}.{block.chunks[0]}"
        made = block_code(name, block, tape, layout, numbers, fused)
        texts[name] = made.text
        tables.append(made.tables)
        for chunk in block.chunks:
            table = f"getelementptr (i32, ptr @{layout.entry}.table, i64 {size})"
            calls[chunk] = f"@{name}(ptr %arg, ptr %res, ptr %w, ptr {table})"
            size += made.tables.shape[1]
    for c, call in enumerate(calls):
        if not call:
            name = f"{layout.entry}.{c}"
            texts[name] = ChunkWriter(tape, sites, layout, c, numbers, fused=fused).text()
            calls[c] = f"@{name}(ptr %arg, ptr %res, ptr %w)"
    return texts, calls, table_text(f"{layout.entry}.table", tables) if tables else ""


def entry_text(entry: str, calls: Sequence[str], others: Collection[str]) -> str:
    """The function that calls all chunks; `others`: chunks outside its module."""
    arguments = {call[1 : call.index("(")]: 3 + (".table" in call) for call in calls}
    declared = "\n".join(f"declare void @{n}({', '.join(['ptr'] * arguments[n])}) nounwind" for n in others)
    body = "\n".join(f" call void {call}" for call in calls)
    return f"{declared}\ndefine void @{entry}({SIGNATURE}) nounwind {{\n{body}\n ret void\n}}"
