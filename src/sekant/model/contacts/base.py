"""What every contact states, and the registry of their types."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from pydantic import field_validator

from sekant.errors import ModelError, suggest
from sekant.geometry.spatial import SX
from sekant.model.motion import Kinematics
from sekant.model.quantities import AnyQuantity, Description, Dimensionless


class Contact(Description):
    """One-sided: the gap may open freely, and where it closes there is an impact with restitution.

    Newton's law: the gap opens with `restitution` times the rate at which it closed. Where it would open slower than
    `rest_speed`, the contact holds instead, until its force would have to pull.
    """

    type: ClassVar[str]
    summary: ClassVar[str]
    frame_fields: ClassVar[tuple[str, ...]] = ()

    restitution: Dimensionless = 0.0
    rest_speed: AnyQuantity = 1e-3  # m/s, or rad/s for a stop of a hinge

    @field_validator("restitution")
    @classmethod
    def _possible(cls, value):
        if isinstance(value, float) and not 0 <= value <= 1:
            raise ValueError(f"must be between 0 (plastic) and 1 (elastic), got {value:g}")
        return value

    def gap(self, motion: Kinematics) -> SX:
        """Scalar, positive while open (m, or rad for a stop of a hinge)."""
        raise NotImplementedError(f"contact type '{self.type}' has no gap")


Kind = TypeVar("Kind", bound=Contact)
CONTACTS: dict[str, type[Contact]] = {}


def register(cls: type[Kind]) -> type[Kind]:
    """Class decorator that makes a contact type known under its `type` name."""
    CONTACTS[cls.type] = cls
    return cls


def contact_class(type_name: object, path: tuple = ()) -> type[Contact]:
    """The class of a contact type; unknown names get the nearest known one as a suggestion."""
    if not isinstance(type_name, str) or type_name not in CONTACTS:
        hint = suggest(str(type_name), list(CONTACTS), "contact types")
        raise ModelError(f"unknown contact type '{type_name}'; {hint}", path=(*path, "type"))
    return CONTACTS[type_name]
