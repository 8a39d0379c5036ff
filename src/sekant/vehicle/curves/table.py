"""The values of curves: by name, as rows, as a CSV file, and as a summary at the design position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sekant.errors import AnalysisWarning, check_known, warning_lines
from sekant.files import write_lines
from sekant.html_tables import html_table
from sekant.vehicle.curves.poles import shown_number

Vector = NDArray[np.float64]
SHOWN = {
    "rad": ("deg", 180 / np.pi),
    "m": ("mm", 1e3),
    "1": ("", 1.0),
    "rad/m": ("deg/m", 180 / np.pi),
    "N/m": ("N/mm", 1e-3),
    "N": ("N", 1.0),
    "N*m/rad": ("N*m/deg", np.pi / 180),
}
"""Unit -> display unit, and its factor."""
LONG = ("turning_circle",)
"""Lengths that are displayed in meters."""
DRIVES = ("travel", "rack", "steering_wheel")
"""Columns that contain positions."""
MOST_LIMITS = 6  # number of limits that are printed: a grid of travel and rack has many


def limit_lines(limits: Sequence[str]) -> list[str]:
    """Lines of a summary on the limits of the travel: the first limits, and the number of the others."""
    more = [f"  and {len(limits) - MOST_LIMITS} more limits"] if len(limits) > MOST_LIMITS else []
    return [*(f"limit: {text}" for text in limits[:MOST_LIMITS]), *more]


def unit_for_people(column: str, unit: str) -> tuple[str, float]:
    """Display unit of a column such as ``left.camber`` (SI: `unit`), and its factor."""
    return ("m", 1.0) if column.rpartition(".")[2] in LONG else SHOWN[unit]


@dataclass(frozen=True, eq=False, repr=False)
class SuspensionCurves:
    """Quantities in SI on a grid of travel (n,) m and rack displacement (m,) m, each of the shape (n, m)."""

    name: str
    side: str
    travel: Vector
    steering: Vector
    data: dict[str, tuple[str, Vector]]
    limits: tuple[str, ...] = ()
    """positions that the mechanism cannot reach, with the reason; values are NaN there"""
    warnings: tuple[AnalysisWarning, ...] = ()
    hysteresis: dict[str, float] = field(default_factory=dict)
    """largest gap between up and down strokes of measured curves, SI"""

    @property
    def title(self) -> str:
        return f"{self.name}, {self.side} corner"

    def __repr__(self) -> str:
        n, m = self.travel.size, self.steering.size
        return f"<{type(self).__name__} {self.title}: {len(self.data)} curves over {n} x {m} positions>"

    def _repr_html_(self) -> str:
        """A table for notebooks: the smallest, the design and the largest value of every quantity."""
        rows = []
        for name in self.summary_names:
            unit, values = self.shown(name)
            known = values[np.isfinite(values)]
            ends = (float(known.min()), float(known.max())) if known.size else (float("nan"),) * 2
            rows.append((name, unit, ends[0], float(values[self.design()]), ends[1]))
        return html_table(("", "unit", "least", "as drawn", "largest"), rows, title=self.title)

    @property
    def summary_names(self) -> list[str]:
        """Names of the quantities in the summary."""
        return [name for name in self.names if name not in DRIVES]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.data)

    def __getitem__(self, name: str) -> Vector:
        """Values (n, m) of a curve in SI."""
        check_known(name, self.data, f"there is no curve '{name}'", "curves")
        return self.data[name][1]

    def unit(self, name: str) -> str:
        self[name]
        return self.data[name][0]

    def shown(self, name: str) -> tuple[str, Vector]:
        """Display unit and values of a curve: deg, mm."""
        unit, factor = unit_for_people(name, self.unit(name))
        return unit, factor * self[name] + 0.0

    def rows(self) -> tuple[list[str], Vector]:
        """Headers such as ``camber [deg]``, and the values (n m, columns), with travel varying fastest."""
        columns = [(name, *self.shown(name)) for name in self.names]
        header = [f"{name} [{unit}]" if unit else name for name, unit, _ in columns]
        return header, np.column_stack([values.T.ravel() for _, _, values in columns])

    def to_csv(self, path: str | Path) -> Path:
        """Write all columns, with angles in deg and lengths in mm (turning circles in m)."""
        header, values = self.rows()
        lines = [
            ",".join(header),
            *(",".join(f"{x:.9g}" if np.isfinite(x) else "" for x in row) for row in values),
        ]
        return write_lines(path, lines)

    def design(self) -> tuple[int, int]:
        """Indices of the grid point nearest to the design position."""
        return int(np.argmin(np.abs(self.travel))), int(np.argmin(np.abs(self.steering)))

    def as_dict(self) -> dict:
        """Units and values (n, m) of all curves in SI, for JSON."""
        return {
            "name": self.name,
            "side": self.side,
            "limits": list(self.limits),
            "warnings": [warning.as_dict() for warning in self.warnings],
            "curves": {name: {"unit": unit, "values": plain(v)} for name, (unit, v) in self.data.items()},
        }

    def summary(self) -> str:
        """A table as text: each quantity at the lowest, the design and the highest position, with the wheels straight
        ahead."""
        i, j = self.design()
        there = np.flatnonzero(np.isfinite(self[self.summary_names[0]][:, j]))
        at = (int(there[0]), i, int(there[-1])) if there.size else (i, i, i)
        lines = [
            f"{self.title}; travel "
            + ", ".join(f"{1e3 * self.travel[k]:.4g}" for k in at)
            + f" mm at rack {1e3 * self.steering[j]:.4g} mm"
        ]
        for name in self.summary_names:
            unit, factor = unit_for_people(name, self.unit(name))
            shown = "".join(f"{shown_number(name, self[name][k, j], factor):>12}" for k in at)
            lines.append(f"  {name.replace('_', ' '):<28}{shown}  {unit}".rstrip())
        limits = limit_lines(self.limits)
        return "\n".join([*lines, *limits, *warning_lines(self.warnings)])


def plain(values: Vector) -> list:
    """An array as lists for JSON; None in place of NaN and infinity."""
    return np.where(np.isfinite(values), values, None).tolist()  # type: ignore[call-overload]
