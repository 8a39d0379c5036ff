"""Calls of compiled functions by address from numba code.

A compiled function has the signature ``void f(const double *const *arg, double *const *res, double *w)``:
``arg[i]`` and ``res[i]`` point to dense column-major arrays of doubles, ``w`` is a scratch array.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

_intrinsic: Any = intrinsic
_VOID_POINTER = ir.IntType(8).as_pointer()


def _is_pointer(kind: Any) -> bool:
    return isinstance(kind, (types.Integer, types.Array))


@_intrinsic
def call_native(typingctx, address, arg, res, w):
    """Call the compiled function at `address` (an integer known at run time) from ``@njit`` code.

    `arg`, `res`: tables of data pointers, each a one-dimensional ``uintp`` array, or the integer address of
    such a table. `w`: scratch of ``work_size`` doubles, an array or its integer address.

    The tables hold bare addresses: they do not keep the arrays they point to alive. Numba releases a local
    array after its last use *by name*, so arrays should come in as arguments of the compiled loop, or be
    used by name after the last call.
    """
    if not isinstance(address, types.Integer):
        raise TypingError(f"call_native: the address must be an integer, not {address}")
    for name, kind in (("arg", arg), ("res", res), ("w", w)):
        if not _is_pointer(kind):
            raise TypingError(f"call_native: {name} must be an array or an integer address, not {kind}")
        if isinstance(kind, types.Array) and kind.layout == "A":
            raise TypingError(f"call_native: {name} must be a contiguous array")

    def codegen(context, builder, signature, values):
        def pointer(value, kind):
            if isinstance(kind, types.Array):
                array = context.make_array(kind)(context, builder, value)
                return builder.bitcast(array.data, _VOID_POINTER)
            return builder.inttoptr(value, _VOID_POINTER)

        kinds = signature.args
        pointers = [pointer(v, k) for v, k in zip(values[1:], kinds[1:], strict=True)]
        function_type = ir.FunctionType(ir.VoidType(), [_VOID_POINTER] * 3)
        function = builder.inttoptr(values[0], function_type.as_pointer())
        builder.call(function, pointers)
        return context.get_dummy_value()

    return types.none(address, arg, res, w), codegen
