"""Analyses: questions to a system whose answers are results."""

from sekant.analyses.assemble import assemble
from sekant.analyses.simulate import simulate
from sekant.analyses.structure import structure

__all__ = ["assemble", "simulate", "structure"]
