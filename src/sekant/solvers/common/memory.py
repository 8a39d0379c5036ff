"""Parts of the memory of a run that all integrators have: the request, the current point, counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.calls import call_native
from sekant.loops.declare.procedures import inner
from sekant.loops.declare.structs import (
    FunctionAddress,
    Integer,
    Pointers,
    Real,
    Struct,
    Vector,
    pointers,
)
from sekant.solvers.common.checks import StepOptions
from sekant.solvers.common.sites import Site, free_modes

LARGEST_STATE = 1e100  # a state beyond this has blown up: its square still has a finite representation


class RunPlan(Struct):
    """The request."""

    t_eval: Vector  # (m,) output times
    # (s + 1,) start, stops, end; segment i lies between edges i, i + 1. low, high (s,): first and last number
    # strictly inside each segment: functions receive no time outside, so each is evaluated only on one side
    # of a jump.
    edges: Vector
    low: Vector
    high: Vector
    snap: Real  # times closer than this are one time
    rtol: Real
    atol: Vector  # (n,)
    step: Real  # of fixed steps
    max_step: Real
    max_steps: Integer


class RunClock(Struct):
    """The current position of a run."""

    t: Real
    row: Integer  # the next output
    segment: Integer
    started: Integer  # 1 once the first segment has been entered
    earliest: Real  # earliest time that functions receive in this segment
    latest: Real
    seen: Vector  # (1,) the time that functions receive
    span_start: Real  # the last landing of fixed steps
    span_step: Integer  # steps since then


class RunCounts(Struct):
    steps: Integer
    rejected: Integer
    evaluations: Integer
    restarts: Integer
    landings: Integer  # changes of modes


class Failure(Struct):
    component: Integer  # the state or constraint that caused a failure; -1: none
    t: Real


class Call(Struct):
    """A compiled function with tables of its arguments and results. The address is 0 where there is none."""

    function: FunctionAddress
    arg: Pointers
    res: Pointers
    work: Vector


def call_of(
    function: CompiledFunction | None,
    arguments: Sequence[NDArray[np.float64]],
    results: Sequence[NDArray[np.float64]],
    work: NDArray[np.float64],
) -> Call:
    address = 0 if function is None else function.address
    return Call(function=address, arg=pointers(*arguments), res=pointers(*results), work=work)


def call_at(
    function: CompiledFunction | None,
    point: Sequence[NDArray[np.float64]],
    results: Sequence[NDArray[np.float64]],
) -> Call:
    """Bind a function of a point (t, q, v, z, p) with free sites."""
    if function is None:
        return call_of(None, (), (), np.zeros(1))
    arguments = (*point, function.tables, free_modes(function.sites))
    return call_of(function, arguments, results, np.zeros(max(1, function.work_size)))


def new_point(sizes: Sequence[int]) -> list[NDArray[np.float64]]:
    """Memory for t, q, v, z, p; `sizes`: of q, v, z, p."""
    return [np.zeros(max(1, size)) for size in (1, *sizes)]


def ask(plan: RunPlan, clock: RunClock, options: StepOptions) -> None:
    """Set the request, and the start of the run."""
    edges, start = options.edges, float(options.times[0])
    low, high = np.nextafter(edges[:-1], np.inf), np.nextafter(edges[1:], -np.inf)
    plan.set(
        t_eval=options.times,
        edges=edges,
        low=low,
        high=high,
        snap=options.snap,
        rtol=options.rtol,
        atol=options.atol,
        step=options.step,
        max_step=options.max_step,
        max_steps=options.max_steps,
    )
    clock.set(t=start, span_start=start, earliest=float(low[0]), latest=float(high[0]))


@inner
def call(function):
    call_native(function.function, function.arg, function.res, function.work)


@inner
def set_time(clock, t):
    """Set the time that functions receive: t, or the nearest number inside the segment."""
    clock.seen[0] = min(max(t, clock.earliest), clock.latest)


@inner
def open_segment(clock, plan, number):
    """Continue in this segment."""
    clock.segment, clock.started = number, 1
    clock.earliest, clock.latest = plan.low[number], plan.high[number]


class CompiledFunction(Protocol):
    """``void f(const double *const *arg, double *const *res, double *w)``."""

    @property
    def address(self) -> int: ...

    @property
    def work_size(self) -> int: ...

    @property
    def tables(self) -> Any:
        """The buffer T of the tables with which it was built."""
        ...

    @property
    def sites(self) -> Sequence[Site]:
        """The switches of the function, see `sekant.solvers.common.sites`."""
        ...
