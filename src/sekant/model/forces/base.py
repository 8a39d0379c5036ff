"""What every force element states, and the registry of their types."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from sekant.errors import ModelError, suggest
from sekant.extensions import load_extensions
from sekant.model.motion import Action, ElementKinematics
from sekant.model.quantities import Description


class Force(Description):
    """A force element between frames, or on a joint coordinate."""

    type: ClassVar[str]
    summary: ClassVar[str]
    frame_fields: ClassVar[tuple[str, ...]] = ()  # fields that name frames
    signals: ClassVar[tuple[str, ...]] = ()  # fields that may vary in time
    local_names: ClassVar[tuple[str, ...]] = ()  # names its expressions may use besides the model's own
    picture: ClassVar[str] = ""  # how a viewer draws it: spring, bushing, force, torque, or not at all

    def action(self, motion: ElementKinematics) -> Action:
        """Wrenches, generalized forces, stored energy and power at the present motion."""
        raise NotImplementedError(f"force type '{self.type}' has no action")


Kind = TypeVar("Kind", bound=Force)
FORCES: dict[str, type[Force]] = {}


def register(cls: type[Kind]) -> type[Kind]:
    """Class decorator that makes a force type known under its `type` name."""
    FORCES[cls.type] = cls
    return cls


def force_class(type_name: object, path: tuple = ()) -> type[Force]:
    """The class of a force type; unknown names get the nearest known one as a suggestion."""
    if isinstance(type_name, str) and type_name not in FORCES:
        load_extensions()
    if not isinstance(type_name, str) or type_name not in FORCES:
        hint = suggest(str(type_name), list(FORCES), "force types")
        raise ModelError(f"unknown force type '{type_name}'; {hint}", path=(*path, "type"))
    return FORCES[type_name]
