"""Kinematics and compliance of axles: curves over travel, roll and steering, rates under loads, loads on members."""

from sekant.vehicle.kc.compliance import ComplianceTable, axle_compliance
from sekant.vehicle.kc.curves import AxleCurves, axle_curves
from sekant.vehicle.kc.glossary import GLOSSARY, Term
from sekant.vehicle.kc.loads import LoadTable, member_loads
from sekant.vehicle.kc.roles import AxleRoles
from sekant.vehicle.kc.sensitivity import Sensitivities
from sekant.vehicle.kc.standing import standing

__all__ = [
    "GLOSSARY",
    "AxleCurves",
    "AxleRoles",
    "ComplianceTable",
    "LoadTable",
    "Sensitivities",
    "Term",
    "axle_compliance",
    "axle_curves",
    "member_loads",
    "standing",
]
