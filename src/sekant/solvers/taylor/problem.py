"""Input and output of a Taylor integration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sekant.errors import SolverError
from sekant.solvers.linear.ldl import analyze
from sekant.solvers.taylor.machine import TaylorLayout, lay_out_system
from sekant.solvers.taylor.native.kernel import Compiler, is_small, kernel_text
from sekant.solvers.taylor.native.layout import Kernel
from sekant.solvers.taylor.nodes import Nodes
from sekant.solvers.taylor.schedule import make_program
from sekant.solvers.taylor.tape import SeriesTape


@dataclass(frozen=True, eq=False)
class TaylorProblem:
    """A system to integrate by Taylor series: index 3, with any constraints or none.

    `tape`: the equations, see `SeriesTape`. `unit_blocks`: (start, length) of the blocks of q that are scaled back
    to unit norm. `counts` (nv,): whether a velocity counts for the error of a step (quadratures do not).
    `compiler`: makes native code of the recurrences; without it, and if compilation would take too long, they
    are interpreted.
    """

    tape: SeriesTape
    unit_blocks: Sequence[tuple[int, int]] = ()
    counts: Sequence[bool] | None = None
    compiler: Compiler | None = None
    layout: TaylorLayout = field(init=False, repr=False)

    def __post_init__(self) -> None:
        program, nodes = make_program(self.tape)
        for start, length in self.unit_blocks:
            if start < 0 or length < 1 or start + length > self.nq:
                raise SolverError(
                    f"unit_blocks contains a block of {length} coordinates that starts at index {start}, but q has "
                    f"{self.nq} coordinates"
                )
        if self.counts is not None and len(self.counts) != self.nv:
            raise SolverError(f"counts has size {len(self.counts)}, but must have size nv = {self.nv}")
        t = self.tape
        pattern = analyze(self.nv, self.m, t.M_row, t.M_col, t.G_row, t.G_col)
        kernel = None
        if self.compiler is not None and is_small(program, pattern):
            text, size = kernel_text(program, nodes, pattern)
            kernel = Kernel(self.compiler(text), size, text)
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
    def n_powers(self) -> int:
        return int(np.size(self.tape.powers))

    @property
    def n_events(self) -> int:
        return int(np.size(self.tape.events))
