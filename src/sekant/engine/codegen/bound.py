"""A compiled function with its own arrays, for loops in Python: fill, call, read.

    f = function.bound()
    f.inputs["q"][:] = q
    f()
    a = f.outputs[0]

A call through ctypes takes only some 0.3 us more than the compiled code, because nothing is checked, converted or
allocated. Every call uses the same arrays.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from sekant.loops.declare.structs import address_of, aligned
from sekant.solvers.common.sites import free_modes

if TYPE_CHECKING:
    from sekant.engine.codegen.native import NativeFunction

_Entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class Bound:
    """`inputs`: by name; `outputs`: in order; columns as (n,), other shapes as (rows, columns). Tables are
    those of the build.

    Not thread-safe: each thread needs its own, from `NativeFunction.bound`.
    """

    __slots__ = ("_arguments", "_call", "_memory", "flat_inputs", "inputs", "outputs")

    def __init__(self, function: NativeFunction):
        given = [np.zeros(shape, order="F") for shape in function.shapes_in]
        found = [np.zeros(shape, order="F") for shape in function.shapes_out]
        read = [*given, function.tables, free_modes(function.sites)]
        arg, res = (np.array([address_of(a) for a in arrays], dtype=np.int64) for arrays in (read, found))
        work = aligned(function.work_size)
        self._memory = (function, read, found, arg, res, work)  # the code knows only where they are
        self._arguments = (address_of(arg), address_of(res), address_of(work))
        self._call = _Entry(function.address)
        self.inputs = dict(zip(function.names, [_columns(a) for a in given], strict=True))
        self.flat_inputs = [a.reshape(-1, order="F") for a in given]  # the same memory, column by column
        self.outputs = [_columns(a) for a in found]

    def __call__(self) -> None:
        """Compute the outputs for the current inputs."""
        self._call(*self._arguments)


def _columns(array: np.ndarray) -> np.ndarray:
    """A view; a single column as a vector."""
    return array[:, 0] if array.shape[1] == 1 else array
