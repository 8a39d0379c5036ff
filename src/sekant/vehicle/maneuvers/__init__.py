"""Maneuvers and their registry. To add a maneuver, add a file to this folder."""

from sekant.vehicle.maneuvers.acceleration import Acceleration as Acceleration
from sekant.vehicle.maneuvers.base import MANEUVERS as MANEUVERS
from sekant.vehicle.maneuvers.base import DrivenManeuver as DrivenManeuver
from sekant.vehicle.maneuvers.base import Lane as Lane
from sekant.vehicle.maneuvers.base import Maneuver as Maneuver
from sekant.vehicle.maneuvers.base import ManeuverMeasure as ManeuverMeasure
from sekant.vehicle.maneuvers.base import Stop as Stop
from sekant.vehicle.maneuvers.base import maneuver as maneuver
from sekant.vehicle.maneuvers.base import side_by_side as side_by_side
from sekant.vehicle.maneuvers.braking import BrakeInTurn as BrakeInTurn
from sekant.vehicle.maneuvers.braking import BrakeStraight as BrakeStraight
from sekant.vehicle.maneuvers.courses import Autocross as Autocross
from sekant.vehicle.maneuvers.courses import ConstantRadius as ConstantRadius
from sekant.vehicle.maneuvers.courses import Skidpad as Skidpad
from sekant.vehicle.maneuvers.courses import Slalom as Slalom
from sekant.vehicle.maneuvers.four_post import FourPost as FourPost
from sekant.vehicle.maneuvers.lane_changes import DoubleLaneChange as DoubleLaneChange
from sekant.vehicle.maneuvers.lane_changes import ObstacleAvoidance as ObstacleAvoidance
from sekant.vehicle.maneuvers.lane_changes import SevereLaneChange as SevereLaneChange
from sekant.vehicle.maneuvers.log import LogReplay as LogReplay
from sekant.vehicle.maneuvers.ride import Ride as Ride
from sekant.vehicle.maneuvers.steering import SineWithDwell as SineWithDwell
from sekant.vehicle.maneuvers.steering import SteadyCircle as SteadyCircle
from sekant.vehicle.maneuvers.steering import StepSteer as StepSteer
from sekant.vehicle.maneuvers.steering import SweptSine as SweptSine
