"""Linear equations about a steady motion in axes that move with it, in which they do not change with time.

Let Y(q) be the velocities that the steady motion has at position q, Y_s their derivative and L = Y_s + X, so that
displacements carried along obey s' = L s, with the matrix P(t), P' = L P, P(0) = 1. With s = P Z_q z and
w = Y_s P Z_q z + P (Z_v y + (W - Y_s Z_q) z) the matrix A of
`sekant.analyses.linear.independent_coordinates` becomes A - D,

    D = [ E_q L Z_q ,                                    0         ]
        [ E_v (Y_s' Z_q + Y_s L Z_q + L (W - Y_s Z_q)) , E_v L Z_v ] ,

a transformation of Lyapunov's: eigenvalues are those that an observer in the moving axes sees. D is zero where
ignorable coordinates are coordinates of joints.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.linear.independent_coordinates import Reduction
from sekant.analyses.linear.operating_point import OperatingPoint
from sekant.errors import SolverError

Array = NDArray[Any]


def moving_axes(where: OperatingPoint, reduction: Reduction) -> Array | None:
    """D (n, n), None where the axes do not move."""
    if where.steady is None:
        return None
    T, b = reduction.tangent, reduction.basis
    Y_s, Y_rate = where.steady.frame(where.point)
    L = Y_s + T.X
    lower = Y_rate @ b.Z_q + Y_s @ L @ b.Z_q + L @ (reduction.W - Y_s @ b.Z_q)
    upper = b.E_q @ L @ b.Z_q
    none = np.zeros((upper.shape[0], b.Z_v.shape[1]))
    return np.vstack([np.hstack([upper, none]), np.hstack([b.E_v @ lower, b.E_v @ L @ b.Z_v])])


def second_order_of(A: Array, reduction: Reduction) -> tuple[Array, Array, Array]:
    """M, C, K of ``M z'' + C z' + K z = 0`` for z' = A11 z + y, y' = A21 z + A22 y."""
    if not reduction.basis.second_order:
        raise SolverError("velocity constraints (rolling): there is no M, C, K of one size; use A")
    f, M = reduction.M.shape[0], reduction.M
    A11, A21, A22 = A[:f, :f], A[f:, :f], A[f:, f:]
    return M, -M @ (A11 + A22), -M @ (A21 - A22 @ A11)
