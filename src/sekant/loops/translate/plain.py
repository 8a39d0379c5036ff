"""Procedures as plain Python: the same computation in a debugger, step by step.

``SEKANT_LOOPS=python`` runs every loop this way. A function is compiled by Python from its own source, with its file
and its lines, so breakpoints, coverage and tracebacks work. Arithmetic follows the processor instead of Python where
the two differ: a division by zero is infinite or NaN, powers and quotients of complex numbers are those of
`translation.instructions`. Indices are checked, which compiled code does not do.
"""

from __future__ import annotations

import ast
import builtins
import copy
import math
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from sekant.loops.translate.instructions import INTRINSICS, LARGEST_UNROLLED, LIBRARY
from sekant.loops.translate.kinds import definition_of

_HERE = "__plain__"
_LEAST = -(2**63)
"""The processor's result of converting a number outside the range of integers."""


def plain(function: FunctionType) -> Callable[..., Any]:
    """The function with the arithmetic of compiled code."""
    free = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    names = {
        **function.__globals__,
        **{name: cell.cell_contents for name, cell in free.items()},
        _HERE: _OPERATIONS,
    }
    definition = copy.deepcopy(definition_of(function))
    definition.decorator_list = []
    stored = (n.id for n in ast.walk(definition) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    local = {*stored, *(argument.arg for argument in definition.args.args)}
    changed = ast.fix_missing_locations(_Rewriting(names, local).visit(definition))
    code = compile(ast.Module([changed], []), function.__code__.co_filename, "exec")
    exec(code, names)
    return names[function.__name__]


class _Rewriting(ast.NodeTransformer):
    """Replaces operations in which Python and the processor differ by calls of `_OPERATIONS`."""

    def __init__(self, names: dict[str, Any], local: set[str]):
        self._names, self._local = names, local

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return self._operation(node, node.op, node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        old = copy.deepcopy(node.target)
        old.ctx = ast.Load()
        value = self._operation(ast.BinOp(old, node.op, node.value), node.op, old, node.value)
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            return _call(node, "minus", node.operand)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        called = self._known(node.func)
        if called in (int, np.int64, round, math.floor):
            name = {int: "whole", np.int64: "whole", round: "rounded", math.floor: "floor"}[called]
            return _call(node, name, *node.args)
        name = getattr(called, "__name__", "")
        if getattr(math, name, None) is called and name in (*INTRINSICS, *LIBRARY):
            return _call(node, name, *node.args)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = [self._index(one) for one in node.slice.elts]
        else:
            node.slice = self._index(node.slice)
        return node

    def _index(self, node: ast.expr) -> ast.expr:
        return node if self._number(node) is not None else _call(node, "index", node)

    def _operation(self, node: ast.expr, op: ast.operator, left: ast.expr, right: ast.expr) -> ast.expr:
        if isinstance(op, ast.Pow):
            exponent = self._number(right)
            if isinstance(exponent, int) and abs(exponent) <= LARGEST_UNROLLED:
                return _call(node, "whole_power", left, right)
            return _call(node, "root", left) if exponent == 0.5 else _call(node, "pow", left, right)
        names = {ast.Div: "divided", ast.FloorDiv: "floor_divided", ast.Mod: "rest"}
        name = names.get(type(op))
        return node if name is None else _call(node, name, left, right)

    def _known(self, node: ast.expr) -> Any:
        """The value of a name of the module, or None."""
        if isinstance(node, ast.Name):
            known = {} if node.id in self._local else self._names
            return known.get(node.id, getattr(builtins, node.id, None))
        if isinstance(node, ast.Attribute):
            return getattr(self._known(node.value), node.attr, None)
        return None

    def _number(self, node: ast.expr) -> Any:
        """The value of a constant, or None."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self._number(node.operand)
            return None if value is None else -value
        found = node.value if isinstance(node, ast.Constant) else self._known(node)
        return found if isinstance(found, (int, float)) else None


def _call(node: ast.AST, name: str, *arguments: ast.expr) -> ast.expr:
    called = ast.Attribute(ast.Name(_HERE, ast.Load()), name, ast.Load())
    return ast.copy_location(ast.Call(called, list(arguments), []), node)


def _divided(a: Any, b: Any) -> Any:
    if isinstance(a, complex) or isinstance(b, complex):
        return _complex_quotient(complex(a), complex(b))
    a, b = float(a), float(b)
    if b:
        return a / b
    if not a or math.isnan(a) or math.isnan(b):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _complex_quotient(a: complex, b: complex) -> complex:
    """Quotient, scaled by the larger part of the divisor: R. L. Smith, Algorithm 116, Communications of the
    ACM 5 (1962)."""
    first = abs(b.real) >= abs(b.imag)
    large, small = (b.real, b.imag) if first else (b.imag, b.real)
    ratio = _divided(small, large)
    divisor = large + small * ratio
    if first:
        return complex(_divided(a.real + a.imag * ratio, divisor), _divided(a.imag - a.real * ratio, divisor))
    return complex(_divided(a.real * ratio + a.imag, divisor), _divided(a.imag * ratio - a.real, divisor))


def _whole_power(a: Any, n: int) -> Any:
    """Power by repeated squaring, in the order of compiled code."""
    if isinstance(a, complex):
        raise TypeError("compiled code does not support powers of complex numbers")
    found, square, left = None, float(a) if n < 0 or isinstance(a, float) else a, abs(n)
    while left:
        if left & 1:
            found = square if found is None else found * square
        left >>= 1
        if left:
            square = square * square
    found = 1 if found is None else found
    return _divided(1.0, found) if n < 0 else found


def _root(a: float) -> float:
    """``a ** 0.5``, for which LLVM uses the square root."""
    return math.inf if a == -math.inf else abs(_FUNCTIONS["sqrt"](a))


def _minus(a: Any) -> Any:
    return 0 - a if isinstance(a, complex) else -a


def _floor_divided(a: int, b: int) -> int:
    return a // b if b else 0


def _rest(a: int, b: int) -> int:
    return a % b if b else 0


def _index(i: Any) -> Any:
    if isinstance(i, (float, complex)) or i < 0:
        raise IndexError(f"index {i} of an array of a compiled loop: only a constant index may be negative")
    return i


def _whole(x: Any) -> int:
    return int(x) if -(2.0**63) <= x < 2.0**63 else _LEAST


def _processor(name: str) -> Callable[..., float]:
    """A function of `math` that returns the processor's result where Python raises."""
    function = getattr(math, "pow" if name == "pow" else name)

    def checked(*arguments: float) -> float:
        try:
            return function(*arguments)
        except OverflowError:
            odd = name == "pow" and arguments[0] < 0 and arguments[1] % 2 == 1
            negative = odd or (name in ("sinh", "expm1") and arguments[0] < 0)
            return -math.inf if negative else math.inf
        except ValueError:
            return _at_pole(name, *arguments)

    return checked


def _at_pole(name: str, x: float, y: float = 0.0) -> float:
    """The result where Python raises: infinite at a pole, NaN outside the domain of a function."""
    if (name == "log" and x == 0) or (name == "log1p" and x == -1):
        return -math.inf
    if name == "atanh" and abs(x) == 1:
        return math.copysign(math.inf, x)
    if name == "pow" and x == 0 and y < 0:
        return math.copysign(math.inf, x) if y % 2 == 1 else math.inf
    return math.nan


_FUNCTIONS = {name: _processor(name) for name in (*INTRINSICS, *LIBRARY) if hasattr(math, name)}
_OPERATIONS = SimpleNamespace(
    **{
        **_FUNCTIONS,
        "divided": _divided,
        "whole_power": _whole_power,
        "root": _root,
        "minus": _minus,
        "floor_divided": _floor_divided,
        "rest": _rest,
        "index": _index,
        "whole": _whole,
        "rounded": lambda x: _whole(round(x) if math.isfinite(x) else x),
        "floor": lambda x: _whole(math.floor(x) if math.isfinite(x) else x),
    }
)
