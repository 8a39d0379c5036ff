"""Cars in motion: through maneuvers, with scenery.

Modules that linearize a car are imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sekant.vehicle.driving.drive import drive, standing_model
from sekant.vehicle.driving.driver_model import lateral_model
from sekant.vehicle.driving.scenery import with_scenery

if TYPE_CHECKING:
    from sekant.vehicle.driving.lateral import StraightRunning, speed_locus, straight_running
    from sekant.vehicle.driving.turns import SteadyTurns, steady_turns

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
_LATER = {
    "sekant.vehicle.driving.lateral": ("StraightRunning", "speed_locus", "straight_running"),
    "sekant.vehicle.driving.turns": ("SteadyTurns", "steady_turns"),
}


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
