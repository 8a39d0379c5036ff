"""What a viewer needs to know of a model besides the motion: bodies, shapes, joints, springs, paths, in numbers.

A scene is a dictionary that JSON can hold, so that a result file can be viewed without its model:

    gravity   (3,) m/s^2 in W
    tracks    name -> which channels of the result tell where it is; see `track_*` below
    bodies    name -> mass kg, com (3,) m, inertia (6,) kg m^2 about the com, frames: name -> (3,) m, in its frame
    shapes    name, kind, body, pose (7,) in the body, and the fields of the shape
    joints    name, kind, ends: [body, pose (7,) of the joint's frame in it] of parent and child; z is the axis
    links     name, kind (spring, rod, bushing), ends: [body, (3,) m] twice
    arrows    name, kind (force, torque), body, at (3,) m, channel: components in W
    paths     name, body, pose (7,), points (n, 3) m, closed, ties (n, 6): places m and lateral directions, if banked
    surfaces  name, body, pose (7,), size (2,), points (n, 3) m row by row
    planes    name, body, at (3,) m, normal (3,)
    strips    name, channel: a point in W, and the width m of the strip that is drawn where it has been

A pose is [x, y, z, w, qx, qy, qz]: position in m and unit quaternion, scalar first. The body of what is fixed in the
world is "ground".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.formulations.tree import joint_frames
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.meshes import mesh_as_dict
from sekant.geometry.spatial import Pose, quaternion_from_rotation, vector
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.model import Model
from sekant.model.quantities import Description
from sekant.model.shapes import Mesh, Shape

Scene = dict[str, Any]
PATH_POINTS = 600
TIES = 150
SURFACE_POINTS = 41
_SHAPE_FRAME = ("frame", "pose", "color", "opacity")


def track_of_body(name: str) -> dict[str, Any]:
    """The track of a body whose position and orientation are channels."""
    return {"kind": "body", "position": f"{name}.position", "orientation": f"{name}.orientation"}


def model_scene(model: Model, symbols: ca.SX, p: NDArray[np.float64]) -> Scene:
    """The scene of a resolved model with the run-time parameters `symbols` (np,) at p (np,)."""
    return _SceneBuilder(model, symbols, p).build()


class _SceneBuilder:
    def __init__(self, model: Model, symbols: ca.SX, p: NDArray[np.float64]):
        self.model, self.symbols, self.p = model, symbols, p

    def build(self) -> Scene:
        model = self.model
        return {
            "gravity": self.numbers(vector(model.gravity)),
            "tracks": {name: track_of_body(name) for name in model.bodies},
            "bodies": {name: self._mass(body) for name, body in model.bodies.items()},
            "shapes": [self._shape(name, shape) for name, shape in model.shapes.items()],
            "joints": [self._joint(name, joint) for name, joint in model.joints.items()],
            "links": list(self._links()),
            "arrows": list(self._arrows()),
            "paths": [path for path in self._curves() if "size" not in path],
            "surfaces": [path for path in self._curves() if "size" in path],
            "planes": list(self._planes()),
            "strips": [
                {"name": name, "channel": f"{name}.{force.traces}", "width": force.trace_width}
                for name, force in model.forces.items()
                if force.traces
            ],
        }

    # -- numbers ---------------------------------------------------------------------------------------

    def numbers(self, value: Any) -> list[float]:
        """The entries of an expression of the parameters alone."""
        found = ca.Function("numbers", [self.symbols], [ca.SX(value)])(self.p)
        return np.array(ca.DM(found)).ravel(order="F").tolist()  # type: ignore[arg-type]

    def pose(self, X: Pose) -> list[float]:
        return self.numbers(ca.vertcat(X.p, quaternion_from_rotation(X.R)))

    def frame(self, reference: str) -> tuple[str, Pose]:
        body, name = self.model.split_reference(reference)
        if body == "ground":
            return body, self.model.ground.frames[name].pose() if name else Pose.identity()
        return body, self.model.bodies[body].frame(name)

    def point(self, reference: str) -> list[Any]:
        body, X = self.frame(reference)
        return [body, self.numbers(X.p)]

    # -- parts -----------------------------------------------------------------------------------------

    def _mass(self, body: Any) -> dict[str, Any]:
        return {
            "mass": self.numbers(ca.SX(body.mass))[0],
            "com": self.numbers(vector(body.com)),
            "inertia": self.numbers(vector(body.inertia)),
            "frames": {name: self.numbers(frame.pose().p) for name, frame in body.frames.items()},
        }

    def _shape(self, name: str, shape: Shape) -> dict[str, Any]:
        body, X = self.frame(shape.frame)
        found = {"name": name, "kind": shape.type, "body": body, "pose": self.pose(X @ shape.pose.pose())}
        found |= {"color": shape.color, "opacity": self._plain(shape.opacity)}
        for field in type(shape).model_fields:
            if field not in _SHAPE_FRAME:
                found[field] = self._plain(getattr(shape, field))
        if isinstance(shape, Mesh):
            found |= mesh_as_dict(found.pop("file"), found.pop("scale"))
        return found

    def _plain(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, tuple):
            return [self._plain(entry) for entry in value]
        return self.numbers(ca.SX(value))[0]

    def _joint(self, name: str, joint: Any) -> dict[str, Any]:
        ends = [[body, self.pose(X)] for body, X in joint_frames(self.model, joint)]
        return {"name": name, "kind": joint.type, "ends": ends}

    def _links(self) -> Iterator[dict[str, Any]]:
        for name, item in (*self.model.forces.items(), *self.model.constraints.items()):
            if item.picture in ("spring", "bushing", "rod"):
                ends = [self.point(getattr(item, field)) for field in ("parent", "child")]
                yield {"name": name, "kind": item.picture, "ends": ends}

    def _arrows(self) -> Iterator[dict[str, Any]]:
        for name, force in self.model.forces.items():
            if force.picture in ("force", "torque"):
                body, at = self.point(getattr(force, force.frame_fields[0]))
                channel = f"{name}.{force.picture}"
                yield {"name": name, "kind": force.picture, "body": body, "at": at, "channel": channel}

    def _planes(self) -> Iterator[dict[str, Any]]:
        for name, item in (*self.model.contacts.items(), *self.model.constraints.items()):
            if "plane" in item.frame_fields:
                body, X = self.frame(item.plane)  # type: ignore[attr-defined]
                normal = self.numbers(X.R @ vector(item.normal))  # type: ignore[attr-defined]
                yield {"name": name, "body": body, "at": self.numbers(X.p), "normal": normal}

    def _curves(self) -> Iterator[dict[str, Any]]:
        """Paths and surfaces that joints and constraints hold, in the frames they are drawn in."""
        for name, joint in self.model.joints.items():
            yield from self._curve(name, joint, *joint_frames(self.model, joint)[0])
        for name, item in self.model.constraints.items():
            if hasattr(item, "relative_to"):
                yield from self._curve(name, item, *self.frame(item.relative_to))  # type: ignore[attr-defined]

    def _curve(self, name: str, item: Description, body: str, X: Pose) -> Iterator[dict[str, Any]]:
        curve, surface = getattr(item, "curve", None), getattr(item, "surface", None)
        place = {"name": name, "body": body, "pose": self.pose(X)}
        if isinstance(curve, PoseCurve):
            points = np.round(curve.position(curve.sample(PATH_POINTS)), 6).tolist()
            yield place | {"points": points, "closed": curve.closed, "ties": _ties(curve)}
        if isinstance(surface, PoseSurface):
            u1, u2 = (np.linspace(*ends, SURFACE_POINTS) for ends in surface.range)
            points = surface.position(np.repeat(u1, SURFACE_POINTS), np.tile(u2, SURFACE_POINTS))
            yield place | {"size": [SURFACE_POINTS] * 2, "points": np.round(points, 6).tolist()}


def _ties(curve: PoseCurve) -> list[list[float]]:
    """Points and lateral directions y (n, 6) along a path whose frame has x along it: how the path is banked."""
    u = curve.sample(TIES)
    R, p = curve.pose(u)
    tangent = curve.position(u, 1)
    speed = np.linalg.norm(tangent, axis=1)
    if np.any(speed == 0) or np.any(np.sum(R[:, :, 0] * tangent, axis=1) < 0.999 * speed):
        return []
    return np.round(np.hstack([p, R[:, :, 1]]), 6).tolist()
