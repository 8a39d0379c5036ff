"""The memory of a Taylor run, laid out for the compiled loops: one array a kind, in sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.solvers.common.compiled import inner
from sekant.solvers.common.sections import numbered, pack_integers, pack_reals
from sekant.solvers.common.views import int_section, mat, section_at, table_of
from sekant.solvers.linear.ldl import lay_out
from sekant.solvers.taylor.codes import FIRST_OPERATION, Op
from sekant.solvers.taylor.native.layout import STRIDE, Kernel
from sekant.solvers.taylor.nodes import Nodes
from sekant.solvers.taylor.schedule import Program

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Lists of work.
STAGE, FIX, MATRIX, KINEMATICS, WATCH, HELD = numbered(6)

# Sections of the code. Groups of all lists: operation, level, first and last member; members: operands and
# where their changes are; range of groups of each list. Nodes of inputs and outputs. Switches: node and kind, node
# of the mode, whether it depends on accelerations or multipliers, place of the breaks and their number, lookup.
# Lookups: first coefficient and number of them, two switches (-1: none), rows of the second axis, places in the
# data. Unit blocks (pairs).
(
    G_OP,
    G_LEVEL,
    G_FIRST,
    G_LAST,
    D,
    A,
    B,
    C,
    DA,
    DB,
    DC,
    LISTS,
    IN_Q,
    IN_V,
    IN_A,
    IN_LAM,
    IN_T,
    OUT_RATES,
    OUT_RESIDUAL,
    OUT_POSITIONS,
    OUT_VELOCITIES,
    OUT_M,
    OUT_G,
    OUT_EVENTS,
    S_VALUE,
    S_KIND,
    S_MODE,
    S_ALGEBRAIC,
    S_BREAKS,
    S_COUNT,
    S_LOOKUP,
    K_FIRST,
    K_COUNT,
    K_AXES,
    K_ROWS2,
    K_DATA,
    K_GROWTH,
    UNIT_BLOCKS,
) = numbered(38)

# Sections of the data: tables.
BREAKS, LIMITS, PERIOD, TABLE, GROWTH = numbered(5)

# Sections of the state. PIECE_ROW: row of a table that a switch is in. FRESH: bit 1 (2) if the value of a switch
# stands on its lower (upper) bound. FLIPS: how often a switch has moved at this very time. SIDE: where it leaves its
# interval at the end of the step (-1, +1, or 0). FRESH_EVENT: 2 if the run stands on an event, 1 if it may.
# Of the plan: DIRECTION of events, NUMBERS.
COUNT, PIECE_ROW, FRESH, FLIPS, SIDE, FRESH_EVENT, DIRECTION, NUMBERS = numbered(8)
ORDER, MAX_STEPS, REACTIONS = range(3)  # of the section NUMBERS
ROW, PHASE, STEPS, SHORTENED, LANDINGS, COMPONENT, WHICH, CUTS = range(8)  # of the section COUNT
START, READY = 0, 1  # phases: the point must be projected and its modes decided; it is ready for a series

# Sections of the work. Points: present, end of the step, output row. Series of the step, row by row. Changes
# of nodes, right-hand side, result of a projection, scratch of the root search. Interval and lap of each switch.
# Outputs. Plan.
(
    Q_NOW,
    V_NOW,
    Q_END,
    V_END,
    Q_ROW,
    V_ROW,
    Q_SERIES,
    V_SERIES,
    DELTA,
    RHS,
    RESULT,
    SCRATCH1,
    SCRATCH2,
    LOW,
    HIGH,
    LAP,
    CLOCK,
    ROWS,
    A_ROWS,
    LAM_ROWS,
    T_EVAL,
    SCALE_ABS,
    SETTINGS,
) = numbered(23)
SNAP, RTOL, TOL, MAX_STEP = range(4)  # of the section SETTINGS
# Of the section CLOCK.
NOW, T_FAILED, SMALLEST, WORST_POSITION, WORST_VELOCITY, STEP_START, CUT_SINCE, CUT_REACH = range(8)


# Rows of the table of arrays that compiled functions get as `m`, see `views`. CODE_ARRAY, DATA_ARRAY: what does not
# change; STATE_ARRAY, WORK_ARRAY: what does; SERIES (nodes, order + 2, or more with a kernel): coefficients; PATTERN,
# FACTOR: the saddle point system, see `linear.ldl`; SCRATCH: of the native kernel, see `native.layout`; NATIVE: its
# address, or 0.
CODE_ARRAY, DATA_ARRAY, STATE_ARRAY, WORK_ARRAY, SERIES, PATTERN, FACTOR, SCRATCH, NATIVE, N_ARRAYS = (
    numbered(10)
)


@dataclass(frozen=True, eq=False)
class Machine:
    """The arrays of a run, and the table of them."""

    state: Integers
    work: Floats
    factor: Floats
    kept: tuple[Any, ...]
    table: Integers


@dataclass(frozen=True)
class Plan:
    """What was asked for. `t_eval` (m,). `order`: of the series of v. `reactions`: also a and lam in the output.
    `scale_abs` (nv,), `rtol`: the error of v_i in a step is kept below scale_abs_i + rtol |v_i|; infinite for
    velocities that do not count; `tol`: one number for it. `direction` (ne,): sign of event functions after the
    event, 0 for both. Times closer than `snap` are one."""

    t_eval: Floats
    order: int
    rtol: float
    scale_abs: Floats
    tol: float
    snap: float
    max_step: float
    max_steps: int
    reactions: bool
    direction: Integers


@dataclass(frozen=True, eq=False)
class Layout:
    """What all runs of a system share. `code`, `data`: sections; `factor`: empty memory of a factorization."""

    program: Program
    nodes: Nodes
    pattern: Integers
    kernel: Kernel | None
    code: Integers
    data: Floats
    factor: Floats


def lay_out_system(
    program: Program,
    nodes: Nodes,
    pattern: Integers,
    unit_blocks: Sequence[tuple[int, int]],
    kernel: Kernel | None,
) -> Layout:
    code = pack_integers(_code(program, nodes, unit_blocks))
    return Layout(program, nodes, pattern, kernel, code, pack_reals(_data(nodes)), lay_out(pattern))


def lay_out_machine(system: Layout, plan: Plan, t_start: float, q: Floats, v: Floats, p: Floats) -> Machine:
    """A run that stands at its start."""
    program, nodes, kernel = system.program, system.nodes, system.kernel
    m, order, rows = program.inputs["lam"].size, plan.order, plan.t_eval.size
    T = np.zeros((len(nodes.op), STRIDE if kernel else order + 2))
    T[:, 0] = nodes.constant
    for node, value in zip(program.inputs["p"].tolist(), p.tolist(), strict=True):
        if node >= 0:
            T[node, 0] = value
    switches, events = len(nodes.switches), program.outputs["events"].size
    state = [
        np.zeros(8, dtype=np.int64),
        *[np.zeros(switches, dtype=np.int64)] * 4,
        np.zeros(events, dtype=np.int64),
        plan.direction,
        np.array([plan.order, plan.max_steps, int(plan.reactions)], dtype=np.int64),
    ]
    state[COUNT][[COMPONENT, WHICH]] = -1
    clock = np.zeros(8)
    clock[[NOW, T_FAILED, SMALLEST, STEP_START]] = t_start, np.nan, np.inf, t_start
    work = [
        *[q, v] * 3,
        np.zeros((q.size, order + 2)),
        np.zeros((v.size, order + 1)),
        np.zeros(len(nodes.op)),
        np.zeros(v.size + m),
        np.zeros(3),
        np.zeros(order + 3),
        np.zeros(order + 3),
        np.full(switches, -np.inf),
        np.full(switches, np.inf),
        np.zeros(switches),
        clock,
        np.zeros((rows, q.size + v.size)),
        np.full((rows, v.size), np.nan),
        np.full((rows, m), np.nan),
        plan.t_eval,
        plan.scale_abs,
        np.array([plan.snap, plan.rtol, plan.tol, plan.max_step]),
    ]
    arrays: dict[int, NDArray[Any]] = {
        CODE_ARRAY: system.code,
        DATA_ARRAY: system.data,
        STATE_ARRAY: pack_integers(state),
        WORK_ARRAY: pack_reals(work),
        SERIES: T,
        PATTERN: system.pattern,
        FACTOR: system.factor.copy(),
        SCRATCH: np.zeros(kernel.work_size if kernel else 1),
    }
    table = table_of(arrays, int(N_ARRAYS))
    table[NATIVE, 0] = kernel.address if kernel else 0
    return Machine(arrays[STATE_ARRAY], arrays[WORK_ARRAY], arrays[FACTOR], (*arrays.values(), kernel), table)


def _code(
    program: Program, nodes: Nodes, unit_blocks: Sequence[tuple[int, int]]
) -> list[Integers | list[int]]:
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
    return [
        joined("op"),
        joined("level"),
        np.concatenate(first),
        np.concatenate(last),
        *[joined(name) for name in ("d", "a", "b", "c", "da", "db", "dc")],
        ends,
        *[inputs[name] for name in ("q", "v", "a", "lam", "t")],
        *[outputs[n] for n in ("rates", "residual", "positions", "velocities", "M", "G", "events")],
        [s.g for s in nodes.switches],
        [s.kind for s in nodes.switches],
        [s.mode for s in nodes.switches],
        [int(x) for x in _algebraic(nodes)],
        _starts([s.breaks.size for s in nodes.switches]),
        [s.breaks.size for s in nodes.switches],
        [s.lookup for s in nodes.switches],
        [x.first for x in lookups],
        [x.count for x in lookups],
        [number for pair in axes for number in pair],
        [x.rows2 for x in lookups],
        _starts([x.data.size for x in lookups]),
        _starts([x.increment.size for x in lookups]),
        [number for block in unit_blocks for number in block],
    ]


def _data(nodes: Nodes) -> list[Floats | list[float]]:
    def flat(arrays: list[Floats]) -> Floats:
        return np.concatenate([np.zeros(0), *[a.ravel() for a in arrays]])

    return [
        flat([s.breaks for s in nodes.switches]),
        [limit for s in nodes.switches for limit in (s.low, s.high)],
        [s.period for s in nodes.switches],
        flat([x.data for x in nodes.lookups]),
        flat([x.increment for x in nodes.lookups]),
    ]


def _starts(sizes: list[int]) -> list[int]:
    return np.cumsum([0, *sizes])[:-1].tolist()


def _algebraic(nodes: Nodes) -> list[bool]:
    depends = [op in (Op.A, Op.LAM) for op in nodes.op]
    for i, op in enumerate(nodes.op):
        if op >= FIRST_OPERATION and not nodes.held[i]:
            depends[i] = depends[nodes.a[i]] or depends[nodes.b[i]] or depends[nodes.c[i]]
    return [depends[s.g] for s in nodes.switches]


@inner
def code(m, k):
    return int_section(m[CODE_ARRAY, 0], k)


@inner
def data(m, k):
    return section_at(m[DATA_ARRAY, 0], k)


@inner
def state(m, k):
    return int_section(m[STATE_ARRAY, 0], k)


@inner
def work(m, k):
    return section_at(m[WORK_ARRAY, 0], k)


@inner
def factor(m, k):
    return section_at(m[FACTOR, 0], k)


@inner
def pattern(m, k):
    return int_section(m[PATTERN, 0], k)


@inner
def series(m):
    """Coefficients (nodes, orders)."""
    return mat(m, SERIES)
