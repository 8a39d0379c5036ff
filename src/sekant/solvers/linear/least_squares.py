"""QR with column pivoting of small dense matrices, and least squares with these factors, in compiled code.

Redundant equations make the matrices of mechanisms taller than wide; consistent ones are solved exactly by least
squares, and the pivots show where a matrix loses rank.
"""

from __future__ import annotations

from math import sqrt

from sekant.loops.declare.procedures import inner


@inner
def factor(A, n, m, beta, pivot, relative):
    """QR of the matrix whose n columns are the first m entries of rows of `A`, in place; returns the rank.

    Column k of the factors is `A[pivot[k]]`: R above its diagonal, below it the Householder vector whose scale
    is beta[k], and on it the diagonal of R. Pivots below `relative` times the first one count as zero.
    """
    first = 0.0
    for k in range(n):
        pivot[k] = k
        beta[k] = 0.0
    for k in range(n):
        best, longest = k, -1.0
        for j in range(k, n):
            square = 0.0
            for i in range(k, m):
                square += A[pivot[j], i] * A[pivot[j], i]
            if square > longest:
                best, longest = j, square
        pivot[k], pivot[best] = pivot[best], pivot[k]
        length = sqrt(longest)
        if k == 0:
            first = length
        if not length > relative * first:
            return k
        column = A[pivot[k]]
        alpha = -length if column[k] > 0.0 else length
        head = column[k] - alpha
        beta[k] = -head / alpha  # 2 / (v.v) for v = (1, column[k+1:] / head)
        for i in range(k + 1, m):
            column[i] /= head
        column[k] = alpha
        for j in range(k + 1, n):
            _mirror(column, m, k, beta, A[pivot[j]])
    return n


@inner
def _mirror(column, m, k, beta, b):
    """b (m,) mirrored by Householder vector k."""
    share = b[k]
    for i in range(k + 1, m):
        share += column[i] * b[i]
    share *= beta[k]
    b[k] -= share
    for i in range(k + 1, m):
        b[i] -= share * column[i]


@inner
def reflect(A, m, beta, pivot, rank, b):
    """b (m,) <- Q^T b for the factors of a matrix."""
    for k in range(rank):
        _mirror(A[pivot[k]], m, k, beta, b)


@inner
def reflect_back(A, m, beta, pivot, rank, b):
    """b (m,) <- Q b for the factors of a matrix."""
    for k in range(rank - 1, -1, -1):
        _mirror(A[pivot[k]], m, k, beta, b)


@inner
def solve(A, n, m, beta, pivot, rank, b, x):
    """x (n,) with least |matrix x - b|, zero in the columns beyond `rank`; `b` (m,) is overwritten."""
    reflect(A, m, beta, pivot, rank, b)
    for k in range(n):
        x[pivot[k]] = 0.0
    for k in range(rank - 1, -1, -1):
        total = b[k]
        for j in range(k + 1, rank):
            total -= A[pivot[j], k] * x[pivot[j]]
        x[pivot[k]] = total / A[pivot[k], k]


@inner
def solve_shortest(A, n, m, beta, pivot, rank, b, x):
    """The shortest x (n,) with least |matrix x - b|; `b` (m,), the factors and `beta` are overwritten.

    Reflections from the right reduce [R S] (rank, n) to a triangle (Golub, Van Loan: Matrix
    Computations, 4th ed., section 5.4).
    """
    reflect(A, m, beta, pivot, rank, b)
    for i in range(rank - 1, -1, -1):
        head, square = A[pivot[i], i], 0.0
        for k in range(rank, n):
            square += A[pivot[k], i] * A[pivot[k], i]
        beta[i] = 0.0
        if square > 0.0:
            length = sqrt(head * head + square)
            alpha = -length if head > 0.0 else length
            A[pivot[i], i] = alpha
            head -= alpha
            beta[i] = -head / alpha
            for k in range(rank, n):
                A[pivot[k], i] /= head
            for j in range(i):
                share = A[pivot[i], j]
                for k in range(rank, n):
                    share += A[pivot[k], i] * A[pivot[k], j]
                share *= beta[i]
                A[pivot[i], j] -= share
                for k in range(rank, n):
                    A[pivot[k], j] -= share * A[pivot[k], i]
    for k in range(rank, n):
        x[pivot[k]] = 0.0
    for k in range(rank - 1, -1, -1):
        total = b[k]
        for j in range(k + 1, rank):
            total -= A[pivot[j], k] * x[pivot[j]]
        x[pivot[k]] = total / A[pivot[k], k]
    for i in range(rank):
        if beta[i] != 0.0:
            share = x[pivot[i]]
            for k in range(rank, n):
                share += A[pivot[k], i] * x[pivot[k]]
            share *= beta[i]
            x[pivot[i]] -= share
            for k in range(rank, n):
                x[pivot[k]] -= share * A[pivot[k], i]


@inner
def determinant(A, B, C):
    """det of A B^T for A, B (n, m), over the product of the lengths of all their rows; C (n, n) is scratch."""
    n, m = A.shape
    value = 1.0
    for i in range(n):
        left = 0.0
        right = 0.0
        for k in range(m):
            left += A[i, k] * A[i, k]
            right += B[i, k] * B[i, k]
        if left == 0.0 or right == 0.0:
            return 0.0
        value /= sqrt(left * right)
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(m):
                total += A[i, k] * B[j, k]
            C[i, j] = total
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(C[i, k]) > abs(C[best, k]):
                best = i
        if C[best, k] == 0.0:
            return 0.0
        if best != k:
            value = -value
            for j in range(n):
                C[k, j], C[best, j] = C[best, j], C[k, j]
        value *= C[k, k]
        for i in range(k + 1, n):
            ratio = C[i, k] / C[k, k]
            for j in range(k + 1, n):
                C[i, j] -= ratio * C[k, j]
    return value
