"""Generation of LLVM IR, without arithmetic on zeros.

The generated functions take the pointers T (coefficients), F (the saddle point system, see `linear.ldl`) and w (see
`layout`). Values are names or literals; `ZERO` is known to be zero.
"""

from __future__ import annotations

import struct

from sekant.solvers.taylor.native.layout import STRIDE

ZERO = "0.0"
ARGUMENTS = "ptr noalias %T, ptr noalias %F, ptr noalias %w"
PASSED = "ptr %T, ptr %F, ptr %w"
PURE = "memory(none) nounwind willreturn"

FUNCTIONS = (
    *("exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
    *("asinh", "acosh", "atanh", "log1p", "expm1", "erf"),
)
DECLARATIONS = "\n".join(
    [
        *[f"declare double @{name}(double) {PURE}" for name in FUNCTIONS],
        *[f"declare double @{name}(double, double) {PURE}" for name in ("atan2", "pow")],
        *[f"declare double @llvm.{name}.f64(double)" for name in ("sqrt", "fabs")],
        "declare double @llvm.fmuladd.f64(double, double, double)",
    ]
)


def literal(value: float) -> str:
    """A double in exact notation."""
    return "0x" + struct.pack(">d", value).hex().upper() if value != 0.0 else ZERO


def in_text(value: float) -> bool:
    """Whether a constant is part of the code; others are read from T, so that the code does not depend on
    these numbers."""
    return abs(value) in (0.0, 1.0, 2.0, 0.5)


class Text:
    """The body of one function."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._count = 0
        self._loaded: dict[tuple[str, int], str] = {}

    def new(self) -> str:
        self._count += 1
        return f"%x{self._count}"

    def emit(self, instruction: str) -> str:
        name = self.new()
        self.lines.append(f" {name} = {instruction}")
        return name

    def do(self, line: str) -> None:
        self.lines.append(" " + line)

    def label(self, name: str) -> None:
        """Start a block; values loaded before may be stale in it."""
        self._loaded.clear()
        self.lines.append(f"{name}:")

    def pass_over(self, region: int) -> None:
        """Return immediately if the held value `region` (see `regions`) is zero."""
        if region >= 0:
            wanted = self.test("une", self.load("%T", region * STRIDE), ZERO)
            self.do(f"br i1 {wanted}, label %work, label %passed")
            self.label("passed")
            self.do("ret void")
            self.label("work")

    def address(self, base: str, offset: int | str) -> str:
        return self.emit(f"getelementptr double, ptr {base}, i64 {offset}")

    def load(self, base: str, offset: int | str) -> str:
        return self.emit(f"load double, ptr {self.address(base, offset)}, align 8")

    def load_once(self, base: str, offset: int) -> str:
        """Like `load`, for memory that this block does not change."""
        key = base, offset
        if key not in self._loaded:
            self._loaded[key] = self.load(base, offset)
        return self._loaded[key]

    def forget(self, base: str, offset: int) -> None:
        """Discard loaded values, which may have changed."""
        self._loaded.pop((base, offset), None)

    def store(self, value: str, base: str, offset: int | str) -> None:
        self.do(f"store double {value}, ptr {self.address(base, offset)}, align 8")

    def add(self, a: str, b: str) -> str:
        if ZERO in (a, b):
            return b if a == ZERO else a
        return self.emit(f"fadd contract double {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        if b == ZERO:
            return a
        return self.neg(b) if a == ZERO else self.emit(f"fsub contract double {a}, {b}")

    def neg(self, a: str) -> str:
        return a if a == ZERO else self.emit(f"fneg double {a}")

    def mul(self, a: str, b: str) -> str:
        return ZERO if ZERO in (a, b) else self.emit(f"fmul contract double {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c."""
        if ZERO in (a, b):
            return c
        if c == ZERO:
            return self.mul(a, b)
        return self.emit(f"call double @llvm.fmuladd.f64(double {a}, double {b}, double {c})")

    def minus_product(self, c: str, a: str, b: str) -> str:
        """c - a b."""
        return c if ZERO in (a, b) else self.fma(self.neg(a), b, c)

    def div(self, a: str, b: str) -> str:
        return a if a == ZERO else self.emit(f"fdiv double {a}, {b}")

    def call(self, function: str, *arguments: str) -> str:
        return self.emit(f"call double @{function}({', '.join('double ' + a for a in arguments)})")

    def size(self, a: str) -> str:
        return self.call("llvm.fabs.f64", a)

    def test(self, how: str, a: str, b: str) -> str:
        return self.emit(f"fcmp {how} double {a}, {b}")

    def select(self, condition: str, yes: str, no: str) -> str:
        return self.emit(f"select i1 {condition}, double {yes}, double {no}")

    def larger(self, a: str, b: str) -> str:
        return self.select(self.test("ogt", a, b), a, b)

    def smaller(self, a: str, b: str) -> str:
        return self.select(self.test("olt", a, b), a, b)

    def function(self, name: str, more: str = "", result: str = "void") -> str:
        head = f"define internal {result} @{name}({ARGUMENTS}{more}) noinline nounwind {{"
        return "\n".join([head, *self.lines, "}"])
