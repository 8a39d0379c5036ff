"""The memory of a run for compiled loops: their inputs, their state, and the functions that they call.

Every loop is a procedure ``advance(run, budget, 0)`` that returns a code. It takes at most about `budget`
steps and leaves everything needed to continue in `run`. A run in several calls is therefore bit for bit the
same as a run in one call.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.structs import Integer, Integers, Matrix, Real, Struct, Vector, aligned
from sekant.solvers.common.checks import StepOptions
from sekant.solvers.common.events import Events, lay_out_events
from sekant.solvers.common.landing import Pace
from sekant.solvers.common.memory import Call, Failure, RunClock, RunCounts, RunPlan, ask, call_of
from sekant.solvers.common.modes import SiteModes, lay_out_modes
from sekant.solvers.common.sites import free_modes
from sekant.solvers.ode.problem import OdeProblem

STAGES = 17
CHANGED = 16  # the row of k for slopes in other modes


class Forecast(Struct):
    """Data on the guards (ns,) of sites for the prediction of their changes, see `dop853_modes`."""

    now: Vector  # at the start of the step
    rate: Vector
    before: Vector  # at the start of the last step
    rate_before: Vector
    at: Real  # their time
    span: Real  # and the time since the previous ones
    rough: Integers  # whether each break of tables had to be landed on; -1: not passed yet
    expected: Integers  # number of further breaks of a site for which that is expected


class AdaptiveStep(Struct):
    """State of the step control of dop853."""

    phase: Integer  # see `dop853`
    start: Real  # of the last one
    length: Real
    h: Real  # the next one
    kept: Real  # length to continue with after a shortened step
    usual: Real  # length before this run; 0: there was none
    after_rejection: Integer
    error: Real  # of the trial
    worst: Integer  # the state with the largest share
    theta: Real  # part of the trial at which a site changes
    aimed: Integer  # 1 if the step is to end on a break
    wanted: Integer  # 1 if the trial must prepare the dense output
    # 1 once the error of the dense output, not that of the end, has rejected a trial: from then on it affects
    # the step length.
    stiff: Integer
    dense: Matrix  # (7, n) interpolant of the step from `x_old` to `x`
    pace: Pace
    forecast: Forecast


class HeldValues(Struct):
    """Values in p that are sampled during the run."""

    call: Call  # computes them from state and p
    first: Integer  # their index in p
    fresh: Vector  # (nh,) new samples
    rows: Matrix  # (m, nh) at the outputs
    sampled: Integers  # (s,) 1 where a sample is taken at the start of a segment


class Projection(Struct):
    """A function of `stage`."""

    held: Call  # with held modes
    free: Call
    tolerance: Real
    projected: Vector
    residual: Vector


class EulerGroup(Struct):
    """A function that takes several Euler steps at once, from `x` to `stage`."""

    call: Call
    size: Integer  # number of steps; 0: there is no such function
    control: Vector  # (5,)


class Run(Struct):
    """The memory of a run with n states x. The problem must stay alive as well."""

    plan: RunPlan
    clock: RunClock
    counts: RunCounts
    failed: Failure
    step: AdaptiveStep
    modes: SiteModes
    watched: Events
    held: HeldValues
    # Functions of (t, state, p, T, M). Entry s of the results of rhs and rhs_x is row s of `k`.
    rhs: Call  # of `stage`
    rhs_x: Call  # of `x`
    guards: Call  # of `stage`, for the sites in `modes`
    kinematics: Call  # of `x`
    group: EulerGroup
    projection: Projection
    nq: Integer
    n_error: Integer  # leading states in the error norm; the others are quadratures with a separate norm
    blocks: Integers  # start, length and stride of unit blocks
    x: Vector
    x_old: Vector  # at the start of the last step
    rows: Matrix  # (m, n) outputs
    p: Vector
    stage: Vector
    k: Matrix  # (17, n) slopes
    qdot: Vector
    saved: Vector  # (n,) scratch


SET_BY_A_RUN = (
    "plan.t_eval",
    "plan.edges",
    "plan.low",
    "plan.high",
    "plan.atol",
    "rows",
    "held.rows",
    "held.sampled",
)
"""Arrays that every run provides."""
UNCHANGED = ("rhs", "rhs_x", "guards", "kinematics", "group", "projection", "blocks", "modes.sites")
"""Structs and arrays that no run changes."""
NOT_RESTORED = ("x", "x_old", "p", *UNCHANGED, *SET_BY_A_RUN)
"""Parts that need not be restored before a run."""


def lay_out(problem: OdeProblem, x0: NDArray[np.float64], options: StepOptions) -> Run:
    """Allocate the memory of a run at its start, with the first output written."""
    run = functions_laid_out(problem, x0.size)
    begin(run, problem, x0, options)
    return run


def begin(run: Run, problem: OdeProblem, x0: NDArray[np.float64], options: StepOptions) -> None:
    """Set unchanged memory to the start of a run."""
    set_state(run, problem, x0, options)
    _set_options(run, options)
    _add_samples(run, problem, options)


def set_state(run: Run, problem: OdeProblem, x0: NDArray[np.float64], options: StepOptions) -> None:
    rows = np.empty((options.times.size, x0.size))
    rows[0] = x0
    run.x[:] = x0
    run.x_old[:] = x0
    run.p[:] = problem.p
    run.rows = rows


def _set_options(run: Run, options: StepOptions) -> None:
    ask(run.plan, run.clock, options)
    start = run.clock.t
    run.step.set(h=options.first_step, usual=options.usual_step, start=start)
    run.step.pace.start = run.step.forecast.at = start


def functions_laid_out(problem: OdeProblem, n: int) -> Run:
    """The memory shared by all runs of this problem. Without kinematics, the leading entries of the
    right-hand side are used."""
    seen, x, stage, k, qdot = np.zeros(1), aligned(n), aligned(n), aligned(STAGES, n), aligned(n)
    rhs, projection, switching, sampling = (
        problem.rhs,
        problem.projection,
        problem.switching,
        problem.sampling,
    )
    guards = None if switching is None else switching.guards
    sample = None if sampling is None else sampling.function
    modes = lay_out_modes(switching, rhs.sites, () if projection is None else projection.sites)
    others = (problem.kinematics or rhs, problem.euler_group, problem.events, sample, projection)
    given = [function for function in (rhs, *others, guards) if function is not None]
    free = free_modes(max((function.sites for function in given), key=len))
    work = aligned(max(1, *[function.work_size for function in given]))
    p, tables = aligned(problem.p.size), problem.tables
    at_stage, at_x = (seen, stage, p, tables), (seen, x, p, tables)
    events, control = lay_out_events(problem.directions), np.zeros(5)
    events.call = call_of(problem.events, (*at_stage, free), [events.watch.value], work)
    fresh, projected, residual = (
        np.zeros(0 if sampling is None else sampling.count),
        aligned(n),
        np.zeros(problem.lanes),
    )
    projection_of = [
        call_of(projection, (*at_stage, held), [projected, residual], work)
        for held in (modes.other_value, free)
    ]
    group_size = problem.group_size if problem.events is None else 0
    return Run(
        plan=RunPlan(),
        clock=RunClock(row=1, seen=seen),
        counts=RunCounts(),
        failed=Failure(component=-1, t=np.nan),
        step=AdaptiveStep(dense=np.zeros((7, n)), pace=Pace(), forecast=_forecast(modes)),
        modes=modes,
        watched=events,
        held=HeldValues(
            call=call_of(sample, (*at_x, free), [fresh], work),
            first=0 if sampling is None else sampling.first,
            fresh=fresh,
        ),
        rhs=call_of(rhs, (*at_stage, modes.value), [*k], work),
        rhs_x=call_of(rhs, (*at_x, modes.value), [*k], work),
        guards=call_of(guards, (*at_stage, modes.value), [modes.watch.value], work),
        kinematics=call_of(problem.kinematics or rhs, (*at_x, free), [qdot], work),
        group=EulerGroup(
            call=call_of(problem.euler_group, (control, x, p, tables, free), [stage], work),
            size=group_size,
            control=control,
        ),
        projection=Projection(
            held=projection_of[0],
            free=projection_of[1],
            tolerance=problem.projection_tolerance,
            projected=projected,
            residual=residual,
        ),
        nq=problem.nq,
        n_error=problem.nq + problem.nv or n,
        blocks=problem.unit_blocks.ravel().copy(),
        x=x,
        x_old=aligned(n),
        p=p,
        stage=stage,
        k=k,
        qdot=qdot,
        saved=np.zeros(n),
    )


def _forecast(modes: SiteModes) -> Forecast:
    ns = modes.sites.kind.size
    return Forecast(
        rough=np.full(max(1, modes.sites.breaks.size), -1, dtype=np.int64),
        expected=np.zeros(ns, dtype=np.int64),
        **{name: np.zeros(ns) for name in ("now", "rate", "before", "rate_before")},
    )


def _add_samples(run: Run, problem: OdeProblem, options: StepOptions) -> None:
    """Set the edges at which samples are taken, and memory for the held values of outputs."""
    sampling, count = problem.sampling, options.edges.size - 1
    sampled = np.zeros(count, dtype=np.int64)
    if sampling is not None:
        nearest = np.searchsorted(options.edges, sampling.times - options.snap)
        near = np.abs(options.edges[nearest.clip(max=count)] - sampling.times) <= options.snap
        sampled[nearest[near & (nearest < count)]] = 1
    held = run.held
    held.set(sampled=sampled, rows=np.zeros((options.times.size, held.fresh.size)))
    held.rows[0] = run.p[held.first : held.first + held.fresh.size]
