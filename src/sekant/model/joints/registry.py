"""The registry of joint types: YAML, documentation, viewers and tests iterate it."""

from __future__ import annotations

from sekant.model.joints.base import Joint
from sekant.model.registry import Registry

JOINTS: Registry[Joint] = Registry("joint", package="sekant.model.joints")
register, joint_class = JOINTS.register, JOINTS.find
