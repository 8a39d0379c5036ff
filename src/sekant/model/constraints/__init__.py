"""Constraints between bodies or coordinates, in addition to the joints.

Each type is one file of this folder, where the registry finds it. Classes are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sekant.extensions import names_of
from sekant.model.constraints.base import CONSTRAINTS as CONSTRAINTS
from sekant.model.constraints.base import Constraint as Constraint
from sekant.model.constraints.base import constraint_class as constraint_class
from sekant.model.constraints.base import register as register

if TYPE_CHECKING:
    from sekant.model.constraints.coupling import Coupling as Coupling
    from sekant.model.constraints.distance import Distance as Distance
    from sekant.model.constraints.drive import DriveOrientation as DriveOrientation
    from sekant.model.constraints.drive import DrivePoint as DrivePoint
    from sekant.model.constraints.on_curve import PointOnPath as PointOnPath
    from sekant.model.constraints.on_curve import PointOnSurface as PointOnSurface
    from sekant.model.constraints.rolling import Rolling as Rolling

__all__ = names_of(__name__)  # pyright: ignore[reportUnsupportedDunderAll]
__getattr__ = CONSTRAINTS.exported


def __dir__() -> list[str]:
    return __all__
