"""Sums of products of coefficients of earlier orders, several at a time in one loop over the orders."""

from __future__ import annotations

from sekant.solvers.taylor.native.layout import STRIDE
from sekant.solvers.taylor.native.stages import SQUARES, WEIGHTED
from sekant.solvers.taylor.native.text import ZERO, Text

TOGETHER = 8
"""Sums in one loop: enough to hide the latency of each, few enough for the registers."""

Sum = tuple[int, int, int]  # x, y, place of the result in w


def history_text(name: str, sums: dict[tuple[int, int], list[Sum]], region: int) -> str:
    """A function of the stage %s >= 1; `sums` by level and kind."""
    t = Text()
    t.pass_over(region)
    block = 0
    for (level, kind), members in sorted(sums.items()):
        for first in range(0, len(members), TOGETHER):
            _loop(t, f"b{block}", level, kind, members[first : first + TOGETHER])
            block += 1
    t.do("ret void")
    return t.function(name, ", i64 %s")


def _loop(t: Text, name: str, level: int, kind: int, members: list[Sum]) -> None:
    """For j = 1, 2, ...: j < k with k = s + level; for squares j < k - j, twice."""
    t.do(f"br label %{name}.enter")
    t.label(f"{name}.enter")
    k = t.emit(f"add i64 %s, {level}")
    last = t.emit(f"add i64 {k}, 1") if kind == SQUARES else k
    if kind == SQUARES:
        last = t.emit(f"lshr i64 {last}, 1")
    some = t.emit(f"icmp sgt i64 {last}, 1")
    t.do(f"br i1 {some}, label %{name}.loop, label %{name}.end")
    t.label(f"{name}.loop")
    j = f"%{name}.j"
    t.do(f"{j} = phi i64 [ 1, %{name}.enter ], [ {j}.next, %{name}.loop ]")
    if kind == WEIGHTED:
        t.do(f"{j}.weight = phi double [ 1.0, %{name}.enter ], [ {j}.more, %{name}.loop ]")
    for i in range(len(members)):
        t.do(f"%{name}.s{i} = phi double [ 0.0, %{name}.enter ], [ %{name}.n{i}, %{name}.loop ]")
    rest = t.emit(f"sub i64 {k}, {j}")
    up, down = t.address("%T", j), t.address("%T", rest)
    for i, (x, y, _) in enumerate(members):
        a, b = t.load_once(up, x * STRIDE), t.load_once(down, y * STRIDE)
        if kind == WEIGHTED:
            a = t.emit(f"fmul double {a}, {j}.weight")
        t.do(f"%{name}.n{i} = call double @llvm.fmuladd.f64(double {a}, double {b}, double %{name}.s{i})")
    if kind == WEIGHTED:
        t.do(f"{j}.more = fadd double {j}.weight, 1.0")
    t.do(f"{j}.next = add i64 {j}, 1")
    more = t.emit(f"icmp slt i64 {j}.next, {last}")
    t.do(f"br i1 {more}, label %{name}.loop, label %{name}.end")
    t.label(f"{name}.end")
    for i in range(len(members)):
        t.do(f"%{name}.r{i} = phi double [ 0.0, %{name}.enter ], [ %{name}.n{i}, %{name}.loop ]")
    if kind == SQUARES:
        half = t.emit(f"lshr i64 {k}, 1")
        middle = t.address("%T", half)
        odd = t.emit(f"trunc i64 {k} to i1")
    for i, (x, _, place) in enumerate(members):
        value = f"%{name}.r{i}"
        if kind == SQUARES:
            c = t.select(odd, ZERO, t.load(middle, x * STRIDE))
            value = t.fma(c, c, t.add(value, value))
        t.store(value, "%w", place)
