"""The figure of a result: all drawn data, as plain data with packed arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.model.scene import Scene, SceneJoint, SceneLink
from sekant.results.result import Result
from sekant.views.player.bodies import ORIGIN, at, body_parts, distinct, extent, placed
from sekant.views.player.pack import packed_poses, packed_series, packed_times
from sekant.views.player.strips import with_strips
from sekant.views.player.tracks import (
    MAX_FRAMES,
    Tracks,
    heaviest_of,
    lap_of,
    ride_channels,
    ride_of,
    rotated,
    scene_of,
    tracks_of,
)

MAX_SAMPLES = 420_000  # of all series together; the least important ones are dropped
_FLAT = 1e-9  # of the extent: narrower motions count as plane
_HINGES = (
    "revolute",
    "cylindrical",
    "screw",
    "universal",
    "spherical",
)  # in which a body turns about a point
_LOOSE = ("free", "planar")  # joints that do not guide a body
_FAR = 6.0  # times its own size: a body that moves farther travels, and the camera follows it
_BEYOND = 0.4  # of the extent of the motion: visible margin around a long path
DROPPED = (".reaction_local", ".acceleration", ".angular_velocity", ".a", ".velocity", ".reaction", ".v")


def figure(result: Result, label: str = "", max_frames: int = MAX_FRAMES) -> dict[str, Any]:
    """One run on the page."""
    scene = with_strips(scene_of(result), result)
    tracks = tracks_of(result, scene, max_frames)
    series = _series(result, tracks, ride_channels(scene))
    return {
        "label": label or result.model_name,
        "status": result.status,
        "message": result.message,
        "rows": len(result),
        "times": packed_times(tracks.times),
        "poses": packed_poses(tracks.poses),
        **drawing(scene, tracks, [entry["name"] for entry in series["channels"]]),
        "series": series,
    }


def drawing(scene: Scene, tracks: Tracks, channels: list[str]) -> dict[str, Any]:
    """Tracks, parts, links and arrows, without the motion. `channels`: names of the series that arrows may use."""
    return _Drawing(scene, tracks).build(channels)


def _series(result: Result, tracks: Tracks, kept: Sequence[str]) -> dict[str, Any]:
    """The channels that can be plotted, including those of `kept`. The positions of tracks come from the poses."""
    drawn = {f"{name}.{what}" for name in tracks.names for what in ("position", "orientation")}
    chosen = [channel for channel in result.channels if channel.name not in drawn]
    for ending in (None, *DROPPED):
        if ending is not None:
            chosen = [one for one in chosen if one.name in kept or not one.name.endswith(ending)]
        if sum(channel.width for channel in chosen) * len(tracks.rows) <= MAX_SAMPLES:
            break
    else:
        chosen.sort(key=lambda channel: channel.name not in kept)
        chosen = chosen[: max(1, MAX_SAMPLES // len(tracks.rows))]
    columns = [result[channel.name].reshape(len(result), -1)[tracks.rows] for channel in chosen]
    values = np.hstack(columns) if columns else np.zeros((len(tracks.rows), 0))
    return {"channels": described_channels(chosen), "values": packed_series(values)}


def described_channels(channels: Iterable[Any]) -> list[dict[str, Any]]:
    """Channels or outputs as data for the page."""
    return [
        {
            "name": one.name,
            "unit": one.unit if isinstance(one.unit, str) else list(one.unit),
            "parts": list(one.components),
            "about": one.description,
        }
        for one in channels
    ]


class _Drawing:
    def __init__(self, scene: Scene, tracks: Tracks):
        self.scene, self.tracks = scene, tracks
        self.known = {"ground", *tracks.names}
        self.links = [
            link for link in scene.get("links", []) if {end[0] for end in link["ends"]} <= self.known
        ]
        self.joints = [j for j in scene.get("joints", []) if {end[0] for end in j["ends"]} <= self.known]
        self.bounds = self._bounds()
        self.size = max(float(np.linalg.norm(self.bounds[1] - self.bounds[0])), 1e-6)
        near = self._near()
        self.travels = bool(near) and self.size > _FAR * near and not self._is_held()
        if self.travels:
            self.size = near
        self.bar = self._bar()

    def build(self, channels: list[str]) -> dict[str, Any]:
        tracks = self.scene.get("tracks", {})
        names = self.tracks.names
        bodies = list(self._bodies())
        view = self.scene.get("view", {})
        return {
            "gravity": self.scene.get("gravity", [0.0, 0.0, -9.81]),
            "bounds": self._widened(bodies),
            "bar": self.bar,
            "near": self.size if self.travels else 0.0,
            "plane": view.get("plane", None if self.travels else self._plane()),
            "camera": view.get("camera"),
            "target": view.get("target"),
            "follow": self.tracks.names.index(heaviest_of(self.scene, self.tracks.names))
            if self.travels and not view.keys() & {"plane", "camera"}
            else -1,
            "ride": ride_of(self.scene, names),
            "tracks": [
                {
                    "name": name,
                    "kind": tracks[name]["kind"],
                    "hidden": bool(tracks[name].get("hidden")),
                    "lap": lap_of(self.scene, name),
                }
                for name in names
            ],
            "parts": [*bodies, *self._points(), *self._joints(), *self._paths(), *self._planes()],
            "links": [
                {**link, "ends": [[self.tracks.index(track), p] for track, p in link["ends"]]}
                for link in self.links
            ],
            "arrows": list(self._arrows(channels)),
        }

    def _marked(self, every: int) -> list[NDArray[np.float64]]:
        """Positions (n, 3) m of centers of mass and frames of the bodies, at every n-th drawn time."""
        return [
            self.tracks.points(name, p)[::every]
            for name, body in self.scene.get("bodies", {}).items()
            if name in self.known and body
            for p in (body.get("com", ORIGIN), *(pose[:3] for pose in body.get("frames", {}).values()))
        ]

    def _near(self) -> float:
        """Size of the moving parts at one instant, m; 0 if unknown."""
        points = self._marked(max(1, len(self.tracks.times) // 25))
        if not points:
            return 0.0
        P = np.array(points)
        return float(np.median(np.linalg.norm(P.max(axis=0) - P.min(axis=0), axis=1)))

    def _plane(self) -> list[float] | None:
        """Normal (3,) of the coordinate plane of the motion; None for motions in space or along a line."""
        flat = self.bounds[1] - self.bounds[0] <= _FLAT * self.size
        return flat.astype(float).tolist() if flat.sum() == 1 else None

    def _is_held(self) -> bool:
        """Whether a joint or a path on the ground guides the motion, so that all of it should be visible."""
        led = any(path["body"] == "ground" for path in self.scene.get("paths", []))
        return led or any(
            joint["kind"] not in _LOOSE and "ground" in {end[0] for end in joint["ends"]}
            for joint in self.joints
        )

    def _bounds(self) -> NDArray[np.float64]:
        """Corners (2, 3) m of a box around everything that moves and the drawn ground near it."""
        bodies = self.scene.get("bodies", {})  # the other tracks are points, and other moving parts
        alone = [k for k, name in enumerate(self.tracks.names) if not bodies.get(name)]
        corners = [self.tracks.poses[:, alone, :3].reshape(-1, 3)]
        ends = [end for link in self.links for end in link["ends"]]
        ends += [
            end for joint in self.joints for end in joint["ends"] if end[0] != "ground"
        ]  # the ground may be far away
        corners += [self.tracks.points(track, p[:3])[::10] for track, p in ends]
        moving = np.vstack([*corners, *self._marked(10)])
        low, high = moving.min(axis=0), moving.max(axis=0)
        margin = _BEYOND * float(np.linalg.norm(high - low)) or np.inf
        corners = [moving]
        for path in (*self.scene.get("paths", []), *self.scene.get("surfaces", [])):
            if path["body"] == "ground":
                points = placed(path["pose"], np.array(path["points"]))
                corners.append(np.clip(points, low - margin, high + margin))
        P = np.vstack(corners)
        return np.array([P.min(axis=0), P.max(axis=0)])

    def _widened(self, bodies: list[dict[str, Any]]) -> list[list[float]]:
        """The bounds, enlarged by the drawn parts of the bodies."""
        every = max(1, len(self.tracks.times) // 60)
        corners = [self.bounds]
        for part in bodies:
            name = "ground" if part["track"] < 0 else self.tracks.names[part["track"]]
            for corner in extent(part)[:200]:
                corners.append(self.tracks.points(name, corner)[::every])
        P = np.vstack(corners)
        return [P.min(axis=0).tolist(), P.max(axis=0).tolist()]

    def _bar(self) -> float:
        """Radius of bars, m, from the distances between joints, within limits relative to the whole."""
        lengths = []
        for points in self._fastened().values():
            places = distinct([np.asarray(p, float) for p in points], 1e-3 * self.size)
            lengths += [float(np.linalg.norm(p - places[0])) for p in places[1:]]
        lengths += [float(np.linalg.norm(self._span(link)[0])) for link in self.links]
        typical = float(np.median(lengths)) if lengths else 0.3 * self.size
        return float(np.clip(0.035 * typical, 0.002 * self.size, 0.016 * self.size))

    def _span(self, link: SceneLink) -> NDArray[np.float64]:
        (a, p), (b, q) = link["ends"]
        return self.tracks.points(b, q) - self.tracks.points(a, p)

    def _fastened(self) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for item in (*self.joints, *self.links):
            for body, place in item["ends"]:
                found.setdefault(body, []).append(place[:3])
        return found

    def _hinges(self) -> dict[str, list[list[float]]]:
        """For each body, the points (3,) m in it about which it turns."""
        found: dict[str, list[list[float]]] = {}
        for joint in self.joints:
            if joint["kind"] in _HINGES:
                for body, place in joint["ends"]:
                    found.setdefault(body, []).append(place[:3])
        return found

    def _bodies(self) -> Iterator[dict[str, Any]]:
        shaped = set()
        for shape in self.scene.get("shapes", []):
            if shape["body"] in self.known:
                shaped.add(shape["body"])
                owner = shape["body"] if shape["body"] != "ground" else shape["name"]
                yield {**shape, "name": owner, "group": "bodies", "track": self.tracks.index(shape["body"])}
        fastened, hinges = self._fastened(), self._hinges()
        for name, body in self.scene.get("bodies", {}).items():
            if (
                name in shaped
                or name not in self.known
                or self.scene.get("tracks", {})[name]["kind"] == "frame"
            ):
                continue
            for part in body_parts(body, fastened.get(name, []), hinges.get(name, []), self.bar, self.size):
                yield {**part, "name": name, "group": "bodies", "track": self.tracks.index(name)}

    def _points(self) -> Iterator[dict[str, Any]]:
        """Points of mechanisms in natural coordinates."""
        for name, track in self.scene.get("tracks", {}).items():
            if track["kind"] == "point" and name in self.known and not track.get("hidden"):
                kind = "pin" if track["fixed"] else "sphere"
                radius = self.bar * (3.0 if track.get("mass") else 1.5)
                part = {
                    "kind": kind,
                    "radius": radius,
                    "pose": at([0, 0, 0]),
                    "name": name,
                    "group": "points",
                }
                yield {
                    **part,
                    "track": self.tracks.index(name),
                    "color": None if track.get("mass") else "gray",
                }

    def _joints(self) -> Iterator[dict[str, Any]]:
        for joint in self.joints:
            parent, X_F = joint["ends"][0]
            part = {"name": joint["name"], "group": "joints", "kind": f"joint_{joint['kind']}", "pose": X_F}
            part |= {"track": self.tracks.index(parent), "radius": self.bar}
            if joint["kind"] in ("prismatic", "cylindrical", "screw"):
                part["range"] = self._travel(joint)
            yield part

    def _travel(self, joint: SceneJoint) -> list[float]:
        """Displacement of the child along z of the parent's joint frame, m."""
        (parent, X_F), (child, X_M) = joint["ends"]
        arm = self.tracks.points(child, X_M[:3]) - self.tracks.points(parent, X_F[:3])
        axis = rotated(np.array([X_F[3:]]), np.array([0.0, 0.0, 1.0]))[0]
        if parent != "ground":
            axis = rotated(self.tracks.poses[:, self.tracks.index(parent), 3:], axis)
        along = np.sum(arm * axis, axis=1)
        return [float(along.min()), float(along.max())]

    def _paths(self) -> Iterator[dict[str, Any]]:
        for kind in ("paths", "surfaces"):
            for path in self.scene.get(kind, []):
                if path["body"] in self.known:
                    part = {**path, "kind": kind[:-1], "group": "paths", "radius": self.bar}
                    yield {**part, "track": self.tracks.index(path["body"])}

    def _planes(self) -> Iterator[dict[str, Any]]:
        for plane in self.scene.get("planes", []):
            if plane["body"] in self.known:
                part = {"kind": "plane", "pose": at(plane["at"]), "normal": plane["normal"], "group": "paths"}
                yield {**part, "name": plane["name"], "track": self.tracks.index(plane["body"])}

    def _arrows(self, channels: list[str]) -> Iterator[dict[str, Any]]:
        """Applied forces, and the forces in joints, which are hidden at first."""
        for arrow in self.scene.get("arrows", []):
            if arrow["body"] in self.known and arrow["channel"] in channels:
                yield {**arrow, "track": self.tracks.index(arrow["body"]), "hidden": False}
        for joint in self.joints:
            channel, (child, X_M) = f"{joint['name']}.reaction", joint["ends"][1]
            if channel in channels:
                part = {"name": channel, "kind": "force", "channel": channel, "at": X_M[:3], "hidden": True}
                yield {**part, "track": self.tracks.index(child)}
