"""Events on a step of DOP853: suspected on three points of it, looked for on nine, located to round-off of time.

Over a step that is a large part of the run they are looked for every hundredth of the run: where the motion is simple
the steps are long, and a function of it, such as a distance, may come and go within one. A function that leaves its
sign and comes back within an eighth of a step, and within a hundredth of the run, may be missed.
"""

from __future__ import annotations

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.vectors import put
from sekant.solvers.ode.dop853_exits import SAMPLES, cubic
from sekant.solvers.ode.dop853_stages import interpolate, prepare_dense
from sekant.solvers.ode.events import (
    JUST_AFTER,
    MOST_HALVINGS,
    ON_ZERO,
    events_at,
    happened,
    next_guess,
    pass_on,
    sign_of,
)
from sekant.solvers.ode.memory import Run
from sekant.solvers.ode.projection import project
from sekant.solvers.ode.unit_blocks import normalize

NO_EVENT, NO_DENSE_OUTPUT = -1, -2
LOOKS = 100  # at least, over a run
NEAR = (
    0.2  # part of its range on the step by which a parabola may miss the extreme value of an event function
)


@inner
def _points(run, h):
    """At how many points of a step of length h events are looked for."""
    span = run.edges[run.edges.size - 1] - run.edges[0]
    return max(SAMPLES, min(int(LOOKS * h / span) + 1, LOOKS))


@inner
def _look(run, t, h, theta, dense):
    """e at a point of the step, on the dense output or on the cubic."""
    if dense:
        interpolate(run, run.x, theta, run.stage)
    else:
        cubic(run, h, theta)
    normalize(run.stage, run.blocks)
    events_at(run, t + theta * h)


@inner
def _turns(start, middle, end, sign):
    """Whether a function with these three values may leave its sign between them and come back, by a parabola."""
    rise, bend = end - start, end - 2.0 * middle + start
    if bend == 0.0 or abs(rise) >= 2.0 * abs(bend):
        return False
    extreme = sign * (middle - 0.125 * rise * rise / bend)
    return extreme <= NEAR * (max(sign * start, sign * end) - extreme)


@inner
def _suspicious(run, t, h):
    """Whether an event function leaves its sign on the step, as far as start, middle and end tell."""
    e, sign, start, middle, end = run.e, run.sign, run.e_start, run.e_a, run.e_b
    put(run.stage, 0, run.x_old)
    events_at(run, t + h)
    put(end, 0, e)
    _look(run, t, h, 0.5, False)
    put(middle, 0, e)
    if run.steps == 0:
        _look(run, t, h, JUST_AFTER, False)
    found = False
    for i in range(e.size):
        if run.steps == 0:
            largest = max(abs(middle[i] - start[i]), abs(end[i] - start[i]))
            if abs(start[i]) <= ON_ZERO * largest:
                sign[i] = sign_of(e[i])
        run.sign_now[i] = sign[i]
        if sign[i] != 0:
            left = sign[i] * middle[i] <= 0.0 or sign[i] * end[i] <= 0.0
            found = found or left or _turns(start[i], middle[i], end[i], sign[i])
    return found


@inner
def _locate(run, t, h, a, b):
    """The first point between a, where no event has happened, and b, where one has; leaves e there in e_b."""
    finest = max(4e-16 * abs(t) / h, 1e-15)
    weight_a, weight_b, last = 1.0, 1.0, 0
    for _ in range(MOST_HALVINGS):
        guess = next_guess(run, a, b, finest, weight_a, weight_b, last)
        if b - a <= finest or guess == a:
            break
        _look(run, t, h, guess, True)
        if happened(run) >= 0:
            b = guess
            put(run.e_b, 0, run.e)
            weight_a, weight_b, last = 0.5 * weight_a if last > 0 else 1.0, 1.0, 1
        else:
            a = guess
            put(run.e_a, 0, run.e)
            weight_a, weight_b, last = 1.0, 0.5 * weight_b if last < 0 else 1.0, -1
    put(run.e, 0, run.e_b)
    return b


@procedure(Run, "Dormand-Prince integrator", 0.2)
def find_event(run, t, h):
    """The first event on a trial step that passed, from `run.x` to `run.x_old`, or a code above.

    `run.theta_event`: the part of the step at which it happens. Without one, e holds the values at the end.
    """
    points = _points(run, h)
    if not _suspicious(run, t, h) and points == SAMPLES:
        put(run.e, 0, run.e_b)
        return NO_EVENT
    if run.wanted == 0:
        put(run.stage, 0, run.x_old)
        if prepare_dense(run, t, h) >= 0:
            return NO_DENSE_OUTPUT
        run.wanted = 1
    a = 0.0
    put(run.e_a, 0, run.e_start)
    for i in range(1, points + 1):
        b = i / points
        _look(run, t, h, b, True)
        if happened(run) >= 0:
            put(run.e_b, 0, run.e)
            run.theta_event = _locate(run, t, h, a, b)
            return happened(run)
        pass_on(run)
        put(run.e_a, 0, run.e)
        a = b
    return NO_EVENT


@inner
def end_at_event(run, t, h):
    """Let the step end at the event, in `run.x_old`; returns whether the state there satisfies the constraints."""
    end, theta = run.x_old, run.theta_event
    interpolate(run, run.x, theta, end)
    normalize(end, run.blocks)
    return run.projection == 0 or project(run, end, t + theta * h, run.arg_projection)
