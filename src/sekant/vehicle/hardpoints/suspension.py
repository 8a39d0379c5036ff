"""The roles of items in the model of a suspension corner: the frame of the wheel, the joint of the rack, and so on.

The defaults are the names that `sekant.vehicle` uses, so a model with these names needs no description.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, model_validator

from sekant.model.quantities import Description, Positive, wrong
from sekant.vehicle.quantities import Kilograms, Meters, Plain


def _moving(rack_per_turn: float) -> float:
    """Refuse a steering wheel that does not move the rack."""
    if rack_per_turn == 0.0:
        raise wrong(
            "must not be zero; give the travel of the rack for one turn of the steering wheel, negative for a tie "
            "rod behind the axle"
        )
    return rack_per_turn


RackPerTurn = Annotated[Meters, AfterValidator(_moving)]


class Suspension(Description):
    """Roles of the items of a model, and the vehicle data that the curves require."""

    wheel_center: str = "upright.wheel_center"
    """frame on the upright at the wheel's center, with y along the spin axis, pointing left"""
    contact: str = "upright.contact"
    """frame at the contact point as drawn; its distance from the center is the radius of the wheel"""
    spring: str | None = "spring"
    """force element of type spring_damper"""
    damper: str | None = None
    """force element of the damper, if it is separate from the spring"""
    rack: str | None = "rack"
    """prismatic joint of the steering rack"""
    steer_axis: tuple[str, str] | None = None
    """frames of the lower and the upper ball joint; by default the steering axis is the screw axis of steering"""
    axle: Literal["front", "rear"] = "front"
    """position in the vehicle, which determines the signs of wheelbase change, side-view swing arm and anti-dive"""
    wheelbase: Positive[Meters] | None = None
    """distance between the axles, for anti-dive, Ackermann and the turning circle"""
    cg_height: Positive[Meters] | None = None
    """height of the vehicle's center of mass above the road"""
    vehicle_mass: Positive[Kilograms] | None = None
    """mass of the whole vehicle, for load cases with an acceleration along x; by default both axles carry the same
    load"""
    brake_share: Plain | None = None
    """fraction of the braking force at this axle, with outboard brakes; by default 1 for anti-dive, and in proportion
    to the load in load cases"""
    drive_share: Plain | None = None
    """fraction of the driving force at this axle, with drive shafts; by default 1 for anti-squat, and in proportion
    to the load in load cases"""
    rack_per_turn: RackPerTurn | None = None
    """travel of the rack to the left for one turn of the steering wheel to the left; negative for a tie rod behind
    the axle"""
    travel: tuple[Meters, Meters] = (-0.08, 0.08)
    """range of the height of the wheel's center, from its position as drawn"""
    steering: tuple[Meters, Meters] | None = None
    """range of the rack's displacement"""

    @model_validator(mode="after")
    def _rising(self):
        for name, limits in (("travel", self.travel), ("steering", self.steering)):
            if limits is not None and not limits[0] < limits[1]:
                raise ValueError(
                    f"{name}: the second value must be greater than the first (got {limits[0]:g} m and "
                    f"{limits[1]:g} m)"
                )
        return self
