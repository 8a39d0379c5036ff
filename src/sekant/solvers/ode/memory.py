"""The memory of a run, laid out for compiled loops: what they read, what they go on from, whom they call.

Every loop is a procedure ``advance(run, budget, 0)`` that returns a code. It takes at most about `budget` steps and
leaves in `run` everything needed to go on, so that a run cut into pieces is bit for bit the run in one piece.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.structs import (
    FunctionAddress,
    Integer,
    Integers,
    Matrix,
    Pointers,
    Real,
    Struct,
    Vector,
    aligned,
    pointers,
)
from sekant.solvers.common.checks import StepOptions
from sekant.solvers.common.landing import Pace
from sekant.solvers.common.modes import SiteModes, lay_out_modes
from sekant.solvers.common.sites import free_modes
from sekant.solvers.ode.events import Events, lay_out_events
from sekant.solvers.ode.problem import OdeProblem

LARGEST_STATE = 1e100  # a state beyond this has blown up: its square still has a finite representation
STAGES = 17
CHANGED = 16  # the row of k for slopes in other modes


class Forecast(Struct):
    """What is known of the guards (ns,) of sites for the prediction of their changes, see `dop853_modes`."""

    now: Vector  # at the start of the step
    rate: Vector
    before: Vector  # at that of the last one
    rate_before: Vector
    at: Real  # when they were taken
    span: Real  # and how long after the last ones
    rough: Integers  # whether each break of tables had to be landed on; -1: not passed yet
    expected: Integers  # for how many more breaks of a site that is expected


class Run(Struct):
    """A run of n states. The problem must be kept as well."""

    # Lengths: n_error leading states in the error norm; the others are quadratures with a norm of their own.
    nq: Integer
    n_error: Integer
    group_size: Integer  # Euler steps that `euler_group` takes at once; 0: there is no such function
    # Addresses of the compiled functions; 0: there is none.
    rhs: FunctionAddress
    kinematics: FunctionAddress
    euler_group: FunctionAddress
    projection: FunctionAddress
    guards: FunctionAddress  # of the sites in `modes`
    events: FunctionAddress
    sampling: FunctionAddress
    # What was asked for. t_eval (m,): output times. edges (s + 1,): start, stops, end; segment i lies between edges
    # i, i + 1. low, high (s,): first and last number strictly inside each segment: the right-hand side sees no time
    # outside them, so it is evaluated on one side of a jump only. snap: times closer than this are one time.
    max_steps: Integer
    rtol: Real
    snap: Real
    step: Real
    max_step: Real
    projection_tolerance: Real
    t_eval: Vector
    edges: Vector
    low: Vector
    high: Vector
    atol: Vector
    blocks: Integers  # pairs of start and length of unit blocks
    sampled: Integers  # (s,) 1 where a sample is taken at the start of a segment
    # Where the run is. started: 1 once the first segment has been entered. which: the event that has happened, or -1.
    # span_step: steps since `span_start`, the last landing of fixed steps.
    row: Integer
    segment: Integer
    started: Integer
    which: Integer
    span_step: Integer
    t: Real
    span_start: Real
    earliest: Real  # of the times that the right-hand side may see in this segment
    latest: Real
    x: Vector
    x_old: Vector  # at the start of the last step
    rows: Matrix  # (m, n) outputs
    # What has been counted, and what failed: component: a state.
    steps: Integer
    rejected: Integer
    evaluations: Integer
    restarts: Integer
    landings: Integer
    component: Integer
    t_failed: Real
    # Steps of dop853. step_start, step_length: of the last one. h: the next one, h_kept: the one to go on with after
    # one that was shortened to land, h_usual: that of the motion before this run (0: there was none). error: of the
    # trial, worst: the state that has most of it. wanted: 1 if a trial is to prepare the dense output. stiff: 1 once
    # its error, and not that of the end, has turned a trial down: from then on it has a say in the length of steps.
    # theta: part of a trial at which a site changes; aimed: 1 if it is to end on a break.
    phase: Integer
    after_rejection: Integer
    worst: Integer
    wanted: Integer
    stiff: Integer
    aimed: Integer
    h: Real
    h_kept: Real
    h_usual: Real
    step_start: Real
    step_length: Real
    error: Real
    theta: Real
    pace: Pace
    forecast: Forecast
    dense: Matrix  # (7, n) interpolant of the step from `x_old` to `x`
    watched: Events
    # Held values (nh,): in p from `held_first` on, as a sample makes them, and at the outputs.
    held_first: Integer
    held_fresh: Vector
    held_rows: Matrix  # (m, nh)
    p: Vector
    # Arguments and results of the functions, by address. arg_x, arg_stage (t, state, p, T, M): the state is `x` or
    # `stage`; arg_projection, arg_events (`stage`), arg_kinematics, arg_group, arg_sampling (`x`): with the modes of
    # those functions, arg_output (`stage`): of a projection with free ones. res: one-entry result tables in a row, of
    # which the one from entry s on writes to row s of `k`.
    arg_x: Pointers
    arg_stage: Pointers
    arg_projection: Pointers
    arg_output: Pointers
    arg_events: Pointers
    arg_sampling: Pointers
    arg_kinematics: Pointers
    arg_group: Pointers
    res: Pointers
    kinematics_res: Pointers
    group_res: Pointers
    projection_res: Pointers
    guards_res: Pointers
    events_res: Pointers
    sampling_res: Pointers
    work: Vector
    clock: Vector
    stage: Vector
    k: Matrix  # (17, n) slopes
    qdot: Vector
    control: Vector  # (5,) of a group of Euler steps, from `x` to `stage`
    projected: Vector
    residual: Vector
    saved: Vector  # (n,) scratch
    free: Vector  # modes of functions whose sites are not held
    modes: SiteModes


OF_A_RUN = ("t_eval", "edges", "low", "high", "atol", "rows", "held_rows", "sampled")
"""Arrays that every run brings along."""
UNCHANGED = (
    *("arg_x", "arg_stage", "arg_projection", "arg_output", "arg_events", "arg_sampling", "arg_kinematics"),
    *("arg_group", "res", "kinematics_res", "group_res", "projection_res", "guards_res", "events_res"),
    *("sampling_res", "blocks", "free"),
)
"""Tables of pointers and other arrays that no run changes."""
NOT_KEPT = ("work", "x", "x_old", "p", *UNCHANGED, *OF_A_RUN)
"""Arrays that need not be as they were before a run."""


def lay_out(problem: OdeProblem, x0: NDArray[np.float64], options: StepOptions) -> Run:
    """The memory of a run that stands at its start, with the first output written."""
    try:
        run = problem.spare.pop()
    except IndexError:
        run = _functions_laid_out(problem, x0.size)
        vars(run)["kept"] = run.snapshot(*NOT_KEPT)
        vars(run)["kept_start"] = None, []
    asked, started = vars(run)["kept_start"]
    if asked is options:
        run.restore(started)
        _set_state(run, problem, x0, options)
        return run
    run.restore(vars(run)["kept"])
    _set_state(run, problem, x0, options)
    _set_options(run, options)
    _add_samples(run, problem, options)
    if problem.asked[2] is options:  # perhaps the next run is asked for the same
        vars(run)["kept_start"] = options, run.snapshot(*NOT_KEPT)
    return run


def take_back(problem: OdeProblem, run: Run) -> None:
    """The memory of a run that is over, of which nothing is in use but its rows, serves the next one."""
    problem.spare.append(run)


def _functions_laid_out(problem: OdeProblem, n: int) -> Run:
    """Memory of any run of this problem."""
    run = Run(
        nq=problem.nq,
        n_error=problem.nq + problem.nv or n,
        projection_tolerance=problem.projection_tolerance,
        blocks=problem.unit_blocks.ravel().copy(),
        row=1,
        which=-1,
        x=aligned(n),
        x_old=aligned(n),
        component=-1,
        t_failed=np.nan,
        dense=np.zeros((7, n)),
    )
    _add_functions(run, problem)
    return run


def _set_state(run: Run, problem: OdeProblem, x0: NDArray[np.float64], options: StepOptions) -> None:
    rows = np.empty((options.times.size, x0.size))
    rows[0] = x0
    run.x[:] = x0
    run.x_old[:] = x0
    run.p[:] = problem.p
    run.rows = rows


def _set_options(run: Run, options: StepOptions) -> None:
    times, edges, start = options.times, options.edges, float(options.times[0])
    low, high = np.nextafter(edges[:-1], np.inf), np.nextafter(edges[1:], -np.inf)
    run.set(
        max_steps=options.max_steps,
        rtol=options.rtol,
        snap=options.snap,
        step=options.step,
        max_step=options.max_step,
        t_eval=times,
        edges=edges,
        low=low,
        high=high,
        atol=options.atol,
        t=start,
        span_start=start,
        earliest=float(low[0]),
        latest=float(high[0]),
        h=options.first_step,
        h_usual=options.usual_step,
        step_start=start,
    )
    run.pace.start = run.forecast.at = start


def _add_functions(run: Run, problem: OdeProblem) -> None:
    """Buffers and pointer tables. Without kinematics, the leading entries of the right-hand side serve."""
    n = problem.n
    clock, stage, k, qdot = np.zeros(1), aligned(n), aligned(STAGES, n), aligned(n)
    kinematics = problem.kinematics or problem.rhs
    group, control = problem.euler_group or problem.rhs, np.zeros(5)
    projection, projected, residual = (
        problem.projection or problem.rhs,
        aligned(n),
        np.zeros(problem.instances),
    )
    switching = problem.switching
    guards = problem.rhs if switching is None else switching.guards
    modes = lay_out_modes(switching, problem.rhs.sites, projection.sites)
    events, sampling = problem.events or problem.rhs, problem.sampling
    sample = problem.rhs if sampling is None else sampling.function
    others = (kinematics.sites, group.sites, events.sites, sample.sites, projection.sites)
    free = free_modes(max(others, key=len))
    functions = (problem.rhs, kinematics, group, projection, guards, events, sample)
    watched, fresh = lay_out_events(problem.directions), np.zeros(0 if sampling is None else sampling.count)
    p, tables, res = aligned(problem.p.size), problem.tables, pointers(*k)
    run.set(
        group_size=problem.group_size if problem.events is None else 0,
        rhs=problem.rhs.address,
        kinematics=kinematics.address,
        euler_group=group.address,
        projection=projection.address if problem.projection else 0,
        guards=guards.address if switching is not None else 0,
        events=events.address if problem.events else 0,
        sampling=sample.address if sampling is not None else 0,
        arg_x=pointers(clock, run.x, p, tables, modes.value),
        arg_stage=pointers(clock, stage, p, tables, modes.value),
        arg_projection=pointers(clock, stage, p, tables, modes.other_value),
        arg_output=pointers(clock, stage, p, tables, free),
        arg_events=pointers(clock, stage, p, tables, free),
        arg_sampling=pointers(clock, run.x, p, tables, free),
        arg_kinematics=pointers(clock, run.x, p, tables, free),
        arg_group=pointers(control, run.x, p, tables, free),
        res=res,
        kinematics_res=pointers(qdot),
        group_res=pointers(stage),
        projection_res=pointers(projected, residual),
        guards_res=pointers(modes.watch.value),
        events_res=pointers(watched.watch.value),
        sampling_res=pointers(fresh),
        work=aligned(max(1, *[function.work_size for function in functions])),
        clock=clock,
        stage=stage,
        k=k,
        qdot=qdot,
        control=control,
        projected=projected,
        residual=residual,
        saved=np.zeros(n),
        free=free,
        modes=modes,
        watched=watched,
        pace=Pace(),
        forecast=_forecast(modes),
        held_fresh=fresh,
        p=p,
    )


def _forecast(modes: SiteModes) -> Forecast:
    ns = modes.sites.kind.size
    return Forecast(
        rough=np.full(max(1, modes.sites.breaks.size), -1, dtype=np.int64),
        expected=np.zeros(ns, dtype=np.int64),
        **{name: np.zeros(ns) for name in ("now", "rate", "before", "rate_before")},
    )


def _add_samples(run: Run, problem: OdeProblem, options: StepOptions) -> None:
    """At which edges samples are taken, and where the held values of the outputs go."""
    sampling, count = problem.sampling, options.edges.size - 1
    sampled = np.zeros(count, dtype=np.int64)
    if sampling is not None:
        nearest = np.searchsorted(options.edges, sampling.times - options.snap)
        near = np.abs(options.edges[nearest.clip(max=count)] - sampling.times) <= options.snap
        sampled[nearest[near & (nearest < count)]] = 1
    run.set(
        sampled=sampled,
        held_first=0 if sampling is None else sampling.first,
        held_rows=np.zeros((options.times.size, run.held_fresh.size)),
    )
    run.held_rows[0] = run.p[run.held_first : run.held_first + run.held_fresh.size]
