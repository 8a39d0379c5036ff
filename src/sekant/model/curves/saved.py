"""Curves and surfaces that were saved: in a file, or inside the model itself."""

from __future__ import annotations

from typing import Any, ClassVar

from sekant.errors import ModelError
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
    """what happens beyond the range of a curve; by default what the file says"""

    def build(self, around: Surroundings) -> Any:
        from sekant.geometry.pose_files import load_pose

        found = load_pose(self.file)
        return found.extended(self.outside) if self.outside is not None else found


@register
class Inline(CurveSource):
    """The contents of such a file."""

    key: ClassVar[str] = "inline"
    shown: ClassVar = "{inline: {format: sekant pose curve}}"
    summary: ClassVar[str] = "the contents of a saved curve or surface"

    inline: dict[str, Any] | str
    """the entries of the file, or their JSON text"""

    def build(self, around: Surroundings) -> Any:
        import json

        from sekant.geometry.pose_files import pose_from_dict

        if isinstance(self.inline, dict):
            return pose_from_dict(self.inline)
        try:
            return pose_from_dict(json.loads(self.inline))
        except (json.JSONDecodeError, RecursionError) as error:
            raise ModelError(f"is not JSON: {error}", path=("inline",)) from None
