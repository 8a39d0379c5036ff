"""Analyses: questions to a system whose answers are results."""

from sekant.analyses.assembly.assemble import assemble
from sekant.analyses.compliance import LoadCase, identify_compliance, load_ramps, simulated_ramp
from sekant.analyses.design.optimize import Optimum, optimize
from sekant.analyses.kinematics import kinematics
from sekant.analyses.linear.linear_model import LinearModel
from sekant.analyses.linear.linearize import linearize
from sekant.analyses.linear.modes import Modes
from sekant.analyses.linear.root_locus import root_locus
from sekant.analyses.simulation.simulate import simulate
from sekant.analyses.simulation.work_precision import WorkPrecision, work_precision
from sekant.analyses.statics.equilibrium import Equilibrium, equilibrium
from sekant.analyses.steady.motion import SteadyMotion, steady_motion
from sekant.analyses.structure import structure

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
