"""Modes of the sites of a right-hand side over the steps of DOP853: those at a state, and the next change foreseen.

The next crossing is predicted (`aim`) by the cubic through the last two guards and their rates, wherever the break,
or the ones that the site passed before, had to be landed on (`note`).
"""

from __future__ import annotations

from math import inf

from sekant.loops.declare.calls import call_native
from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.modes import decide, outside
from sekant.solvers.common.sites import PIECE
from sekant.solvers.ode.memory import Run

BEYOND = 1.02  # how far a step goes that is to land, over the way to the crossing
REMEMBERED = 8  # breaks for which a site that has to land on one is expected to land again
AT_ONCE = 1e-12  # part of a step within which a mode is left at its start
SAMPLES = 8  # points of a step at which its guards are predicted
HALVINGS = 40


@inner
def guards_at(run, t):
    """g of the state in `run.stage` at time t."""
    run.clock[0] = min(max(t, run.earliest), run.latest)
    call_native(run.guards, run.arg_stage, run.guards_res, run.work)


@procedure(Run, "Dormand-Prince integrator", 0.1)
def settle(run, t, everywhere):
    """Hold at `run.stage` the modes that its guards ask for: of those outside their interval, or (1) of all sites."""
    m = run.modes
    for _ in range(m.kind.size + 1):
        guards_at(run, t)
        changed = False
        for s in range(m.kind.size):
            if (everywhere > 0.0 or outside(m, s, m.g[s]) != 0) and decide(m, s):
                changed = True
        if not changed:
            break
    return 0


@inner
def start_modes(run, t):
    """Modes at the start of a run or of a segment, from the guards alone."""
    m = run.modes
    for j in range(run.x.size):
        run.stage[j] = run.x[j]
    settle(run, t, 1.0)
    for s in range(m.kind.size):
        m.g_start[s] = m.g[s]
        m.flips[s] = 0


@inner
def copy(source, target):
    for s in range(source.size):
        target[s] = source[s]


@inner
def break_on(m, s, side):
    """Index of the break that bounds the piece of site s on a side; -1 for switches."""
    if m.kind[s] != PIECE:
        return -1
    last = m.first[s] + m.count[s] - 1
    return min(max(m.first[s] + m.row[s] - (0 if side > 0 else 1), m.first[s]), last)


@inner
def note(m, landing):
    """Remember for the sites that leave (`side`) whether a step had to land. Modes are those before the change."""
    for s in range(m.kind.size):
        if m.side[s] != 0:
            m.expected[s] = REMEMBERED if landing else 0
            place = break_on(m, s, m.side[s])
            if place >= 0:
                m.rough[place] = 1 if landing else 0


@inner
def rates(run, t, h):
    """Rates of the guards at the start of a step, by a difference along the slope k[0]; the last ones are kept."""
    m = run.modes
    small = 1e-4 * h
    for j in range(run.x.size):
        run.stage[j] = run.x[j] + small * run.k[0, j]
    guards_at(run, t + small)
    if t > run.rates_at:
        run.rates_span, run.rates_at = t - run.rates_at, t
        copy(m.rate, m.rate_before)
        copy(m.g_now, m.g_before)
    for s in range(m.kind.size):
        m.rate[s] = (m.g[s] - m.g_start[s]) / small
        m.g_now[s] = m.g_start[s]


@inner
def _ahead(m, s, span, h):
    """Guard of site s predicted h after the start of the step."""
    if not span > 0.0:
        return m.g_now[s] + h * m.rate[s]
    mean = (m.g_now[s] - m.g_before[s]) / span
    second = (2.0 * m.rate[s] + m.rate_before[s] - 3.0 * mean) / span
    third = (m.rate[s] + m.rate_before[s] - 2.0 * mean) / (span * span)
    return m.g_now[s] + h * (m.rate[s] + h * (second + h * third))


@inner
def aim(run, h):
    """The length of a step that goes a little beyond the next crossing that has to be landed on, or h."""
    m, span = run.modes, run.rates_span
    shortest = h
    for s in range(m.kind.size):
        side = 1 if m.rate[s] > 0.0 else -1
        bound = m.high[s] if side > 0 else m.low[s]
        place = break_on(m, s, side)
        rough = m.rough[place] if place >= 0 else -1
        if not abs(bound) < inf or rough == 0 or (rough < 0 and m.expected[s] == 0):
            continue
        a, b = 0.0, 0.0
        for i in range(1, SAMPLES + 1):
            b = shortest * i / SAMPLES
            if side * (_ahead(m, s, span, b) - bound) > 0.0:
                break
            a = b
        if a < b:
            for _ in range(HALVINGS):
                middle = 0.5 * (a + b)
                if side * (_ahead(m, s, span, middle) - bound) > 0.0:
                    b = middle
                else:
                    a = middle
            if b > AT_ONCE * h:
                shortest = min(shortest, BEYOND * b)
                if rough < 0:
                    m.expected[s] -= 1
    return shortest
