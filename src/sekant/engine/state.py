"""A state of a system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SekantError, suggest
from sekant.formulations.outputs import Reported

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class State:
    """Free coordinates q (nq,) and velocities v (nv,) of a system, and the states z (nz,) of its signals and force
    elements.

    `held` (nh,): values that are constant between events, such as samples and the branches of a hysteresis. If z or
    `held` is empty, the start values of the model apply.
    """

    q: Vector
    v: Vector
    z: Vector = field(default_factory=lambda: np.zeros(0), kw_only=True)
    held: Vector = field(default_factory=lambda: np.zeros(0), kw_only=True)


class Values(dict[str, Any]):
    """Name -> number, or array (k,) of an output with components; these have names too, as ``arm.position.x``."""

    def __init__(self, outputs: Sequence[Reported], y: NDArray[np.float64]):
        super().__init__()
        self.units: dict[str, str | tuple[str, ...]] = {}
        self._parts: dict[str, float] = {}
        start = 0
        for output in outputs:
            row = y[start : start + output.width]
            start += row.size
            self[output.name] = row.copy() if output.components else float(row[0])
            self.units[output.name] = output.unit
            for part, value in zip(output.components, row, strict=False):
                self._parts[f"{output.name}.{part}"] = float(value)

    def __missing__(self, name: str) -> float:
        if name in self._parts:
            return self._parts[name]
        raise SekantError(f"there is no output '{name}'; {suggest(name, list(self), 'outputs')}")
