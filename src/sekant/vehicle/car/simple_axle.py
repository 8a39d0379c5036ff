"""An axle of two wheels that move vertically: the simplest axle of a car, with closed-form solutions.

Its ground is the chassis. A steered axle has a rack. The carrier of each wheel turns about its vertical axis by the
travel of the rack divided by the steering arm, on a path joint that shares the coordinate of the rack.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.spatial import SX
from sekant.model.body import Body
from sekant.model.forces import Actuator
from sekant.model.joints import Path, Prismatic, Revolute
from sekant.model.model import Model
from sekant.model.placement import Orientation, Placement
from sekant.model.shapes import Cylinder
from sekant.vehicle.car.description import Axle, SimpleSuspension
from sekant.vehicle.measured.laws import bars_over_travel

SIDES = {"left": 1.0, "right": -1.0}
MOST_RACK = 0.12  # m


def simple_axle(axle: Axle, data: SimpleSuspension, height: float, preload: float) -> Model:
    """An axle with wheel centers at `height` (m) above the origin of the chassis and springs with the preload
    `preload` (N)."""
    bodies: dict[str, Body] = {}
    parameters: dict[str, Any] = {}
    joints, forces, curves, shapes = {}, {}, {}, {}
    steering = axle.steering
    if steering is not None:
        bodies["rack_bar"] = Body(mass=steering.rack_mass)
        joints["rack"] = Prismatic(
            child="rack_bar", axis=(0, 1, 0), parent_pose=Placement(position=(axle.at[0], 0.0, height))
        )
        curves["steer_poses"] = _steering_curve(steering.arm)
    for side, sign in SIDES.items():
        place = Placement(position=(axle.at[0], sign * data.track / 2, height))
        tilt = Placement(orientation=Orientation(axis=(1.0, 0.0, 0.0), angle=-sign * data.camber))
        carrier = Body(mass=data.mass, inertia=(*data.inertia, 0.0, 0.0, 0.0), frames={"wheel_center": tilt})
        bodies[f"{side}.upright"] = carrier
        if steering is None:
            joints[f"{side}.travel"] = Prismatic(child=f"{side}.upright", axis=(0, 0, 1), parent_pose=place)
        else:
            bodies[f"{side}.slide"] = Body()
            joints[f"{side}.travel"] = Prismatic(child=f"{side}.slide", axis=(0, 0, 1), parent_pose=place)
            joints[f"{side}.steer"] = Path(
                parent=f"{side}.slide", child=f"{side}.upright", curve="steer_poses", coordinate_of="rack"
            )
        shapes[f"{side}.carrier"] = Cylinder(
            frame=f"{side}.upright.wheel_center", radius=0.07, length=0.14, axis=(0.0, 1.0, 0.0)
        )
        wheel = axle.wheel
        bodies[f"{side}.wheel"] = Body(mass=wheel.mass, inertia=(*wheel.inertia, 0.0, 0.0, 0.0))
        joints[f"{side}.hub"] = Revolute(
            parent=f"{side}.upright.wheel_center", child=f"{side}.wheel", axis=(0, 1, 0)
        )
        k, c = f"{side}.spring.stiffness", f"{side}.spring.damping"
        parameters |= {k: data.stiffness, c: data.damping}
        forces[f"{side}.spring"] = Actuator(joint=f"{side}.travel", force=f"-{preload!r} - {k}*q - {c}*v")
    if axle.anti_roll_bar:
        forces |= bars_over_travel(axle.anti_roll_bar)
    return Model(
        name="axle",
        parameters=parameters,
        bodies=bodies,
        joints=joints,
        forces=forces,
        curves=curves,
        shapes=shapes,
    )


def _steering_curve(arm: float) -> PoseCurve:
    """A path that turns about z by u / arm, at the origin."""

    def pose(u: SX):
        return SX.zeros(3), ca.vertcat(u / arm, 0, 0)

    return PoseCurve.from_function(
        pose, (-MOST_RACK, MOST_RACK), orientation="euler:zyx", parameter="rack", unit="m"
    )
