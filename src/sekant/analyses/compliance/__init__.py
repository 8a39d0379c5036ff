"""Stiffnesses of a compliant path or surface joint from load ramps (Hall, 4.1.2)."""

from sekant.analyses.compliance.identify import identify_compliance
from sekant.analyses.compliance.load_case import LoadCase
from sekant.analyses.compliance.ramp import load_ramps, simulated_ramp
from sekant.analyses.compliance.result import Coefficient, IdentifiedCompliance

__all__ = [
    "Coefficient",
    "IdentifiedCompliance",
    "LoadCase",
    "identify_compliance",
    "load_ramps",
    "simulated_ramp",
]
