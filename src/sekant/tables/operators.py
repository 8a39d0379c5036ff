"""Sums, differences, products and quotients of expressions, without CasADi's search among its overloads.

CasADi's Python operators try their operands as each of its kinds of matrices in turn, which takes some 60 us; the
operation itself takes 7. With SX and plain numbers there is nothing to search: importing this module lets the
operators of `ca.SX` go straight to it. All other operands take the way they always took.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

_OPERATIONS = {"add": ca.OP_ADD, "sub": ca.OP_SUB, "mul": ca.OP_MUL, "truediv": ca.OP_DIV}
_SX = ca.SX
_binary = ca.SX.binary


def _direct(operation: int, usual: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        kind = type(other)
        return _binary(operation, self, other) if kind is _SX or kind is float else usual(self, other)

    return operator


def _direct_reflected(operation: int, usual: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        return _binary(operation, other, self) if type(other) is float else usual(self, other)

    return operator


for _name, _operation in _OPERATIONS.items():
    for _way, _make in (("__", _direct), ("__r", _direct_reflected)):
        setattr(_SX, f"{_way}{_name}__", _make(_operation, getattr(_SX, f"{_way}{_name}__")))
