"""A corner under construction: bodies, joints and forces by name, and the parts that several layouts use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sekant.errors import check_known
from sekant.model.body import Body
from sekant.model.expressions.expression import Expression
from sekant.model.forces import Bushing, PointForce
from sekant.model.joints import Spherical
from sekant.model.placement import Placement
from sekant.vehicle.hardpoints.components import SET_UP, check_set_up
from sekant.vehicle.hardpoints.description import HardPoints, apart, check_points
from sekant.vehicle.suspension import members, upright
from sekant.vehicle.suspension.drawn import Drawn, drawn_point, model_number, numbers, text_of, values
from sekant.vehicle.suspension.members import Assembly
from sekant.vehicle.suspension.spring import add_spring

Vector = NDArray[np.float64]
COMMON = {
    "wheel_center": "center of the wheel",
    "tie_rod_inner": "inner end of the tie rod, on the rack",
    "tie_rod_outer": "outer end of the tie rod, on the upright",
}
SPRING = {
    "spring_top": "upper end of the spring, on the vehicle's body",
    "spring_bottom": "lower end of the spring",
}
OPTIONAL = {
    "axle_inner": "a point on the wheel's spin axis, inboard of the wheel center",
    "contact": "point at which the tire meets the road",
    **SPRING,
}
SHARED = ("ground", "rack_bar", "pitman_arm", "beam")  # parts that belong to both sides
ARM, ROD = 0.014, 0.010  # m: radii of arms and rods as drawn


@dataclass(frozen=True)
class Layout:
    """A type of suspension: the points that it requires, the masses of its parts (kg), and how it is built."""

    name: str
    required: Mapping[str, str]
    masses: Mapping[str, float]
    build: Callable[[Corner], None]
    spring_on: str
    optional: Mapping[str, str] = field(default_factory=dict)
    set_up: tuple[str, ...] = ()
    """names of its set-up changes, in addition to the spring perch"""
    steerable: bool = True
    steered_by: tuple[str, ...] = ()
    """optional points without which it is not steered"""
    whole: bool = False
    """whether it exists only as an axle, because its two sides share a part"""


class Corner:
    """Collects the parts of one corner in an assembly. Their names begin with `prefix`."""

    def __init__(
        self,
        given: HardPoints,
        layout: Layout,
        into: Assembly,
        *,
        steered: bool,
        spin: bool = False,
        prefix: str = "",
        mirrored: bool = False,
        movable: bool = False,
    ):
        self.layout, self.into, self.prefix = layout, into, prefix
        self.steered = steered and layout.steerable and all(p in given.points for p in layout.steered_by)
        self.spin = spin
        self.mirrored, self.movable = mirrored, movable
        check_points(given, dict(layout.required), {**OPTIONAL, **layout.optional})
        self.given = given
        known = [*layout.masses, "wheel", "rack"]
        for name in given.masses:
            check_known(name, known, f"a {layout.name} has no part '{name}'", "parts", ("masses", name))
        for name in given.bushings:
            problem = f"there is no point '{name}' for a bushing"
            check_known(name, given.points, problem, "points", ("bushings", name))
        self._add_set_up()

    def p(self, name: str) -> Vector:
        """A point (3,) m; an array of `Drawn` numbers if hard points are parameters."""
        if not self.movable:
            return self.given.point(name)
        if name == "contact" and self.given.contact_follows:
            return self._touching()
        return self.named_point(name, self.given.point(name), self.mirrored)

    def named_point(self, name: str, drawn: Vector, mirrored: bool) -> Vector:
        """A point (3,) m as drawn; if hard points are parameters, its coordinates are parameters called `name`."""
        if not self.movable:
            return drawn
        for axis, value in zip("xyz", drawn * [1.0, -1.0 if mirrored else 1.0, 1.0], strict=True):
            if f"{name}.{axis}" not in self.into.all("parameters"):
                self.into.add("parameters", f"{name}.{axis}", float(value) + 0.0)
        return drawn_point(name, drawn, mirrored)

    def _touching(self) -> Vector:
        """The contact point of a wheel with a given radius, which follows from the wheel's center and axis."""
        center, e = self.p("wheel_center"), self.spin_axis()
        radius = self.given.wheel.given_radius
        assert radius is not None
        down = np.array([0.0, 0.0, 1.0]) - e * e[2]
        return center - radius * members.unit(down)

    def has(self, *names: str) -> bool:
        return all(name in self.given.points for name in names)

    def mass(self, part: str) -> float:
        return self.given.masses.get(part, self.layout.masses[part])

    def name(self, part: str) -> str:
        return part if part in SHARED else self.prefix + part

    def frame_name(self, body: str, frame: str) -> str:
        """The name of a frame of the corner on a body that both sides may share."""
        return frame if body.startswith(self.prefix) else self.prefix.replace(".", "_") + frame

    @property
    def outward(self) -> float:
        return 1.0 if self.given.side == "left" else -1.0

    # -- set-up changes --------------------------------------------------------------------------------

    def _add_set_up(self) -> None:
        known = [*self.layout.set_up, *(["spring_perch"] if self.has(*SPRING) else [])]
        if not self.has(*self.layout.steered_by):
            known.remove("tie_rod_length")
        elif self.steered and "tie_rod_length" in known and not self.has("pitman_pivot"):
            known.append("rack_height")
        own = {
            name.removeprefix(self.prefix): value
            for name, value in self.given.set_up.items()
            if "." not in name or name.startswith(self.prefix or "\0")
        }
        check_set_up({k.rpartition(".")[2]: v for k, v in self.given.set_up.items()}, known)
        for name in SET_UP:
            if name in known:
                self.into.add("parameters", self.name(name), own.get(name, 0.0))

    def shifted(self, point: Vector, **changes: Vector) -> Placement:
        """A point on a part, shifted by set-up changes (m), each along its direction (3,).

        Names refer to the side of the corner, unless they begin with ``left.`` or ``right.``.
        """
        named = {change if "." in change else self.name(change): d for change, d in changes.items()}
        numbers: list[float | Expression] = []
        for i in range(3):
            terms = [
                f"{text_of(direction[i])}*{name}"
                for name, direction in named.items()
                if (isinstance(direction[i], Drawn) or direction[i] != 0.0)
                and name in self.into.all("parameters")
            ]
            text = " + ".join([text_of(point[i]), *terms])
            numbers.append(Expression(text) if terms else model_number(point[i]))
        return Placement(position=tuple(numbers))  # pyright: ignore[reportArgumentType]

    # -- parts -----------------------------------------------------------------------------------------

    def body(self, part: str, body: Body) -> str:
        return self.into.add("bodies", self.name(part), body)

    def upright(self, part: str = "upright") -> None:
        """Add the upright and its wheel, as one body or as two bodies on a hub."""
        upright.add_upright(self, part)
        if self.given.load:
            contact = self.frame_name(self.name(part), "contact")
            force = PointForce(frame=f"{self.name(part)}.{contact}", force=(0.0, 0.0, self.given.load))
            self.into.add("forces", self.name("road"), force)

    def spin_axis(self) -> Vector:
        """Unit vector (3,) of the spin axis as drawn, pointing to the left (ISO 8855)."""
        if self.has("axle_inner"):
            apart(self.given, ("wheel_center", "axle_inner"))
            return self.outward * members.unit(self.p("wheel_center") - self.p("axle_inner"))
        return self.given.spin_axis()

    def arm(
        self,
        name: str,
        front: str,
        rear: str,
        tip: str,
        tip_changes: Mapping[str, Vector] | None = None,
        hinge_changes: Mapping[str, Vector] | None = None,
    ) -> None:
        """Add a triangular arm on a hinge through two points of the vehicle's body, or on bushings at these
        points."""
        apart(self.given, (front, rear))
        a, b, c = self.p(front), self.p(rear), self.p(tip)
        arm = self.body(name, members.plate(self.mass(name), a, b, c))
        self.into.bar(arm + "_tube", arm, ARM, a, c, b)
        self.pick_ups(arm, a, b)
        if not self.on_bushings(name, front, rear):
            hinge = members.hinge("ground", arm, a, b)
            moved = self.shifted(a, **(hinge_changes or {}))
            if moved != Placement(position=numbers(a)):
                here = Placement(position=numbers(a))
                hinge = hinge.model_copy(update={"at": None, "parent_pose": moved, "child_pose": here})
            self.into.add("joints", self.name(name + "_hinge"), hinge)
        self.ball(name + "_ball", name, "upright", tip, child_changes=tip_changes)

    def on_bushings(self, part: str, front: str, rear: str) -> bool:
        """Mount a part at two points of the vehicle's body if one of them is elastic: on a bushing, or a ball
        joint at a rigid one. Otherwise return false."""
        if not (self.elastic(front) or self.elastic(rear)):
            return False
        self.into.floating(self.name(part))
        for point in (front, rear):
            if self.elastic(point):
                self.bushing(point, "ground", part, self.p(front) - self.p(rear))
            else:
                joint = members.ball("ground", self.name(part), self.p(point))
                self.into.add("joints", self.name(f"{point}_ball"), joint)
        return True

    def rod(
        self,
        name: str,
        inner: str,
        outer: str,
        carrier: str = "upright",
        holder: str = "ground",
        length: str = "",
        holder_changes: Mapping[str, Vector] | None = None,
    ) -> None:
        """Add a rod with a universal joint on `holder` and a ball joint on `carrier`; the set-up change `length`
        lengthens it."""
        apart(self.given, (inner, outer))
        a, b = self.p(inner), self.p(outer)
        rod = self.body(name, members.rod(self.mass(name), a, b))
        self.into.bar(rod + "_tube", rod, ROD, a, b)
        if self.elastic(inner):
            self.into.floating(rod)
            self.bushing(inner, holder, name, a - b)
        else:
            joint = members.universal(self.name(holder), rod, a, b - a)
            if holder_changes:
                moved = self.shifted(a, **holder_changes)
                place = joint.parent_pose.model_copy(update={"position": moved.position})
                joint = joint.model_copy(update={"parent_pose": place})
            self.into.add("joints", self.name(name + "_inner"), joint)
        changes = {length: members.unit(b - a)} if length else {}
        self.ball(name + "_outer", name, carrier, outer, parent_changes=changes)

    def pick_ups(self, arm: str, front: Vector, rear: Vector) -> None:
        """Add frames `front` and `rear` on an arm, at the ends of its hinge."""
        self.into.frame(arm, "front", members.frame_at(front))
        self.into.frame(arm, "rear", members.frame_at(rear))

    def elastic(self, point: str) -> bool:
        """Whether the joint at a point is a bushing."""
        return self.given.compliant and point in self.given.bushings

    def bushing(self, point: str, parent: str, child: str, along: Vector | None = None) -> None:
        """Add a bushing at a point, with z along `along` (3,)."""
        data, p = self.given.bushings[point], self.p(point)
        place = members.frame_at(p, None if along is None else self._axes(along))
        F = self.into.frame(self.name(parent), f"{self.prefix}{point}_bushing".replace(".", "_"), place)
        M = self.into.frame(
            self.name(child), self.frame_name(self.name(child), f"{point}_bushing_end"), place
        )
        force = Bushing(parent=F, child=M, **{key: getattr(data, key) for key in type(data).model_fields})
        if data.matrix is not None and self.outward < 0:
            force = force.model_copy(update=force.mirror_changes("y"))
        self.into.add("forces", self.name(f"{point}_bushing"), force)

    def _axes(self, along: Vector) -> Vector:
        """Axes R (3, 3) with z along a direction; axes on the right side are the mirror image of those on the
        left."""
        along = values(along)
        if self.outward > 0:
            return members.axes_across(along)
        mirror = np.diag([1.0, -1.0, 1.0])
        return mirror @ members.axes_across(mirror @ along) @ mirror

    def ball(
        self,
        joint: str,
        parent: str,
        child: str,
        point: str,
        parent_changes: Mapping[str, Vector] | None = None,
        child_changes: Mapping[str, Vector] | None = None,
    ) -> None:
        """Add a ball joint or a bushing at a point, and a frame with the name of the point on the child."""
        p = self.p(point)
        own = self.frame_name(self.name(child), point)
        M = self.into.frame(self.name(child), own, self.shifted(p, **(child_changes or {})))
        if self.elastic(point):
            self.bushing(point, parent, child)
            return
        at_parent = self.shifted(p, **(parent_changes or {}))
        if at_parent == self.shifted(p, **(child_changes or {})):
            item = members.ball(self.name(parent), self.name(child), p)
        else:
            item = Spherical(parent=self.name(parent), child=M, parent_pose=at_parent)
        self.into.add("joints", self.name(joint), item)

    def tie_rod(self, name: str, inner: str, outer: str) -> None:
        """Add the tie rod; its inner end is on the rack if the corner is steered."""
        up = np.array([0.0, 0.0, 1.0])
        self.rod(
            name,
            inner,
            outer,
            holder="rack_bar" if self.steered else "ground",
            length="tie_rod_length",
            holder_changes={"rack_height": up} if self.steered else None,
        )

    def draw_upright(self, *points: str) -> None:
        """Draw bars from the wheel's center to the points of the upright."""
        center, body = self.p("wheel_center"), self.name("upright")
        for point in points:
            self.into.bar(f"{body}_{point}", body, 1.3 * ARM, center, self.p(point), color="gray")

    def spring(self, top: str = "spring_top", bottom: str = "spring_bottom") -> None:
        """Add spring, damper and stops between the vehicle's body and a part of the suspension, if their points are
        given."""
        if self.has(top, bottom):
            add_spring(self, top, bottom)

    def carrier(self, on: str, path: tuple[str, ...]) -> str:
        """The name of the part `on`, by default of the part that carries the spring."""
        part = on or self.given.spring.on or self.layout.spring_on
        bodies = self.into.all("bodies")
        if self.name(part) not in bodies:
            own = [name.removeprefix(self.prefix) for name in bodies if name.startswith(self.prefix)]
            check_known(part, own, f"there is no part '{part}'", "parts", path)
        return self.name(part)
