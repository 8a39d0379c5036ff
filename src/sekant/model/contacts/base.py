"""Base class of contacts, and the registry of their types."""

from __future__ import annotations

from pydantic import field_validator

from sekant.geometry.spatial import SX
from sekant.model.motion import Action, ElementKinematics, Kinematics
from sekant.model.quantities import AnyQuantity, Dimensionless, NotNegative
from sekant.model.registry import Item, Registry


class Contact(Item):
    """A one-sided contact: the gap can open freely, and an impact with restitution occurs when it closes.

    Newton's law: the gap opens with `restitution` times the rate at which it closed. If it would open more slowly
    than `rest_speed`, the contact stays closed instead, as long as its normal force is positive.
    """

    restitution: Dimensionless = 0.0
    """coefficient of restitution: the speed after an impact divided by the speed before it"""
    rest_speed: NotNegative[AnyQuantity] = 1e-3
    """rebound speed below which the contact stays closed, in m/s (rad/s for the stop of a hinge)"""

    @field_validator("restitution")
    @classmethod
    def _possible(cls, value):
        if isinstance(value, float) and not 0 <= value <= 1:
            raise ValueError(f"must be between 0 (plastic) and 1 (elastic) (got {value:g})")
        return value

    def action(self, name: str, motion: ElementKinematics) -> Action:
        """The forces of the contact, as symbols that the equations of motion determine; `name` is the contact's."""
        raise NotImplementedError(f"contact type '{self.type}' does not implement 'action'")

    def gap(self, motion: Kinematics) -> SX:
        """Scalar, positive while open (m, or rad for a stop of a hinge)."""
        raise NotImplementedError(f"contact type '{self.type}' does not implement 'gap'")


CONTACTS: Registry[Contact] = Registry("contact", package="sekant.model.contacts")
register, contact_class = CONTACTS.register, CONTACTS.find
