"""Newton's method for residual(x) = 0, with as many equations as unknowns, or with more that agree at the
solution.

A `Problem` defines its points and how a step changes one, so unknowns may be states, states with multipliers,
or poses; at a point it returns a `Linear`: the residual there and the step of the linearized problem. A
search (`sekant.solvers.newton.searches`) controls the steps. `follow` is a continuation
from a solved problem to the requested one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
P = TypeVar("P")
L = TypeVar("L", bound="Linear")
L_co = TypeVar("L_co", bound="Linear", covariant=True)


class Linear(Protocol):
    """A problem linearized at a point."""

    @property
    def residual(self) -> Vector:
        """(m,)"""
        ...

    def step(self, damping: float = 0.0) -> Vector:
        """(n,): the shortest step that reduces the linearized residual most; `damping`: that of Levenberg and
        Marquardt."""
        ...


class Problem(Protocol[P, L_co]):
    """A problem to solve."""

    def at(self, point: P, /) -> L_co:
        """The problem linearized there."""
        ...

    def moved(self, point: P, step: Vector, /) -> P | None:
        """The point after a step; None if it does not exist."""
        ...


@dataclass(frozen=True, eq=False)
class FunctionProblem(Generic[P, L]):
    """A problem given by two functions; see `Problem`."""

    at: Callable[[P], L]
    moved: Callable[[P, Vector], P | None]


class Reason(Enum):
    """Why an iteration ended; the value is a text for readers."""

    CONVERGED = "converged"
    STALLED = "no step reduces the residual"
    DIVERGED = "the steps do not converge"
    NOT_FINITE = "the residual is not finite"
    TOO_MANY = "too many steps"


@dataclass(frozen=True, eq=False)
class Found(Generic[P, L]):
    """Result of an iteration. `error`: largest entry of the residual. `sizes`: largest entry of each step taken."""

    point: P
    linear: L
    reason: Reason
    sizes: tuple[float, ...]

    @property
    def converged(self) -> bool:
        return self.reason is Reason.CONVERGED

    @property
    def iterations(self) -> int:
        return len(self.sizes)

    @property
    def error(self) -> float:
        return largest(self.linear.residual)


class Search(Protocol):
    """Controls the steps; `memory` is passed from one step to the next."""

    def first(self) -> float: ...

    def advance(self, problem: Any, point: Any, linear: Any, memory: float) -> Advance | Reason: ...


@dataclass(frozen=True, eq=False)
class Advance:
    """A step, and the point after it."""

    point: Any
    linear: Any
    size: float
    memory: float


def newton(
    problem: Problem[P, L],
    start: P,
    search: Search,
    tolerance: float | Callable[[P, L], bool],
    *,
    most: int = 60,
    smallest_step: float | None = None,
    further: int = 0,
) -> Found[P, L]:
    """Newton's method from `start`.

    It has converged if no entry of the residual exceeds `tolerance` (or if `tolerance`, a function, returns
    true), or after a step without entries above `smallest_step`. Then up to `further` more steps are taken:
    near a double root, the error is the square root of the residual.
    """
    done = tolerance if callable(tolerance) else lambda _, linear: largest(linear.residual) <= tolerance
    point, linear, memory = start, problem.at(start), search.first()
    sizes: list[float] = []
    settled = False
    while True:
        if not np.all(np.isfinite(linear.residual)):
            return Found(point, linear, Reason.NOT_FINITE, tuple(sizes))
        settled = settled or done(point, linear)
        if settled:
            further -= 1
        if (settled and further < 0) or len(sizes) >= most:
            break
        ahead = search.advance(problem, point, linear, memory)
        if isinstance(ahead, Reason):
            return Found(point, linear, Reason.CONVERGED if settled else ahead, tuple(sizes))
        point, linear, memory = ahead.point, ahead.linear, ahead.memory
        sizes.append(ahead.size)
        if smallest_step is not None and ahead.size <= smallest_step:
            settled = bool(np.all(np.isfinite(linear.residual)))
    return Found(point, linear, Reason.CONVERGED if settled else Reason.TOO_MANY, tuple(sizes))


def largest(entries: Vector) -> float:
    """The largest magnitude of the entries; 0 for an empty array."""
    return float(np.max(np.abs(entries), initial=0.0))


P = TypeVar("P")


def follow(
    attempt: Callable[[P, float], P | None],
    start: P,
    *,
    first: float = 0.1,
    shortest: float = 1e-3,
    growth: float = 2.0,
    cut: float = 0.5,
) -> P | None:
    """The point at share 1 from `start` at share 0; None if steps become shorter than `shortest`.

    `attempt(point, share)`: the solution at a share from one nearby, or None. After a successful step, the
    next one is larger by `growth`; after a failure, it is smaller by `cut`.
    """
    point, share, size = start, 0.0, first
    while share < 1.0:
        goal = min(1.0, share + size)
        found = attempt(point, goal)
        if found is not None:
            point, share, size = found, goal, growth * size
            continue
        size = cut * min(size, goal - share)
        if size < shortest:
            return None
    return point
