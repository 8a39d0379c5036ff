"""Defaults, orientations and inertias of geometric bodies, as MJCF defines them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sekant.errors import counted
from sekant.geometry.rotations import (
    quaternion_from_rotation,
    quaternion_from_rotation_vector,
    rotation_from_euler,
    rotation_from_quaternion,
)
from sekant.io.importers.xml_files import XmlElement

Array = NDArray[np.float64]
DENSITY = 1000.0


class Settings:
    """Settings of <compiler> and <default>; `degrees`: angles are in degrees."""

    def __init__(self, root: XmlElement):
        compilers = list(root.all("compiler"))
        merged: dict[str, str] = {}
        for element in compilers:
            merged |= element.attributes
        self.compiler = merged
        self.degrees = merged.get("angle", "degree") == "degree"
        self.sequence = merged.get("eulerseq", "xyz")
        self.classes: dict[str, dict[str, dict[str, str]]] = {"main": {}}
        for element in root.all("default"):
            self._collect(element, "main", {})

    def _collect(self, element: XmlElement, name: str, inherited: dict[str, dict[str, str]]) -> None:
        own = {tag: dict(values) for tag, values in inherited.items()}
        for child in element.children:
            if child.tag != "default":
                own[child.tag] = own.get(child.tag, {}) | child.attributes
        self.classes[name] = own
        for child in element.all("default"):
            self._collect(child, child.need("class"), own)

    def complete(self, element: XmlElement, child_class: str | None) -> XmlElement:
        """The element with the defaults of its class."""
        name = element.get("class") or child_class or "main"
        if name not in self.classes:
            raise element.error(f"there is no default class '{name}'")
        given = self.classes[name].get(element.tag, {})
        # one notation of the orientation replaces another
        if any(key in element.attributes for key in ORIENTATIONS):
            given = {key: value for key, value in given.items() if key not in ORIENTATIONS}
        return XmlElement(
            element.tag, given | element.attributes, element.file, element.line, element.children
        )

    def angle(self, value: float) -> float:
        return float(np.deg2rad(value)) if self.degrees else value

    def quaternion(self, element: XmlElement) -> Array:
        """Orientation of a frame in its parent, from the given notation."""
        if "quat" in element.attributes:
            quaternion = np.array(element.numbers("quat", count=4))
            if not np.any(quaternion):
                raise element.error(
                    'quat="0 0 0 0" is not an orientation; give a quaternion of nonzero length'
                )
            return quaternion / np.linalg.norm(quaternion)
        if "axisangle" in element.attributes:
            *axis, angle = element.numbers("axisangle", count=4)
            return quaternion_from_rotation_vector(self.angle(angle) * _unit(element, axis))
        if "euler" in element.attributes:
            R = np.eye(3)
            for axis, angle in zip(self.sequence, element.numbers("euler", count=3), strict=True):
                turn = rotation_from_euler([self.angle(angle)], axis)
                R = R @ turn if axis.islower() else turn @ R
            return quaternion_from_rotation(R)
        if "xyaxes" in element.attributes:
            values = element.numbers("xyaxes", count=6)
            x = _unit(element, values[:3])
            y = np.array(values[3:]) - np.dot(x, values[3:]) * x
            y = _unit(element, y)
            return quaternion_from_rotation(np.column_stack([x, y, np.cross(x, y)]))
        if "zaxis" in element.attributes:
            return from_z(_unit(element, element.numbers("zaxis", count=3)))
        return np.array([1.0, 0.0, 0.0, 0.0])


ORIENTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")


def _unit(element: XmlElement, values: Sequence[float] | Array) -> Array:
    length = np.linalg.norm(values)
    if length < 1e-14:
        raise element.error("a direction is zero; give a vector of nonzero length")
    return np.asarray(values, float) / length


def from_z(direction: Array) -> Array:
    """The smallest rotation from z to a unit vector (3,), as a quaternion."""
    if direction[2] < -1 + 1e-14:
        return np.array([0.0, 1.0, 0.0, 0.0])
    quaternion = np.array([1.0 + direction[2], -direction[1], direction[0], 0.0])
    return quaternion / np.linalg.norm(quaternion)


def geom_frame(settings: Settings, geom: XmlElement) -> tuple[Array, Array, list[float]]:
    """Center (3,), quaternion (4,) and size of a geom; `fromto` sets position, direction and length."""
    size = geom.numbers("size", ()) if "size" not in geom.attributes else geom.numbers("size", None)
    if "fromto" in geom.attributes:
        values = np.array(geom.numbers("fromto", count=6))
        first, last = values[:3], values[3:]
        along = _unit(geom, last - first)
        # in MuJoCo z points from the second end to the first; shapes with fromto are symmetric about their middle
        half = float(np.linalg.norm(last - first)) / 2
        across = size[:1] * 2 if geom.get("type") in ("box", "ellipsoid") else size[:1]
        return (first + last) / 2, from_z(along), [*across, half]
    return np.array(geom.numbers("pos", (0.0, 0.0, 0.0))), settings.quaternion(geom), size


def geom_inertia(settings: Settings, geom: XmlElement) -> tuple[float, Array, Array] | None:
    """Mass (kg), center (3,) and inertia (3, 3) about it in the body's axes; None for shapes without mass."""
    kind = geom.get("type", "sphere") if "mesh" not in geom.attributes else "mesh"
    if kind in ("plane", "hfield"):
        return None
    mass = geom.number("mass", -1.0)
    if mass == 0 or (mass < 0 and geom.number("density", DENSITY) == 0):
        return None
    if kind not in _SOLIDS:
        raise geom.error(
            f"the inertia of the body would follow from a geom of type '{kind}', which is not supported; add "
            "<inertial> to the body"
        )
    center, quaternion, size = geom_frame(settings, geom)
    needed = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}[kind]
    if len(size) < needed:
        raise geom.error(f"the {kind} needs {counted(needed, 'sizes')} (got {len(size)})")
    if any(not one > 0 for one in size[:needed]):
        raise geom.error(
            f"the sizes of the {kind} must be positive (got {', '.join(f'{x:g}' for x in size[:needed])})"
        )
    volume, moments = _SOLIDS[kind](*size[:needed])
    mass = mass if mass >= 0 else geom.number("density", DENSITY) * volume
    R = rotation_from_quaternion(quaternion)
    return mass, center, mass * (R @ np.diag(moments) @ R.T)


def _ellipsoid(a: float, b: float, c: float) -> tuple[float, list[float]]:
    return 4 / 3 * np.pi * a * b * c, [(b * b + c * c) / 5, (a * a + c * c) / 5, (a * a + b * b) / 5]


def _box(a: float, b: float, c: float) -> tuple[float, list[float]]:
    return 8 * a * b * c, [(b * b + c * c) / 3, (a * a + c * c) / 3, (a * a + b * b) / 3]


def _cylinder(r: float, h: float) -> tuple[float, list[float]]:
    across = r * r / 4 + h * h / 3
    return 2 * np.pi * r * r * h, [across, across, r * r / 2]


def _capsule(r: float, h: float) -> tuple[float, list[float]]:
    """A cylinder of half length h with half spheres on its ends."""
    tube, ball = 2 * np.pi * r * r * h, 4 / 3 * np.pi * r**3
    # a half sphere's center of mass is 3 r / 8 from its face
    across_ball = 2 / 5 * r * r + h * h + 3 / 4 * h * r
    across = tube * (r * r / 4 + h * h / 3) + ball * across_ball
    along = tube * r * r / 2 + ball * 2 / 5 * r * r
    volume = tube + ball
    return volume, [across / volume, across / volume, along / volume]


_SOLIDS = {
    "sphere": lambda r: _ellipsoid(r, r, r),
    "ellipsoid": _ellipsoid,
    "box": _box,
    "cylinder": _cylinder,
    "capsule": _capsule,
}
"""Volume, and moments of inertia per unit of mass, from half sizes."""
