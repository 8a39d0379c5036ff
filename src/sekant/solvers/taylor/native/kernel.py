"""The native kernel of one system: all code that depends on its operations and on the pattern of its matrix.

One function of (T, F, w) performs the task stored in w, see `layout`. Straight-line code is cut into
functions of a few hundred operations, because compilation time grows faster than linearly with the size of a
function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sekant.object_code.link import ENTRY
from sekant.solvers.linear.ldl import SaddlePattern
from sekant.solvers.taylor.native import layout
from sekant.solvers.taylor.native.fixes import Fix
from sekant.solvers.taylor.native.history import Sum, history_text
from sekant.solvers.taylor.native.layout import HEAD, STRIDE
from sekant.solvers.taylor.native.saddle import Saddle
from sekant.solvers.taylor.native.stages import StageFunction, history_of
from sekant.solvers.taylor.native.text import ARGUMENTS, DECLARATIONS, PASSED, ZERO, Text, literal
from sekant.solvers.taylor.nodes import Nodes
from sekant.solvers.taylor.schedule import Groups, Program
from sekant.solvers.taylor.series import ACCURACY, LEAST_ACCURACY

CHUNK = 250
MOST_OPERATIONS, MOST_UNKNOWNS = 6000, 64
Compiler = Callable[[str], Any]
"""Compiles the text of a module; the `address` of the result is that of its function `ENTRY`."""


def is_small(program: Program, pattern: SaddlePattern) -> bool:
    """Whether compilation is quick: a few seconds at the limits."""
    saddle = Saddle(pattern)
    lists = (program.stage, program.stage, program.stage, program.fix, program.matrix)
    operations = sum(groups.d.size for groups in lists) + saddle.operations
    return operations <= MOST_OPERATIONS and saddle.n + saddle.m <= MOST_UNKNOWNS


Member = tuple[int, int, tuple[int, int, int]]  # value, level, which operands change


def _members(groups: Groups) -> list[tuple[int, list[Member]]]:
    """Members grouped by region, in order."""
    found: list[tuple[int, list[Member]]] = []
    for g in range(groups.op.size):
        region = int(groups.region[g])
        if not found or found[-1][0] != region:
            found.append((region, []))
        for e in range(int(groups.start[g]), int(groups.start[g + 1])):
            moves = int(groups.da[e]), int(groups.db[e]), int(groups.dc[e])
            found[-1][1].append((int(groups.d[e]), int(groups.level[g]), moves))
    return found


def _cut(members: list[tuple[int, list[Member]]]) -> Iterable[tuple[int, list[Member]]]:
    """Split a region into parts of limited length."""
    return (
        (region, items[first : first + CHUNK])
        for region, items in members
        for first in range(0, len(items), CHUNK)
    )


class _KernelWriter:
    def __init__(self, program: Program, nodes: Nodes, pattern: SaddlePattern):
        self.program, self.nodes = program, nodes
        self.saddle = Saddle(pattern)
        self.n, self.m = self.saddle.n, self.saddle.m
        self.stage_members = _members(program.stage)
        self.level = [-1] * len(nodes.op)
        for _, items in self.stage_members:
            for i, level, _ in items:
                self.level[i] = level
        self.functions: list[str] = []
        self.delta = HEAD + self.n + self.m
        begin = self.delta + len(nodes.op)
        self.places: dict[int, list[int]] = {}
        self.sums: dict[int, dict[tuple[int, int], list[Sum]]] = {}
        for region, items in self.stage_members:
            sums = self.sums.setdefault(region, {})
            for i, level, _ in items:
                self.places[i] = []
                for kind, x, y in history_of(nodes, i):
                    self.places[i].append(begin)
                    sums.setdefault((level, kind), []).append((x, y, begin))
                    begin += 1
        self.work_size = begin

    def text(self) -> str:
        calls = {
            "positions": self.stages("positions", -2),
            "velocities": self.stages("velocities", -1),
            "start": self.stages("start", 0),
            "next": self.stages("next", None),
            "fix": self.fixes(),
            "matrix": self.matrix(),
            "history": self.histories(),
        }
        self.functions.extend(self.saddle.texts())
        self.functions.append(self.series(calls))
        self.functions.append(self.entry(calls))
        return "\n".join([DECLARATIONS, *self.functions])

    def stages(self, name: str, stage: int | None) -> list[str]:
        names = []
        for region, part in _cut(self.stage_members):
            code = StageFunction(self.nodes, self.level, self.places, stage, region)
            for i, level, _ in part:
                code.add(i, level)
            code.text.do("ret void")
            names.append(f"{name}{len(names)}")
            self.functions.append(code.text.function(names[-1], ", i64 %s"))
        return names

    def fixes(self) -> list[str]:
        names = []
        for region, part in _cut(_members(self.program.fix)):
            code = Fix(self.nodes, self.delta, region)
            for i, level, moves in part:
                code.add(i, level, moves)
            code.text.do("ret void")
            names.append(f"fix{len(names)}")
            self.functions.append(code.text.function(names[-1], ", i64 %s"))
        return names

    def histories(self) -> list[str]:
        names = []
        for region, sums in self.sums.items():
            names.append(f"history{len(names)}")
            self.functions.append(history_text(names[-1], sums, region))
        return names

    def matrix(self) -> list[str]:
        """Order 0 of what M and G need, and their entries in F."""
        names = []
        level = [0] * len(self.nodes.op)
        outputs = self.program.outputs["M"].tolist(), self.program.outputs["G"].tolist()
        for part in [*(part for _, part in _cut(_members(self.program.matrix))), None]:
            code = StageFunction(self.nodes, level, {}, 0)
            if part is None:
                for section, values in zip(("M", "G"), outputs, strict=True):
                    for e, i in enumerate(values):
                        code.text.store(code.first(i), "%F", self.saddle.at(section, e))
            else:
                for i, _, _ in part:
                    code.add(i, 0)
            code.text.do("ret void")
            names.append(f"matrix{len(names)}")
            self.functions.append(code.text.function(names[-1], ", i64 %s"))
        return names

    def series(self, calls: dict[str, list[str]]) -> str:
        t = Text()
        inputs, outputs = self.program.inputs, self.program.outputs
        order = t.emit(f"fptosi double {t.load('%w', layout.ORDER)} to i64")
        tol = t.load("%w", layout.TOL)
        power = t.div("-1.0", t.load("%w", layout.ORDER))
        growth = t.call("pow", tol, power)
        for name in (*calls["positions"], *calls["velocities"]):
            t.do(f"call void @{name}({PASSED}, i64 0)")
        t.do("br label %loop")
        t.label("loop")
        t.do("%s = phi i64 [ 0, %0 ], [ %s.next, %solved ]")
        t.do(f"%wanted = phi double [ {literal(ACCURACY)}, %0 ], [ %wanted.next, %solved ]")
        t.do("%at.start = icmp eq i64 %s, 0")
        t.do("br i1 %at.start, label %first, label %later")
        t.label("first")
        for name in calls["start"]:
            t.do(f"call void @{name}({PASSED}, i64 0)")
        t.do("br label %known")
        t.label("later")
        for name in (*calls["history"], *calls["next"]):
            t.do(f"call void @{name}({PASSED}, i64 %s)")
        t.do("br label %known")
        t.label("known")
        here = t.address("%T", "%s")
        k = t.emit("sitofp i64 %s to double")
        k1, k2 = t.add(k, "1.0"), t.add(k, "2.0")
        for i, node in enumerate(outputs["residual"].tolist()):
            t.store(t.neg(t.load(here, node * STRIDE)), "%w", HEAD + i)
        factor = t.neg(t.mul(k1, k2))
        at = HEAD + self.n
        for node in outputs["positions"].tolist():
            t.store(t.mul(factor, t.load(here, node * STRIDE + 2)), "%w", at)
            at += 1
        for node in outputs["velocities"].tolist():
            t.store(t.mul(t.neg(k1), t.load(here, node * STRIDE + 1)), "%w", at)
            at += 1
        accuracy = t.smaller("%wanted", literal(LEAST_ACCURACY))
        t.do(f"call void @solve({PASSED}, double {accuracy})")
        good = t.test("ogt", t.load("%w", layout.FINITE), ZERO)
        t.do(f"br i1 {good}, label %solved, label %done")
        t.label("solved")
        shrink = t.div("1.0", k1)
        for i, (v, a) in enumerate(zip(inputs["v"].tolist(), inputs["a"].tolist(), strict=True)):
            x = t.load("%F", self.saddle.at("x", i))
            y = t.mul(x, shrink)
            t.store(y, here, v * STRIDE + 1)
            t.store(y, "%w", self.delta + v)
            if a >= 0:
                t.store(x, here, a * STRIDE)
                t.store(x, "%w", self.delta + a)
        for i, node in enumerate(inputs["lam"].tolist()):
            if node >= 0:
                x = t.load("%F", self.saddle.at("x", self.n + i))
                t.store(x, here, node * STRIDE)
                t.store(x, "%w", self.delta + node)
        for name in calls["fix"]:
            t.do(f"call void @{name}({PASSED}, i64 %s)")
        t.do("%s.next = add i64 %s, 1")
        t.do(f"%wanted.next = fmul double %wanted, {growth}")
        more = t.emit(f"icmp slt i64 %s.next, {order}")
        t.do(f"br i1 {more}, label %loop, label %done")
        t.label("done")
        t.do("ret void")
        return t.function("series")

    def entry(self, calls: dict[str, list[str]]) -> str:
        t = Text()
        task = t.emit(f"fptosi double {t.load('%w', layout.TASK)} to i64")
        matrix = [f"call void @{name}({PASSED}, i64 0)" for name in calls["matrix"]]
        tasks = {
            layout.EXPAND: [f"call void @series({PASSED})"],
            layout.FACTORIZE: [*matrix, f"call void @factorize({PASSED})"],
            layout.MATRIX: matrix,
            layout.STAGE_POSITIONS: [f"call void @{x}({PASSED}, i64 0)" for x in calls["positions"]],
            layout.STAGE_VELOCITIES: [f"call void @{x}({PASSED}, i64 0)" for x in calls["velocities"]],
            layout.SOLVE: None,
        }
        cases = " ".join(f"i64 {int(number)}, label %task{int(number)}" for number in tasks)
        t.do(f"switch i64 {task}, label %end [ {cases} ]")
        for number, lines in tasks.items():
            t.label(f"task{int(number)}")
            if lines is None:
                accuracy = t.load("%w", layout.ACCURACY)
                lines = [f"call void @solve({PASSED}, double {accuracy})"]
            for line in lines:
                t.do(line)
            t.do("br label %end")
        t.label("end")
        t.do("ret void")
        return "\n".join([f"define void @{ENTRY}({ARGUMENTS}) nounwind {{", *t.lines, "}"])


def kernel_text(program: Program, nodes: Nodes, pattern: SaddlePattern) -> tuple[str, int]:
    """The module, and the length of w that it needs."""
    writer = _KernelWriter(program, nodes, pattern)
    return writer.text(), writer.work_size
