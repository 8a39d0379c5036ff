"""A small still picture of a motion: the mechanism at a few moments, where its points have been, its paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sekant import plot_style as style
from sekant.results.result import Result
from sekant.views.pictures import drawing as empty_picture
from sekant.views.player.figure import drawing
from sekant.views.player.tracks import Tracks, rotated, scene_of, tracks_of

if TYPE_CHECKING:
    from sekant.views.pictures import Picture

Array = NDArray[np.float64]
_MOMENTS = 5
_FLAT = 0.02  # of the largest extent: what is thinner is looked at from its side


def thumbnail(result: Result) -> Picture:
    """The picture, 3.2 x 2.2 inches, without axes."""
    scene = scene_of(result)
    tracks = tracks_of(result, scene, 240)
    parts = drawing(scene, tracks, [])
    view = _view(np.array(parts["bounds"]), np.array(parts["gravity"]))
    moments = np.unique(np.linspace(0, len(tracks.times) - 1, _MOMENTS).astype(int))
    with empty_picture(3.2, 2.2) as figure:
        axis = figure.subplots()
        for line in _still(parts["parts"], np.array(parts["bounds"])):
            axis.plot(*(line @ view).T, color="#B9B9B9", linewidth=1.0, zorder=1)
        for k in range(len(tracks.names)):
            if not parts["tracks"][k]["hidden"]:
                color = style.PALETTE[k % len(style.PALETTE)]
                trace = tracks.points(tracks.names[k], _marked(parts["parts"], k)) @ view
                axis.plot(*trace.T, color=color, linewidth=0.5, alpha=0.35, zorder=2)
        for moment in moments:
            last = moment == moments[-1]
            for k, line in _moving(parts, tracks, moment):
                color = style.PALETTE[k % len(style.PALETTE)] if k >= 0 else "#777777"
                width, alpha = (1.9, 1.0) if last else (1.0, 0.25)
                axis.plot(*(line @ view).T, color=color, linewidth=width, alpha=alpha, zorder=3 + last)
        axis.set_aspect("equal", adjustable="datalim")
        axis.margins(0.06)
        axis.set_axis_off()
    return figure


def _marked(parts: list[dict[str, Any]], track: int) -> Array:
    """The point (3,) of a body whose way is drawn: where its picture begins, else its origin."""
    own = [part for part in parts if part["group"] == "bodies" and part["track"] == track]
    lines = [line for part in own for line in _outline(part)]
    return lines[0].mean(axis=0) if lines else np.zeros(3)


def _view(bounds: Array, gravity: Array) -> Array:
    """(3, 2): right and up of the picture, in W."""
    extent = bounds[1] - bounds[0]
    down = int(np.argmax(np.abs(gravity))) if np.any(gravity) else 2
    up = np.eye(3)[down] * (-np.sign(gravity[down]) if np.any(gravity) else 1.0)
    flat = [i for i in range(3) if i != down and extent[i] < _FLAT * extent.max()]
    if flat:
        right = next(np.eye(3)[i] for i in range(3) if i != down and (i != flat[0] or len(flat) == 2))
        return np.stack([right, up], axis=1)
    first, second = (np.eye(3)[i] for i in range(3) if i != down)
    right = np.cos(0.6) * first + np.sin(0.6) * second
    away = np.cross(up, right)
    return np.stack([right, np.cos(0.45) * up + np.sin(0.45) * away], axis=1)


def _still(parts: list[dict[str, Any]], bounds: Array) -> Iterator[Array]:
    """Lines (n, 3) of paths and surfaces on the ground, as far as they lie within the bounds (2, 3)."""
    slack = 1e-6 * float(np.ptp(bounds, axis=0).max())
    for part in parts:
        if part["kind"] in ("path", "surface") and part["track"] < 0:
            points = _placed(part["pose"], np.array(part["points"], float))
            if part["kind"] == "path":
                inside = np.all((points >= bounds[0] - slack) & (points <= bounds[1] + slack), axis=1)
                yield np.where(inside[:, None], points, np.nan)
            else:
                grid = points.reshape(*part["size"], 3)
                yield from grid[::4]
                yield from np.swapaxes(grid, 0, 1)[::4]


def _moving(parts: dict[str, Any], tracks: Tracks, moment: int) -> Iterator[tuple[int, Array]]:
    """(number of the track, line (n, 3)) of bodies and links at one moment."""
    for part in parts["parts"]:
        if part["group"] == "bodies":
            for line in _outline(part):
                yield part["track"], _at(tracks, part["track"], line, moment)
    for link in parts["links"]:
        ends = [_at(tracks, track, np.array([place], float), moment) for track, place in link["ends"]]
        line = np.vstack(ends)
        yield link["ends"][0][0], _zigzag(line) if link["kind"] == "spring" else line


def _at(tracks: Tracks, track: int, points: Array, moment: int) -> Array:
    if track < 0:
        return points
    pose = tracks.poses[moment, track]
    return _placed(pose, points)


def _placed(pose: Any, points: Array) -> Array:
    q = np.broadcast_to(np.asarray(pose, float)[3:], (len(points), 4))
    return np.asarray(pose, float)[:3] + rotated(q, points)


def _outline(part: dict[str, Any]) -> list[Array]:
    """Lines in the frame of the body."""
    kind = part["kind"]
    if kind == "bar":
        return [np.array([part["from"], part["to"]], float)]
    if kind == "polyline":
        return [_placed(part.get("pose", [0, 0, 0, 1, 0, 0, 0]), np.array(part["points"], float))]
    turn = np.linspace(0, 2 * np.pi, 33)
    ring = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
    if kind == "box":
        half = np.array(part["size"], float) / 2
        square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])
        faces = [np.column_stack([square * half[:2], np.full(5, z)]) for z in (-half[2], half[2])]
        posts = [
            np.array([[*corner * half[:2], -half[2]], [*corner * half[:2], half[2]]]) for corner in square[:4]
        ]
        lines = [*faces, *posts]
    elif kind in ("cylinder", "wheel"):
        depth = part.get("length", part.get("width", 0.0)) / 2
        along = int(np.argmax(np.abs(part.get("axis", [0, 0, 1]))))
        order = np.roll([0, 1, 2], along - 2)  # z of the ring becomes the axis
        lines = [(part["radius"] * ring + [0, 0, z])[:, order] for z in (-depth, depth)]
        if kind == "cylinder":
            lines += [np.array([lines[0][k], lines[1][k]]) for k in (0, 8, 16, 24)]
    elif "radius" in part:
        lines = [part["radius"] * ring[:, order] for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0])]
    else:
        return []
    return [_placed(part["pose"], line) for line in lines]


def _zigzag(line: Array) -> Array:
    """A spring between two points."""
    along = line[1] - line[0]
    length = float(np.linalg.norm(along))
    if length == 0.0:
        return line
    helper = np.eye(3)[int(np.argmin(np.abs(along)))]
    across = np.cross(along, helper)
    across *= 0.06 * length / np.linalg.norm(across)
    at = np.linspace(0, 1, 18)
    sides = np.array([0, 0, *([1, -1] * 7), 0, 0])
    return line[0] + at[:, None] * along + sides[:, None] * across
