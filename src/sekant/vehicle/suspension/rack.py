"""The steering of a corner or an axle: a rack that a prescribed motion, a rigid column or an elastic column
drives."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sekant.model.body import Body
from sekant.model.constraints import Coupling
from sekant.model.expressions.expression import Expression
from sekant.model.forces import Actuator
from sekant.model.input import Input
from sekant.model.joints import Revolute
from sekant.model.placement import Placement
from sekant.model.prescribed_motion import Motion
from sekant.model.shapes import Cylinder
from sekant.vehicle.hardpoints.components import SteeringColumn
from sekant.vehicle.suspension import members
from sekant.vehicle.suspension.drawn import numbers, values
from sekant.vehicle.suspension.members import Assembly

RACK_LENGTH = 0.2  # m, as drawn if only one side is built
BEHIND = np.array([-0.7, 0.35, 0.5])  # m, from the rack to the steering wheel, as drawn
COLUMN_INERTIA = 0.04  # kg m^2, of a steering wheel with its column


def add_rack(
    into: Assembly,
    mass: float,
    at: NDArray[np.float64],
    steering: SteeringColumn,
    length: float | None,
    along: tuple[float, float, float] = (0.0, 1.0, 0.0),
) -> None:
    """Add the rack, with its middle at `at` (3,) m, and its drive.

    It slides along y, positive to the left, or `along` another axis.
    """
    inertia = numbers(np.full(3, 0.01 * mass))
    into.add("bodies", "rack_bar", Body(mass=mass, com=numbers(values(at)), inertia=inertia))
    into.add("joints", "rack", members.slider("ground", "rack_bar", at, np.array(along)))
    middle = Placement(position=numbers(at))
    rod = Cylinder(frame="rack_bar", radius=0.015, length=length or RACK_LENGTH, axis=along, pose=middle)
    into.add("shapes", "rack_rod", rod)
    if steering.stiffness is not None:
        assert steering.rack_per_turn
        ratio = steering.rack_per_turn / (2 * np.pi)  # m of rack per rad of the steering wheel
        into.add("inputs", "steering_wheel", Input(unit="rad"))
        k, c = steering.stiffness / ratio, steering.damping / ratio**2
        law = f"{float(k)!r}*(steering_wheel - q/{float(ratio)!r}) - {float(c)!r}*v"
        into.add("forces", "column", Actuator(joint="rack", force=Expression(law)))
    elif steering.column:
        assert steering.rack_per_turn
        J = COLUMN_INERTIA
        into.add("bodies", "steering_wheel", Body(mass=3.0, inertia=(0.6 * J, 0.6 * J, J, 0.0, 0.0, 0.0)))
        lean = Placement(position=numbers(at + BEHIND))
        axis = numbers(members.unit([-1.0, 0.0, 0.4]))
        column = Revolute(parent="ground", child="steering_wheel", parent_pose=lean, axis=axis)
        into.add("joints", "column", column)
        ratio = steering.rack_per_turn / (2 * np.pi)
        into.add("constraints", "pinion", Coupling(joint="column", driven="rack", ratio=ratio))
        into.add("motions", "steering", Motion(joint="column", value=0.0))
        into.add(
            "shapes", "steering_rim", Cylinder(frame="steering_wheel", radius=0.19, length=0.03, axis=axis)
        )
    else:
        into.add("motions", "steering", Motion(joint="rack", value=0.0))
