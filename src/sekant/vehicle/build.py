"""From hard points to a model: one corner, or an axle of two mirrored corners on one rack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sekant.errors import ModelError, suggest
from sekant.model.model import Model
from sekant.vehicle.corner import Corner, Layout, finished, rack_parts
from sekant.vehicle.hardpoints import HardPoints, Side, hard_points
from sekant.vehicle.layouts import LAYOUTS

Points = Mapping[str, Sequence[float | str]]


def corner(given: HardPoints | dict[str, Any], *, side: Side | None = None, steered: bool = True) -> Model:
    """The model of one corner; the vehicle's body is the ground.

    `side` mirrors the points if they are drawn on the other side. A steered corner has a rack, held by the driver
    `steering`; else the tie rod's inner end is on the vehicle's body.
    """
    points = hard_points(given)
    layout = _layout(points)
    built = _built(points, layout, side, steered)
    return finished(points.name or layout.name, [built], _rack(built) if steered else None)


def axle(given: HardPoints | dict[str, Any], *, steered: bool = True) -> Model:
    """Both corners of an axle, named ``left.`` and ``right.``; a rack, if steered, joins them."""
    points = hard_points(given)
    layout = _layout(points)
    left = _built(points, layout, "left", steered, "left.")
    right = _built(points, layout, "right", steered, "right.")
    return finished(points.name or layout.name, [left, right], _rack(left, middle=True) if steered else None)


def _layout(points: HardPoints) -> Layout:
    if points.type not in LAYOUTS:
        hint = suggest(points.type, list(LAYOUTS), "types")
        raise ModelError(f"unknown type of suspension '{points.type}'; {hint}", path=("type",))
    return LAYOUTS[points.type]


def _built(points: HardPoints, layout: Layout, side: Side | None, steered: bool, prefix: str = "") -> Corner:
    if "wheel_center" in points.points:
        points = points.on(side)
    made = Corner(points, layout, steered, prefix)
    layout.build(made)
    return made


def _rack(made: Corner, middle: bool = False):
    k = made.given.tie_rod
    inner = made.p(f"link{k}_inner" if made.layout.name == "five_link" else "tie_rod_inner")
    return rack_parts(made.mass("rack"), inner * np.array([1.0, 0.0 if middle else 1.0, 1.0]))


def double_wishbone(
    points: Points, *, side: Side | None = None, steered: bool = True, **options: Any
) -> Model:
    """The model of a double wishbone corner from its hard points, by name, m.

    Further keywords are those of a file of hard points: unit, masses, spring, camber, toe, load ...
    """
    return corner({"type": "double_wishbone", "points": dict(points), **options}, side=side, steered=steered)


def mcpherson(points: Points, *, side: Side | None = None, steered: bool = True, **options: Any) -> Model:
    """The model of a McPherson corner from its hard points; see `double_wishbone`."""
    return corner({"type": "mcpherson", "points": dict(points), **options}, side=side, steered=steered)


def five_link(points: Points, *, side: Side | None = None, steered: bool = True, **options: Any) -> Model:
    """The model of a five-link corner from its hard points; see `double_wishbone`."""
    return corner({"type": "five_link", "points": dict(points), **options}, side=side, steered=steered)


def formula_student(
    points: Points, *, side: Side | None = None, steered: bool = True, **options: Any
) -> Model:
    """The model of a Formula Student corner from its hard points; see `double_wishbone`."""
    return corner({"type": "formula_student", "points": dict(points), **options}, side=side, steered=steered)
