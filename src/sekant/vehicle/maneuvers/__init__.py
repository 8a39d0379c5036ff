"""Maneuvers: one registry. Adding one is adding a file here."""

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
from sekant.vehicle.maneuvers.lane_changes import DoubleLaneChange, ObstacleAvoidance, SevereLaneChange
from sekant.vehicle.maneuvers.ride import Ride
from sekant.vehicle.maneuvers.steering import SineWithDwell, SteadyCircle, StepSteer, SweptSine

__all__ = [
    "MANEUVERS",
    "BrakeInTurn",
    "BrakeStraight",
    "DoubleLaneChange",
    "DrivenManeuver",
    "Lane",
    "Maneuver",
    "ManeuverMeasure",
    "ObstacleAvoidance",
    "Ride",
    "SevereLaneChange",
    "SineWithDwell",
    "SteadyCircle",
    "StepSteer",
    "Stop",
    "SweptSine",
    "maneuver",
    "side_by_side",
]
