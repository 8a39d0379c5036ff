"""Geometric and reduced quarter cars of HALL (4.1), under the load of HALL's run-time comparisons (4.3).

The models are in the files beside this one; `sk.reduce` makes the reduced models.
"""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any

import sekant as sk
from sekant.model.expressions.expression import Expression
from sekant.model.forces import PointForce
from sekant.model.joints.compliance import PathCompliance, Spring

FOLDER = Path(__file__).parent
HUB = "upright.wheel_center"
TRAVEL = (f"{HUB}.z", (-0.15, 0.15))
STEERING = ("steering_column.angle", ("-400 deg", "400 deg"))
LOAD = Expression("4500 + 1500*sin(10*pi*t)")  # N, HALL (4.3)
LAG = 1e-3  # s, damping over stiffness: at 1 % explicit steps of 1e-4 s are not stable in either model
STIFFNESS = {"normal": 5.33e6, "binormal": 6.4e5, "roll": 1.44e6, "pitch": 2.6e5, "yaw": 3.9e5}
"""N/m and N m/rad, as `identify_compliance` finds them for the bushings of the geometric model."""


def geometric(name: str, **values: Any) -> sk.Model:
    """One of the quarter cars under the load (4.3): `geometric`, `compliant` or `steered`."""
    model = sk.load(FOLDER / f"quarter_car_{name}.yaml", set=values)
    return model.changed(forces={**model.forces, "road": PointForce(frame=HUB, force=(0.0, 0.0, LOAD))})


def rigid() -> tuple[sk.Model, sk.Model]:
    """The mechanism, and its upright on a path."""
    full = geometric("geometric")
    return full, sk.reduce(full, HUB, *TRAVEL, inertia="ignore", nodes=41).model


def compliant() -> tuple[sk.Model, sk.Model]:
    """The mechanism on bushings, and its upright on a path with springs across it."""
    _, reduced = rigid()
    springs = {name: Spring(stiffness=k, damping=LAG * k) for name, k in STIFFNESS.items()}
    (name, joint), *_ = reduced.joints.items()
    rail = joint.changed(compliance=PathCompliance(**springs))
    return geometric("compliant", lag=LAG), reduced.changed(joints={name: rail})


def steered() -> tuple[sk.Model, sk.Model]:
    """The mechanism with rack and steering wheel, held straight ahead, and its upright on a surface."""
    full = geometric("steered", angle=0.0)
    both = ([TRAVEL[0], STEERING[0]], [TRAVEL[1], STEERING[1]])
    return full, sk.reduce(full, HUB, *both, inertia="ignore", nodes=(21, 17)).model


def steered_compliant() -> sk.Model:
    """The mechanism with rack and steering wheel, held straight ahead, and the lower arm on bushings."""
    rigid, soft = geometric("steered", angle=0.0), geometric("compliant", lag=LAG)
    joints = {name: joint for name, joint in rigid.joints.items() if name != "lower_arm_hinge"}
    return rigid.changed(
        name="quarter_car_steered_compliant",
        ground=soft.ground,
        parameters={**soft.parameters, **rigid.parameters},
        bodies={**rigid.bodies, "lower_arm": soft.bodies["lower_arm"]},
        joints={**joints, "lower_arm_ball": soft.joints["lower_arm_ball"]},
        forces=soft.forces,
    )


def on_bushings() -> dict[str, tuple[sk.Model, sk.Model]]:
    """Mechanisms on bushings; reduced to five springs, to elastic modes over travel, over travel and steering."""
    full, springs = compliant()
    turning = steered_compliant()
    both = ([TRAVEL[0], STEERING[0]], [TRAVEL[1], (-7.0, 7.0)])
    return {
        "compliant": (full, springs),
        "bushings, elastic modes": (full, sk.reduce(full, HUB, *TRAVEL, elastic=True).model),
        "steered on bushings, elastic modes": (
            turning,
            sk.reduce(turning, HUB, *both, elastic=True, nodes=(17, 17)).model,
        ),
    }


def size(system: sk.System) -> tuple[int, int]:
    """Coordinates that are not driven, and constraints that couple them."""
    return system.nv, system.equations.rate.numel()


def timed(system: sk.System, until: float, rows: int, **options: Any) -> tuple[sk.Result, float]:
    """The second of two runs, because the first may compile, and its processor seconds."""
    seconds = 0.0
    for _ in range(2):
        began = process_time()
        result = sk.simulate(system, until, output_step=until / rows, balance=False, **options)
        seconds = process_time() - began
        if not result.ok:
            raise SystemExit(f"{system.model.name}: {result.message}")
    return result, seconds
