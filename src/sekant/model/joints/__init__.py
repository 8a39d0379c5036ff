"""Joints between two bodies, or between a body and the ground.

Each type is one file of this folder, where the registry finds it. Classes are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sekant.extensions import names_of
from sekant.model.joints.base import JOINTS as JOINTS
from sekant.model.joints.base import Coordinate as Coordinate
from sekant.model.joints.base import CoordinateJoint as CoordinateJoint
from sekant.model.joints.base import Joint as Joint
from sekant.model.joints.base import JointMotion as JointMotion
from sekant.model.joints.base import joint_class as joint_class
from sekant.model.joints.base import leader_of as leader_of
from sekant.model.joints.base import register as register
from sekant.model.joints.base import shared_coordinates as shared_coordinates

if TYPE_CHECKING:
    from sekant.model.joints.cylindrical import Cylindrical as Cylindrical
    from sekant.model.joints.fixed import Fixed as Fixed
    from sekant.model.joints.free import Free as Free
    from sekant.model.joints.path import Path as Path
    from sekant.model.joints.planar import Planar as Planar
    from sekant.model.joints.prismatic import Prismatic as Prismatic
    from sekant.model.joints.revolute import Revolute as Revolute
    from sekant.model.joints.screw import Screw as Screw
    from sekant.model.joints.spherical import Spherical as Spherical
    from sekant.model.joints.surface import Surface as Surface
    from sekant.model.joints.universal import Universal as Universal

__all__ = names_of(__name__)  # pyright: ignore[reportUnsupportedDunderAll]
__getattr__ = JOINTS.exported


def __dir__() -> list[str]:
    return __all__
