"""Closing of loops: the constraint equations of a system at one time as numbers, and the search for their zeros."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.joint_gaps import Gap, Gaps
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.system import System
from sekant.errors import SolverError, suggest
from sekant.formulations.contract import STATED
from sekant.geometry.spatial import SX
from sekant.solvers.linear.rank import redundant_rows
from sekant.solvers.newton import Damping, FunctionProblem, LineSearch, Reason, Rows, follow, newton

Vector = NDArray[np.float64]
Attempt = Callable[[Vector, float], tuple[Vector | None, int]]
RANK = 1e-9  # relative size of pivots that count as zero
NOTHING = 1e-12  # rows of G (m or rad) shorter than this are rounding errors
KEPT = "Newton's method with stated values kept"
CLOSED = 1e-6  # m, rad: a joint with a larger gap is closed on the wrong side


class LoopGeometry:
    """The constraint equations of a system at one time; displacements (nv,) have weights, and some are fixed."""

    def __init__(
        self, system: System, t: float, parameters, hold: Sequence[str], weights: Mapping[str, float]
    ):
        self.system, self.t, self.p = system, np.array([float(t)]), system.parameter_vector(parameters)
        self._terms = system.cached("constraint terms", lambda: constraint_terms(system))
        self._entries = system.cached("entries of constraint terms", lambda: _entries(system))
        self._last: tuple[bytes, tuple[Vector, Vector, Vector]] | None = (
            None  # at the last requested position
        )
        self._retract = system.cached("retraction", lambda: retraction(system))
        self._coordinate_of = system.start_facts.coordinate_of
        made = system.once("weights of displacements", lambda: _weighed(system, (), {}))
        made = made if not hold and not weights else _weighed(system, hold, weights)
        self.free, self.scale = made.free, made.scale
        self.free_rates, self.rate_scale = made.free_rates, made.rate_scale
        self._stated, self._stated_rates = made.stated, made.stated_rates
        self.given_rates = made.given_rates

    def weights_told(self) -> dict[str, NDArray[Any]]:
        """Scales of displacements and rates (nv,), and 1 where they are stated, for closing loops elsewhere."""
        told = {"stated": self._stated, "stated_rates": self._stated_rates, "given_rates": self.given_rates}
        scales = {"scale": self.scale, "rate_scale": self.rate_scale}
        return {**scales, **{name: row.astype(np.int64) for name, row in told.items()}}

    # -- numbers ---------------------------------------------------------------------------------------

    def terms(self, q: Vector) -> tuple[Vector, Vector, Vector]:
        """Phi (m_h,), G (m, nv), and the rates (m,) at zero velocity; do not modify them."""
        place = np.asarray(q, float).tobytes()
        if self._last is None or self._last[0] != place:
            Phi, entries, drift = self._terms(self.t, q, self.p)
            G = np.zeros((drift.size, self.system.nv))
            G[tuple(self._entries)] = entries.ravel()
            G = np.where(np.einsum("ij,ij->i", G, G)[:, None] > NOTHING**2, G, 0.0)
            self._last = place, (Phi.ravel(), G, drift.ravel())
        return self._last[1]

    @property
    def shares_constraint(self) -> NDArray[np.bool_]:
        """(nv, nv): which velocities have entries in a common row of G."""
        rows, columns = self._entries
        G = np.zeros((int(rows.max(initial=-1)) + 1, self.system.nv), bool)
        G[rows, columns] = True
        return G.T @ G

    def residual(self, q: Vector, v: Vector) -> float:
        Phi, G, drift = self.terms(q)
        position, rate = (float(np.abs(part).max(initial=0.0)) for part in (Phi, G @ v + drift))
        return position if position >= rate or position != position else rate  # NaN, if there is one

    @cached_property
    def _gaps(self) -> Gaps:
        return self.system.cached("gaps", lambda: Gaps.of(self.system))

    def gaps(self, q: Vector) -> dict[str, Gap]:
        return self._gaps.at(self.t, q, self.p) if self.system.start_facts.cuts else {}

    def wrong_side(self, q: Vector) -> list[Gap]:
        """Joints whose equations hold, but at a pose that the joint does not allow."""
        return [gap for gap in self.gaps(q).values() if max(gap.distance, gap.angle) > CLOSED]

    def move(self, q: Vector, delta: Vector) -> Vector:
        new = self._retract(q, delta)[0].ravel()
        for start, length in self.system.facts.unit_blocks:
            new[start : start + length] /= np.linalg.norm(new[start : start + length])
        if not self.system.facts.completes:
            return new
        return self.system.equations.start.counted(q, new, float(self.t[0]), self.p)

    def step(self, G: Vector, rhs: Vector) -> Vector:
        """The least weighted displacement with G delta = rhs, by least squares."""
        return self._least(G, rhs, self.free, self.scale)

    def rate_step(self, G: Vector, rhs: Vector) -> Vector:
        """The least weighted change of rates with G delta = rhs; stated ones are unchanged if the others can
        satisfy it."""
        others = self._least(G, rhs, self.free_rates & ~self._stated_rates, self.rate_scale)
        if np.max(np.abs(G @ others - rhs), initial=0.0) <= 1e-10 * max(
            1.0, np.max(np.abs(rhs), initial=0.0)
        ):
            return others
        return self._least(G, rhs, self.free_rates, self.rate_scale)

    def _least(self, G: Vector, rhs: Vector, columns: NDArray[np.bool_], scale: Vector) -> Vector:
        A = G[:, columns] * scale[columns]
        delta = np.zeros(self.system.nv)
        if A.size:
            delta[columns] = scale[columns] * np.linalg.lstsq(A, rhs, rcond=RANK)[0]
        return delta

    # -- closing ---------------------------------------------------------------------------------------

    def close(self, q0: Vector, tolerance: float) -> tuple[Vector | None, str, int]:
        """Coordinates near q0 that close all loops, the method, and iterations; None if no method succeeds."""
        Phi = self.terms(q0)[0]
        if not Phi.size or (np.max(np.abs(Phi)) <= tolerance and not self.wrong_side(q0)):
            return q0.copy(), "inspection", 0
        if not np.all(np.isfinite(Phi)):
            q0 = self.shaken(q0, 1e-3)
        total = 0
        attempts: tuple[tuple[str, Attempt], ...] = (
            (KEPT, self._keeping_stated),
            ("Newton", self._newton),
            ("unfolding", self._unfold),
            ("continuation", self._continuation),
            ("IPOPT", self._ipopt),
        )
        for name, attempt in attempts:
            found, iterations = attempt(q0, tolerance)
            total += iterations
            if found is not None and not self.wrong_side(found):
                found = self._unwound(q0, found, tolerance)
                return found if name == KEPT else self._nearest(q0, found, tolerance), name, total
        return None, "", total

    def _unwound(self, q0: Vector, q: Vector, tolerance: float) -> Vector:
        """q without whole turns that the search has added in joints whose angles occur in no equation."""
        for i in self.system.start_facts.turning:
            turns = np.round((q[i] - q0[i]) / (2 * np.pi))
            if turns:
                fewer = q.copy()
                fewer[i] -= 2 * np.pi * turns
                if np.abs(self.terms(fewer)[0]).max(initial=0.0) <= 1e3 * tolerance:
                    q = fewer
        return q

    def shaken(self, q: Vector, size: float) -> Vector:
        """q with a small reproducible change; held entries are unchanged."""
        delta = size * np.random.default_rng(1).uniform(0.3, 1.0, self.system.nv)
        return self.move(q, np.where(self.free, delta, 0.0))

    def _keeping_stated(self, q0: Vector, tolerance: float) -> tuple[Vector | None, int]:
        """Newton's method in the coordinates whose start values the model does not state."""
        free = self.free
        if not np.any(free & self._stated) or not np.any(free & ~self._stated):
            return None, 0
        self.free = free & ~self._stated
        try:
            found, iterations = self._newton(q0, tolerance, most=25)
            return (None if found is None else self._nearest(q0, found, tolerance)), iterations
        finally:
            self.free = free

    def _newton(
        self, q: Vector, tolerance: float, target: Vector | float = 0.0, most: int = 60
    ) -> tuple[Vector | None, int]:
        """Newton's method with line search for Phi(q) = target."""

        def at(q: Vector) -> Rows:
            Phi, G, _ = self.terms(q)
            return Rows(Phi - target, G[: Phi.size], self._scale_of_free, RANK)

        found = newton(FunctionProblem(at, self.move), q.copy(), LineSearch(), tolerance, most=most)
        near = found.reason is Reason.STALLED and found.error <= 1e3 * tolerance
        return (found.point if found.converged or near else None), found.iterations

    def _unfold(self, q0: Vector, tolerance: float) -> tuple[Vector | None, int]:
        """Newton's method from the point where the joints are closest to allowed poses."""
        q, iterations = self.nearest_to_closing(q0)
        found, more = self._newton(q, tolerance)
        return found, iterations + more

    def nearest_to_closing(self, q: Vector, most: int = 200) -> tuple[Vector, int]:
        """Least squares of all gaps and equations by Levenberg and Marquardt's method."""
        if not np.all(np.isfinite(self._everything(q)[0])):
            q = self.shaken(q, 1e-3)

        def at(q: Vector) -> Rows:
            return Rows(*self._everything(q), self._scale_of_free, RANK)

        search = Damping(start=1e-3, least=1e-15, factor=5.0, fall=1e-9)
        found = newton(FunctionProblem(at, self.move), q, search, 1e-9, most=most)
        return found.point, found.iterations

    @property
    def _scale_of_free(self) -> Vector:
        return np.where(self.free, self.scale, 0.0)

    def _everything(self, q: Vector) -> tuple[Vector, Vector]:
        """Gaps of the cut joints, then Phi; with derivatives."""
        Phi, G, _ = self.terms(q)
        if not self.system.start_facts.cuts:
            return Phi, G[: Phi.size]
        rows, J = self._gaps.slopes(self.t, q, self.p)
        return np.concatenate([rows, Phi]), np.vstack([J, G[: Phi.size]])

    def _continuation(self, q0: Vector, tolerance: float) -> tuple[Vector | None, int]:
        """Follow Phi(q) = (1 - s) Phi(q0) from s = 0 to 1 with the largest steps that converge."""
        r0, total = self.terms(q0)[0], 0

        def attempt(q: Vector, share: float) -> Vector | None:
            nonlocal total
            found, iterations = self._newton(q, tolerance, (1 - share) * r0, most=12)
            total += iterations
            return found

        return follow(attempt, q0.copy(), shortest=1e-4), total

    def _ipopt(self, q0: Vector, tolerance: float) -> tuple[Vector | None, int]:
        """Least squares of Phi by an interior point method, which can leave valleys where Newton's method stalls."""
        eq = self.system.equations
        q = ca.MX.sym("q", self.system.nq)
        Phi = eq.lookups.oracle("Phi", [eq.t, eq.q, eq.p], [eq.Phi])(self.t, q, self.p)
        units = [ca.sumsqr(q[start : start + length]) - 1 for start, length in eq.motion.unit_blocks]
        problem = {"x": q, "f": ca.sumsqr(Phi) + 1e-9 * ca.sumsqr(q - q0), "g": ca.vertcat(*units)}
        quiet = {"print_level": 0, "sb": "yes", "hessian_approximation": "limited-memory", "max_iter": 300}
        solver = ca.nlpsol("assemble", "ipopt", problem, {"print_time": False, "ipopt": quiet})
        fixed = {name for name, free in zip(self._coordinate_of, self.free, strict=True) if not free}
        held = [name in fixed for name in self.system.state_names[: self.system.nq]]
        low, high = np.where(held, q0, -np.inf), np.where(held, q0, np.inf)
        solution = solver(x0=q0, lbx=low, ubx=high, lbg=0, ubg=0)
        return self._newton(np.array(solution["x"]).ravel(), tolerance)

    def _nearest(self, q0: Vector, q: Vector, tolerance: float) -> Vector:
        """Slide along the constraints toward q0 while that reduces the weighted distance (no quaternions)."""
        if self.system.nq != self.system.nv:
            return q
        for _ in range(30):
            Phi, G, _ = self.terms(q)
            back = q0 - q
            tangent = back - self.step(G[: Phi.size], G[: Phi.size] @ back)
            tangent[~self.free] = 0.0
            if np.max(np.abs(tangent)) < 1e-10:
                return q
            found, _ = self._newton(self.move(q, tangent), tolerance, most=8)
            if found is None or self._distance(found, q0) >= self._distance(q, q0) or self.wrong_side(found):
                return q
            q = found
        return q

    def _distance(self, q: Vector, q0: Vector) -> float:
        return float(np.sum(((q - q0) / self.scale) ** 2))

    # -- rank ------------------------------------------------------------------------------------------

    def row_names(self) -> list[str]:
        """The constraint of each row of G."""
        return list(self.system.facts.rows)

    def rank(self, q: Vector) -> tuple[int, tuple[str, ...]]:
        """Rank of G, and the constraints with rows that others imply."""
        G = self.terms(q)[1]
        if not G.size:
            return 0, tuple(dict.fromkeys(self.row_names()))
        found = redundant_rows(G, RANK)
        names = self.row_names()
        return found.rank, tuple(dict.fromkeys(names[i] for i in found.redundant))

    def rank_nearby(self, q: Vector, tolerance: float) -> int:
        """Rank of G at another point of the same motion, or zero if none is found."""
        found, _ = self._newton(self.shaken(q, 1e-2), tolerance, most=20)
        return 0 if found is None else self.rank(found)[0]


@dataclass(frozen=True, eq=False)
class _Weighed:
    """Masks (nv,) of the free and the stated displacements and rates, and one over the roots of their
    weights. `given_rates`: those given by the caller, also by a weight."""

    free: NDArray[np.bool_]
    scale: Vector
    stated: NDArray[np.bool_]
    free_rates: NDArray[np.bool_]
    rate_scale: Vector
    stated_rates: NDArray[np.bool_]
    given_rates: NDArray[np.bool_]


def _weighed(system: System, hold: Sequence[str], weights: Mapping[str, float]) -> _Weighed:
    facts = system.start_facts
    names = system.state_names[system.nq : system.nq + system.nv]
    coordinates = facts.coordinate_of
    w, w_v = np.array(facts.weights), np.array(facts.rate_weights)
    stated, stated_rates = w >= STATED, w_v >= STATED
    given_rates = np.array(
        [own or name in weights for own, name in zip(facts.stated_rates, names, strict=True)], bool
    )
    free = np.ones(system.nv, bool)
    known = [*system.state_names[: system.nq], *names]
    for name in (*hold, *weights):
        if name not in known:
            raise SolverError(f"assembly: unknown coordinate '{name}'; {suggest(name, known, 'coordinates')}")
    for name, value in weights.items():
        if not 0 < value < np.inf:
            raise SolverError(
                f"assembly: the weight of '{name}' must be positive (got {value:g}); "
                f"to keep it fixed, pass hold=['{name}']"
            )
    for i, name in enumerate(coordinates):
        free[i] = name not in hold
        for key, row, kept in ((name, w, stated), (names[i], w_v, stated_rates)):
            if key in weights:
                row[i], kept[i] = weights[key], False
    free_rates = np.array([name not in hold for name in names], bool)
    scales = 1.0 / np.sqrt(w), 1.0 / np.sqrt(w_v)
    return _Weighed(free, scales[0], stated, free_rates, scales[1], stated_rates, given_rates)


def constraint_terms(system: System, gaps: SX | None = None) -> NativeFunction:
    """(t, q, p) -> Phi, those entries of G that may differ from zero, and the rates at rest; with `gaps` all
    entries of G, and finally the gaps."""
    eq = system.equations
    drift = ca.substitute(eq.rate, eq.v, SX.zeros(system.nv))
    found = [eq.Phi, eq.G.nz[:], drift] if gaps is None else [eq.Phi, ca.densify(eq.G), drift, gaps]
    return system.function("constraints", [eq.t, eq.q, eq.p], found)


def _entries(system: System) -> np.ndarray:
    """Rows and columns (2, n) of those entries of G that may differ from zero."""
    return np.array(system.equations.G.sparsity().get_triplet(), dtype=np.int64).reshape(2, -1)


def retraction(system: System) -> NativeFunction:
    """(q, delta) -> q moved by the small displacement delta (nv,)."""
    eq = system.equations
    delta = SX.sym("delta", system.nv)
    return system.function("retract", [eq.q, delta], [eq.q + ca.substitute(eq.qdot, eq.v, delta)])
