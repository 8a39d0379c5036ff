"""Events on a step of Radau IIA: detected on its polynomials, located by steps of the method itself.

Inside a step the collocation polynomials are of lower order than at its end, so a crossing on them is only an
estimate. Steps of other lengths from the same start locate it: each is as accurate as the accepted one.
"""

from __future__ import annotations

from math import nan

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.events import events_at, happened, panels_of, pass_by, suspecting
from sekant.solvers.common.landing import NONE, PANELS, landing, leaves
from sekant.solvers.common.vectors import put, take
from sekant.solvers.dae.memory import DaeMemory, first_not_finite
from sekant.solvers.dae.radau_landing import set_inside
from sekant.solvers.dae.radau_trial import ACCEPTED, prepare_matrices, trial

NO_EVENT, NO_STEP = -1, -2
NEAREST, FARTHER, TRIES = 1e-7, 1e2, 3  # parts of a step: errors of crossings on the polynomials


@inner
def _look(memory, watch, t, h, theta, exactly):
    """Event functions at a point of the step, on its polynomials or at the end of a step to it.

    The end of the trial step is used as it is. Values are not finite if a step fails.
    """
    step = memory.step
    if theta == 1.0 and step.h_trial == h:
        take(memory.stage, step.trial, 0)
    elif exactly:
        memory.newton.factored = 0
        step.h_trial, step.t_trial = theta * h, t + theta * h
        if not prepare_matrices(memory, t, theta * h) or trial(memory, t, theta * h) != ACCEPTED:
            for i in range(watch.value.size):
                watch.value[i] = nan
            return
        take(memory.stage, step.trial, 0)
    else:
        set_inside(memory, t, h, theta)
        put(memory.stage, 0, memory.point.q)
        put(memory.stage, memory.nq, memory.point.v)
    events_at(memory, t + theta * h)


first_exit, _, locate, _ = landing(_look, pass_by)
_suspicious = suspecting(_look)


@inner
def _glance(memory, t, h):
    """Whether an event function changes its sign on the step, according to the start, middle and end."""
    w = memory.watched.watch
    _look(memory, w, t, h, 1.0, False)
    put(w.b, 0, w.value)
    _look(memory, w, t, h, 0.5, False)
    put(w.middle, 0, w.value)
    return _suspicious(memory, t, h, False)


@inner
def _bracket(memory, t, h, theta):
    """Ends of a part of the step within which an event happens, by steps to both, with ``w.a`` and ``w.b`` there.

    `theta`: where it happens on the polynomials. A function may change its sign twice within a small part of
    a step, so the other end is searched from near to far. If both ends are equal, nothing happens up to the
    end of the step. If the first is beyond the second, the polynomials are too inaccurate.
    """
    w, aside = memory.watched.watch, NEAREST
    _look(memory, w, t, h, theta, True)
    if first_not_finite(w.value) >= 0:
        return 1.0, 0.0
    beyond = leaves(w)
    put(w.b if beyond else w.a, 0, w.value)
    for _ in range(TRIES):
        other = theta - aside if beyond else theta + aside
        if other <= 0.0 and beyond:
            put(w.a, 0, w.start)
            return 0.0, theta
        if other >= 1.0:
            break
        _look(memory, w, t, h, other, True)
        if leaves(w) != beyond:
            put(w.a if beyond else w.b, 0, w.value)
            return (other, theta) if beyond else (theta, other)
        aside *= FARTHER
    if beyond:
        return 1.0, 0.0
    _look(memory, w, t, h, theta, True)
    return theta, theta


@procedure(DaeMemory, "Radau integrator", 0.6)
def find_event(memory, t, h):
    """The first event on a trial step that passed, whose end, at `step.t_trial`, is in `step.trial`; -1: none.

    The trial step becomes one of the length `step.h_trial`, which ends at the event, or before one that
    appears only on the polynomials. Event functions have their values at its end. NO_STEP: take a shorter step.
    """
    w, panels = memory.watched.watch, panels_of(memory, h)
    memory.step.h_trial = h
    if not _glance(memory, t, h) and panels == PANELS:
        put(w.value, 0, w.b)
        return NO_EVENT
    theta = first_exit(memory, w, t, h, False, panels)
    if theta == NONE:
        return NO_EVENT
    theta = max(theta, 1e-15 * abs(t) / h, 1e-14)
    low, high = _bracket(memory, t, h, theta)
    if low > high:
        return NO_STEP
    if low < high:
        high = locate(memory, w, t, h, True, low, high)
        _look(memory, w, t, h, high, True)
    if first_not_finite(w.value) >= 0:
        return NO_STEP
    return happened(memory.watched)
