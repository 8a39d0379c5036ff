"""LLVM instructions of one function for operations on values, in the order in which they are requested."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from sekant.loops.translate.kinds import (
    COMPLEX,
    FUNCTION,
    POINTER,
    REAL,
    TRUTH,
    WHOLE,
    ArrayKind,
    Kind,
    NotTranslated,
    Value,
    array_of,
    constant,
    is_number,
    join,
)

_REAL_OPERATIONS: dict[type, str] = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_WHOLE_OPERATIONS: dict[type, str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.RShift: "ashr",
    ast.LShift: "shl",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
}
_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor)
_COMPARISONS: dict[type, tuple[str, str]] = {
    ast.Lt: ("olt", "slt"),
    ast.LtE: ("ole", "sle"),
    ast.Gt: ("ogt", "sgt"),
    ast.GtE: ("oge", "sge"),
    ast.Eq: ("oeq", "eq"),
    ast.NotEq: ("une", "ne"),
}
INTRINSICS = ("sqrt", "sin", "cos", "exp", "log", "fabs", "floor", "pow", "roundeven")
LIBRARY = (
    *("tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf"),
    *("log1p", "expm1", "hypot", "fmod"),
)
LARGEST_UNROLLED = 64
"""Largest exponent with unrolled multiplications; larger ones call `pow`."""


class Instructions:
    """Text of a function's body. `declared`: functions of LLVM and of the C library that it calls."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.slots: list[str] = []
        self.declared: set[str] = set()
        self._count = 0

    # Text
    def put(self, line: str) -> None:
        self.lines.append("  " + line)

    def name(self, instruction: str) -> str:
        """The result of an instruction."""
        self._count += 1
        self.lines.append(f"  %v{self._count} = {instruction}")
        return f"%v{self._count}"

    def label(self) -> str:
        self._count += 1
        return f"b{self._count}"

    def begin(self, label: str) -> None:
        """Begin a block that is reached only by a jump to `label`."""
        self.lines.append(f"{label}:")

    def jump(self, label: str) -> None:
        self.put(f"br label %{label}")

    def branch(self, condition: Value, yes: str, no: str) -> None:
        self.put(f"br i1 {condition.parts[0]}, label %{yes}, label %{no}")

    def slot(self, kind: Kind) -> list[str]:
        """Allocate memory for a value of the kind in the stack frame."""
        names = []
        for part in kind.parts:
            self._count += 1
            self.slots.append(f"  %s{self._count} = alloca {part}")
            names.append(f"%s{self._count}")
        return names

    def tried(self, action: Callable[[], Any]) -> Any:
        """The result of an action, whose instructions are discarded."""
        lines, slots, count = len(self.lines), len(self.slots), self._count
        found = action()
        del self.lines[lines:], self.slots[slots:]
        self._count = count
        return found

    # Memory
    def load(self, kind: Kind, places: Sequence[str]) -> Value:
        return Value(
            kind,
            tuple(self.name(f"load {t}, ptr {p}") for t, p in zip(kind.parts, places, strict=True)),
        )

    def store(self, value: Value, places: Sequence[str]) -> None:
        for t, part, place in zip(value.kind.parts, value.parts, places, strict=True):
            self.put(f"store {t} {part}, ptr {place}")

    def parts_at(self, kind: Kind, place: str) -> list[str]:
        """Addresses of the parts of a value in memory."""
        return [
            place if i == 0 else self.name(f"getelementptr inbounds double, ptr {place}, i64 {i}")
            for i in range(len(kind.parts))
        ]

    def item_at(self, array: Value, indices: Sequence[Value]) -> tuple[str, tuple[str, ...]]:
        """Address of an item or a sub-array, and the shape of the latter. A negative constant counts
        from the end; other indices must not be negative."""
        kind = array.kind
        if not isinstance(kind, ArrayKind) or not 1 <= len(indices) <= kind.axes:
            raise NotTranslated(f"{len(indices)} indices of a value of kind {kind}")
        data, *shape = array.parts
        offset = ""
        for axis in range(kind.axes):
            if axis > 0:
                offset = self.name(f"mul nsw i64 {offset}, {shape[axis]}")
            if axis < len(indices):
                i = self._index(indices[axis], shape[axis])
                offset = i if axis == 0 else self.name(f"add nsw i64 {offset}, {i}")
        item = "{double, double}" if kind.item == COMPLEX else kind.item.parts[0]
        place = self.name(f"getelementptr inbounds {item}, ptr {data}, i64 {offset}")
        return place, tuple(shape[len(indices) :])

    def _index(self, index: Value, size: str) -> str:
        if index.kind not in (WHOLE, TRUTH):
            raise NotTranslated(f"an index must be an integer (got a value of kind {index.kind})")
        i = self.cast(index, WHOLE).parts[0]
        from_end = index.constant is not None and index.constant < 0
        return self.name(f"add i64 {i}, {size}") if from_end else i

    def item(self, array: Value, indices: Sequence[Value]) -> Value:
        """``a[i, j]``, or the row ``a[i]`` of a matrix."""
        place, rest = self.item_at(array, indices)
        kind: Any = array.kind
        if rest:
            return Value(array_of(kind.item, len(rest)), (place, *rest))
        return self.load(kind.item, self.parts_at(kind.item, place))

    def set_item(self, array: Value, indices: Sequence[Value], value: Value) -> None:
        place, rest = self.item_at(array, indices)
        if rest:
            raise NotTranslated("a row of an array cannot be set at once: use a loop")
        item = array.kind.item  # type: ignore[attr-defined]
        self.store(self.cast(value, item), self.parts_at(item, place))

    # Numbers
    def cast(self, value: Value, kind: Kind) -> Value:
        """The value converted to a wider kind."""
        own = value.kind
        if own == kind:
            return value
        if not is_number(own) or not is_number(kind) or join(own, kind) != kind:
            raise NotTranslated(f"a value of kind {own} is used where {kind} is expected")
        if value.constant is not None and kind in (REAL, WHOLE):
            return constant(float(value.constant) if kind == REAL else int(value.constant))
        (part,) = value.parts
        if kind == WHOLE:
            return Value(WHOLE, (self.name(f"zext i1 {part} to i64"),))
        if own != REAL:
            part = self.name(f"{'uitofp' if own == TRUTH else 'sitofp'} {own.parts[0]} {part} to double")
        return Value(kind, (part,) if kind == REAL else (part, constant(0.0).parts[0]))

    def to_whole(self, value: Value) -> Value:
        """The value without its fraction."""
        if value.kind != REAL:
            return self.cast(value, WHOLE)
        return Value(WHOLE, (self.name(f"fptosi double {value.parts[0]} to i64"),))

    def truth(self, value: Value) -> Value:
        """Whether the value is not zero."""
        if value.kind == TRUTH:
            return value
        if value.kind == FUNCTION:
            value = Value(WHOLE, value.parts)
        if value.kind not in (WHOLE, REAL):
            raise NotTranslated(f"a {value.kind} is neither true nor false")
        return self.compare(ast.NotEq, value, constant(0))

    def negated(self, truth: Value) -> Value:
        return Value(TRUTH, (self.name(f"xor i1 {truth.parts[0]}, true"),))

    def compare(self, operation: type, a: Value, b: Value) -> Value:
        if (
            a.kind == FUNCTION and b.constant == 0 and operation in (ast.Eq, ast.NotEq)
        ):  # whether there is one
            a = Value(WHOLE, a.parts)
        kind = join(join(a.kind, b.kind), WHOLE)
        if kind not in (WHOLE, REAL) or operation not in _COMPARISONS:
            raise NotTranslated(f"a {a.kind} and a {b.kind} cannot be compared")
        a, b = self.cast(a, kind), self.cast(b, kind)
        real, whole = _COMPARISONS[operation]
        instruction = f"fcmp {real} double" if kind == REAL else f"icmp {whole} i64"
        return Value(TRUTH, (self.name(f"{instruction} {a.parts[0]}, {b.parts[0]}"),))

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        kind = join(yes.kind, no.kind)
        yes, no = self.cast(yes, kind), self.cast(no, kind)
        return Value(
            kind,
            tuple(
                self.name(f"select i1 {condition.parts[0]}, {t} {y}, {t} {n}")
                for t, y, n in zip(kind.parts, yes.parts, no.parts, strict=True)
            ),
        )

    def binary(self, operation: type, a: Value, b: Value) -> Value:
        if a.kind == POINTER and b.kind == WHOLE and operation is ast.Add:  # so many bytes on
            return self._plain("add i64", POINTER, a, b)
        if not (is_number(a.kind) and is_number(b.kind)):
            raise NotTranslated(f"a {a.kind} and a {b.kind} cannot be combined: use a loop")
        if operation is ast.Pow:
            return self._power(a, b)
        kind = join(a.kind, b.kind)
        if kind == TRUTH and operation in _BITS:
            return self._plain(f"{_WHOLE_OPERATIONS[operation]} i1", TRUTH, a, b)
        kind = join(kind, REAL if operation is ast.Div else WHOLE)
        a, b = self.cast(a, kind), self.cast(b, kind)
        if kind == COMPLEX:
            return self._complex(operation, a, b)
        if operation in (ast.Mod, ast.FloorDiv):
            return self._floor(operation, kind, a, b)
        known = (_REAL_OPERATIONS if kind == REAL else _WHOLE_OPERATIONS).get(operation)
        if known is None:
            raise NotTranslated(f"{operation.__name__} is not defined for a {kind}")
        return self._plain(f"{known} {kind.parts[0]}", kind, a, b)

    def _plain(self, instruction: str, kind: Kind, a: Value, b: Value) -> Value:
        return Value(kind, (self.name(f"{instruction} {a.parts[0]}, {b.parts[0]}"),))

    def _floor(self, operation: type, kind: Kind, a: Value, b: Value) -> Value:
        """Quotient and remainder as in Python: the remainder has the sign of the divisor; both are 0 for
        divisor 0."""
        if kind != WHOLE:
            raise NotTranslated("// and % need integers; use floor(x / y)")
        zero = self.compare(ast.Eq, b, constant(0))
        safe = self.select(zero, constant(1), b)
        quotient = self._plain("sdiv i64", WHOLE, a, safe)
        rest = self.binary(ast.Sub, a, self.binary(ast.Mult, quotient, safe))
        signs = self._plain("xor i64", WHOLE, rest, safe)
        inexact = self.compare(ast.NotEq, rest, constant(0))
        differ = self.compare(ast.Lt, signs, constant(0))
        below = Value(TRUTH, (self.name(f"and i1 {inexact.parts[0]}, {differ.parts[0]}"),))
        if operation is ast.Mod:
            found = self.select(below, self.binary(ast.Add, rest, safe), rest)
        else:
            found = self.select(below, self.binary(ast.Sub, quotient, constant(1)), quotient)
        return self.select(zero, constant(0), found)

    def _power(self, a: Value, b: Value) -> Value:
        n = b.constant
        if b.kind == WHOLE and n is not None and abs(n) <= LARGEST_UNROLLED and a.kind in (WHOLE, REAL):
            if a.kind == WHOLE and n < 0:
                a = self.cast(a, REAL)
            found, square, left = constant(1 if a.kind == WHOLE else 1.0), a, abs(n)
            while left:
                if left & 1:
                    found = square if found.constant == 1 else self.binary(ast.Mult, found, square)
                left >>= 1
                if left:
                    square = self.binary(ast.Mult, square, square)
            return self.binary(ast.Div, constant(1.0), found) if n < 0 else found
        return self.function("pow", a, b)

    def _complex(self, operation: type, a: Value, b: Value) -> Value:
        def of(op: type, x: str, y: str) -> str:
            return self.name(f"{_REAL_OPERATIONS[op]} double {x}, {y}")

        (p, q), (r, s) = a.parts, b.parts
        if operation in (ast.Add, ast.Sub):
            return Value(COMPLEX, (of(operation, p, r), of(operation, q, s)))
        times, plus, minus, over = ast.Mult, ast.Add, ast.Sub, ast.Div
        if operation is times:
            return Value(
                COMPLEX,
                (of(minus, of(times, p, r), of(times, q, s)), of(plus, of(times, p, s), of(times, q, r))),
            )
        if operation is not over:
            raise NotTranslated(f"{operation.__name__} is not defined for a complex number")
        # R. L. Smith, Algorithm 116, Communications of the ACM 5 (1962): by the larger part of the divisor.
        first = self.compare(ast.GtE, self.absolute(Value(REAL, (r,))), self.absolute(Value(REAL, (s,))))
        large, small = (
            self.select(first, Value(REAL, (x,)), Value(REAL, (y,))).parts[0] for x, y in ((r, s), (s, r))
        )
        ratio = of(over, small, large)
        divisor = of(plus, large, of(times, small, ratio))
        p_ratio, q_ratio = of(times, p, ratio), of(times, q, ratio)
        tops = (
            (of(plus, p, q_ratio), of(plus, p_ratio, q)),
            (of(minus, q, p_ratio), of(minus, q_ratio, p)),
        )
        chosen = (self.select(first, Value(REAL, (x,)), Value(REAL, (y,))).parts[0] for x, y in tops)
        return Value(COMPLEX, tuple(of(over, top, divisor) for top in chosen))

    def minus(self, a: Value) -> Value:
        if a.constant is not None:
            return constant(-a.constant)
        if a.kind == REAL:
            return Value(REAL, (self.name(f"fneg double {a.parts[0]}"),))
        return self.binary(ast.Sub, constant(0), a)

    def absolute(self, a: Value) -> Value:
        if a.kind == REAL:
            return self.function("fabs", a)
        if a.kind == COMPLEX:
            return self.function("hypot", *(Value(REAL, (part,)) for part in a.parts))
        return self.select(self.compare(ast.Lt, a, constant(0)), self.minus(a), a)

    def extreme(self, operation: type, values: Sequence[Value]) -> Value:
        """The largest (`operation` Gt) or the smallest (Lt); the first one where a comparison fails, as in Python."""
        kind = values[0].kind
        for value in values[1:]:
            kind = join(kind, value.kind)
        found = self.cast(values[0], kind)
        for value in values[1:]:
            other = self.cast(value, kind)
            found = self.select(self.compare(operation, other, found), other, found)
        return found

    def function(self, name: str, *arguments: Value) -> Value:
        """A function of real numbers."""
        values = [self.cast(argument, REAL).parts[0] for argument in arguments]
        symbol = f"llvm.{name}.f64" if name in INTRINSICS else name
        self.declared.add(f"declare double @{symbol}({', '.join(['double'] * len(values))}) #1")
        listed = ", ".join(f"double {value}" for value in values)
        return Value(REAL, (self.name(f"call double @{symbol}({listed})"),))
