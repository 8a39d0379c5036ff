"""The parts of the equations of a mechanism modeled with points or of a bare Lagrangian."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sekant.formulations.natural.freedom import FreedomTable
from sekant.formulations.outputs import Output
from sekant.geometry.spatial import SX
from sekant.model.points.geometric import EquationRows
from sekant.model.resolve import ResolvedModel
from sekant.model.scene import Scene
from sekant.tables.lookups import Lookups

if TYPE_CHECKING:
    from sekant.formulations.natural.equations import NaturalEquations

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LagrangianParts:
    """The parts of the equations: symbols, energies, constraints, start values.

    `resolved`: the model with its run-time parameters. `q`, `v` (n,): coordinates and their rates, q' = v.
    `lagrangian` (): of q, v, t, p. `kinetic`, `potential` (): its physical parts, and `mass` (kg), if known.
    `spans`: squares (m^2) of the lengths along which elements act, by words for the element and its ends.
    `rayleigh`: dissipation functions by name; `forces` (n,): generalized forces by name. `start`,
    `start_rates` (n,): start values. `weights`, `rate_weights` (n,): weights in the assembly. `tracked`: rate and
    start of tracked coordinates, by index. `states`: symbol, rate and start of quantities whose rates are not
    linear in the velocities. `prescribed(a, lam)`: all powers by name, if points are prescribed.
    `report(equations, work)`: outputs. `given_motions()`: functions of time, by name. `components`: by index of a
    coordinate, the point or vector (3,) to which it belongs, the index of the component, and whether it is a point.
    `carried`: indices of the coordinates of each part. `places`: position and velocity (3,) of each part. `items`:
    contents by kind. `table`: the table of degrees of freedom.
    """

    resolved: ResolvedModel
    t: SX
    q: SX
    v: SX
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    lagrangian: SX
    start: Floats
    start_rates: Floats
    weights: Floats
    rate_weights: Floats
    slack: Floats
    rate_slack: Floats
    report: Callable[[NaturalEquations, SX], Sequence[Output]]
    overridden: Sequence[tuple[str, float, float]] = ()
    kinetic: SX | None = None
    potential: SX | None = None
    mass: SX | None = None
    inertias: Mapping[str, SX] = field(
        default_factory=dict
    )  # masses and moments of inertia, which must not be negative
    spans: Mapping[str, SX] = field(default_factory=dict)
    rayleigh: Mapping[str, SX] = field(default_factory=dict)
    forces: Mapping[str, SX] = field(default_factory=dict)
    positions: Sequence[EquationRows] = ()
    velocities: Sequence[EquationRows] = ()
    tracked: Mapping[int, tuple[SX, SX | None]] = field(default_factory=dict)
    states: Mapping[str, tuple[SX, SX, float]] = field(default_factory=dict)
    lookups: Lookups = field(default_factory=Lookups)
    prescribed: Callable[[SX, SX], dict[str, SX]] | None = None
    scene: Scene = field(default_factory=Scene)
    components: Mapping[int, tuple[SX, int, bool]] = field(default_factory=dict)
    carried: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    places: Mapping[str, tuple[SX, SX]] = field(default_factory=dict)
    given_motions: Callable[[], Mapping[str, SX]] = dict
    items: Mapping[str, Any] = field(default_factory=dict)
    table: FreedomTable | None = None
