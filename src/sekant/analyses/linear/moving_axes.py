"""Linear equations about a steady motion in axes that move with it, in which they are constant.

Let Y(q) be the velocities of the steady motion at position q, Y_s their derivative and L = Y_s + X. Displacements
that move with it satisfy s' = L s, with the matrix P(t), P' = L P, P(0) = 1. With s = P Z_q z and
w = Y_s P Z_q z + P (Z_v y + (W - Y_s Z_q) z) the matrix A of
`sekant.analyses.linear.independent_coordinates` becomes A - D,

    D = [ E_q L Z_q ,                                    0         ]
        [ E_v (Y_s' Z_q + Y_s L Z_q + L (W - Y_s Z_q)) , E_v L Z_v ] ,

a Lyapunov transformation: the eigenvalues are those that an observer in the moving axes sees. D is zero if the
ignorable coordinates are coordinates of joints.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.linear.independent_coordinates import ReducedEquations, ReductionRate
from sekant.analyses.linear.operating_point import OperatingPoint
from sekant.analyses.steady.equations import MotionChange
from sekant.analyses.steady.motion import SteadyMotion
from sekant.engine.functions.linear import MotionPoint
from sekant.errors import AnalysisWarning, SolverError

Array = NDArray[Any]
STILL = 1e-9
"""Largest change of A by the moving axes, relative to A, for which the axes count as fixed."""


def moving_axes(where: OperatingPoint, reduction: ReducedEquations) -> Array | None:
    """The matrix D (n, n); None if the axes do not move."""
    if where.steady is None or not where.moving:
        return None
    return axes_of(where.steady, where.point, reduction)


def axes_of(steady: SteadyMotion, point: MotionPoint, reduction: ReducedEquations) -> Array:
    """The matrix D (n, n) of the axes that move with a steady motion."""
    T, b = reduction.tangent, reduction.basis
    Y_s, Y_rate = steady.frame(point)
    L = Y_s + T.X
    lower = Y_rate @ b.Z_q + Y_s @ L @ b.Z_q + L @ (reduction.W - Y_s @ b.Z_q)
    upper = b.E_q @ L @ b.Z_q
    none = np.zeros((upper.shape[0], b.Z_v.shape[1]))
    return np.vstack([np.hstack([upper, none]), np.hstack([b.E_v @ lower, b.E_v @ L @ b.Z_v])])


def frozen(where: OperatingPoint, reduction: ReducedEquations) -> tuple[AnalysisWarning, ...]:
    """A warning if the coefficients change with time in the current axes and are frozen at an instant.

    Coordinates x = T(t) x~ have A~ = T^-1 (A T - T'): the eigenvalues of a frozen A depend on the coordinates.
    """
    if where.kind != "motion" or not (np.any(where.point.v) or np.any(where.point.a)):
        return ()
    remedy = (
        "compare eigenvalues within one formulation only; for a steady motion, pass the result of "
        "sk.analyses.steady_motion"
    )
    if where.steady is not None:
        D = axes_of(where.steady, where.point, reduction)
        if np.max(np.abs(D), initial=0.0) <= STILL * np.max(np.abs(reduction.A), initial=1e-300):
            return ()
        remedy = "leave out at='motion': in moving axes, all formulations have the same eigenvalues"
    cause = (
        "the coefficients are frozen at an instant: eigenvalues depend on the coordinates and on the "
        "formulation, and do not determine stability"
    )
    return (AnalysisWarning("frozen_motion", "eigenvalues", f"t = {where.point.t:.6g} s", cause, remedy),)


def axes_change(steady: SteadyMotion, point: MotionPoint, rate: ReductionRate, change: MotionChange) -> Array:
    """Derivative of D (n, n) along a change of the steady motion."""
    r, d = rate.reduction, rate.change
    T, b = r.tangent, r.basis
    Y_s, Y_rate = steady.frame(point)
    dY_s, dY_rate = steady.frame_change(point, change)
    L, dL = Y_s + T.X, dY_s + d.X
    inner = r.W - Y_s @ b.Z_q
    d_inner = rate.W - dY_s @ b.Z_q - Y_s @ rate.Z_q
    lower = dY_rate @ b.Z_q + Y_rate @ rate.Z_q + dL @ inner + L @ d_inner
    lower += dY_s @ L @ b.Z_q + Y_s @ dL @ b.Z_q + Y_s @ L @ rate.Z_q
    upper = b.E_q @ (dL @ b.Z_q + L @ rate.Z_q)
    none = np.zeros((upper.shape[0], b.Z_v.shape[1]))
    right = b.E_v @ (dL @ b.Z_v + L @ rate.Z_v)
    return np.vstack([np.hstack([upper, none]), np.hstack([b.E_v @ lower, right])])


def second_order_of(A: Array, reduction: ReducedEquations) -> tuple[Array, Array, Array]:
    """M, C, K of ``M z'' + C z' + K z = 0`` for z' = A11 z + y, y' = A21 z + A22 y."""
    if not reduction.basis.second_order:
        raise SolverError("velocity constraints (rolling): M, C, K would not be square; use A")
    f, M = reduction.M.shape[0], reduction.M
    A11, A21, A22 = A[:f, :f], A[f:, :f], A[f:, f:]
    return M, -M @ (A11 + A22), -M @ (A21 - A22 @ A11)
