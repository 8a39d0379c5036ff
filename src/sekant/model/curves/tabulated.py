"""Curves through tables of poses and their derivatives, as other programs write them."""

from __future__ import annotations

from typing import ClassVar, Literal

from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.model.curves.base import CurveSource, Outside, Surroundings, register


@register
class Tabulated(CurveSource):
    """A table of poses as text: the drive, the matrix T = [R p] and its derivatives d and delta (PILS 3.2).

    Columns: the drive first, then T11 to T34, d1 to d3, delta1 to delta3 and, if known, dd1 to dd3 and ddelta1 to
    ddelta3. `PoseTable.to_text` writes such files. A file without a header has rows of u, T (12 or 16 numbers), d and
    delta, separated by blanks, commas or semicolons; `units` says in which units.
    """

    key: ClassVar[str] = "pose_table"
    shown: ClassVar = "{pose_table: carrier.csv}"
    summary: ClassVar[str] = "a table of poses and their derivatives in a CSV file"

    pose_table: str
    """CSV file"""
    scheme: Literal["quintic", "cubic"] = "quintic"
    """quintic: accelerations are continuous; cubic: the published scheme, whose accelerations jump at the nodes"""
    units: dict[str, str] | None = None
    """units of a file without a header: {drive: mm, length: mm, angle: rad}"""
    outside: Outside = "error"
    """beyond the range: refuse, go straight on, or repeat"""

    def build(self, around: Surroundings) -> PoseCurve:
        from sekant.geometry.pose_tables.pose_table import PoseTable

        table = PoseTable.from_text(self.pose_table, around.name, self.units)
        return table.curve(around.name, self.scheme, self.outside)
