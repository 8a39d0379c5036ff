"""Rotations, spatial vectors, and poses along curves and surfaces. Independent of bodies.

`rotations.py` (numbers) and `spatial.py` (expressions) come first; `curves/`, `surfaces/` and `pose_tables/`
contain poses over one or two parameters, `fit/` computes them from data.
"""

from typing import TYPE_CHECKING

from sekant.extensions import imported_later, names_of

if TYPE_CHECKING:
    from sekant.geometry.pose_tables.pose_table import PoseTable as PoseTable

__all__ = names_of(__name__)  # pyright: ignore[reportUnsupportedDunderAll]
__getattr__ = imported_later(__name__)
