"""The registry of joint types: YAML, documentation, viewers and tests iterate it."""

from __future__ import annotations

from typing import TypeVar

from sekant.errors import ModelError, suggest
from sekant.model.joints.base import Joint

Kind = TypeVar("Kind", bound=Joint)
JOINTS: dict[str, type[Joint]] = {}


def register(cls: type[Kind]) -> type[Kind]:
    """Class decorator that makes a joint type known under its `type` name."""
    JOINTS[cls.type] = cls
    return cls


def joint_class(type_name: object, path: tuple = ()) -> type[Joint]:
    """The class of a joint type; unknown names get the nearest known one as a suggestion."""
    if not isinstance(type_name, str) or type_name not in JOINTS:
        hint = suggest(str(type_name), list(JOINTS), "joint types")
        raise ModelError(f"unknown joint type '{type_name}'; {hint}", path=(*path, "type"))
    return JOINTS[type_name]
