"""Base class of constraints, and the registry of their types. Joints that close loops are not here."""

from __future__ import annotations

from typing import ClassVar

from sekant.geometry.spatial import SX
from sekant.model.motion import ConstraintKinematics, Kinematics
from sekant.model.registry import Item, Registry


class Constraint(Item):
    """Equations between frames or coordinates, in addition to the joints."""

    auxiliary: ClassVar[tuple[str, ...]] = ()  # parameters that it adds as massless coordinates
    picture: ClassVar[str] = ""  # how a viewer draws it: rod, or not at all

    def position(self, motion: ConstraintKinematics, auxiliary: SX) -> SX | None:
        """Phi (k,), zero where the constraint holds; None if it restricts velocities only."""
        return None

    def velocity(self, motion: Kinematics) -> SX | None:
        """Rows (k,), affine in the velocities and zero where the constraint holds; for rolling and the like."""
        return None

    def auxiliary_start(self) -> tuple:
        """Start values of the auxiliary parameters."""
        return ()


CONSTRAINTS: Registry[Constraint] = Registry("constraint", package="sekant.model.constraints")
register, constraint_class = CONSTRAINTS.register, CONSTRAINTS.find
