"""Studies: one analysis for every row of samples, and optimization."""

from sekant.analyses.design.optimize import optimize
from sekant.studies.distributions import LogNormal, Normal, Triangular, TruncatedNormal, Uniform
from sekant.studies.result import SweepResult, open_sweep
from sekant.studies.samples import Samples, grid, latin_hypercube, monte_carlo, one_at_a_time, rows, sobol
from sekant.studies.sweep import Progress, sweep

__all__ = [
    "LogNormal",
    "Normal",
    "Progress",
    "Samples",
    "SweepResult",
    "Triangular",
    "TruncatedNormal",
    "Uniform",
    "grid",
    "latin_hypercube",
    "monte_carlo",
    "one_at_a_time",
    "open_sweep",
    "optimize",
    "rows",
    "sobol",
    "sweep",
]
