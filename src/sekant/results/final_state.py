"""Where a run ended: what another run, or an analysis, starts from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FinalState:
    """Time t (s), coordinates q (nq,), velocities v (nv,), states z (nz,) and held values (nh,) at the end of a run.

    Analyses take it as they take a `State`, at its time and with its run-time `parameters`.
    """

    t: float
    q: Vector
    v: Vector
    z: Vector
    parameters: dict[str, list[float]] | None = None
    held: Vector = field(default_factory=lambda: np.zeros(0))

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for files; numbers read back as they were."""
        rows = {key: getattr(self, key).tolist() for key in ("q", "v", "z", "held")}
        return {"t": self.t, **rows}

    @staticmethod
    def from_dict(data: dict[str, Any], parameters: dict[str, list[float]] | None = None) -> FinalState:
        """Inverse of `as_dict`."""
        q, v, z, held = (np.array(data.get(key, ()), float) for key in ("q", "v", "z", "held"))
        return FinalState(float(data["t"]), q, v, z, parameters, held)
