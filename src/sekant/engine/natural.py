"""Mechanisms modeled with points, and systems given by a Lagrangian, built in Python (`sekant.natural`).

>>> import sekant as sk
>>> m = sk.natural.Mechanism(dim=2, gravity=(0, -9.81))
>>> O, A = m.ground("O", (0, 0)), m.point("A", (0.6, -0.8))
>>> rod = m.rod(O, A, mass=1.3)
>>> result = sk.simulate(m, until=1.0)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from sekant.engine.system import Engine, System, compile
from sekant.formulations.natural.freedom import FreedomTable, freedom_table
from sekant.geometry.spatial import SX
from sekant.model.model import Model
from sekant.model.points.collector import Collector
from sekant.model.points.composition import composed
from sekant.model.points.geometric import Geometric
from sekant.model.points.item_collector import BodyHandle
from sekant.model.points.lagrangian import Lagrangian
from sekant.model.resolve import resolve
from sekant.model.settings import SimulationSettings
from sekant.tables.lookups import Lookups

__all__ = ["BodyHandle", "Geometric", "Lagrangian", "Mechanism", "freedom", "lagrange"]


class Mechanism(Collector):
    """A mechanism modeled with points, built call by call. `model` is its description; `compile` returns its system.

    Default settings of runs (`until`, `rtol`, ...) may be given too.
    """

    def compile(self, engine: Engine = "llvm", cache: bool = True, parameters: Sequence[str] = ()) -> System:
        """The equations of motion, ready for `simulate` and the other analyses.

        `parameters`: further numbers that can be set for each run, in addition to those made by `parameter`.
        """
        return compile(self, engine=engine, cache=cache, parameters=parameters)

    def freedom(self) -> FreedomTable:
        """The table of degrees of freedom."""
        return freedom(self.model)


def freedom(model: Model) -> FreedomTable:
    """A table that counts the degrees of freedom of a mechanism modeled with points (DERA 4.2): the coordinates that
    its items add, the coordinates that they assign, and the equations that constrain them."""
    return freedom_table(composed(resolve(model)))


def lagrange(
    q: SX | Sequence[SX],
    v: SX | Sequence[SX],
    L: SX,
    constraints: Any = (),
    rayleigh: Any = None,
    forces: Any = None,
    extra: Sequence[tuple[Any, ...]] = (),
    *,
    q0: ArrayLike,
    v0: ArrayLike | None = None,
    t: SX | None = None,
    parameters: Mapping[str, tuple[SX, float]] | None = None,
    outputs: Mapping[str, Any] | None = None,
    points: Mapping[str, Any] | None = None,
    lines: Sequence[Sequence[str]] = (),
    weights: ArrayLike | None = None,
    lookups: Lookups | None = None,
    name: str = "lagrangian",
    engine: Engine = "llvm",
    **settings: Any,
) -> System:
    """A system from its Lagrangian L(q, v, t) in CasADi symbols q (n,) and v = q' (n,).

    `constraints`: expressions that are zero, by name or in a list; those that contain velocities (linearly) are
    non-holonomic. Their generalized forces are -Phi_q^T lam (-B_v^T lam if Phi = B(q, v, t)); the result
    contains the multipliers lam as ``name.multiplier``. `rayleigh`: dissipation function(s); `forces` (n,):
    generalized forces, one column or several by name. `extra`: (symbol, rate) or (symbol, rate, start) of further
    quantities (DERA 3.2.2), which everything may depend on. `q0`, `v0` (n,): start values, perhaps rough; rates that
    are None take the least kinetic energy. `t`: the symbol of time if it occurs. `parameters`: name -> (symbol,
    value). `outputs`: expressions to report by name. `points`: places (2,) or (3,) m by name that a
    viewer draws, `lines` between them: ``("O", "bob")``, ``("O", "bob", "spring")``. `lookups`: defines values of
    tables that occur.
    """
    item = Lagrangian(
        q=q,
        v=v,
        L=L,
        constraints=constraints,
        rayleigh=rayleigh,
        forces=forces,
        extra=extra,
        q0=q0,
        v0=v0,
        t=t,
        parameters=parameters,
        outputs=outputs,
        points=points,
        lines=lines,
        weights=weights,
        lookups=lookups,
    )
    model = Model(name=name, lagrangian=item, simulation=SimulationSettings(**settings))
    return compile(model, engine=engine)
