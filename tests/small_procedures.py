"""Procedures for the tests of procedures."""

from math import (
    acos,
    atan2,
    atanh,
    erf,
    exp,
    expm1,
    floor,
    fmod,
    hypot,
    isfinite,
    log,
    log1p,
    sin,
    sinh,
    sqrt,
)

import numpy as np

from sekant.loops.declare.calls import call_native
from sekant.loops.declare.procedures import inner, procedure
from sekant.loops.declare.structs import (
    Complexes,
    Cube,
    FunctionAddress,
    Integer,
    Integers,
    Matrix,
    Pointers,
    Real,
    Struct,
    Vector,
)
from sekant.solvers.linear import static_lu

_factorize, _solve = static_lu.factorize, static_lu.solve


class Shared(Struct):
    factor: Real
    weights: Vector


class Everything(Struct):
    count: Integer
    A: Matrix
    total: Real
    shared: Shared
    order: Integers
    T: Cube
    z: Complexes


@inner
def weighed(m, i, j):
    m.count += 1
    return m.shared.weights[i] * m.A[i, j]


@procedure(Everything, "sum of a test", 1.0)
def add_up(m, a, b):
    """total += factor * sum of order[k] w_i A_ij + a T_012 + b Im z_1; returns the count of terms."""
    rows, columns = m.A.shape
    for i in range(rows):
        for j in range(columns):
            m.total += m.shared.factor * m.order[0] * weighed(m, i, j)
    m.total += a * m.T[0, 1, 2] + b * m.z[1].imag
    m.shared.factor = 0.5
    return m.count


@procedure(Everything, "two sums of a test", 1.0)
def add_twice(m, a, b):
    """Calls another procedure."""
    return 100 * add_up(m, a, b) + add_up(m, b, a)


@procedure(Everything, "allocation of a test", 1.0)
def allocate(m, a, b):
    """What is not allowed: arrays of its own."""
    return [m.count, 1][0] + m.A[0].copy().size


class Steps(Struct):
    """Euler steps of a compiled right-hand side."""

    function: FunctionAddress
    arg: Pointers
    res: Pointers
    work: Vector
    x: Vector
    slope: Vector


@procedure(Steps, "steps of a test", 1.0)
def euler_steps(m, count, h):
    for _ in range(int(count)):
        call_native(m.function, m.arg, m.res, m.work)
        for j in range(m.x.size):
            m.x[j] += h * m.slope[j]
    return 0


class RealSystem(Struct):
    pattern: static_lu.LuPattern
    x: Vector
    inverse: Vector
    b: Vector
    y: Vector


class ComplexSystem(Struct):
    pattern: static_lu.LuPattern
    x: Complexes
    inverse: Complexes
    b: Complexes
    y: Complexes


@inner
def _factorize_and_solve(p, x, inverse, b, y):
    raised = _factorize(p, x, inverse)
    _solve(p, x, inverse, b, y)
    return raised


@procedure(RealSystem, "real system of a test", 1.0)
def solve_real(m, a, b):
    return _factorize_and_solve(m.pattern, m.x, m.inverse, m.b, m.y)


@procedure(ComplexSystem, "complex system of a test", 1.0)
def solve_complex(m, a, b):
    return _factorize_and_solve(m.pattern, m.x, m.inverse, m.b, m.y)


class Notes(Struct):
    """Answers of `arithmetic`, one after another."""

    at: Integer
    whole: Integers
    x: Vector
    z: Complexes
    found: Vector


WEIGHTS = np.array([[0.3, -1.7, 2.5], [4.1, 0.6, -0.9]])
SMALL = (2, 5)


@inner
def _note(m, value):
    m.found[m.at] = value
    m.at += 1


@inner
def _two(x, y):
    if x > y:
        return 1, x
    return 0, 0.5


@procedure(Notes, "arithmetic of a test", 1.0)
def arithmetic(m, a, b):
    """All that the subset of Python has, with its odd corners."""
    for i in range(m.whole.size):
        for j in range(m.whole.size):
            n, d = m.whole[i], m.whole[j]
            if d != 0:
                _note(m, n % d)
                _note(m, n // d)
                _note(m, n / d)
            _note(m, (n >> 1) + (n & d) + (n | 3) - n**2)
            _note(m, 1.0 if n in SMALL or (n == -7 and d < 0) else -1.0)
            _note(m, max(n, d, a) - min(a, d))
    for k in range(m.x.size - 1, -1, -1):
        x, y = m.x[k], m.x[(k - 1) % m.x.size]
        x, y = y, x
        which, larger = _two(x, y)
        _note(m, which + larger)
        _note(m, max(x, y) - 2.0 * min(x, y) if isfinite(x) and isfinite(y) else -3.0)
        _note(m, -1.0 < x <= 2.0 < y)
        _note(m, not x)
        if isfinite(x):
            _note(m, floor(x) + round(x) + int(x))
            _note(
                m, x**3 + abs(x) ** 0.3 + abs(x) ** -2 + sqrt(abs(x)) + atan2(x, a) + erf(x) + log1p(abs(x))
            )
    total, sign = 0, True
    for k in range(0, 20, 3):
        if k == 9:
            continue
        if k > 15:
            break
        sign &= k < 12
        total += k * WEIGHTS[k % 2, -1]
    _note(m, total + sign)
    while True:
        total -= 7.5
        if total < 0.0:
            break
    _note(m, total)
    for i in range(m.z.size):
        for j in range(m.z.size):
            w = m.z[i] * m.z[j] - m.z[i] / m.z[j] + 2.0 * m.z[i] - complex(a, b)
            _note(m, w.real)
            _note(m, w.imag)
            _note(m, abs(w))
    row = WEIGHTS[1]
    rows, columns = WEIGHTS.shape
    _note(m, row[-2] + row.size + rows * columns + WEIGHTS.size + float("inf"))
    m.z[0] = m.z[1]
    return m.at


@procedure(Notes, "limits of a test", 1.0)
def limits(m, a, b):
    """Functions and quotients of all pairs of `x`, also where they have no finite value."""
    for i in range(m.x.size):
        x = m.x[i]
        _note(m, sqrt(x))
        _note(m, x**0.5)
        _note(m, x**-1)
        _note(m, x**-3)
        _note(m, exp(x))
        _note(m, log(x))
        _note(m, log1p(x))
        _note(m, sin(x))
        _note(m, acos(x))
        _note(m, atanh(x))
        _note(m, sinh(x))
        _note(m, expm1(x))
        _note(m, -x)
        _note(m, int(x) & 1023)
        for j in range(m.x.size):
            y = m.x[j]
            _note(m, x / y)
            _note(m, x**y)
            _note(m, fmod(x, y))
            _note(m, hypot(x, y))
            _note(m, atan2(x, y))
            _note(m, max(x, y) - min(x, y))
            w = complex(x, y) / complex(y, a)
            _note(m, w.real)
            _note(m, w.imag)
            w = -complex(x, y)
            _note(m, w.real)
            _note(m, i // j + i % j)
            x_once = x
            x_once /= y
            x_once **= 2
            _note(m, x_once)
            _note(m, abs(complex(x, y)))
    return m.at


@procedure(Notes, "recursion of a test", 1.0)
def recursive(m, a, b):
    return again(m)


@inner
def again(m):
    return again(m)


@procedure(Notes, "slice of a test", 1.0)
def sliced(m, a, b):
    m.x[1:] = 0.0
    return 0


@procedure(Notes, "two kinds of a test", 1.0)
def two_kinds(m, a, b):
    value = m.x
    value = 1.0
    return int(value)


@procedure(Notes, "real index of a test", 1.0)
def real_index(m, a, b):
    m.x[a] = 1.0
    return 0


@procedure(Notes, "real for an integer of a test", 1.0)
def real_for_integer(m, a, b):
    m.at = a
    return 0
