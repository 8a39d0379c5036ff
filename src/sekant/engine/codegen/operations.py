"""LLVM instructions for each operation of an SX tape.

IEEE semantics throughout: NaN propagates and comparisons with it are false. The flag `contract` lets a
product and a sum become one fused operation; no other rewriting of arithmetic is allowed.
"""

from __future__ import annotations

import re
import struct
from functools import cache

import casadi as ca

from sekant.engine.codegen.operation_table import ROWS, TABLE
from sekant.errors import SekantError

PURE = "memory(none) nounwind willreturn"


def literal(value: float) -> str:
    """A double in LLVM's exact notation, including infinities and NaN."""
    return "0x" + struct.pack(">d", value).hex().upper()


_TEMPLATES = {code: row.text for code, row in TABLE.items()}
UNARY = frozenset(code for code, row in TABLE.items() if row.operands == 1)
BINARY = frozenset(code for code, row in TABLE.items() if row.operands == 2)
_CALLED = sorted({(row.operands, row.called) for row in ROWS if row.function})
LIBRARY = {name: count for count, name in _CALLED if not name.startswith("llvm.")}
"""Library functions that are called, and their numbers of arguments."""

ERFINV = """
define internal double @sekant.erfinv(double %x) memory(none) nounwind willreturn noinline {
 %small = call double @llvm.fabs.f64(double %x)
 %z = fmul double %x, %x
 %n0 = call double @llvm.fma.f64(double -0.140543331, double %z, double 0.914624893)
 %n1 = call double @llvm.fma.f64(double %n0, double %z, double -1.645349621)
 %n2 = call double @llvm.fma.f64(double %n1, double %z, double 0.886226899)
 %n3 = fmul double %x, %n2
 %d0 = call double @llvm.fma.f64(double 0.012229801, double %z, double -0.329097515)
 %d1 = call double @llvm.fma.f64(double %d0, double %z, double 1.442710462)
 %d2 = call double @llvm.fma.f64(double %d1, double %z, double -2.118377725)
 %d3 = call double @llvm.fma.f64(double %d2, double %z, double 1.0)
 %center = fdiv double %n3, %d3
 %rest = fsub double 1.0, %small
 %half = fmul double %rest, 0.5
 %log = call double @log(double %half)
 %minus = fneg double %log
 %t = call double @llvm.sqrt.f64(double %minus)
 %p0 = call double @llvm.fma.f64(double 1.641345311, double %t, double 3.429567803)
 %p1 = call double @llvm.fma.f64(double %p0, double %t, double -1.624906493)
 %p2 = call double @llvm.fma.f64(double %p1, double %t, double -1.970840454)
 %q0 = call double @llvm.fma.f64(double 1.637067800, double %t, double 3.543889200)
 %q1 = call double @llvm.fma.f64(double %q0, double %t, double 1.0)
 %tail0 = fdiv double %p2, %q1
 %tail = call double @llvm.copysign.f64(double %tail0, double %x)
 %inner = fcmp olt double %small, 0.7
 %y0 = select i1 %inner, double %center, double %tail
 %e0 = call double @erf(double %y0)
 %r0 = fsub double %e0, %x
 %s0 = fmul double %y0, %y0
 %m0 = fneg double %s0
 %g0 = call double @exp(double %m0)
 %h0 = fmul double %g0, 0x3FF20DD750429B6D
 %c0 = fdiv double %r0, %h0
 %y1 = fsub double %y0, %c0
 %e1 = call double @erf(double %y1)
 %r1 = fsub double %e1, %x
 %s1 = fmul double %y1, %y1
 %m1 = fneg double %s1
 %g1 = call double @exp(double %m1)
 %h1 = fmul double %g1, 0x3FF20DD750429B6D
 %c1 = fdiv double %r1, %h1
 %y2 = fsub double %y1, %c1
 %end = fcmp oeq double %small, 1.0
 %infinite = call double @llvm.copysign.f64(double 0x7FF0000000000000, double %x)
 %y3 = select i1 %end, double %infinite, double %y2
 %beyond = fcmp ogt double %small, 1.0
 %y4 = select i1 %beyond, double 0x7FF8000000000000, double %y3
 ret double %y4
}
"""
"""Inverse error function: a rational start, different inside and outside of |x| < 0.7, and two Newton steps
y -= (erf(y) - x) / (2/sqrt(pi) exp(-y^2)); infinite at +-1, NaN beyond. CasADi's own errs by 1e-7 at x < -0.7."""

DECLARATIONS = "\n".join(
    [
        f"declare double @{name}({', '.join(['double'] * count)}){'' if '.' in name else ' ' + PURE}"
        for count, name in _CALLED
        if not name.startswith("sekant.")
    ]
    + ["declare double @llvm.fma.f64(double, double, double)"]
)


def _template(op: int) -> str:
    try:
        return _TEMPLATES[op]
    except KeyError:
        raise SekantError(
            f"operation {op} of CasADi has no native code; calls of functions must be expanded"
        ) from None


def instructions(op: int, v: str, a: str, b: str) -> str:
    """The text that defines `v` as operation `op` of `a` and `b` (names of values or literals)."""
    return _template(op).format(v=v, a=a, b=b)


@cache
def _lane_template(op: int, lanes: int) -> str:
    return vectorized(_template(op), lanes)


def lane_instructions(op: int, lanes: int, v: str, a: str, b: str) -> str:
    """Like `instructions`, on vectors of `lanes` doubles."""
    return _lane_template(op, lanes).format(v=v, a=a, b=b)


def held_instructions(op: int, v: str, a: str, b: str, mode: str, reversed_sign: bool) -> str:
    """Like `instructions`, for an operation that is a site: if the mode at `mode` is held, its value decides."""
    text = (
        "{v}.c = load i64, ptr {m}, align 8\n{v}.p = getelementptr double, ptr {m}, i64 1\n"
        "{v}.{s} = load double, ptr {v}.p, align 8\n{v}.h = icmp ne i64 {v}.c, 0\n"
    ).format(v=v, m=mode, s="r" if reversed_sign else "s")
    text += f"{v}.s = fneg double {v}.r\n" if reversed_sign else ""
    held = TABLE[op].held.format(v=v, a=a, b=b)
    free = instructions(op, f"{v}.f", a, b)
    return f"{text}{held}\n{free}\n{v} = select i1 {v}.h, double {v}.k, double {v}.f"


def may_hold(v: str, op: int | None, mode: str, reversed_sign: bool) -> str:
    """The text that defines the bit `v`: whether the site with the mode at `mode` is free, or holds `op` (OP_LT or
    OP_LE, where given) true."""
    text = f"{v}.c = load i64, ptr {mode}, align 8\n"
    if op is None:
        return f"{text}{v} = icmp eq i64 {v}.c, 0"
    compare = {
        (ca.OP_LT, False): "ogt",
        (ca.OP_LT, True): "olt",
        (ca.OP_LE, False): "oge",
        (ca.OP_LE, True): "ole",
    }
    text += f"{v}.f = icmp eq i64 {v}.c, 0\n{v}.p = getelementptr double, ptr {mode}, i64 1\n"
    text += f"{v}.s = load double, ptr {v}.p, align 8\n"
    return f"{text}{v}.q = fcmp {compare[op, reversed_sign]} double {v}.s, 0.0\n{v} = or i1 {v}.f, {v}.q"


def power(v: str, a: str, exponent: float) -> str | None:
    """Text for a to a small integer power by multiplications, or None where `pow` is better."""
    if not 0 < abs(exponent) <= 8 or exponent != int(exponent):
        return None
    lines, result, square, n, step = [], "", a, int(abs(exponent)), 0

    def multiply(x: str, y: str) -> str:
        nonlocal step
        step += 1
        lines.append(f"{v}.m{step} = fmul contract double {x}, {y}")
        return f"{v}.m{step}"

    while n:
        if n & 1:
            result = multiply(result, square) if result else square
        n >>= 1
        if n:
            square = multiply(square, square)
    if exponent < 0:
        lines.append(f"{v} = fdiv double 1.0, {result}")
    else:
        lines.append(f"{v} = fadd double {result}, {literal(-0.0)}")
    return "\n".join(lines)


_NUMBER = re.compile(r"(?<![\w.%])(-?\d+\.\d+|0x[0-9A-F]{16})(?![\w.])")
_CALL = re.compile(
    r"@(" + "|".join(re.escape(name) for name in sorted(LIBRARY, key=len, reverse=True)) + r")\("
)


def vectorized(text: str, lanes: int) -> str:
    """Instructions on doubles, converted to instructions on vectors of doubles."""
    text = re.sub(r"\bdouble\b", f"<{lanes} x double>", text)
    text = _NUMBER.sub(r"splat (double \1)", text)
    text = re.sub(r"\bi1\b", f"<{lanes} x i1>", text)
    text = text.replace(".f64(", f".v{lanes}f64(")
    return _CALL.sub(rf"@sekant.v{lanes}.\1(", text)
