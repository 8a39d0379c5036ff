"""LLVM instructions for each operation of an SX tape.

IEEE semantics throughout: NaN propagates and comparisons with it are false. The flag `contract` lets a
product and a sum become one fused operation; no other rewriting of arithmetic is allowed.
"""

from __future__ import annotations

import re
import struct

import casadi as ca

from sekant.errors import SekantError

PURE = "memory(none) nounwind willreturn"


def literal(value: float) -> str:
    """A double as LLVM writes it exactly; infinities and NaN included."""
    return "0x" + struct.pack(">d", value).hex().upper()


_UNARY = {
    ca.OP_NEG: "{v} = fneg double {a}",
    ca.OP_SQ: "{v} = fmul contract double {a}, {a}",
    ca.OP_TWICE: "{v} = fadd contract double {a}, {a}",
    ca.OP_INV: "{v} = fdiv double 1.0, {a}",
    ca.OP_NOT: "{v}.t = fcmp oeq double {a}, 0.0\n{v} = uitofp i1 {v}.t to double",
    ca.OP_SIGN: (
        "{v}.p = fcmp ogt double {a}, 0.0\n{v}.n = fcmp olt double {a}, 0.0\n"
        "{v}.s = select i1 {v}.n, double -1.0, double {a}\n{v} = select i1 {v}.p, double 1.0, double {v}.s"
    ),
}
_BINARY = {
    ca.OP_ADD: "{v} = fadd contract double {a}, {b}",
    ca.OP_SUB: "{v} = fsub contract double {a}, {b}",
    ca.OP_MUL: "{v} = fmul contract double {a}, {b}",
    ca.OP_DIV: "{v} = fdiv double {a}, {b}",
    ca.OP_LT: "{v}.t = fcmp olt double {a}, {b}\n{v} = uitofp i1 {v}.t to double",
    ca.OP_LE: "{v}.t = fcmp ole double {a}, {b}\n{v} = uitofp i1 {v}.t to double",
    ca.OP_EQ: "{v}.t = fcmp oeq double {a}, {b}\n{v} = uitofp i1 {v}.t to double",
    ca.OP_NE: "{v}.t = fcmp une double {a}, {b}\n{v} = uitofp i1 {v}.t to double",
    ca.OP_AND: (
        "{v}.a = fcmp une double {a}, 0.0\n{v}.b = fcmp une double {b}, 0.0\n"
        "{v}.t = and i1 {v}.a, {v}.b\n{v} = uitofp i1 {v}.t to double"
    ),
    ca.OP_OR: (
        "{v}.a = fcmp une double {a}, 0.0\n{v}.b = fcmp une double {b}, 0.0\n"
        "{v}.t = or i1 {v}.a, {v}.b\n{v} = uitofp i1 {v}.t to double"
    ),
    ca.OP_IF_ELSE_ZERO: "{v}.t = fcmp une double {a}, 0.0\n{v} = select i1 {v}.t, double {b}, double 0.0",
}
FUNCTIONS = {
    ca.OP_EXP: "exp",
    ca.OP_LOG: "log",
    ca.OP_SIN: "sin",
    ca.OP_COS: "cos",
    ca.OP_TAN: "tan",
    ca.OP_ASIN: "asin",
    ca.OP_ACOS: "acos",
    ca.OP_ATAN: "atan",
    ca.OP_SINH: "sinh",
    ca.OP_COSH: "cosh",
    ca.OP_TANH: "tanh",
    ca.OP_ASINH: "asinh",
    ca.OP_ACOSH: "acosh",
    ca.OP_ATANH: "atanh",
    ca.OP_LOG1P: "log1p",
    ca.OP_EXPM1: "expm1",
    ca.OP_ERF: "erf",
    ca.OP_SQRT: "sqrt",
    ca.OP_FABS: "fabs",
    ca.OP_FLOOR: "floor",
    ca.OP_CEIL: "ceil",
}
"""Operations that are functions of one number in C's library."""
FUNCTIONS2 = {
    ca.OP_POW: "pow",
    ca.OP_CONSTPOW: "pow",
    ca.OP_ATAN2: "atan2",
    ca.OP_HYPOT: "hypot",
    ca.OP_FMOD: "fmod",
    ca.OP_REMAINDER: "remainder",
    ca.OP_COPYSIGN: "copysign",
    ca.OP_FMIN: "fmin",
    ca.OP_FMAX: "fmax",
}
"""Operations that are functions of two numbers there."""
_INTRINSICS = {"fmin": "minnum", "fmax": "maxnum"} | {
    x: x for x in ("sqrt", "fabs", "floor", "ceil", "copysign")
}


def _called(name: str) -> str:
    return f"llvm.{_INTRINSICS[name]}.f64" if name in _INTRINSICS else name


_CALLS = {op: _called(name) for op, name in FUNCTIONS.items()} | {ca.OP_ERFINV: "sekant.erfinv"}
_CALLS2 = {op: _called(name) for op, name in FUNCTIONS2.items()}
_TEMPLATES: dict[int, str] = {
    **_UNARY,
    **_BINARY,
    **{op: f"{{v}} = call double @{name}(double {{a}})" for op, name in _CALLS.items()},
    **{op: f"{{v}} = call double @{name}(double {{a}}, double {{b}})" for op, name in _CALLS2.items()},
}
UNARY = frozenset([*_UNARY, *_CALLS])
LIBRARY: dict[str, int] = {
    name: count
    for calls, count in ((_CALLS, 1), (_CALLS2, 2))
    for name in sorted(set(calls.values()))
    if not name.startswith("llvm")
}
"""Functions that are called, and how many arguments they take."""
BINARY = frozenset([*_BINARY, *_CALLS2])

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
    [f"declare double @{n}(double) {PURE}" for n in sorted({n for n in _CALLS.values() if "." not in n})]
    + [
        f"declare double @{n}(double, double) {PURE}"
        for n in sorted({"pow", "atan2", "hypot", "fmod", "remainder"})
    ]
    + [f"declare double @{n}(double)" for n in sorted({n for n in _CALLS.values() if n.startswith("llvm")})]
    + [f"declare double @{n}(double, double)" for n in sorted({n for n in _CALLS2.values() if "llvm" in n})]
    + ["declare double @llvm.fma.f64(double, double, double)"]
)


def instructions(op: int, v: str, a: str, b: str) -> str:
    """The text that defines `v` as operation `op` of `a` and `b` (names of values or literals)."""
    try:
        return _TEMPLATES[op].format(v=v, a=a, b=b)
    except KeyError:
        raise SekantError(
            f"operation {op} of CasADi has no native code; calls of functions must be expanded"
        ) from None


_HELD = {
    ca.OP_FABS: "{v}.k = fmul double {v}.s, {a}",
    ca.OP_SIGN: "{v}.k = fadd double {v}.s, 0.0",
    ca.OP_LT: "{v}.q = fcmp ogt double {v}.s, 0.0\n{v}.k = uitofp i1 {v}.q to double",
    ca.OP_LE: "{v}.q = fcmp oge double {v}.s, 0.0\n{v}.k = uitofp i1 {v}.q to double",
    ca.OP_FMIN: "{v}.q = fcmp oge double {v}.s, 0.0\n{v}.k = select i1 {v}.q, double {a}, double {b}",
    ca.OP_FMAX: "{v}.q = fcmp oge double {v}.s, 0.0\n{v}.k = select i1 {v}.q, double {b}, double {a}",
    ca.OP_FLOOR: "{v}.k = fadd double {v}.s, 0.0",
    ca.OP_CEIL: "{v}.k = fadd double {v}.s, 1.0",
}


def held_instructions(op: int, v: str, a: str, b: str, mode: str, reversed_sign: bool) -> str:
    """As `instructions`, for an operation that is a site: where the mode at `mode` is held, its value decides."""
    text = (
        "{v}.c = load i64, ptr {m}, align 8\n{v}.p = getelementptr double, ptr {m}, i64 1\n"
        "{v}.{s} = load double, ptr {v}.p, align 8\n{v}.h = icmp ne i64 {v}.c, 0\n"
    ).format(v=v, m=mode, s="r" if reversed_sign else "s")
    text += f"{v}.s = fneg double {v}.r\n" if reversed_sign else ""
    held = _HELD[op].format(v=v, a=a, b=b)
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
    """Instructions on doubles as instructions on vectors of them."""
    text = re.sub(r"\bdouble\b", f"<{lanes} x double>", text)
    text = _NUMBER.sub(r"splat (double \1)", text)
    text = re.sub(r"\bi1\b", f"<{lanes} x i1>", text)
    text = text.replace(".f64(", f".v{lanes}f64(")
    return _CALL.sub(rf"@sekant.v{lanes}.\1(", text)
