"""The result of a reduction: the reduced model, the errors of its poses, and the replacements of the removed
items."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sekant.errors import AnalysisWarning, warning_lines
from sekant.io.writing import write_model
from sekant.model.model import Model
from sekant.reduction.comparison import Comparison, compare
from sekant.reduction.fits import PoseError
from sekant.reduction.identified_masses import MassError
from sekant.reduction.lumping import Lump


@dataclass(frozen=True, eq=False, repr=False)
class Reduction:
    """The reduced `model`, in which `joint` has the coordinates `drives` (`units`, `ranges` in SI).

    `errors`: errors of the poses of every following body, between the stored poses. `carried`: bodies that
    follow because forces, contacts or sensors need them; `followers`: because of their mass; `dropped`: removed
    bodies; `lumps`: point masses that replace them; `left_out`: removed items; `warnings`: of the sweep, such
    as positions where branches of the mechanism meet.
    """

    model: Model
    original: Model
    joint: str
    base: str
    keep: tuple[str, ...]
    drives: tuple[str, ...]
    units: tuple[str, ...]
    ranges: tuple[tuple[float, float], ...]
    method: str
    nodes: tuple[int, ...]
    errors: Mapping[str, PoseError]
    inertia: str
    carried: tuple[str, ...]
    followers: tuple[str, ...]
    dropped: tuple[str, ...]
    lumps: tuple[Lump, ...]
    left_out: tuple[str, ...]
    warnings: tuple[AnalysisWarning, ...] = ()
    mass_errors: Mapping[str, MassError] = field(default_factory=dict)
    """errors of identified point masses: of this method, of `split` and of `ignore`"""

    def __repr__(self) -> str:
        return f"<Reduction of {self.original.name} to {', '.join(self.keep)} over {' x '.join(self.drives)}>"

    def compare(
        self, until: float | None = None, points: Sequence[str] | None = None, **options: Any
    ) -> Comparison:
        """Simulate and compare both models, see `comparison.compare`; by default at the centers of mass of the kept
        bodies."""
        return compare(self.original, self.model, points or self.keep, until, **options)

    def save(self, path: str | os.PathLike[str]) -> list[Path]:
        """Write the reduced model as YAML, with its poses in JSON files beside it; returns the files."""
        return write_model(self.model, path)

    def summary(self) -> str:
        """The kept items, their accuracy, and the replacements of the others, as text."""
        lines = [f"reduced '{self.original.name}' to {', '.join(self.keep)}, relative to {self.base}"]
        for name, unit, (low, high) in zip(self.drives, self.units, self.ranges, strict=True):
            lines.append(f"  coordinate {name}: {low:.6g} to {high:.6g} {unit}")
        lines.append(f"  {self.method}, {' x '.join(str(n) for n in self.nodes)} poses")
        for body, error in self.errors.items():
            lines.append(
                f"  {body}: errors up to {error.position_max:.2e} m and {error.angle_max:.2e} rad between the poses"
            )
        groups = {
            "bodies that follow because forces, contacts or sensors refer to them": self.carried,
            "bodies that follow because they have mass": self.followers,
            f"dropped bodies, mass {self._became}": self.dropped,
            "left out": self.left_out,
        }
        lines += [f"  {what}: {', '.join(names)}" for what, names in groups.items() if names]
        for lump in self.lumps:
            lines.append(f"    {lump.mass:.6g} kg of {lump.source} on {lump.body}")
        lines += [f"  {way}: {error.text}" for way, error in self.mass_errors.items()]
        return "\n".join([*lines, *warning_lines(self.warnings)])

    @property
    def _became(self) -> str:
        """The replacement of the masses of dropped bodies, as text."""
        return "identified" if self.mass_errors else "split" if self.lumps else "ignored"

    def digest(self) -> dict[str, Any]:
        """The summary as data for programs."""
        return {
            "model": self.original.name,
            "joint": self.joint,
            "keep": list(self.keep),
            "relative_to": self.base,
            "coordinates": {
                name: {"unit": unit, "range": list(span)}
                for name, unit, span in zip(self.drives, self.units, self.ranges, strict=True)
            },
            "method": self.method,
            "poses": list(self.nodes),
            "errors": {name: vars(error) for name, error in self.errors.items()},
            "inertia": self.inertia,
            "carried": list(self.carried),
            "followers": list(self.followers),
            "dropped": list(self.dropped),
            "lumps": [vars(lump) for lump in self.lumps],
            "mass_errors": {way: vars(error) for way, error in self.mass_errors.items()},
            "left_out": list(self.left_out),
            "warnings": [warning.as_dict() for warning in self.warnings],
        }
