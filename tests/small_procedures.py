"""Procedures for the tests of procedures."""

from sekant.solvers.common.loops import inner, procedure
from sekant.solvers.common.structs import Complexes, Cube, Integer, Integers, Matrix, Real, Struct, Vector


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
