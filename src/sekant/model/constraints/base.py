"""What every constraint states, and the registry of their types. Joints that close loops are not here."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from sekant.errors import ModelError, suggest
from sekant.geometry.spatial import SX
from sekant.model.motion import Kinematics
from sekant.model.quantities import Description


class Constraint(Description):
    """Equations between frames or coordinates that hold besides the joints."""

    type: ClassVar[str]
    summary: ClassVar[str]
    frame_fields: ClassVar[tuple[str, ...]] = ()
    signals: ClassVar[tuple[str, ...]] = ()
    auxiliary: ClassVar[tuple[str, ...]] = ()  # parameters that it adds as massless coordinates
    picture: ClassVar[str] = ""  # how a viewer draws it: rod, or not at all

    def position(self, motion: Kinematics, auxiliary: SX) -> SX | None:
        """Phi (k,), zero where the constraint holds; None if it restricts velocities only."""
        return None

    def velocity(self, motion: Kinematics) -> SX | None:
        """Rows (k,), affine in the velocities and zero where the constraint holds; for rolling and the like."""
        return None

    def auxiliary_start(self) -> tuple:
        """Start values of the auxiliary parameters."""
        return ()


Kind = TypeVar("Kind", bound=Constraint)
CONSTRAINTS: dict[str, type[Constraint]] = {}


def register(cls: type[Kind]) -> type[Kind]:
    """Class decorator that makes a constraint type known under its `type` name."""
    CONSTRAINTS[cls.type] = cls
    return cls


def constraint_class(type_name: object, path: tuple = ()) -> type[Constraint]:
    """The class of a constraint type; unknown names get the nearest known one as a suggestion."""
    if not isinstance(type_name, str) or type_name not in CONSTRAINTS:
        hint = suggest(str(type_name), list(CONSTRAINTS), "constraint types")
        raise ModelError(f"unknown constraint type '{type_name}'; {hint}", path=(*path, "type"))
    return CONSTRAINTS[type_name]
