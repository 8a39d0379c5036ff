"""Curves and surfaces from files: saved ones (in a file or in the model itself) and pose tables of other programs."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from sekant.errors import ModelError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.model.curves.base import CurveSource, Outside, Surroundings, register


@register
class Saved(CurveSource):
    """A curve or surface that `save` or `sekant fit` wrote."""

    key: ClassVar[str] = "file"
    shown: ClassVar = "{file: path.json, outside: linear}"
    summary: ClassVar[str] = "a saved curve or surface (JSON)"

    file: str
    """JSON file"""
    outside: Outside | None = None
    """behavior outside the range of a curve; by default as in the file"""

    def build(self, around: Surroundings) -> Any:
        from sekant.geometry.pose_files import load_pose

        found = load_pose(self.file)
        return found.extended(self.outside) if self.outside is not None else found


@register
class Inline(CurveSource):
    """The contents of a saved curve or surface."""

    key: ClassVar[str] = "inline"
    shown: ClassVar = "{inline: {format: sekant pose curve}}"
    summary: ClassVar[str] = "the contents of a saved curve or surface"

    inline: dict[str, Any] | str
    """the entries of a saved file, as a mapping or as JSON text"""

    def build(self, around: Surroundings) -> Any:
        import json

        from sekant.geometry.pose_files import pose_from_dict

        if isinstance(self.inline, dict):
            return pose_from_dict(self.inline)
        try:
            return pose_from_dict(json.loads(self.inline))
        except (json.JSONDecodeError, RecursionError) as error:
            raise ModelError(f"is not valid JSON: {error}", path=("inline",)) from None


@register
class Tabulated(CurveSource):
    """A table of poses in a text file: the drive, the matrix T = [R p] and its derivatives d and delta (PILS 3.2).

    The columns are the drive, T11 to T34, d1 to d3, delta1 to delta3 and, if known, dd1 to dd3 and ddelta1 to
    ddelta3. `PoseTable.to_text` writes these files. Without a header, each row contains u, T (12 or 16 values), d
    and delta, separated by blanks, commas or semicolons; `units` gives their units.
    """

    key: ClassVar[str] = "pose_table"
    shown: ClassVar = "{pose_table: carrier.csv}"
    summary: ClassVar[str] = "a table of poses and their derivatives in a CSV file"

    pose_table: str
    """CSV file"""
    scheme: Literal["quintic", "cubic"] = "quintic"
    """interpolation between the poses. quintic: accelerations are continuous; cubic: the published scheme
    (PILS 3.2), whose accelerations jump at the nodes"""
    units: dict[str, str] | None = None
    """units of a file without a header, such as {drive: mm, length: mm, angle: rad}"""
    outside: Outside = "error"
    """behavior outside the range: error, linear continuation, or periodic repetition"""

    def build(self, around: Surroundings) -> PoseCurve:
        from sekant.geometry.pose_tables.pose_table import PoseTable

        table = PoseTable.from_text(self.pose_table, around.name, self.units)
        return table.curve(around.name, self.scheme, self.outside)
