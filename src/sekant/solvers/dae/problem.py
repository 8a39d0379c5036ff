"""What the integration of a differential-algebraic system starts from and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SolverError
from sekant.solvers.common.compiled import CompiledFunction
from sekant.solvers.common.modes import Switching
from sekant.solvers.common.outcome import Outcome

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Functions(Protocol):
    """The native functions and patterns of ``0 = R(t, q, v, a, lam, p)``, ``0 = Phi(q, t, p)``, ...

    See `sekant.engine.functions.dae` for the arguments and results of each.
    """

    @property
    def nq(self) -> int: ...
    @property
    def nv(self) -> int: ...
    @property
    def mh(self) -> int: ...
    @property
    def mn(self) -> int: ...
    @property
    def nw(self) -> int: ...
    @property
    def curved(self) -> Integers: ...
    @property
    def residual(self) -> CompiledFunction: ...
    @property
    def jacobian(self) -> CompiledFunction: ...
    @property
    def kinematics(self) -> CompiledFunction: ...
    @property
    def constraints(self) -> CompiledFunction: ...
    @property
    def saddle(self) -> CompiledFunction: ...
    @property
    def bias(self) -> CompiledFunction: ...
    @property
    def power(self) -> CompiledFunction | None: ...
    @property
    def K_row(self) -> Integers: ...
    @property
    def K_col(self) -> Integers: ...
    @property
    def M_row(self) -> Integers: ...
    @property
    def M_col(self) -> Integers: ...
    @property
    def G_row(self) -> Integers: ...
    @property
    def G_col(self) -> Integers: ...
    @property
    def unit_blocks(self) -> tuple[tuple[int, int], ...]: ...
    @property
    def tables(self) -> Floats: ...


@dataclass(frozen=True, eq=False)
class DaeProblem:
    """A system and the values of its parameters `p` (np,). `tables`: the buffer T; by default the system's own.

    The state is x = [q; v; w] (nq + nv + nw,): coordinates, velocities, quadratures. `switching`: the sites of the
    residual, which radau5 holds within a step and lands on; without it they are free.
    """

    functions: Functions
    p: Floats = field(default_factory=lambda: np.zeros(0))
    tables: Floats | None = None
    switching: Switching | None = None

    def __post_init__(self) -> None:
        tables = self.functions.tables if self.tables is None else self.tables
        for name, given in (("p", self.p), ("tables", tables)):
            values = np.ascontiguousarray(given, dtype=np.float64).ravel()
            object.__setattr__(self, name, values if values.size else np.zeros(1))
        if self.functions.nv < 1:
            raise SolverError(f"the system has no velocities (nv = {self.functions.nv})")

    @property
    def m(self) -> int:
        """Constraints of both kinds."""
        return self.functions.mh + self.functions.mn


@dataclass(frozen=True)
class DaeStats:
    """`steps`: accepted; `rejected`: trial steps given up, `diverged` of them because Newton's iteration did not
    converge; `residuals`: evaluations of the equations; `jacobians`, `factorizations`: of the Newton matrix;
    `restarts`: stops that lay inside the interval and were landed on; `landings`: changes of modes."""

    steps: int
    rejected: int
    diverged: int
    residuals: int
    jacobians: int
    factorizations: int
    restarts: int
    landings: int = 0


DaeOutcome = Outcome[DaeStats]
