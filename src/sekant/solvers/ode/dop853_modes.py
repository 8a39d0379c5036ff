"""Modes of the sites of a right-hand side over the steps of DOP853: those at a state, and the prediction of
the next change.

The next crossing is predicted (`aim`) by the cubic through the last two guards and their rates, if this
break, or the previous ones of the site, required a landing (`note`).
"""

from __future__ import annotations

from math import inf

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.memory import call, set_time
from sekant.solvers.common.modes import begin_step, settling
from sekant.solvers.common.sites import PIECE
from sekant.solvers.common.vectors import put
from sekant.solvers.ode.memory import Run

BEYOND = 1.02  # length of a step that is to land, relative to the distance to the crossing
REMEMBERED = 8  # number of breaks for which a site is expected to need landings after one
AT_ONCE = 1e-12  # part of a step within which a mode change counts as at its start
SAMPLES = 8  # points of a step at which guards are predicted
HALVINGS = 40


@inner
def guards_at(run, t):
    """Guards of the state in `run.stage` at time t."""
    set_time(run.clock, t)
    call(run.guards)


_settle = settling(guards_at)


@procedure(Run, "Dormand-Prince integrator", 0.1)
def settle(run, t, everywhere):
    """Hold at `run.stage` the modes given by its guards: of those outside their interval, or (1) of all sites."""
    _settle(run, run.modes, t, everywhere > 0.0)
    return 0


@inner
def start_modes(run, t):
    """Modes at the start of a run or of a segment, from the guards alone."""
    put(run.stage, 0, run.x)
    settle(run, t, 1.0)
    begin_step(run.modes)


@inner
def break_on(m, s, side):
    """Index of the break that bounds the piece of site s on a side; -1 for switches."""
    if m.sites.kind[s] != PIECE:
        return -1
    last = m.sites.first[s] + m.sites.count[s] - 1
    return min(max(m.sites.first[s] + m.row[s] - (0 if side > 0 else 1), m.sites.first[s]), last)


@inner
def note(run, landing):
    """For each site that leaves its interval, record whether a step had to land. Modes are those before the
    change."""
    m, seen = run.modes, run.step.forecast
    for s in range(m.sites.kind.size):
        if m.watch.side[s] != 0:
            seen.expected[s] = REMEMBERED if landing else 0
            place = break_on(m, s, m.watch.side[s])
            if place >= 0:
                seen.rough[place] = 1 if landing else 0


@inner
def rates(run, t, h):
    """Rates of the guards at the start of a step, by a difference along the slope k[0]; the previous ones are
    stored."""
    watch, seen = run.modes.watch, run.step.forecast
    small = 1e-4 * h
    for j in range(run.x.size):
        run.stage[j] = run.x[j] + small * run.k[0, j]
    guards_at(run, t + small)
    if t > seen.at:
        seen.span, seen.at = t - seen.at, t
        put(seen.rate_before, 0, seen.rate)
        put(seen.before, 0, seen.now)
    for s in range(watch.value.size):
        seen.rate[s] = (watch.value[s] - watch.start[s]) / small
        seen.now[s] = watch.start[s]


@inner
def _ahead(seen, s, h):
    """Guard of site s predicted h after the start of the step."""
    span = seen.span
    if not span > 0.0:
        return seen.now[s] + h * seen.rate[s]
    mean = (seen.now[s] - seen.before[s]) / span
    second = (2.0 * seen.rate[s] + seen.rate_before[s] - 3.0 * mean) / span
    third = (seen.rate[s] + seen.rate_before[s] - 2.0 * mean) / (span * span)
    return seen.now[s] + h * (seen.rate[s] + h * (second + h * third))


@inner
def aim(run, h):
    """The length of a step that ends a little beyond the next crossing that needs a landing, or h."""
    m, seen = run.modes, run.step.forecast
    shortest = h
    for s in range(m.sites.kind.size):
        side = 1 if seen.rate[s] > 0.0 else -1
        bound = m.watch.high[s] if side > 0 else m.watch.low[s]
        place = break_on(m, s, side)
        rough = seen.rough[place] if place >= 0 else -1
        if not abs(bound) < inf or rough == 0 or (rough < 0 and seen.expected[s] == 0):
            continue
        a, b = 0.0, 0.0
        for i in range(1, SAMPLES + 1):
            b = shortest * i / SAMPLES
            if side * (_ahead(seen, s, b) - bound) > 0.0:
                break
            a = b
        if a < b:
            for _ in range(HALVINGS):
                middle = 0.5 * (a + b)
                if side * (_ahead(seen, s, middle) - bound) > 0.0:
                    b = middle
                else:
                    a = middle
            if b > AT_ONCE * h:
                shortest = min(shortest, BEYOND * b)
                if rough < 0:
                    seen.expected[s] -= 1
    return shortest
