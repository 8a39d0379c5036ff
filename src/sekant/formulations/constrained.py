"""The common part of all equations of motion: accelerations and multipliers under constraints, projection."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.cache.content import Recent
from sekant.formulations.constraints import ConstraintBlock
from sekant.formulations.contract import Formulation
from sekant.formulations.kkt import PIVOTS, KktFactor, pivots
from sekant.geometry.spatial import SX, column
from sekant.tables.bound_oracle import BoundOracle

Floats = NDArray[np.float64]


class ConstrainedEquations(Formulation):
    """M(q, t) a + G(q, t)^T lam = f(q, v, t), Phi(q, t) = 0, B(q, v, t) = 0. Everything here is derived from the
    members that a formulation provides (see `sekant.formulations.contract`)."""

    # -- symbols ---------------------------------------------------------------------------------------

    @property
    def t(self) -> SX:
        return self.motion.t

    @property
    def q(self) -> SX:
        return self.motion.q

    @property
    def v(self) -> SX:
        return self.motion.v

    @property
    def qdot(self) -> SX:
        return self.motion.qdot

    @property
    def z(self) -> SX:
        return self.elements.z

    @cached_property
    def p(self) -> SX:
        """(np,) run-time parameters, then held values."""
        return column([self.resolved.p, *(value.symbol for value in self.elements.held_values)])

    @property
    def nq(self) -> int:
        return self.q.numel()

    @property
    def nv(self) -> int:
        return self.v.numel()

    @property
    def defaults(self) -> Floats:
        """(np,) default values of p."""
        own = self.resolved.defaults
        return np.concatenate([own, self.held_start(own)[0].ravel()])

    @cached_property
    def held_start(self) -> BoundOracle:
        """p without its held values -> (nh,) their start values."""
        start = column([value.start for value in self.elements.held_values])
        return self.lookups.bound([self.p[: self.p.numel() - start.numel()]], [start])

    @cached_property
    def recent(self) -> Recent:
        """Cache of recent answers about these equations."""
        return Recent()

    def _full(self, expression: SX) -> SX:
        inner = [x for node in self.lookups.needed_by(expression) for x in node.arguments]
        return ca.vertcat(ca.vec(expression), *inner)

    def depends(self, expression: SX, symbols: SX) -> bool:
        return bool(symbols.numel()) and ca.depends_on(self._full(SX(expression)), symbols)

    def along_motion(self, value: SX) -> SX:
        """Time derivative of an expression along the motion: d/dt + q' d/dq + a d/dv + z' d/dz."""
        state = ca.vertcat(self.q, self.v, self.z, self.t)
        a = self.a if self.depends(value, self.v) else SX.zeros(self.nv)
        return ca.densify(self.lookups.jtimes(value, state, ca.vertcat(self.qdot, a, self.elements.rates, 1)))

    # -- motion ----------------------------------------------------------------------------------------

    @property
    def a(self) -> SX:
        """(nv,) accelerations."""
        return self._solution[0]

    @cached_property
    def lam(self) -> SX:
        """(m,) multipliers; constraint forces are -G^T lam."""
        return self._solution[1] if self.constraints else SX.zeros(0, 1)

    @cached_property
    def Phi(self) -> SX:
        """(m_h,) holonomic equations."""
        return column([block.phi for block in self.constraints if block.holonomic])

    @cached_property
    def rate(self) -> SX:
        """(m,) rates of all equations, holonomic ones first: zero in every consistent motion."""
        return column([block.rate for block in self.ordered_blocks])

    @property
    def ordered_blocks(self) -> list[ConstraintBlock]:
        """Blocks in the order of the multipliers: holonomic ones first."""
        return sorted(self.constraints, key=lambda block: not block.holonomic)

    @cached_property
    def G(self) -> SX:
        """(m, nv): the rates are G v + drift."""
        return ca.jacobian(self.rate, self.v) if self.constraints else SX.zeros(0, self.nv)

    @cached_property
    def gamma(self) -> SX:
        """(m,): G a = gamma keeps the rates at zero."""
        rate = self.rate
        return -(self.lookups.jtimes(rate, self.q, self.qdot) + self.lookups.jacobian(rate, self.t))

    @cached_property
    def f(self) -> SX:
        """(nv,): M a + G^T lam = f."""
        return -self.inverse_dynamics(SX.zeros(self.nv))

    @cached_property
    def kkt(self) -> KktFactor:
        """Factors of [M G^T; G 0], regularized by values taken at the model's own start."""
        p = self.defaults
        q0, v0 = self.lookups.oracle("start", [self.p], list(self.start.values()))(p)
        found = pivots(self.scale, np.array(q0).ravel(), np.array(v0).ravel(), p)
        named = self.resolved.values
        eps = named.get(PIVOTS[0], found.eps)
        delta = named.get(PIVOTS[1], found.delta) if found.delta else 0.0
        return KktFactor(self.mass_matrix, self.G, eps, delta, found.light)

    @cached_property
    def scale(self) -> BoundOracle:
        """(t, q, v, p) -> the entries of M (nv, nv) and of G (m, nv), column by column."""
        matrices = [ca.vec(ca.densify(x)) for x in (self.mass_matrix, self.G)]
        return self.lookups.bound([self.t, self.q, self.v, self.p], matrices)

    @cached_property
    def _solution(self) -> tuple[SX, SX]:
        return self.kkt.solve(self.f, self.gamma)

    @cached_property
    def B(self) -> SX:
        """(m_n,) velocity equations that cannot be integrated to positions."""
        return column([block.rate for block in self.ordered_blocks if not block.holonomic])

    def residual(self, a: SX, lam: SX) -> SX:
        """(nv,): M a + G^T lam - f, which is zero in every motion."""
        inner = self.inverse_dynamics(a)
        return inner + self.G.T @ lam if lam.numel() else inner

    @cached_property
    def multipliers(self) -> dict[str, SX]:
        """Multipliers (k,) by the name of the constraint."""
        found: dict[str, SX] = {}
        for block, part in self.by_block(self.lam):
            found[block.name] = ca.vertcat(found[block.name], part) if block.name in found else part
        return found

    @cached_property
    def projection(self) -> tuple[SX, SX, SX]:
        """One Newton step onto the constraints: new q (nq,), new v (nv,), and the residual before it ().

        Both corrections are minimal in the metric of M. The rates of q are linear in v, so a displacement of the
        coordinates is qdot with the correction in place of v.
        """
        m_h = self.Phi.numel()
        zero = SX.zeros(self.nv)
        shift, _ = self.kkt.solve(zero, ca.vertcat(-self.Phi, SX.zeros(self.rate.numel() - m_h)))
        q = self.q + ca.substitute(self.qdot, self.v, shift)
        correction, _ = self.kkt.solve(zero, -self.rate)
        residual = ca.fmax(ca.norm_inf(self.Phi) if m_h else 0, ca.norm_inf(self.rate))
        return q, self.v + correction, residual

    def by_block(self, lam: SX) -> Iterator[tuple[ConstraintBlock, SX]]:
        """Each block of constraints, with its multipliers."""
        at = 0
        for block in self.ordered_blocks:
            yield block, lam[at : at + block.rows]
            at += block.rows
