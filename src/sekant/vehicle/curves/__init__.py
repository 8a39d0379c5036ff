"""Kinematic curves of a suspension corner versus travel and steering, and the formulas of their columns."""
