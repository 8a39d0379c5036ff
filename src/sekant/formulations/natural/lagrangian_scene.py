"""The drawing of a bare Lagrangian: points that its author names, and lines between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import casadi as ca

from sekant.errors import ModelError, suggest
from sekant.formulations.outputs import Output
from sekant.geometry.spatial import SX
from sekant.model.scene import Scene, SceneLink, Track

KINDS = ("rod", "spring", "damper")


def drawn_points(points: Mapping[str, Any]) -> dict[str, SX]:
    """Places (2,) or (3,) m by name."""
    found = {}
    for name, place in points.items():
        column = (
            ca.vec(SX(place)) if isinstance(place, (ca.SX, ca.DM)) else ca.vertcat(*[SX(x) for x in place])
        )
        if column.numel() not in (2, 3):
            raise ModelError(f"lagrange: point '{name}' has {column.numel()} components; give 2 or 3")
        found[name] = ca.densify(SX(column))
    return found


def point_outputs(points: Mapping[str, SX]) -> Iterator[Output]:
    """``name.position`` m of every point."""
    for name, place in points.items():
        axes = ("x", "y", "z")[: place.numel()]
        yield Output(f"{name}.position", "m", axes, f"position of {name}", place)


def lagrangian_scene(points: Mapping[str, SX], lines: Sequence[Sequence[str]]) -> Scene:
    """The scene; each line has two points and perhaps its kind. Up is y where all points are planar, else z."""
    if not points:
        return {}
    links: list[SceneLink] = []
    for number, (first, second, *rest) in enumerate(lines):
        kind = rest[0] if rest else "rod"
        for name in (first, second):
            if name not in points:
                raise ModelError(
                    f"lagrange: a line has no point '{name}'; {suggest(name, list(points), 'points')}"
                )
        if kind not in KINDS:
            raise ModelError(f"lagrange: a line cannot be a '{kind}'; {suggest(kind, KINDS, 'kinds')}")
        ends = [[name, [0.0, 0.0, 0.0]] for name in (first, second)]
        links.append({"name": f"{kind}{number + 1}", "kind": kind, "ends": ends})
    planar = all(place.numel() == 2 for place in points.values())
    tracks: dict[str, Track] = {}
    for name, place in points.items():
        fixed = place.is_constant()
        tracks[name] = {
            "kind": "point",
            "sum": [[f"{name}.position", 1.0]],
            "fixed": fixed,
            "mass": not fixed,
        }
    gravity = [0.0, -9.81, 0.0] if planar else [0.0, 0.0, -9.81]
    return {"gravity": gravity, "tracks": tracks, "bodies": {}, "links": links}
