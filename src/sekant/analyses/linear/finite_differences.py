"""The tangent by methods other than the differentiation of inverse dynamics, for comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.engine.functions.linear import EquationTangent, LinearFunctions, MotionPoint
from sekant.engine.system import System

Array = NDArray[Any]


def difference_tangent(functions: LinearFunctions, point: MotionPoint, step: float) -> EquationTangent:
    """The tangent by one-sided differences of the residual with `step`, as in published methods (TROM 3.2.4)."""
    n = functions.nv
    native, retract = functions.differences
    steps = step * np.eye(n)
    t = np.array([[point.t]])
    q, v, a, lam, p = (x[None, :] for x in (point.q, point.v, point.a, point.lam, point.p))
    moved = retract.map(q, np.vstack([np.zeros(n), steps]))[0].reshape(n + 1, -1)
    by_s = native.map(t, moved, v, a, lam, p)
    by_v = native.map(t, q, v + steps, a, lam, p)
    by_a = native.map(t, q, v, a + steps, lam, p)
    start = [x[0] for x in by_s]

    def slope(samples: list[Array], i: int, first: int = 0) -> Array:
        return ((samples[i][first:] - start[i]) / step).T

    X, X_rate = functions.turning(point)
    return EquationTangent(
        M=slope(by_a, 0),
        R_v=slope(by_v, 0),
        R_s=slope(by_s, 0, 1),
        G=slope(by_v, 2),
        H=slope(by_s, 2, 1),
        acc_v=slope(by_v, 3),
        acc_s=slope(by_s, 3, 1),
        X=X,
        X_rate=X_rate,
    )


def forward_tangent(system: System, point: MotionPoint, tangent: EquationTangent) -> EquationTangent:
    """`tangent` with R_v and R_s from forward dynamics: R_v = -M da/dv, R_s = -M da/ds for unconstrained motion."""
    eq = system.equations

    def make() -> Any:
        N = eq.lookups.jacobian(eq.qdot, eq.v)
        by_s, by_v = eq.lookups.jacobian(eq.a, eq.q) @ N, eq.lookups.jacobian(eq.a, eq.v)
        return system.function(
            "linear.forward", [eq.t, eq.q, eq.v, eq.p], [ca.densify(by_s), ca.densify(by_v)]
        )

    function = system.once("linear forward", make)
    a_s, a_v = function(np.array([point.t]), point.q, point.v, point.p)
    n = system.nv
    return replace(tangent, R_s=-tangent.M @ a_s.reshape(n, n), R_v=-tangent.M @ a_v.reshape(n, n))
