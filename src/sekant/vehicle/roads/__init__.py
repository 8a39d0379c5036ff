"""Roads: one registry. Adding a type is adding a file here."""

from sekant.vehicle.roads.base import ROADS, AnyRoad, Patch, Road, road_values
from sekant.vehicle.roads.from_files import GridRoad, TrackRoad
from sekant.vehicle.roads.random_road import RandomRoad
from sekant.vehicle.roads.shapes import Bank, Bump, Cleat, ExpressionRoad, Grade, Plane, Ramp, Sine

__all__ = [
    "ROADS",
    "AnyRoad",
    "Bank",
    "Bump",
    "Cleat",
    "ExpressionRoad",
    "Grade",
    "GridRoad",
    "Patch",
    "Plane",
    "Ramp",
    "RandomRoad",
    "Road",
    "Sine",
    "TrackRoad",
    "road_values",
]
