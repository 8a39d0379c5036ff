"""Elimination order and symbolic factorization of ``[M G^T; G -eps I]``.

Unknowns 0..n-1 belong to M, unknowns n..n+m-1 to the rows of G. The order is of minimum degree, with one
additional rule: a row of G comes after all its columns. Then every pivot of M is positive, and the pivot of
a row is minus (eps + the part of the row that the rows before it do not span): this shows a loss of rank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def minimum_degree(
    size: int, edges: Iterable[tuple[int, int]], may: Callable[[int, set[int]], bool] = lambda k, now: True
) -> list[int]:
    """An order of elimination with little fill: always the unknown with the fewest neighbors next.

    `edges`: positions of off-diagonal entries of the symmetric matrix, each pair at least once. `may(k, now)`:
    whether unknown k may be eliminated while its neighbors are `now`.
    """
    neighbors: list[set[int]] = [set() for _ in range(size)]
    for i, j in edges:
        if i != j:
            neighbors[i].add(j)
            neighbors[j].add(i)
    heap = [(len(now), k) for k, now in enumerate(neighbors) if may(k, now)]
    heapify(heap)
    done = [False] * size
    order: list[int] = []
    while heap:
        degree, i = heappop(heap)
        if done[i] or degree != len(neighbors[i]) or not may(i, neighbors[i]):
            continue
        done[i] = True
        order.append(i)
        front = neighbors[i]
        for j in front:
            neighbors[j] |= front
            neighbors[j] -= {i, j}
            if may(j, neighbors[j]):
                heappush(heap, (len(neighbors[j]), j))
        neighbors[i] = set()
    return order


def saddle_order(n: int, m: int, edges: Integers) -> Integers:
    """(n + m,): the unknown that is eliminated first, second, ..., rows of G after all columns that they touch.

    `edges` (k, 2): positions of off-diagonal entries, each pair at least once.
    """
    pairs = edges.tolist()
    touched: list[set[int]] = [set() for _ in range(n + m)]
    for i, j in pairs:
        touched[i] |= {j} if j < n <= i else set()
        touched[j] |= {i} if i < n <= j else set()
    return np.array(minimum_degree(n + m, pairs, lambda k, now: touched[k].isdisjoint(now)), dtype=np.int64)


def row_patterns(size: int, pairs: set[tuple[int, int]]) -> list[list[int]]:
    """The columns of each row of L, ascending; `pairs`: positions (row > column) of the permuted matrix.

    Row k of L consists of the nodes below k on the paths from its entries to the root of the elimination tree.
    """
    entries: list[list[int]] = [[] for _ in range(size)]
    for i, j in pairs:
        entries[i].append(j)
    parent = [-1] * size
    mark = [-1] * size
    patterns: list[list[int]] = []
    for k in range(size):
        mark[k] = k
        pattern = []
        for start in entries[k]:
            j = start
            while mark[j] != k:
                mark[j] = k
                pattern.append(j)
                if parent[j] < 0:
                    parent[j] = k
                j = parent[j]
        patterns.append(sorted(pattern))
    return patterns


def starts_of(lengths: list[int]) -> Integers:
    """(k + 1,): start indices of concatenated lists of these lengths."""
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts
