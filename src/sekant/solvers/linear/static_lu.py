"""Sparse LU factorization with a fixed order of elimination, real or complex, for matrices of the form

    K = [ A   B ]        A (n, n) near a positive definite matrix, so that its pivots are safe in any order,
        [ C  -eps I ]    C (m, n) constraint rows, which come after all columns that they touch.

The pattern is analyzed once, with the pattern of K + K^T; factorizations then use index lists without any
search. Rows are not exchanged: a pivot below `TINY` of its column is raised to that value, and the caller
must iterate on the residual of the problem, as Newton's method does.
"""

from __future__ import annotations

import numpy as np

from sekant.loops.declare.procedures import inner
from sekant.loops.declare.structs import Integer, Integers, Struct
from sekant.solvers.linear.ordering import row_patterns, saddle_order, starts_of

TINY = 1e-10


class LuPattern(Struct):
    """Positions of a factorization. The values of a factored matrix are stored row by row, ascending columns.

    `order` (size,): unknown at each place of the elimination. `scatter` (nnz,): index of each given value.
    `diagonal` (size,): indices of the pivots. `constraint` (m,): indices of the diagonal of the constraint rows.
    `start` (size + 1,): ranges of the lists of each pivot k: `row`, the places i > k with an entry in its
    column, `low`, the index of the entry (i, k); the entries (k, i) follow the pivot. `target`: index of the
    entry (i, j), for all i and j of the lists of pivot k; `target_start` (size,).
    """

    order: Integers
    scatter: Integers
    diagonal: Integers
    constraint: Integers
    start: Integers
    row: Integers
    low: Integers
    target: Integers
    target_start: Integers
    values: Integer


def analyze(n: int, m: int, rows: Integers, columns: Integers) -> LuPattern:
    """The pattern for values at (rows, columns) of a matrix of n + m unknowns, of which m are constraints."""
    size = n + m
    edges = np.stack([rows, columns], axis=1)
    order = saddle_order(n, m, edges)
    place = np.empty(size, dtype=np.int64)
    place[order] = np.arange(size)
    pairs = {(max(i, j), min(i, j)) for i, j in place[edges].tolist() if i != j}
    below: list[list[int]] = [[] for _ in range(size)]
    lower = row_patterns(size, pairs)
    for i, pattern in enumerate(lower):
        for k in pattern:
            below[k].append(i)
    position: dict[tuple[int, int], int] = {}
    for i in range(size):
        for j in (*lower[i], i, *below[i]):
            position[i, j] = len(position)
    target_lengths = [len(b) ** 2 for b in below]

    def flat(values: list[int]) -> Integers:
        return np.array(values, dtype=np.int64)

    return LuPattern(
        order=order,
        scatter=flat([position[i, j] for i, j in place[edges].tolist()]),
        diagonal=flat([position[i, i] for i in range(size)]),
        constraint=flat([position[i, i] for i in place[n:].tolist()]),
        start=starts_of([len(b) for b in below]),
        row=flat([i for b in below for i in b]),
        low=flat([position[i, k] for k, b in enumerate(below) for i in b]),
        target=flat([position[i, j] for b in below for i in b for j in b]),
        target_start=starts_of(target_lengths)[:-1],
        values=len(position),
    )


@inner
def _size(value):
    return abs(value.real) + abs(value.imag)


@inner
def factorize(pattern, x, inverse):
    """Factor the scattered matrix `x` (values,) in place; `inverse` (size,): one over each pivot.

    Returns the number of pivots that were raised, or -1 if a pivot is not finite.
    """
    start, low, diagonal = pattern.start, pattern.low, pattern.diagonal
    target, target_start = pattern.target, pattern.target_start
    raised = 0
    for k in range(diagonal.size):
        first, last = start[k], start[k + 1]
        count = last - first
        pivot = x[diagonal[k]]
        size = _size(pivot)
        if not size < np.inf:
            return -1
        largest = size
        for a in range(first, last):
            largest = max(largest, _size(x[low[a]]))
        if size <= TINY * largest or size == 0.0:
            bound = TINY * largest if largest > 0.0 else TINY
            pivot = pivot * (bound / size) if size > 0.0 else pivot + bound
            raised += 1
        scale = 1.0 / pivot
        inverse[k] = scale
        above, t = diagonal[k] + 1, target_start[k]
        for a in range(first, last):
            factor = x[low[a]] * scale
            x[low[a]] = factor
            for b in range(count):
                x[target[t + b]] -= factor * x[above + b]
            t += count
    return raised


@inner
def solve(pattern, x, inverse, b, y):
    """Solve K b_new = b in place for a factored matrix; `y` (size,): scratch."""
    order, start, row = pattern.order, pattern.start, pattern.row
    low, diagonal = pattern.low, pattern.diagonal
    size = order.size
    for k in range(size):
        y[k] = b[order[k]]
    for k in range(size):
        value = y[k]
        for a in range(start[k], start[k + 1]):
            y[row[a]] -= x[low[a]] * value
    for k in range(size - 1, -1, -1):
        value = y[k]
        above, first = diagonal[k] + 1, start[k]
        for a in range(first, start[k + 1]):
            value -= x[above + a - first] * y[row[a]]
        y[k] = value * inverse[k]
    for k in range(size):
        b[order[k]] = y[k]
