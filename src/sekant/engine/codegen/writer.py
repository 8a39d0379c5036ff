"""Text of LLVM IR of one chunk of a tape."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby

from sekant.engine.codegen.layout import ChunkLayout
from sekant.engine.codegen.linking import SYMBOL
from sekant.engine.codegen.lookup_ir import LookupCode
from sekant.engine.codegen.operations import (
    held_instructions,
    instructions,
    lane_instructions,
    literal,
    may_hold,
    power,
)
from sekant.engine.codegen.regions import Condition
from sekant.engine.codegen.sites import TapeSites
from sekant.engine.codegen.tape import COMMUTATIVE, CONST, INPUT, LOOKUP, OPERATION_POW, Tape
from sekant.engine.codegen.turning import TURNED, TurnedAngles
from sekant.solvers.common.sites import NUMBERS

NEAR = 6
"""Number of successive operations within which an angle may become available and still be computed with others."""
SIGNATURE = "ptr noalias readonly %arg, ptr noalias readonly %res, ptr noalias %w"


class ChunkWriter:
    """Text of one chunk.

    `lanes`: numbers in every value; element j of an array is then that many doubles, except for arguments in
    `shared`, which are the same in all lanes. `fused`: whether there are fused operations. Entries of tables
    of pointers have eight bytes.
    """

    def __init__(
        self,
        tape: Tape,
        sites: TapeSites,
        layout: ChunkLayout,
        number: int,
        numbers: Mapping[int, int],
        lanes: int = 1,
        shared: Collection[int] = (),
        fused: bool = False,
    ):
        self.turns = lanes == 1 and fused
        self.tape, self.sites, self.layout, self.number = tape, sites, layout, number
        self.numbers, self.lanes, self.shared = numbers, lanes, frozenset(shared)
        self.kind = "double" if lanes == 1 else f"<{lanes} x double>"
        self.tables, self.modes = len(tape.sizes_in), len(tape.sizes_in) + 1
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.pairs: dict[tuple[int, int], str] = {}
        self.twin, self.left = layout.twin, layout.left_of
        self.arrays: dict[str, str] = {}
        self.codes: dict[int, LookupCode] = {}
        self.op, self.a, self.b = layout.op, layout.a, layout.b
        self.head: list[str] = []
        self.count = 0
        self.angles, self.turned, self.run = TurnedAngles(), [], set()

    def text(self) -> str:
        head = f"define void @{self.layout.entry}.{self.number}({SIGNATURE}) noinline nounwind"
        return f"{head} {{\n{self.body()}\n ret void\n}}"

    def body(self) -> str:
        regions = self.layout.regions
        for region, numbers in groupby(
            self.layout.members[self.number], key=lambda i: -1 if regions is None else regions.of[i]
        ):
            if region < 0 or regions is None:
                self.write(numbers)
            else:
                self.branch(regions.conditions[region], list(numbers))
        if self.number == 0:
            self.copies()
        return "\n".join([*self.head, *self.lines])

    def write(self, numbers: Iterable[int]) -> None:
        """Write the values in order, and their stores."""
        numbers = list(numbers)
        self.run = set(numbers)
        self.turned = [i for i in numbers if self.op[i] in TURNED] if self.turns else []
        for number in numbers:
            if number in self.left or number in self.names:
                continue  # computed with its twin, or earlier
            if number in self.twin:
                self.both(number, self.twin[number])
            else:
                self.compute(number)

    def compute(self, number: int) -> None:
        """Write a value, and its store."""
        name = self.names[number] = self.define(number)
        place = self.layout.slot.get(number)
        if place is not None:
            self.store(name, "%w", place)
        for i, j in self.layout.outputs.get(number, ()):
            self.output(name, i, j)

    def both(self, first: int, second: int) -> None:
        """Write a pair of twins as one vector."""
        x, y, x2, y2 = self.a[first], self.b[first], self.a[second], self.b[second]
        if self.op[first] in COMMUTATIVE and (self.twin.get(x, x) == y2 or self.twin.get(y, y) == x2):
            x2, y2 = y2, x2
        a, b = self.pair(x, x2), self.pair(y, y2)
        name = f"%v{first}"
        self.lines.append(lane_instructions(self.op[first], 2, name, a, b))
        self.pairs[first, second] = name
        place = self.layout.slot.get(first)
        if place is not None:
            self.store(name, "%w", place, "<2 x double>")
        for number in (first, second):
            for i, j in self.layout.outputs.get(number, ()):
                self.output(self.operand(number), i, j)

    def pair(self, x: int, y: int) -> str:
        """Two values as a vector."""
        if x < 0:
            return ""
        name = self.pairs.get((x, y))
        if name is None:
            name = self.pairs[x, y] = self._side_by_side(x, y)
        return name

    def _side_by_side(self, x: int, y: int) -> str:
        self.count += 1
        n, kind = self.count, "<2 x double>"
        if self.twin.get(x) == y:
            self.lines.append(f"%s{n} = getelementptr double, ptr %w, i64 {self.layout.slot[x]}")
            self.lines.append(f"%l{n} = load {kind}, ptr %s{n}, align 8")
            return f"%l{n}"
        one, two = self.operand(x), self.operand(y)
        self.lines.append(f"%j{n} = insertelement {kind} undef, double {one}, i64 0")
        self.lines.append(f"%i{n} = insertelement {kind} %j{n}, double {two}, i64 1")
        return f"%i{n}"

    def _one_of_two(self, number: int) -> str | None:
        """A value that was computed in this chunk with its twin."""
        first = self.left.get(number, number)
        name = self.pairs.get((first, self.twin.get(first, -1)))
        if name is None:
            return None
        self.count += 1
        lane = 0 if number == first else 1
        self.lines.append(f"%e{self.count} = extractelement <2 x double> {name}, i64 {lane}")
        return f"%e{self.count}"

    def branch(self, conditions: Sequence[Condition], numbers: list[int]) -> None:
        """Values of a region: computed if a condition holds, else set to zero, which is not read."""
        self.count += 1
        label = f"region{self.count}"
        tests = [self.condition(f"%{label}.{k}", *condition) for k, condition in enumerate(conditions)]
        for k, test in enumerate(tests[1:], start=1):
            self.lines.append(f"%{label}.any{k} = or i1 {tests[0]}, {test}")
            tests[0] = f"%{label}.any{k}"
        self.lines += [f"br label %{label}.at", f"{label}.at:"]
        self.lines += [f"br i1 {tests[0]}, label %{label}.in, label %{label}.out", f"{label}.in:"]
        outside, pairs, angles = dict(self.names), dict(self.pairs), self.angles.copy()
        self.write(numbers)
        self.lines += [f"br label %{label}.end", f"{label}.end:", f"br label %{label}.out", f"{label}.out:"]
        for number in self.taken_outside(numbers):
            zero = self.constant(0.0)
            self.lines.append(
                f"%p{number} = phi {self.kind} [ {self.names[number]}, %{label}.end ], [ {zero}, %{label}.at ]"
            )
            outside[number] = f"%p{number}"
        self.names, self.pairs, self.angles = outside, pairs, angles

    def taken_outside(self, numbers: list[int]) -> list[int]:
        """The values that others of this chunk use."""
        inside, found = set(numbers), set()
        for i in self.layout.members[self.number]:
            if i not in inside:
                found |= inside.intersection(self.operands_of(i))
        return sorted(found)

    def operands_of(self, number: int) -> tuple[int, ...]:
        if self.op[number] == LOOKUP:
            return self.tape.lookups[self.a[number]].arguments
        return self.a[number], self.b[number]

    def condition(self, name: str, kind: str, number: int) -> str:
        """Whether a condition of a region holds, as a bit."""
        if kind == "value":
            self.lines.append(f"{name} = fcmp une double {self.operand(number)}, 0.0")
            return name
        site, reversed_sign = (number, False) if kind == "free" else self.sites.switch(number) or (-1, False)
        op = None if kind == "free" else self.op[number]
        self.lines.append(may_hold(name, op, self.mode(site), reversed_sign))
        return name

    def copies(self) -> None:
        """Outputs that are inputs or constants."""
        for number, places in self.layout.outputs.items():
            if self.layout.chunk[number] < 0:
                for i, j in places:
                    self.output(self.operand(number), i, j)

    def array(self, table: str, i: int) -> str:
        special = {self.tables: "%T", self.modes: "%M"} if table == "arg" else {}
        name = special.get(i, f"%{table}{i}")
        if name not in self.arrays:
            self.arrays[name] = name
            self.head.append(f"{name}.p = getelementptr i64, ptr %{table}, i64 {i}")
            self.head.append(f"{name} = load ptr, ptr {name}.p, align 8, !invariant.load !{{}}")
        return name

    def store(self, name: str, base: str, offset: int, kind: str = "") -> None:
        self.count += 1
        self.lines.append(f"%s{self.count} = getelementptr double, ptr {base}, i64 {self.lanes * offset}")
        self.lines.append(f"store {kind or self.kind} {name}, ptr %s{self.count}, align 8")

    def load(self, base: str, offset: int, shared: bool = False) -> str:
        """An element of an array; for a `shared` array, the same number in all lanes."""
        self.count += 1
        n, alone = self.count, shared or self.lanes == 1
        place, kind = (offset, "double") if alone else (self.lanes * offset, self.kind)
        self.lines.append(f"%s{n} = getelementptr double, ptr {base}, i64 {place}")
        self.lines.append(f"%l{n} = load {kind}, ptr %s{n}, align 8")
        if not shared or self.lanes == 1:
            return f"%l{n}"
        self.lines.append(f"%i{n} = insertelement {self.kind} undef, double %l{n}, i64 0")
        zeros = f"<{self.lanes} x i32> zeroinitializer"
        self.lines.append(f"%b{n} = shufflevector {self.kind} %i{n}, {self.kind} undef, {zeros}")
        return f"%b{n}"

    def input(self, i: int, element: int) -> str:
        return self.load(self.array("arg", i), element, i in self.shared)

    def output(self, name: str, i: int, element: int) -> None:
        self.store(name, self.array("res", i), element)

    def constant(self, value: float) -> str:
        return literal(value) if self.lanes == 1 else f"splat (double {literal(value)})"

    def operand(self, number: int) -> str:
        if number < 0:
            return ""
        name = self.names.get(number)
        if name is None:
            op = self.op[number]
            if op == CONST and number not in self.numbers:
                return self.constant(self.tape.constant[number])
            if op == CONST:
                name = self.load(f"@{SYMBOL}", self.numbers[number])
            elif op == INPUT:
                name = self.input(self.a[number], self.b[number])
            else:
                name = self._one_of_two(number) or self.load("%w", self.layout.slot[number])
            self.names[number] = name
        return name

    def mode(self, site: int) -> str:
        """Pointer to the mode of a site."""
        if site < 0:
            return "@sekant.free"
        base, name = self.array("arg", self.modes), f"%site{site}"
        if name not in self.arrays:
            self.arrays[name] = name
            self.head.append(f"{name} = getelementptr double, ptr {base}, i64 {NUMBERS * site}")
        return name

    def define(self, number: int) -> str:
        if self.op[number] == LOOKUP:
            return self.lookup(self.a[number], self.b[number])
        if self.op[number] in TURNED and (name := self.turn(number)):
            return name
        self.lines.append(self.operation(number, f"%v{number}"))
        return f"%v{number}"

    def turn(self, number: int) -> str:
        """The name of a sine or cosine; empty if so few can be computed here that it does not pay."""
        if not self.angles.has(self.a[number]):
            ready = [self.a[i] for i in self.turned if i not in self.names and self.at_hand(self.a[i])]
            chosen = list(dict.fromkeys([self.a[number], *ready]))[:4]
            if len(ready) < 2 or len(ready) == len(chosen) == 2:
                return ""
            for angle in chosen:
                self.bring(angle)
            self.angles.turn({angle: self.operand(angle) for angle in chosen})
        name = self.angles.value(f"%v{number}", self.op[number], self.a[number])
        self.lines.extend(self.angles.lines)
        self.angles.lines.clear()
        return name

    def at_hand(self, number: int, steps: int = NEAR) -> bool:
        """Whether a value is available here, or a few operations away from such values."""
        if self.known(number):
            return True
        alone = number in self.run and number not in self.left and number not in self.twin
        if steps == 0 or not alone or self.op[number] == LOOKUP or self.op[number] in TURNED:
            return False
        return all(x < 0 or self.at_hand(x, steps - 1) for x in (self.a[number], self.b[number]))

    def bring(self, number: int) -> None:
        """Compute a value for which `at_hand` is true."""
        if not self.known(number):
            for operand in (self.a[number], self.b[number]):
                if operand >= 0:
                    self.bring(operand)
            self.compute(number)

    def known(self, number: int) -> bool:
        """Whether a value is available here."""
        first = self.left.get(number, number)
        there = number in self.names or (first, self.twin.get(first, -1)) in self.pairs
        return there or self.op[number] in (INPUT, CONST) or self.layout.chunk[number] < self.number

    def operation(self, number: int, name: str) -> str:
        """The text that defines `name` as the value of an operation of the tape."""
        op = self.op[number]
        a, b = self.operand(self.a[number]), self.operand(self.b[number])
        text = None
        site = self.sites.switch(number)
        if site is not None:
            text = held_instructions(op, name, a, b, self.mode(site[0]), site[1])
        if op in OPERATION_POW and self.op[self.b[number]] == CONST:
            text = power(name, a, float(self.tape.constant[self.b[number]]))
        return text or instructions(op, name, a, b)

    def lookup(self, k: int, result: int) -> str:
        code = self.codes.get(k)
        if code is None:
            lookup = self.tape.lookups[k]
            self.array("arg", self.tables)
            modes = [self.mode(s) for s in self.sites.axes[k]]
            arguments = [self.operand(number) for number in lookup.arguments]
            code = self.codes[k] = LookupCode(f"k{k}", lookup, arguments, modes)
        name = code.result(result)
        self.lines.extend(code.lines)
        code.lines.clear()
        return name
