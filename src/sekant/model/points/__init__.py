"""Mechanisms modeled with points: points, vectors, parts with mass, joints, constraints, forces; one registry of
`sections`."""

from sekant.model.points.element import Element, register
from sekant.model.points.natural import Natural

__all__ = ["Element", "Natural", "register"]
