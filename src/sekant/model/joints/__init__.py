"""Joints: one file a type, one registry. Adding a joint is adding a file here.

Classes are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sekant.model.joints.base import (
    JOINTS,
    Coordinate,
    CoordinateJoint,
    Joint,
    JointMotion,
    joint_class,
    leader_of,
    register,
    shared_coordinates,
)

if TYPE_CHECKING:
    from sekant.model.joints.cylindrical import Cylindrical
    from sekant.model.joints.fixed import Fixed
    from sekant.model.joints.free import Free
    from sekant.model.joints.path import Path
    from sekant.model.joints.planar import Planar
    from sekant.model.joints.prismatic import Prismatic
    from sekant.model.joints.revolute import Revolute
    from sekant.model.joints.screw import Screw
    from sekant.model.joints.spherical import Spherical
    from sekant.model.joints.surface import Surface
    from sekant.model.joints.universal import Universal

__all__ = [
    "JOINTS",
    "Coordinate",
    "CoordinateJoint",
    "Cylindrical",
    "Fixed",
    "Free",
    "Joint",
    "JointMotion",
    "Path",
    "Planar",
    "Prismatic",
    "Revolute",
    "Screw",
    "Spherical",
    "Surface",
    "Universal",
    "joint_class",
    "leader_of",
    "register",
    "shared_coordinates",
]


def __getattr__(name: str) -> Any:
    return JOINTS.exported(name)


def __dir__() -> list[str]:
    return sorted(__all__)
