"""Outputs of one state by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SekantError, suggest
from sekant.formulations.outputs import Reported


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
        raise SekantError(f"no output is called '{name}'; {suggest(name, list(self), 'outputs')}")
