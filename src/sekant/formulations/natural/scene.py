"""The scene of a mechanism modeled with points; see `sekant.model.scene`."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from sekant.model.points.composition import Composition
from sekant.model.points.geometric import Geometric
from sekant.model.points.mass_parts import BodyPart, Part, RodPart
from sekant.model.scene import PointTrack, Scene, SceneBody, SceneLink, Track


def natural_scene(mechanism: Composition) -> Scene:
    """The scene of a mechanism. Points that are not sums of named points are omitted, and so is everything that
    depends on them."""
    return _NaturalScene(mechanism).build()


class _NaturalScene:
    def __init__(self, mechanism: Composition):
        self.m = mechanism
        self.tracks: dict[str, Track] = {}
        self.links: list[SceneLink] = []
        self.bodies: dict[str, SceneBody] = {}

    def build(self) -> Scene:
        m = self.m
        for name, item in m.geometry.items():
            if item.is_point:
                self.tracks[name] = {
                    "kind": "point",
                    "sum": [[f"{name}.position", 1.0]],
                    "fixed": self._fixed(item),
                }
        for name, part in m.parts.items():
            if isinstance(part, RodPart):
                self._link(name, "rod", *part.points)
            elif isinstance(part, BodyPart):
                self._body(name, part)
            else:
                self._mass(part)
        for name, (kind, A, B) in m.lines.items():
            self._link(name, kind, A, B)
        gravity = [*(float(g) for g in m.gravity), *[0.0] * (3 - m.dim)]
        return {"gravity": gravity, "tracks": self.tracks, "bodies": self.bodies, "links": self.links}

    def _fixed(self, item: Geometric) -> bool:
        """Whether the point does not move."""
        free = [c.symbol for c in self.m.coordinates if c.fixed is None or not c.fixed.is_constant()]
        return not free or not ca.depends_on(item.value, ca.vertcat(*free, self.m.t))

    def _track(self, item: Geometric) -> str | None:
        """The track that follows a point; created if the point has no name."""
        if item.name in self.tracks:
            return item.name
        terms = self._terms(item)
        if terms is None:
            return None
        name = " + ".join(f"{weight:g} {channel.rpartition('.')[0]}" for channel, weight in terms)
        self.tracks[name] = {"kind": "point", "sum": terms, "fixed": self._fixed(item), "hidden": True}
        return name

    def _terms(self, item: Geometric) -> list[list[Any]] | None:
        """Channels and weights whose sum is the point, if it is a sum of basic points and vectors."""
        found = self.m.combination(item)
        if found is None:
            return None
        return [[_channel(self.m.geometry[name]), weight] for name, weight in found.items()]

    def _link(self, name: str, kind: str, A: Geometric, B: Geometric) -> None:
        ends = [end for end in (self._track(A), self._track(B)) if end is not None]
        known = [{end[0] for end in link["ends"]} for link in self.links]
        if len(ends) == 2 and not (kind == "rod" and set(ends) in known):
            self.links.append({"name": name, "kind": kind, "ends": [[end, [0.0, 0.0, 0.0]] for end in ends]})

    def _mass(self, part: Part) -> None:
        track = self._track(part.points[0])
        if track is not None:
            followed: PointTrack = self.tracks[track]  # type: ignore[assignment]
            followed["mass"] = True

    def _body(self, name: str, part: BodyPart) -> None:
        """The frame of a body, and bars between the points that are known to lie on it."""
        if all(point.name for point in part.points):
            channels = [_channel(point) for point in part.points]
            self.tracks[name] = {"kind": "frame", "points": channels, "U": part.U.tolist()}
            inertia = np.zeros((3, 3))
            if self.m.dim == 3:
                inertia = part.inertia
            com = [*(float(c) for c in part.com), *[0.0] * (3 - self.m.dim)]
            J = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].tolist()
            self.bodies[name] = {"mass": _number(part.mass), "com": com, "inertia": J}
        points = [point for point in (*part.points, *part.children) if point.is_point]
        if len(points) == 3:
            pairs = [(0, 1), (1, 2), (2, 0)]
        else:
            pairs = [(0, k) for k in range(1, len(points))]
        for i, k in pairs:
            self._link(name, "rod", points[i], points[k])


def _channel(point: Geometric) -> str:
    return f"{point.name}.{'position' if point.is_point else 'value'}"


def _number(value: Any) -> float:
    return float(value) if not isinstance(value, ca.SX) or value.is_constant() else 0.0
