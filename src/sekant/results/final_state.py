"""Where a run ended: what another run, or an analysis, starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FinalState:
    """Time t (s), coordinates q (nq,), velocities v (nv,) and states z (nz,) of elements at the end of a run.

    Analyses take it as they take a `State`, at its time and with its run-time `parameters`.
    """

    t: float
    q: Vector
    v: Vector
    z: Vector
    parameters: dict[str, list[float]] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for files; numbers read back as they were."""
        return {"t": self.t, "q": self.q.tolist(), "v": self.v.tolist(), "z": self.z.tolist()}

    @staticmethod
    def from_dict(data: dict[str, Any], parameters: dict[str, list[float]] | None = None) -> FinalState:
        """Inverse of `as_dict`."""
        q, v, z = (np.array(data[key], float) for key in ("q", "v", "z"))
        return FinalState(float(data["t"]), q, v, z, parameters)
