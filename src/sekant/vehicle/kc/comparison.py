"""Curves of several designs of an axle side by side, and their differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError, counted
from sekant.files import write_lines
from sekant.vehicle.curves.poles import bound_of, shown_number
from sekant.vehicle.curves.table import limit_lines, plain, unit_for_people
from sekant.vehicle.kc.curves import AxleCurves

Vector = NDArray[np.float64]
ROUND_OFF = 1e-9  # of the largest value of a curve
NOTHING = 1e-11  # SI: lengths and angles below this are round-off


@dataclass(frozen=True)
class Difference:
    """A curve of k designs, SI: values `drawn` (k,) as drawn, the `largest` differences (k,) from the first design
    over the travel, and the travels `where` (k,) m at which they occur."""

    name: str
    unit: str
    drawn: Vector
    largest: Vector
    where: Vector

    @property
    def differs(self) -> bool:
        return bool(np.any(self.largest[1:] != 0.0))


@dataclass(frozen=True, eq=False)
class ComparedCurves:
    """Curves of several designs over the same travel and rack, one design for each label. Differences are relative to
    the first design."""

    labels: tuple[str, ...]
    curves: tuple[AxleCurves, ...]

    def __post_init__(self) -> None:
        first = self.curves[0]
        if len(self.labels) != len(self.curves):
            raise ModelError(
                f"there must be one label for each design (got {counted(len(self.labels), 'labels')} for "
                f"{counted(len(self.curves), 'designs')})"
            )
        for label, other in zip(self.labels, self.curves, strict=True):
            if not np.array_equal(first.travel, other.travel):
                raise ModelError(
                    f"{label} and {self.labels[0]} have curves at different values of travel; compute both at the "
                    "same values"
                )

    def differences(self) -> list[Difference]:
        """Differences of every curve that all designs have, at the design position of the rack."""
        found = []
        for name in self.curves[0].summary_names:
            if not all(name in other.names for other in self.curves):
                continue
            columns = np.array([c[name][:, c.design()[1]] for c in self.curves])
            i = self.curves[0].design()[0]
            bound = bound_of(name)
            usable = np.where(np.abs(columns) > bound, np.nan, columns) if bound else columns
            gaps = usable - usable[0]
            scale = float(np.nanmax(np.abs(usable), initial=0.0))
            sizes = np.where(
                np.isfinite(gaps) & (np.abs(gaps) > max(ROUND_OFF * scale, NOTHING)), np.abs(gaps), 0.0
            )
            at = sizes.argmax(axis=1)
            picked = [g[k] if s[k] > 0 else 0.0 for g, s, k in zip(gaps, sizes, at, strict=True)]
            unit = self.curves[0].unit(name)
            found.append(Difference(name, unit, columns[:, i], np.array(picked), self.curves[0].travel[at]))
        return found

    def summary(self) -> str:
        """A table as text: every curve as drawn, and its largest difference with the travel at which it occurs."""
        first = self.curves[0]
        head = " ".join(f"{label[:13]:>13}" for label in self.labels)
        others = self.labels[1:]
        wide = " ".join(f"{f'{label} differs'[-22:]:>22}" for label in others)
        lines = [
            f"{first.motion} travel from {1e3 * first.travel[0]:.4g} to {1e3 * first.travel[-1]:.4g} mm; values as "
            f"drawn, and the largest difference from {self.labels[0]} (in parentheses: its travel, mm)",
            f"  {'':<28}{head} {wide}",
        ]
        alike = []
        for row in self.differences():
            unit, factor = unit_for_people(row.name, row.unit)
            if not row.differs:
                alike.append(row.name.replace("_", " "))
                continue
            values = " ".join(f"{shown_number(row.name, v, factor):>13}" for v in row.drawn)
            gaps = " ".join(
                f"{f'{factor * g:+.4f} ({1e3 * z:.4g})' if g else 'none':>22}"
                for g, z in zip(row.largest[1:], row.where[1:], strict=True)
            )
            lines.append(f"  {row.name.replace('_', ' '):<28}{values} {gaps}  {unit}".rstrip())
        if alike:
            lines.append(f"identical: {', '.join(alike)}")
        for label, c in zip(self.labels, self.curves, strict=True):
            own = [name for name in c.summary_names if not all(name in other.names for other in self.curves)]
            if own:
                lines.append(f"not in all designs: {label}: {', '.join(n.replace('_', ' ') for n in own)}")
        limits = [
            f"{label}: {text}" for label, c in zip(self.labels, self.curves, strict=True) for text in c.limits
        ]
        return "\n".join([*lines, *limit_lines(limits)])

    def as_dict(self) -> dict:
        """All curves and differences as plain data in SI, for JSON."""
        rows = {
            row.name: {
                "unit": row.unit,
                "as_drawn": plain(row.drawn),
                "largest_difference": plain(row.largest),
                "at_travel": row.where.tolist(),
            }
            for row in self.differences()
        }
        return {
            "designs": list(self.labels),
            "differences": rows,
            "curves": [c.as_dict() for c in self.curves],
        }

    def to_csv(self, path: str | Path) -> Path:
        """Write all curves of all designs, with one row per design and position, angles in deg and lengths in mm."""
        header: dict[str, None] = {}
        tables = [curves.rows() for curves in self.curves]
        for names, _ in tables:
            header |= dict.fromkeys(names)
        lines = [",".join(["design", *header])]
        for label, (names, values) in zip(self.labels, tables, strict=True):
            for row in values:
                known = dict(zip(names, row, strict=True))
                cells = [f"{known[n]:.9g}" if np.isfinite(known.get(n, np.nan)) else "" for n in header]
                lines.append(",".join([label, *cells]))
        return write_lines(path, lines)


def names_of_files(files: Sequence[str | Path]) -> tuple[str, ...]:
    """Short labels that distinguish files: their stems, with as many parent folders as necessary."""
    paths = [Path(file) for file in files]
    for depth in range(1, max(len(p.parts) for p in paths) + 1):
        found = ["/".join([*p.with_suffix("").parts[-depth:]]) for p in paths]
        if len(set(found)) == len(found):
            return tuple(found)
    return tuple(f"{p.stem} ({k + 1})" for k, p in enumerate(paths))
