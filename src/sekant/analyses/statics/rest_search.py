"""The search for an equilibrium: Newton's method, descent, load stepping and relaxation, in this order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.statics.rest_equations import Rest, Statics
from sekant.engine.reports import explain_failure
from sekant.errors import SolverError, suggest
from sekant.solvers.newton import FullSteps, follow, newton

Array = NDArray[np.float64]
POSITION = 1e-11  # m, rad: largest violation of a constraint at rest


@dataclass(frozen=True, eq=False)
class FoundRest:
    """The end of a search: the position, the method and the number of iterations."""

    rest: Rest
    method: str
    iterations: int


def settle(statics: Statics, start: Rest, tolerance: float, stable: bool, method: str | None) -> FoundRest:
    """An equilibrium from `start`, by the first method that succeeds, or only by `method`."""
    search = _RestSearch(statics, tolerance)
    attempts: dict[str, Callable[[Rest], Rest | None]] = {
        "newton": search.near,
        "descent": search.descent,
        "load stepping": search.load_stepping,
        "relaxation": search.relaxation,
    }
    if method is not None:
        if method not in attempts:
            hint = suggest(method, list(attempts), "methods")
            raise SolverError(f"equilibrium: unknown method '{method}'; {hint}")
        attempts = {method: attempts[method]}
    elif stable:
        del attempts["newton"]
    if not np.all(np.isfinite(start.numbers.R)) or not np.all(np.isfinite(start.numbers.K)):
        raise SolverError(_not_finite(statics, start))
    for name, attempt in attempts.items():
        found = attempt(start)
        if found is not None and stable:
            found = search.downhill(found)
        if found is not None:
            return FoundRest(search.polished(found), name, search.iterations)
    raise SolverError(_failure(statics, search, tuple(attempts), stable))


class _Step:
    """A Newton step at a trial position: a displacement, and its active rows."""

    def __init__(self, statics: Statics, rest: Rest, offset: Array | float):
        self._statics, self._rest, self._offset = statics, rest, offset
        self.residual = rest.numbers.R

    @cached_property
    def solution(self) -> tuple[Array, NDArray[np.bool_]]:
        return self._statics.step(self._rest, "exact", self._offset)

    def step(self, damping: float = 0.0) -> Array:
        return self.solution[0]


class _Balance:
    """The equations R = offset as a problem for Newton's method."""

    def __init__(self, statics: Statics, offset: Array | float):
        self._statics, self._offset = statics, offset
        self._here: tuple[Rest, _Step] | None = None

    def at(self, rest: Rest) -> _Step:
        if self._here is None or self._here[0] is not rest:
            self._here = (rest, _Step(self._statics, rest, self._offset))
        return self._here[1]

    def moved(self, rest: Rest, step: Array) -> Rest | None:
        return self._statics.followed(rest, step, self.at(rest).solution[1])


class _RestSearch:
    def __init__(self, statics: Statics, tolerance: float):
        self.statics, self.tolerance = statics, tolerance
        self.iterations = 0
        self.best: Rest | None = None
        self._least = np.inf
        self.saddle = False

    def _done(self, rest: Rest, offset: Array | float = 0.0) -> bool:
        """Whether forces balance, constraints are satisfied, no contact penetrates and closed contacts push."""
        unbalanced = rest.space.Z.T @ (rest.numbers.R - offset)
        size = float(np.max(np.abs(unbalanced), initial=0.0)) / max(self.statics.force_scale(rest), 1e-300)
        if np.isscalar(offset) and size < self._least:
            self.best, self._least = rest, size
        one_sided = self.statics.unilateral
        closed = np.all(rest.numbers.Phi[one_sided] >= -1e-9)
        largest = 1.0 + np.max(np.abs(rest.lam), initial=0.0)
        pressing = np.all(rest.lam[one_sided & rest.active] <= 1e-8 * largest)
        return bool(size <= self.tolerance and rest.violation <= POSITION and closed and pressing)

    # -- Newton ----------------------------------------------------------------------------------------

    def near(self, rest: Rest) -> Rest | None:
        """The equilibrium nearby; None if there is none. An unstable equilibrium must be very near to be accepted."""
        mu, _ = self.statics.curvatures(rest)
        uphill = bool(mu.size) and mu[0].real < 0
        return self.newton(rest, contraction=0.1 if uphill else 0.5)

    def newton(
        self, rest: Rest, offset: Array | float = 0.0, most: int = 30, contraction: float = 0.5
    ) -> Rest | None:
        """Newton's method with full steps, each of which must be shorter than the last one by the factor
        `contraction`; otherwise None."""
        search = FullSteps(contraction=contraction, floor=1e-9)
        problem = _Balance(self.statics, offset)
        found = newton(problem, rest, search, lambda here, _: self._done(here, offset), most=most)
        self.iterations += found.iterations
        return found.point if found.converged else None

    def polished(self, rest: Rest) -> Rest:
        """`rest` after a few more steps, as long as the residual decreases."""
        for _ in range(3):
            s, active = self.statics.step(rest, "exact")
            if np.max(np.abs(s), initial=0.0) > 1e-6 or not np.array_equal(active, rest.active):
                break
            trial = self.statics.moved(rest, s, active)
            if not self._size(trial) < 0.5 * self._size(rest):
                break
            rest = trial
        return rest

    def _size(self, rest: Rest) -> float:
        scale = max(self.statics.force_scale(rest), 1e-300)
        return float(np.max(np.abs(rest.unbalanced), initial=0.0)) / scale + rest.violation

    # -- downhill --------------------------------------------------------------------------------------

    def descent(self, rest: Rest, most: int = 300) -> Rest | None:
        """Newton's method with positive curvature; the step is halved until it does not pass the minimum."""
        statics, radius = self.statics, 0.3
        for _ in range(most):
            if self._done(rest):
                return rest
            self.iterations += 1
            s, active = statics.step(rest, "positive", radius=radius)
            work = abs(float(s @ rest.numbers.R))
            length = 1.0
            trial = rest
            while length > 1e-5:
                ahead = statics.followed(rest, length * s, active)
                after = np.inf if ahead is None else float(s @ ahead.numbers.R)
                if ahead is not None and after <= 0.9 * work:
                    trial = ahead
                    break
                length *= 0.5
            else:
                return None
            size = length * float(np.max(np.abs(s), initial=0.0))
            radius = max(size, 1e-6) if length < 1.0 else max(radius, min(2.0 * size, 1e6))
            rest = trial
        return None

    def downhill(self, rest: Rest) -> Rest | None:
        """A stable equilibrium, reached from the unstable one `rest`; None without success."""
        for _ in range(5):
            mu, motions = self.statics.curvatures(rest)
            if not mu.size or mu[0].real >= -1e-9 * np.max(np.abs(mu)):
                return rest
            self.saddle = True
            push = np.real(motions[:, 0])
            trial = self.statics.moved(rest, 0.05 * push / np.max(np.abs(push)), rest.active)
            found = self.descent(self.statics.restored(trial))
            if found is None:
                return None
            rest = found
        return None

    # -- slower and more robust ------------------------------------------------------------------------------

    def load_stepping(self, rest: Rest) -> Rest | None:
        """Load stepping: the unbalanced forces at the start are balanced artificially, and this balance is removed
        step by step."""
        held_back = rest.numbers.R.copy()
        found = follow(lambda here, share: self.newton(here, (1.0 - share) * held_back, most=8), rest)
        return None if found is None else self.newton(found)

    def relaxation(self, rest: Rest, most: int = 2000) -> Rest | None:
        """Relaxation: implicit steps of M s/delta + R = 0, with pseudo-time steps that grow as the residual falls."""
        statics, delta = self.statics, 1e-2
        size, unchanged = self._size(rest), 0
        for _ in range(most):
            if self._done(rest):
                return rest
            if unchanged > 50:
                return None
            self.iterations += 1
            s, active = statics.step(rest, "positive", radius=1.0, delta=delta)
            trial = statics.followed(rest, s, active)
            after = np.inf if trial is None else self._size(trial)
            if trial is None or not np.isfinite(after):
                delta *= 0.1
                if delta < 1e-12:
                    return None
                continue
            unchanged = unchanged + 1 if abs(size - after) <= 1e-9 * size else 0
            delta *= float(np.clip(size / max(after, 1e-300), 0.3, 2.0))
            rest, size = trial, after
        return None


def _not_finite(statics: Statics, rest: Rest) -> str:
    x = np.concatenate([rest.q, np.zeros(statics.system.nv)])
    reason = explain_failure(statics.system, statics.t, x) or "start elsewhere"
    return f"equilibrium: the forces at the guess are not finite; {reason}"


def _failure(statics: Statics, search: _RestSearch, methods: tuple[str, ...], stable: bool) -> str:
    rest = search.best
    tried = ", ".join(methods)
    head = f"model '{statics.system.model.name}': no equilibrium found by {tried} in {search.iterations} iterations"
    if rest is None:
        return f"{head}; give a guess closer to an equilibrium"
    name, force, floppy = statics.worst(rest)
    where = ", ".join(
        f"{key} = {value:.4g}" for key, value in zip(statics.system.state_names, rest.q, strict=False)
    )
    best = f"the best position leaves {force:.4g} N (or N m) unbalanced along '{name}' (at {where})"
    if floppy:
        advice = f"nothing resists '{name}' there: add a spring or a stop, or use hold=['{name}']"
    elif stable and search.saddle:
        advice = "only unstable equilibria were found; to accept one, pass stable=False"
    else:
        advice = "give a guess closer to an equilibrium, or hold a coordinate"
    return f"{head}; {best}; {advice}"
