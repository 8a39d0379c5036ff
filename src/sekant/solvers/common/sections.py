"""Many arrays in one, for compiled loops.

A compiled function that takes fifty arrays spends its time, and the compiler's, on passing them. Here they are
sections of one array: entries 0..n say where section 0, 1, ..., n - 1 begin and the last one ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array
from numpy.typing import ArrayLike, NDArray

from sekant.solvers.common.compiled import inner

_intrinsic: Any = intrinsic


def numbered(n: int) -> list[Any]:
    """0..n-1 as NumPy integers: for a Python integer numba compiles what it is passed to once more."""
    return [np.int64(i) for i in range(n)]


def _pack(parts: Sequence[ArrayLike], dtype: Any) -> NDArray[Any]:
    flat = [np.asarray(part, dtype=dtype).ravel() for part in parts]
    starts = len(flat) + 1 + np.cumsum([0, *[part.size for part in flat]])
    return np.concatenate([starts.astype(dtype), *flat])


def pack_integers(parts: Sequence[ArrayLike]) -> NDArray[np.int64]:
    return _pack(parts, np.int64)


def pack_reals(parts: Sequence[ArrayLike]) -> NDArray[np.float64]:
    return _pack(parts, np.float64)


@_intrinsic
def _part(typingctx, array, first, last):
    """array[first:last] without a check, which does not keep the array alive."""
    kind: Any = types.Array(array.dtype, 1, "C")

    def codegen(context, builder, signature, values):
        whole = context.make_array(signature.args[0])(context, builder, values[0])
        data = builder.gep(whole.data, [values[1]])
        part = context.make_array(kind)(context, builder)
        size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(array.dtype)))
        length = builder.sub(values[2], values[1])
        shape, strides = cgutils.pack_array(builder, [length]), cgutils.pack_array(builder, [size])
        populate_array(part, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
        return part._getvalue()

    return kind(array, types.intp, types.intp), codegen


@inner
def section(array, k):
    """A view of section k."""
    return _part(array, int(array[k]), int(array[k + 1]))


def view(array: NDArray[Any], k: int) -> NDArray[Any]:
    """The same for Python."""
    return array[int(array[k]) : int(array[k + 1])]
