"""The memory of a Taylor run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.structs import FunctionAddress, Integer, Matrix, Real, Struct, Vector
from sekant.loops.declare.structs import Integers as Whole
from sekant.solvers.common.modes import HeldModes, Sites, lay_out_sites, memory_of_modes
from sekant.solvers.linear.ldl import Factor, SaddlePattern, lay_out
from sekant.solvers.taylor.codes import FIRST_OPERATION, Op
from sekant.solvers.taylor.native.layout import STRIDE, Kernel
from sekant.solvers.taylor.nodes import Nodes
from sekant.solvers.taylor.schedule import Program

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Lists of work.
STAGE, FIX, MATRIX, KINEMATICS, WATCH, HELD = range(6)

START, READY = 0, 1  # phases: the point must be projected and its modes found; it is ready for a series


class TaylorCode(Struct):
    """Shared data of all runs of a system: groups of operations in lists of work, nodes of inputs and outputs,
    switches, lookups, tables."""

    # Groups of all lists: operation, level, region, first and last member; members: operands and where their changes
    # are; range of groups of each list.
    g_op: Whole
    g_level: Whole
    g_region: Whole
    g_first: Whole
    g_last: Whole
    d: Whole
    a: Whole
    b: Whole
    c: Whole
    da: Whole
    db: Whole
    dc: Whole
    lists: Whole
    # Nodes of inputs and outputs.
    in_q: Whole
    in_v: Whole
    in_a: Whole
    in_lam: Whole
    in_t: Whole
    out_rates: Whole
    out_residual: Whole
    out_positions: Whole
    out_velocities: Whole
    out_m: Whole
    out_g: Whole
    out_events: Whole
    out_powers: Whole
    radicands: Whole  # nodes under roots
    radicand_regions: Whole
    # Switches: node, node of the mode, whether it depends on accelerations or multipliers, lookup.
    s_value: Whole
    s_mode: Whole
    s_algebraic: Whole
    s_lookup: Whole
    # Lookups: first coefficient and number of them, two switches (-1: none), rows of the second axis, places in the
    # data.
    k_first: Whole
    k_count: Whole
    k_axes: Whole
    k_rows2: Whole
    k_data: Whole
    k_growth: Whole
    unit_blocks: Whole  # pairs of start and length
    table: Vector
    growth: Vector


class TaylorPlan(Struct):
    """The request."""

    t_eval: Vector  # (m,)
    # The error of v_i in a step is kept below scale_abs_i + rtol |v_i|; scale_abs (nv,) is infinite for velocities
    # that do not count. `tol`: one number for it; `atol_work`: the same for works, which share one scale, that of the
    # largest.
    scale_abs: Vector
    direction: Whole  # (ne,) sign of event functions after the event, 0 for both
    order: Integer  # of the series of v
    max_steps: Integer
    reactions: Integer  # 1: a and lam are in the output as well
    snap: Real  # times closer than this are one
    rtol: Real
    tol: Real
    atol_work: Real
    max_step: Real


class TaylorClock(Struct):
    """The current position of a run."""

    t: Real
    row: Integer  # the next output
    phase: Integer
    step_start: Real  # of the last series


class TaylorCounts(Struct):
    steps: Integer
    shortened: Integer
    landings: Integer


class Ending(Struct):
    """The cause of the end of the run: the event, constraint or switch, the velocity with the largest error,
    the time of the failure."""

    which: Integer
    jumped: Integer  # whether the event function jumped over zero with a switch
    component: Integer
    t_failed: Real


class Cuts(Struct):
    """Successive steps that a switch has ended; the time of the first, and its length without the switch."""

    count: Integer
    since: Real
    reach: Real


class Largest(Struct):
    """Largest residuals of constraints at ends of steps, and the largest work."""

    position: Real
    velocity: Real
    work: Real


class EventSides(Struct):
    """For each event function."""

    fresh: Whole  # 2 if the run is at an event, 1 if it may be
    side: Whole  # of zero, just before the switch at which the run is; 0 if there is none


class TaylorPoint(Struct):
    q: Vector
    v: Vector
    w: Vector  # works


class StepSeries(Struct):
    """Series of a step."""

    q: Matrix  # (nq, order + 2)
    v: Matrix  # (nv, order + 1)
    w: Matrix  # (nw, order + 1)


class SeriesKernel(Struct):
    function: FunctionAddress  # native, or 0
    work: Vector  # see `native.layout`


class Scratch(Struct):
    """Changes of nodes, right-hand side, result of a projection, polynomials of the root search."""

    delta: Vector
    rhs: Vector
    result: Vector
    first: Vector
    second: Vector


class OutputRows(Struct):
    x: Matrix  # (rows, nq + nv + nw)
    a: Matrix  # (rows, nv)
    lam: Matrix  # (rows, m)


class TaylorMemory(Struct):
    """A run."""

    code: TaylorCode
    series: Matrix  # (nodes, order + 2, or more with a kernel) coefficients
    factor: Factor  # of the saddle point system
    kernel: SeriesKernel
    plan: TaylorPlan
    clock: TaylorClock
    counts: TaylorCounts
    ending: Ending
    cuts: Cuts
    worst: Largest
    modes: HeldModes  # of the switches
    fresh: Whole  # bit 1 (2) if the value of a switch is on its lower (upper) bound
    events: EventSides
    point: TaylorPoint  # present
    end: TaylorPoint  # of the step
    output: TaylorPoint  # at an output row
    step: StepSeries
    scratch: Scratch
    rows: OutputRows


@dataclass(frozen=True, eq=False)
class TaylorLayout:
    """Shared data of all runs of a system."""

    program: Program
    nodes: Nodes
    pattern: SaddlePattern
    kernel: Kernel | None
    code: TaylorCode
    sites: Sites


def lay_out_system(
    program: Program,
    nodes: Nodes,
    pattern: SaddlePattern,
    unit_blocks: Sequence[tuple[int, int]],
    kernel: Kernel | None,
) -> TaylorLayout:
    lists = {k: np.array(v, dtype=np.int64).ravel() for k, v in _code(program, nodes, unit_blocks).items()}
    tables = {k: np.array(v, dtype=np.float64).ravel() for k, v in _data(nodes).items()}
    switches = nodes.switches
    sites = lay_out_sites(
        [s.kind for s in switches],
        [s.breaks for s in switches],
        [(s.low, s.high) for s in switches],
        [s.period for s in switches],
    )
    return TaylorLayout(program, nodes, pattern, kernel, TaylorCode(**lists, **tables), sites)


def lay_out_run(
    system: TaylorLayout, plan: TaylorPlan, t_start: float, q: Floats, v: Floats, w: Floats, p: Floats
) -> TaylorMemory:
    """Allocate a run at its start. The layout must stay alive as well."""
    program, nodes, kernel = system.program, system.nodes, system.kernel
    m, order, rows = program.inputs["lam"].size, plan.order, plan.t_eval.size
    T = np.zeros((len(nodes.op), STRIDE if kernel else order + 2))
    T[:, 0] = nodes.constant
    for node, value in zip(program.inputs["p"].tolist(), p.tolist(), strict=True):
        if node >= 0:
            T[node, 0] = value
    switches, events = len(nodes.switches), program.outputs["events"].size
    return TaylorMemory(
        code=system.code,
        series=T,
        factor=lay_out(system.pattern),
        kernel=SeriesKernel(
            function=kernel.address if kernel else 0,
            work=np.zeros(kernel.work_size if kernel else 1),
        ),
        plan=plan,
        clock=TaylorClock(t=t_start, step_start=t_start),
        counts=TaylorCounts(),
        ending=Ending(component=-1, which=-1, t_failed=np.nan),
        cuts=Cuts(),
        worst=Largest(),
        modes=HeldModes(**memory_of_modes(system.sites)),
        fresh=np.zeros(switches, dtype=np.int64),
        events=EventSides(fresh=np.zeros(events, dtype=np.int64), side=np.zeros(events, dtype=np.int64)),
        point=TaylorPoint(q=q.copy(), v=v.copy(), w=w.copy()),
        end=TaylorPoint(q=q.copy(), v=v.copy(), w=w.copy()),
        output=TaylorPoint(q=q.copy(), v=v.copy(), w=w.copy()),
        step=StepSeries(
            q=np.zeros((q.size, order + 2)),
            v=np.zeros((v.size, order + 1)),
            w=np.zeros((w.size, order + 1)),
        ),
        scratch=Scratch(
            delta=np.zeros(len(nodes.op)),
            rhs=np.zeros(v.size + m),
            result=np.zeros(3),
            first=np.zeros(order + 3),
            second=np.zeros(order + 3),
        ),
        rows=OutputRows(
            x=np.zeros((rows, q.size + v.size + w.size)),
            a=np.full((rows, v.size), np.nan),
            lam=np.full((rows, m), np.nan),
        ),
    )


def _code(program: Program, nodes: Nodes, unit_blocks: Sequence[tuple[int, int]]) -> dict[str, Any]:
    lists = (program.stage, program.fix, program.matrix, program.kinematics, program.watch, program.held)
    first, last, ends, offset, total = [], [], [0], 0, 0
    for groups in lists:
        first.append(groups.start[:-1] + offset)
        last.append(groups.start[1:] + offset)
        offset += groups.d.size
        total += groups.op.size
        ends.append(total)

    def joined(name: str) -> Integers:
        return np.concatenate([getattr(groups, name) for groups in lists])

    inputs, outputs, lookups = program.inputs, program.outputs, nodes.lookups
    axes = [[x.switches[0], x.switches[1] if len(x.switches) > 1 else -1] for x in lookups]
    values = [
        joined("op"),
        joined("level"),
        joined("region"),
        np.concatenate(first),
        np.concatenate(last),
        *[joined(name) for name in ("d", "a", "b", "c", "da", "db", "dc")],
        ends,
        *[inputs[name] for name in ("q", "v", "a", "lam", "t")],
        *[outputs[n] for n in ("rates", "residual", "positions", "velocities", "M", "G", "events", "powers")],
        program.radicands,
        program.radicand_regions,
        [s.g for s in nodes.switches],
        [s.mode for s in nodes.switches],
        [int(x) for x in _algebraic(nodes)],
        [s.lookup for s in nodes.switches],
        [x.first for x in lookups],
        [x.count for x in lookups],
        [number for pair in axes for number in pair],
        [x.rows2 for x in lookups],
        _starts([x.data.size for x in lookups]),
        _starts([x.increment.size for x in lookups]),
        [number for block in unit_blocks for number in block],
    ]
    return dict(zip(TaylorCode.fields, values, strict=False))


def _data(nodes: Nodes) -> dict[str, Any]:
    def flat(arrays: list[Floats]) -> Floats:
        return np.concatenate([np.zeros(0), *[a.ravel() for a in arrays]])

    return {
        "table": flat([x.data for x in nodes.lookups]),
        "growth": flat([x.increment for x in nodes.lookups]),
    }


def _starts(sizes: list[int]) -> list[int]:
    return np.cumsum([0, *sizes])[:-1].tolist()


def _algebraic(nodes: Nodes) -> list[bool]:
    depends = [op in (Op.A, Op.LAM) for op in nodes.op]
    for i, op in enumerate(nodes.op):
        if op >= FIRST_OPERATION and not nodes.held[i]:
            depends[i] = depends[nodes.a[i]] or depends[nodes.b[i]] or depends[nodes.c[i]]
    return [depends[s.g] for s in nodes.switches]
