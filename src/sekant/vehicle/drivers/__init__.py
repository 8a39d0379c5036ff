"""Drivers: they turn measured signals into steering, drive and brake commands, as signals of the model."""

from sekant.vehicle.drivers.path import follow_path
from sekant.vehicle.drivers.speed import hold_speed

__all__ = ["follow_path", "hold_speed"]
