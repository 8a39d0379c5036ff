"""Coordinates of hard points by name, such as ``lower_ball.z``: their values, and descriptions in which some
moved."""

from __future__ import annotations

from collections.abc import Mapping

from sekant.errors import check_known
from sekant.vehicle.hardpoints.description import HardPoints
from sekant.vehicle.suspension.drawn import AXES

BAR = ("bar", "arm", "link", "top")


def coordinates(points: HardPoints) -> dict[str, float]:
    """Coordinates of all hard points and of the points of anti-roll bar and heave spring: name -> m.

    The contact point of a wheel with a given radius is not included, because it follows from the wheel's center.
    """
    named = {
        name: p for name, p in points.points.items() if not (name == "contact" and points.contact_follows)
    }
    extra = points.axle
    if extra is not None and extra.anti_roll_bar is not None:
        bar = extra.anti_roll_bar
        named |= {f"anti_roll_bar.{key}": p for key in BAR if (p := getattr(bar, key)) is not None}
    if extra is not None and extra.heave_spring is not None:
        named["heave_spring.point"] = extra.heave_spring.point
    return {f"{name}.{axis}": float(p[i]) for name, p in named.items() for i, axis in enumerate(AXES)}


def moved(points: HardPoints, shifts: Mapping[str, float]) -> HardPoints:
    """The description with coordinates such as ``lower_ball.z`` shifted by the given distances (m)."""
    known = coordinates(points)
    for name in shifts:
        check_known(name, known, f"there is no coordinate '{name}'", "coordinates")
    return placed(points, {name: known[name] + shift for name, shift in shifts.items()})


def placed(points: HardPoints, values: Mapping[str, float]) -> HardPoints:
    """The description with coordinates at the given values, m."""
    changed = {name: list(p) for name, p in points.points.items()}
    follows = points.contact_follows
    extra = points.axle
    for name, value in values.items():
        point, _, axis = name.rpartition(".")
        owner, _, part = point.partition(".")
        if point in changed:
            changed[point][AXES.index(axis)] = value
            continue
        assert extra is not None
        item = getattr(extra, owner)
        p = list(getattr(item, part))
        p[AXES.index(axis)] = value
        extra = extra.model_copy(update={owner: item.model_copy(update={part: tuple(p)})})
    found = points.model_copy(update={"points": {n: tuple(p) for n, p in changed.items()}, "axle": extra})
    touch = found.touching()
    if follows and touch is not None:
        found.points["contact"] = touch
    return found
