"""The equations of a driven mechanism as compiled functions: constraints, drives and their derivatives.

With displacements w (nv,), dq = N(q) w, the equations F(q) = (Phi(q), h(q)) = (0, d) give by differentiation

    J w_i = e_i ,    J w_ij = - d(J w_i)/dq N w_j ,    J = dF/dq N ,

where w_i are the displacements by drive i, and w_ij is the derivative of w_i with respect to drive j.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.kinematics.quantities import SweepQuantity, scalar
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.system import System
from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.model.joints import Joint
from sekant.solvers.sweep import SweepPool, SweepProblem

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DrivenEquations:
    """F, J and curvature of a system whose degrees of freedom are driven by `drives`, at time t and parameters p."""

    system: System
    drives: tuple[SweepQuantity, ...]
    t: float
    p: Vector
    shown: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    """Labels of drives in messages, and the zeros of their values there."""

    def shown_as(self, k: int) -> tuple[str, float]:
        """Label and zero of the k-th drive in messages."""
        name = self.drives[k].name
        return self.shown.get(name, (name, 0.0))

    @cached_property
    def functions(self) -> tuple[NativeFunction, NativeFunction, NativeFunction]:
        """Compiled functions: F and J, q displaced, the derivative of J w along u."""
        key = ("driven equations", tuple(drive.name for drive in self.drives))
        return self.system.cached(key, self._build)

    def expressions(self) -> tuple[SX, SX]:
        """F (M,) and J (M, nv)."""
        system, eq = self.system, self.system.equations
        N = ca.jacobian(eq.qdot, eq.v)
        h = ca.vertcat(SX.zeros(0, 1), *[scalar(system, drive.name).expression for drive in self.drives])
        F = ca.vertcat(eq.Phi, h + _nan_outside(system))
        G = eq.G if eq.constraints else SX.zeros(0, system.nv)
        return F, ca.densify(ca.vertcat(G, eq.lookups.jacobian(h, eq.q) @ N))

    def _build(self) -> tuple[NativeFunction, NativeFunction, NativeFunction]:
        system, eq = self.system, self.system.equations
        refuse_rolling(system)
        N = ca.jacobian(eq.qdot, eq.v)
        F, J = self.expressions()
        w, u, delta = (SX.sym(name, system.nv) for name in ("w", "u", "delta"))
        bend = ca.densify(eq.lookups.jtimes(J @ w, eq.q, N @ u))
        moved = eq.q + ca.substitute(eq.qdot, eq.v, delta)
        return (
            system.function("driven", [eq.t, eq.q, eq.p], [F, J]),
            system.function("retract", [eq.q, delta], [moved]),
            system.function("bend", [eq.t, eq.q, w, u, eq.p], [bend]),
        )

    @property
    def rows(self) -> int:
        return self.system.facts.positions + len(self.drives)

    @property
    def unit_blocks(self) -> tuple[tuple[int, int], ...]:
        return self.system.facts.unit_blocks

    def terms(self, q: Vector) -> tuple[Vector, Vector]:
        """F (M,) and J (M, nv)."""
        F, J = self.functions[0](np.array([self.t]), q, self.p)
        return F.ravel(), J.reshape(F.size, self.system.nv)

    def drive_values(self, q: Vector) -> Vector:
        """Values of all drives (m,)."""
        return self.terms(q)[0][self.rows - len(self.drives) :]

    def move(self, q: Vector, delta: Vector) -> Vector:
        """q displaced by delta (nv,)."""
        new = self.functions[1](q, delta)[0].ravel()
        for first, length in self.unit_blocks:
            new[first : first + length] /= np.linalg.norm(new[first : first + length])
        return new

    def problem(self) -> SweepProblem:
        terms, retract, curvature = self.functions
        return SweepProblem(
            terms,
            retract,
            curvature,
            nq=self.system.nq,
            n=self.system.nv,
            rows=self.rows,
            periodic=tuple(drive.periodic for drive in self.drives),
            t=self.t,
            p=self.p,
            unit_blocks=self.unit_blocks,
        )

    @property
    def pool(self) -> SweepPool:
        """Pool of memory for sweeps of `problem`."""
        return self.system.once(("sweep pool", tuple(drive.name for drive in self.drives)), SweepPool)


def driven_equations(
    system: System, drives: tuple[SweepQuantity, ...], t: float, parameters: Mapping[str, ArrayLike] | None
) -> DrivenEquations:
    return DrivenEquations(system, drives, float(t), system.parameter_vector(parameters))


def _nan_outside(system: System) -> SX:
    """Zero, or NaN outside the range of a path or surface of the tree. Otherwise, if a coordinate of the joint itself
    is driven, the sweep would not notice the end of the range."""
    total = SX(0)
    motion = system.equations.motion
    for link in motion.links:
        if type(link.joint).out_of_range is not Joint.out_of_range:
            where = ca.sum1(motion.frame(link.body).p)
            total += ca.if_else(where <= 1e300, 0.0, np.nan)
    return total


def refuse_rolling(system: System) -> None:
    """Raise an error for velocity constraints, with which the position depends on the path taken."""
    names = system.facts.rolling
    if names:
        raise ModelError(
            f"model '{system.model.name}': kinematics cannot handle '{names[0]}', which restricts velocities, not "
            "positions; remove it, or simulate"
        )
