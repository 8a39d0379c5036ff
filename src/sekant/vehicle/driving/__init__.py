"""Cars in motion: through maneuvers, and what is drawn around them."""

from sekant.vehicle.driving.drive import drive, standing_model
from sekant.vehicle.driving.lateral import StraightRunning, lateral_model, speed_locus, straight_running
from sekant.vehicle.driving.scenery import with_scenery
from sekant.vehicle.driving.steady_turns import SteadyTurns, steady_turns

__all__ = [
    "SteadyTurns",
    "StraightRunning",
    "drive",
    "lateral_model",
    "speed_locus",
    "standing_model",
    "steady_turns",
    "straight_running",
    "with_scenery",
]
