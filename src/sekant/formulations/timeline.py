"""Changes due to time alone in a model with bodies and joints: switches of signals, jumps of motions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.geometry.spatial import SX
from sekant.model.fields import expressions_of
from sekant.model.model import Model
from sekant.model.quantities import Description
from sekant.model.resolve import parameter_values
from sekant.tables.bound_oracle import BoundOracle
from sekant.tables.lookups import Lookups

if TYPE_CHECKING:
    from sekant.formulations.equations import Equations

Vector = NDArray[np.float64]


def timed_items(model: Model) -> list[Description]:
    """Places that may contain signals and tables of time."""
    collections = (model.forces, model.motions, model.sensors, model.signals)
    return [item for collection in collections for item in collection.values()]


def model_stops(
    model: Model, items: Sequence[Description], begin: float, end: float, given: Mapping[str, float]
) -> set[float]:
    """Times in [begin, end] at which signals and tables of time in `items` switch, found from their expressions.

    `given`: values of some parameters of the model.
    """
    constants = parameter_values(model, given)
    stops: set[float] = set()

    def kinks(table: str) -> Sequence[float]:
        return model.tables[table].table(table).kinks.tolist()

    for item in items:
        for _, expression in expressions_of(item):
            for switch in expression.time_switches(constants.keys()):
                stops.update(switch.times(begin, end, constants.__getitem__, kinks))
    return stops


class ModelTimeline:
    """Signals and tables of time in forces, prescribed motions, sensors and signals."""

    def __init__(self, eq: Equations):
        self._eq = eq

    def items(self) -> Sequence[Description]:
        return timed_items(self._eq.model)

    def stops(self, begin: float, end: float, values: Mapping[str, Any]) -> list[float]:
        return self._stops(self.items(), begin, end, values)

    def _stops(
        self, items: Sequence[Description], begin: float, end: float, values: Mapping[str, Any]
    ) -> list[float]:
        model, resolved, recent = self._eq.model, self._eq.resolved, self._eq.recent
        defaults = {parameter.name: parameter.default for parameter in resolved.parameters}
        given = {
            name: float(np.asarray(value).ravel()[0])
            for name, value in {**defaults, **values}.items()
            if name in model.parameters
        }
        key = ("stops", tuple(map(id, items)), begin, end, *given.items())
        known = recent.get(key)
        if known is not None:
            return known
        stops = model_stops(model, items, begin, end, given)
        for table in resolved.given.values():
            stops.update(x for x in table.kinks.tolist() if begin <= x <= end)
        return recent.put(key, sorted(stops))

    def jump_parameters(self) -> NDArray[np.bool_]:
        """The parameters on which a given motion depends, and those in the expressions of its switches."""
        eq, resolved = self._eq, self._eq.resolved
        found = [np.full(one.default.size, one.name in eq.model.parameters) for one in resolved.parameters]
        concerned = np.concatenate([np.zeros(0, bool), *found])
        for name in eq.model.motions:
            concerned |= self._motion(name).concerned[: concerned.size]
        return concerned

    def _motion(self, name: str) -> GivenMotion:
        eq, prescribed = self._eq, self._eq.model.motions[name]
        return eq.recent.once(
            ("motion", name), lambda: GivenMotion(eq.motion.value(prescribed.value), eq.t, eq.p, eq.lookups)
        )

    def motions(self) -> dict[str, BoundOracle]:
        """For each prescribed motion, (t, p) -> its position and velocity (2,)."""
        return {name: self._motion(name).at for name in self._eq.model.motions}

    def motion_jump(self, begin: float, end: float, values: Mapping[str, Any], p: Vector) -> str | None:
        for name, prescribed in self._eq.model.motions.items():
            times = self._stops([prescribed], begin, end, values)
            found = jump_text(self._motion(name).at, p, times, (begin, end)) if times else None
            if found:
                return f"motion '{name}': {found}"
        return None


NEAR = 1e-12
"""Distance before and after a switching time, relative to the times involved, at which values are compared."""
STEP = 1e-6
"""Relative difference of two values that counts as a jump."""


class GivenMotion:
    """A position () given in time and its rate, as functions of t () and the parameters p (np,)."""

    def __init__(self, position: SX, t: SX, p: SX, lookups: Lookups):
        both = ca.vertcat(position, lookups.jacobian(position, t))
        self.at = lookups.bound([t, p], [both])
        needed = ca.vertcat(both, *[a for node in lookups.needed_by(both) for a in node.arguments])
        self.concerned: NDArray[np.bool_] = (
            np.array(ca.which_depends(needed, p, 1, False), bool) if p.numel() else np.zeros(0, bool)
        )
        """(np,) whether the motion depends on each parameter"""


def jump_text(
    at: BoundOracle, p: NDArray[np.float64], times: Iterable[float], span: tuple[float, float]
) -> str | None:
    """A text that says where position or rate of a given motion, `at` (t, p), jump within the span; None if they do
    not."""
    begin, end = span
    for time in times:
        near = NEAR * max(abs(time), end - begin)
        if not begin + near < time < end - near:
            continue
        before, after = (at(time + side * near, p)[0] for side in (-1, 1))
        for what, old, new in zip(("position", "velocity"), before, after, strict=True):
            if abs(new - old) > STEP * max(1.0, abs(old), abs(new)):
                return f"its {what} jumps from {old:.6g} to {new:.6g} at t = {time:.6g} s"
    return None
