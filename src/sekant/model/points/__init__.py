"""Mechanisms in points: points, vectors, parts with mass, joints, constraints, forces; one registry of sections.

The sections are composed in the order in which they are registered here.
"""

from sekant.model.points import places, masses, constraints, joints, motions, loads  # noqa: I001  the order matters
from sekant.model.points.element import SECTIONS, Element, element_class, register
from sekant.model.points.natural import Natural

__all__ = [
    "SECTIONS",
    "Element",
    "Natural",
    "constraints",
    "element_class",
    "joints",
    "loads",
    "masses",
    "motions",
    "places",
    "register",
]
