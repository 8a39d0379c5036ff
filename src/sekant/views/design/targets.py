"""Targets of curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Target:
    """Of a `curve`: `values` over `travel`, both in SI, and how far off it may be (`band`)."""

    curve: str
    travel: tuple[float, ...]
    values: tuple[float, ...]
    band: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        return {
            "curve": self.curve,
            "travel": list(self.travel),
            "values": list(self.values),
            "band": self.band,
        }
