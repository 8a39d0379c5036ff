"""Optimizers behind one interface: SciPy's SLSQP and trust-constr, and IPOPT through CasADi."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from sekant.errors import SekantError

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class DesignProblem:
    """Row 0 of `values` (1 + m,) is minimized over x (n,) in [0, 1]; the other rows must lie between `low` and `high`
    (m,)."""

    values: Callable[[Array], Array]
    gradients: Callable[[Array], Array]
    start: Array
    low: Array
    high: Array
    tolerance: float
    most: int


def slsqp(problem: DesignProblem) -> tuple[Array, str, bool]:
    """Sequential quadratic programming; each finite side of a constraint is a row."""
    P = problem
    parts = []
    equal = np.flatnonzero(P.low == P.high)
    if equal.size:
        parts.append(
            {
                "type": "eq",
                "fun": lambda x: P.values(x)[1:][equal] - P.low[equal],
                "jac": lambda x: P.gradients(x)[1:][equal],
            }
        )
    for sign, bound in ((1.0, P.low), (-1.0, P.high)):
        rows = np.flatnonzero(np.isfinite(bound) & (P.low != P.high))
        if rows.size:
            parts.append(
                {
                    "type": "ineq",
                    "fun": lambda x, s=sign, r=rows, b=bound: s * (P.values(x)[1:][r] - b[r]),
                    "jac": lambda x, s=sign, r=rows: s * P.gradients(x)[1:][r],
                }
            )
    found: Any = scipy.optimize.minimize(
        lambda x: P.values(x)[0],
        P.start,
        jac=lambda x: P.gradients(x)[0],
        bounds=[(0.0, 1.0)] * P.start.size,
        constraints=parts,
        method="SLSQP",
        options={"ftol": P.tolerance, "maxiter": P.most},
    )
    return found.x, str(found.message), bool(found.success)


def trust_constr(problem: DesignProblem) -> tuple[Array, str, bool]:
    """SciPy's trust-region method with quasi-Newton curvature."""
    P = problem
    parts = ()
    if P.low.size:
        parts = scipy.optimize.NonlinearConstraint(
            lambda x: P.values(x)[1:],
            P.low,
            P.high,
            jac=lambda x: P.gradients(x)[1:],  # type: ignore[arg-type]
        )
    options: Any = {"xtol": P.tolerance, "gtol": P.tolerance, "maxiter": P.most}
    found: Any = scipy.optimize.minimize(
        lambda x: P.values(x)[0],
        P.start,
        jac=lambda x: P.gradients(x)[0],
        bounds=scipy.optimize.Bounds(0.0, 1.0, keep_feasible=True),  # type: ignore[arg-type]
        constraints=parts,
        method="trust-constr",
        options=options,
    )
    return found.x, str(found.message), found.status in (1, 2)


class _Rows(ca.Callback):
    """The rows of a problem, or their gradients, as a CasADi function."""

    def __init__(self, problem: DesignProblem, faults: list[SekantError], order: int = 0):
        ca.Callback.__init__(self)
        self.problem, self.faults, self.order = problem, faults, order
        self.rows, self.n = 1 + problem.low.size, problem.start.size
        self.kept: list[_Rows] = []  # CasADi does not keep them alive
        self.construct(f"rows{order}", {})

    def get_n_in(self) -> int:
        return 1 + self.order

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> Any:
        return ca.Sparsity.dense(self.n, 1) if i == 0 else ca.Sparsity(self.rows, 1)

    def get_sparsity_out(self, i: int) -> Any:
        return ca.Sparsity.dense(self.rows, self.n if self.order else 1)

    def eval(self, arg: Any) -> Any:
        x = np.clip(np.array(arg[0]).ravel(), 0.0, 1.0)
        try:
            return [self.problem.gradients(x) if self.order else self.problem.values(x)]
        except SekantError as error:
            self.faults.append(error)
            return [np.full((self.rows, self.n if self.order else 1), np.nan)]

    def has_jacobian(self) -> bool:
        return self.order == 0

    def get_jacobian(self, name: str, inames: Any, onames: Any, opts: Any) -> Any:
        self.kept.append(_Rows(self.problem, self.faults, 1))
        return self.kept[-1]


def ipopt(problem: DesignProblem) -> tuple[Array, str, bool]:
    """IPOPT with limited-memory curvature."""
    faults: list[SekantError] = []
    rows, x = _Rows(problem, faults), ca.MX.sym("x", problem.start.size)
    y = rows(x)
    m = problem.low.size
    options = {
        "ipopt": {
            "hessian_approximation": "limited-memory",
            "tol": problem.tolerance,
            "max_iter": problem.most,
            "print_level": 0,
            "sb": "yes",
        },
        "print_time": False,
    }
    solver = ca.nlpsol("optimize", "ipopt", {"x": x, "f": y[0], "g": y[1:] if m else ca.MX(0, 1)}, options)
    found = solver(x0=problem.start, lbx=0.0, ubx=1.0, lbg=problem.low, ubg=problem.high)
    stats = solver.stats()
    if faults and not stats["success"]:
        raise faults[0]
    return np.array(found["x"]).ravel(), str(stats["return_status"]), bool(stats["success"])


METHODS: dict[str, Callable[[DesignProblem], tuple[Array, str, bool]]] = {
    "slsqp": slsqp,
    "trust-constr": trust_constr,
    "ipopt": ipopt,
}
