"""Matrices of derivatives by directions in lanes: code for one direction that processes several at once.

The derivative J of a function of n variables is computed column by column in symbols, or as J D for some
directions D, whose columns occupy the lanes of the processor. Columns of J without a common row share a
direction (their
*color*), so that at best the number of directions is the number of entries in the fullest row. The code
consists of the function and one directional derivative, whatever n is. It consists of three parts, put together here:

====== ========================================================================================
point  the values that do not depend on a direction, among them the directions, computed once
lanes  the directional derivative for as many directions as there are lanes, once for each group
places the entries of J D, copied to their places in the results of the function
====== ========================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from sekant.engine.codegen.lanes import emit_lanes
from sekant.engine.codegen.llvm import Code, emit
from sekant.engine.codegen.sites import TapeSites
from sekant.engine.codegen.tape import CONST, INPUT, LOOKUP, Tape, needed_for
from sekant.engine.codegen.tape_parts import depends_on, operands_of, part_of
from sekant.engine.codegen.writer import SIGNATURE
from sekant.object_code.link import ENTRY
from sekant.object_code.target import Target, has_long_registers


@dataclass(frozen=True, eq=False)
class Tangent:
    """`results` (r,): derivatives along the symbols `seeds` (n,), in which they are linear; `directions` (n, d):
    the seeds for which they are computed, expressions of the inputs.

    `places` (k, 4): output, element, row of the results, direction. The output's element is set to that entry
    of the matrix of all results; its expression is ignored.
    """

    seeds: ca.SX
    results: ca.SX
    directions: ca.SX
    places: np.ndarray

    def spread(self, lanes: int) -> ca.SX:
        """The directions in the layout of the code: groups of lanes, the seeds of each group, the lanes of
        each seed."""
        n, d = self.directions.shape
        full = ca.horzcat(self.directions, ca.SX(n, -d % lanes))
        return ca.densify(ca.veccat(*[full[:, g : g + lanes].T for g in range(0, full.shape[1], lanes)]))


@dataclass(frozen=True)
class TangentShape:
    """The data on which the code depends: numbers of seeds, results and groups of lanes, and the places as bytes."""

    seeds: int
    results: int
    groups: int
    places: bytes

    @classmethod
    def of(cls, tangent: Tangent, lanes: int) -> TangentShape:
        groups = -(-tangent.directions.shape[1] // lanes)
        places = np.ascontiguousarray(tangent.places, dtype=np.int64)
        return cls(tangent.seeds.numel(), tangent.results.numel(), groups, places.tobytes())


def tangent_lanes() -> int:
    """Number of directions computed at once: the doubles in a register of this processor, at least four."""
    return 8 if has_long_registers() else 4


def columns_together(pattern: ca.Sparsity) -> tuple[np.ndarray, int]:
    """The color of every column of a matrix (columns of one color have no common row), and the number of colors."""
    colors = pattern.uni_coloring()
    color = np.zeros(pattern.size2(), dtype=np.int64)
    color[np.array(colors.row(), dtype=np.int64)] = colors.get_col()
    return color, colors.size2()


def emit_tangents(
    tape: Tape,
    shapes: Sequence[TangentShape],
    lanes: int,
    chunk: int,
    sites: TapeSites,
    numbers: Mapping[int, int],
    target: Target | None = None,
    skips: bool = True,
) -> Code:
    """LLVM IR of a tape whose last inputs are the seeds of tangents and whose last outputs are the directions
    of each tangent, as `Tangent.spread` returns them, and then the results of each tangent."""
    count = len(shapes)
    inputs, outputs = len(tape.sizes_in) - count, len(tape.outputs) - 2 * count
    varies = depends_on(tape, range(inputs, inputs + count))
    assert not any(varies[i] for i in sites.switches or ()), "a directional derivative has no switches"
    parts, handed = [], np.zeros(0, dtype=np.int64)
    for k in range(count):
        results = tape.outputs[outputs + count + k]
        chosen = needed_for(tape, results) & varies
        taken = np.union1d(operands_of(tape, chosen), results)
        parts.append((chosen, results))
        handed = np.union1d(handed, taken[~varies[taken] & ~_in_code(tape, numbers)[taken]])
    point, point_sites, place = _point(tape, sites, [*tape.outputs[: outputs + count], handed], inputs)
    own = {int(place[number]): where for number, where in numbers.items() if place[number] >= 0}
    code = emit(
        point,
        chunk,
        sites=point_sites,
        numbers=own,
        entry="sekant_point",
        target=target,
        twins=False,
        skips=skips,
    )
    codes = [
        emit_lanes(
            _along(tape, chosen, results, handed, inputs + k),
            lanes,
            (0,),
            chunk,
            entry=f"sekant_along{k}",
            target=target,
            skips=skips,
        )
        for k, (chosen, results) in enumerate(parts)
    ]
    glue, size = _entry(shapes, lanes, outputs, handed.size, code.work_size, max(c.work_size for c in codes))
    modules = [module for part in (code, *codes) for module in part.modules]
    return Code((*modules, glue), size, code.chunks + sum(c.chunks for c in codes))


def _in_code(tape: Tape, numbers: Mapping[int, int]) -> np.ndarray:
    """Whether a value is a constant in the code."""
    found = tape.op == CONST
    found[list(numbers)] = False
    return found


def _point(
    tape: Tape, sites: TapeSites, outputs: Sequence[np.ndarray], inputs: int
) -> tuple[Tape, TapeSites, np.ndarray]:
    """The part for these outputs, its sites, and the index in it of every value, -1 if it has none."""
    needed = needed_for(tape, np.concatenate(outputs))
    part, found, place = part_of(tape, needed, outputs, sites, inputs)
    return part, found, np.where(needed, place, -1)


def _along(tape: Tape, chosen: np.ndarray, results: np.ndarray, handed: np.ndarray, seeds: int) -> Tape:
    """The `chosen` values as a separate tape with the inputs `handed` and the seeds, which are input number
    `seeds`."""
    taken = chosen.copy()
    taken[operands_of(tape, chosen)] = True
    taken[results] = True
    outside = np.zeros(tape.op.size, dtype=bool)
    outside[handed] = True
    outside &= taken
    op, a, b = tape.op.copy(), tape.a.copy(), tape.b.copy()
    op[outside] = INPUT
    a[outside], b[outside] = 0, np.searchsorted(handed, np.flatnonzero(outside))
    a[(tape.op == INPUT) & chosen] = 1
    assert not np.any(op[taken] == LOOKUP)
    bare = replace(tape, op=op, a=a, b=b, lookups=(), sizes_in=(handed.size, tape.sizes_in[seeds]))
    return part_of(bare, taken, [results], TapeSites(), 2)[0]


def _entry(
    shapes: Sequence[TangentShape], lanes: int, outputs: int, handed: int, point_work: int, lane_work: int
) -> tuple[str, int]:
    """The module that calls the parts one after the other, and the size of its scratch memory in doubles."""
    place = point_work
    at: dict[str, int] = {}
    for name, size in [
        *((f"seeds{k}", s.groups * s.seeds * lanes) for k, s in enumerate(shapes)),
        ("handed", handed),
        *((f"found{k}", s.groups * s.results * lanes) for k, s in enumerate(shapes)),
        ("work", lane_work),
    ]:
        at[name], place = place, place + size
    names = [f"seeds{k}" for k in range(len(shapes))] + ["handed"]
    lines = [f" %{name} = getelementptr double, ptr %w, i64 {offset}" for name, offset in at.items()]
    lines += [f" %results = alloca [{outputs + len(names)} x i64]", " %given = alloca [2 x i64]"]
    lines.append(" %back = alloca i64")  # entries of tables of pointers have eight bytes
    lines += [line for i in range(outputs) for line in _result(i)]
    for i, name in enumerate(names, start=outputs):
        lines += [f" %to{i} = getelementptr i64, ptr %results, i64 {i}", f" store ptr %{name}, ptr %to{i}"]
    lines += [" call void @sekant_point(ptr %arg, ptr %results, ptr %w)", " store ptr %handed, ptr %given"]
    lines.append(" %second = getelementptr i64, ptr %given, i64 1")
    tables = []
    for k, shape in enumerate(shapes):
        lines += _groups(k, shape, lanes)
        places = np.frombuffer(shape.places, dtype=np.int64).reshape(-1, 4)
        for i in range(outputs):
            table = _table(places[places[:, 0] == i], shape, lanes)
            if table.size:
                tables.append(_constant(f"places{k}.{i}", table))
                lines += _put(k, i, len(table))
    declared = "\n".join(
        f"declare void @{name}(ptr, ptr, ptr) nounwind"
        for name in ("sekant_point", *(f"sekant_along{k}" for k in range(len(shapes))))
    )
    body = "\n".join(lines)
    text = f"define void @{ENTRY}({SIGNATURE}) nounwind {{\n{body}\n ret void\n}}\n"
    return "\n".join([declared, *tables, text]), place


def _result(i: int) -> list[str]:
    return [
        f" %from{i} = getelementptr i64, ptr %res, i64 {i}",
        f" %res{i} = load ptr, ptr %from{i}, align 8",
        f" %to{i} = getelementptr i64, ptr %results, i64 {i}",
        f" store ptr %res{i}, ptr %to{i}",
    ]


def _groups(k: int, shape: TangentShape, lanes: int) -> list[str]:
    """A loop over the groups of directions."""
    calls = [
        f" %s{k} = mul i64 %i{k}, {shape.seeds * lanes}",
        f" %seed{k} = getelementptr double, ptr %seeds{k}, i64 %s{k}",
        f" store ptr %seed{k}, ptr %second",
        f" %f{k} = mul i64 %i{k}, {shape.results * lanes}",
        f" %find{k} = getelementptr double, ptr %found{k}, i64 %f{k}",
        f" store ptr %find{k}, ptr %back",
        f" call void @sekant_along{k}(ptr %given, ptr %back, ptr %work)",
    ]
    return _loop(f"{k}", shape.groups, calls)


def _table(places: np.ndarray, shape: TangentShape, lanes: int) -> np.ndarray:
    """The sources and destinations of the entries of one output."""
    row, direction = places[:, 2], places[:, 3]
    source = (direction // lanes * shape.results + row) * lanes + direction % lanes
    return np.column_stack([source, places[:, 1]])


def _constant(name: str, table: np.ndarray) -> str:
    numbers = ", ".join(f"i32 {x}" for x in table.ravel().tolist())
    return f"@{name} = internal constant [{table.size} x i32] [{numbers}]"


def _put(k: int, i: int, count: int) -> list[str]:
    n = f"{k}.{i}"
    body = [
        f" %p{n} = getelementptr [2 x i32], ptr @places{n}, i64 %i{n}",
        f" %a{n} = load i32, ptr %p{n}, align 4",
        f" %q{n} = getelementptr i32, ptr %p{n}, i64 1",
        f" %b{n} = load i32, ptr %q{n}, align 4",
        f" %x{n} = getelementptr double, ptr %found{k}, i32 %a{n}",
        f" %v{n} = load double, ptr %x{n}, align 8",
        f" %y{n} = getelementptr double, ptr %res{i}, i32 %b{n}",
        f" store double %v{n}, ptr %y{n}, align 8",
    ]
    return _loop(n, count, body)


def _loop(n: str, count: int, body: list[str]) -> list[str]:
    """Instructions for %i from 0 to count - 1; blocks are named by n."""
    return [
        f" br label %before{n}",
        f"before{n}:",
        f" br label %loop{n}",
        f"loop{n}:",
        f" %i{n} = phi i64 [ 0, %before{n} ], [ %next{n}, %loop{n} ]",
        *body,
        f" %next{n} = add i64 %i{n}, 1",
        f" %more{n} = icmp slt i64 %next{n}, {count}",
        f" br i1 %more{n}, label %loop{n}, label %after{n}",
        f"after{n}:",
    ]
