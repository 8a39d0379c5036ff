"""Drivers, which compute steering, drive and brake commands from measured signals, as signals of the model."""

from sekant.vehicle.drivers.path import follow_path
from sekant.vehicle.drivers.speed import hold_speed

__all__ = ["follow_path", "hold_speed"]
