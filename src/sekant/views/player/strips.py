"""Strips of ground along the paths of points, such as the road under a wheel, as surfaces of a scene."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sekant.model.scene import Scene, SceneStrip, SceneSurface
from sekant.results.result import Result

MOST = 400  # points along
PLACE = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


def with_strips(scene: Scene, result: Result) -> Scene:
    """The scene with a surface for each of its strips; none if a ground is drawn already."""
    found = scene.copy()
    if any(surface["body"] == "ground" for surface in scene.get("surfaces", [])):
        return found
    strips = [s for s in scene.get("strips", []) if s["channel"] in result]
    surfaces = [_strip(strip, result[strip["channel"]], scene) for strip in strips]
    found["surfaces"] = [*scene.get("surfaces", []), *(s for s in surfaces if s is not None)]
    return found


def _strip(strip: SceneStrip, points: NDArray[np.float64], scene: Scene) -> SceneSurface | None:
    """A surface of two lines of points, level across; None for a point that does not move."""
    up = -np.asarray(scene.get("gravity", [0.0, 0.0, -9.81]), float)
    up = up / np.linalg.norm(up) if np.any(up) else np.array([0.0, 0.0, 1.0])
    points = points[np.isfinite(points).all(axis=1)]
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1) if len(points) > 1 else np.zeros(0)
    s = np.concatenate([[0.0], np.cumsum(steps)])
    if s[-1] < strip["width"]:
        return None
    moved = np.concatenate([[True], steps > 0])
    at = np.linspace(0.0, s[-1], min(MOST, max(8, int(4 * s[-1] / strip["width"]))))
    line = np.column_stack([np.interp(at, s[moved], points[moved, k]) for k in range(3)])
    side = np.cross(up, np.gradient(line, axis=0))
    side /= np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-12)
    half = strip["width"] / 2 * side
    both = np.stack([line - half, line + half], axis=1).reshape(-1, 3)
    return {
        "name": f"{strip['name']} track",
        "body": "ground",
        "pose": PLACE,
        "size": [len(line), 2],
        "points": np.round(both, 4).tolist(),
    }
