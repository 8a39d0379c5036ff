"""Arrays by address: compiled loops take one table of addresses and lengths instead of scores of arrays.

Numba hands an array over as seven values. With a hundred arrays that costs more than a small system's equations do,
and minutes of compilation. A row of the table is (address, rows, columns) of a contiguous array. The views made
from it do not keep the array alive: whoever makes the table keeps the arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.numpy_support import carray
from numpy.typing import NDArray

from sekant.solvers.common.compiled import inner

_intrinsic: Any = intrinsic


def _cast(dtype: Any) -> Any:
    @_intrinsic
    def cast(typingctx, address):
        def codegen(context, builder, signature, values):
            return builder.inttoptr(values[0], cgutils.voidptr_t)

        return types.CPointer(dtype)(address), _typed(codegen)

    return cast


def _typed(codegen: Any) -> Any:
    def typed(context, builder, signature, values):
        pointer = codegen(context, builder, signature, values)
        return builder.bitcast(pointer, context.get_value_type(signature.return_type))

    return typed


_float_pointer = _cast(types.float64)
_int_pointer = _cast(types.int64)
_complex_pointer = _cast(types.complex128)


@_intrinsic
def modes_at(typingctx, address):
    """The struct of modes at an address."""
    from sekant.solvers.common.intrinsics import StructType
    from sekant.solvers.common.modes import Modes

    def codegen(context, builder, signature, values):
        return builder.inttoptr(values[0], cgutils.voidptr_t)

    return StructType(Modes)(address), codegen


@inner
def vec(table, k):
    """Array k as a vector of floats."""
    return carray(_float_pointer(table[k, 0]), (table[k, 1],))


@inner
def mat(table, k):
    """Array k as a matrix of floats."""
    return carray(_float_pointer(table[k, 0]), (table[k, 1], table[k, 2]))


@inner
def row(table, k, i):
    """Row i of matrix k as a vector of floats."""
    return carray(_float_pointer(table[k, 0] + 8 * i * table[k, 2]), (table[k, 2],))


@inner
def put(target, first, source):
    """Copy all of `source` into `target` from index `first` on."""
    for j in range(source.size):
        target[first + j] = source[j]


@inner
def take(target, source, first):
    """Fill all of `target` from `source`, from its index `first` on."""
    for j in range(target.size):
        target[j] = source[first + j]


@inner
def clear(target):
    """Set a vector to zero. (Loops like these take numba a tenth of the time of ``target[:] = 0``.)"""
    for j in range(target.size):
        target[j] = 0.0


@inner
def ints(table, k):
    """Array k as a vector of integers."""
    return carray(_int_pointer(table[k, 0]), (table[k, 1],))


@inner
def int_section(address, k):
    """Section k (see `sections`) of the array of integers at an address."""
    head = carray(_int_pointer(address), (k + 2,))
    return carray(_int_pointer(address + 8 * head[k]), (int(head[k + 1] - head[k]),))


@inner
def section_at(address, k):
    """Section k of the array of floats at an address."""
    head = carray(_float_pointer(address), (k + 2,))
    first = int(head[k])
    return carray(_float_pointer(address + 8 * first), (int(head[k + 1]) - first,))


@inner
def complexes(table, k):
    """Array k as a vector of complex numbers."""
    return carray(_complex_pointer(table[k, 0]), (table[k, 1],))


def address(array: NDArray[Any]) -> int:
    """Where an array begins in memory. (`array.ctypes.data` says the same in five times the time.)"""
    return array.__array_interface__["data"][0]


def table_of(arrays: dict[int, NDArray[Any]], size: int) -> NDArray[np.int64]:
    """The table (size, 3) of the given arrays, one or two-dimensional; entries not given stay empty."""
    table = np.zeros((size, 3), dtype=np.int64)
    for k, array in arrays.items():
        if not array.flags.c_contiguous or array.dtype not in (np.float64, np.int64, np.complex128):
            raise TypeError(f"array {k} must be contiguous, of floats, integers or complex numbers")
        shape = (*array.shape, 1)
        table[k] = address(array), shape[0], shape[1]
    return table
