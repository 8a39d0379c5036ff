"""Memory of finished runs, for the next runs of the same functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.solvers.common.checks import StepOptions
from sekant.solvers.ode.memory import NOT_RESTORED, Run, begin, functions_laid_out, set_state
from sekant.solvers.ode.problem import OdeProblem

Snapshot = list[tuple[NDArray[Any], NDArray[Any]]]


@dataclass(eq=False)
class PooledRun:
    """A run, a copy of its initial memory and, for `options` that may be used again, of its memory at the start."""

    run: Run
    functions: tuple[Any, ...]
    """The functions for which the memory was allocated."""
    fresh: Snapshot
    options: StepOptions | None = None
    started: Snapshot = field(default_factory=list)


class RunPool:
    """Memory for runs of problems that differ in their parameters p only, as `OdeProblem.at` makes them.

    Threads may share a pool: memory belongs to one run until it is returned.
    """

    def __init__(self) -> None:
        self._free: list[PooledRun] = []
        self._last: tuple[Any, Any, StepOptions] | None = None  # times, numbers, and the resulting options

    def options(self, times: Any, numbers: Any, check: Callable[[], StepOptions]) -> StepOptions:
        """The result of `check`; the same object as for the last run if that had the same times and numbers."""
        last = self._last
        if last is not None and last[0] is times and last[1] == numbers:
            return last[2]
        options = check()
        self._last = times, numbers, options
        return options

    def take(self, problem: OdeProblem, x0: NDArray[np.float64], options: StepOptions) -> PooledRun:
        """Take memory at the start of a run, with the first output written."""
        functions = _functions(problem)
        try:
            memory = self._free.pop()
        except IndexError:
            memory = None
        if memory is None or any(a is not b for a, b in zip(memory.functions, functions, strict=True)):
            run = functions_laid_out(problem, x0.size)
            memory = PooledRun(run, functions, run.snapshot(*NOT_RESTORED))
        run = memory.run
        if memory.options is options:
            run.restore(memory.started)
            set_state(run, problem, x0, options)
            return memory
        run.restore(memory.fresh)
        begin(run, problem, x0, options)
        last = self._last
        if last is not None and last[2] is options:  # the next run may have the same options options
            memory.options, memory.started = options, run.snapshot(*NOT_RESTORED)
        else:
            memory.options, memory.started = None, []
        return memory

    def put_back(self, memory: PooledRun) -> None:
        """Return the memory of a finished run, of which only the rows are still in use."""
        self._free.append(memory)


def _functions(problem: OdeProblem) -> tuple[Any, ...]:
    """Everything in a problem that determines the memory."""
    return (
        *(problem.rhs, problem.kinematics, problem.euler_group, problem.projection),
        *(problem.switching, problem.events, problem.sampling),
    )
