"""Calls of compiled functions from Python without ctypes: a built-in function of Python that calls the code itself.

A few machine instructions, compiled once and kept, take the addresses of arrays out of the objects that they are
given and hand them to the code; the array that the built-in function is bound to says which code that is. They rely
on the layout of objects of Python and NumPy, which is tried when first needed: where they do not do what ctypes does,
ctypes does it.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import cache
from threading import Lock
from typing import Any

import numpy as np

from sekant.engine.codegen.direct_call_ir import HEAD, LIST, TEXT, WORDS
from sekant.loops.declare.structs import address_of, aligned

_FAST = 0x0080  # arguments come as an array, and their number


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("code", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def direct_call(
    function: Callable[[int, int, int], Any],
    address: int,
    work_size: int,
    arg: Sequence[int],
    res: Sequence[int],
    sizes: Sequence[int] = (),
    results: int = 0,
) -> Callable[..., bool]:
    """A call of the compiled code at `address`, which `function` calls by ctypes, with memory of its own.

    `arg`, `res`: addresses of its arguments and results; the first ones are those of the arrays that each call is
    given, inputs of these `sizes` first, then as many `results` (contiguous, not looked at). The call tells
    whether it was made: an input that is no plain row of doubles or short list of floats of its size (or a float
    where that is 1), and a second call while one is under way, are refused.
    """
    m, places, at = _laid_out(address, work_size, arg, res, sizes, results)
    make = _maker()
    return _by_ctypes(function, m, places, at, sizes, results) if make is None else make(m)


def _laid_out(
    address: int, work_size: int, arg: Sequence[int], res: Sequence[int], sizes: Sequence[int], results: int
) -> tuple[Any, tuple[int, ...], tuple[int, int]]:
    """What a call is bound to; addresses of scratch memory and of the tables `arg` and `res`, and where these are."""
    at = WORDS + len(sizes), WORDS + len(sizes) + len(arg)
    first = -(-(at[1] + len(res)) // 8) * 8
    memory = aligned(first + len(sizes) * LIST + work_size)
    m, begin = memory.view(np.int64), address_of(memory)
    places = tuple(begin + 8 * k for k in (first + len(sizes) * LIST, *at))
    kinds = id(np.ndarray), id(np.dtype(np.float64)), id(float), id(True), id(False), id(list)
    m[: at[1] + len(res)] = [
        *(0, address, places[0], len(sizes), results, *places[1:], *kinds, begin + 8 * first),
        *(*sizes, *arg, *res),
    ]
    return m, places, at


@cache
def _maker() -> Callable[[Any], Callable[..., bool]] | None:
    """What makes built-in functions; None where they cannot be had."""
    if sys.implementation.name != "cpython" or struct.calcsize("P") != 8:
        return None
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None
    from sekant.engine.codegen.text import compile_text

    linked = compile_text(TEXT)
    method = _MethodDef(b"call", linked.address, _FAST, None)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    definition = ctypes.addressof(method)

    def make(m: Any, kept: Any = (linked, method)) -> Callable[..., bool]:
        return new(definition, m, None)

    return make if _works(make) else None


def _works(make: Callable[[Any], Callable[..., bool]]) -> bool:
    """Whether a call hands on the addresses that it should, and refuses what does not fit."""
    seen: list[tuple[int, ...]] = []

    def look(arg: int, res: int, work: int) -> None:
        seen.append((*np.ctypeslib.as_array((ctypes.c_int64 * 4).from_address(arg)).tolist(), res, work))

    probe = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(look)
    address = ctypes.cast(probe, ctypes.c_void_p).value or 0
    m, (work, _, res), at = _laid_out(address, 1, (0, 0, 0, 88), (0,), (3, 1, 0), 1)
    call = make(m)
    row, number, nothing, y = np.arange(3.0), 0.5, np.zeros(0), np.zeros((2, 2))
    spare = (int(m[13]) - address_of(m)) // 8
    right = call(row, number, nothing, y) is True and m[at[1]] == address_of(y)
    right &= call([0.5, 1.5, -2.5], number, [], y) is True and m[spare : spare + 3].view(float).tolist() == [
        *(0.5, 1.5, -2.5)
    ]
    last = id(number) + HEAD, address_of(nothing), 88, res, work
    odd = (
        np.arange(3),
        np.arange(6.0)[::2],
        np.zeros(2),
        np.zeros((1, 3)),
        [0.0, 1.0, 2],
        [0.0],
        (0.0, 1.0, 2.0),
    )
    wrong = [call(one, number, nothing, y) for one in odd] + [call(row, 1, nothing, y), call(row, number)]
    return right and seen[0] == (address_of(row), *last) and len(seen) == 2 and not any(wrong)


def _by_ctypes(
    function: Callable[[int, int, int], Any],
    m: Any,
    places: tuple[int, ...],
    at: tuple[int, int],
    sizes: Sequence[int],
    results: int,
) -> Callable[..., bool]:
    lock, inputs, (work, arg, res) = Lock(), len(sizes), places

    def call(*arrays: Any) -> bool:
        given: list[Any] = [np.array(a, float, ndmin=1) if _plain(a) else a for a in arrays]
        fits = len(given) == inputs + results and all(
            type(a) is np.ndarray and a.dtype == float and a.shape == (size,) and a.flags.c_contiguous
            for a, size in zip(given, sizes, strict=False)
        )
        if not fits or not lock.acquire(blocking=False):
            return False
        try:
            m[at[0] : at[0] + inputs] = [address_of(a) for a in given[:inputs]]
            m[at[1] : at[1] + results] = [address_of(a) for a in given[inputs:]]
            function(arg, res, work)
        finally:
            lock.release()
        return True

    return call


def _plain(given: Any) -> bool:
    return type(given) is float or (type(given) is list and {*map(type, given)} <= {float})
