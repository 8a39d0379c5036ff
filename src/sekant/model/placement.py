"""Pose of a frame on a body: position and orientation, in any of the usual notations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from pydantic import model_validator

from sekant.errors import ModelError
from sekant.geometry.rotations import quaternion_from_rotation as quaternion_from_matrix
from sekant.geometry.spatial import (
    AXIS_ROTATIONS,
    SX,
    Pose,
    quaternion_from_rotation,
    rotation_from_quaternion,
    scalar,
    skew,
    vector,
)
from sekant.model.expressions.expression import Expression
from sekant.model.quantities import (
    Angle,
    AxialDirection,
    Description,
    EulerAngles,
    Point,
    Quaternion,
    Value,
)

_SEQUENCES = {
    a + b + c for a in "xyz" for b in "xyz" for c in "xyz" if all(i != j for i, j in pairwise(a + b + c))
}


class Orientation(Description):
    """R_AB, given by Euler angles, by a quaternion, or by an axis and an angle.

    In files, write ``{zyx: [30 deg, 0, 0]}`` (with any intrinsic sequence), ``{quaternion: [w, x, y, z]}`` or
    ``{axis: [0, 1, 0], angle: 12 deg}``. By default, B is parallel to A.
    """

    shown: ClassVar = "{zyx: [30 deg, 0, -5 deg]}"

    sequence: str = "zyx"
    """intrinsic sequence of the Euler angles"""
    angles: EulerAngles | None = None
    """Euler angles, in the order of the sequence"""
    quaternion: Quaternion | None = None
    """unit quaternion, scalar first"""
    axis: AxialDirection | None = None
    """axis of a single rotation"""
    angle: Angle | None = None
    """angle of the rotation about `axis`"""

    @model_validator(mode="before")
    @classmethod
    def _sequence_as_key(cls, data: Any):
        if not isinstance(data, dict):
            return data
        named = [key for key in data if isinstance(key, str) and key in _SEQUENCES]
        if len(named) > 1:
            raise ValueError(f"two Euler sequences are given ({', '.join(named)}); keep one")
        if named:
            data = dict(data)
            if "angles" in data:
                raise ValueError(f"give the angles either under '{named[0]}' or under 'angles'")
            data["angles"] = data.pop(named[0])
            data["sequence"] = named[0]
        return data

    @model_validator(mode="after")
    def _one_notation(self):
        if self.sequence not in _SEQUENCES:
            raise ValueError(
                f"'{self.sequence}' is not an Euler sequence; give three of the letters x, y, z, such as zyx"
            )
        if (self.axis is None) != (self.angle is None):
            raise ValueError("give either both 'axis' and 'angle', or neither")
        if self.axis is not None and all(component == 0.0 for component in self.axis):
            raise ValueError("axis is zero and has no direction; give one such as [0, 1, 0]")
        given = [self.angles is not None, self.quaternion is not None, self.axis is not None]
        if sum(given) > 1:
            raise ValueError(
                "the orientation is given in more than one notation; keep Euler angles, a quaternion, or "
                "axis and angle"
            )
        if self.quaternion is not None and all(isinstance(e, float) for e in self.quaternion):
            norm = sqrt(sum(float(e) ** 2 for e in self.quaternion))  # type: ignore[arg-type]
            if abs(norm - 1) > 1e-6:
                raise ValueError(f"the quaternion has length {norm:.9g}, not 1; divide it by its length")
        return self

    def rotation(self) -> SX:
        """R_AB (3, 3)."""
        if self.angles is not None:
            R = Pose.identity().R
            for axis, angle in zip(self.sequence, self.angles, strict=True):
                R = R @ AXIS_ROTATIONS[axis](angle)
            return R
        if self.quaternion is not None:
            e = vector(self.quaternion)
            return rotation_from_quaternion(e / ca.sqrt(ca.dot(e, e)))
        if self.axis is not None:
            K, angle = skew(unit(self.axis)), scalar(self.angle)
            return Pose.identity().R + ca.sin(angle) * K + (1 - ca.cos(angle)) * (K @ K)
        return Pose.identity().R

    def quaternion_values(self) -> tuple:
        """Unit quaternion of R_AB, scalar first."""
        if self.quaternion is not None:
            e = vector(self.quaternion)
            return tuple(ca.vertsplit(e / ca.sqrt(ca.dot(e, e))))
        if self == Orientation():
            return (1.0, 0.0, 0.0, 0.0)
        return tuple(ca.vertsplit(quaternion_from_rotation(self.rotation())))


class Placement(Description):
    """The pose X_AB of a frame B in a frame A."""

    shown: ClassVar = "{position: [0.3 m, 0, 0.1 m], orientation: {zyx: [30 deg, 0, 0]}}"

    position: Point = (0.0, 0.0, 0.0)
    """position of the origin of B, in A"""
    orientation: Orientation = Orientation()
    """orientation of B in A"""

    def pose(self) -> Pose:
        return Pose(self.orientation.rotation(), vector(self.position))


Frame = Placement  # the public name: what a user places on a body


def composed(X_AB: Placement, X_BC: Placement) -> Placement:
    """X_AC. Positions may hold expressions; where both frames are turned, their orientations must be numbers."""
    if X_AB.orientation == Orientation():
        moved = X_BC.position
        turned = X_BC.orientation
    else:
        R_AB = _numbers(X_AB.orientation)
        moved = tuple(_linear(row, X_BC.position) for row in R_AB)
        turned = X_AB.orientation
        if X_BC.orientation != Orientation():
            e = quaternion_from_matrix(R_AB @ _numbers(X_BC.orientation))
            turned = Orientation(quaternion=(float(e[0]), float(e[1]), float(e[2]), float(e[3])))
    position = tuple(_linear((1.0, 1.0), pair) for pair in zip(X_AB.position, moved, strict=True))
    return Placement(position=position, orientation=turned)  # pyright: ignore[reportArgumentType]


def _numbers(orientation: Orientation) -> np.ndarray:
    """R (3, 3); expressions are refused."""
    given = (*(orientation.angles or ()), *(orientation.quaternion or ()), *(orientation.axis or ()))
    if any(isinstance(value, Expression) for value in (*given, orientation.angle)):
        raise ModelError(
            "a frame whose orientation is an expression cannot be placed on a rotated frame; write its "
            "orientation as numbers"
        )
    return ca.evalf(orientation.rotation()).full()


def _linear(factors: Sequence[float], values: Sequence[Value]) -> Value:
    """The sum of factors times values, as a number or an expression."""
    fixed, terms = 0.0, []
    for factor, value in zip(map(float, factors), values, strict=True):
        if not isinstance(value, Expression):
            fixed += factor * value
        elif factor != 0.0:
            terms.append(f"({value.text})" if factor == 1.0 else f"{factor!r}*({value.text})")
    if not terms:
        return fixed
    return Expression(" + ".join([*([repr(fixed)] if fixed else []), *terms]))


def unit(direction) -> SX:
    """`direction` (3,) divided by its length."""
    a = vector(direction)
    return a / ca.sqrt(ca.dot(a, a))


def aligning_rotation(axis) -> SX:
    """The smallest rotation (3, 3) that takes z to `axis` (3,); exact for the coordinate axes."""
    a = unit(axis)
    across = a[0] * a[0] + a[1] * a[1]
    if a.is_constant() and float(a[2]) < 0 and float(across) < 1e-24:
        return SX(ca.diag(ca.DM([1, -1, -1])).full())
    K = skew(ca.cross(SX(ca.DM([0, 0, 1]).full()), a))
    # R = 1 + K + K^2 / (1 + a_z); near -z the sum cancels, but (1 + a_z)(1 - a_z) = a_x^2 + a_y^2
    below = across / (1 - a[2])
    sum_z = (
        (1 + a[2] if float(a[2]) > 0 else below) if a.is_constant() else ca.if_else(a[2] > 0, 1 + a[2], below)
    )
    return Pose.identity().R + K + (K @ K) / sum_z
