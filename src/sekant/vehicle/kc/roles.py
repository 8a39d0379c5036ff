"""The roles of items in the model of an axle, and the axle on a rig, with locked wheels and a free rack."""

from __future__ import annotations

from dataclasses import dataclass

from sekant.errors import ModelError
from sekant.model.model import Model
from sekant.model.prescribed_motion import Motion
from sekant.vehicle.curves.corner_curves import without_steering_motions
from sekant.vehicle.hardpoints.description import GivenPoints, hard_points
from sekant.vehicle.hardpoints.suspension import Suspension
from sekant.vehicle.suspension.build import axle

SIDES = ("left", "right")


@dataclass(frozen=True)
class AxleRoles:
    """Roles of the items of an axle: the roles of each corner, and the joints of the hubs."""

    left: Suspension
    right: Suspension
    hubs: tuple[str, ...] = ()
    """joints of the wheels, which rigs lock"""

    @classmethod
    def of(cls, model: Model, given: Suspension | None = None) -> AxleRoles:
        """Roles by the names that `sekant.vehicle.axle` uses, with the data of the vehicle from `given`."""
        base = given or Suspension()
        found = {}
        for side in SIDES:
            body = f"{side}.upright" if f"{side}.upright" in model.bodies else "beam"
            start = "" if body != "beam" else f"{side}_"
            spring, kingpin = f"{side}.spring", (f"{body}.kingpin_lower", f"{body}.kingpin_upper")
            found[side] = base.model_copy(
                update={
                    "wheel_center": f"{body}.{start}wheel_center",
                    "contact": f"{body}.{start}contact",
                    "spring": spring if spring in model.forces else None,
                    "rack": base.rack if base.rack in model.joints else None,
                    "steer_axis": kingpin if set(kingpin) <= set(model.frame_names()) else None,
                }
            )
            if f"{body}.{start}wheel_center" not in model.frame_names():
                raise ModelError(
                    f"model '{model.name}' has no frame '{body}.{start}wheel_center', which is the default name of "
                    "a frame at a wheel center; give the names in the model with AxleRoles(left=Suspension(...), "
                    "right=Suspension(...))"
                )
        hubs = tuple(name for side in SIDES if (name := f"{side}.hub") in model.joints)
        return cls(found["left"], found["right"], hubs)

    @property
    def sides(self) -> tuple[tuple[str, Suspension], tuple[str, Suspension]]:
        return ("left", self.left), ("right", self.right)


def axle_of(
    given: Model | GivenPoints, roles: AxleRoles | None, *, compliant: bool
) -> tuple[Model, AxleRoles]:
    """A model of the axle and its roles. Models from hard points have rigid joints unless they are `compliant`."""
    if isinstance(given, Model):
        return given, roles or AxleRoles.of(given)
    points = hard_points(given)
    if not compliant:
        points = points.model_copy(update={"compliant": False})
    model = axle(points.model_copy(update={"load": 0.0}))
    return model, roles or AxleRoles.of(model, points.suspension)


def on_rig(model: Model, roles: AxleRoles) -> Model:
    """The axle with its wheels locked to the uprights, and without prescribed motions of its steering."""
    free = without_steering_motions(model, roles.left.rack)
    locks = {f"{hub}_lock": Motion(joint=hub, value=0.0) for hub in roles.hubs}
    return free.changed(motions={**free.motions, **locks})
