"""Sparse solution of the saddle point system

    [ M   G^T ] [ x   ]   [ f ]
    [ G    0  ] [ lam ] = [ b ] ,      M (n, n) symmetric, positive definite on the null space of G; G (m, n).

It is factorized as the quasi-definite matrix ``[M G^T; G -eps I] = L D L^T`` (this factorization exists for
every order of elimination). The symbolic part is done once, the numeric part often. The solution is refined
against the true matrix. Each sweep multiplies the error by about ``eps / (eps + s^2)`` for a singular value s
of G M^(-1/2). The multipliers start at zero and every sweep adds to them ``(G x - b)/eps``, which lies in the
range of G if b does: for redundant rows they converge to those of minimum norm. If b is not in the range of G,
the residual of the rows does not converge to zero: the rows contradict each other.
"""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import SolverError
from sekant.loops.declare.procedures import inner, procedure
from sekant.loops.declare.structs import Integer, Integers, Real, Struct, Vector
from sekant.solvers.common.vectors import clear, put
from sekant.solvers.linear.ordering import row_patterns, saddle_order, starts_of

# Relative to the mean of G M^-1 G^T: a small eps needs few sweeps; a larger one is for redundant or nearly
# redundant rows, where round-off divided by eps would remain in the multipliers.
SMALL_EPS, LARGE_EPS = 1e-11, 1e-8
NEARLY_REDUNDANT = 1e-9
MOST_SWEEPS = 12
# Relative to the largest diagonal entry of M: a pivot below the first belongs to a coordinate without mass, and is
# replaced by the second; refinement corrects this. The same applies to a pivot below the second that is
# smaller than its own diagonal entry by the third factor: it belongs to a direction almost without mass (a
# flat plate in natural coordinates has one), and its inverse would dominate the rows of G.
NO_MASS, STAND_IN, CANCELLED = 1e-13, 1e-8, 1e-6
# Relative to the largest diagonal entry of M: lighter coordinates do not make eps larger, and those without
# mass are ignored. The rotation of a thin rod about its own axis is an example; a large eps would hide rows
# that are weak because the mechanism passes near a singular position.
LIGHT = 1e-4
NOTHING = 1e-8  # least mean of G M^-1 G^T, times the largest mass: smaller rows are round-off


class SaddlePattern(Struct):
    """The symbolic factorization."""

    n: Integer
    m: Integer
    # Positions of the values of M and G, and their places in the permuted lower triangle (-1: the other
    # triangle contains it).
    M_row: Integers
    M_col: Integers
    M_place: Integers
    G_row: Integers
    G_col: Integers
    G_place: Integers
    # Rows of that triangle; rows of L, column and place of each entry; columns of L; unknown at each place of the
    # elimination.
    row_start: Integers
    row_col: Integers
    pattern_start: Integers
    pattern_col: Integers
    pattern_place: Integers
    L_start: Integers
    L_row: Integers
    order: Integers


class Factor(Struct):
    """Memory for numeric factorizations. All arrays are parts of `whole`, which generated code for one
    pattern addresses directly (`sekant.solvers.taylor.native`); the last ones have one entry."""

    pattern: SaddlePattern
    whole: Vector
    M: Vector  # values of M and G
    G: Vector
    K: Vector  # the permuted matrix and its diagonal
    diagonal: Vector
    L: Vector
    inverse: Vector  # of D
    x: Vector  # the last solution
    residual: Vector
    y: Vector  # scratch
    eps: Vector
    scale: Vector  # mean of G M^-1 G^T
    rate: Vector  # of generated code: largest first correction since the factorization, relative to its solution
    sweeps: Vector  # of the last solution
    solves: Vector  # sweeps in all


def analyze(
    n: int, m: int, M_row: ArrayLike, M_col: ArrayLike, G_row: ArrayLike, G_col: ArrayLike
) -> SaddlePattern:
    """The symbolic factorization for values of M (both triangles) and G at these positions, each once."""
    Mr, Mc, Gr, Gc = (np.asarray(x, dtype=np.int64).ravel() for x in (M_row, M_col, G_row, G_col))
    if Mr.size and (min(Mr.min(), Mc.min()) < 0 or max(Mr.max(), Mc.max()) >= n):
        raise SolverError(f"an entry of M lies outside its {n} rows and columns")
    if Gr.size and (min(Gr.min(), Gc.min()) < 0 or Gr.max() >= m or Gc.max() >= n):
        raise SolverError(f"an entry of G lies outside its {m} rows and {n} columns")
    upper = Mr < Mc
    edges = np.concatenate([np.stack([Mr[upper], Mc[upper]], 1), np.stack([Gr + n, Gc], 1)])
    order = saddle_order(n, m, edges)
    place = np.empty(n + m, dtype=np.int64)
    place[order] = np.arange(n + m)
    pairs = {(max(a, b), min(a, b)) for a, b in place[edges].tolist()}
    patterns = row_patterns(n + m, pairs)
    entries: list[list[int]] = [[] for _ in range(n + m)]
    for i, j in sorted(pairs):
        entries[i].append(j)
    row_start = starts_of([len(e) for e in entries])
    position = {pair: k for k, pair in enumerate(sorted(pairs))}

    def find(i: int, j: int) -> int:
        a, b = int(place[i]), int(place[j])
        return position[max(a, b), min(a, b)]

    M_place = [find(i, j) if i < j else -1 for i, j in zip(Mr.tolist(), Mc.tolist(), strict=True)]
    G_place = [find(i + n, j) for i, j in zip(Gr.tolist(), Gc.tolist(), strict=True)]
    lengths = [0] * (n + m)
    for pattern in patterns:
        for c in pattern:
            lengths[c] += 1
    L_start = starts_of(lengths)
    fill = L_start[:-1].copy()
    L_row = np.zeros(int(L_start[-1]), dtype=np.int64)
    pattern_place = []
    for k, pattern in enumerate(patterns):
        for c in pattern:
            L_row[fill[c]] = k
            pattern_place.append(fill[c])
            fill[c] += 1

    def flat(lists: list[list[int]]) -> NDArray[np.int64]:
        return np.array([x for one in lists for x in one], dtype=np.int64)

    return SaddlePattern(
        n=n,
        m=m,
        M_row=Mr,
        M_col=Mc,
        M_place=flat([M_place]),
        G_row=Gr,
        G_col=Gc,
        G_place=flat([G_place]),
        row_start=row_start,
        row_col=flat(entries),
        pattern_start=starts_of([len(p) for p in patterns]),
        pattern_col=flat(patterns),
        pattern_place=flat([pattern_place]),
        L_start=L_start,
        L_row=L_row,
        order=order,
    )


def places(pattern: SaddlePattern) -> dict[str, tuple[int, int]]:
    """Start and end of the parts of a factor in `whole`."""
    size = pattern.n + pattern.m
    sizes = {
        "M": pattern.M_row.size,
        "G": pattern.G_row.size,
        "K": pattern.row_col.size,
        "diagonal": size,
        "L": pattern.L_row.size,
        "inverse": size,
        **dict.fromkeys(("x", "residual", "y"), size),
        **dict.fromkeys(("eps", "scale", "rate", "sweeps", "solves"), 1),
    }
    ends = np.cumsum(list(sizes.values())).tolist()
    return {name: (end - sizes[name], end) for name, end in zip(sizes, ends, strict=True)}


def lay_out(pattern: SaddlePattern) -> Factor:
    """Memory for numeric factorizations."""
    parts = places(pattern)
    whole = np.zeros(parts["solves"][1])
    views = {name: whole[first:last] for name, (first, last) in parts.items()}
    return Factor(pattern=pattern, whole=whole, **views)


@inner
def _eliminate(factor, eps, largest):
    """L and D for the permuted matrix; returns the smallest pivot of a row of G."""
    pattern = factor.pattern
    n, order = pattern.n, pattern.order
    row_start, row_col = pattern.row_start, pattern.row_col
    pattern_start, pattern_col, pattern_place = (
        pattern.pattern_start,
        pattern.pattern_col,
        pattern.pattern_place,
    )
    L_start, L_row = pattern.L_start, pattern.L_row
    K, diagonal, L, inverse, y = factor.K, factor.diagonal, factor.L, factor.inverse, factor.y
    smallest = inf
    clear(y)
    for k in range(order.size):
        for e in range(row_start[k], row_start[k + 1]):
            y[row_col[e]] = K[e]
        unknown = order[k]
        d = diagonal[unknown] if unknown < n else -eps
        for e in range(pattern_start[k], pattern_start[k + 1]):
            c = pattern_col[e]
            at = pattern_place[e]
            value = y[c]
            y[c] = 0.0
            for p in range(L_start[c], at):
                y[L_row[p]] -= L[p] * value
            L[at] = value * inverse[c]
            d -= value * L[at]
        if unknown < n:
            if d < max(NO_MASS * largest, min(STAND_IN * largest, CANCELLED * diagonal[unknown])):
                d = STAND_IN * largest
        else:
            d = min(d, -0.5 * eps)
            smallest = min(smallest, -d)
        inverse[k] = 1.0 / d
    return smallest


@inner
def factorize(factor):
    """Factorize the matrix with the values in M and G; sets eps and scale."""
    pattern = factor.pattern
    n, m = pattern.n, pattern.m
    M_row, M_col, M_place = pattern.M_row, pattern.M_col, pattern.M_place
    G_col, G_place = pattern.G_col, pattern.G_place
    M, G, K = factor.M, factor.G, factor.K
    diagonal = factor.diagonal
    clear(K)
    clear(diagonal)
    for e in range(M_row.size):
        if M_row[e] == M_col[e]:
            diagonal[M_row[e]] += M[e]
        elif M_place[e] >= 0:
            K[M_place[e]] += M[e]
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(diagonal[i]))
    scale = 0.0
    for e in range(G_col.size):
        K[G_place[e]] += G[e]
        mass = diagonal[G_col[e]]
        scale += G[e] * G[e] * mass / max(mass, LIGHT * largest) ** 2
    scale = max(scale / m, NOTHING / largest) if m > 0 and largest > 0.0 else 1.0
    eps = SMALL_EPS * scale
    if _eliminate(factor, eps, largest) < NEARLY_REDUNDANT * scale:
        eps = LARGE_EPS * scale
        _eliminate(factor, eps, largest)
    factor.eps[0], factor.scale[0] = eps, scale


@inner
def _back_substitute(order, L_start, L_row, L, inverse, residual, y):
    """y <- (L D L^T)^-1 residual, in the order of elimination."""
    size = order.size
    for i in range(size):
        y[i] = residual[order[i]]
    for i in range(size):
        value = y[i]
        if value != 0.0:
            for p in range(L_start[i], L_start[i + 1]):
                y[L_row[p]] -= L[p] * value
    for i in range(size - 1, -1, -1):
        value = y[i] * inverse[i]
        for p in range(L_start[i], L_start[i + 1]):
            value -= L[p] * y[L_row[p]]
        y[i] = value


@inner
def solve(factor, rhs, accuracy):
    """Solve for the right-hand side ``[f; b]``; the result is x. Sets sweeps.

    Sweeps continue until the next correction of x would be below `accuracy` of the largest entry (or of a
    thousandth of f divided by the diagonal of M, for a solution of zero), or until corrections no longer
    decrease. Returns whether x is finite.
    """
    pattern = factor.pattern
    n, m = pattern.n, pattern.m
    L_start, L_row, order = pattern.L_start, pattern.L_row, pattern.order
    diagonal, x = factor.diagonal, factor.x
    if m == 0 and L_row.size == 0:
        finite = True
        for i in range(n):
            x[i] = rhs[i] / diagonal[i]
            finite = finite and abs(x[i]) < inf
        factor.sweeps[0] = 1.0
        return finite
    M_row, M_col, G_row, G_col = pattern.M_row, pattern.M_col, pattern.G_row, pattern.G_col
    M, G, L, inverse = factor.M, factor.G, factor.L, factor.inverse
    residual, y = factor.residual, factor.y
    clear(x)
    put(residual, 0, rhs)
    last = inf
    sweeps = 0
    finite = True
    floor = 0.0
    for i in range(n):
        if diagonal[i] > 0.0:
            floor = max(floor, abs(rhs[i] / diagonal[i]))
    while True:
        _back_substitute(order, L_start, L_row, L, inverse, residual, y)
        sweeps += 1
        change, size = 0.0, 1e-3 * floor
        for i in range(n + m):
            j = order[i]
            x[j] += y[i]
            if not abs(x[j]) < inf:
                finite = False
            if j < n:
                change = max(change, abs(y[i]))
                size = max(size, abs(x[j]))
        if not finite or (m == 0 and sweeps == 2) or (size == 0.0 and sweeps > 1) or sweeps == MOST_SWEEPS:
            break
        if sweeps > 1 and (change * min(1.0, change / last) <= accuracy * size or change > 0.5 * last):
            break
        last = change if change > 0.0 else 1e-300
        put(residual, 0, rhs)
        for e in range(M_row.size):
            residual[M_row[e]] -= M[e] * x[M_col[e]]
        for e in range(G_row.size):
            i, j = G_row[e] + n, G_col[e]
            residual[j] -= G[e] * x[i]
            residual[i] -= G[e] * x[j]
    factor.sweeps[0] = float(sweeps)
    factor.solves[0] += sweeps
    return finite


class SaddleMemory(Struct):
    """The memory of a system for the Python class below. `rhs` (n + m,); `accuracy`: of `solve`."""

    factor: Factor
    rhs: Vector
    accuracy: Real


@procedure(SaddleMemory, "sparse solver", 0.2)
def factorize_system(m, a, b):
    factorize(m.factor)
    return 0


@procedure(SaddleMemory, "sparse solver", 0.2)
def solve_system(m, a, b):
    """Returns 1 if the solution is finite, else 0."""
    return 1 if solve(m.factor, m.rhs, m.accuracy) else 0


class SaddlePoint:
    """Python interface of the solver: positions once, then `factorize` and `solve` repeatedly.

    `factor` has the details of the last solution.
    """

    def __init__(
        self, n: int, m: int, M_row: ArrayLike, M_col: ArrayLike, G_row: ArrayLike, G_col: ArrayLike
    ):
        self.pattern = analyze(n, m, M_row, M_col, G_row, G_col)
        self.factor = lay_out(self.pattern)
        self.n, self.m = n, m
        self._memory = SaddleMemory(factor=self.factor)

    @property
    def fill(self) -> int:
        """Entries of L below its diagonal."""
        return int(self.pattern.L_row.size)

    def factorize(self, M: ArrayLike, G: ArrayLike) -> None:
        """Factorize the matrix with these values at the given positions."""
        self.factor.M[:] = M
        self.factor.G[:] = G
        factorize_system(self._memory)

    def solve(
        self, f: ArrayLike, b: ArrayLike, accuracy: float = 1e-16
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """x (n,) and lam (m,)."""
        rhs = np.concatenate([np.asarray(f, float).ravel(), np.asarray(b, float).ravel()])
        n, m = self.n, self.m
        if rhs.size != n + m:
            raise SolverError(f"the right-hand side has size {rhs.size}, but must have size {n} + {m}")
        self._memory.rhs, self._memory.accuracy = rhs, accuracy
        solve_system(self._memory)
        return self.factor.x[:n].copy(), self.factor.x[n:].copy()
