"""A model under construction: items by name, all drawn in the vehicle's axes, on the vehicle's body (the ground)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.model.body import Body
from sekant.model.joints import Free
from sekant.model.model import Ground, Model
from sekant.model.placement import Placement
from sekant.model.shapes import Polyline
from sekant.vehicle import parts

Vector = NDArray[np.float64]


class Assembly:
    """Collects the items of a corner or an axle."""

    def __init__(self) -> None:
        self.items: dict[str, Any] = {}
        self.frames: dict[str, Placement] = {}

    def add(self, collection: str, name: str, item: Any) -> str:
        """An item under a name of its own, which comes back."""
        entries = self.items.setdefault(collection, {})
        assert name not in entries, name
        entries[name] = item
        return name

    def all(self, collection: str) -> Mapping[str, Any]:
        return self.items.get(collection, {})

    def frame(self, body: str, name: str, placement: Placement) -> str:
        """A frame on a body, or on the ground, where dots in its name become underscores; its reference."""
        if body == "ground":
            own = name.replace(".", "_")
            self.frames[own] = placement
            return f"ground.{own}"
        found: Body = self.items["bodies"][body]
        self.items["bodies"][body] = parts.with_frames(found, {name: placement})
        return f"{body}.{name}"

    def floating(self, body: str) -> None:
        """A body that only forces and loops hold."""
        self.add("joints", f"{body}_free", Free(child=body))

    def bar(self, name: str, frame: str, radius: float, *points: Vector, color: str | None = None) -> None:
        """A bar through points, drawn on a body."""
        shape = Polyline(
            frame=frame, points=tuple(parts.numbers(p) for p in points), radius=radius, color=color
        )
        self.add("shapes", name, shape)

    def model(self, name: str) -> Model:
        return Model(name=name, ground=Ground(frames=self.frames), **self.items)
