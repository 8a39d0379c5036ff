"""Rotations, spatial vectors, and poses along curves and surfaces. Knows no bodies.

`rotations.py` (numbers) and `spatial.py` (expressions) come first; `curves/`, `surfaces/` and `pose_tables/` hold
poses over one or two parameters, `fit/` makes them from data.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sekant.geometry.pose_tables.pose_table import PoseTable

__all__ = ["PoseTable"]
_LATER = {"PoseTable": "sekant.geometry.pose_tables.pose_table"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(_LATER[name]), name)
