"""The memory of a run for compiled loops: their inputs, their state, and the functions that they call.

Every loop takes at most a given number of steps and leaves everything needed to continue in its memory. A run
in several calls is therefore bit for bit the same as a run in one call.
"""

from __future__ import annotations

from math import isfinite
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.procedures import inner
from sekant.loops.declare.structs import Complexes, Integer, Matrix, Real, Struct, Vector
from sekant.loops.declare.structs import Integers as Whole
from sekant.solvers.common.checks import StepOptions
from sekant.solvers.common.events import Events, lay_out_events
from sekant.solvers.common.landing import Pace
from sekant.solvers.common.memory import Call, Failure, RunClock, RunCounts, RunPlan, ask, call_of
from sekant.solvers.common.modes import SiteModes, lay_out_modes
from sekant.solvers.common.sites import NUMBERS, free_modes
from sekant.solvers.common.vectors import take
from sekant.solvers.dae.problem import DaeProblem
from sekant.solvers.linear import ldl, static_lu

Floats = NDArray[np.float64]


class EvaluationPoint(Struct):
    """The point at which functions are evaluated."""

    q: Vector
    v: Vector
    a: Vector
    lam: Vector


class Results(Struct):
    """Results of functions at the point."""

    f: Vector  # (n,) residuals
    k: Matrix  # (3, nnz) values of K0, K1, K2
    qdot: Vector
    phi: Vector
    rate: Vector
    rhs: Vector  # (nv + m,) f and gamma
    power: Vector
    qdot_still: Vector  # scratch of projections
    v_kept: Vector
    largest_phi: Real  # at the ends of steps
    largest_rate: Real


class RadauStep(Struct):
    """The trial step, and the previous one."""

    first: Integer  # 1: the first of a segment, or after a change of modes
    history: Integer  # 1 if there is a previous step to extrapolate
    after_rejection: Integer
    turning: Integer  # 1 if a change of modes is due
    estimating: Integer  # 0: every step that converges is accepted (to measure orders); else 1
    blame: Integer  # state, unknown or constraint in which a procedure failed
    h: Real
    kept: Real  # step length before it was shortened
    ceiling: Real  # bound of steps after a divergence
    t_trial: Real  # end of the trial step
    h_trial: Real  # length for the repetition
    error: Real
    start: Real  # of the last step
    length: Real
    h_accepted: Real
    error_accepted: Real
    trial: Vector  # (nx,) the end of a trial step
    # Over the last step: x' at its left end, powers of theta, multipliers at the stages; known, node_a (4, nv), dense
    # (4, nv): velocities between its ends, see `radau_dense`.
    slope: Vector
    poly: Matrix  # (4, nx)
    stage_lam: Matrix  # (3, m)
    known: Integer
    node_a: Matrix
    dense: Matrix
    pace: Pace


class Newton(Struct):
    """The iteration at three stages."""

    jacobians: Integer
    factorizations: Integer
    iterations: Integer
    fresh: Integer  # 1: the Jacobian is that of this step
    factored: Integer
    contraction: Real  # theta / (1 - theta)
    rate: Real  # theta in this step
    z: Matrix  # (3, n) increments from the start of the step (lam: themselves)
    w: Matrix  # transformed increments
    zq: Matrix  # values at the stages
    zv: Matrix
    za: Matrix
    zqdot: Matrix
    zpower: Matrix
    zf: Matrix  # residuals there
    weight: Vector
    error: Vector  # of [q; v]
    k_row: Whole  # row of each value of K


class RealFactors(Struct):
    """Factors of a Newton matrix: values, inverse pivots, right side, scratch; see `linear.static_lu`."""

    values: Vector
    inverse: Vector
    b: Vector
    y: Vector


class ComplexFactors(Struct):
    values: Complexes
    inverse: Complexes
    b: Complexes
    y: Complexes


class ActiveRows(Struct):
    """Rows of constraints that are left out of the steps, see `active_rows`."""

    redundant: Integer  # 1 if rows depend on each other at the start
    selecting: Integer  # which rows are dropped
    weakness: Real  # least pivot of a row that is used after divergence
    off: Whole  # (m,) flags, and the data for their selection
    picked: Whole
    basis: Matrix
    triangle: Matrix
    length: Vector
    v_unit: Vector  # (nv,)


class DaeMemory(Struct):
    """The memory of a run. The problem must stay alive as well.

    n = nv + nc + m unknowns of Newton's iteration, [v; curved q; lam]; nx = nq + nv + nw states, [q; v; w].
    """

    plan: RunPlan
    clock: RunClock
    counts: RunCounts
    failed: Failure
    step: RadauStep
    newton: Newton
    modes: SiteModes
    watched: Events  # of `stage`
    point: EvaluationPoint
    found: Results
    active: ActiveRows
    lu: static_lu.LuPattern  # of the Newton matrices, one real and one complex
    real: RealFactors
    pair: ComplexFactors
    saddle: ldl.Factor  # of [M G^T; G 0]
    # Functions of (t, q, v, a, lam, p, T, M) or of (t, q, v, p, T, M), each with its own M.
    residual: Call
    guards: Call  # of the sites in `modes`; without one they are free
    jacobian: Call
    quadratures: Call
    kinematics: Call
    constraints: Call
    mass: Call  # M and G
    bias: Call
    nq: Integer
    nv: Integer
    nw: Integer
    mh: Integer  # constraints on positions
    m: Integer  # all constraints
    v_power: Integer  # errors of v are weighted by h to this power: 1 with constraints on positions, else 0
    spectral_radius: Real  # of generalized-alpha at infinite frequency
    curved: Whole  # (nc,) coordinates whose rate depends on q
    straight: Whole  # the others
    blocks: Whole  # start, length and stride of unit blocks
    x: Vector  # (nx,)
    x_old: Vector  # at the left end of the last step
    a_now: Vector  # at x
    lam_now: Vector
    a_alg: Vector  # (nv,) of generalized-alpha
    projected: Vector  # (nx,) argument of the projection
    stage: Vector  # (nq + nv,) argument of event functions
    rows: Matrix  # outputs
    a_rows: Matrix
    lam_rows: Matrix
    moved_q: Real  # change that made the start consistent
    moved_v: Real


def lay_out(
    problem: DaeProblem,
    x0: Floats,
    options: StepOptions,
    redundant: bool = False,
    spectral_radius: float = 0.0,
) -> DaeMemory:
    """Allocate the memory of a run at its start; nothing is evaluated yet.

    `redundant`: whether rows of constraints depend on each other there; `spectral_radius`: of generalized-alpha at
    infinite frequency.
    """
    f, m, nx, rows = problem.functions, problem.m, x0.size, options.times.size
    saddle_pattern, lu = _patterns(problem)
    curved, start = np.array(f.curved, dtype=np.int64), float(options.times[0])
    blocks = np.array([[*block, 1] for block in f.unit_blocks], dtype=np.int64).reshape(-1)
    plan, clock = RunPlan(), RunClock(seen=np.zeros(1))
    ask(plan, clock, options)
    step = RadauStep(
        ceiling=np.inf,
        estimating=1,
        h=options.first_step,
        start=start,
        trial=np.zeros(nx),
        slope=np.zeros(nx),
        poly=np.zeros((4, nx)),
        stage_lam=np.zeros((3, m)),
        node_a=np.zeros((4, f.nv)),
        dense=np.zeros((4, f.nv)),
        pace=Pace(start=start),
    )
    memory = DaeMemory(
        plan=plan,
        clock=clock,
        counts=RunCounts(),
        failed=Failure(component=-1, t=np.nan),
        step=step,
        newton=_newton(problem),
        active=_active(problem, redundant),
        lu=lu,
        real=RealFactors(**_factors(lu, np.float64)),
        pair=ComplexFactors(**_factors(lu, np.complex128)),
        saddle=ldl.lay_out(saddle_pattern),
        nq=f.nq,
        nv=f.nv,
        nw=f.nw,
        mh=f.mh,
        m=m,
        v_power=int(f.mh > 0),
        spectral_radius=spectral_radius,
        curved=curved,
        straight=np.setdiff1d(np.arange(f.nq), curved).astype(np.int64),
        blocks=blocks,
        x=x0.copy(),
        x_old=x0.copy(),
        a_now=np.zeros(f.nv),
        lam_now=np.zeros(m),
        a_alg=np.zeros(f.nv),
        projected=np.zeros(nx),
        rows=np.zeros((rows, nx)),
        a_rows=np.zeros((rows, f.nv)),
        lam_rows=np.zeros((rows, m)),
    )
    _add_functions(memory, problem)
    return memory


_analyzed: WeakKeyDictionary[Any, tuple[ldl.SaddlePattern, static_lu.LuPattern]] = WeakKeyDictionary()


def _patterns(problem: DaeProblem) -> tuple[ldl.SaddlePattern, static_lu.LuPattern]:
    """Symbolic factorizations of [M G^T; G 0] and of the Newton matrices, made once for a system."""
    f, m = problem.functions, problem.m
    if f not in _analyzed:
        saddle = ldl.analyze(f.nv, m, f.M_row, f.M_col, f.G_row, f.G_col)
        _analyzed[f] = saddle, static_lu.analyze(f.nv + f.curved.size, m, f.K_row, f.K_col)
    return _analyzed[f]


def _newton(problem: DaeProblem) -> Newton:
    f, n = problem.functions, problem.functions.nv + problem.functions.curved.size + problem.m
    sizes = {"z": n, "w": n, "zf": n, "zq": f.nq, "zv": f.nv, "za": f.nv, "zqdot": f.nq, "zpower": f.nw}
    return Newton(
        k_row=np.array(f.K_row, dtype=np.int64),
        weight=np.zeros(n),
        error=np.zeros(f.nq + f.nv),
        **{name: np.zeros((3, size)) for name, size in sizes.items()},
    )


def _active(problem: DaeProblem, redundant: bool) -> ActiveRows:
    nv, m = problem.functions.nv, problem.m
    return ActiveRows(
        redundant=int(redundant),
        selecting=int(redundant),
        off=np.zeros(m, dtype=np.int64),
        picked=np.zeros(m, dtype=np.int64),
        basis=np.zeros((m, nv)),
        triangle=np.zeros((m, m)),
        length=np.zeros(m),
        v_unit=np.zeros(nv),
    )


def _factors(lu: static_lu.LuPattern, dtype: Any) -> dict[str, Any]:
    size = lu.order.size
    return {
        "values": np.zeros(lu.values, dtype),
        **{name: np.zeros(size, dtype) for name in ("inverse", "b", "y")},
    }


def _add_functions(memory: DaeMemory, problem: DaeProblem) -> None:
    """Add the point, the results, and the functions between them."""
    f, m, nv, nc = problem.functions, problem.m, problem.functions.nv, problem.functions.curved.size
    q, v, a, lam = np.zeros(f.nq), np.zeros(nv), np.zeros(nv), np.zeros(m)
    R, K, rhs = np.zeros(nv + nc + m), np.zeros((3, f.K_row.size)), np.zeros(nv + m)
    qdot, phi, rate, power = np.zeros(f.nq), np.zeros(f.mh), np.zeros(m), np.zeros(f.nw)
    seen, p, tables, switching = memory.clock.seen, problem.p, problem.tables, problem.switching
    assert tables is not None
    guards = None if switching is None else switching.guards
    point, state = (seen, q, v, a, lam, p, tables), (seen, q, v, p, tables)
    others = {
        "jacobian": (f.jacobian, point, [*K]),
        "quadratures": (f.power or f.kinematics, point, [power]),
        "kinematics": (f.kinematics, state, [qdot]),
        "constraints": (f.constraints, state, [phi, rate]),
        "mass": (f.saddle, state, [memory.saddle.M, memory.saddle.G]),
        "bias": (f.bias, state, [rhs, rhs[nv:]]),
    }
    events, stage = problem.events, np.zeros(f.nq + nv)
    given = [function for function in (guards, events) if function is not None]
    functions = [f.residual, *(function for function, _, _ in others.values()), *given]
    work = np.zeros(max(1, *[function.work_size for function in functions]))
    modes = lay_out_modes(
        switching, f.residual.sites, [site for function, _, _ in others.values() for site in function.sites]
    )
    watched = lay_out_events(problem.directions)
    if events is not None:
        own = (seen, stage, p, events.tables, free_modes(events.sites))
        watched.call = call_of(events, own, [watched.watch.value], work)
    else:
        watched.call = call_of(None, (), (), work)
    first = 0
    for name, (function, arguments, results) in others.items():
        own = modes.other_value[NUMBERS * first :]
        memory.set(**{name: call_of(function, (*arguments, own), results, work)})
        first += len(function.sites)
    parts = [R, R[nv:], R[nv + nc :], R[nv + nc + f.mh :]]
    memory.set(
        modes=modes,
        watched=watched,
        stage=stage,
        residual=call_of(f.residual, (*point, modes.value), parts, work),
        guards=call_of(guards, (*point, modes.value), [modes.watch.value], work),
        point=EvaluationPoint(q=q, v=v, a=a, lam=lam),
        found=Results(
            f=R,
            k=K,
            qdot=qdot,
            phi=phi,
            rate=rate,
            rhs=rhs,
            power=power,
            qdot_still=np.zeros(f.nq),
            v_kept=np.zeros(nv),
        ),
    )


@inner
def set_state(memory, x):
    """q and v of the point from x = [q; v; w]."""
    q, v = memory.point.q, memory.point.v
    take(q, x, 0)
    take(v, x, q.size)


@inner
def first_not_finite(values):
    """Index of the first number that is not finite, or -1."""
    for j in range(values.size):
        if not isfinite(values[j]):
            return j
    return -1
