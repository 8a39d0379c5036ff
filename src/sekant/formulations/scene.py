"""The scene of a model with bodies and joints; see `sekant.model.scene`."""

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
from sekant.model.scene import (
    BodyTrack,
    PoseEnd,
    Scene,
    SceneArrow,
    SceneBody,
    SceneJoint,
    SceneLink,
    ScenePath,
    ScenePlane,
    SceneShape,
    SceneSurface,
)
from sekant.model.shapes import Mesh, Shape

PATH_POINTS = 600
TIES = 150
SURFACE_POINTS = 41
_SHAPE_FRAME = ("frame", "pose", "color", "opacity")


def track_of_body(name: str) -> BodyTrack:
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
            "paths": list(self._paths()),
            "surfaces": list(self._surfaces()),
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

    def point(self, reference: str) -> PoseEnd:
        body, X = self.frame(reference)
        return [body, self.numbers(X.p)]

    # -- parts -----------------------------------------------------------------------------------------

    def _mass(self, body: Any) -> SceneBody:
        return {
            "mass": self.numbers(ca.SX(body.mass))[0],
            "com": self.numbers(vector(body.com)),
            "inertia": self.numbers(vector(body.inertia)),
            "frames": {name: self.pose(frame.pose()) for name, frame in body.frames.items()},
        }

    def _shape(self, name: str, shape: Shape) -> SceneShape:
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

    def _joint(self, name: str, joint: Any) -> SceneJoint:
        ends = [[body, self.pose(X)] for body, X in joint_frames(self.model, joint)]
        return {"name": name, "kind": joint.type, "ends": ends}

    def _links(self) -> Iterator[SceneLink]:
        for name, item in (*self.model.forces.items(), *self.model.constraints.items()):
            if item.picture in ("spring", "stop", "bushing", "rod"):
                ends = [self.point(getattr(item, field)) for field in ("parent", "child")]
                yield {"name": name, "kind": getattr(item, "looks", item.picture), "ends": ends}

    def _arrows(self) -> Iterator[SceneArrow]:
        for name, force in self.model.forces.items():
            if force.picture in ("force", "torque"):
                body, at = self.point(getattr(force, force.frame_fields[0]))
                channel = f"{name}.{force.picture}"
                yield {"name": name, "kind": force.picture, "body": body, "at": at, "channel": channel}

    def _planes(self) -> Iterator[ScenePlane]:
        for name, item in (*self.model.contacts.items(), *self.model.constraints.items()):
            if "plane" in item.frame_fields:
                body, X = self.frame(item.plane)  # type: ignore[attr-defined]
                normal = self.numbers(X.R @ vector(item.normal))  # type: ignore[attr-defined]
                yield {"name": name, "body": body, "at": self.numbers(X.p), "normal": normal}

    def _leading(self) -> Iterator[tuple[str, Description, str, Pose]]:
        """Joints and constraints that may contain a path or surface, and the frames in which it is drawn."""
        for name, joint in self.model.joints.items():
            yield name, joint, *joint_frames(self.model, joint)[0]
        for name, item in self.model.constraints.items():
            relative_to = getattr(item, "relative_to", None)
            if relative_to is not None:
                yield name, item, *self.frame(relative_to)

    def _paths(self) -> Iterator[ScenePath]:
        for name, item, body, X in self._leading():
            curve = getattr(item, "curve", None)
            if isinstance(curve, PoseCurve):
                path: ScenePath = {
                    "name": name,
                    "body": body,
                    "pose": self.pose(X),
                    "points": np.round(curve.position(curve.sample(PATH_POINTS)), 6).tolist(),
                    "closed": curve.closed,
                    "ties": _ties(curve),
                }
                if curve.closed and name in self.model.joints:
                    path["period"] = curve.length
                yield path

    def _surfaces(self) -> Iterator[SceneSurface]:
        for name, item, body, X in self._leading():
            surface = getattr(item, "surface", None)
            if isinstance(surface, PoseSurface):
                u1, u2 = (np.linspace(*ends, SURFACE_POINTS) for ends in surface.range)
                points = surface.position(np.repeat(u1, SURFACE_POINTS), np.tile(u2, SURFACE_POINTS))
                yield {
                    "name": name,
                    "body": body,
                    "pose": self.pose(X),
                    "size": [SURFACE_POINTS] * 2,
                    "points": np.round(points, 6).tolist(),
                }


def _ties(curve: PoseCurve) -> list[list[float]]:
    """Points and lateral directions y (n, 6) along a path whose frame has x along it: how the path is banked."""
    u = curve.sample(TIES)
    R, p = curve.pose(u)
    tangent = curve.position(u, 1)
    speed = np.linalg.norm(tangent, axis=1)
    if np.any(speed == 0) or np.any(np.sum(R[:, :, 0] * tangent, axis=1) < 0.999 * speed):
        return []
    return np.round(np.hstack([p, R[:, :, 1]]), 6).tolist()
