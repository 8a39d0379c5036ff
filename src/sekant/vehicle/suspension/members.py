"""Bodies and joints of a suspension from the points they connect, all in vehicle axes.

In the position as drawn, the frame of every body coincides with the vehicle axes. Joints and frames therefore have
the coordinates of the hard points, and all joint coordinates start at zero. `Assembly` collects the items by name.
The vehicle's body is the ground.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.geometry.rotations import quaternion_from_rotation
from sekant.model.body import Body, inertia_matrix
from sekant.model.joints import Free, Prismatic, Revolute, Spherical, Universal
from sekant.model.model import Ground, Model
from sekant.model.placement import Orientation, Placement
from sekant.model.shapes import Polyline
from sekant.vehicle.suspension.drawn import Drawn, length, numbers, values

Vector = NDArray[np.float64]
THICKNESS = 0.02  # m: of arms and rods, only for their inertia


def unit(a: ArrayLike) -> Vector:
    return np.asarray(a) / length(a)


def direction(a: Vector) -> tuple:
    """A direction as numbers of a model, of unit length unless it is an expression."""
    return numbers(a) if isinstance(np.asarray(a)[0], Drawn) else numbers(unit(a))


def frame_at(p: Vector, R: Vector | None = None) -> Placement:
    """A frame at the point `p` (3,) whose axes are the columns of `R` (3, 3), by default those of the vehicle."""
    if R is None:
        return Placement(position=numbers(p))
    return Placement(
        position=numbers(p), orientation=Orientation(quaternion=numbers(quaternion_from_rotation(R)))
    )


def axes_across(direction: Vector) -> Vector:
    """R (3, 3) whose z axis points along `direction` (3,)."""
    z = unit(direction)
    x = unit(np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z))
    return np.column_stack([x, np.cross(z, x), z])


def _across(z: Vector) -> Orientation:
    """Like `axes_across`, for `Drawn` numbers, by Euler angles."""
    k = int(np.argmin(np.abs(values(z))))
    if k == 0:
        angles = [(-z[1]).arctan2(z[2]), z[0].arctan2(length(z[1:])), -np.pi / 2]
    elif k == 1:
        angles = [z[0].arctan2(z[2]), (-z[1]).arctan2(length(z[[0, 2]])), 0.0]
    else:
        angles = [z[0].arctan2(-z[1]), length(z[:2]).arctan2(z[2]), 0.0]
    return Orientation(sequence=("xyz", "yxz", "zxz")[k], angles=numbers(angles))


def wheel_frame(p: Vector, spin: Vector) -> Placement:
    """A frame at `p` (3,) whose y axis is `spin` (3,) and whose x axis is level."""
    if not isinstance(spin[0], Drawn):
        return frame_at(p, wheel_axes(spin))
    steer, lean = (-spin[0]).arctan2(spin[1]), spin[2].arctan2(length(spin[:2]))
    return Placement(
        position=numbers(p), orientation=Orientation(sequence="zxy", angles=numbers([steer, lean, 0.0]))
    )


def wheel_axes(spin: Vector) -> Vector:
    """R (3, 3) whose y axis is `spin` (3,) and whose x axis is level."""
    y = unit(values(spin))
    x = unit(np.cross(y, [0.0, 0.0, 1.0]))
    return np.column_stack([x, y, np.cross(x, y)])


def rod(mass: float, a: Vector, b: Vector) -> Body:
    """A thin rod between two points, as drawn."""
    a, b = values(a), values(b)
    com, d = (a + b) / 2, b - a
    J = mass / 12 * (d @ d * np.eye(3) - np.outer(d, d)) + mass * THICKNESS**2 / 12 * np.eye(3)
    return body(mass, com, J)


def plate(mass: float, *corners: Vector) -> Body:
    """A thin triangular plate, with the inertia of a third of its mass at the middle of each edge."""
    a, b, c = (values(corner) for corner in corners)
    com = (a + b + c) / 3
    J = mass * THICKNESS**2 / 12 * np.eye(3)
    for r in ((a + b) / 2 - com, (b + c) / 2 - com, (c + a) / 2 - com):
        J = J + mass / 3 * (r @ r * np.eye(3) - np.outer(r, r))
    return body(mass, com, J)


def body(mass: float, com: Vector, J: Vector) -> Body:
    """A body with the inertia `J` (3, 3) about its center of mass as drawn; neither depends on hard points."""
    com = values(com)
    inertia = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    return Body(mass=mass, com=numbers(com), inertia=numbers(inertia))


def joined(a: Body, b: Body) -> Body:
    """One body in place of two, with the frames of both."""
    m = [float(part.mass) for part in (a, b)]  # pyright: ignore[reportArgumentType]
    com = (m[0] * np.array(a.com, float) + m[1] * np.array(b.com, float)) / sum(m)
    J = np.zeros((3, 3))
    for mass, part in zip(m, (a, b), strict=True):
        r = np.array(part.com, float) - com
        J = J + np.array(inertia_matrix(part.inertia), float) + mass * (r @ r * np.eye(3) - np.outer(r, r))
    return body(sum(m), com, J).model_copy(update={"frames": {**a.frames, **b.frames}})


def hinge(parent: str, child: str, a: Vector, b: Vector) -> Revolute:
    """A revolute joint whose axis runs from `b` to `a`."""
    return Revolute(parent=parent, child=child, at=numbers(a), axis=direction(a - b))


def ball(parent: str, child: str, p: Vector) -> Spherical:
    return Spherical(parent=parent, child=child, at=numbers(p))


def universal(parent: str, child: str, p: Vector, along: Vector) -> Universal:
    """A universal joint whose two axes are at right angles to the rod along `along`, so the rod cannot spin."""
    drawn = isinstance(np.asarray(along)[0], Drawn)
    place = (
        Placement(position=numbers(p), orientation=_across(along))
        if drawn
        else frame_at(p, axes_across(along))
    )
    return Universal(parent=parent, child=child, parent_pose=place, child_pose=place)


def slider(parent: str, child: str, p: Vector, along: Vector) -> Prismatic:
    return Prismatic(parent=parent, child=child, at=numbers(p), axis=direction(along))


class Assembly:
    """Collects the items of a corner or an axle."""

    def __init__(self) -> None:
        self.items: dict[str, Any] = {}
        self.frames: dict[str, Placement] = {}

    def add(self, collection: str, name: str, item: Any) -> str:
        """Add an item under a unique name, which is returned."""
        entries = self.items.setdefault(collection, {})
        assert name not in entries, name
        entries[name] = item
        return name

    def all(self, collection: str) -> Mapping[str, Any]:
        return self.items.get(collection, {})

    def frame(self, body: str, name: str, placement: Placement) -> str:
        """Add a frame to a body or to the ground, and return its reference. In names of frames on the ground,
        underscores replace dots."""
        if body == "ground":
            own = name.replace(".", "_")
            self.frames[own] = placement
            return f"ground.{own}"
        found: Body = self.items["bodies"][body]
        frames = {**found.frames, name: placement}
        self.items["bodies"][body] = found.model_copy(update={"frames": frames})
        return f"{body}.{name}"

    def floating(self, body: str) -> None:
        """Add a free joint for a body that only forces and constraints hold."""
        self.add("joints", f"{body}_free", Free(child=body))

    def bar(self, name: str, frame: str, radius: float, *points: Vector, color: str | None = None) -> None:
        """Add a drawing of a bar through points, fixed to a body."""
        shape = Polyline(frame=frame, points=tuple(numbers(p) for p in points), radius=radius, color=color)
        self.add("shapes", name, shape)

    def model(self, name: str) -> Model:
        return Model(name=name, ground=Ground(frames=self.frames), **self.items)
