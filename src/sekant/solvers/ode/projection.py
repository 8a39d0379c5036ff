"""Projection of the state on constraints after every step.

The problem's function makes one Newton step of the projection and returns the error of the given state; it is
repeated until that is within the tolerance. Hairer, Lubich, Wanner: Geometric Numerical Integration, 2nd ed.,
algorithm IV.4.2; a projection along directions that do not vanish keeps the order of the method.
"""

from __future__ import annotations

from sekant.loops.declare.procedures import inner
from sekant.solvers.common.memory import call, set_time
from sekant.solvers.common.vectors import normalize, put

MOST_ITERATIONS = 6
SLACK = 10.0  # a residual may exceed the tolerance by this factor if round-off prevents further reduction


@inner
def _largest(run):
    """The largest residual of all systems; infinite for NaN."""
    found = 0.0
    for k in range(run.projection.residual.size):
        found = max(found, run.projection.residual[k]) if run.projection.residual[k] < 1e100 else 1e300
    return found


@inner
def project(run, function, x, t):
    """Project `x` in place at time t; returns whether it satisfies the constraints. Overwrites `run.stage`.

    `function`: with held modes (`run.projection.held`) or free ones (`run.projection.free`).
    """
    stage, projected, tolerance = run.stage, run.projection.projected, run.projection.tolerance
    set_time(run.clock, t)
    residual = 0.0
    for _ in range(MOST_ITERATIONS):
        put(stage, 0, x)
        call(function)
        residual = _largest(run)
        if residual <= tolerance or not residual < 1e100:
            break
        put(x, 0, projected)
        normalize(x, run.blocks)
    return residual <= SLACK * tolerance
