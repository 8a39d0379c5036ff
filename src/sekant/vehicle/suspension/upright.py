"""Upright and wheel: one body, or two bodies with a hub between them, with the same total mass and inertia."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sekant.model.body import Body
from sekant.model.joints import Revolute
from sekant.model.shapes import Cylinder, Wheel
from sekant.vehicle.hardpoints.description import apart
from sekant.vehicle.suspension import members
from sekant.vehicle.suspension.drawn import length, numbers

if TYPE_CHECKING:
    from sekant.vehicle.suspension.corner import Corner

UPRIGHT_INERTIA = (0.9, 1.4, 0.9)  # kg m^2 of a 25 kg upright with its wheel; scaled with the mass
SHARE = 0.6  # default fraction of the mass and the inertia of upright and wheel that the wheel has
SLENDER = (0.35, 0.6, 0.35)  # default inertia of a wheel, divided by m r^2


def add_upright(corner: Corner, part: str) -> None:
    """Add the body `part` with the frames `wheel_center` and `contact`, and the wheel on its hub if it spins."""
    given, into = corner.given, corner.into
    apart(given, ("wheel_center", "contact"))
    center, R = corner.p("wheel_center"), members.wheel_axes(corner.spin_axis())
    mass, inertia, wheel_mass, wheel_inertia = _inertias(corner)
    if not corner.spin:
        mass, inertia = mass + wheel_mass, inertia + R @ np.diag(wheel_inertia) @ R.T
    name = corner.name(part)
    if name in into.all("bodies"):
        into.items["bodies"][name] = members.joined(
            into.all("bodies")[name], members.body(mass, center, inertia)
        )
    else:
        into.add("bodies", name, members.body(mass, center, inertia))
    place = members.wheel_frame(center, corner.spin_axis())
    middle = into.frame(name, corner.frame_name(name, "wheel_center"), place)
    into.frame(name, corner.frame_name(name, "contact"), members.frame_at(corner.p("contact")))
    radius = float(length(center - corner.p("contact")))
    shape = Wheel(frame=middle, radius=radius, width=given.wheel.drawn_width, axis=(0.0, 1.0, 0.0))
    into.add(
        "shapes",
        corner.name("upright_hub"),
        Cylinder(frame=middle, radius=0.06, length=0.1, axis=(0.0, 1.0, 0.0)),
    )
    if not corner.spin:
        into.add("shapes", corner.name("tire"), shape)
        return
    wheel = corner.name("wheel")
    body = Body(mass=wheel_mass, inertia=numbers([*wheel_inertia, 0.0, 0.0, 0.0]))
    into.add("bodies", wheel, body)
    hub = Revolute(parent=middle, child=wheel, axis=(0.0, 1.0, 0.0))
    into.add("joints", corner.name("hub"), hub)
    into.add("shapes", corner.name("tire"), shape.model_copy(update={"frame": wheel}))


def _inertias(corner: Corner) -> tuple[float, np.ndarray, float, np.ndarray]:
    """Mass and inertia (3, 3) of the upright about the wheel's center, and mass and inertia (3,) of the wheel."""
    given, wheel = corner.given, corner.given.wheel
    whole = corner.mass("upright")
    total = np.array(given.inertia or [I * whole / 25 for I in UPRIGHT_INERTIA])
    mass = given.masses.get("wheel", wheel.mass)
    if mass is None:
        own = np.array(wheel.inertia) if wheel.inertia is not None else SHARE * total
        rest = np.maximum(total - own, 0.1 * total)
        return (1 - SHARE) * whole, np.diag(rest), SHARE * whole, own
    radius = float(length(corner.p("wheel_center") - corner.p("contact")))
    own = np.array(wheel.inertia if wheel.inertia is not None else [f * mass * radius**2 for f in SLENDER])
    return whole, np.diag(total), mass, own
