"""Bodies and joints of a suspension from the points they connect, all drawn in one system of coordinates.

Every body has its own frame at the origin of the vehicle's axes while the suspension stands as drawn, so that hard
points, joints and frames are all given as they are in the list of hard points, and all joint coordinates start
at zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.model.body import Body, inertia_matrix
from sekant.model.joints import Prismatic, Revolute, Spherical, Universal
from sekant.model.placement import Orientation, Placement

Vector = NDArray[np.float64]
THICKNESS = 0.02  # m: of arms and rods, only for their inertia


def numbers(p: ArrayLike) -> Any:
    """A vector as a tuple of plain floats."""
    return tuple(float(x) for x in np.asarray(p))


def unit(a: ArrayLike) -> Vector:
    return np.asarray(a, float) / np.linalg.norm(a)


def frame_at(p: Vector, R: Vector | None = None) -> Placement:
    """A frame at the point `p` (3,) with the axes `R` (3, 3), columns; parallel to the vehicle without them."""
    if R is None:
        return Placement(position=numbers(p))
    return Placement(position=numbers(p), orientation=Orientation(quaternion=numbers(_quaternion(R))))


def axes_across(direction: Vector) -> Vector:
    """R (3, 3) whose z axis points along `direction` (3,)."""
    z = unit(direction)
    x = unit(np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z))
    return np.column_stack([x, np.cross(z, x), z])


def wheel_axes(spin: Vector) -> Vector:
    """R (3, 3) whose y axis is `spin` (3,) and whose x axis is level."""
    y = unit(spin)
    x = unit(np.cross(y, [0.0, 0.0, 1.0]))
    return np.column_stack([x, y, np.cross(x, y)])


def rod(mass: float, a: Vector, b: Vector) -> Body:
    """A thin rod between two points."""
    com, d = (a + b) / 2, b - a
    J = mass / 12 * (d @ d * np.eye(3) - np.outer(d, d)) + mass * THICKNESS**2 / 12 * np.eye(3)
    return body(mass, com, J)


def plate(mass: float, *corners: Vector) -> Body:
    """A thin triangular plate; its inertia is that of thirds of its mass in the middles of its edges."""
    a, b, c = corners
    com = (a + b + c) / 3
    J = mass * THICKNESS**2 / 12 * np.eye(3)
    for r in ((a + b) / 2 - com, (b + c) / 2 - com, (c + a) / 2 - com):
        J = J + mass / 3 * (r @ r * np.eye(3) - np.outer(r, r))
    return body(mass, com, J)


def body(mass: float, com: Vector, J: Vector) -> Body:
    """A body with the inertia `J` (3, 3) about its center of mass."""
    inertia = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    return Body(mass=mass, com=numbers(com), inertia=numbers(inertia))


def joined(a: Body, b: Body) -> Body:
    """Two bodies as one, with the frames of both."""
    m = [float(part.mass) for part in (a, b)]  # pyright: ignore[reportArgumentType]
    com = (m[0] * np.array(a.com, float) + m[1] * np.array(b.com, float)) / sum(m)
    J = np.zeros((3, 3))
    for mass, part in zip(m, (a, b), strict=True):
        r = np.array(part.com, float) - com
        J = J + np.array(inertia_matrix(part.inertia), float) + mass * (r @ r * np.eye(3) - np.outer(r, r))
    return body(sum(m), com, J).model_copy(update={"frames": {**a.frames, **b.frames}})


def with_frames(body: Body, frames: dict[str, Placement]) -> Body:
    return body.model_copy(update={"frames": {**body.frames, **frames}})


def hinge(parent: str, child: str, a: Vector, b: Vector) -> Revolute:
    """A revolute joint whose axis runs from `b` to `a`."""
    return Revolute(parent=parent, child=child, at=numbers(a), axis=numbers(unit(a - b)))


def ball(parent: str, child: str, p: Vector) -> Spherical:
    return Spherical(parent=parent, child=child, at=numbers(p))


def universal(parent: str, child: str, p: Vector, along: Vector) -> Universal:
    """A universal joint whose two axes are at right angles to `along`: the rod cannot spin about itself."""
    place = frame_at(p, axes_across(along))
    return Universal(parent=parent, child=child, parent_pose=place, child_pose=place)


def slider(parent: str, child: str, p: Vector, along: Vector) -> Prismatic:
    return Prismatic(parent=parent, child=child, at=numbers(p), axis=numbers(unit(along)))


def _quaternion(R: Vector) -> Vector:
    """Unit quaternion (4,), scalar first, of a rotation matrix: the largest of the four squares comes first."""
    squares = np.array([1 + np.trace(R), *(1 + 2 * np.diag(R) - np.trace(R))]) / 4
    k = int(np.argmax(squares))
    w = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    e = np.empty(4)
    e[k] = np.sqrt(squares[k])
    if k == 0:
        e[1:] = np.array(w) / (4 * e[0])
    else:
        i, j, l = k - 1, k % 3, (k + 1) % 3
        e[0] = w[i] / (4 * e[k])
        e[j + 1] = (R[i, j] + R[j, i]) / (4 * e[k])
        e[l + 1] = (R[i, l] + R[l, i]) / (4 * e[k])
    return e
