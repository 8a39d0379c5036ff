"""Compiled procedures that are called by address.

Numba optimizes a compiled function together with all that it calls, again for every caller: a loop over deep
helpers takes minutes. A procedure is compiled on its own, once, and called by its address, which its caller finds
in the table of its memory (see `sekant.solvers.common.views`). All have the form
``f(table, a, b) -> integer``; what else they need and give stands in the arrays of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.ccallback import CFunc
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.numpy_support import carray

from sekant.solvers.common.compiled import inner, tie_to_sources

_intrinsic: Any = intrinsic
_INT, _DOUBLE = ir.IntType(64), ir.DoubleType()
_SIGNATURE = ((types.CPointer(types.int64), types.int64, types.float64, types.float64), types.int64)


class Procedure:
    """A function of (pointer, rows, a, b), compiled when its address is first asked for."""

    def __init__(self, function: Callable[..., Any]):
        self._function = function
        self._compiled: Any = None

    @property
    def address(self) -> int:
        if self._compiled is None:
            callback: Any = CFunc(self._function, _SIGNATURE, {}, {"nopython": True, "error_model": "numpy"})
            callback.enable_caching()
            tie_to_sources(callback._cache, Path(self._function.__code__.co_filename))
            callback.compile()
            self._compiled = callback
        return self._compiled.address


def procedure(function: Callable[..., Any]) -> Procedure:
    """Make a procedure of a function ``f(pointer, rows, a, b)`` that begins with ``table_at(pointer, rows)``."""
    return Procedure(function)


@inner
def table_at(pointer, rows):
    """The table of addresses (rows, 3) at a pointer."""
    return carray(pointer, (rows, 3))


@_intrinsic
def _call(typingctx, address, table, a, b):
    if not isinstance(table, types.Array) or table.ndim != 2 or table.dtype != types.int64:
        raise TypingError(f"a procedure takes a table of integers, not {table}")

    def codegen(context, builder, signature, values):
        array = context.make_array(signature.args[1])(context, builder, values[1])
        kind = ir.FunctionType(_INT, [_INT.as_pointer(), _INT, _DOUBLE, _DOUBLE])
        function = builder.inttoptr(values[0], kind.as_pointer())
        return builder.call(
            function, [array.data, builder.extract_value(array.shape, 0), values[2], values[3]]
        )

    return types.int64(types.int64, table, types.float64, types.float64), codegen


@inner
def call(table, k, a, b):
    """Call the procedure whose address stands in row k of the table."""
    return _call(table[k, 0], table, a, b)
