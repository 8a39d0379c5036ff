"""Analyses: questions to a system whose answers are results."""

from sekant.analyses.assemble import assemble
from sekant.analyses.compliance import LoadCase, identify_compliance, load_ramps, simulated_ramp
from sekant.analyses.equilibrium import Equilibrium, equilibrium
from sekant.analyses.kinematics import kinematics
from sekant.analyses.linear_model import LinearModel
from sekant.analyses.linearize import linearize
from sekant.analyses.modes import Modes
from sekant.analyses.optimize import Optimum, optimize
from sekant.analyses.root_locus import root_locus
from sekant.analyses.simulate import simulate
from sekant.analyses.steady import SteadyMotion, steady_motion
from sekant.analyses.structure import structure
from sekant.analyses.work_precision import WorkPrecision, work_precision

__all__ = [
    "Equilibrium",
    "LinearModel",
    "LoadCase",
    "Modes",
    "Optimum",
    "SteadyMotion",
    "WorkPrecision",
    "assemble",
    "equilibrium",
    "identify_compliance",
    "kinematics",
    "linearize",
    "load_ramps",
    "optimize",
    "root_locus",
    "simulate",
    "simulated_ramp",
    "steady_motion",
    "structure",
    "work_precision",
]
