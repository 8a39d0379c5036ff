"""Tracks from the channels of a result: the poses of bodies and points at the drawn times; and the bodies and
frames on which the camera of a page can ride, the channels of their motion, and their laps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SekantError
from sekant.geometry.rotations import continue_signs, quaternion_from_rotation
from sekant.model.scene import Scene, Track, channels_of
from sekant.results.result import Result

MAX_FRAMES = 1201
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Tracks:
    """times (n,) s; poses (n, k, 7) of the `names` (k,) in W: position m, unit quaternion, scalar first."""

    rows: NDArray[np.int64]
    times: Array
    names: tuple[str, ...]
    poses: Array

    def index(self, name: str) -> int:
        """Number of a track; -1 for the ground."""
        return -1 if name == "ground" else self.names.index(name)

    def points(self, name: str, local: Any) -> Array:
        """Positions (n, 3) m in W of a point at `local` (3,) m of a track."""
        p = np.asarray(local, float)
        if name == "ground":
            return np.broadcast_to(p, (len(self.times), 3))
        pose = self.poses[:, self.names.index(name)]
        return pose[:, :3] + rotated(pose[:, 3:], p)


def scene_of(result: Result) -> Scene:
    """The scene stored in the result, otherwise a bare scene of everything with a position."""
    if result.scene:
        return result.scene
    tracks: dict[str, Track] = {}
    for name in result.names:
        owner, _, what = name.rpartition(".")
        if what == "position" and owner:
            turn = f"{owner}.orientation"
            tracks[owner] = {
                "kind": "body",
                "position": name,
                "orientation": turn if turn in result else None,
            }
    return {"gravity": [0.0, 0.0, -9.81], "tracks": tracks, "bodies": {name: {} for name in tracks}}


def tracks_of(result: Result, scene: Scene, max_frames: int = MAX_FRAMES) -> Tracks:
    """The tracks of a scene, of at most `max_frames` rows spread evenly over the time of the result."""
    wanted = {
        name: track
        for name, track in scene.get("tracks", {}).items()
        if channels_of(track) <= set(result.names)
    }
    if not wanted:
        raise SekantError(
            f"the result of '{result.model_name}' contains no positions to draw; simulate with all outputs, or with"
            " outputs=['*.position', '*.orientation', ...]"
        )
    rows = _thinned(result, [name for track in wanted.values() for name in channels_of(track)], max_frames)
    poses = np.stack([_pose(result, track, rows) for track in wanted.values()], axis=1)
    return Tracks(rows, result.time[rows], tuple(wanted), continuous(poses))


def _thinned(result: Result, channels: list[str], count: int) -> NDArray[np.int64]:
    """Indices of the drawn rows: all if there are few, otherwise those nearest to evenly spaced times."""
    finite = np.ones(len(result), bool)
    for name in channels:
        finite &= np.isfinite(result[name].reshape(len(result), -1)).all(axis=1)
    rows = np.flatnonzero(finite)
    if not rows.size:
        raise SekantError(f"the result of '{result.model_name}' has no row in which all positions are finite")
    if rows.size <= count:
        return rows
    t = result.time[rows]
    near = np.searchsorted(t, np.linspace(t[0], t[-1], count))
    return rows[np.unique(np.concatenate([[0], np.minimum(near, rows.size - 1), [rows.size - 1]]))]


def _pose(result: Result, track: Track, rows: NDArray[np.int64]) -> Array:
    still = np.tile([1.0, 0.0, 0.0, 0.0], (len(rows), 1))
    if track["kind"] == "body":
        turn = result[track["orientation"]][rows] if track["orientation"] else still
        return np.hstack([_space(result[track["position"]][rows]), turn])
    if track["kind"] == "point":
        return np.hstack([sum(w * _space(result[name][rows]) for name, w in track["sum"]), still])
    columns = np.stack([_space(result[name][rows]) for name in track["points"]], axis=2)
    axes = columns @ np.array(track["U"])
    x = axes[..., 0] / np.linalg.norm(axes[..., 0], axis=1, keepdims=True)
    z = np.cross(x, axes[..., 1]) if axes.shape[2] > 1 else np.tile([0.0, 0.0, 1.0], (len(rows), 1))
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    R = np.stack([x, np.cross(z, x), z], axis=2)
    return np.hstack([columns[..., 0], quaternion_from_rotation(R)])


def _space(values: Array) -> Array:
    """Points of a plane mechanism, in the xy plane."""
    return (
        values if values.shape[1] == 3 else np.hstack([values, np.zeros((len(values), 3 - values.shape[1]))])
    )


def continuous(poses: Array) -> Array:
    """The same poses, (n, k, 7), with quaternions whose sign does not jump from row to row."""
    turns = np.stack([continue_signs(track) for track in poses[..., 3:].swapaxes(0, 1)], axis=1)
    return np.concatenate([poses[..., :3], turns], axis=2)


def rotated(quaternions: Array, p: Array) -> Array:
    """R p for unit quaternions (n, 4), scalar first, and a vector p (3,), or one for each (n, 3)."""
    w, u = quaternions[:, :1], quaternions[:, 1:]
    p = np.broadcast_to(p, u.shape)
    cross = 2 * np.cross(u, p)
    return p + w * cross + np.cross(u, cross)


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
