"""A corner under construction: bodies, joints and forces by name, and what all layouts have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError, suggest
from sekant.model.body import Body
from sekant.model.driver import Driver
from sekant.model.forces import PointForce, SpringDamper
from sekant.model.joints import Joint
from sekant.model.model import Ground, Model
from sekant.model.placement import Placement
from sekant.model.shapes import Cylinder
from sekant.vehicle import parts
from sekant.vehicle.hardpoints import HardPoints, apart, check_points

Vector = NDArray[np.float64]
COMMON = {
    "wheel_center": "center of the wheel",
    "contact": "where the tire meets the road",
    "tie_rod_inner": "inner end of the tie rod, on the rack",
    "tie_rod_outer": "outer end of the tie rod, on the upright",
    "spring_top": "upper end of the spring, on the vehicle's body",
    "spring_bottom": "lower end of the spring",
}
OPTIONAL = {"axle_inner": "a point of the wheel's spin axis, inboard of its center"}
RACK_LENGTH = 0.2  # m, as drawn
UPRIGHT_INERTIA = (0.9, 1.4, 0.9)  # kg m^2 of a 25 kg upright with its wheel; scaled with the mass


@dataclass(frozen=True)
class Layout:
    """A type of suspension: the points it needs, the masses of its parts (kg), and how it is put together."""

    name: str
    required: Mapping[str, str]
    masses: Mapping[str, float]
    build: Callable[[Corner], None]
    spring_on: str
    optional: Mapping[str, str] = field(default_factory=dict)


class Corner:
    """Collects the parts of one corner; `prefix` goes before the names of all of them."""

    def __init__(self, given: HardPoints, layout: Layout, steered: bool, prefix: str = ""):
        self.given, self.layout, self.steered, self.prefix = given, layout, steered, prefix
        self.bodies: dict[str, Body] = {}
        self.joints: dict[str, Joint] = {}
        self.forces: dict[str, PointForce | SpringDamper] = {}
        self.spring_top = "spring_top"  # the point of the spring's upper end
        check_points(given, dict(layout.required), {**OPTIONAL, **layout.optional})
        for name in given.masses:
            if name not in layout.masses:
                hint = suggest(name, list(layout.masses), "parts")
                raise ModelError(f"a {layout.name} has no part '{name}'; {hint}", path=("masses", name))

    def p(self, name: str) -> Vector:
        return self.given.point(name)

    def mass(self, part: str) -> float:
        return self.given.masses.get(part, self.layout.masses[part])

    def name(self, part: str) -> str:
        return part if part == "ground" else self.prefix + part

    # -- parts -----------------------------------------------------------------------------------------

    def upright(self) -> None:
        """The upright with its wheel, which does not spin."""
        apart(self.given, ("wheel_center", "contact"))
        mass, center = self.mass("upright"), self.p("wheel_center")
        inertia = self.given.inertia or [I * mass / 25 for I in UPRIGHT_INERTIA]
        frames = {
            "wheel_center": parts.frame_at(center, parts.wheel_axes(self.spin_axis())),
            "contact": parts.frame_at(self.p("contact")),
        }
        self.bodies[self.name("upright")] = Body(
            mass=mass,
            com=parts.numbers(center),
            inertia=parts.numbers([*inertia, 0.0, 0.0, 0.0]),
            frames=frames,
        )
        if self.given.load:
            self.forces[self.name("road")] = PointForce(
                frame=self.name("upright") + ".contact", force=(0.0, 0.0, self.given.load)
            )

    def spin_axis(self) -> Vector:
        """Unit vector (3,) of the spin axis as drawn, pointing to the left (ISO 8855)."""
        outward = 1.0 if self.given.side == "left" else -1.0
        if "axle_inner" in self.given.points:
            apart(self.given, ("wheel_center", "axle_inner"))
            return outward * parts.unit(self.p("wheel_center") - self.p("axle_inner"))
        camber, toe = self.given.camber, self.given.toe
        out = np.array(
            [np.cos(camber) * np.sin(toe), outward * np.cos(camber) * np.cos(toe), -np.sin(camber)]
        )
        return outward * out

    def arm(self, name: str, front: str, rear: str, tip: str) -> None:
        """A triangular arm on a hinge through two points of the vehicle's body."""
        apart(self.given, (front, rear))
        a, b, c = self.p(front), self.p(rear), self.p(tip)
        self.bodies[self.name(name)] = parts.plate(self.mass(name), a, b, c)
        self.joints[self.name(name + "_hinge")] = parts.hinge("ground", self.name(name), a, b)
        self.ball(name + "_ball", name, "upright", tip)

    def rod(
        self, name: str, inner: str, outer: str, carrier: str = "upright", holder: str = "ground"
    ) -> None:
        """A rod from `holder`, with a universal joint, to `carrier`, with a ball joint."""
        apart(self.given, (inner, outer))
        a, b = self.p(inner), self.p(outer)
        self.bodies[self.name(name)] = parts.rod(self.mass(name), a, b)
        self.joints[self.name(name + "_inner")] = parts.universal(
            holder if holder == "rack_bar" else self.name(holder), self.name(name), a, b - a
        )
        self.ball(name + "_outer", name, carrier, outer)

    def ball(self, joint: str, parent: str, child: str, point: str) -> None:
        """A ball joint, and a frame at it on the child, named as the point."""
        frame = {point: parts.frame_at(self.p(point))}
        self.bodies[self.name(child)] = parts.with_frames(self.bodies[self.name(child)], frame)
        self.joints[self.name(joint)] = parts.ball(self.name(parent), self.name(child), self.p(point))

    def tie_rod(self, name: str, inner: str, outer: str) -> None:
        """The tie rod; its inner end is on the rack if the corner is steered."""
        self.rod(name, inner, outer, holder="rack_bar" if self.steered else "ground")

    def spring(self, top: str = "spring_top", bottom: str = "spring_bottom") -> None:
        """Spring and damper from the vehicle's body to a part of the suspension."""
        self.spring_top = top
        apart(self.given, (top, bottom))
        data, on = self.given.spring, self.given.spring.on or self.layout.spring_on
        body = self.name(on)
        if body not in self.bodies:
            hint = suggest(on, [name.removeprefix(self.prefix) for name in self.bodies], "parts")
            raise ModelError(f"there is no part '{on}'; {hint}", path=("spring", "on"))
        frame = {"spring": parts.frame_at(self.p(bottom))}
        self.bodies[body] = parts.with_frames(self.bodies[body], frame)
        length = float(np.linalg.norm(self.p(top) - self.p(bottom)))
        free = data.free_length
        if free is None:
            free = length + (data.preload / data.stiffness if data.preload else 0.0)
        self.forces[self.name("spring")] = SpringDamper(
            parent="ground." + self._top_frame,
            child=body + ".spring",
            stiffness=data.stiffness,
            damping=data.damping,
            free_length=free,
        )

    @property
    def _top_frame(self) -> str:
        return self.name("spring_top").replace(".", "_")

    @property
    def ground_frames(self) -> dict[str, Placement]:
        """Frames on the vehicle's body that the corner needs."""
        return {self._top_frame: parts.frame_at(self.p(self.spring_top))}


def rack_parts(mass: float, at: Vector) -> tuple[Body, Joint]:
    """The steering rack and its joint: it slides along y, positive to the left."""
    body = Body(mass=mass, com=parts.numbers(at), inertia=parts.numbers(np.full(3, 0.01 * mass)))
    return body, parts.slider("ground", "rack_bar", at, np.array([0.0, 1.0, 0.0]))


def finished(name: str, corners: list[Corner], rack: tuple[Body, Joint] | None) -> Model:
    """The model of one corner, or of two that share a rack, held in the middle by a driver."""
    bodies, joints, drivers, frames, shapes = {}, {}, {}, {}, {}
    if rack is not None:
        bodies["rack_bar"], joints["rack"] = rack
        drivers["steering"] = Driver(joint="rack", value=0.0)
        middle = Placement(position=rack[0].com)
        shapes["rack_rod"] = Cylinder(
            frame="rack_bar", radius=0.015, length=RACK_LENGTH, axis=(0.0, 1.0, 0.0), pose=middle
        )
    forces = {}
    for corner in corners:
        bodies |= corner.bodies
        joints |= corner.joints
        forces |= corner.forces
        frames |= corner.ground_frames
    return Model(
        name=name,
        ground=Ground(frames=frames),
        bodies=bodies,
        joints=joints,
        forces=forces,
        drivers=drivers,
        shapes=shapes,
    )
