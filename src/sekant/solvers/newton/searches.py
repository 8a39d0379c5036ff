"""How much of a Newton step is taken: all of it, the part that a search along it allows, or a damped one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sekant.solvers.newton.newton import Advance, Reason, largest

FALL = 1e-4
"""Share of the fall that a linear residual would have, which a step must reach."""


@dataclass(frozen=True)
class FullSteps:
    """Whole steps, and only while they shrink as near a solution.

    `contraction`: the largest ratio of a step to the one before it, unless it is below `floor`; `longest`: entry of
    a step, and `travel`: of the sum of all, beyond which the solution is not near. `judged`: how many entries of a
    step count, the first ones (coordinates, not the multipliers behind them); None: all.
    """

    contraction: float = np.inf
    floor: float = 0.0
    longest: float = np.inf
    travel: float = np.inf
    judged: int | None = None

    def first(self) -> float:
        return 0.0

    def advance(self, problem: Any, point: Any, linear: Any, memory: float) -> Advance | Reason:
        """`memory`: how far the steps before have gone."""
        step = linear.step()
        size = largest(step[: self.judged])
        if not size <= self.longest or memory + size > self.travel:
            return Reason.DIVERGED
        ahead = problem.moved(point, step)
        if ahead is None:
            return Reason.DIVERGED
        there = problem.at(ahead)
        if np.isfinite(self.contraction) and np.all(np.isfinite(there.residual)):
            left = largest(there.step()[: self.judged])
            if left > self.contraction * size and left > self.floor:
                return Reason.DIVERGED
        return Advance(ahead, there, size, memory + size)


@dataclass(frozen=True)
class LineSearch:
    """The step is halved until the residual falls; `shortest`: share of a step below which it is given up."""

    shortest: float = 1e-6

    def first(self) -> float:
        return 0.0

    def advance(self, problem: Any, point: Any, linear: Any, memory: float) -> Advance | Reason:
        step, before, share = linear.step(), np.linalg.norm(linear.residual), 1.0
        while share > self.shortest:
            ahead = problem.moved(point, share * step)
            if ahead is not None:
                there = problem.at(ahead)
                if np.linalg.norm(there.residual) < (1 - FALL * share) * before:  # not so where it is NaN
                    return Advance(ahead, there, share * largest(step), memory)
            share *= 0.5
        return Reason.STALLED


@dataclass(frozen=True)
class Damping:
    """Levenberg and Marquardt's damping, raised until the residual falls by the share `fall`.

    `start`: the first damping, `least`: the smallest above zero; `factor`: by which it is raised and lowered.
    """

    start: float = 0.0
    least: float = 1e-8
    factor: float = 10.0
    fall: float = FALL
    greatest: float = 1e9

    def first(self) -> float:
        return self.start

    def advance(self, problem: Any, point: Any, linear: Any, memory: float) -> Advance | Reason:
        """`memory`: the damping of the step before, lowered."""
        damping, before = memory, np.linalg.norm(linear.residual)
        while damping < self.greatest:
            step = linear.step(damping)
            ahead = problem.moved(point, step)
            if ahead is not None:
                there = problem.at(ahead)
                if np.linalg.norm(there.residual) < (1 - self.fall) * before:
                    lower = damping / self.factor
                    return Advance(ahead, there, largest(step), lower if lower > self.least else 0.0)
            damping = max(self.factor * damping, self.least)
        return Reason.STALLED
