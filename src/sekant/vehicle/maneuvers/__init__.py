"""Maneuvers: one registry. Adding one is adding a file here."""

from sekant.vehicle.maneuvers.acceleration import Acceleration
from sekant.vehicle.maneuvers.base import (
    MANEUVERS,
    DrivenManeuver,
    Lane,
    Maneuver,
    ManeuverMeasure,
    Stop,
    maneuver,
    side_by_side,
)
from sekant.vehicle.maneuvers.braking import BrakeInTurn, BrakeStraight
from sekant.vehicle.maneuvers.courses import Autocross, ConstantRadius, Skidpad, Slalom
from sekant.vehicle.maneuvers.four_post import FourPost
from sekant.vehicle.maneuvers.lane_changes import DoubleLaneChange, ObstacleAvoidance, SevereLaneChange
from sekant.vehicle.maneuvers.log import LogReplay
from sekant.vehicle.maneuvers.ride import Ride
from sekant.vehicle.maneuvers.steering import SineWithDwell, SteadyCircle, StepSteer, SweptSine

__all__ = [
    "MANEUVERS",
    "Acceleration",
    "Autocross",
    "BrakeInTurn",
    "BrakeStraight",
    "ConstantRadius",
    "DoubleLaneChange",
    "DrivenManeuver",
    "FourPost",
    "Lane",
    "LogReplay",
    "Maneuver",
    "ManeuverMeasure",
    "ObstacleAvoidance",
    "Ride",
    "SevereLaneChange",
    "SineWithDwell",
    "Skidpad",
    "Slalom",
    "SteadyCircle",
    "StepSteer",
    "Stop",
    "SweptSine",
    "maneuver",
    "side_by_side",
]
