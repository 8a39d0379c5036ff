"""The memory of a run, laid out for compiled loops: what they read, what they go on from, whom they call.

Every loop has the form ``advance(memory, budget) -> code``. `memory` is a table of addresses (see
`sekant.solvers.common.views`) whose rows are named here. A loop takes at most about `budget`
steps and leaves everything needed to go on in the arrays, so that a run cut into pieces is bit for bit the run in
one piece.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sekant.solvers.common.procedures import Procedure
from sekant.solvers.common.sections import view
from sekant.solvers.common.sites import free_modes
from sekant.solvers.common.views import address, table_of
from sekant.solvers.dae.problem import DaeProblem
from sekant.solvers.linear import ldl, static_lu

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# What `advance` returns.
MORE, FINISHED, NOT_FINITE, STEP_TOO_SMALL, TOO_MANY_STEPS, NO_CONVERGENCE, CONSTRAINTS = range(7)

LARGEST_STATE = 1e100

# Entries of SIZE: lengths, switches, and addresses of the compiled functions. V_POWER: errors and Newton's
# increments of v are weighed with h to this power (1 with constraints on positions, which make v a variable of
# index 2; else 0). REDUNDANT: 1 if constraint rows depend on each other at the start.
(NQ, NV, NW, MH, M, V_POWER, REDUNDANT, MAX_STEPS) = range(8)
(RESIDUAL, JACOBIAN, KINEMATICS, CONSTRAINT_RATES, SADDLE, BIAS, QUADRATURES, N_SIZE) = range(8, 16)

# Entries of OPTION. SPECTRAL_RADIUS: of generalized-alpha at infinite frequency.
RTOL, MAX_STEP, SNAP, STEP, SPECTRAL_RADIUS, N_OPTION = range(6)

# Entries of COUNT. BLAME: state, unknown or constraint in which a procedure failed. SELECTING: which rows are left
# out of the steps, see `active_rows`.
(ROW, SEGMENT, STEPS, REJECTED, DIVERGED, RESIDUALS, JACOBIANS, FACTORIZATIONS, RESTARTS, COMPONENT) = range(
    10
)
(SPAN_STEP, STARTED, FIRST, AFTER_REJECTION, HISTORY, FRESH, FACTORED, ITERATIONS, BLAME) = range(10, 19)
SELECTING, N_COUNT = range(19, 21)

# Entries of TIME. CONTRACTION: theta / (1 - theta) of Newton's iteration, RATE_NOW: theta in this step. CEILING:
# bound of the step. WEAKNESS: least pivot of a constraint row that is kept after divergence.
(T, T_FAILED, SPAN_START, H, STEP_START, STEP_LENGTH, H_ACCEPTED, ERROR_ACCEPTED, CONTRACTION) = range(9)
(MOVED_Q, MOVED_V, LARGEST_PHI, LARGEST_RATE, RATE_NOW, ERROR_NOW, CEILING, WEAKNESS, N_TIME) = range(9, 18)

# Rows of the table. What was asked for; times as in `sekant.solvers.ode.memory.Plan`. Coordinates whose rate
# depends on q are CURVED, the others STRAIGHT.
(SIZE, OPTION, COUNT, TIME, T_EVAL, EDGES, LOW, HIGH, ATOL, CURVED, STRAIGHT, BLOCKS) = range(12)
# The point of evaluation: WINDOW holds the first and last time strictly inside the present segment; ARG_FULL and
# ARG_STATE are argument tables (t, q, v, a, lam, p, T, M) and (t, q, v, p, T, M), RES all result tables in a row.
(CLOCK, WINDOW, Q, V, A, LAM, ARG_FULL, ARG_STATE, RES, WORK) = range(12, 22)
# Results: F residuals (nv + nc + m,), K (3, nnz) values of K0, K1, K2, RHS f and gamma (nv + m,).
(F, K, QDOT, PHI, RATE, RHS, POWER, QDOT_STILL, V_KEPT) = range(22, 31)
# State: X, X_OLD (nx,) now and at the left end of the last step, A_NOW, LAM_NOW at X; ROWS, A_ROWS, LAM_ROWS
# outputs; PROJECTED (nx,) what the projection works on; SLOPE (nx,) x' at the left end; POLY (4, nx) powers of
# theta over the last step; STAGE_LAM (3, m); TRIAL (nx,) the end of a trial step; A_ALG (nv,) of
# generalized-alpha.
(X, X_OLD, A_NOW, LAM_NOW, ROWS, A_ROWS, LAM_ROWS, SLOPE, POLY, STAGE_LAM, TRIAL, A_ALG, PROJECTED) = range(
    31, 44
)
# Newton's iteration on [v; curved q; lam] (n,) at three stages: Z increments from the start of the step (lam:
# themselves), W transformed ones, ZQ .. ZPOWER values at the stages, ZF residuals, WEIGHT, ERROR of [q; v].
(Z, W, ZQ, ZV, ZA, ZQDOT, ZPOWER, ZF, WEIGHT, ERROR) = range(44, 54)
# Factors of the Newton matrices, see `linear.static_lu`: pattern; values, inverse pivots, right side, scratch.
(LU_ORDER, LU_SCATTER, LU_DIAGONAL, LU_CONSTRAINT, LU_START, LU_ROW, LU_LOW, LU_TARGET, LU_TARGET_START) = (
    range(54, 63)
)
(REAL, REAL_INVERSE, REAL_B, REAL_Y, PAIR, PAIR_INVERSE, PAIR_B, PAIR_Y) = range(63, 71)
# Pattern and factor of [M G^T; G 0], see `linear.ldl`, and sections of the latter.
(LDL_PATTERN, LDL_FACTOR, LDL_M, LDL_G, LDL_X, LDL_INFO) = range(71, 77)
# Procedures.
(FACTORIZE_SADDLE, SOLVE_SADDLE, PROJECT, WRITE_ROW, ITERATE, ESTIMATE, FACTORIZE) = range(77, 84)
# Row of each value of K.
K_ROW = 84
# Rows left out of the steps, see `active_rows`: ROW_OFF (m,) flags, and what they are chosen with.
ROW_OFF, ROW_PICKED, ROW_BASIS, ROW_TRIANGLE, ROW_LENGTH, SELECT_ROWS = range(85, 91)
# Modes M of the functions, all free.
MODES, N_ARRAYS = range(91, 93)

# Where the result table of each function begins in RES.
RES_RESIDUAL, RES_JACOBIAN, RES_KINEMATICS, RES_CONSTRAINTS, RES_SADDLE, RES_BIAS, RES_POWER = (
    0,
    4,
    7,
    8,
    10,
    12,
    14,
)


class Options(NamedTuple):
    """What was asked for, checked."""

    times: Floats
    edges: Floats
    snap: float
    step: float
    max_step: float
    max_steps: int
    first_step: float
    rtol: float
    atol: Floats
    redundant: bool
    spectral_radius: float


class Memory(NamedTuple):
    """All arrays of a run, and their table. The problem must be kept as well."""

    arrays: dict[int, NDArray[Any]]
    table: Integers

    def __getitem__(self, k: Any) -> NDArray[Any]:
        return self.arrays[k]


def _pointers(*arrays: Floats) -> Integers:
    return np.array([address(array) for array in arrays], dtype=np.int64)


def lay_out(problem: DaeProblem, x0: Floats, options: Options, procedures: dict[int, Procedure]) -> Memory:
    """The memory of a run that stands at its start; nothing is evaluated yet."""
    pattern, _ = _patterns(problem)
    factor = ldl.lay_out(pattern)
    arrays: dict[int, NDArray[Any]] = {LDL_PATTERN: pattern, LDL_FACTOR: factor}
    sections = {LDL_M: ldl.M_VALUES, LDL_G: ldl.G_VALUES, LDL_X: ldl.X, LDL_INFO: ldl.INFO}
    arrays.update({k: view(factor, part) for k, part in sections.items()})
    _add_plan(arrays, problem, options)
    _add_state(arrays, problem, x0, options)
    _add_newton(arrays, problem)
    _add_point(arrays, problem)
    table = table_of(arrays, N_ARRAYS)
    for k, procedure in procedures.items():
        table[k, 0] = procedure.address
    return Memory(arrays, table)


_analyzed: WeakKeyDictionary[Any, tuple[ldl.Pattern, static_lu.Pattern]] = WeakKeyDictionary()


def _patterns(problem: DaeProblem) -> tuple[ldl.Pattern, static_lu.Pattern]:
    """Symbolic factorizations of [M G^T; G 0] and of the Newton matrices, made once for a system."""
    f, m = problem.functions, problem.m
    if f not in _analyzed:
        saddle = ldl.analyze(f.nv, m, f.M_row, f.M_col, f.G_row, f.G_col)
        _analyzed[f] = saddle, static_lu.analyze(f.nv + f.curved.size, m, f.K_row, f.K_col)
    return _analyzed[f]


def _add_plan(arrays: dict[int, NDArray[Any]], problem: DaeProblem, options: Options) -> None:
    f, m = problem.functions, problem.m
    size, option = np.zeros(N_SIZE, dtype=np.int64), np.zeros(N_OPTION)
    size[[NQ, NV, NW, MH, M]] = f.nq, f.nv, f.nw, f.mh, m
    size[[V_POWER, REDUNDANT, MAX_STEPS]] = int(f.mh > 0), int(options.redundant), options.max_steps
    power = f.power or f.kinematics
    functions = (f.residual, f.jacobian, f.kinematics, f.constraints, f.saddle, f.bias, power)
    size[RESIDUAL : QUADRATURES + 1] = [function.address for function in functions]
    option[[RTOL, MAX_STEP, SNAP]] = options.rtol, options.max_step, options.snap
    option[[STEP, SPECTRAL_RADIUS]] = options.step, options.spectral_radius
    curved = np.array(f.curved, dtype=np.int64)
    arrays[SIZE], arrays[OPTION], arrays[T_EVAL], arrays[EDGES] = size, option, options.times, options.edges
    arrays[LOW] = np.nextafter(options.edges[:-1], np.inf)
    arrays[HIGH] = np.nextafter(options.edges[1:], -np.inf)
    arrays[ATOL], arrays[CURVED] = options.atol, curved
    arrays[STRAIGHT] = np.setdiff1d(np.arange(f.nq), curved).astype(np.int64)
    arrays[BLOCKS] = np.array(f.unit_blocks, dtype=np.int64).reshape(-1)
    arrays[WORK] = np.zeros(max(1, *[function.work_size for function in functions]))


def _add_state(arrays: dict[int, NDArray[Any]], problem: DaeProblem, x0: Floats, options: Options) -> None:
    nv, m, rows, nx = problem.functions.nv, problem.m, options.times.size, x0.size
    time, count = np.zeros(N_TIME), np.zeros(N_COUNT, dtype=np.int64)
    time[[T, SPAN_START, STEP_START]] = options.times[0]
    time[[T_FAILED, H, CEILING]] = np.nan, options.first_step, np.inf
    count[COMPONENT], count[SELECTING] = -1, int(options.redundant)
    shapes = {
        A_NOW: nv,
        LAM_NOW: m,
        SLOPE: nx,
        TRIAL: nx,
        A_ALG: nv,
        PROJECTED: nx,
        ROWS: (rows, nx),
        A_ROWS: (rows, nv),
        LAM_ROWS: (rows, m),
        POLY: (4, nx),
        STAGE_LAM: (3, m),
    }
    arrays.update({k: np.zeros(shape) for k, shape in shapes.items()})
    arrays[TIME], arrays[COUNT], arrays[X], arrays[X_OLD] = time, count, x0.copy(), x0.copy()


def _add_newton(arrays: dict[int, NDArray[Any]], problem: DaeProblem) -> None:
    f, m = problem.functions, problem.m
    n = f.nv + f.curved.size + m
    _, pattern = _patterns(problem)
    arrays[K_ROW] = np.array(f.K_row, dtype=np.int64)
    arrays.update({LU_ORDER + k: np.asarray(part) for k, part in enumerate(pattern[:9])})
    shapes = {
        Z: (3, n),
        W: (3, n),
        ZQ: (3, f.nq),
        ZV: (3, f.nv),
        ZA: (3, f.nv),
        ZQDOT: (3, f.nq),
        ZPOWER: (3, f.nw),
        ZF: (3, n),
        WEIGHT: n,
        ERROR: f.nq + f.nv,
        REAL: pattern.values,
        REAL_INVERSE: n,
        REAL_B: n,
        REAL_Y: n,
    }
    arrays.update({k: np.zeros(shape) for k, shape in shapes.items()})
    arrays[ROW_OFF], arrays[ROW_PICKED] = np.zeros((2, m), dtype=np.int64)
    arrays.update({ROW_BASIS: np.zeros((m, f.nv)), ROW_TRIANGLE: np.zeros((m, m)), ROW_LENGTH: np.zeros(m)})
    arrays[PAIR] = np.zeros(pattern.values, dtype=np.complex128)
    arrays.update({k: np.zeros(n, dtype=np.complex128) for k in (PAIR_INVERSE, PAIR_B, PAIR_Y)})


def _add_point(arrays: dict[int, NDArray[Any]], problem: DaeProblem) -> None:
    f, m, nc = problem.functions, problem.m, problem.functions.curved.size
    shapes = {
        CLOCK: 1,
        WINDOW: 2,
        Q: f.nq,
        V: f.nv,
        A: f.nv,
        LAM: m,
        QDOT: f.nq,
        PHI: f.mh,
        RATE: m,
        F: f.nv + nc + m,
        K: (3, f.K_row.size),
        RHS: f.nv + m,
        POWER: f.nw,
        QDOT_STILL: f.nq,
        V_KEPT: f.nv,
    }
    arrays.update({k: np.zeros(shape) for k, shape in shapes.items()})
    clock, q, v, a, lam = (arrays[k] for k in (CLOCK, Q, V, A, LAM))
    p, tables, R, rhs = problem.p, problem.tables, arrays[F], arrays[RHS]
    assert tables is not None
    functions = (f.residual, f.jacobian, f.kinematics, f.constraints, f.saddle, f.bias, f.power or f.residual)
    modes = arrays[MODES] = free_modes(max((function.sites for function in functions), key=len))
    arrays[ARG_FULL] = _pointers(clock, q, v, a, lam, p, tables, modes)
    arrays[ARG_STATE] = _pointers(clock, q, v, p, tables, modes)
    arrays[RES] = _pointers(
        *(R, R[f.nv :], R[f.nv + nc :], R[f.nv + nc + f.mh :]),
        *arrays[K],
        arrays[QDOT],
        *(arrays[PHI], arrays[RATE]),
        *(arrays[LDL_M], arrays[LDL_G]),
        *(rhs, rhs[f.nv :]),
        arrays[POWER],
    )
