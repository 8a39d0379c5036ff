"""What all equations of motion have in common: accelerations and multipliers under constraints, projection."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.formulations.constraints import ConstraintBlock
from sekant.formulations.kkt import KktFactor, light_unknowns, regularization
from sekant.formulations.recent import Recent
from sekant.geometry.spatial import SX
from sekant.tables.bound_oracle import BoundOracle
from sekant.tables.lookups import Lookups

if TYPE_CHECKING:
    from sekant.model.motion import Delayed, Event, HeldValue, Sampled
    from sekant.model.quantities import Description
    from sekant.model.resolve import Parameter
    from sekant.tables.table import Table

Floats = NDArray[np.float64]


class ConstrainedEquations(ABC):
    """M(q, t) a + G(q, t)^T lam = f(q, v, t), Phi(q, t) = 0, B(q, v, t) = 0, from the parts that a formulation gives.

    Symbols: `t` (), `q` (nq,), `v` (nv,), `p` (np,); `qdot` (nq,) linear in v. All expressions may contain lookups
    of `lookups`. What a formulation has to add is written down in `sekant.formulations.contract`.
    """

    t: SX
    q: SX
    v: SX
    p: SX
    qdot: SX
    lookups: Lookups
    constraints: list[ConstraintBlock]
    formulation: str
    algorithm: str
    held_values: Sequence[HeldValue] = ()
    events: Sequence[Event] = ()
    sampled: Sequence[Sampled] = ()
    delayed: Sequence[Delayed] = ()
    frozen_rates: Mapping[str, SX] = {}
    """rates of the states that are parameters here, see `frozen`"""
    closed: frozenset[str] = frozenset()
    """contacts that are closed and stay so"""

    locked: SX | None = None
    """(nv,): 1 for velocities that dry friction holds at zero; None where that is never so"""
    friction: Any = None
    """forces of dry friction and what decides on sticking, see `sekant.formulations.friction`; None: there is none"""

    @property
    def dry_friction(self) -> bool:
        """Whether joints may stick."""
        return self.friction is not None and bool(self.friction.frictions)

    @property
    @abstractmethod
    def parameters(self) -> tuple[Parameter, ...]:
        """Run-time parameters in the order of p."""

    @cached_property
    def recent(self) -> Recent:
        """What was asked of these equations lately."""
        return Recent()

    @property
    def given_inputs(self) -> Mapping[str, Table]:
        """Inputs of the model that are functions of time."""
        return {}

    @abstractmethod
    def check(self, p: Floats) -> None:
        """Refuse values (np,) of the parameters with which some part could not exist."""

    @property
    def contacts(self) -> Mapping[str, ConstraintBlock]:
        """The gap of every contact and its rate, whether it is closed or not."""
        return {}

    @property
    def placed_by_joints(self) -> bool:
        """Whether a start is found in joint coordinates first."""
        return False

    def completed(self, q: Floats, v: Floats, t: float, p: Floats) -> tuple[Floats, Floats]:
        """A consistent start with what follows from it alone filled in; as it is, where nothing does."""
        return q, v

    def timed_items(self) -> Sequence[Description] | None:
        """Items whose expressions in text hold all switches in time; None where these have to be searched for."""
        return None

    def counted(self, q: Floats, moved: Floats, t: float, p: Floats) -> Floats:
        """Coordinates `moved` from q at time t, quantities that count what was passed brought along."""
        return moved

    @property
    def stated_counts(self) -> Sequence[int]:
        """Coordinates that count what was passed and begin at a number that the model states."""
        return ()

    def quantities(self) -> Mapping[str, tuple[str, tuple[str, ...], SX]]:
        """What kinematics can follow besides joints, frames, sensors and forces: unit, components, value."""
        return {}

    def _full(self, expression: SX) -> SX:
        inner = [x for node in self.lookups.needed_by(expression) for x in node.arguments]
        return ca.vertcat(ca.vec(expression), *inner)

    def depends(self, expression: SX, symbols: SX) -> bool:
        return bool(symbols.numel()) and ca.depends_on(self._full(SX(expression)), symbols)

    def along_motion(self, value: SX) -> SX:
        """Time derivative of an expression along the motion: d/dt + q' d/dq + a d/dv + z' d/dz."""
        state = ca.vertcat(self.q, self.v, self.z, self.t)
        a = self.a if self.depends(value, self.v) else SX.zeros(self.nv)
        return ca.densify(self.lookups.jtimes(value, state, ca.vertcat(self.qdot, a, self.zdot, 1)))

    @property
    @abstractmethod
    def mass_matrix(self) -> SX:
        """(nv, nv), complete."""

    @abstractmethod
    def inverse_dynamics(self, a: SX) -> SX:
        """(nv,) generalized forces that must act besides the model's own for accelerations `a` (nv,)."""

    @abstractmethod
    def initial(self) -> tuple[SX, SX]:
        """Start values q0 (nq,), v0 (nv,) that the model describes, as expressions of p; perhaps rough."""

    @property
    def defaults(self) -> Floats:
        """(np,) default values of p."""
        own = np.concatenate([np.zeros(0), *[parameter.default for parameter in self.parameters]])
        return np.concatenate([own, self.held_start(own)])

    @cached_property
    def _held_start(self) -> BoundOracle:
        start = column([value.start for value in self.held_values])
        return BoundOracle(self.lookups.oracle("held", [self.p[: self.p.numel() - start.numel()]], [start]))

    def held_start(self, own: Floats) -> Floats:
        """(nh,) start values of the held values at the run-time parameters `own`, which stand before them in p."""
        return self._held_start(own)[0] if self.held_values else np.zeros(0)

    @property
    def nq(self) -> int:
        return self.q.numel()

    @property
    def nv(self) -> int:
        return self.v.numel()

    @property
    def z(self) -> SX:
        """(nz,) states besides coordinates and velocities: of signals and of force elements."""
        return SX.zeros(0, 1)

    @property
    def zdot(self) -> SX:
        """(nz,) their rates, expressions of t, q, v, z, p."""
        return SX.zeros(0, 1)

    @property
    def z_start(self) -> SX:
        """(nz,) their start values, expressions of p."""
        return SX.zeros(0, 1)

    @property
    def z_names(self) -> list[str]:
        """``owner.part`` of every state in z."""
        return []

    def frozen(self) -> ConstrainedEquations:
        """The same equations with the states z as run-time parameters of their names; `frozen_rates` are their rates.

        Then equilibria and steady motions have these parameters as unknowns and no rates as targets; linear models
        have them as inputs and their rates as outputs.
        """
        raise NotImplementedError(f"formulation '{self.formulation}' does not freeze its states")

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
        """Factors of [M G^T; G 0], regularized by figures from the model's own start."""
        p = self.defaults
        q0, v0 = self.lookups.oracle("start", [self.p], list(self.initial()))(p)
        inputs = [self.t, self.q, self.v, self.p]
        M, G = self.lookups.oracle("scale", inputs, [self.mass_matrix, self.G])(0.0, q0, v0, p)
        eps, delta = regularization(np.array(M), np.array(G))
        return KktFactor(self.mass_matrix, self.G, eps, delta, light_unknowns(np.array(M)))

    @cached_property
    def _solution(self) -> tuple[SX, SX]:
        return self.kkt.solve(self.f, self.gamma)

    @cached_property
    def B(self) -> SX:
        """(m_n,) velocity equations that no positions express."""
        return column([block.rate for block in self.ordered_blocks if not block.holonomic])

    def residual(self, a: SX, lam: SX) -> SX:
        """(nv,): M a + G^T lam - f, which is zero in every motion."""
        inner = self.inverse_dynamics(a)
        return inner + self.G.T @ lam if lam.numel() else inner

    @cached_property
    def multipliers(self) -> dict[str, SX]:
        """Multipliers (k,) by the name of the constraint."""
        found: dict[str, SX] = {}
        for block, part in self._by_block(self.lam):
            found[block.name] = ca.vertcat(found[block.name], part) if block.name in found else part
        return found

    @cached_property
    def projection(self) -> tuple[SX, SX, SX]:
        """One Newton step onto the constraints: new q (nq,), new v (nv,), and the residual before it ().

        Both corrections are least in the metric of M. The rates of q are linear in v, so a displacement of the
        coordinates is qdot with the correction in place of v.
        """
        m_h = self.Phi.numel()
        zero = SX.zeros(self.nv)
        shift, _ = self.kkt.solve(zero, ca.vertcat(-self.Phi, SX.zeros(self.rate.numel() - m_h)))
        q = self.q + ca.substitute(self.qdot, self.v, shift)
        correction, _ = self.kkt.solve(zero, -self.rate)
        residual = ca.fmax(ca.norm_inf(self.Phi) if m_h else 0, ca.norm_inf(self.rate))
        return q, self.v + correction, residual

    def _by_block(self, lam: SX) -> Iterator[tuple[ConstraintBlock, SX]]:
        """Each block of constraints with its multipliers."""
        at = 0
        for block in self.ordered_blocks:
            yield block, lam[at : at + block.rows]
            at += block.rows


def column(entries: Sequence[SX]) -> SX:
    """The entries below one another, dense; empty ones left out."""
    filled = [entry for entry in entries if entry.numel()]
    return ca.densify(ca.vertcat(*filled)) if filled else SX.zeros(0, 1)
