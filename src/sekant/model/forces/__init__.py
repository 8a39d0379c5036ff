"""Force elements: one file a type, one registry. Adding one is adding a file here.

Classes are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sekant.model.forces.base import FORCES, Force, force_class, register

if TYPE_CHECKING:
    from sekant.model.forces.actuator import Actuator
    from sekant.model.forces.bump_stop import BumpStop
    from sekant.model.forces.bushing import Bushing
    from sekant.model.forces.compliant_coupling import CompliantCoupling
    from sekant.model.forces.joint_friction import JointFriction
    from sekant.model.forces.joint_limit import JointLimit
    from sekant.model.forces.point_force import PointForce
    from sekant.model.forces.rotational_spring_damper import RotationalSpringDamper
    from sekant.model.forces.spring_damper import SpringDamper
    from sekant.model.forces.torque import Torque
    from sekant.model.forces.wrench import Wrench

__all__ = [
    "FORCES",
    "Actuator",
    "BumpStop",
    "Bushing",
    "CompliantCoupling",
    "Force",
    "JointFriction",
    "JointLimit",
    "PointForce",
    "RotationalSpringDamper",
    "SpringDamper",
    "Torque",
    "Wrench",
    "force_class",
    "register",
]


def __getattr__(name: str) -> Any:
    return FORCES.exported(name)


def __dir__() -> list[str]:
    return sorted(__all__)
