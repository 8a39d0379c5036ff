"""Vehicles: suspensions from hard points, and their kinematic curves."""

from sekant.vehicle.build import axle, corner, double_wishbone, five_link, formula_student, mcpherson
from sekant.vehicle.curves import suspension_curves
from sekant.vehicle.files import load_suspension
from sekant.vehicle.hardpoints import HardPoints
from sekant.vehicle.suspension import Suspension
from sekant.vehicle.table import SuspensionCurves

__all__ = [
    "HardPoints",
    "Suspension",
    "SuspensionCurves",
    "axle",
    "corner",
    "double_wishbone",
    "five_link",
    "formula_student",
    "load_suspension",
    "mcpherson",
    "suspension_curves",
]
