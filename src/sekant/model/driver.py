"""Drivers prescribe a joint coordinate as a function of time."""

from __future__ import annotations

from typing import ClassVar

from sekant.model.quantities import AnyQuantity, Description, JointName


class Driver(Description):
    """q(t) of one coordinate of a joint; its velocity and acceleration follow by differentiation."""

    signals: ClassVar[tuple[str, ...]] = ("value",)

    joint: JointName
    coordinate: int = 0
    value: AnyQuantity
