"""The rest position of a car: its suspension at rest on its tires, as a start for driving.

At a speed, the downforce of that speed is included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import SerializeAsAny

from sekant.analyses.statics.equilibrium import equilibrium
from sekant.engine.alike import Alike, Variant
from sekant.engine.cached import cached_answer
from sekant.engine.state import State
from sekant.errors import SolverError
from sekant.geometry.rotations import quaternion_from_rotation
from sekant.geometry.spatial import SX
from sekant.model.body import Body
from sekant.model.expressions.expression import Expression
from sekant.model.forces.base import Force
from sekant.model.joints import Prismatic, Revolute
from sekant.model.model import Model
from sekant.model.prescribed_motion import Motion
from sekant.progress_bar import doing
from sekant.vehicle.aero import Aero
from sekant.vehicle.car.build import car_model
from sekant.vehicle.car.description import Car, SimpleSuspension
from sekant.vehicle.roads import Plane
from sekant.vehicle.tires.element import Tire
from sekant.vehicle.tires.slip import Slip, TireForces

COMMANDED = ("drive", "steering")  # forces that come from a driver or from the speed
WIND = "standing_wind"
"""Parameter of a standing car with aerodynamic forces: the speed of the air against it, m/s."""


class StandingTire(Tire):
    """The load of another tire, without forces along the road: the car is free to move there."""

    of: SerializeAsAny[Tire]
    """the tire whose load it has"""

    @property
    def unloaded_radius(self) -> Any:
        return self.of.unloaded_radius

    def load(self, deflection: Any, rate: Any, spin: Any) -> Any:
        return self.of.load(deflection, rate, spin)

    def rolling_radius(self, load: Any, spin: Any) -> Any:
        return self.of.unloaded_radius

    def forces(self, slip: Slip) -> TireForces:
        none = SX(0)
        return TireForces(none, none, none, none, none)


def _on_a_plane(tire: Tire) -> Tire:
    return tire.model_copy(update={"road": Plane()})


def needs_settling(car: Car, speed: float = 0.0) -> bool:
    """Whether the rest position must be computed: springs come from a drawing, or also carry downforce.

    Other cars are at rest as described.
    """
    air = car.air
    if air is not None and speed + air.headwind and (air.front_area != 0.0 or air.rear_area != 0.0):
        return True
    return any(not isinstance(axle.suspension, SimpleSuspension) for axle in car.axles.values())


def standing(model: Model, speed: float = 0.0) -> Model:
    """The car without drive and signals, free to heave, pitch and roll in place, with the downforce of `speed`."""
    travel = model.joints["travel"]
    place: Any = travel.position  # type: ignore[attr-defined]
    joints = {name: joint for name, joint in model.joints.items() if name != "travel"}
    joints["standing_rise"] = Prismatic(child="standing_slide", axis=(0, 0, 1), q0=(place[2],))
    joints["standing_pitch"] = Revolute(parent="standing_slide", child="standing_fork", axis=(0, 1, 0))
    joints["standing_roll"] = Revolute(parent="standing_fork", child="chassis", axis=(1, 0, 0))
    bodies = {**model.bodies, "standing_slide": Body(), "standing_fork": Body()}
    motions: dict[str, Motion] = {}
    for name, joint in model.joints.items():
        if name.endswith(".hub"):
            motions[f"{name}.held"] = Motion(joint=name, value=0.0)
            joints[name] = joint.model_copy(update={"v0": None})
        if name.endswith(".rack"):
            motions[f"{name}.held"] = Motion(joint=name, value=0.0)
    forces: dict[str, Force] = {}
    wind: dict[str, float] = {}
    for name, force in model.forces.items():
        if isinstance(force, Tire):
            forces[name] = StandingTire(wheel=force.wheel, road=force.road.at_start(), of=_on_a_plane(force))
        elif isinstance(force, Aero):
            wind = {WIND: float(force.headwind) + speed}  # type: ignore[arg-type]
            forces[name] = force.model_copy(
                update={"drag_area": 0.0, "headwind": Expression(WIND), "road": force.road.at_start()}
            )
        elif name not in COMMANDED and not name.endswith(".brake"):
            forces[name] = force
    parameters = {**model.parameters, **wind}
    changes = {"bodies": bodies, "joints": joints, "motions": motions, "forces": forces}
    return model.changed(**changes, parameters=parameters, sensors={}, signals={})


def settled(driven: Variant, car: Car, speed: float, alike: Alike | None = None, keep: bool = True) -> State:
    """A start for the model of a car at `speed` (m/s): at rest on its springs and tires, with the model's velocities.

    `keep`: whether to store it for later processes and for the driver; for many cars, storing takes longer than
    computing.
    """
    system, alone = driven.system, standing(car_model(car, speed=0.0), speed)

    def find() -> dict[str, float]:
        wind = {WIND: float(alone.parameters[WIND])} if WIND in alone.parameters else {}  # type: ignore[arg-type]
        usual = alone.changed(parameters={**alone.parameters, **dict.fromkeys(wind, 1.0)})
        # evaluated a few times: compiling would take longer
        variant = (alike or Alike()).variant(usual, parameters=[*wind], engine="casadi")
        names = variant.system.state_names[: variant.system.nq]
        try:
            rest = equilibrium(variant.system, parameters={**variant.values, **wind})
        except SolverError as error:
            raise SolverError(
                f"the car has no equilibrium at {speed:g} m/s: {error.message}; check the springs and tires, and "
                "downforce areas that depend on the ride height"
            ) from None
        return dict(zip(names, rest.q.tolist(), strict=True))

    with doing("finding the rest position of the car"):
        found = cached_answer(alone, "standing car", find) if keep else find()
    start = driven.initial_state()
    q, v = np.array(start.q, float), np.array(start.v, float)
    pitch, roll = found["standing_pitch.angle"], found["standing_roll.angle"]
    turn = {"z": found["standing_rise.displacement"]}
    R = _about_y(pitch) @ _about_x(roll)
    turn |= dict(zip(("e0", "e1", "e2", "e3"), quaternion_from_rotation(R), strict=True))
    for k, name in enumerate(system.state_names[: system.nq]):
        owner, _, part = name.rpartition(".")
        if owner == "travel":
            q[k] = turn.get(part, q[k])
        elif name in found:
            q[k] = found[name]
    names = list(system.state_names[system.nq : system.nq + system.nv])
    along = [names.index(f"travel.{part}") for part in ("vx", "vy", "vz")]
    v[along] = R.T @ v[along]  # in the axes of the chassis, which has pitched and rolled
    return State(q=q, v=v)


def _about_y(a: float) -> np.ndarray:
    return np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])


def _about_x(a: float) -> np.ndarray:
    return np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
