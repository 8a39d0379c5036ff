"""Calls of compiled functions by address."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.procedures import Primitive, procedure
from sekant.loops.declare.structs import (
    FunctionAddress,
    Integer,
    Integers,
    Pointers,
    Struct,
    Vector,
    address_of,
)

_C = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


@Primitive
def call_native(address: int, *pointers: Any) -> None:
    """Call the function at `address`, ``void f(const double *const *arg, double *const *res, double *w)``.

    ``arg[i]`` and ``res[i]`` point to dense column-major arrays of doubles, ``w`` is a scratch array. Tables
    of pointers have eight bytes per entry on every target. The arguments are arrays, including tables.
    """
    _C(int(address))(*(address_of(p) for p in pointers))


@Primitive
def tail(table: NDArray[np.int64], first: int) -> NDArray[np.int64]:
    """The table of pointers from entry `first` on."""
    return table[int(first) :]


class Calls(Struct):
    """`count` calls of a function: tables of addresses, and the increment of each from one call to the next."""

    function: FunctionAddress
    count: Integer
    arg: Pointers
    arg_step: Integers
    res: Pointers
    res_step: Integers
    work: Vector


@procedure(Calls, "evaluation of many states", 0.1)
def call_many(m, a, b):
    for _ in range(m.count):
        call_native(m.function, m.arg, m.res, m.work)
        for i in range(m.arg.size):
            m.arg[i] += m.arg_step[i]
        for i in range(m.res.size):
            m.res[i] += m.res_step[i]
    return 0
