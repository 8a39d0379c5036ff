"""The constraint equations of a system at one time as numbers, and the search for their zeros.

`solvers/newton/closing.py` closes the loops, as in pages. Where it fails from the given start, this module looks for
other points from which it succeeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.closing import (
    called_functions,
    closing_of,
    constraint_terms,
    entries_of,
)
from sekant.analyses.assembly.joint_gaps import Gap, gap_slopes
from sekant.engine.codegen.native import NativeFunction
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.errors import SolverError, suggest
from sekant.formulations.contract import STATED as STATED_WEIGHT
from sekant.solvers.linear.rank import redundant_rows
from sekant.solvers.newton import Damping, FunctionProblem, Rows, follow, newton
from sekant.solvers.newton.closing import (
    ALL,
    FOUND,
    FREE,
    HELD,
    INSPECTION,
    KEPT,
    NOTHING,
    OPEN,
    RANK,
    STATED,
    Closing,
    close,
    close_from,
    solve_positions,
)

Vector = NDArray[np.float64]
METHODS = {INSPECTION: "inspection", KEPT: "Newton's method with stated values kept", ALL: "Newton"}


@dataclass(frozen=True, eq=False)
class Closed:
    """Coordinates `q` and velocities `v` that satisfy all equations, `v` only if `consistent`.

    `free` (nv, k): orthonormal changes of v that violate no equation and change no given value.
    """

    q: Vector
    v: Vector
    consistent: bool
    free: Vector
    method: str
    iterations: int


class LoopGeometry:
    """The constraint equations of a system at one time; displacements (nv,) have weights, and some are fixed."""

    def __init__(
        self, system: System, t: float, parameters, hold: Sequence[str], weights: Mapping[str, float]
    ):
        self.system, self.t, self.p = system, np.array([float(t)]), system.parameter_vector(parameters)
        self._terms = constraint_terms(system)
        self._last: tuple[bytes, tuple[Vector, Vector, Vector]] | None = (
            None  # at the last requested position
        )
        self._coordinate_of = system.start_facts.coordinate_of
        made = system.once("weights of displacements", lambda: weights_of(system))
        self.weights = made if not hold and not weights else weights_of(system, hold, weights)

    @cached_property
    def _called(self) -> dict[str, NativeFunction]:
        return called_functions(self.system)

    # -- numbers ---------------------------------------------------------------------------------------

    def terms(self, q: Vector) -> tuple[Vector, Vector, Vector]:
        """Phi (m_h,), G (m, nv), and the rates (m,) at zero velocity; do not modify them."""
        place = np.asarray(q, float).tobytes()
        if self._last is None or self._last[0] != place:
            Phi, entries, drift = self._terms(self.t, q, self.p)
            G = np.zeros((drift.size, self.system.nv))
            G[tuple(entries_of(self.system))] = entries.ravel()
            G = np.where(np.einsum("ij,ij->i", G, G)[:, None] > NOTHING**2, G, 0.0)
            self._last = place, (Phi.ravel(), G, drift.ravel())
        return self._last[1]

    @property
    def shares_constraint(self) -> NDArray[np.bool_]:
        """(nv, nv): which velocities have entries in a common row of G."""
        rows, columns = entries_of(self.system)
        G = np.zeros((int(rows.max(initial=-1)) + 1, self.system.nv), bool)
        G[rows, columns] = True
        return G.T @ G

    def residual(self, q: Vector, v: Vector) -> float:
        Phi, G, drift = self.terms(q)
        position, rate = (float(np.abs(part).max(initial=0.0)) for part in (Phi, G @ v + drift))
        return position if position >= rate or position != position else rate  # NaN, if there is one

    def gaps(self, q: Vector) -> dict[str, Gap]:
        """The gaps of the joints that close loops."""
        facts = self.system.start_facts
        if not facts.cuts:
            return {}
        sizes = self._called["gaps"](self.t, q, self.p)[0].reshape(-1, 2).tolist()
        return {name: Gap(name, *size) for name, size in zip(facts.cuts, sizes, strict=True)}

    def move(self, q: Vector, delta: Vector) -> Vector:
        new = self._called["retract"](q, delta, self.t, self.p)[0].ravel()
        for start, length in self.system.facts.unit_blocks:
            new[start : start + length] /= np.linalg.norm(new[start : start + length])
        return new

    # -- closing ---------------------------------------------------------------------------------------

    @cached_property
    def _memory(self) -> Closing:
        memory = closing_of(self.system, self._called, self.t, self.p)
        memory.set(**self.weights)
        return memory

    def close(self, start: State, tolerance: float, own_start: bool) -> Closed | None:
        """Coordinates and velocities near `start` that satisfy all equations; None if no method closes the loops.

        From the `own_start` of the model, counted turns keep their number, and undetermined velocities get the
        least kinetic energy if the model asks for it.
        """
        facts, (Phi, _, drift) = self.system.start_facts, self.terms(start.q)
        fills = own_start and facts.fills
        if not drift.size and not fills:
            return Closed(
                start.q.copy(), start.v.copy(), True, np.zeros((start.v.size, 0)), METHODS[INSPECTION], 0
            )
        m, q0 = self._memory, start.q if np.all(np.isfinite(Phi)) else self.shaken(start.q, 1e-3)
        m.set(
            tolerance=tolerance,
            fills=int(fills),
            counts=np.array(facts.counts if own_start else (), np.int64),
        )
        m.q0[:], m.v[:] = q0, start.v
        code = close(m)
        if code != OPEN:
            return self._closed(code, METHODS[m.method], m.steps)
        total = m.steps
        for name, guess in (
            ("unfolding", self.nearest_to_closing),
            ("continuation", self._continuation),
            ("IPOPT", self._ipopt),
        ):
            found, iterations = guess(q0)
            total += iterations
            if found is not None:
                m.q[:] = found
                code = close_from(m)
                total += m.steps
                if code != OPEN:
                    return self._closed(code, name, total)
        return None

    def _closed(self, code: int, method: str, iterations: int) -> Closed:
        m = self._memory
        changing = np.flatnonzero(m.given_rates == 0)
        free = np.zeros((self.system.nv, m.count))
        free[changing] = m.N[: m.count, : changing.size].T
        return Closed(m.q.copy(), m.v.copy(), code == FOUND, free, method, iterations)

    def shaken(self, q: Vector, size: float) -> Vector:
        """q with a small reproducible change; held entries are unchanged."""
        delta = size * np.random.default_rng(1).uniform(0.3, 1.0, self.system.nv)
        return self.move(q, np.where(self.weights["kept"] == HELD, 0.0, delta))

    def _solved(
        self, q: Vector, tolerance: float, most: int, target: Vector | float = 0.0
    ) -> tuple[Vector | None, int]:
        """Newton's method with line search for Phi(q) = target, and its iterations."""
        m = self._memory
        m.q[:], m.target[:] = q, target
        m.set(tolerance=tolerance, most=most)
        found = m.q.copy() if solve_positions(m) == FOUND else None
        m.target[:] = 0.0
        return found, m.steps

    def nearest_to_closing(self, q: Vector) -> tuple[Vector, int]:
        """The point where the joints are closest to allowed poses: least squares of all gaps and equations by
        Levenberg and Marquardt's method."""
        if not np.all(np.isfinite(self._everything(q)[0])):
            q = self.shaken(q, 1e-3)
        scale = np.where(self.weights["kept"] == HELD, 0.0, self.weights["scale"])

        def at(q: Vector) -> Rows:
            return Rows(*self._everything(q), scale, RANK)

        search = Damping(start=1e-3, least=1e-15, factor=5.0, fall=1e-9)
        found = newton(FunctionProblem(at, self.move), q, search, 1e-9, most=200)
        return found.point, found.iterations

    def _everything(self, q: Vector) -> tuple[Vector, Vector]:
        """Gaps of the cut joints, then Phi; with derivatives."""
        Phi, G, _ = self.terms(q)
        if not self.system.start_facts.cuts:
            return Phi, G[: Phi.size]
        slopes = self.system.cached("gap slopes", lambda: gap_slopes(self.system))
        rows, J = slopes(self.t, q, self.p)
        return np.concatenate([rows, Phi]), np.vstack([J.reshape(rows.size, -1), G[: Phi.size]])

    def _continuation(self, q0: Vector) -> tuple[Vector | None, int]:
        """Follow Phi(q) = (1 - s) Phi(q0) from s = 0 to 1 with the largest steps that converge."""
        r0, total, tolerance = self.terms(q0)[0], 0, self._memory.tolerance

        def attempt(q: Vector, share: float) -> Vector | None:
            nonlocal total
            found, iterations = self._solved(q, tolerance, 12, (1 - share) * r0)
            total += iterations
            return found

        return follow(attempt, q0.copy(), shortest=1e-4), total

    def _ipopt(self, q0: Vector) -> tuple[Vector, int]:
        """Least squares of Phi by an interior point method, which can leave valleys where Newton's method stalls."""
        eq = self.system.equations
        q = ca.MX.sym("q", self.system.nq)
        Phi = eq.lookups.oracle("Phi", [eq.t, eq.q, eq.p], [eq.Phi])(self.t, q, self.p)
        units = [ca.sumsqr(q[start : start + length]) - 1 for start, length in eq.motion.unit_blocks]
        problem = {"x": q, "f": ca.sumsqr(Phi) + 1e-9 * ca.sumsqr(q - q0), "g": ca.vertcat(*units)}
        quiet = {"print_level": 0, "sb": "yes", "hessian_approximation": "limited-memory", "max_iter": 300}
        solver = ca.nlpsol("assemble", "ipopt", problem, {"print_time": False, "ipopt": quiet})
        fixed = {
            name for name, kept in zip(self._coordinate_of, self.weights["kept"], strict=True) if kept == HELD
        }
        held = [name in fixed for name in self.system.state_names[: self.system.nq]]
        low, high = np.where(held, q0, -np.inf), np.where(held, q0, np.inf)
        solution = solver(x0=q0, lbx=low, ubx=high, lbg=0, ubg=0)
        return np.array(solution["x"]).ravel(), 0

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
        found, _ = self._solved(self.shaken(q, 1e-2), tolerance, 20)
        return 0 if found is None else self.rank(found)[0]


def weights_of(
    system: System, hold: Sequence[str] = (), weights: Mapping[str, float] | None = None
) -> dict[str, NDArray[Any]]:
    """Fields of `Closing`: weights of the model, replaced by `weights`; coordinates and velocities in `hold` are
    held."""
    facts, weights = system.start_facts, weights or {}
    names = system.state_names[system.nq : system.nq + system.nv]
    known = [*system.state_names[: system.nq], *names]
    for name in (*hold, *weights):
        if name not in known:
            raise SolverError(f"assembly: unknown coordinate '{name}'; {suggest(name, known, 'coordinates')}")
    for name, value in weights.items():
        if not 0 < value < np.inf:
            raise SolverError(
                f"assembly: the weight of '{name}' must be positive (got {value:g}); "
                f"to hold this coordinate, pass hold=['{name}']"
            )

    def weighed(keys: Sequence[str], own: Sequence[float]) -> tuple[Vector, NDArray[np.int64]]:
        kept = [
            HELD if key in hold else STATED if w >= STATED_WEIGHT and key not in weights else FREE
            for key, w in zip(keys, own, strict=True)
        ]
        row = [weights.get(key, w) for key, w in zip(keys, own, strict=True)]
        return 1.0 / np.sqrt(np.array(row, float)), np.array(kept, np.int64)

    scale, kept = weighed(facts.coordinate_of, facts.weights)
    rate_scale, kept_rates = weighed(names, facts.rate_weights)
    given = [
        own or name in weights or name in hold for own, name in zip(facts.stated_rates, names, strict=True)
    ]
    fields = {"kept": kept, "kept_rates": kept_rates, "given_rates": np.array(given, np.int64)}
    return {"scale": scale, "rate_scale": rate_scale, **fields}
