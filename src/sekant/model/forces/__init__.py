"""Force elements between bodies, or on joint coordinates.

Each type is one file of this folder, where the registry finds it. Classes are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sekant.extensions import names_of
from sekant.model.forces.base import FORCES as FORCES
from sekant.model.forces.base import Force as Force
from sekant.model.forces.base import force_class as force_class
from sekant.model.forces.base import register as register

if TYPE_CHECKING:
    from sekant.model.forces.actuator import Actuator as Actuator
    from sekant.model.forces.bump_stop import BumpStop as BumpStop
    from sekant.model.forces.bushing import Bushing as Bushing
    from sekant.model.forces.compliant_coupling import CompliantCoupling as CompliantCoupling
    from sekant.model.forces.joint_friction import JointFriction as JointFriction
    from sekant.model.forces.joint_limit import JointLimit as JointLimit
    from sekant.model.forces.point_force import PointForce as PointForce
    from sekant.model.forces.rotational_spring_damper import RotationalSpringDamper as RotationalSpringDamper
    from sekant.model.forces.spring_damper import SpringDamper as SpringDamper
    from sekant.model.forces.torque import Torque as Torque
    from sekant.model.forces.wrench import Wrench as Wrench

__all__ = names_of(__name__)  # pyright: ignore[reportUnsupportedDunderAll]
__getattr__ = FORCES.exported


def __dir__() -> list[str]:
    return __all__
