"""From where a viewer looks at a model at first."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import model_validator

from sekant.model.quantities import Description, Quantity

Meters = Annotated[float, Quantity("m")]
Place = tuple[Meters, Meters, Meters]


class View(Description):
    """Where the camera of a player stands at first.

    Without it, motions in a plane are seen square onto that plane, and what travels far is chased.
    """

    shown: ClassVar = "{camera: [3 m, -2 m, 1 m], target: [0, 0, 0.5 m]}"

    plane: Literal["xy", "xz", "yz"] | None = None
    """looks square onto this plane of W, at everything that moves"""
    camera: Place | None = None
    """position of the camera in W; it does not move"""
    target: Place | None = None
    """point in W at which the camera looks; by default the middle of the motion"""

    @model_validator(mode="after")
    def _one(self):
        if (self.plane is None) == (self.camera is None):
            raise ValueError("give either 'plane' or 'camera'")
        if self.target is not None and self.camera is None:
            raise ValueError("'target' is where a 'camera' looks; give one")
        if self.target is not None and self.target == self.camera:
            raise ValueError("'camera' and 'target' are the same point; move one of them")
        return self

    def told(self) -> dict[str, Any]:
        """In numbers, for a scene: `plane` is the normal (3,) of it."""
        if self.plane is not None:
            return {"plane": [0.0 if axis in self.plane else 1.0 for axis in "xyz"]}
        return {
            "camera": list(self.camera or ()),
            "target": None if self.target is None else list(self.target),
        }
