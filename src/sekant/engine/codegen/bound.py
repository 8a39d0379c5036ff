"""A compiled function with arrays of its own, for loops in Python: fill, call, read.

    f = function.bound()
    f.inputs["q"][:] = q
    f()
    a = f.outputs[0]

A call costs what the compiled code takes and some 0.1 us more: nothing is checked, converted or allocated. The
arrays are the same ones at every call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sekant.engine.codegen.direct_call import direct_call
from sekant.loops.declare.structs import address_of

if TYPE_CHECKING:
    from sekant.engine.codegen.native import NativeFunction


class Bound:
    """`inputs`: by name; `outputs`: in order; columns as (n,), other shapes as (rows, columns). Tables as built.

    Not for several threads at a time: each has its own, by `NativeFunction.bound`.
    """

    __slots__ = ("_kept", "call", "flat_inputs", "inputs", "outputs")

    def __init__(self, function: NativeFunction, call: Any, modes: np.ndarray):
        given = [np.zeros(shape, order="F") for shape in function.shapes_in]
        found = [np.zeros(shape, order="F") for shape in function.shapes_out]
        arrays = [*given, function.tables, modes]
        self._kept = (function, arrays, found)
        tables = [address_of(a) for a in arrays], [address_of(a) for a in found]
        self.call = direct_call(call, function.address, function.work_size, *tables)
        self.inputs = dict(zip(function.names, [_columns(a) for a in given], strict=True))
        self.flat_inputs = [a.reshape(-1, order="F") for a in given]  # the same memory, column by column
        self.outputs = [_columns(a) for a in found]

    def __call__(self) -> None:
        """Outputs for the inputs as they stand."""
        self.call()


def _columns(array: np.ndarray) -> np.ndarray:
    """A view; a single column as a vector."""
    return array[:, 0] if array.shape[1] == 1 else array
