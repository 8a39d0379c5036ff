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
    """A run, how its memory was before any run, and, for `options` that may come again, how it was at the start."""

    run: Run
    functions: tuple[Any, ...]
    """Those that the memory is laid out for."""
    fresh: Snapshot
    options: StepOptions | None = None
    started: Snapshot = field(default_factory=list)


class RunPool:
    """Memory for runs of problems that differ in their parameters p only, as `OdeProblem.at` makes them.

    Threads may share a pool: memory belongs to one run until it is put back.
    """

    def __init__(self) -> None:
        self._free: list[PooledRun] = []
        self._last: tuple[Any, Any, StepOptions] | None = (
            None  # times, numbers, and the options that they gave
        )

    def options(self, times: Any, numbers: Any, check: Callable[[], StepOptions]) -> StepOptions:
        """What `check` returns; the very same object as for the last run if that had the same times and numbers."""
        last = self._last
        if last is not None and last[0] is times and last[1] == numbers:
            return last[2]
        options = check()
        self._last = times, numbers, options
        return options

    def take(self, problem: OdeProblem, x0: NDArray[np.float64], options: StepOptions) -> PooledRun:
        """Memory that stands at the start of a run, with the first output written."""
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
        if last is not None and last[2] is options:  # the next run may have the same
            memory.options, memory.started = options, run.snapshot(*NOT_RESTORED)
        else:
            memory.options, memory.started = None, []
        return memory

    def put_back(self, memory: PooledRun) -> None:
        """Memory of a finished run, of which only its rows are still in use."""
        self._free.append(memory)


def _functions(problem: OdeProblem) -> tuple[Any, ...]:
    """All of a problem by which memory is laid out."""
    return (
        *(problem.rhs, problem.kinematics, problem.euler_group, problem.projection),
        *(problem.switching, problem.events, problem.sampling),
    )
