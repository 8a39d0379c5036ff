"""What the integration of a differential-algebraic system starts from and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SolverError
from sekant.solvers.common.modes import Switching, chattering_text
from sekant.solvers.ode.problem import NativeFunction

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Status = Literal[
    "finished",
    "interrupted",
    "not_finite",
    "step_too_small",
    "too_many_steps",
    "no_convergence",
    "constraints",
    "chattering",
]


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
    def residual(self) -> NativeFunction: ...
    @property
    def jacobian(self) -> NativeFunction: ...
    @property
    def kinematics(self) -> NativeFunction: ...
    @property
    def constraints(self) -> NativeFunction: ...
    @property
    def saddle(self) -> NativeFunction: ...
    @property
    def bias(self) -> NativeFunction: ...
    @property
    def power(self) -> NativeFunction | None: ...
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


def _name(kind: str, index: int, names: Sequence[str] | None) -> str:
    if names is None or not 0 <= index < len(names):
        return f"{kind} {index}" if index >= 0 else f"a {kind}"
    return f"'{names[index]}'"


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


@dataclass(frozen=True)
class DaeOutcome:
    """The motion as far as it was computed.

    `t` (k,), `x` (k, nq + nv + nw), `a` (k, nv), `lam` (k, m): the requested output times that were reached.
    `t_last`, `x_last`: the last good point, which may lie beyond the last output.
    `t_failed`: where the trial that gave up the run would have ended (NaN for a run that did not fail).
    `component`: index of the state to blame, or -1; with status "constraints" that of the constraint.
    `start_moved`: largest change of q and of v by which the given start was made consistent.
    `largest_residuals`: largest |Phi| and |rates| left by projection at the ends of steps.
    `site`: what chatters, as a reader would call it.
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
    start_moved: tuple[float, float]
    largest_residuals: tuple[float, float]
    stats: DaeStats
    site: str = ""

    def describe(self, names: Sequence[str] | None = None, rows: Sequence[str] | None = None) -> str:
        """One line for a reader. `names`: of the states; `rows`: of the constraints."""
        where = f"t = {self.t_last:.9g}"
        state = _name("state", self.component, names)
        row = _name("constraint", self.component, rows)
        if self.status == "not_finite":
            return (
                f"{state} is not finite beyond {where} (tried t = {self.t_failed:.9g}); "
                "the motion leaves the range of a table, is singular there, or the step is too long"
            )
        if self.status == "step_too_small":
            return (
                f"the step became too small at {where}; {state} has the largest error: it may jump or grow "
                "without bound; use looser tolerances, or a stop at the jump"
            )
        if self.status == "no_convergence":
            return (
                f"Newton's iteration does not converge at {where}, however short the step; {state} changes most: "
                "the equations may be singular there, jump, or the constraints may contradict each other"
            )
        if self.status == "chattering":
            return chattering_text(self.site, where)
        if self.status == "constraints":
            return (
                f"{row} cannot be satisfied beyond {where} (tried t = {self.t_failed:.9g}): the mechanism "
                "cannot go on, or the constraint contradicts another one"
            )
        if self.status == "too_many_steps":
            return (
                f"stopped at {where} after {self.stats.steps} steps and {self.stats.rejected} rejected ones; "
                "raise max_steps or loosen the tolerances"
            )
        if self.status == "interrupted":
            return f"interrupted at {where} after {self.stats.steps} steps"
        return f"finished at {where} after {self.stats.steps} steps"
