"""Analyses: questions to a system whose answers are results."""

from sekant.analyses.assemble import assemble
from sekant.analyses.equilibrium import Equilibrium, equilibrium
from sekant.analyses.kinematics import kinematics
from sekant.analyses.simulate import simulate
from sekant.analyses.structure import structure
from sekant.analyses.work_precision import WorkPrecision, work_precision

__all__ = [
    "Equilibrium",
    "WorkPrecision",
    "assemble",
    "equilibrium",
    "kinematics",
    "simulate",
    "structure",
    "work_precision",
]
