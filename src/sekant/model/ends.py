"""Fields that several types of items share: two ends, a frame in another one, a coordinate of a joint."""

from __future__ import annotations

from typing import ClassVar

from sekant.geometry.spatial import SX
from sekant.model.motion import Kinematics
from sekant.model.quantities import Description, FrameName, JointName


class Ends(Description):
    """An item between two frames."""

    frame_fields: ClassVar = ("parent", "child")

    parent: FrameName
    """frame or body at one end"""
    child: FrameName
    """frame or body at the other end"""


class Relative(Description):
    """An item of a frame relative to another frame."""

    frame_fields: ClassVar = ("frame", "relative_to")

    frame: FrameName
    """frame whose motion is prescribed, constrained or measured"""
    relative_to: FrameName = "ground"
    """reference frame, in which components, curves and surfaces are given"""

    def relative_position(self, motion: Kinematics) -> SX:
        """Position (3,) of the frame's origin in the reference frame."""
        A = motion.frame(self.relative_to)
        return A.R.T @ (motion.frame(self.frame).p - A.p)


class OnCoordinate(Description):
    """An item that acts on one coordinate of a joint."""

    joint: JointName
    """joint on which it acts"""
    coordinate: int = 0
    """index of the joint's coordinate, starting at 0"""
