"""The memory of a run, laid out for compiled loops: what they read, what they go on from, whom they call.

Every loop has the form ``advance(native, plan, run, budget) -> code``. It takes at most about `budget` steps
and leaves in `run` and `native` everything needed to go on, so that a run cut into pieces is bit for bit the
run in one piece.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sekant.solvers.common.modes import Modes, lay_out_modes
from sekant.solvers.common.sites import free_modes
from sekant.solvers.ode.problem import OdeProblem

# What `advance` returns.
MORE, FINISHED, NOT_FINITE, STEP_TOO_SMALL, TOO_MANY_STEPS, CONSTRAINTS, CHATTERING = range(7)

# Entries of Run.count. BLAME: the site that changed last; WINDOW_TRIALS, WINDOW_LANDINGS: counts when the present
# window of trials, over which chattering is looked for, began.
ROW, SEGMENT, STEPS, REJECTED, EVALUATIONS, RESTARTS, COMPONENT, SPAN_STEP, PHASE, AFTER_REJECTION = range(10)
LANDINGS, BLAME, WINDOW_TRIALS, WINDOW_LANDINGS, N_COUNT = range(10, 15)
# Entries of Run.time. THETA: part of a trial step at which a site changes; H_KEPT: step to go on with after one
# that was shortened to land; WINDOW_START: see above.
# RATES_AT, RATES_SPAN: when rates of guards were taken last, and since when; AIMED: 1 if the trial is to end on a
# break.
T, T_FAILED, SPAN_START, H, STEP_START, STEP_LENGTH, THETA, H_KEPT, WINDOW_START = range(9)
RATES_AT, RATES_SPAN, AIMED = range(9, 12)

LARGEST_STATE = 1e100  # a state beyond this has blown up: its square still has a finite representation
STAGES = 17
CHANGED = np.int64(16)  # the row of k for slopes in other modes


class Native(NamedTuple):
    """The compiled functions and the arrays they read and write, by address.

    `arg_x`, `arg_stage` (5,): argument tables whose state is `Run.x` or `stage`; `arg_projection`,
    `arg_kinematics`: the same with the modes of those functions.
    `res` (17,): one-entry result tables in a row; the one at `res[s:]` writes to ``k[s]``.
    `kinematics_res` (1,): result table of the kinematics, writes to `qdot`.
    `arg_group`, `group_res`: tables of the function that takes `group_size` (0: there is none) Euler steps from
    `Run.x` to `stage`, with `control` (5,).
    `guards`: address (0: there is none) of the guards of the struct `modes` of `sekant.solvers.common.modes`.
    `saved` (n,): scratch. `free`: modes of functions that are not held.
    `projection`: address (0: there is none); it reads `stage`, writes `projected` (n,) and `residual` (1,).
    """

    rhs: int
    kinematics: int
    arg_x: NDArray[np.uintp]
    arg_stage: NDArray[np.uintp]
    res: NDArray[np.uintp]
    kinematics_res: NDArray[np.uintp]
    work: NDArray[np.float64]
    clock: NDArray[np.float64]
    stage: NDArray[np.float64]
    k: NDArray[np.float64]
    qdot: NDArray[np.float64]
    euler_group: int
    group_size: int
    arg_group: NDArray[np.uintp]
    group_res: NDArray[np.uintp]
    control: NDArray[np.float64]
    projection: int
    projection_res: NDArray[np.uintp]
    projected: NDArray[np.float64]
    residual: NDArray[np.float64]
    arg_projection: NDArray[np.uintp]
    arg_kinematics: NDArray[np.uintp]
    guards: int
    guards_res: NDArray[np.uintp]
    modes: int
    saved: NDArray[np.float64]
    free: NDArray[np.float64]


class Plan(NamedTuple):
    """What was asked for.

    `t_eval` (m,): output times. `edges` (s + 1,): start, stops, end; segment i lies between edges i, i + 1.
    `low`, `high` (s,): first and last number strictly inside each segment: the right-hand side sees no time
    outside them, so it is evaluated on one side of a jump only.
    `snap`: times closer than this are one time. `n_error`: the leading states in the error norm; the others are
    quadratures with a norm of their own.
    """

    t_eval: NDArray[np.float64]
    edges: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    snap: float
    step: float
    max_step: float
    max_steps: int
    rtol: float
    atol: NDArray[np.float64]
    nq: int
    nv: int
    n_error: int
    unit_blocks: NDArray[np.int64]
    projection_tolerance: float


class Run(NamedTuple):
    """Where a run is. `x`, `x_old` (n,): present and previous state; `rows` (m, n): outputs;
    `dense` (7, n): interpolant of the step from `x_old` to `x`; `time`, `count`: see the indices above."""

    x: NDArray[np.float64]
    x_old: NDArray[np.float64]
    rows: NDArray[np.float64]
    dense: NDArray[np.float64]
    time: NDArray[np.float64]
    count: NDArray[np.int64]


def _pointers(*arrays: NDArray[np.float64]) -> NDArray[np.uintp]:
    return np.array([array.ctypes.data for array in arrays], dtype=np.uintp)


def lay_out_run(x0: NDArray[np.float64], rows: int, t_start: float, first_step: float) -> Run:
    """A run that stands at its start, with the first output written."""
    n = x0.size
    run = Run(
        x=x0.copy(),
        x_old=x0.copy(),
        rows=np.empty((rows, n)),
        dense=np.zeros((7, n)),
        time=np.array(
            [t_start, np.nan, t_start, first_step, t_start, 0.0, 0.0, 0.0, t_start, t_start, 0.0, 0.0]
        ),
        count=np.zeros(N_COUNT, dtype=np.int64),
    )
    run.count[COMPONENT] = -1
    run.rows[0] = x0
    run.count[ROW] = 1
    return run


def lay_out_native(problem: OdeProblem, run: Run) -> tuple[Native, Modes]:
    """Buffers and pointer tables. Without kinematics, the leading entries of the right-hand side serve.

    The tables hold bare addresses of arrays in `problem`, `run` and what is returned: keep all of them.
    """
    n = problem.n
    clock, stage, k, qdot = np.zeros(1), np.zeros(n), np.zeros((STAGES, n)), np.zeros(n)
    kinematics = problem.kinematics or problem.rhs
    group, control = problem.euler_group or problem.rhs, np.zeros(5)
    projection, projected, residual = problem.projection or problem.rhs, np.zeros(n), np.zeros(1)
    switching = problem.switching
    guards = problem.rhs if switching is None else switching.guards
    modes = lay_out_modes(switching, problem.rhs.sites, projection.sites)
    free = free_modes(max((kinematics.sites, group.sites), key=len))
    functions = (problem.rhs, kinematics, group, projection, guards)
    p, tables = problem.p, problem.tables
    native = Native(
        rhs=int(problem.rhs.address),
        kinematics=int(kinematics.address),
        arg_x=_pointers(clock, run.x, p, tables, modes.value),
        arg_stage=_pointers(clock, stage, p, tables, modes.value),
        res=_pointers(*k),
        kinematics_res=_pointers(qdot),
        work=np.zeros(max(1, *[function.work_size for function in functions])),
        clock=clock,
        stage=stage,
        k=k,
        qdot=qdot,
        euler_group=int(group.address),
        group_size=problem.group_size,
        arg_group=_pointers(control, run.x, p, tables, free),
        group_res=_pointers(stage),
        control=control,
        projection=int(projection.address) if problem.projection else 0,
        projection_res=_pointers(projected, residual),
        projected=projected,
        residual=residual,
        arg_projection=_pointers(clock, stage, p, tables, modes.other_value),
        arg_kinematics=_pointers(clock, run.x, p, tables, free),
        guards=int(guards.address) if switching is not None else 0,
        guards_res=_pointers(modes.g),
        modes=modes.pointer,
        saved=np.zeros(n),
        free=free,
    )
    return native, modes
