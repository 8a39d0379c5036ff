"""First variation of the equations of motion, on the manifold of coordinates.

A small change of the motion is (s, w): the coordinates change by ``dq = N(q) s`` with ``N = d(qdot)/dv``, so
that the change s (nv,) of a quaternion is a rotation, and the velocities change by w (nv,). With the residual
``R = M a + G^T lam - f`` of inverse dynamics (TROM 3.5, with the multipliers kept in it) it obeys

    M w' + R_v w + R_s s + G^T dlam + R_p dp = 0 ,      R_s = dR/dq N   (holds d(G^T lam)/dq)
    s' = w + X s ,                                      N X = d(qdot)/dq N - N' =: T
    G_h s + Phi_p dp = 0                                (positions)
    G w + H s + rate_p dp = 0 ,                         H = d(rate)/dq N
    G w' + acc_v w + acc_s s + acc_p dp = 0             (accelerations; acc = d(rate)/dt)

X is zero unless velocities are not the rates of coordinates. Rows are those of the constraints, holonomic ones first,
then the gaps of contacts that may open, which are used only while closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import casadi as ca

from sekant.formulations.constrained import ConstrainedEquations
from sekant.formulations.turns import Turns
from sekant.geometry.spatial import SX, column

DIRECTIONS = 40
"""Largest size of s for which expressions are differentiated in forward mode, one direction at a time, if there are
at least as many expressions as directions. Otherwise CasADi chooses the mode."""


class Variation:
    """Expressions of the symbols t, q, v, p of the equations, and of `a` (nv,) and `lam` (m,)."""

    def __init__(self, equations: ConstrainedEquations):
        self.equations, found = equations, equations.elements
        self.gaps = [block for name, block in found.contacts.items() if name not in found.closed]
        self.blocks = [*equations.ordered_blocks, *self.gaps]
        self.a = SX.sym("a", equations.nv)
        self.lam = SX.sym("lam", sum(block.rows for block in self.blocks))

    @property
    def inputs(self) -> list[SX]:
        eq = self.equations
        return [eq.t, eq.q, eq.v, self.a, self.lam, eq.p]

    @cached_property
    def Phi(self) -> SX:
        """(m,) position equations; zero in rows that restrict only velocities."""
        return column([block.phi if block.holonomic else SX.zeros(block.rows) for block in self.blocks])

    @cached_property
    def rate(self) -> SX:
        """(m,)."""
        return column([block.rate for block in self.blocks])

    @cached_property
    def acceleration(self) -> SX:
        """(m,) d(rate)/dt."""
        return ca.densify(self.along(self.rate)) if self.lam.numel() else self.rate

    @cached_property
    def residual(self) -> SX:
        """(nv,) R."""
        eq = self.equations
        inner = eq.inverse_dynamics(self.a)
        if not self.lam.numel():
            return inner
        return inner + ca.densify(eq.lookups.gradient(ca.dot(self.rate, self.lam), eq.v))

    @cached_property
    def G(self) -> SX:
        """(m, nv)."""
        return self.by(self.rate, self.equations.v)

    @cached_property
    def H(self) -> SX:
        """(m, nv)."""
        return self.by_coordinates(self.rate)

    @cached_property
    def acceleration_by_velocities(self) -> SX:
        """(m, nv) acc_v: d(rate)/dt depends on v through the rates of the coordinates and the rate of G."""
        return self.H + self.along(self.G)

    @cached_property
    def N(self) -> SX:
        """(nq, nv)."""
        return self.equations.lookups.jacobian(self.equations.qdot, self.equations.v)

    @cached_property
    def curved(self) -> bool:
        """Whether any velocity is not the rate of a coordinate."""
        return self.equations.lookups.jacobian(self.equations.qdot, self.equations.q).nnz() > 0

    @cached_property
    def _turns(self) -> Turns:
        eq = self.equations
        return Turns(eq.q, self.N, [first for first, _ in eq.motion.unit_blocks])

    def by_coordinates(self, expression: SX) -> SX:
        """(rows, nv) derivative with respect to s."""
        eq, turns = self.equations, self._turns
        variables, slopes = ca.vertcat(eq.q, turns.symbols), ca.vertcat(self.N, turns.slopes)
        if turns.symbols.numel() and eq.nv <= min(expression.numel(), DIRECTIONS):
            return turns.joined(eq.lookups.jtimes(turns.cut(expression), variables, ca.densify(slopes)))
        return turns.joined(eq.lookups.jacobian(turns.cut(expression), variables) @ slopes)

    def by(self, expression: SX, symbols: SX) -> SX:
        return self.equations.lookups.jacobian(expression, symbols)

    def along(self, expression: SX) -> SX:
        """Rate of an expression along the motion with accelerations `a`."""
        eq, turns = self.equations, self._turns
        state = ca.vertcat(eq.t, eq.q, eq.v, turns.symbols)
        rates = ca.vertcat(1, eq.qdot, self.a, turns.slopes @ eq.v)
        return turns.joined(eq.lookups.jtimes(turns.cut(expression), state, rates))

    @cached_property
    def turning(self) -> list[SX]:
        """N, N', T and T', each (nq, nv), from which X and X' follow; empty unless `curved`."""
        if not self.curved:
            return []
        N_rate = self.along(self.N)
        T = self.by_coordinates(self.equations.qdot) - N_rate
        return [self.N, N_rate, T, self.along(T)]

    def at_rest(self, expressions: Sequence[SX]) -> list[SX]:
        """The expressions where v and a are zero."""
        eq = self.equations
        moving = ca.vertcat(eq.v, self.a)
        return [eq.lookups.substitute(e, moving, SX.zeros(2 * eq.nv)) for e in expressions]
