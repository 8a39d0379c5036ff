"""The surroundings of a car in pictures: the road beneath its wheels, and the cones of the course."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.model.scene import SceneSurface
from sekant.results import Result
from sekant.vehicle.maneuvers.base import DrivenManeuver
from sekant.vehicle.roads import Road, road_values

Floats = NDArray[np.float64]
WIDTH = 3.2  # m, of the road to each side of the car's path
ACROSS = 9  # points
SPACING = 0.5  # m along the path
STRAIGHT = 1e-5  # m: smaller bends count as straight
ROUND = 1.4  # times the diagonal of its box: a longer path may return to its start
MOST = 700  # points along
BETWEEN, MOST_CONES = 3.0, 260  # m between two cones; largest number of cones
GROUND = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


def with_scenery(run: DrivenManeuver) -> Result:
    """The result of a run, with road and cones in its scene."""
    result, road = run.result, run.car.road
    scene = result.scene.copy()
    path = result["position"][:, :2]
    if run.maneuver.travels:
        scene["surfaces"] = [*scene.get("surfaces", []), road_strip(road, path)]
    scene["shapes"] = [*scene.get("shapes", []), *cone_shapes(run.maneuver.edges(run.car), road)]
    return replace(result, make_scene=lambda: scene)


def road_strip(road: Road, path: Floats) -> SceneSurface:
    """The road along a path (n, 2) m as a surface of a scene, slightly lowered so that wheels remain visible."""
    center = _even(path)
    low, high = center.min(axis=0) - WIDTH, center.max(axis=0) + WIDTH
    if SPACING * len(center) > ROUND * float(np.linalg.norm(high - low)):
        xy = np.stack(np.meshgrid(*np.linspace(low, high, ACROSS).T, indexing="ij"), axis=-1)
        z = road_values(road, xy[..., 0].ravel(), xy[..., 1].ravel())[0]
        if float(np.ptp(z)) == 0.0:  # overlapping strips flicker, so a flat road is a floor
            return _surface(xy, z)
    along = np.gradient(center, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
    side = np.column_stack([-along[:, 1], along[:, 0]])
    offsets = np.linspace(-WIDTH, WIDTH, ACROSS)
    xy = center[:, None, :] + offsets[None, :, None] * side[:, None, :]
    z = road_values(road, xy[..., 0].ravel(), xy[..., 1].ravel())[0]
    strip = _surface(xy, z)
    strip["lines"] = True
    return strip


def _surface(xy: Floats, z: Floats) -> SceneSurface:
    """A surface of a scene through points xy (n, m, 2) m at heights z (n m,) m."""
    points = np.dstack([xy, z.reshape(xy.shape[:2]) - 2e-3])
    points = points[_bent(points, 0)][:, _bent(points, 1)]
    return {
        "name": "road",
        "body": "ground",
        "pose": GROUND,
        "size": list(points.shape[:2]),
        "points": np.round(points.reshape(-1, 3), 4).tolist(),
    }


def _bent(points: Floats, axis: int) -> NDArray[np.bool_]:
    """Mask of the rows (axis 0) or columns (1) of points (n, m, 3) that are needed: the ends, and bends of the
    surface."""
    bends = np.abs(np.diff(points, 2, axis=axis)).max(axis=(1 - axis, 2)) > STRAIGHT
    return np.concatenate([[True], bends, [True]])


def _even(path: Floats) -> Floats:
    """The path at even distances, from a few meters before its start to a few meters beyond its end."""
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    moved = np.concatenate([[True], steps > 1e-6])
    path = path[moved]
    if len(path) < 2:
        path = path[0] + np.array([[-5.0, 0.0], [5.0, 0.0]])
    s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    count = int(np.clip((s[-1] + 16) / SPACING, 8, MOST))
    at = np.linspace(-8.0, s[-1] + 8.0, count)
    found = np.column_stack([np.interp(at, s, path[:, k]) for k in range(2)])
    for end, beyond in ((0, at < 0), (-1, at > s[-1])):
        a, b = (path[0], path[1]) if end == 0 else (path[-2], path[-1])
        e = (b - a) / np.linalg.norm(b - a)
        base = path[0] if end == 0 else path[-1]
        distance = at[beyond] if end == 0 else at[beyond] - s[-1]
        found[beyond] = base + distance[:, None] * e
    return found


def cone_shapes(lines: Sequence[Floats], road: Road) -> list[dict[str, Any]]:
    """Cones along lines (n, 2) m as one shape, thinned out where there would be too many."""
    points = [_along(line) for line in lines]
    xy = np.vstack(points) if points else np.zeros((0, 2))
    xy = xy[:: max(1, len(xy) // MOST_CONES + 1)] if len(xy) > MOST_CONES else xy
    if not len(xy):
        return []
    z = road_values(road, xy[:, 0], xy[:, 1])[0]
    points = np.round(np.column_stack([xy, z]), 4).tolist()
    cones = {"name": "cones", "kind": "cones", "body": "ground", "pose": GROUND, "color": "orange"}
    return [cones | {"points": points, "radius": 0.12, "length": 0.34}]


def _along(line: Floats) -> Floats:
    """Points (k, 2) m of a line, spaced like cones."""
    if len(line) < 2:
        return line
    s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    at = np.linspace(0.0, s[-1], max(2, round(s[-1] / BETWEEN) + 1))
    return np.column_stack([np.interp(at, s, line[:, k]) for k in range(2)])
