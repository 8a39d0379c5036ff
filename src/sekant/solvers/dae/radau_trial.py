"""A trial step of Radau IIA: its matrices, Newton's iteration, the error, and the end of the step."""

from __future__ import annotations

from math import inf, isfinite

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.dae.active_rows import ALL, select_rows
from sekant.solvers.dae.memory import DaeMemory
from sekant.solvers.dae.radau_error import estimate
from sekant.solvers.dae.radau_newton import BAD, CONVERGED, evaluate_jacobian, factorize, iterate
from sekant.solvers.dae.radau_step import end_of_step, predict

# Outcome of a trial step.
ACCEPTED, TOO_INACCURATE, DIVERGED, BAD_NUMBER, BAD_CONSTRAINT = range(5)


@procedure(DaeMemory, "Radau integrator", 0.4)
def trial(memory, t, h):
    """One trial step to `step.t_trial`, with its end in `step.trial`; returns the outcome.

    Sets `step.blame`, `step.error` and the results of `iterate`.
    """
    step = memory.step
    predict(memory, t, h)
    outcome = iterate(memory, t, h)
    if outcome != CONVERGED:
        step.blame = _state_of(memory, step.blame)
        return BAD_NUMBER if outcome == BAD else DIVERGED
    bad = estimate(memory, t, h)
    if bad >= 0 or not isfinite(step.error):
        step.blame = _state_of(memory, max(bad, 0))
        return BAD_NUMBER
    if step.error >= 1.0:
        return TOO_INACCURATE
    row, bad = end_of_step(memory, t, step.t_trial, h)
    if row >= 0 or bad >= 0:
        step.blame = max(row, bad)  # otherwise it remains the component with the largest error
        return BAD_CONSTRAINT if row >= 0 else BAD_NUMBER
    return ACCEPTED


@inner
def _state_of(memory, unknown):
    """Index in x of an unknown or row of Newton's iteration; -1 for multipliers."""
    curved = memory.curved
    if unknown < memory.nv:
        return memory.nq + unknown
    if unknown < memory.nv + curved.size:
        return curved[unknown - memory.nv]
    return -1


@inner
def prepare_matrices(memory, t, h):
    """Compute the matrices for this step if the last ones cannot be reused; returns whether they are finite."""
    newton = memory.newton
    if newton.factored == 1:
        return True
    if newton.fresh == 0:
        if memory.active.selecting != ALL and select_rows(memory, t, 0.0) == 1:
            memory.step.ceiling = inf
        if not evaluate_jacobian(memory, t):
            return False
        newton.fresh = 1
    newton.factored = 1
    return factorize(memory, h, 0.0) == 0
