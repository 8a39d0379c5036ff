"""Bodies on curves and surfaces, for the tests of path and surface joints; all values different and skew."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

import sekant as sk
from sekant.engine.functions.outputs import output_function
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.model.body import Body
from sekant.model.forces import PointForce, Torque
from sekant.model.joints import Path
from sekant.model.joints.compliance import PathCompliance, Spring, SurfaceCompliance
from sekant.model.placement import Orientation, Placement

SKEW = Body(
    mass=1.7, com=(0.11, -0.23, 0.31), inertia=[[0.9, 0.07, -0.05], [0.07, 1.1, 0.03], [-0.05, 0.03, 0.7]]
)
PLACE = Placement(position=(0.4, -0.3, 0.2), orientation=Orientation(sequence="xyz", angles=(0.3, -0.5, 0.8)))
OTHER = Placement(position=(-0.2, 0.5, 0.1), orientation=Orientation(sequence="xyz", angles=(-0.6, 0.2, 0.4)))
PUSH = PointForce(frame="body", force=(3.1, -2.3, 1.9), resolved_in="frame")
TWIST = Torque(frame="body", torque=(0.7, -1.3, 2.1))
GRAVITY = (1.3, -2.1, -9.4)


def twisted(extrapolation: str = "error") -> PoseCurve:
    """A path in space that bends and twists, with an orientation of its own; u in [-2, 3]."""
    return PoseCurve.from_function(
        lambda u: (
            ca.vertcat(ca.sin(u) + 0.3 * u, 0.7 * u**2 - 0.2 * u, 0.4 * ca.cos(1.3 * u) + 0.1 * u**3),
            ca.vertcat(0.5 * u, 0.4 * ca.sin(u), 0.3 * u**2 - 0.1 * u),
        ),
        (-2.0, 3.0),
        orientation="euler:zyx",
        tolerance=1e-12,
        extrapolation=extrapolation,
        name="twisted",
    )


def on_path(curve: Any, *, q0: float = 0.0, v0: float = 0.0, body: Body = SKEW, **options: Any) -> sk.Model:
    """A loaded body on a curve that is placed askew on the ground."""
    joint = Path(child="body", curve=curve, q0=q0, v0=v0, parent_pose=PLACE, child_pose=OTHER, **options)
    return alone({"joint": joint}, body)


def alone(joints: dict[str, Any], body: Body = SKEW) -> sk.Model:
    """One loaded body with the given joints."""
    return sk.Model(
        gravity=GRAVITY, bodies={"body": body}, joints=joints, forces={"push": PUSH, "twist": TWIST}
    )


def springs(stiffness: Any, damping: Any = 0.0) -> PathCompliance:
    """The same spring in all five directions."""
    spring = Spring(stiffness=stiffness, damping=damping)
    return PathCompliance(normal=spring, binormal=spring, roll=spring, pitch=spring, yaw=spring)


def surface_springs(stiffness: Any, damping: Any = 0.0) -> SurfaceCompliance:
    """The same spring in all four directions."""
    spring = Spring(stiffness=stiffness, damping=damping)
    return SurfaceCompliance(normal=spring, roll=spring, pitch=spring, yaw=spring)


def outputs(system: sk.System, q: Any, v: Any, *names: str, t: float = 0.0) -> list[np.ndarray]:
    """Outputs by name at one state."""
    found = []
    for name in names:
        function, _ = output_function(system, [name])
        x = np.concatenate([np.atleast_1d(q), np.atleast_1d(v), np.zeros(len(system.work_names))])
        found.append(function(np.array([t]), x, system.parameter_vector())[0].ravel())
    return found


STADIUM = """
name: stadium
parameters: {L: 5 m, R: 10 m}
curves:
  stadium:
    closed: true
    frame: upright
    bank: 0.6
    track:
      - {straight: 20 m}
      - {clothoid: {length: L, start: 0, end: 1/R, axis: [0, 0, 1]}}
      - {arc: {radius: R, angle: pi - L/R, axis: [0, 0, 1]}}
      - {clothoid: {length: L, start: 1/R, end: 0, axis: [0, 0, 1]}}
      - {straight: 20 m}
      - {clothoid: {length: L, start: 0, end: 1/R, axis: [0, 0, 1]}}
      - {arc: {radius: R, angle: pi - L/R, axis: [0, 0, 1]}}
      - {clothoid: {length: L, start: 1/R, end: 0, axis: [0, 0, 1]}}
bodies:
  car: {mass: 500 kg, com: [0, 0, 0.4 m], inertia: [100, 300, 350]}
joints:
  rail: {type: path, curve: stadium, child: car, v0: 12 m/s}
"""
