"""Base class of force elements, and the registry of their types."""

from __future__ import annotations

from typing import ClassVar

from sekant.model.motion import Action, ElementKinematics
from sekant.model.registry import Item, Registry


class Force(Item):
    """A force element between frames, or on a joint coordinate."""

    local_names: ClassVar[
        tuple[str, ...]
    ] = ()  # names that its expressions may use besides those of the model
    picture: ClassVar[str] = ""  # how a viewer draws it: spring, stop, bushing, force, torque, or not at all

    traces: ClassVar[str] = ""  # an output, a point in W, whose path a viewer draws as a strip
    trace_width: ClassVar[float] = 0.0  # m

    @property
    def jumping(self) -> str:
        """The output whose angles, and with them the torques, jump at half a turn; empty if there is none."""
        return ""

    def action(self, motion: ElementKinematics) -> Action:
        """Wrenches, generalized forces, stored energy and power in the current motion."""
        raise NotImplementedError(f"force type '{self.type}' does not implement 'action'")

    def owner(self, motion: ElementKinematics) -> str:
        """The name of this element in its model, for its own states."""
        return next(name for name, force in motion.model.forces.items() if force is self)


FORCES: Registry[Force] = Registry("force", package="sekant.model.forces")
register, force_class = FORCES.register, FORCES.find
