"""Constraints: one file a type, one registry. Adding one is adding a file here.

Classes are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sekant.model.constraints.base import CONSTRAINTS, Constraint, constraint_class, register

if TYPE_CHECKING:
    from sekant.model.constraints.coupling import Coupling
    from sekant.model.constraints.distance import Distance
    from sekant.model.constraints.drive import DriveOrientation, DrivePoint
    from sekant.model.constraints.on_curve import PointOnPath, PointOnSurface
    from sekant.model.constraints.rolling import Rolling

__all__ = [
    "CONSTRAINTS",
    "Constraint",
    "Coupling",
    "Distance",
    "DriveOrientation",
    "DrivePoint",
    "PointOnPath",
    "PointOnSurface",
    "Rolling",
    "constraint_class",
    "register",
]


def __getattr__(name: str) -> Any:
    return CONSTRAINTS.exported(name)


def __dir__() -> list[str]:
    return sorted(__all__)
