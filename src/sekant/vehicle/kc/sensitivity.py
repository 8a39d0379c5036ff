"""Effects of hard points on curves: tables of derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sekant.errors import check_known
from sekant.files import write_lines
from sekant.vehicle.curves.table import SHOWN

Vector = NDArray[np.float64]
NOISE = 1e-9  # of the largest derivative: smaller derivatives are round-off


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """Derivatives of curves with respect to the coordinates of hard points, SI, of the shape (travel,
    coordinates)."""

    name: str
    travel: Vector
    coordinates: tuple[str, ...]
    """``lower_ball.z`` and so on"""
    units: dict[str, str]
    data: dict[str, Vector]

    def of(self, curve: str, coordinate: str) -> Vector:
        """Derivative (n,) of a curve with respect to a coordinate, per m."""
        check_known(curve, self.data, f"there is no curve '{curve}'", "curves")
        check_known(coordinate, self.coordinates, f"there is no coordinate '{coordinate}'", "coordinates")
        return self.data[curve][:, self.coordinates.index(coordinate)]

    def ranked(self, curve: str, at: float = 0.0) -> list[tuple[str, float]]:
        """Coordinates and their effects, sorted by the effect of 1 mm on a curve at a travel (m), in display units.

        Effects that are round-off compared with the largest derivative over the travel are zero.
        """
        self.of(curve, self.coordinates[0])
        row = self._without_noise(curve)[int(np.argmin(np.abs(self.travel - at)))]
        factor = SHOWN[self.units[curve]][1] * 1e-3
        order = np.argsort(-np.abs(row))
        return [(self.coordinates[k], float(factor * row[k])) for k in order]

    def reference_travel(self, curve: str) -> float:
        """The travel (m) at which coordinates are compared: zero or, if no coordinate changes the curve there, the
        travel of the largest effect."""
        self.of(curve, self.coordinates[0])
        sizes = np.nanmax(np.abs(self._without_noise(curve)), axis=1, initial=0.0)
        drawn = int(np.argmin(np.abs(self.travel)))
        return 0.0 if sizes[drawn] > 0 or not sizes.any() else float(self.travel[int(sizes.argmax())])

    def _without_noise(self, curve: str) -> Vector:
        """Derivatives (n, coordinates), with those within round-off set to zero."""
        values = self.data[curve]
        scale = float(np.nanmax(np.abs(values), initial=1.0))  # 1: a rad, N/m ... a meter
        return np.where(np.abs(values) > NOISE * scale, values, 0.0)

    def to_csv(self, path: str | Path) -> Path:
        """Write a CSV file of the changes of each curve, in deg, mm ..., by 1 mm of each coordinate, versus
        travel."""
        lines = [",".join(["curve [unit per mm]", "travel [mm]", *self.coordinates])]
        for curve in self.data:
            unit, factor = SHOWN[self.units[curve]]
            for z, row in zip(self.travel, self._without_noise(curve), strict=True):
                numbers = ",".join(f"{x * factor * 1e-3:.9g}" for x in row)
                lines.append(f"{curve} [{unit or '1'}],{1e3 * z:.9g},{numbers}")
        return write_lines(path, lines)

    def summary(self, most: int = 6) -> str:
        lines = [f"{self.name}: change of each curve as drawn if a hard point moves by 1 mm"]
        for curve in self.data:
            unit, at = SHOWN[self.units[curve]][0], self.reference_travel(curve)
            ranked = [(name, value) for name, value in self.ranked(curve, at) if value]
            parts = ", ".join(f"{name} {value:+.4g}" for name, value in ranked[:most]) or "nothing"
            where = "" if at == 0.0 else f" none as drawn; at a travel of {1e3 * at:.4g} mm"
            lines.append(f"  {curve.replace('_', ' ')} [{unit or '1'}]:{where} {parts}")
        return "\n".join(lines)
