"""The table of operations: one row contains everything that the emitters know about an operation of an SX tape.

A row has the name (CasADi's, without OP_), the number of operands, LLVM's text on doubles and the C
expression. Text in lanes is made from that on doubles. If the text is the name of a function, the operation
calls it; its C expression is that of the function in math.h unless given. `held`: LLVM's text where the site
of a switch is held, by its value {v}.s (see `sekant.solvers.common.sites`). `symbol`: the expression in SymPy
(`s`), by default SymPy's function of that name. Traits:

============ ===================================================================================
commutative  operands may change places
cheap        takes a processor one or two cycles
pair         processors perform it on two numbers as fast as on one
sign         a switch by the sign of its operand; difference: of b - a; floor: by its integer
no_series    the Taylor method has no recurrence for it
============ ===================================================================================

Series are in `sekant.solvers.taylor`, by the same names; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca


@dataclass(frozen=True)
class Operation:
    """A row of the table; see the module docstring."""

    name: str
    operands: int
    llvm: str
    c: str = ""
    traits: str = ""
    held: str = ""
    symbol: Callable[..., Any] | None = None

    @property
    def code(self) -> int:
        """CasADi's number of the operation."""
        return int(getattr(ca, f"OP_{self.name.upper()}"))

    @property
    def function(self) -> str:
        """The function that is called; empty if the operation has its own text."""
        return "" if "{" in self.llvm else self.llvm.replace("llvm.", "")

    @property
    def called(self) -> str:
        """The function as LLVM names it: a function of Sekant or of the C library."""
        return f"{self.llvm}.f64" if self.llvm.startswith("llvm.") else self.llvm

    @property
    def text(self) -> str:
        """LLVM's text on doubles, which defines {v} from {a} and {b}."""
        if not self.function:
            return self.llvm
        operands = ", ".join(f"double {{{x}}}" for x in "ab"[: self.operands])
        return f"{{v}} = call double @{self.called}({operands})"

    def c_text(self, suffix: str) -> str:
        """The C expression of {a} and {b}; `suffix`: of the functions of math.h."""
        operands = ", ".join(f"{{{x}}}" for x in "ab"[: self.operands])
        return self.c or f"{self.function}{suffix}({operands})"

    def symbolic(self, sympy: Any, *operands: Any) -> Any:
        """The expression in SymPy; None if it has no counterpart."""
        if self.symbol is not None:
            return self.symbol(sympy, *operands)
        function = getattr(sympy, self.function, None)
        return None if function is None else function(*operands)

    def is_(self, trait: str) -> bool:
        return trait in self.traits.split()


def _truth(compare: str) -> str:
    return f"{{v}}.t = fcmp {compare} double {{a}}, {{b}}\n{{v}} = uitofp i1 {{v}}.t to double"


def _both(word: str) -> str:
    text = "{v}.a = fcmp une double {a}, 0.0\n{v}.b = fcmp une double {b}, 0.0\n"
    return text + f"{{v}}.t = {word} i1 {{v}}.a, {{v}}.b\n{{v}} = uitofp i1 {{v}}.t to double"


def _chosen(s: Any, condition: Any, value: Any = 1) -> Any:
    return s.Piecewise((value, condition), (0, True))


_SIGN = (
    "{v}.p = fcmp ogt double {a}, 0.0\n{v}.n = fcmp olt double {a}, 0.0\n"
    "{v}.s = select i1 {v}.n, double -1.0, double {a}\n{v} = select i1 {v}.p, double 1.0, double {v}.s"
)
_HELD_TRUTH = "{v}.q = fcmp %s double {v}.s, 0.0\n{v}.k = uitofp i1 {v}.q to double"
_HELD_CHOICE = "{v}.q = fcmp oge double {v}.s, 0.0\n{v}.k = select i1 {v}.q, double {%s}, double {%s}"
_CHOSEN = "{v}.t = fcmp une double {a}, 0.0\n{v} = select i1 {v}.t, double {b}, double 0.0"
_C_SIGN = "{a} > 0 ? (real)1 : {a} < 0 ? (real)-1 : {a}"
_C_LEAST = "{a} %s {b} || {b} != {b} ? {a} : {b}"
"""Minimum and maximum in C, where NaN is ignored. Not fmin and fmax, because these do not define an order of
zeros."""

# fmt: off
ROWS = (
    Operation("neg", 1, "{v} = fneg double {a}", "-{a}", "cheap pair", symbol=lambda s, a: -a),
    Operation("sq", 1, "{v} = fmul contract double {a}, {a}", "{a} * {a}", "cheap pair",
              symbol=lambda s, a: a**2),
    Operation("twice", 1, "{v} = fadd contract double {a}, {a}", "{a} + {a}", "cheap pair",
              symbol=lambda s, a: 2 * a),
    Operation("inv", 1, "{v} = fdiv double 1.0, {a}", "1 / {a}", "pair",
              symbol=lambda s, a: s.Integer(1) / a),
    Operation("add", 2, "{v} = fadd contract double {a}, {b}", "{a} + {b}", "cheap pair commutative",
              symbol=lambda s, a, b: a + b),
    Operation("sub", 2, "{v} = fsub contract double {a}, {b}", "{a} - {b}", "cheap pair",
              symbol=lambda s, a, b: a - b),
    Operation("mul", 2, "{v} = fmul contract double {a}, {b}", "{a} * {b}", "cheap pair commutative",
              symbol=lambda s, a, b: a * b),
    Operation("div", 2, "{v} = fdiv double {a}, {b}", "{a} / {b}", "pair", symbol=lambda s, a, b: a / b),
    Operation("lt", 2, _truth("olt"), "(real)({a} < {b})", "cheap difference", _HELD_TRUTH % "ogt",
              symbol=lambda s, a, b: _chosen(s, a < b)),
    Operation("le", 2, _truth("ole"), "(real)({a} <= {b})", "cheap difference", _HELD_TRUTH % "oge",
              symbol=lambda s, a, b: _chosen(s, a <= b)),
    Operation("eq", 2, _truth("oeq"), "(real)({a} == {b})", "cheap commutative",
              symbol=lambda s, a, b: _chosen(s, s.Eq(a, b))),
    Operation("ne", 2, _truth("une"), "(real)({a} != {b})", "cheap commutative",
              symbol=lambda s, a, b: _chosen(s, s.Ne(a, b))),
    Operation("and", 2, _both("and"), "(real)(({a} != 0) & ({b} != 0))", "cheap commutative",
              symbol=lambda s, a, b: _chosen(s, s.And(s.Ne(a, 0), s.Ne(b, 0)))),
    Operation("or", 2, _both("or"), "(real)(({a} != 0) | ({b} != 0))", "cheap commutative",
              symbol=lambda s, a, b: _chosen(s, s.Or(s.Ne(a, 0), s.Ne(b, 0)))),
    Operation("not", 1, _truth("oeq").replace("{b}", "0.0"), "(real)({a} == 0)", "cheap",
              symbol=lambda s, a: _chosen(s, s.Eq(a, 0))),
    Operation("if_else_zero", 2, _CHOSEN, "{a} != 0 ? {b} : 0", "cheap",
              symbol=lambda s, a, b: _chosen(s, s.Ne(a, 0), b)),
    Operation("sign", 1, _SIGN, _C_SIGN, "cheap sign", "{v}.k = fadd double {v}.s, 0.0",
              symbol=lambda s, a: s.sign(a)),
    Operation("fabs", 1, "llvm.fabs", "", "cheap sign", "{v}.k = fmul double {v}.s, {a}",
              symbol=lambda s, a: s.Abs(a)),
    Operation("fmin", 2, "llvm.minnum", _C_LEAST % "<", "cheap difference", _HELD_CHOICE % ("a", "b"),
              symbol=lambda s, a, b: s.Min(a, b)),
    Operation("fmax", 2, "llvm.maxnum", _C_LEAST % ">", "cheap difference", _HELD_CHOICE % ("b", "a"),
              symbol=lambda s, a, b: s.Max(a, b)),
    Operation("floor", 1, "llvm.floor", "", "floor", "{v}.k = fadd double {v}.s, 0.0"),
    Operation("ceil", 1, "llvm.ceil", "", "floor", "{v}.k = fadd double {v}.s, 1.0",
              symbol=lambda s, a: s.ceiling(a)),
    Operation("copysign", 2, "llvm.copysign"),
    Operation("sqrt", 1, "llvm.sqrt", "", "pair"),
    Operation("exp", 1, "exp"),
    Operation("log", 1, "log"),
    Operation("sin", 1, "sin"),
    Operation("cos", 1, "cos"),
    Operation("tan", 1, "tan"),
    Operation("asin", 1, "asin"),
    Operation("acos", 1, "acos"),
    Operation("atan", 1, "atan"),
    Operation("sinh", 1, "sinh"),
    Operation("cosh", 1, "cosh"),
    Operation("tanh", 1, "tanh"),
    Operation("asinh", 1, "asinh"),
    Operation("acosh", 1, "acosh"),
    Operation("atanh", 1, "atanh"),
    Operation("log1p", 1, "log1p", symbol=lambda s, a: s.log(1 + a)),
    Operation("expm1", 1, "expm1", symbol=lambda s, a: s.exp(a) - 1),
    Operation("erf", 1, "erf"),
    Operation("erfinv", 1, "sekant.erfinv", "inverse_erf({a})", "no_series", symbol=lambda s, a: s.erfinv(a)),
    Operation("pow", 2, "pow", symbol=lambda s, a, b: a**b),
    Operation("constpow", 2, "pow", symbol=lambda s, a, b: a**b),
    Operation("atan2", 2, "atan2"),
    Operation("hypot", 2, "hypot", traits="commutative", symbol=lambda s, a, b: s.sqrt(a**2 + b**2)),
    Operation("fmod", 2, "fmod", symbol=lambda s, a, b: a - b * s.sign(a / b) * s.floor(s.Abs(a / b))),
    Operation("remainder", 2, "remainder"),
)
# fmt: on
TABLE = {row.code: row for row in ROWS}
"""The rows by CasADi's operation numbers."""


def having(trait: str) -> frozenset[int]:
    """CasADi's numbers of all operations with a trait."""
    return frozenset(row.code for row in ROWS if row.is_(trait))
