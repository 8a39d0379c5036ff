"""Sources of pose curves and surfaces: one file for each kind, in one registry. To add a kind, add a file here."""

from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.curves import formula, measured, points, saved, surface, track
from sekant.model.curves.base import SOURCES, CurveSource, Surroundings, source_class

GEOMETRY = (PoseCurve, PoseSurface)
"""The results of sources, as a model contains them."""

__all__ = [
    "GEOMETRY",
    "SOURCES",
    "CurveSource",
    "Surroundings",
    "formula",
    "measured",
    "points",
    "saved",
    "source_class",
    "surface",
    "track",
]
