"""Automatic shapes: bars between the attachment points of a body, or a block with its inertia."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.geometry.rotations import quaternion_from_rotation
from sekant.model.scene import SceneBody
from sekant.views.player.tracks import rotated

Array = NDArray[np.float64]
ORIGIN = [0.0, 0.0, 0.0]
_THIN = 0.12  # smallest edge of a block, relative to its largest


def body_parts(
    body: SceneBody, fastened: Sequence[Any], hinges: Sequence[Any], bar: float, size: float
) -> list[dict[str, Any]]:
    """Parts in the body's frame.

    `fastened`: points (3,) m, `hinges`: points about which it turns; `bar`: radius of bars m; `size` of the scene
    m.
    """
    frames = [np.asarray(p[:3], float) for p in body.get("frames", {}).values()]
    points = distinct([*(np.asarray(p, float) for p in fastened), *frames], 1e-3 * size)
    block = inertia_block(body, size)
    reach = max((float(np.linalg.norm(a - b)) for a, b in combinations(points, 2)), default=0.0)
    if reach > 2 * bar:
        return bars(points, bar)
    if not block and not body.get("mass", 1.0):
        return []  # only a link between two joints
    ball = {"kind": "sphere", "radius": 0.02 * size, "pose": at(body.get("com", ORIGIN))}
    return [block or ball, *_rod(body, hinges, block or ball, bar)]


def _rod(body: SceneBody, hinges: Sequence[Any], drawn: dict[str, Any], bar: float) -> list[dict[str, Any]]:
    """A bar from the hinge of a body to its center of mass, unless the drawn parts already reach the hinge."""
    if not hinges:
        return []
    hinge, com = np.asarray(hinges[0], float), np.asarray(body.get("com", ORIGIN), float)
    back = np.array([drawn["pose"][3:]]) * [1.0, -1.0, -1.0, -1.0]
    (local,) = rotated(back, (hinge - com)[None, :])
    half = np.array(drawn["size"]) / 2 if drawn["kind"] == "box" else np.full(3, drawn["radius"])
    if np.linalg.norm(hinge - com) <= 2 * bar or np.all(np.abs(local) <= half + bar):
        return []
    return [{"kind": "bar", "from": hinge.tolist(), "to": com.tolist(), "radius": bar}]


def distinct(points: Sequence[Array], tolerance: float) -> list[Array]:
    """The points whose distance to all earlier ones exceeds `tolerance`."""
    found: list[Array] = []
    for p in points:
        if all(np.linalg.norm(p - q) > tolerance for q in found):
            found.append(p)
    return found


def bars(points: Sequence[Array], radius: float) -> list[dict[str, Any]]:
    """One bar if the points lie on a line, a triangle for three points, otherwise a star."""
    P = np.array(points)
    ends = max(
        combinations(range(len(P)), 2), key=lambda pair: float(np.linalg.norm(P[pair[0]] - P[pair[1]]))
    )
    a, b = P[ends[0]], P[ends[1]]
    e = (b - a) / np.linalg.norm(b - a)
    off = np.linalg.norm((P - a) - np.outer((P - a) @ e, e), axis=1)
    if off.max() < radius:
        pairs = [(a, b)]
    elif len(P) == 3:
        pairs = [(P[0], P[1]), (P[1], P[2]), (P[2], P[0])]
    else:
        center = P.mean(axis=0)
        pairs = [(center, p) for p in P if np.linalg.norm(p - center) > radius]
    return [{"kind": "bar", "from": p.tolist(), "to": q.tolist(), "radius": radius} for p, q in pairs]


def inertia_block(body: SceneBody, size: float) -> dict[str, Any] | None:
    """The homogeneous box, or disc, with the mass and the inertia of a body; None for a point mass.

    A box of edges a_i has J_i = m (a_j^2 + a_k^2) / 12, a disc of radius r about its axis J = m r^2 / 2.
    """
    m, J = body.get("mass", 0.0), body.get("inertia", [0.0] * 6)
    if not m or not any(J[:3]):
        return None
    tensor = np.array([[J[0], J[3], J[4]], [J[3], J[1], J[5]], [J[4], J[5], J[2]]])
    moments, R = np.linalg.eigh(tensor)
    if np.allclose(tensor, np.diag(np.diag(tensor)), atol=1e-12 * np.abs(tensor).max()):
        moments, R = np.diag(tensor).copy(), np.eye(3)
    if np.linalg.det(R) < 0:
        R[:, 0] *= -1
    place = np.concatenate([np.asarray(body.get("com", ORIGIN), float), quaternion_from_rotation(R)]).tolist()
    axis = int(np.argmax(moments))
    others = [moments[i] for i in range(3) if i != axis]
    if np.ptp(others) < 0.02 * moments[axis] and moments[axis] > 1.5 * max(others):
        radius = np.sqrt(2 * moments[axis] / m)
        depth = np.sqrt(max(12 * others[0] / m - 3 * radius**2, 0.0))
        return {
            "kind": "cylinder",
            "radius": float(radius),
            "length": float(max(depth, 0.15 * radius)),
            "axis": np.eye(3)[axis].tolist(),
            "pose": place,
            "marked": True,
        }
    edges = np.sqrt(np.maximum(6 * (moments.sum() - 2 * moments) / m, 0.0))
    if edges.max() < 1e-3 * size:
        return None
    return {"kind": "box", "size": np.maximum(edges, _THIN * edges.max()).tolist(), "pose": place}


def extent(part: dict[str, Any]) -> Array:
    """Points (k, 3) m in the frame of the part's track whose hull contains the drawn part."""
    kind = part["kind"]
    if kind == "bar":
        return np.array([part["from"], part["to"]])
    if kind in ("polyline", "path", "surface", "cones"):
        local = np.array(part["points"])
    elif kind == "mesh":
        local = np.frombuffer(base64.b64decode(part["vertices"]), "<f4").reshape(-1, 3).astype(float)
        local = np.array([local.min(axis=0), local.max(axis=0)])
    else:
        half = np.array(part["size"]) / 2 if kind == "box" else np.full(3, part.get("radius", 0.0))
        half = np.maximum(half, part.get("length", 0.0) / 2 * np.abs(part.get("axis", [0.0, 0.0, 0.0])))
        local = np.array(list(product(*zip(-half, half, strict=True))))
    return placed(part["pose"], local)


def placed(pose: Sequence[float], points: Array) -> Array:
    """Points (n, 3) of a frame at `pose` (7,), in the parent frame of the pose."""
    turns = np.broadcast_to(np.array(pose[3:]), (len(points), 4))
    return np.array(pose[:3]) + rotated(turns, points)


def at(point: Any) -> list[float]:
    """The pose (7,) of a frame at `point` (3,) m, without rotation."""
    return [*(float(x) for x in point), 1.0, 0.0, 0.0, 0.0]
