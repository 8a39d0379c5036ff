"""Joints whose whole turns are counted, because elements depend on their angle: gears, springs, stops, signals.

Where a joint has no coordinates of its own, its angle is computed from the pose of its frames, up to whole
turns. A joint that counts turns gets its coordinates as auxiliary parameters instead, related to the pose by
`Joint.counted_constraints`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sekant.model.fields import expressions_of
from sekant.model.model import Model
from sekant.model.quantities import is_known

_BY_RATE = {"joint_friction", "actuator"}
"""Types of forces that depend only on the rate of their joint, unless an expression contains its angle."""
_ANGLES = {"q", "angle", "deflection"}
"""Names in expressions of a force for the coordinate on which it acts."""


def counted_joints(model: Model) -> set[str]:
    """Names of joints that turn and on whose angle some element depends."""
    turning = {name for name, joint in model.joints.items() if joint.turns}
    return turning.intersection(_used(model)) if turning else set()


def _used(model: Model) -> Iterator[str]:
    names: set[str] = set()
    for collection in ("forces", "constraints", "contacts", "signals", "motions", "joints"):
        for item in getattr(model, collection).values():
            own = {name for _, expression in expressions_of(item) for name in expression.names}
            names |= own
            if collection in ("forces", "constraints", "contacts") and _goes_by_angle(item, own):
                yield from (joint for field in ("joint", "driven") if (joint := getattr(item, field, None)))
    for name, sensor in model.sensors.items():
        if name in names:
            names.update(name for _, expression in expressions_of(sensor) for name in expression.names)
            yield from filter(None, [getattr(sensor, "joint", None)])
    for name in names:
        joint, _, part = name.rpartition(".")
        if part.startswith("q"):
            yield joint


def _goes_by_angle(item: Any, names: set[str]) -> bool:
    kind = getattr(item, "type", "")  # none for items that files cannot describe
    if kind in _BY_RATE:
        return bool(names & _ANGLES)
    if kind == "rotational_spring_damper":
        return not is_known(item.stiffness, 0.0) or item.spring is not None or bool(names & _ANGLES)
    return True
