"""Events on a step of DOP853: suspected on three points of it, looked for on its dense output.

Over a step that is a large part of the run they are looked for every hundredth of the run: where the motion is simple
the steps are long, and a function of it, such as a distance, may come and go within one.
"""

from __future__ import annotations

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.landing import NONE, PANELS, landing, outside, turns
from sekant.solvers.common.unit_blocks import normalize
from sekant.solvers.common.vectors import put
from sekant.solvers.ode.dop853_stages import inside, interpolate, prepare_dense
from sekant.solvers.ode.events import (
    JUST_AFTER,
    ON_ZERO,
    events_at,
    happened,
    pass_by,
    sign_of,
    take_signs,
)
from sekant.solvers.ode.memory import Run
from sekant.solvers.ode.projection import project

NO_EVENT, NO_DENSE_OUTPUT = -1, -2
LOOKS = 50  # panels over a run, at least


@inner
def _look(run, watch, t, h, theta, dense):
    """Event functions at a point of the step, on the dense output or on the cubic."""
    inside(run, h, theta, dense)
    events_at(run, t + theta * h)


first_exit, _, _, _ = landing(_look, pass_by)


@inner
def _panels(run, h):
    """In how many parts of a step of length h events are looked for."""
    span = run.plan.edges[run.plan.edges.size - 1] - run.plan.edges[0]
    return max(PANELS, min(int(LOOKS * h / span) + 1, LOOKS))


@inner
def _leave_zero(run, t, h):
    """Signs of event functions that begin on zero: those just after the start of the first step."""
    w, sign = run.watched.watch, run.watched.sign
    _look(run, w, t, h, JUST_AFTER, False)
    for i in range(sign.size):
        largest = max(abs(w.middle[i] - w.start[i]), abs(w.b[i] - w.start[i]))
        if abs(w.start[i]) <= ON_ZERO * largest:
            sign[i] = sign_of(w.value[i])


@inner
def _suspicious(run, t, h):
    """Whether an event function leaves its sign on the step, as far as start, middle and end tell."""
    w = run.watched.watch
    put(w.a, 0, w.start)
    put(run.stage, 0, run.x_old)
    events_at(run, t + h)
    put(w.b, 0, w.value)
    _look(run, w, t, h, 0.5, False)
    put(w.middle, 0, w.value)
    if run.counts.steps == 0:
        _leave_zero(run, t, h)
    take_signs(run.watched)
    found = False
    for i in range(w.value.size):
        found = found or outside(w, i, w.middle[i]) != 0 or outside(w, i, w.b[i]) != 0
    return found or turns(w, 0.0, 0.5, 1.0)


@procedure(Run, "Dormand-Prince integrator", 0.2)
def find_event(run, t, h):
    """The first event on a trial step that passed, from `run.x` to `run.x_old`, or a code above.

    `run.watched.theta`: the part of the step at which it happens. Without one, the values are those at the end.
    """
    w, panels = run.watched.watch, _panels(run, h)
    if not _suspicious(run, t, h) and panels == PANELS:
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
