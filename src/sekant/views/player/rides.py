"""Bodies and frames that the camera of a page can ride along with, the channels of their motion, and their laps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sekant.model.scene import Scene

_STILL = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
_MOTION = ("velocity", "acceleration", "angular_velocity", "angular_acceleration")


def ride_channels(scene: Scene) -> list[str]:
    """Names of the channels for speed and accelerations of the rider."""
    body = _rider(scene)[0] or heaviest_of(scene, list(scene.get("tracks", {})))
    return [f"{body}.{what}" for what in _MOTION]


def ride_of(scene: Scene, names: Sequence[str]) -> dict[str, Any] | None:
    """Track of the rider and, if the model specifies it, the pose (7,) of the rider's eyes in it; None without a
    rider.

    `names`: of the tracks.
    """
    tracks = scene.get("tracks", {})
    turning = [name for name in names if tracks[name]["kind"] != "point"]
    body, eyes = _rider(scene)
    body = body or heaviest_of(scene, turning)
    return {"track": names.index(body), "eyes": eyes} if body in turning else None


def heaviest_of(scene: Scene, names: Sequence[str]) -> str:
    """The first of the bodies with the largest mass; empty if there are none."""
    bodies = scene.get("bodies", {})
    return max(names, key=lambda name: bodies.get(name, {}).get("mass", 0.0) or 0.0, default="")


def lap_of(scene: Scene, body: str) -> dict[str, Any] | None:
    """Channel of the coordinate of a body on a closed path, and its increase in a lap."""
    periods = {path["name"]: path["period"] for path in scene.get("paths", []) if "period" in path}
    for joint in scene.get("joints", []):
        if joint["name"] in periods and joint["ends"][1][0] == body:
            return {"channel": f"{joint['name']}.q", "period": periods[joint["name"]]}
    return None


def _rider(scene: Scene) -> tuple[str, list[float] | None]:
    """Body and pose of the eyes from the model; no body if the model has none."""
    reference = scene.get("view", {}).get("ride") or ""
    bodies = scene.get("bodies", {})
    if not reference or reference in bodies:
        return reference, _STILL if reference else None
    body, _, frame = reference.rpartition(".")
    return body, bodies[body].get("frames", {})[frame]
