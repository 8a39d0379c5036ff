"""Kinematics and compliance of axles: curves versus travel and steering, compliance, and loads on members."""

from sekant.vehicle.kc.compliance import ComplianceTable as ComplianceTable
from sekant.vehicle.kc.compliance import axle_compliance as axle_compliance
from sekant.vehicle.kc.curves import AxleCurves as AxleCurves
from sekant.vehicle.kc.curves import axle_curves as axle_curves
from sekant.vehicle.kc.glossary import GLOSSARY as GLOSSARY
from sekant.vehicle.kc.glossary import Term as Term
from sekant.vehicle.kc.loads import LoadTable as LoadTable
from sekant.vehicle.kc.loads import member_loads as member_loads
from sekant.vehicle.kc.roles import AxleRoles as AxleRoles
from sekant.vehicle.kc.sensitivity import Sensitivities as Sensitivities
from sekant.vehicle.kc.standing import standing as standing
