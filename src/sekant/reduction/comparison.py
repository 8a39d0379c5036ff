"""Two models side by side under the same load, with the error of Hall (3.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.simulate import simulate
from sekant.errors import ModelError, SolverError
from sekant.geometry.rotations import angle_between
from sekant.model.body import Body
from sekant.model.forces.base import Force
from sekant.model.joints import Fixed
from sekant.model.model import Model
from sekant.model.placement import Placement
from sekant.results import Result

Array = NDArray[np.float64]
QUANTITIES = ("position", "velocity", "acceleration")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Motion of points of two models: `expected` of the full model, `measured` of the reduced model.

    ``percent("upright.position")`` (n, 3) is (measured - expected) / range of expected * 100 (Hall 3.5), by
    component; `largest` is its largest absolute value over time (3,). `turn` compares orientations.
    """

    expected: Result
    measured: Result
    points: Mapping[str, str]  # the caller's name -> probe

    def _values(self, result: Result, name: str) -> Array:
        point, _, quantity = name.rpartition(".")
        if point not in self.points or quantity not in QUANTITIES:
            known = ", ".join(f"{p}.{q}" for p in self.points for q in QUANTITIES)
            raise ModelError(f"comparison: unknown quantity '{name}'; known: {known}")
        return np.asarray(result[f"{self.points[point]}.{quantity}"])

    def difference(self, name: str) -> Array:
        """Measured minus expected values (n, 3)."""
        return self._values(self.measured, name) - self._values(self.expected, name)

    def percent(self, name: str) -> Array:
        """Error (3.5) (n, 3) in percent; zero where a component neither moves nor differs."""
        span = np.ptp(self._values(self.expected, name), axis=0)
        gap = self.difference(name)
        return 100.0 * np.divide(gap, span, out=np.where(gap == 0.0, 0.0, np.inf), where=span > 0.0)

    def largest(self, name: str) -> Array:
        """Largest absolute error (3.5) (3,) in percent."""
        return np.abs(self.percent(name)).max(axis=0)

    def turn(self, point: str) -> Array:
        """Angle (n,) rad between the orientations of a point's body in the two models."""
        self._values(self.expected, f"{point}.position")
        q = [np.asarray(r[f"{self.points[point]}.orientation"]) for r in (self.expected, self.measured)]
        return angle_between(*q)

    def summary(self) -> str:
        """For each point, the errors in the direction of its largest motion, as text."""
        lines = [
            f"full and reduced model over {self.expected.time[-1]:g} s: error (Hall 3.5) along the largest motion"
        ]
        for point in self.points:
            axis = int(np.argmax(np.ptp(self._values(self.expected, f"{point}.position"), axis=0)))
            parts = [f"{q} {self.largest(f'{point}.{q}')[axis]:.3g} %" for q in QUANTITIES]
            lines.append(
                f"  {point}, {'xyz'[axis]}: {', '.join(parts)}, orientation {self.turn(point).max():.2g} rad"
            )
        return "\n".join(lines)

    def digest(self) -> dict[str, Any]:
        """The summary as data for programs."""
        found = {p: {q: self.largest(f"{p}.{q}").tolist() for q in QUANTITIES} for p in self.points}
        return {p: {**entry, "turn": float(self.turn(p).max())} for p, entry in found.items()}


def compare(
    full: Model,
    reduced: Model,
    points: Sequence[str],
    until: float | None = None,
    *,
    load: Mapping[str, Force] | None = None,
    **options: Any,
) -> Comparison:
    """Simulate both models, with the additional forces `load`, and compare the motion of `points`.

    Points are frames of bodies, or bodies, whose centers of mass are then compared. `options`: options of
    `simulate` for both models.
    """
    probes = {point: f"probe_{i}" for i, point in enumerate(points)}
    outputs = [
        f"{probe}.{quantity}" for probe in probes.values() for quantity in (*QUANTITIES, "orientation")
    ]
    results = []
    for model in (full, reduced):
        probed = _probed(model, probes, load or {})
        result = simulate(probed, until, outputs=outputs, balance=False, **options)
        if result.status != "finished":
            raise SolverError(f"comparison: the run of '{model.name}' ended early: {result.message}")
        results.append(result)
    return Comparison(results[0], results[1], probes)


def _probed(model: Model, probes: Mapping[str, str], load: Mapping[str, Force]) -> Model:
    """The model with massless bodies fixed at the points, whose accelerations are outputs."""
    bodies, joints = dict(model.bodies), dict(model.joints)
    for point, probe in probes.items():
        bodies[probe] = Body()
        center = Placement(position=model.bodies[point].com) if point in model.bodies else Placement()
        joints[f"{probe}_joint"] = Fixed(parent=point, child=probe, parent_pose=center)
    return model.changed(bodies=bodies, joints=joints, forces={**model.forces, **load})
