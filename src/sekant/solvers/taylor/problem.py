"""What a Taylor integration starts from and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SolverError
from sekant.solvers.linear.ldl import analyze
from sekant.solvers.taylor.machine import Layout, lay_out_system
from sekant.solvers.taylor.native.kernel import Compiler, is_small, kernel_text
from sekant.solvers.taylor.native.layout import Kernel
from sekant.solvers.taylor.nodes import Nodes
from sekant.solvers.taylor.schedule import make_program
from sekant.solvers.taylor.tape import SeriesTape

Floats = NDArray[np.float64]
Status = Literal[
    "finished",
    "interrupted",
    "not_finite",
    "step_too_small",
    "too_many_steps",
    "event",
    "constraints",
    "chattering",
]


@dataclass(frozen=True, eq=False)
class TaylorProblem:
    """A system to be integrated by Taylor series: index 3, with any mix of constraints, or none.

    `tape`: the equations, see `SeriesTape`. `unit_blocks`: (start, length) of the blocks of q that are scaled
    back to unit norm. `counts` (nv,): whether a velocity counts for the error of a step (quadratures do not).
    `compiler`: makes native code of the recurrences; without it, and for systems whose compilation would
    take long, they are interpreted.
    """

    tape: SeriesTape
    unit_blocks: Sequence[tuple[int, int]] = ()
    counts: Sequence[bool] | None = None
    compiler: Compiler | None = None
    layout: Layout = field(init=False, repr=False)

    def __post_init__(self) -> None:
        program, nodes = make_program(self.tape)
        for start, length in self.unit_blocks:
            if start < 0 or length < 1 or start + length > self.nq:
                raise SolverError(
                    f"unit block of {length} from index {start} does not fit into {self.nq} entries"
                )
        if self.counts is not None and len(self.counts) != self.nv:
            raise SolverError(f"counts has {len(self.counts)} entries, but there are {self.nv} velocities")
        t = self.tape
        pattern = analyze(self.nv, self.m, t.M_row, t.M_col, t.G_row, t.G_col)
        kernel = None
        if self.compiler is not None and is_small(program, pattern):
            text, size = kernel_text(program, nodes, pattern)
            kernel = Kernel(self.compiler(text), size)
        layout = lay_out_system(program, nodes, pattern, self.unit_blocks, kernel)
        object.__setattr__(self, "layout", layout)

    @property
    def nodes(self) -> Nodes:
        return self.layout.nodes

    @property
    def nq(self) -> int:
        return int(self.tape.sizes_in[0])

    @property
    def nv(self) -> int:
        return int(self.tape.sizes_in[1])

    @property
    def m(self) -> int:
        """Constraints of both kinds."""
        return int(self.tape.sizes_in[3])

    @property
    def n_parameters(self) -> int:
        return int(self.tape.sizes_in[5])

    @property
    def n_events(self) -> int:
        return int(np.size(self.tape.events))


@dataclass(frozen=True)
class TaylorStats:
    """`steps`: taken; `rejected`: times a step was halved because its end could not be projected;
    `restarts`: switches and events landed on; `order`: of the series of v; `sweeps`: back-substitutions a
    stage, on average; `smallest_step`: s."""

    steps: int
    rejected: int
    restarts: int
    order: int
    sweeps: float
    smallest_step: float


@dataclass(frozen=True)
class EventRecord:
    """Event `number` at the time `t`, with the point before it is changed by anybody: `q` (nq,), `v` (nv,)."""

    number: int
    t: float
    q: Floats
    v: Floats


@dataclass(frozen=True)
class TaylorOutcome:
    """The motion as far as it was computed.

    `t` (k,), `x` (k, nq + nv), `a` (k, nv), `lam` (k, m): the requested output times that were reached.
    `t_last`, `x_last`: the last good point, which may lie beyond the last output.
    `t_failed`: where the trial that gave up the run would have ended (NaN for a run that did not fail).
    `component`: index of the velocity to blame, or -1. `which`: number of the event ("event"), of the constraint
    ("constraints") or of the switch ("chattering"), or -1. `reason`: what is known of the cause.
    `events`: all that have happened.
    `start_moved`: largest change of q and of v by which the given start was made consistent.
    `largest_residuals`: largest |Phi| and |(Phi', B)| at the ends of steps before projection.
    """

    status: Status
    t: Floats
    x: Floats
    a: Floats
    lam: Floats
    t_last: float
    x_last: Floats
    t_failed: float
    component: int
    which: int
    reason: str
    events: tuple[EventRecord, ...]
    start_moved: tuple[float, float]
    largest_residuals: tuple[float, float]
    stats: TaylorStats

    def describe(self, names: Sequence[str] | None = None, rows: Sequence[str] | None = None) -> str:
        """One line for a reader. `names`: of the nv velocities; `rows`: of the constraints."""
        where = f"t = {self.t_last:.9g}"
        state = f"velocity {self.component}"
        if names is not None and self.component >= 0:
            state = f"'{names[self.component]}'"
        row = f"constraint {self.which}"
        if rows is not None and 0 <= self.which < len(rows):
            row = f"'{rows[self.which]}'"
        cause = self.reason or (
            "the motion leaves the range of a table, is singular there, or needs a root or logarithm of a "
            "negative number"
        )
        state = state if self.component >= 0 else "the motion"
        texts = {
            "not_finite": f"{state} is not finite at {where} (tried t = {self.t_failed:.9g}); {cause}",
            "step_too_small": (
                f"the step became too small at {where}; {state} has the fastest growing series: it grows without "
                "bound, the mechanism comes to a singular position, or the system is stiff; use an implicit "
                "method or a looser tolerance"
            ),
            "too_many_steps": (
                f"stopped at {where} after {self.stats.steps} steps; raise max_steps, loosen the tolerance, or "
                "use an implicit method if the problem is stiff"
            ),
            "constraints": (
                f"{row} cannot be satisfied beyond {where} (tried t = {self.t_failed:.9g}): the mechanism "
                "cannot go on, or the constraint contradicts another one"
            ),
            "chattering": (
                f"a switch (abs, comparison, limit, table piece) flips back and forth at {where}: both sides push "
                "towards it; smooth the law, e.g. by tanh, or use a fixed-step method"
            ),
            "event": f"event {self.which} at {where} after {self.stats.steps} steps",
            "interrupted": f"interrupted at {where} after {self.stats.steps} steps",
        }
        return texts.get(self.status, f"finished at {where} after {self.stats.steps} steps")
