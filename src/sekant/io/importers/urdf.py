"""URDF: robots as trees of links and joints (http://wiki.ros.org/urdf/XML).

A link becomes a body with the same frame; a joint keeps its name, origin and axis. The root link is fixed to the
ground, and is the ground if it has no mass. Limits become smooth stops, a mimic joint a coupling.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sekant.errors import ModelError, suggest
from sekant.geometry.rotations import quaternion_from_rotation, rotation_from_euler
from sekant.io.importers.left_out import Omissions
from sekant.io.importers.model_items import (
    ItemReader,
    body_of,
    mesh_shape,
    placement,
    point,
    stop,
)
from sekant.io.importers.xml_files import XmlElement
from sekant.model.body import Body
from sekant.model.constraints import Coupling
from sekant.model.joints import Fixed, Free, Joint, Planar, Prismatic, Revolute
from sekant.model.model import Model
from sekant.model.shapes import Box, Cylinder, Sphere

JOINTS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
COUPLED = ("revolute", "continuous", "prismatic")
KNOWN = ("link", "joint", "material")


class UrdfReader(ItemReader):
    """Reads one robot; `model` and the omissions are the result."""

    def __init__(self, root: XmlElement, path: Path):
        super().__init__(root, path)
        self.links = self._by_name("link")
        self.joints = self._by_name("joint")
        self.body_of_link: dict[str, str] = {}
        self.joint_names: dict[str, str] = {}

    def model(self) -> Model:
        base = self._base()
        self._bodies(base)
        for name in self.joints:
            self.joint_names[name] = self.names.take(name, "joint")
        for name, element in self.joints.items():
            self._joint(name, element)
        for name, element in self.joints.items():
            self._mimic(name, element)
        for link in self.links.values():
            self._shapes(link)
        for child in self.root.children:
            if child.tag not in KNOWN:
                self.leave_out(f"<{child.tag}>")
        return self.collected("name")

    def _by_name(self, tag: str) -> dict[str, XmlElement]:
        found: dict[str, XmlElement] = {}
        for element in self.root.all(tag):
            name = element.need("name")
            if name in found:
                raise element.error(f"line {found[name].line} already defines a {tag} with this name")
            found[name] = element
        if tag == "link" and not found:
            raise self.root.error("has no link; a robot needs at least one link")
        return found

    def _link(self, joint: XmlElement, tag: str) -> str:
        end = joint.one(tag)
        if end is None:
            raise joint.error(f"<{tag}> is missing")
        name = end.need("link")
        if name not in self.links:
            raise end.error(f"there is no link '{name}'; {suggest(name, list(self.links), 'links')}")
        return name

    def _base(self) -> str:
        parents: dict[str, str] = {}
        for name, joint in self.joints.items():
            self._link(joint, "parent")
            child = self._link(joint, "child")
            if child in parents:
                raise joint.error(
                    f"link '{child}' is already the child of joint '{parents[child]}'; a link can have only "
                    "one parent"
                )
            parents[child] = name
        roots = [name for name in self.links if name not in parents]
        if len(roots) != 1:
            what = (
                f"several roots ({', '.join(roots[:5])})"
                if roots
                else "no root, because its joints form a loop"
            )
            raise self.root.error(
                f"the tree of links has {what}; exactly one link, the root, must not be the child of a joint"
            )
        return roots[0]

    def _bodies(self, base: str) -> None:
        for name, link in self.links.items():
            inertial = link.one("inertial")
            if name == base and inertial is None:
                self.body_of_link[name] = "ground"
                continue
            body = self.body_of_link[name] = self.names.take(name, "link")
            self.parts["bodies"][body] = Body() if inertial is None else self._inertia(inertial)
            if name == base:
                self.add("joints", Fixed(child=body), f"{name}_to_ground", "joint")

    def _inertia(self, inertial: XmlElement) -> Body:
        mass, inertia = inertial.one("mass"), inertial.one("inertia")
        if mass is None:
            raise inertial.error("<mass> is missing")
        position, R = _origin(inertial)
        J = np.zeros((3, 3))
        if inertia is not None:
            xx, xy, xz, yy, yz, zz = (
                inertia.number(key, 0.0) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
            )
            J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return body_of(inertial, mass.number("value"), position, R @ J @ R.T)

    def _joint(self, name: str, element: XmlElement) -> None:
        kind = element.need("type")
        if kind not in JOINTS:
            raise element.error(f"unknown type '{kind}'; {suggest(kind, JOINTS, 'types')}")
        position, R = _origin(element)
        common: dict[str, Any] = {
            "parent": self.body_of_link[self._link(element, "parent")],
            "child": self.body_of_link[self._link(element, "child")],
            "parent_pose": placement(position, quaternion_from_rotation(R)),
        }
        axis = element.one("axis")
        direction = point(axis.numbers("xyz", (1.0, 0.0, 0.0)) if axis is not None else (1.0, 0.0, 0.0))
        if axis is not None and not any(direction) and kind not in ("fixed", "floating"):
            raise axis.error('xyz="0 0 0" is not a direction; give one such as "0 0 1"')
        own = self.joint_names[name]
        limit = element.one("limit")
        made: Joint
        if kind in ("revolute", "continuous", "prismatic"):
            cls = Prismatic if kind == "prismatic" else Revolute
            made = cls(**common, axis=direction, **self._limits(own, kind, element, limit))
        elif kind == "planar":
            made = Planar(**common, axis=direction)
        else:
            made = Free(**common) if kind == "floating" else Fixed(**common)
        self.parts["joints"][own] = made
        if kind not in ("fixed", "floating", "planar"):
            self._dynamics(own, element)
        for child in element.children:
            if child.tag in ("calibration", "safety_controller"):
                self.leave_out(f"<{child.tag}>")

    def _limits(self, own: str, kind: str, element: XmlElement, limit: XmlElement | None) -> dict[str, Any]:
        """Stops, and a start within them if zero is outside."""
        if limit is None or kind == "continuous":
            if kind in ("revolute", "prismatic"):
                raise element.error(
                    f'a {kind} joint needs <limit>; for a hinge without stops, write type="continuous"'
                )
            return {}
        lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
        effort = limit.number("effort", 0.0)
        if limit.get("effort") or limit.get("velocity"):
            self.omitted.add(
                "limits",
                "largest efforts and speeds have no effect",
                own,
                "apply these limits in the controller",
            )
        if lower > upper:
            raise limit.error(f"lower ({lower:g}) is above upper ({upper:g})")
        if lower == upper:
            return {}
        self.add("forces", stop(own, lower, upper, effort), f"{own}_stop", "limit")
        start = min(max(0.0, lower), upper)
        if start:
            self.omitted.add(
                "start", "zero is outside the stops; these joints start at the nearer stop", own, "set q0"
            )
        return {"q0": start} if start else {}

    def _dynamics(self, own: str, element: XmlElement) -> None:
        dynamics = element.one("dynamics")
        if dynamics is not None:
            self.add_friction(own, dynamics.number("damping", 0.0), dynamics.number("friction", 0.0))

    def _mimic(self, name: str, element: XmlElement) -> None:
        mimic = element.one("mimic")
        if mimic is None:
            return
        leader = mimic.need("joint")
        if leader not in self.joints:
            raise mimic.error(f"there is no joint '{leader}'; {suggest(leader, list(self.joints), 'joints')}")
        if any(self.joints[joint].get("type") not in COUPLED for joint in (name, leader)):
            self.omitted.add(
                "mimic", "mimic joints without a single coordinate, or whose leader has no coordinate", name
            )
            return
        ratio, offset = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
        own = self.joint_names[name]
        coupling = Coupling(joint=self.joint_names[leader], driven=own, ratio=ratio, offset=offset)
        self.add("constraints", coupling, f"{own}_mimic", "coupling")

    def _shapes(self, link: XmlElement) -> None:
        frame = self.body_of_link[link.need("name")]
        for visual in link.all("visual"):
            self._shape(frame, visual)
        if link.one("collision") is not None:
            cause = "shapes for collisions: bodies pass through one another"
            self.omitted.add("collision", cause, link.need("name"), "add contacts to the model")

    def _shape(self, frame: str, visual: XmlElement) -> None:
        geometry = visual.one("geometry")
        if geometry is None or not geometry.children:
            return
        position, R = _origin(visual)
        pose, color = placement(position, quaternion_from_rotation(R)), self._color(visual)
        kind = geometry.children[0]
        common: dict[str, Any] = {"frame": frame, "pose": pose, "color": color}
        made: Any = None
        if kind.tag == "box":
            made = Box(**common, size=point(kind.numbers("size", count=3)))
        elif kind.tag == "cylinder":
            made = Cylinder(**common, radius=kind.number("radius"), length=kind.number("length"))
        elif kind.tag == "sphere":
            made = Sphere(**common, radius=kind.number("radius"))
        elif kind.tag == "mesh":
            name = kind.need("filename")
            scale = kind.numbers("scale", (1.0, 1.0, 1.0))
            made = mesh_shape(self._find(name), name, frame, pose, scale, color, self.omitted)
        else:
            self.leave_out(f"<{kind.tag}>")
        if made is not None:
            self.add("shapes", made, f"{frame}_visual", "shape")

    def _color(self, visual: XmlElement) -> str | None:
        material = visual.one("material")
        color = material.one("color") if material is not None else None
        if material is not None and color is None:
            named = next(
                (m for m in self.root.all("material") if m.get("name") == material.get("name")), None
            )
            color = named.one("color") if named is not None else None
        if color is None:
            return None
        rgb = [round(255 * min(max(c, 0.0), 1.0)) for c in color.numbers("rgba", (0.8, 0.8, 0.8, 1.0))[:3]]
        return "#" + "".join(f"{c:02x}" for c in rgb)

    def _find(self, name: str) -> Path | None:
        """The file of a mesh: relative to the model, or of a ROS package in a folder above it."""
        rest = name.removeprefix("file://")
        package = rest.removeprefix("package://")
        if package == rest:
            return (self.path.parent / rest).resolve()
        inside = Path(*Path(package).parts[1:]) if len(Path(package).parts) > 1 else Path(package)
        for folder in self.path.resolve().parents:
            for candidate in (folder / package, folder / inside):
                if candidate.is_file():
                    return candidate
        return None


def _origin(element: XmlElement) -> tuple[list[float], np.ndarray]:
    """Position (m) and rotation of <origin>; rpy are angles about the fixed axes x, y, z."""
    origin = element.one("origin")
    if origin is None:
        return [0.0, 0.0, 0.0], np.eye(3)
    roll, pitch, yaw = origin.numbers("rpy", (0.0, 0.0, 0.0))
    R = rotation_from_euler([yaw, pitch, roll], "zyx")
    return origin.numbers("xyz", (0.0, 0.0, 0.0)), R


def read_urdf(root: XmlElement, path: Path) -> tuple[Model, Omissions]:
    """The model of a robot, and the omissions."""
    if root.tag != "robot":
        raise ModelError(
            f"is neither URDF nor MJCF: it begins with <{root.tag}>, not with <robot> or <mujoco>",
            file=str(path),
            line=root.line,
        )
    reader = UrdfReader(root, path)
    return reader.model(), reader.omitted
