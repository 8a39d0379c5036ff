"""Velocities that satisfy constraints and given slips with the least change in the metric of the mass matrix.

    M dv = push^T P,   row dv = target:

impulses P along `push` bring the rows to their targets. For dependent rows these are the impulses of least size.
"""

from __future__ import annotations

from math import sqrt

from sekant.loops.declare.procedures import inner
from sekant.solvers.common.memory import call
from sekant.solvers.complementarity.elements import rows_at_rest
from sekant.solvers.linear.least_squares import factor, reflect, solve_shortest

GIVEN = 1e-7  # part of the slope of a slip independent of the constraints below which it counts as round-off
ROUND_OFF = 1e-13  # slope of a slip, relative to the largest of a constraint, that counts as zero
RANK = 1e-11  # of constraints
EPSILON = 2.0**-52


@inner
def set_constraints(m):
    """Evaluate the matrices at the point; the first rows are the constraints."""
    rows = m.rows
    call(m.at_rows)
    for k in range(rows.drift.size):
        rows.target[k] = -rows.drift[k]
        for j in range(m.v.size):
            rows.row[k, j] = rows.gradient[j, k]
            rows.push[k, j] = rows.gradient[j, k]


@inner
def set_slip(m, k, i, target):
    """Set row k to slip i, which is to change by the target."""
    rows = m.rows
    rows.target[k] = target
    for j in range(m.v.size):
        rows.row[k, j] = rows.slope[j, i]
        rows.push[k, j] = rows.slope[j, i]


@inner
def solve_rows(m, count):
    """Solve for the change of velocities and the impulses of the first `count` rows, in `rows.x`."""
    rows, nv = m.rows, m.v.size
    A, b, n = rows.A, rows.b, nv + count
    for j in range(nv):
        b[j] = 0.0
        for i in range(nv):
            A[j, i] = rows.mass[j, i]
        for k in range(count):
            A[j, nv + k] = rows.row[k, j]
    for k in range(count):
        b[nv + k] = rows.target[k]
        for i in range(nv):
            A[nv + k, i] = -rows.push[k, i]
        for i in range(nv, n):
            A[nv + k, i] = 0.0
    rank = factor(A, n, n, rows.beta, rows.pivot, 4.0 * EPSILON * n)
    solve_shortest(A, n, n, rows.beta, rows.pivot, rank, b, rows.x)


@inner
def stop_slips(m):
    """Set the slip of elements at rest to exactly zero, with the least change of the velocities."""
    rows, nv, any_slip = m.rows, m.v.size, False
    first, count = rows.drift.size, rows.drift.size
    set_constraints(m)
    for e in range(m.resting.size):
        if m.resting[e] == 1:
            for i in range(m.elements.force[e], m.elements.force[e] + rows_at_rest(m, e, m.states.state[e])):
                any_slip = any_slip or rows.slip[i] != 0.0
                set_slip(m, count, i, -rows.slip[i])
                count += 1
    if not any_slip:
        return
    solve_rows(m, count)
    for j in range(nv):
        m.v[j] += rows.x[j]
    for k in range(first, count):
        entries, at = 0, 0
        for j in range(nv):
            if rows.row[k, j] != 0.0:
                entries, at = entries + 1, j
        if entries == 1:
            m.v[at] = 0.0


@inner
def find_given(m):
    """Find the frictions whose slip the constraints determine: no force along it causes any motion."""
    rows, elements, nv = m.rows, m.elements, m.v.size
    count, free = rows.drift.size, 0
    for e in range(m.given.size):
        m.given[e] = 0
        free += 1 if e < elements.frictions and elements.driven[e] == 0 else 0
    if elements.looped == 0 or free == 0:
        return
    set_constraints(m)
    largest = 0.0
    for k in range(count):
        for j in range(nv):
            rows.A[k, j] = rows.row[k, j]
            largest = max(largest, abs(rows.row[k, j]))
    rank = factor(rows.A, count, nv, rows.beta, rows.pivot, RANK)
    for e in range(elements.frictions):
        if elements.driven[e] == 0:
            size, left = 0.0, 0.0
            for j in range(nv):
                rows.b[j] = rows.slope[j, elements.force[e]]
                size += rows.b[j] * rows.b[j]
            reflect(rows.A, nv, rows.beta, rows.pivot, rank, rows.b)
            for j in range(rank, nv):
                left += rows.b[j] * rows.b[j]
            m.given[e] = 1 if sqrt(left) <= max(GIVEN * sqrt(size), ROUND_OFF * largest) else 0
