"""Events on a step of DOP853: detected at three points, located on its dense output."""

from __future__ import annotations

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.events import events_at, happened, panels_of, pass_by, suspecting
from sekant.solvers.common.landing import NONE, PANELS, landing
from sekant.solvers.common.vectors import normalize, put
from sekant.solvers.ode.dop853_stages import inside, interpolate, prepare_dense
from sekant.solvers.ode.memory import Run
from sekant.solvers.ode.projection import project

NO_EVENT, NO_DENSE_OUTPUT = -1, -2


@inner
def _look(run, watch, t, h, theta, dense):
    """Event functions at a point of the step, on the dense output or on the cubic."""
    inside(run, h, theta, dense)
    events_at(run, t + theta * h)


first_exit, _, _, _ = landing(_look, pass_by)


_suspicious = suspecting(_look)


@inner
def _glance(run, t, h):
    """Whether an event function leaves its sign on the step, judging by the start, middle and end."""
    w = run.watched.watch
    put(run.stage, 0, run.x_old)
    events_at(run, t + h)
    put(w.b, 0, w.value)
    _look(run, w, t, h, 0.5, False)
    put(w.middle, 0, w.value)
    return _suspicious(run, t, h, False)


@procedure(Run, "Dormand-Prince integrator", 0.2)
def find_event(run, t, h):
    """The first event on a trial step that passed, from `run.x` to `run.x_old`, or a code above.

    `run.watched.theta`: the part of the step at which it happens. If there is none, the values are those at the end.
    """
    w, panels = run.watched.watch, panels_of(run, h)
    if not _glance(run, t, h) and panels == PANELS:
        put(w.value, 0, w.b)
        return NO_EVENT
    if run.step.wanted == 0:
        put(run.stage, 0, run.x_old)
        if prepare_dense(run, t, h) >= 0:
            return NO_DENSE_OUTPUT
        run.step.wanted = 1
    theta = first_exit(run, w, t, h, True, panels)
    if theta == NONE:
        return NO_EVENT
    run.watched.theta = theta
    put(w.value, 0, w.b)
    return happened(run.watched)


@inner
def end_at_event(run, t, h):
    """Let the step end at the event, in `run.x_old`; returns whether the state there satisfies the constraints."""
    end, theta = run.x_old, run.watched.theta
    interpolate(run, run.x, theta, end)
    normalize(end, run.blocks)
    return run.projection.held.function == 0 or project(run, run.projection.held, end, t + theta * h)
