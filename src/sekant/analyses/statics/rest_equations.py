"""Numerical equilibrium equations at one time, and steps toward their solution with one-sided contacts.

The unknowns are displacements s (nv,) and multipliers lam (m,) in

    R(q, lam) = R(q, 0) + G^T lam = 0 ,   Phi(q) = 0 ,   gap >= 0 ,  force = -lam >= 0  for contacts,

with further rows for held coordinates. Steps are taken in the null space of the active rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.assembly.loop_geometry import LoopGeometry
from sekant.analyses.assembly.tangent_space import TangentSpace
from sekant.engine.functions.linear import Static, linear_functions
from sekant.engine.system import System
from sekant.errors import SolverError, suggest
from sekant.solvers.linear.small_matrices import general_pencil, symmetric_pencil

Array = NDArray[Any]
CLOSED = 1e-10  # m, rad: smaller gaps count as closed
FARTHEST = 1.0  # rad: largest rotation in a step downhill, or in any step of a mechanism with loops
STRAY = 0.3  # largest correction back onto the constraints, relative to the step
FLAT = 1e-11  # curvatures of the potential below this, relative to the largest, count as zero


@dataclass(frozen=True, eq=False)
class Rest:
    """A trial position: q (nq,), multipliers lam (m,), equations there, active rows (m,), their tangent space."""

    q: Array
    lam: Array
    numbers: Static
    active: NDArray[np.bool_]
    space: TangentSpace

    @property
    def unbalanced(self) -> Array:
        """Forces (f,) along the free motions (N or N m)."""
        return self.space.Z.T @ self.numbers.R

    @property
    def violation(self) -> float:
        return float(np.max(np.abs(self.numbers.Phi[self.active]), initial=0.0))


class Statics:
    """Equilibrium equations of a system at time t (s). The rows are constraints, contacts and held coordinates, in
    this order."""

    def __init__(
        self,
        system: System,
        t: float,
        parameters: Mapping[str, ArrayLike] | None,
        hold: Sequence[str],
        held: ArrayLike | None = None,
    ):
        self.system, self.t, self.p = system, float(t), system.parameter_vector(parameters, held)
        self.functions = linear_functions(system)
        self.geometry = LoopGeometry(system, t, parameters, (), {})
        self.names = list(self.geometry._coordinate_of)
        for name in hold:
            if name not in self.names:
                raise SolverError(
                    f"equilibrium: cannot hold '{name}'; {suggest(name, self.names, 'coordinates')}"
                )
        self.hold = tuple(dict.fromkeys(hold))
        self._holding = np.zeros((len(self.hold), system.nv))
        for k, name in enumerate(self.hold):
            self._holding[k, self.names.index(name)] = 1.0
        self._angular = _angular(system)
        extra = np.zeros(len(self.hold), bool)
        self.unilateral = np.concatenate([self.functions.unilateral, extra])
        self.row_names = [*self.functions.row_names, *self.hold]
        self.m = self.unilateral.size

    def numbers(self, q: Array, lam: Array) -> Static:
        """The equations at q (nq,), lam (m,), with the rows of held coordinates last."""
        inner = lam[: self.functions.m]
        found = self.functions.static(self.t, q, inner, self.p)
        none = np.zeros(len(self.hold))
        return replace(
            found,
            R=found.R + self._holding.T @ lam[self.functions.m :],
            G=np.vstack([found.G, self._holding]),
            Phi=np.concatenate([found.Phi, none]),
            drift=np.concatenate([found.drift, none]),
            gamma=np.concatenate([found.gamma, none]),
        )

    def mass(self, rest: Rest) -> Array:
        """Mass matrix (f, f) of the free motions, modified to be positive definite if a motion has no mass."""
        M = rest.space.Z.T @ self.functions.mass_matrix(self.t, rest.q, self.p) @ rest.space.Z
        if not M.size:
            return M
        M = 0.5 * (M + M.T)
        typical = max(np.trace(M) / M.shape[0], 1e-9)
        massless = np.linalg.eigvalsh(M)[0] < 1e-10 * typical
        return M + 1e-9 * typical * np.eye(M.shape[0]) if massless else M

    def rest(self, q: Array, lam: Array, active: NDArray[np.bool_]) -> Rest:
        """The position q with the multipliers that minimize the unbalanced forces, zero for inactive rows."""
        numbers = self.numbers(q, np.where(active, lam, 0.0))
        space = TangentSpace.of(numbers.G[active])
        lam = np.where(active, lam, 0.0)
        if np.any(active):
            lam[active] -= space.inverse.T @ numbers.R
            numbers = self.numbers(q, lam)
        return Rest(q, lam, numbers, active, space)

    def start(self, q: Array) -> Rest:
        """The position q with the closed contacts active."""
        gaps = self.numbers(q, np.zeros(self.m)).Phi
        return self.rest(q, np.zeros(self.m), ~self.unilateral | (gaps <= CLOSED))

    def moved(self, rest: Rest, s: Array, active: NDArray[np.bool_]) -> Rest:
        return self.rest(self.geometry.move(rest.q, s), rest.lam, active)

    def restored(self, rest: Rest) -> Rest:
        """`rest`, projected back onto the active constraints."""
        for _ in range(4):
            if not rest.violation > 1e-13:
                break
            s = -rest.space.inverse @ rest.numbers.Phi[rest.active]
            rest = self.moved(rest, s, rest.active)
        return rest

    def followed(self, rest: Rest, s: Array, active: NDArray[np.bool_]) -> Rest | None:
        """The position after the displacement s (nv,) and a correction back onto the active constraints; None if the
        correction is long.

        A correction that is short compared with the step shows that the constraints bend little along the step. This
        keeps positions on their branch: a link does not flip over to another assembly mode.
        """
        if np.any(active) and np.max(np.abs(s[self._angular]), initial=0.0) > FARTHEST * (1.0 + 1e-9):
            return None
        trial, left = self.moved(rest, s, active), STRAY * float(np.max(np.abs(s), initial=0.0)) + 1e-9
        for _ in range(8):
            if not trial.violation > 1e-13:
                return trial
            back = -trial.space.inverse @ trial.numbers.Phi[trial.active]
            left -= float(np.max(np.abs(back), initial=0.0))
            if not left >= 0.0:
                return None
            trial = self.moved(trial, back, active)
        return trial if trial.violation <= 1e-10 else None

    # -- steps -----------------------------------------------------------------------------------------

    def step(
        self, rest: Rest, curvature: str, offset: Array | float = 0.0, radius: float = np.inf, delta=np.inf
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Displacement (nv,) toward R = offset, and its active rows.

        `curvature` "exact": Newton's step; "positive": with the absolute values of the curvatures, so that the
        step goes downhill. `radius` limits the largest entry; `delta` is the pseudo-time step of a relaxation.
        """
        active, dropped = rest.active.copy(), set()
        s = np.zeros(self.system.nv)
        for _ in range(3 * int(self.unilateral.sum()) + 1):
            here = rest if np.array_equal(active, rest.active) else self.rest(rest.q, rest.lam, active)
            s, lam = self._free_step(here, curvature, offset, radius, delta)
            ahead = rest.numbers.Phi + rest.numbers.G @ s
            open_rows = self.unilateral & ~active
            pulls = self.unilateral & active & (lam > 1e-9 * (1.0 + np.abs(lam).max(initial=0.0)))
            crossed = open_rows & (ahead < -CLOSED)
            if np.any(crossed):
                active[np.argmin(np.where(crossed, ahead, np.inf))] = True
            elif np.any(pulls):
                worst = int(np.argmax(np.where(pulls, lam, -np.inf)))
                if worst in dropped:
                    break
                dropped.add(worst)
                active[worst] = False
            else:
                break
        return s, active

    def _free_step(self, rest: Rest, curvature: str, offset, radius: float, delta) -> tuple[Array, Array]:
        numbers, space = rest.numbers, rest.space
        R = numbers.R - offset
        closing = -space.inverse @ numbers.Phi[rest.active]
        g = space.Z.T @ (R + numbers.K @ closing)
        K = space.Z.T @ numbers.K @ space.Z
        s = closing + space.Z @ self._solve(rest, K, g, curvature, delta)
        if np.isfinite(radius):
            limits = np.where(self._angular, min(radius, FARTHEST), radius)
            s = s / max(1.0, float(np.max(np.abs(s) / limits, initial=0.0)))
        lam = rest.lam.copy()
        lam[rest.active] -= space.inverse.T @ (R + numbers.K @ s)
        return s, lam

    def _solve(self, rest: Rest, K: Array, g: Array, curvature: str, delta) -> Array:
        if not g.size:
            return g
        if curvature == "exact":
            return -np.linalg.lstsq(K, g, rcond=1e-13)[0]
        mu, V = symmetric_pencil(0.5 * (K + K.T), self.mass(rest))
        largest = float(np.max(np.abs(mu), initial=0.0))
        if mu[0] > FLAT * largest and not np.isfinite(delta):
            return -np.linalg.solve(K, g)
        floor = max(FLAT * largest, 1e-12)
        return -V @ ((V.T @ g) / (np.maximum(np.abs(mu), floor) + 1.0 / delta))

    # -- judgment --------------------------------------------------------------------------------------

    def force_scale(self, rest: Rest) -> float:
        """Scale of the residuals (N or N m)."""
        numbers = rest.numbers
        applied = numbers.R - numbers.G.T @ rest.lam
        weight = 9.81 * np.max(np.diag(self.functions.mass_matrix(self.t, rest.q, self.p)), initial=0.0)
        stiff = 1e-2 * np.max(np.abs(numbers.K), initial=0.0)
        return max(float(np.max(np.abs(applied), initial=0.0)), 1e-2 * weight, stiff)

    def curvatures(self, rest: Rest) -> tuple[Array, Array]:
        """Eigenvalues (f,) of stiffness and mass of the free motions (1/s^2), lowest first, and modes (nv, f)."""
        Z = rest.space.Z
        if not Z.shape[1]:
            return np.zeros(0), Z
        K = Z.T @ rest.numbers.K @ Z
        if np.allclose(K, K.T, rtol=1e-9, atol=1e-9 * np.max(np.abs(K), initial=0.0)):
            mu, V = symmetric_pencil(0.5 * (K + K.T), self.mass(rest))
        else:
            mu, V = general_pencil(K, self.mass(rest))
            mu = np.real(mu) if np.max(np.abs(np.imag(mu))) < 1e-9 * np.max(np.abs(mu)) else mu
        return mu, Z @ V

    def worst(self, rest: Rest) -> tuple[str, float, bool]:
        """The coordinate with the largest unbalanced force, the force, and whether the coordinate has no
        stiffness at all."""
        Z = rest.space.Z
        forces = Z @ rest.unbalanced
        i = int(np.argmax(np.abs(forces)))
        K = Z.T @ rest.numbers.K @ Z
        along = rest.unbalanced / max(float(np.linalg.norm(rest.unbalanced)), 1e-300)
        floppy = float(np.linalg.norm(K @ along)) <= 1e-9 * max(1e-300, float(np.linalg.norm(K)), 1e-9)
        return self.names[i], float(forces[i]), floppy


def _angular(system: System) -> NDArray[np.bool_]:
    """Mask (nv,) of the velocities that are angular."""

    def make() -> NDArray[np.bool_]:
        motion, found = system.equations.motion, []
        for name, i in motion.v_names:
            joint = motion.owner_of(name)
            found.append(joint is not None and joint.velocities[i].unit == "rad/s")
        return np.array(found, bool)

    return system.cached("angular", make)
