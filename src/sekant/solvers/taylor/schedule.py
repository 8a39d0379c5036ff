"""The order of evaluation: the stage and order at which each operation runs, in groups of equal operations.

Stage s = -2, -1, 0, 1, ... computes the coefficients of order s + 2 of the values that Phi needs, s + 1 of
those that the rates q' and the velocity constraints B need, and s of those that the equations of motion need.
This offset is the `level` (2, 1, 0) of a value: the highest of those of its users. A user of lower level
finds the coefficient ready from an earlier stage. In stage s >= 0 the unknowns a_s = (s + 1) v_(s+1) and
lam_s enter as zero first; they follow from the residuals with the factorized matrix, and values that depend
on them are corrected (`fix`). Operations that are not needed for the held values of a step are skipped
(`regions`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sekant.solvers.taylor.codes import FIRST_OPERATION, HELD_ONLY, LINEAR, OWN_HISTORY, Op
from sekant.solvers.taylor.nodes import Nodes
from sekant.solvers.taylor.regions import ALWAYS, find_regions
from sekant.solvers.taylor.tape import INPUTS, SeriesTape
from sekant.solvers.taylor.translate import translate

NO_LEVEL = -1
BLOCK = 512
"""Number of values that are computed together, operands first: few enough that their coefficients stay in the
first-level cache."""
_SERIES = {"residual": 0, "positions": 2, "velocities": 1, "rates": 1, "powers": 0}
"""Results for which more than order 0 is needed, and their levels."""
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Groups:
    """Operations ``d = op(a, b, c)``; group g holds those from start[g] to start[g + 1]. `region`: the held
    value that must be nonzero for the group to run, or `ALWAYS`. `da`, `db`, `dc`: indices of the changes of
    the operands (0 if there is none)."""

    op: Integers
    level: Integers
    region: Integers
    start: Integers
    d: Integers
    a: Integers
    b: Integers
    c: Integers
    da: Integers
    db: Integers
    dc: Integers


@dataclass(frozen=True, eq=False)
class Program:
    """Lists of work, and places of inputs and outputs.

    `stage`: all moving values. `fix`: values to correct. At order 0: `matrix`: for M and G; `kinematics`: for the
    rates; `watch`: for switches and events; `held`: operations on held values. `inputs`: nodes of q, v, a, lam, t,
    p (-1: not used). `outputs`: nodes of rates, residual, positions, velocities, M, G, events, powers. `radicands`:
    moving values under roots, and the regions of these roots.
    """

    stage: Groups
    fix: Groups
    matrix: Groups
    kinematics: Groups
    watch: Groups
    held: Groups
    inputs: dict[str, Integers]
    outputs: dict[str, Integers]
    radicands: Integers
    radicand_regions: Integers


def make_program(tape: SeriesTape) -> tuple[Program, Nodes]:
    nodes, value = translate(tape)
    nq, nv, _, m, _, n_parameters = tape.sizes_in
    sizes = {"q": nq, "v": nv, "a": nv, "lam": m, "t": 1, "p": n_parameters}
    inputs: dict[str, Integers] = {}
    for number, name in enumerate(INPUTS):
        needed = name in ("q", "v")
        found = [
            nodes.input(number, i) if needed else nodes.inputs.get((number, i), -1)
            for i in range(sizes[name])
        ]
        inputs[name] = np.array(found, dtype=np.int64)
    outputs = {
        name: value[np.asarray(getattr(tape, name), dtype=np.int64)]
        for name in ("rates", "residual", "positions", "velocities", "M", "G", "events", "powers")
    }
    for q, rate in zip(inputs["q"].tolist(), outputs["rates"].tolist(), strict=True):
        nodes.a[q] = rate
    plan = _Plan(nodes, outputs, inputs["q"].tolist())
    everything = range(len(nodes.op))
    radicands = plan.radicands()
    program = Program(
        stage=plan.groups(i for i in everything if plan.level[i] >= 0 and plan.runs(i)),
        fix=plan.groups(i for i in everything if plan.fix[i] and plan.runs(i)),
        matrix=plan.values_of([*outputs["M"].tolist(), *outputs["G"].tolist()]),
        kinematics=plan.values_of(outputs["rates"].tolist()),
        watch=plan.values_of(plan.watched),
        held=plan.value_groups({i for i in everything if nodes.held[i] and nodes.op[i] >= FIRST_OPERATION}),
        inputs=inputs,
        outputs=outputs,
        radicands=np.array([i for i, _ in radicands], dtype=np.int64),
        radicand_regions=np.array([region for _, region in radicands], dtype=np.int64),
    )
    return program, nodes


class _Plan:
    def __init__(self, nodes: Nodes, outputs: dict[str, Integers], q: list[int]):
        self.nodes = nodes
        self.q = set(q)
        self.outputs = outputs
        self.watched = [s.g for s in nodes.switches] + outputs["events"].tolist()
        results = [i for name in _SERIES for i in outputs[name].tolist()]
        self.region = find_regions(nodes, [*results, *self.watched], self.operands)
        self.level = self._levels()
        self.order = self._evaluation_order()
        self.depth, self.block = self._depths()
        self.late = self._lateness()
        self.trial, self.fix = self._fixes()

    def runs(self, i: int) -> bool:
        return not self.nodes.held[i] and (self.nodes.op[i] >= FIRST_OPERATION or i in self.q)

    def radicands(self) -> list[tuple[int, int]]:
        """Values under roots and other non-integer powers, and the regions of these."""
        n = self.nodes
        roots = (i for i, op in enumerate(n.op) if op in (Op.SQRT, Op.POWER) and self.level[i] >= 0)
        return sorted({(n.a[i], self.region[i]) for i in roots if not n.held[n.a[i]]})

    def operands(self, i: int) -> tuple[int, ...]:
        """Moving values that the operation reads, at any order."""
        n = self.nodes
        op = n.op[i]
        if op < FIRST_OPERATION:
            found: tuple[int, ...] = (n.a[i],) if i in self.q else ()
        elif op == Op.ATAN2:
            found = (n.a[i], n.b[i], n.c[i])
        elif op in (Op.ADD, Op.SUB, Op.MUL, Op.DIV) or op >= Op.EXP:
            found = (n.a[i], n.b[i])
        elif op == Op.SELECT:
            found = (n.b[i], n.c[i])
        else:
            found = (n.a[i],)
        return tuple(j for j in found if not n.held[j])

    def fresh(self, i: int) -> tuple[int, ...]:
        """Operands whose coefficient of the required order is computed in the same stage."""
        n = self.nodes
        if i in self.q:
            return (n.a[i],) if not n.held[n.a[i]] and self.level[n.a[i]] == 1 else ()
        return tuple(j for j in self._values_read(i) if self.level[j] == self.level[i])

    def _levels(self) -> list[int]:
        level = [NO_LEVEL] * len(self.nodes.op)
        work: list[int] = []

        def raise_to(i: int, value: int) -> None:
            if not self.nodes.held[i] and level[i] < value:
                level[i] = value
                work.append(i)

        for name, value in _SERIES.items():
            for i in self.outputs[name].tolist():
                raise_to(i, value)
        for i in self.watched:
            raise_to(i, 0)
        for i in self.q:
            raise_to(i, 2)
        while work:
            i = work.pop()
            for j in self.operands(i):
                if i not in self.q:
                    raise_to(j, level[i])
        return level

    def _evaluation_order(self) -> list[int]:
        """All moving values, operands first; the slopes of primitives do not count as operands."""
        n = self.nodes
        return [i for i in range(len(n.op)) if not n.held[i]]

    def _depths(self) -> tuple[list[int], list[int]]:
        """For each value, the longest chain of operands before it, and its block: consecutive values in an
        order in which operands come first, and shortly before their users."""
        depth, block, count = [-1] * len(self.nodes.op), [0] * len(self.nodes.op), 0

        def visit(start: int) -> None:
            nonlocal count
            stack = [start]
            while stack:
                i = stack[-1]
                open_ = [j for j in self.fresh(i) if depth[j] < 0]
                if open_:
                    stack.extend(open_)
                else:
                    depth[i] = 1 + max((depth[j] for j in self.fresh(i)), default=-1)
                    block[i] = count // BLOCK
                    count += 1
                    stack.pop()

        for i in self.order:
            if self.level[i] >= 0 and depth[i] < 0:
                visit(i)
        return depth, block

    def _lateness(self) -> list[int]:
        """Number of successive changes of the region that each value depends on."""
        late = [0] * len(self.nodes.op)
        for i in sorted((i for i in self.order if self.level[i] >= 0), key=lambda i: self.depth[i]):
            here = self.region[i]
            late[i] = max((late[j] + (self.region[j] != here) for j in self.fresh(i)), default=0)
        return late

    def _fixes(self) -> tuple[list[bool], list[bool]]:
        """Masks of the values that depend on the unknowns of the stage, and of those whose coefficients are
        read later."""
        n, level = self.nodes, self.level
        unknown = {Op.V: 1, Op.A: 0, Op.LAM: 0}
        by_depth = sorted((i for i in self.order if level[i] >= 0), key=lambda i: self.depth[i])
        trial = [False] * len(n.op)
        for i in by_depth:
            if n.op[i] in unknown:
                trial[i] = level[i] == unknown[Op(n.op[i])]
            else:
                trial[i] = any(trial[j] for j in self.fresh(i))
        needed = [False] * len(n.op)
        for i in [*self.watched, *self.outputs["powers"].tolist()]:
            needed[i] = True
        for i in by_depth:
            if not self.runs(i) or i in self.q:
                needed[i] = True
                continue
            op = n.op[i]
            needed[i] = needed[i] or op in OWN_HISTORY
            for j in self.operands(i):
                if level[j] > level[i] or op not in LINEAR:
                    needed[j] = True
        fix = [False] * len(n.op)
        for i in reversed(by_depth):
            if trial[i] and needed[i]:
                fix[i] = True
                for j in self.fresh(i):
                    needed[j] = True
        return trial, fix

    def groups(self, members: Iterable[int]) -> Groups:
        def key(i: int) -> tuple[int, ...]:
            group = self.depth[i], self.nodes.op[i], self.level[i]
            return self.late[i], self.region[i], self.block[i], *group

        return self._pack(sorted((key(i), i) for i in members))

    def values_of(self, targets: list[int]) -> Groups:
        """Order 0 of all moving values on which the targets depend, given the inputs."""
        n = self.nodes
        needed: set[int] = set()
        stack = [i for i in targets if not n.held[i]]
        while stack:
            i = stack.pop()
            if i not in needed and n.op[i] >= FIRST_OPERATION:
                needed.add(i)
                stack.extend(self._values_read(i))
        return self.value_groups(needed)

    def value_groups(self, members: set[int]) -> Groups:
        """Groups for order 0 of these values, whose numbers are an order of evaluation."""
        n = self.nodes
        depth: dict[int, int] = {}
        for i in sorted(members):
            operands = (
                (n.a[i], n.b[i], n.c[i]) if n.op[i] < Op.EXP or n.op[i] >= HELD_ONLY else (n.a[i], n.c[i])
            )
            depth[i] = 1 + max((depth[j] for j in operands if j in depth), default=-1)
        return self._pack(sorted(((0, ALWAYS, 0, depth[i], n.op[i], 0), i) for i in members))

    def _values_read(self, i: int) -> list[int]:
        """Operands of the same order as the result: not the slopes of primitives."""
        n = self.nodes
        return [j for j in self.operands(i) if n.op[i] < Op.EXP or j != n.b[i] or j == n.a[i]]

    def _pack(self, keyed: list[tuple[tuple[int, ...], int]]) -> Groups:
        """Make a schedule from pairs of (late, region, block, depth, operation, level) and a value, in order."""
        n = self.nodes
        op, level, region, start, members = [], [], [], [], []
        last = None
        for key, i in keyed:
            if key != last:
                op.append(key[4])
                level.append(key[5])
                region.append(key[1])
                start.append(len(members))
                last = key
            members.append(i)
        start.append(len(members))

        def changing(i: int, j: int) -> int:
            return j if self.level[i] >= 0 and self.trial[j] and j in self.fresh(i) else 0

        arrays = [
            np.array(x, dtype=np.int64)
            for x in (
                op,
                level,
                region,
                start,
                members,
                [n.a[i] for i in members],
                [n.b[i] for i in members],
                [n.c[i] for i in members],
                [changing(i, n.a[i]) for i in members],
                [changing(i, n.b[i]) for i in members],
                [changing(i, n.c[i]) for i in members],
            )
        ]
        return Groups(*arrays)
