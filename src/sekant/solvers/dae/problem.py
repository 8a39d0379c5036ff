"""Input and output of the integration of a differential-algebraic system."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SolverError
from sekant.solvers.common.memory import CompiledFunction
from sekant.solvers.common.modes import Switching

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


Compiled = TypeVar("Compiled", bound=CompiledFunction)


@dataclass(frozen=True, eq=False)
class DaeFunctions(Generic[Compiled]):
    """Native functions and patterns of ``0 = R(t, q, v, a, lam, p)``, ``0 = Phi(q, t, p)``, ``0 = B(q, v, t, p)``.

    Every one takes the table buffer T as last argument; see `sekant.engine.functions.dae` for the equations.

    With the arguments (t, q, v, a, lam, p):  `residual` -> R (nv,), qdot of the curved coordinates (nc,),
    Phi (mh,), B (mn,);  `jacobian` -> values of K0, K1, K2 at `K_row`, `K_col`;  `power` -> (nw,).
    With the arguments (t, q, v, p):  `kinematics` -> qdot (nq,);  `constraints` -> Phi (mh,), their rates and B
    (m,) at velocity level;  `saddle` -> values of M at `M_row`, `M_col` and of G at `G_row`, `G_col`, where
    d(rates)/dt = G a - gamma;  `bias` -> f (nv,), gamma (m,).
    """

    nq: int
    nv: int
    mh: int
    mn: int
    nw: int
    curved: Integers
    residual: Compiled
    jacobian: Compiled
    kinematics: Compiled
    constraints: Compiled
    saddle: Compiled
    bias: Compiled
    power: Compiled | None
    K_row: Integers
    K_col: Integers
    M_row: Integers
    M_col: Integers
    G_row: Integers
    G_col: Integers
    unit_blocks: tuple[tuple[int, int], ...]

    @property
    def tables(self) -> Floats:
        """The buffer T of all of them."""
        return self.residual.tables


@dataclass(frozen=True, eq=False)
class DaeProblem:
    """A system and the values of its parameters `p` (np,). `tables`: the buffer T; by default the system's own.

    The state is x = [q; v; w] (nq + nv + nw,): coordinates, velocities, quadratures. `switching`: the sites
    of the residual, which radau5 holds within a step, ending steps at their changes; without it they are
    free. `events`: a function (t, [q; v], p) -> (ne,) that ends a run where one of its values passes zero;
    `directions` (ne,): the direction that counts, -1 falling, 1 rising, 0 both.
    """

    functions: DaeFunctions[Any]
    p: Floats = field(default_factory=lambda: np.zeros(0))
    tables: Floats | None = None
    switching: Switching | None = None
    events: Any = None
    directions: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        tables = self.functions.tables if self.tables is None else self.tables
        for name, given in (("p", self.p), ("tables", tables)):
            values = np.ascontiguousarray(given, dtype=np.float64).ravel()
            object.__setattr__(self, name, values if values.size else np.zeros(1))
        if self.functions.nv < 1:
            raise SolverError(
                "the system has no velocities (nv = 0): an implicit method has nothing to solve; use method 'dop853'"
            )

    @property
    def m(self) -> int:
        """Constraints of both kinds."""
        return self.functions.mh + self.functions.mn
