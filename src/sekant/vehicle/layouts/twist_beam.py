"""Twist beam: two trailing arms, joined by a beam that is soft in torsion.

With rigid joints, the arms rotate relative to each other about the axis of the beam, which runs across the vehicle
through the point `beam` (the shear center of the beam, on the center plane). The pivots hold the arms along x and z,
and the middle of the beam stays on the center plane, which leaves two degrees of freedom. `beam_rate` is the
torsional rate of the beam. Bushings at `pivot` replace the mounts of the arms. A bushing at `beam` replaces the
hinge by six stiffnesses between the arms.
"""

from __future__ import annotations

import numpy as np

from sekant.errors import ModelError
from sekant.model.constraints import DrivePoint
from sekant.model.forces import Bushing, RotationalSpringDamper
from sekant.model.joints import Revolute
from sekant.vehicle.hardpoints.description import apart, not_collinear
from sekant.vehicle.suspension import members
from sekant.vehicle.suspension.corner import ARM, Corner, Layout
from sekant.vehicle.suspension.drawn import model_number, numbers

MIDDLE = 1e-6  # m: largest distance of the beam's middle from y = 0


def _build(corner: Corner) -> None:
    given, into = corner.given, corner.into
    apart(given, ("pivot", "wheel_center"))
    not_collinear(given, "pivot", "beam", "wheel_center", "the arm cannot carry the wheel")
    pivot, beam, center = corner.p("pivot"), corner.p("beam"), corner.p("wheel_center")
    if abs(float(beam[1])) > MIDDLE:
        raise ModelError(
            f"lies {abs(float(beam[1])):g} m from the center plane, but must lie on it; set its y to 0",
            path=("points", "beam"),
        )
    arm = corner.body("upright", members.plate(corner.mass("arm"), pivot, beam, center))
    corner.upright()
    into.bar(arm + "_tube", arm, 1.6 * ARM, pivot, center)
    into.bar(arm + "_beam", arm, 2.0 * ARM, (pivot + center) / 2, beam)
    into.floating(arm)
    if corner.elastic("pivot"):
        corner.bushing("pivot", "ground", "upright", np.array([0.0, 1.0, 0.0]))
    else:
        frame = into.frame(arm, "pivot", members.frame_at(pivot))
        hold = DrivePoint(frame=frame, x=model_number(pivot[0]), z=model_number(pivot[2]))
        into.add("constraints", corner.name("pivot"), hold)
    corner.spring()
    if corner.prefix == "right.":
        _join(corner)


def _join(corner: Corner) -> None:
    """The beam between both arms."""
    into, beam = corner.into, corner.p("beam")
    place = members.frame_at(beam)
    left, right = (into.frame(f"{side}.upright", "beam", place) for side in ("left", "right"))
    if not corner.elastic("pivot"):
        into.add("constraints", "beam_middle", DrivePoint(frame=left, y=0.0))
    if corner.elastic("beam"):
        data = corner.given.bushings["beam"]
        values = {key: getattr(data, key) for key in type(data).model_fields}
        into.add("forces", "beam", Bushing(parent=left, child=right, **values))
        return
    hinge = Revolute(parent="left.upright", child="right.upright", at=numbers(beam), axis=(0.0, 1.0, 0.0))
    into.add("joints", "bar_twist", hinge)
    if corner.given.beam_rate:
        into.add(
            "forces", "beam", RotationalSpringDamper(joint="bar_twist", stiffness=corner.given.beam_rate)
        )


TWIST_BEAM = Layout(
    name="twist_beam",
    required={
        "pivot": "front mount of the arm",
        "beam": "shear center of the beam, on the center plane",
        "wheel_center": "center of the wheel",
    },
    masses={"upright": 22.0, "arm": 12.0},
    build=_build,
    spring_on="upright",
    steerable=False,
    whole=True,
)
