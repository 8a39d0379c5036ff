"""A tape as one C99 function: straight-line code without allocation, branches or loops.

A long tape is split into several functions, as for LLVM: compilers take more than twice as long for twice the
length. Values that one function passes to another are in an array on the stack of their caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from sekant.engine.codegen.layout import ChunkLayout
from sekant.engine.codegen.llvm import CHUNK
from sekant.engine.codegen.tape import (
    CONST,
    INPUT,
    LOOKUP,
    OPERATION_POW,
    Tape,
    core_function,
    lookup_groups,
    make_tape,
)
from sekant.errors import SekantError
from sekant.io.export.c_operations import Precision, expression, power
from sekant.io.export.c_tables import CTables, padded
from sekant.tables.lookups import Lookups

SX = ca.SX


@dataclass(frozen=True)
class CFunction:
    """`text`: the definition of a static function; `operations`: of its tape; `stack`: largest stack size in
    bytes."""

    name: str
    text: str
    operations: int
    stack: int


def tape_of(inputs: Sequence[SX], outputs: Sequence[SX], lookups: Lookups) -> Tape:
    """The tape of dense `outputs` as a function of the symbols `inputs`."""
    dense = [ca.densify(SX(y)) for y in outputs]
    groups = lookup_groups(lookups, ca.veccat(*dense))
    try:
        return make_tape(core_function("sekant", inputs, dense, groups), groups)
    except RuntimeError as error:
        text = str(error).strip().splitlines()[-1]
        raise SekantError(f"the equations cannot be written as C: {text}") from error


def c_function(
    name: str,
    inputs: Sequence[tuple[str, SX]],
    outputs: Sequence[tuple[str, SX]],
    lookups: Lookups,
    tables: CTables,
    chunk: int = CHUNK,
) -> CFunction:
    """``static void name(const real *restrict <input> ..., real *restrict <output> ...)``."""
    tape = tape_of([x for _, x in inputs], [y for _, y in outputs], lookups)
    layout = ChunkLayout(tape, chunk)
    names_in, names_out = [n for n, _ in inputs], [n for n, _ in outputs]
    parameters = [f"const real *restrict {n}" for n in names_in] + [f"real *restrict {n}" for n in names_out]
    parts = [_Chunk(tape, layout, c, names_in, names_out, tables) for c in range(layout.count)]
    bodies = [part.body() for part in parts]
    size = tables.precision.bytes
    stack = size * (layout.work_size + max(part.values for part in parts))
    idle = "".join(f"    (void){n};\n" for n in [*names_in, *names_out])
    if layout.count == 1:
        text = f"static void {name}({', '.join(parameters)}) {{\n{idle}{bodies[0]}}}\n"
        return CFunction(name, text, tape.operations, stack)
    signature, arguments = (
        ", ".join([*parameters, "real *restrict w"]),
        ", ".join([*names_in, *names_out, "w"]),
    )
    idle += "    (void)w;\n"
    text = "".join(
        f"static void {name}_{c}({signature}) {{\n{idle}{body}}}\n\n" for c, body in enumerate(bodies)
    )
    calls = "".join(f"    {name}_{c}({arguments});\n" for c in range(layout.count))
    text += f"static void {name}({', '.join(parameters)}) {{\n    real w[{max(1, layout.work_size)}];\n{calls}}}\n"
    return CFunction(name, text, tape.operations, stack)


class _Chunk:
    """One piece of a tape. `values`: the number of named values."""

    def __init__(
        self,
        tape: Tape,
        layout: ChunkLayout,
        number: int,
        names_in: Sequence[str],
        names_out: Sequence[str],
        tables: CTables,
    ):
        self.tape, self.layout, self.number, self.tables = tape, layout, number, tables
        self.precision: Precision = tables.precision
        self.names_in, self.names_out = names_in, names_out
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.called: set[int] = set()
        self.values = 0

    def body(self) -> str:
        for number in self.layout.members[self.number]:
            self.define(number)
            place = self.layout.slot.get(number)
            if place is not None:
                self.lines.append(f"w[{place}] = {self.names[number]};")
            for i, j in self.layout.outputs.get(number, ()):
                self.lines.append(f"{self.names_out[i]}[{j}] = {self.names[number]};")
        if self.number == 0:
            for number, places in self.layout.outputs.items():
                if self.layout.chunk[number] < 0:
                    for i, j in places:
                        self.lines.append(f"{self.names_out[i]}[{j}] = {self.operand(number)};")
        return "".join(f"    {line}\n" for line in self.lines)

    def operand(self, number: int) -> str:
        if number < 0:
            return ""
        name = self.names.get(number)
        if name is None:
            op = self.layout.op[number]
            if op == CONST:
                return self.precision.literal(float(self.tape.constant[number]))
            if op == INPUT:
                name = f"{self.names_in[self.layout.a[number]]}[{self.layout.b[number]}]"
            else:
                name = f"w[{self.layout.slot[number]}]"
            if self.layout.slot.get(number) is not None:  # its slot may be reused before its last use
                self.lines.append(f"const real v{number} = {name};")
                name = f"v{number}"
            self.names[number] = name
        return name

    def define(self, number: int) -> None:
        op = self.layout.op[number]
        if op == LOOKUP:
            self.names[number] = self.lookup(self.layout.a[number], self.layout.b[number])
            return
        self.values += 1
        a, b = self.operand(self.layout.a[number]), self.operand(self.layout.b[number])
        name = f"v{number}"
        text = None
        if op in OPERATION_POW and self.layout.op[self.layout.b[number]] == CONST:
            text = power(name, a, float(self.tape.constant[self.layout.b[number]]))
        self.lines.append(text or f"const real {name} = {expression(op, a, b, self.precision)};")
        self.names[number] = name

    def lookup(self, k: int, result: int) -> str:
        lookup = self.tape.lookups[k]
        if k not in self.called:
            self.called.add(k)
            size = len(lookup.orders) * padded(lookup.shape.components)
            arguments = [self.operand(number) for number in lookup.arguments]
            self.lines.append(f"real k{k}[{size}];")
            self.lines.append(f"{self.tables.function(lookup)}({', '.join([*arguments, f'k{k}'])});")
            self.values += size
        return f"k{k}[{self.tables.place(lookup, result)}]"
