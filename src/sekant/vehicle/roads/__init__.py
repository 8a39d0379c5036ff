"""Roads and their registry. To add a type of road, add a file to this folder."""

from sekant.vehicle.roads.base import ROADS as ROADS
from sekant.vehicle.roads.base import AnyRoad as AnyRoad
from sekant.vehicle.roads.base import Patch as Patch
from sekant.vehicle.roads.base import Road as Road
from sekant.vehicle.roads.base import road_values as road_values
from sekant.vehicle.roads.from_files import GridRoad as GridRoad
from sekant.vehicle.roads.from_files import TrackRoad as TrackRoad
from sekant.vehicle.roads.random_road import RandomRoad as RandomRoad
from sekant.vehicle.roads.shapes import Bank as Bank
from sekant.vehicle.roads.shapes import Bump as Bump
from sekant.vehicle.roads.shapes import Cleat as Cleat
from sekant.vehicle.roads.shapes import ExpressionRoad as ExpressionRoad
from sekant.vehicle.roads.shapes import Grade as Grade
from sekant.vehicle.roads.shapes import Plane as Plane
from sekant.vehicle.roads.shapes import Ramp as Ramp
from sekant.vehicle.roads.shapes import Sine as Sine
