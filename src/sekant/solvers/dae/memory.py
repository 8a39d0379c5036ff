"""The memory of a run, laid out for compiled loops: what they read, what they go on from, whom they call.

Every loop takes at most about so many steps and leaves everything needed to go on in its memory, so that a run cut
into pieces is bit for bit the run in one piece.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.sections import section
from sekant.loops.declare.structs import (
    Complexes,
    FunctionAddress,
    Integer,
    Matrix,
    Pointers,
    Real,
    Struct,
    Vector,
    pointers,
)
from sekant.loops.declare.structs import Integers as Whole
from sekant.solvers.common.checks import StepOptions
from sekant.solvers.common.landing import Pace
from sekant.solvers.common.modes import SiteModes, lay_out_modes
from sekant.solvers.common.sites import NUMBERS
from sekant.solvers.dae.problem import DaeProblem
from sekant.solvers.linear import ldl, static_lu

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LARGEST_STATE = 1e100

# Where the result table of each function begins in RES.
RES_RESIDUAL, RES_JACOBIAN, RES_KINEMATICS, RES_CONSTRAINTS = 0, 4, 7, 8
RES_SADDLE, RES_BIAS, RES_POWER, RES_GUARDS = 10, 12, 14, 15


class DaeMemory(Struct):
    """A run. The problem must be kept as well.

    n = nv + nc + m unknowns of Newton's iteration, [v; curved q; lam]; nx = nq + nv + nw states, [q; v; w].
    """

    nq: Integer
    nv: Integer
    nw: Integer
    mh: Integer  # constraints on positions
    m: Integer  # all constraints
    v_power: Integer  # errors of v are weighed with h to this power: 1 with constraints on positions, else 0
    redundant: Integer  # 1 if constraint rows depend on each other at the start
    # Addresses of the compiled functions.
    residual: FunctionAddress
    jacobian: FunctionAddress
    kinematics: FunctionAddress
    constraint_rates: FunctionAddress
    saddle: FunctionAddress
    bias: FunctionAddress
    quadratures: FunctionAddress
    guards: FunctionAddress  # of the sites in `modes`; 0: they are free
    # What was asked for; times as in `sekant.solvers.ode.memory`. spectral_radius: of generalized-alpha at
    # infinite frequency.
    max_steps: Integer
    rtol: Real
    max_step: Real
    snap: Real
    step: Real
    spectral_radius: Real
    t_eval: Vector
    edges: Vector
    low: Vector
    high: Vector
    atol: Vector
    curved: Whole  # (nc,) coordinates whose rate depends on q
    straight: Whole  # the others
    blocks: Whole  # pairs of start and length of unit blocks
    # What has been counted. blame: state, unknown or constraint in which a procedure failed. selecting: which rows
    # are left out of the steps, see `active_rows`.
    row: Integer
    segment: Integer
    steps: Integer
    rejected: Integer
    diverged: Integer
    residuals: Integer
    jacobians: Integer
    factorizations: Integer
    restarts: Integer
    component: Integer
    span_step: Integer
    started: Integer
    first: Integer
    after_rejection: Integer
    history: Integer
    fresh: Integer
    factored: Integer
    iterations: Integer
    blame: Integer
    selecting: Integer
    estimating: Integer  # 0: every step that converges is accepted, with which orders are measured; else 1
    turns: Integer  # changes of modes
    turning: Integer  # 1 if the next one is due
    pace: Pace
    # Times and sizes. contraction: theta / (1 - theta) of Newton's iteration, rate_now: theta in this step. ceiling:
    # bound of the step. weakness: least pivot of a constraint row that is kept after divergence.
    t: Real
    t_failed: Real
    span_start: Real
    h: Real
    step_start: Real
    step_length: Real
    h_accepted: Real
    error_accepted: Real
    contraction: Real
    moved_q: Real
    moved_v: Real
    largest_phi: Real
    largest_rate: Real
    rate_now: Real
    error_now: Real
    ceiling: Real
    weakness: Real
    t_trial: Real  # end of the trial step
    h_trial: Real  # length with which it is to be repeated
    h_kept: Real  # of the step before it was shortened to land
    # The point of evaluation: window holds the first and last time strictly inside the present segment; arg_ are
    # argument tables (t, q, v, a, lam, p, T, M) of residual and guards, jacobian, quadratures, and (t, q, v, p, T, M)
    # of the others, each with M of its own; res all result tables in a row.
    clock: Vector
    window: Vector
    q: Vector
    v: Vector
    a: Vector
    lam: Vector
    arg_residual: Pointers
    arg_jacobian: Pointers
    arg_power: Pointers
    arg_kinematics: Pointers
    arg_constraints: Pointers
    arg_saddle: Pointers
    arg_bias: Pointers
    res: Pointers
    modes: SiteModes
    work: Vector
    # Results: f residuals (n,), k (3, nnz) values of K0, K1, K2, rhs f and gamma (nv + m,).
    f: Vector
    k: Matrix
    qdot: Vector
    phi: Vector
    rate: Vector
    rhs: Vector
    power: Vector
    qdot_still: Vector
    v_kept: Vector
    # State: x, x_old (nx,) now and at the left end of the last step, a_now, lam_now at x; outputs; projected (nx,)
    # what the projection works on; slope (nx,) x' at the left end; poly (4, nx) powers of theta over the last step;
    # stage_lam (3, m); trial (nx,) the end of a trial step; a_alg (nv,) of generalized-alpha; known, node_a (4, nv),
    # dense (4, nv): velocities between the ends of the last step, see `radau_dense`.
    x: Vector
    x_old: Vector
    a_now: Vector
    lam_now: Vector
    rows: Matrix
    a_rows: Matrix
    lam_rows: Matrix
    slope: Vector
    poly: Matrix
    known: Integer
    node_a: Matrix
    dense: Matrix
    stage_lam: Matrix
    trial: Vector
    a_alg: Vector
    projected: Vector
    # Newton's iteration at three stages: z increments from the start of the step (lam: themselves), w transformed
    # ones, zq .. zpower values at the stages, zf residuals, weight, error of [q; v].
    z: Matrix
    w: Matrix
    zq: Matrix
    zv: Matrix
    za: Matrix
    zqdot: Matrix
    zpower: Matrix
    zf: Matrix
    weight: Vector
    error: Vector
    # Factors of the Newton matrices, see `linear.static_lu`: pattern; values, inverse pivots, right side, scratch.
    lu_order: Whole
    lu_scatter: Whole
    lu_diagonal: Whole
    lu_constraint: Whole
    lu_start: Whole
    lu_row: Whole
    lu_low: Whole
    lu_target: Whole
    lu_target_start: Whole
    real: Vector
    real_inverse: Vector
    real_b: Vector
    real_y: Vector
    pair: Complexes
    pair_inverse: Complexes
    pair_b: Complexes
    pair_y: Complexes
    k_row: Whole  # row of each value of K
    # Pattern and factor of [M G^T; G 0], see `linear.ldl`, and sections of the latter.
    ldl_pattern: Whole
    ldl_factor: Vector
    ldl_m: Vector
    ldl_g: Vector
    ldl_x: Vector
    ldl_info: Vector
    # Rows left out of the steps, see `active_rows`: row_off (m,) flags, and what they are chosen with.
    row_off: Whole
    row_picked: Whole
    row_basis: Matrix
    row_triangle: Matrix
    row_length: Vector
    v_unit: Vector  # (nv,)


def lay_out(
    problem: DaeProblem,
    x0: Floats,
    options: StepOptions,
    redundant: bool = False,
    spectral_radius: float = 0.0,
) -> DaeMemory:
    """The memory of a run that stands at its start; nothing is evaluated yet.

    `redundant`: whether rows of constraints depend on each other there; `spectral_radius`: of generalized-alpha at
    infinite frequency.
    """
    pattern, _ = _patterns(problem)
    factor = ldl.lay_out(pattern)
    memory = DaeMemory(ldl_pattern=pattern, ldl_factor=factor)
    sections = {"ldl_m": ldl.M_VALUES, "ldl_g": ldl.G_VALUES, "ldl_x": ldl.X, "ldl_info": ldl.INFO}
    memory.set(**{name: section(factor, part) for name, part in sections.items()})
    memory.set(redundant=int(redundant), selecting=int(redundant), spectral_radius=spectral_radius)
    _add_plan(memory, problem, options)
    _add_state(memory, problem, x0, options)
    _add_newton(memory, problem)
    _add_point(memory, problem)
    return memory


_analyzed: WeakKeyDictionary[Any, tuple[ldl.Pattern, static_lu.Pattern]] = WeakKeyDictionary()


def _patterns(problem: DaeProblem) -> tuple[ldl.Pattern, static_lu.Pattern]:
    """Symbolic factorizations of [M G^T; G 0] and of the Newton matrices, made once for a system."""
    f, m = problem.functions, problem.m
    if f not in _analyzed:
        saddle = ldl.analyze(f.nv, m, f.M_row, f.M_col, f.G_row, f.G_col)
        _analyzed[f] = saddle, static_lu.analyze(f.nv + f.curved.size, m, f.K_row, f.K_col)
    return _analyzed[f]


def _add_plan(memory: DaeMemory, problem: DaeProblem, options: StepOptions) -> None:
    f, m = problem.functions, problem.m
    power = f.power or f.kinematics
    functions = (f.residual, f.jacobian, f.kinematics, f.constraints, f.saddle, f.bias, power)
    names = ("residual", "jacobian", "kinematics", "constraint_rates", "saddle", "bias", "quadratures")
    curved = np.array(f.curved, dtype=np.int64)
    memory.set(nq=f.nq, nv=f.nv, nw=f.nw, mh=f.mh, m=m, v_power=int(f.mh > 0))
    memory.set(max_steps=options.max_steps, rtol=options.rtol)
    work = [function.work_size for function in functions]
    if problem.switching is not None:
        memory.set(guards=problem.switching.guards.address)
        work.append(problem.switching.guards.work_size)
    memory.set(**{name: int(function.address) for name, function in zip(names, functions, strict=True)})
    memory.set(max_step=options.max_step, snap=options.snap, step=options.step)
    memory.set(t_eval=options.times, edges=options.edges)
    memory.set(
        low=np.nextafter(options.edges[:-1], np.inf),
        high=np.nextafter(options.edges[1:], -np.inf),
        atol=options.atol,
        curved=curved,
        straight=np.setdiff1d(np.arange(f.nq), curved).astype(np.int64),
        blocks=np.array(f.unit_blocks, dtype=np.int64).reshape(-1),
        work=np.zeros(max(1, *work)),
    )


def _add_state(memory: DaeMemory, problem: DaeProblem, x0: Floats, options: StepOptions) -> None:
    nv, m, rows, nx = problem.functions.nv, problem.m, options.times.size, x0.size
    start = float(options.times[0])
    memory.set(
        t=start,
        span_start=start,
        step_start=start,
        pace=Pace(start=start),
        t_failed=np.nan,
        h=options.first_step,
    )
    memory.set(
        ceiling=np.inf,
        component=-1,
        estimating=1,
        x=x0.copy(),
        x_old=x0.copy(),
    )
    memory.set(a_now=np.zeros(nv), lam_now=np.zeros(m), a_alg=np.zeros(nv))
    memory.set(slope=np.zeros(nx), trial=np.zeros(nx), projected=np.zeros(nx))
    memory.set(rows=np.zeros((rows, nx)), a_rows=np.zeros((rows, nv)), lam_rows=np.zeros((rows, m)))
    memory.set(poly=np.zeros((4, nx)), stage_lam=np.zeros((3, m)))
    memory.set(node_a=np.zeros((4, nv)), dense=np.zeros((4, nv)))


def _add_newton(memory: DaeMemory, problem: DaeProblem) -> None:
    f, m = problem.functions, problem.m
    n = f.nv + f.curved.size + m
    _, pattern = _patterns(problem)
    names = ("order", "scatter", "diagonal", "constraint", "start", "row", "low", "target", "target_start")
    memory.set(**{f"lu_{name}": getattr(pattern, name) for name in names})
    memory.set(k_row=np.array(f.K_row, dtype=np.int64))
    memory.set(z=np.zeros((3, n)), w=np.zeros((3, n)), zf=np.zeros((3, n)))
    memory.set(zq=np.zeros((3, f.nq)), zv=np.zeros((3, f.nv)), za=np.zeros((3, f.nv)))
    memory.set(zqdot=np.zeros((3, f.nq)), zpower=np.zeros((3, f.nw)))
    memory.set(weight=np.zeros(n), error=np.zeros(f.nq + f.nv))
    memory.set(row_off=np.zeros(m, dtype=np.int64), row_picked=np.zeros(m, dtype=np.int64))
    memory.set(row_basis=np.zeros((m, f.nv)), row_triangle=np.zeros((m, m)), row_length=np.zeros(m))
    memory.set(v_unit=np.zeros(f.nv))
    for name, dtype in (("real", np.float64), ("pair", np.complex128)):
        memory.set(**{name: np.zeros(pattern.values, dtype=dtype)})
        memory.set(**{f"{name}_{part}": np.zeros(n, dtype=dtype) for part in ("inverse", "b", "y")})


def _add_point(memory: DaeMemory, problem: DaeProblem) -> None:
    f, m, nc = problem.functions, problem.m, problem.functions.curved.size
    clock, q, v, a, lam = np.zeros(1), np.zeros(f.nq), np.zeros(f.nv), np.zeros(f.nv), np.zeros(m)
    R, K, rhs = np.zeros(f.nv + nc + m), np.zeros((3, f.K_row.size)), np.zeros(f.nv + m)
    qdot, phi, rate, power = np.zeros(f.nq), np.zeros(f.mh), np.zeros(m), np.zeros(f.nw)
    p, tables = problem.p, problem.tables
    assert tables is not None
    others = {
        "jacobian": f.jacobian,
        "power": f.power or f.jacobian,
        "kinematics": f.kinematics,
        "constraints": f.constraints,
        "saddle": f.saddle,
        "bias": f.bias,
    }
    sites = [site for function in others.values() for site in function.sites]
    modes = lay_out_modes(problem.switching, f.residual.sites, sites)
    point, at_state, first = (clock, q, v, a, lam, p, tables), (clock, q, v, p, tables), 0
    memory.set(arg_residual=pointers(*point, modes.value))
    for name, function in others.items():
        arguments = point if name in ("jacobian", "power") else at_state
        memory.set(**{f"arg_{name}": pointers(*arguments, modes.other_value[NUMBERS * first :])})
        first += len(function.sites)
    res = pointers(
        *(R, R[f.nv :], R[f.nv + nc :], R[f.nv + nc + f.mh :]),
        *K,
        qdot,
        *(phi, rate),
        *(memory.ldl_m, memory.ldl_g),
        *(rhs, rhs[f.nv :]),
        power,
        modes.watch.value,
    )
    memory.set(clock=clock, window=np.zeros(2), q=q, v=v, a=a, lam=lam, f=R, k=K, rhs=rhs)
    memory.set(qdot=qdot, phi=phi, rate=rate, power=power, qdot_still=np.zeros(f.nq), v_kept=np.zeros(f.nv))
    memory.set(res=res, modes=modes)
