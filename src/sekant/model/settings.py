"""Defaults that a model gives for its use: settings of simulations, and the camera of viewers."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import model_validator

from sekant.model.quantities import Description, Dimensionless, FrameName, Positive, Quantity, Time

Meters = Annotated[float, Quantity("m")]
Place = tuple[Meters, Meters, Meters]


class View(Description):
    """Initial position of the camera in the player, and the body on which it can ride.

    By default, the camera looks perpendicular to the plane of a planar motion, follows bodies that travel far, and
    can ride on the heaviest body.
    """

    shown: ClassVar = "{camera: [3 m, -2 m, 1 m], target: [0, 0, 0.5 m]}"

    plane: Literal["xy", "xz", "yz"] | None = None
    """plane of W to which the line of sight is perpendicular; the view shows everything that moves"""
    camera: Place | None = None
    """position of the camera in W; it does not move"""
    target: Place | None = None
    """point in W at which the camera looks; by default the middle of the motion"""
    ride: FrameName | None = None
    """body or frame on which the camera can ride; the camera looks along the x axis of this frame, with z up"""

    @model_validator(mode="after")
    def _one(self):
        given = [name for name in ("plane", "camera") if getattr(self, name) is not None]
        if len(given) > 1 or not (given or self.ride):
            raise ValueError("give either 'plane' or 'camera'; 'ride' may be used alone or with one of them")
        if self.target is not None and self.camera is None:
            raise ValueError("'target' is the point at which the camera looks; give 'camera', too")
        if self.target is not None and self.target == self.camera:
            raise ValueError("'camera' and 'target' are the same point; change one of them")
        return self

    def told(self) -> dict[str, Any]:
        """The fields as numbers, for a scene: `plane` is the normal (3,) of the plane."""
        told: dict[str, Any] = {} if self.ride is None else {"ride": self.ride}
        if self.plane is not None:
            told["plane"] = [0.0 if axis in self.plane else 1.0 for axis in "xyz"]
        if self.camera is not None:
            told["camera"] = list(self.camera)
            told["target"] = None if self.target is None else list(self.target)
        return told


class SimulationSettings(Description):
    """Default settings of simulations; times are in seconds."""

    shown: ClassVar = "{until: 5 s, method: radau5, rtol: 1e-9}"

    until: Positive[Time] = 10.0
    """end time of the run"""
    method: str = "auto"
    """integration method; auto chooses a suitable one"""
    step: Positive[Time] | None = None
    """step size of methods with fixed steps"""
    output_step: Positive[Time] | None = None
    """time between rows of the result"""
    rtol: Positive[Dimensionless] = 1e-8
    """relative tolerance of adaptive methods"""
    atol: Positive[Dimensionless] = 1e-10
    """absolute tolerance of adaptive methods, in SI units"""
