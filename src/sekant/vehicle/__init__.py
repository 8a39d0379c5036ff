"""Vehicles: suspensions from hard points, and their kinematic curves."""

from sekant.vehicle.build import axle, corner, double_wishbone, five_link, formula_student, mcpherson
from sekant.vehicle.curves import suspension_curves
from sekant.vehicle.files import load_axle, load_suspension
from sekant.vehicle.hardpoints import HardPoints
from sekant.vehicle.kc import (
    AxleCurves,
    AxleRoles,
    ComplianceTable,
    LoadTable,
    axle_compliance,
    axle_curves,
    member_loads,
)
from sekant.vehicle.suspension import Suspension
from sekant.vehicle.table import SuspensionCurves

__all__ = [
    "AxleCurves",
    "AxleRoles",
    "ComplianceTable",
    "HardPoints",
    "LoadTable",
    "Suspension",
    "SuspensionCurves",
    "axle",
    "axle_compliance",
    "axle_curves",
    "corner",
    "double_wishbone",
    "five_link",
    "formula_student",
    "load_axle",
    "load_suspension",
    "mcpherson",
    "member_loads",
    "suspension_curves",
]
