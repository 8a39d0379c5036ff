"""An axle on a rig: its model with parameters for heights, rack and the loads at each wheel.

Loads act where a road or a shaft acts: at the contact point as drawn (fx, fy, fz, mz) and at the wheel's center (dx).
The wheels are locked to the uprights, so a force along x at the contact is a braking force. Loads have components in
the vehicle's axes. The rig prescribes the heights of the wheels, locks the springs at given lengths, or does neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.statics.equilibrium import Equilibrium, equilibrium
from sekant.engine.system import System, compile
from sekant.model.constraints import Distance, DrivePoint
from sekant.model.expressions.expression import Expression
from sekant.model.forces import PointForce, SpringDamper, Torque
from sekant.model.model import Model
from sekant.model.prescribed_motion import Motion
from sekant.tables.bound_oracle import BoundOracle
from sekant.vehicle.curves.frames import start_places
from sekant.vehicle.hardpoints.components import LOADS
from sekant.vehicle.kc.roles import AxleRoles, on_rig

Vector = NDArray[np.float64]
Support = Literal["height", "spring", "free"]


@dataclass(frozen=True, eq=False)
class Rig:
    """A compiled axle with loads; `start` contains the values of its parameters as drawn."""

    system: System
    roles: AxleRoles
    start: dict[str, float]

    def settle(
        self,
        values: Mapping[str, float] | None = None,
        guess: Equilibrium | None = None,
        model_values: Mapping[str, float] | None = None,
    ) -> Equilibrium:
        """The position of rest for the given values of the rig's parameters (``left.fy`` ...).

        Other parameters have their values as drawn; their loads are zero. `model_values` are values of symbolic
        parameters of the model.
        """
        given = {f"rig.{name}": float(value) for name, value in (values or {}).items()}
        return equilibrium(self.system, guess, parameters={**self.start, **given, **(model_values or {})})

    def point(self, rest: Equilibrium, frame: str) -> Vector:
        """Position (3,) m of a frame's origin."""
        return self._frames(rest, (frame,))[0][1]

    def frame(self, rest: Equilibrium, frame: str) -> tuple[Vector, Vector]:
        """R (3, 3) and p (3,) m of a frame relative to the vehicle."""
        return self._frames(rest, (frame,))[0]

    def wheels(self, rest: Equilibrium) -> dict[str, tuple[Vector, Vector]]:
        """R (3, 3) and p (3,) of the frame at each wheel's center."""
        centers = tuple(role.wheel_center for _, role in self.roles.sides)
        return dict(zip((side for side, _ in self.roles.sides), self._frames(rest, centers), strict=True))

    def _frames(self, rest: Equilibrium, frames: tuple[str, ...]) -> list[tuple[Vector, Vector]]:
        """R (3, 3) and p (3,) m of frames relative to the vehicle."""

        def make() -> BoundOracle:
            eq = self.system.equations
            states = [eq.motion.frame(frame) for frame in frames]
            return eq.lookups.bound([eq.t, eq.q, eq.p], [part for one in states for part in (one.R, one.p)])

        function = self.system.cached(("rig frames", frames), make)
        found = function(0.0, rest.q, self.system.parameter_vector(rest.parameters))
        return list(zip(found[::2], found[1::2], strict=True))


def loaded_rig(model: Model, roles: AxleRoles, support: Support, symbolic: Sequence[str] = ()) -> Rig:
    """The axle with its loads as parameters, held as `support` specifies; the `symbolic` parameters of the model stay
    symbolic."""
    free = on_rig(model, roles)
    drawn = compile(free, engine="casadi")  # only for its start
    heights = _heights(drawn, roles)
    parameters: dict[str, Any] = {"rig.gx": 0.0, "rig.gy": 0.0, "rig.gz": 9.81}
    motions, forces, constraints = dict(free.motions), dict(free.forces), dict(free.constraints)
    if roles.left.rack is not None:
        parameters["rig.rack"] = 0.0
        motions["rig.steering"] = Motion(joint=roles.left.rack, value=Expression("rig.rack"))
    for side, role in roles.sides:
        own = f"rig.{side}"
        parameters |= {f"{own}.{load}": 0.0 for load in LOADS}
        fx, fy, fz, mz, dx = (Expression(f"{own}.{load}") for load in LOADS)
        forces[f"{own}_road"] = PointForce(frame=role.contact, force=(fx, fy, fz))
        forces[f"{own}_aligning"] = Torque(frame=role.contact, torque=(0.0, 0.0, mz))
        forces[f"{own}_shaft"] = PointForce(frame=role.wheel_center, force=(dx, 0.0, 0.0))
        spring = model.forces.get(role.spring or "")
        if support == "spring" and isinstance(spring, SpringDamper):
            length, ends = _length(drawn, spring), {"parent": spring.parent, "child": spring.child}
            parameters[f"{own}.length"] = length
            constraints[f"{own}_lock"] = Distance(**ends, length=Expression(f"{own}.length"))
        elif support != "free":
            parameters[f"{own}.z"] = heights[side]
            constraints[f"{own}_height"] = DrivePoint(frame=role.wheel_center, z=Expression(f"{own}.z"))
    loaded = free.changed(
        parameters={**free.parameters, **parameters},
        motions=motions,
        forces=forces,
        constraints=constraints,
        gravity=tuple(Expression(f"-rig.{g}") for g in ("gx", "gy", "gz")),
    )
    return Rig(compile(loaded, parameters=[*parameters, *symbolic]), roles, parameters)


def _heights(system: System, roles: AxleRoles) -> dict[str, float]:
    places = start_places(system, tuple(role.wheel_center for _, role in roles.sides))
    return {side: float(place[2]) for (side, _), place in zip(roles.sides, places, strict=True)}


def _length(system: System, spring: SpringDamper) -> float:
    parent, child = start_places(system, (spring.parent, spring.child))
    return float(np.linalg.norm(child - parent))


def carried_loads(rig: Rig, rest: Equilibrium | None = None) -> dict[str, float]:
    """Vertical forces (N) at the contacts with which the wheels are in equilibrium at their heights.

    The forces that hold the heights are linear in the forces at the contacts, so three positions of rest determine
    them.
    """
    sides = [side for side, _ in rig.roles.sides]

    def holding(values: Mapping[str, float]) -> Vector:
        found = rig.settle(values, rest)
        return np.array([float(found.multipliers[f"rig.{side}_height"][0]) for side in sides])

    step = 1e3
    base = holding({})
    slopes = np.column_stack([(holding({f"{side}.fz": step}) - base) / step for side in sides])
    loads = np.linalg.solve(slopes, -base)
    return dict(zip(sides, loads.tolist(), strict=True))
