"""MJCF: models of MuJoCo (https://mujoco.readthedocs.io/en/stable/XMLreference.html).

A body keeps its frame; several joints in one body become a chain with massless bodies between them. Inertias
follow from <inertial>, else from the geoms. Ranges become smooth stops, equality constraints couplings and joints
that close loops.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sekant.errors import ModelError, suggest
from sekant.geometry.rotations import quaternion_from_rotation, rotation_from_quaternion
from sekant.io.importers.left_out import Omissions
from sekant.io.importers.mjcf_geometry import Array, Settings, geom_frame, geom_inertia
from sekant.io.importers.model_items import (
    ItemReader,
    body_of,
    oriented,
    placement,
    point,
    stop,
)
from sekant.io.importers.xml_files import XmlElement, read_xml
from sekant.model.body import Body
from sekant.model.constraints import Coupling
from sekant.model.expressions.expression import Expression
from sekant.model.forces import Actuator, RotationalSpringDamper
from sekant.model.joints import Fixed, Free, Joint, Prismatic, Revolute, Spherical
from sekant.model.model import Model
from sekant.model.shapes import Box, Cylinder, Sphere

UNDERSTOOD = (
    "compiler",
    "option",
    "default",
    "worldbody",
    "equality",
    "asset",
    "size",
    "visual",
    "statistic",
)
IN_BODIES = ("body", "joint", "freejoint", "geom", "inertial", "site", "camera", "light")
WEIGHT = 9.81


class MjcfReader(ItemReader):
    """Reads one model; `model` and the omissions are the result."""

    def __init__(self, root: XmlElement, path: Path):
        super().__init__(_with_includes(root, path), path)
        self.settings = Settings(self.root)
        self.joints: dict[str, tuple[str, float]] = {}  # in the file -> its name, reference value
        self.bodies: dict[
            str, tuple[str, Array, Array]
        ] = {}  # in the file -> its name, position and rotation in W
        self.ranges: list[tuple[str, float, float]] = []

    def model(self) -> Model:
        world = list(self.root.all("worldbody"))
        if not world:
            raise self.root.error("has no <worldbody>")
        for element in world:
            self._contents(element, "ground", np.zeros(3), np.eye(3), None)
        self._compiler()
        weight = WEIGHT * sum(body.mass for body in self.parts["bodies"].values())
        for joint, lower, upper in self.ranges:
            self.add("forces", stop(joint, lower, upper, weight), f"{joint}_stop", "limit")
        for element in self.root.all("equality"):
            for child in element.children:
                self._equality(child)
        for child in self.root.children:
            if child.tag not in UNDERSTOOD:
                self.leave_out(f"<{child.tag}>")
        gravity: Any = (0.0, 0.0, -9.81)
        for option in self.root.all("option"):
            gravity = tuple(option.numbers("gravity", gravity))
            if option.numbers("density", (0.0,))[0] or option.numbers("viscosity", (0.0,))[0]:
                self.leave_out("<option density, viscosity>")
        return self.collected("model", gravity=gravity)

    def _compiler(self) -> None:
        """Effects of <compiler> on all bodies together."""
        given = self.settings.compiler
        for key in ("boundmass", "boundinertia", "balanceinertia"):
            if given.get(key, "0") not in ("0", "false"):
                self.leave_out(f"<compiler {key}>")
        wanted = next((e for e in self.root.all("compiler") if "settotalmass" in e.attributes), None)
        bodies = self.parts["bodies"]
        total = sum(body.mass for body in bodies.values())
        if wanted is None or wanted.number("settotalmass") <= 0 or not total:
            return
        factor = wanted.number("settotalmass") / total
        for name, body in bodies.items():
            inertia = tuple(factor * value for value in body.inertia)
            bodies[name] = body.model_copy(update={"mass": factor * body.mass, "inertia": inertia})

    def _contents(
        self, element: XmlElement, body: str, p_W: Array, R_W: Array, child_class: str | None
    ) -> None:
        """Read geoms and bodies inside a body whose pose in the world is given."""
        for geom in element.all("geom"):
            self._shape(self.settings.complete(geom, child_class), body)
        for child in element.all("body"):
            self._body(child, body, p_W, R_W, child_class)
        for child in element.children:
            if child.tag not in IN_BODIES:
                self.leave_out(f"<{child.tag}>")

    def _body(self, element: XmlElement, parent: str, p_W: Array, R_W: Array, outer: str | None) -> None:
        child_class = element.get("childclass") or outer
        own = self.names.take(element.get("name") or "body", "body")
        position, quaternion = element.numbers("pos", (0.0, 0.0, 0.0)), self.settings.quaternion(element)
        R_PB = rotation_from_quaternion(quaternion)
        p_WB, R_WB = p_W + R_W @ position, R_W @ R_PB
        if element.get("name"):
            self.bodies[element.need("name")] = (own, p_WB, R_WB)
        joints = [self.settings.complete(j, child_class) for j in element.all("joint", "freejoint")]
        below, frame = parent, (np.asarray(position), R_PB)
        for i, joint in enumerate(joints):
            last = i == len(joints) - 1
            body = own if last else self.names.take(f"{own}_{i + 1}", "part")
            self._joint(joint, own, below, body, frame)
            if not last:
                self.parts["bodies"][body] = Body()
            below, frame = body, (np.zeros(3), np.eye(3))
        if not joints:
            fixed = Fixed(parent=parent, child=own, parent_pose=placement(position, quaternion))
            self.add("joints", fixed, f"{own}_fixed", "joint")
        self.parts["bodies"][own] = self._inertia(element, child_class)
        self._contents(element, own, p_WB, R_WB, child_class)

    def _inertia(self, element: XmlElement, child_class: str | None) -> Body:
        inertial = element.one("inertial")
        from_geoms = self.settings.compiler.get("inertiafromgeom", "auto")
        if inertial is not None and from_geoms != "true":
            if "fullinertia" in inertial.attributes:
                xx, yy, zz, xy, xz, yz = inertial.numbers("fullinertia", count=6)
                J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            else:
                R = rotation_from_quaternion(self.settings.quaternion(inertial))
                J = R @ np.diag(inertial.numbers("diaginertia", (0.0, 0.0, 0.0))) @ R.T
            return body_of(inertial, inertial.number("mass"), inertial.numbers("pos", count=3), J)
        if from_geoms == "false":
            return Body()
        geoms = [self.settings.complete(geom, child_class) for geom in element.all("geom")]
        found = [part for geom in geoms if (part := geom_inertia(self.settings, geom)) is not None]
        mass = sum(part[0] for part in found)
        if not mass:
            return Body()
        com = sum((m * c for m, c, _ in found), np.zeros(3)) / mass
        J = np.zeros((3, 3))
        for m, c, own in found:
            d = c - com
            J += own + m * (np.dot(d, d) * np.eye(3) - np.outer(d, d))
        return body_of(element, mass, com, J)

    def _joint(
        self, element: XmlElement, owner: str, parent: str, child: str, frame: tuple[Array, Array]
    ) -> None:
        kind = "free" if element.tag == "freejoint" else element.get("type", "hinge")
        name = self.names.take(element.get("name") or f"{owner}_joint", "joint")
        (position, R_PB), anchor = frame, np.array(element.numbers("pos", (0.0, 0.0, 0.0)))
        quaternion = quaternion_from_rotation(R_PB)
        made: Joint
        if kind == "free":
            turned = oriented(quaternion)
            made = Free(parent=parent, child=child, position=point(position), orientation=turned)
        elif kind in ("hinge", "slide", "ball"):
            common: dict[str, Any] = {
                "parent": parent,
                "child": child,
                "parent_pose": placement(position + R_PB @ anchor, quaternion),
                "child_pose": placement(anchor),
            }
            if kind == "ball":
                made = Spherical(**common)
            else:
                axis = point(element.numbers("axis", (0.0, 0.0, 1.0)))
                if not any(axis):
                    raise element.error('axis="0 0 0" is not a direction; give one such as "0 0 1"')
                made = (Revolute if kind == "hinge" else Prismatic)(**common, axis=axis)
        else:
            raise element.error(
                f"unknown type '{kind}'; {suggest(str(kind), ['hinge', 'slide', 'ball', 'free'])}"
            )
        self.parts["joints"][name] = made
        self._forces(element, name, str(kind))

    def _forces(self, element: XmlElement, name: str, kind: str) -> None:
        def angle(value: float) -> float:
            return self.settings.angle(value) if kind == "hinge" else value

        ref = angle(element.number("ref", 0.0))
        if element.get("name"):
            self.joints[element.need("name")] = (name, ref)
        if ref:
            self.omitted.add(
                "reference",
                "coordinates are measured from the value of 'ref' in the file, not from zero",
                name,
            )
        if element.number("armature", 0.0):
            self.omitted.add("armature", "inertia of rotors (armature)", name)
        dry = element.number("frictionloss", 0.0)
        damping, stiffness = (
            element.numbers("damping", (0.0,), 1)[0],
            element.numbers("stiffness", (0.0,), 1)[0],
        )
        if kind in ("ball", "free"):
            if damping or stiffness or dry or "range" in element.attributes:
                self.omitted.add(
                    "ball", "damping, friction, stiffness and range of ball and free joints", name
                )
            return
        self.add_friction(name, damping, dry)
        if stiffness:
            rest = angle(element.number("springref", 0.0)) - ref
            spring: Any = RotationalSpringDamper(joint=name, stiffness=stiffness, free_angle=rest)
            if kind == "slide":
                spring = Actuator(joint=name, force=Expression(f"-{stiffness!r}*(q - ({rest!r}))"))
            self.add("forces", spring, f"{name}_spring", "force")
        limited = element.get("limited", "auto")
        automatic = self.settings.compiler.get("autolimits", "true") == "true"
        if "range" in element.attributes and (limited == "true" or (limited == "auto" and automatic)):
            lower, upper = (angle(value) - ref for value in element.numbers("range", count=2))
            if lower >= upper:
                raise element.error(
                    f'range="{element.get("range")}" must increase; write the lower limit first'
                )
            self.ranges.append((name, lower, upper))

    def _equality(self, element: XmlElement) -> None:
        if element.get("active", "true") == "false":
            return
        rigid = "equality constraints are rigid here, soft in MuJoCo"
        if element.tag == "joint":
            driven, _ = self._known(element, "joint1", self.joints)
            c = element.numbers("polycoef", (0.0, 1.0, 0.0, 0.0, 0.0))
            if "joint2" not in element.attributes or any(c[2:]):
                self.leave_out("<equality joint> without a second joint, or with powers")
                return
            driving, _ = self._known(element, "joint2", self.joints)
            made = Coupling(joint=driving, driven=driven, ratio=c[1], offset=c[0])
            self.add("constraints", made, f"{driven}_coupling", "coupling")
            self.omitted.add("soft", rigid, driven)
        elif element.tag in ("connect", "weld") and "body1" in element.attributes:
            first, p1, R1 = self._known(element, "body1", self.bodies)
            second, p2, R2 = (
                self._known(element, "body2", self.bodies)
                if "body2" in element.attributes
                else ("ground", np.zeros(3), np.eye(3))
            )
            anchor = np.array(element.numbers("anchor", (0.0, 0.0, 0.0)))
            there = R2.T @ (p1 + R1 @ anchor - p2)
            if element.tag == "weld" and "relpose" in element.attributes:
                self.leave_out("<weld relpose>; the pose at the start is kept")
            common: dict[str, Any] = {"parent": first, "child": second, "cut": True}
            if second == "ground":
                common = {"parent": "ground", "child": first, "cut": True}
                there, anchor = anchor, there
            first_pose, second_pose = placement(anchor), placement(there)
            if element.tag == "weld":
                turn = R2.T @ R1 if second != "ground" else R1.T
                second_pose = placement(there, quaternion_from_rotation(turn))
            cls = Spherical if element.tag == "connect" else Fixed
            name = self.names.take(element.get("name") or f"{first}_{element.tag}", "joint")
            self.parts["joints"][name] = cls(**common, parent_pose=first_pose, child_pose=second_pose)
            self.omitted.add("soft", rigid, name)
        else:
            self.leave_out(f"<equality {element.tag}>")

    def _known(self, element: XmlElement, key: str, known: dict[str, Any]) -> Any:
        name = element.need(key)
        if name not in known:
            raise element.error(f"there is no {key.rstrip('12')} '{name}'; {suggest(name, list(known))}")
        return known[name]

    def _shape(self, geom: XmlElement, body: str) -> None:
        if geom.get("contype", "1") != "0" or geom.get("conaffinity", "1") != "0":
            cause = "geoms that collide: bodies pass through one another"
            self.omitted.add("collision", cause, body, "add contacts to the model")
        kind = geom.get("type", "sphere") if "mesh" not in geom.attributes else "mesh"
        center, quaternion, size = geom_frame(self.settings, geom)
        common: dict[str, Any] = {"frame": body, "pose": placement(center, quaternion)}
        made: Any = None
        if kind == "sphere" and size:
            made = Sphere(**common, radius=size[0])
        elif kind == "box" and len(size) == 3:
            made = Box(**common, size=point([2 * s for s in size]))
        elif kind in ("cylinder", "capsule") and len(size) >= 2:
            made = Cylinder(**common, radius=size[0], length=2 * size[1])
        else:
            self.omitted.add("shape", "shapes that are not drawn", f"{kind} of {body}")
        if made is not None:
            self.add("shapes", made, geom.get("name") or f"{body}_geom", "shape")


def _with_includes(root: XmlElement, path: Path, depth: int = 0) -> XmlElement:
    """The tree with the files that <include> names in place."""
    if depth > 10:
        raise root.error("files include one another in a circle")
    children: list[XmlElement] = []
    for child in root.children:
        if child.tag == "include":
            file = path.parent / child.need("file")
            if not file.is_file():
                raise child.error(f"there is no file '{file}'")
            children += _with_includes(read_xml(file), file, depth + 1).children
        else:
            children.append(_with_includes(child, path, depth))
    return XmlElement(root.tag, root.attributes, root.file, root.line, children)


def read_mjcf(root: XmlElement, path: Path) -> tuple[Model, Omissions]:
    """The model of a file, and the omissions."""
    if root.tag != "mujoco":
        raise ModelError(
            f"is not MJCF: it begins with <{root.tag}>, not with <mujoco>", file=str(path), line=root.line
        )
    reader = MjcfReader(root, path)
    return reader.model(), reader.omitted
