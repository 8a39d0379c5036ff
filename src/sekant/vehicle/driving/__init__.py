"""Cars in motion: through maneuvers, and what is drawn around them."""

from sekant.vehicle.driving.drive import drive, standing_model
from sekant.vehicle.driving.scenery import with_scenery

__all__ = ["drive", "standing_model", "with_scenery"]
