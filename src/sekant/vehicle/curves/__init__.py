"""Kinematic curves of a suspension corner over travel and steering, and the formulas of their columns."""
