"""Calling a compiled function by address from numba."""

import ctypes

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from sekant.native_call import call_native

POINTERS = ctypes.POINTER(ctypes.POINTER(ctypes.c_double))


@ctypes.CFUNCTYPE(None, POINTERS, POINTERS, ctypes.POINTER(ctypes.c_double))
def weighted(arg, res, w):
    """res0[0] = 3 a0[0] - a1[1]; res0[1] = a0[0] a1[0]; w[0] counts the calls."""
    res[0][0] = 3.0 * arg[0][0] - arg[1][1]
    res[0][1] = arg[0][0] * arg[1][0]
    w[0] += 1.0


ADDRESS = ctypes.cast(weighted, ctypes.c_void_p).value


@njit(cache=True)
def sample(address, arg, res, w, a0, out, result):
    for i in range(out.shape[0]):
        a0[0] = i + 0.5
        call_native(address, arg, res, w)
        out[i, 0] = result[0]
        out[i, 1] = result[1]


def table(*arrays):
    return np.array([a.ctypes.data for a in arrays], dtype=np.uintp)


@pytest.mark.parametrize("raw", [False, True])
def test_calls_with_runtime_address(raw):
    a0, a1, result, w = np.zeros(1), np.array([7.0, -2.0]), np.zeros(2), np.zeros(1)
    arg, res = table(a0, a1), table(result)
    out = np.zeros((3, 2))
    pointers = [p.ctypes.data for p in (arg, res, w)] if raw else [arg, res, w]
    sample(ADDRESS, *pointers, a0, out, result)
    x = np.arange(3) + 0.5
    np.testing.assert_array_equal(out, np.stack([3 * x + 2, 7 * x], axis=1))
    assert w[0] == 3.0


def test_refuses_what_is_no_pointer():
    @njit
    def wrong(address, arg):
        call_native(address, arg, arg, arg)

    with pytest.raises(TypingError, match="integer address"):
        wrong(ADDRESS, 1.5)
