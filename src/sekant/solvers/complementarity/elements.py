"""Frictions and contacts: their states, and whether the following motion agrees with these.

A friction sticks (0), slides in a direction (1, -1), or is held: if constraints determine its motion, it
exerts no force until it slips. A contact is open, closed (without slip, if it has friction), or slides in a
direction (2,). Functions return a state with the direction of a contact that slides.
"""

from __future__ import annotations

from math import sqrt

from sekant.loops.declare.procedures import inner
from sekant.solvers.common.vectors import sign_of

STICKS, HELD, OPEN, CLOSED, SLIDES, UNDECIDED = 0, 2, 3, 4, 5, 9
AT_REST = 1e-6  # slip, relative to the width of a friction, up to which it counts as at rest
STARTS = (
    1e-3  # slip of a driven or held joint, relative to the width, above which its friction has a direction
)
TOUCHES = 1e-9  # gap (m or rad) and rate up to which a contact counts as closed
BEYOND = 1e-9  # allowed round-off relative to a limit, or to the rate of slip that it would cause
ASIDE = 1e-6  # angle (rad) between slip and friction up to which they are opposite


@inner
def state_of(m, e):
    """The state that the held values represent."""
    p, place = m.p, m.elements.place
    if e < m.elements.frictions:
        direction = p[place[e, 1]]
        if p[place[e, 0]] != 0.0:
            return STICKS, 0.0, 0.0
        if direction == 0.0 and m.elements.driven[e] == 0:
            return HELD, 0.0, 0.0
        return sign_of(direction), 0.0, 0.0
    if p[place[e, 0]] == 0.0:
        return OPEN, 0.0, 0.0
    if m.elements.rough[e] == 0 or p[place[e, 1]] != 0.0:
        return CLOSED, 0.0, 0.0
    return SLIDES, p[place[e, 2]], p[place[e, 3]]


@inner
def hold(m, e, state, x, y):
    """Set the held values that represent a state."""
    p, place = m.p, m.elements.place
    if e < m.elements.frictions:
        p[place[e, 0]] = 1.0 if state == STICKS and m.elements.driven[e] == 0 else 0.0
        p[place[e, 1]] = 0.0 if state == HELD else float(state)
        return
    p[place[e, 0]] = 0.0 if state == OPEN else 1.0
    if m.elements.rough[e] == 1:
        p[place[e, 1]] = 1.0 if state == CLOSED else 0.0
        p[place[e, 2]] = x if state == SLIDES else 0.0
        p[place[e, 3]] = y if state == SLIDES else 0.0


@inner
def rests(m, e, state):
    """Whether the element is at rest, so that forces decide its state."""
    slip, gap, i = m.values.slip, m.values.gap, m.elements.force[e]
    if e < m.elements.frictions:
        return m.elements.driven[e] == 0 and abs(slip[i]) <= AT_REST * m.values.width[i]
    touching = state != OPEN or gap[e - m.elements.frictions] <= TOUCHES
    return touching and abs(slip[i]) <= TOUCHES


@inner
def closed_state(m, e):
    """State of a closed contact: sliding if it slips."""
    if m.elements.rough[e] == 0:
        return CLOSED, 0.0, 0.0
    slip, i = m.values.slip, m.elements.force[e]
    speed = sqrt(slip[i + 1] * slip[i + 1] + slip[i + 2] * slip[i + 2])
    if speed <= AT_REST * m.elements.width[e]:
        return CLOSED, 0.0, 0.0
    return SLIDES, slip[i + 1] / speed, slip[i + 2] / speed


@inner
def resumed(m, e, state, x, y):
    """Initial state of an element at rest: its previous one, except that a sticking contact slides if an
    impact elsewhere has made it slip."""
    if e < m.elements.frictions:
        return STICKS if state == HELD else state, 0.0, 0.0
    if state == CLOSED:
        return closed_state(m, e)
    return state, x, y


@inner
def moving(m, e, state):
    """The state determined by velocities alone; a driven joint has none while its prescribed motion is at rest."""
    if e >= m.elements.frictions:
        return OPEN
    i = m.elements.force[e]
    if m.elements.driven[e] == 1 and abs(m.values.slip[i]) <= STARTS * m.values.width[i]:
        return state
    return sign_of(m.values.slip[i])


@inner
def _against(force):
    return -1 if force > 0.0 else 1


@inner
def _friction_contradicted(m, e, state, slack):
    i = m.elements.force[e]
    force, limit = m.values.force[i], m.values.limit[i]
    if state == STICKS:
        return UNDECIDED if abs(force) <= limit * (1.0 + slack) else _against(force)
    least = -slack * max(limit, abs(force)) * m.values.mobility[i]
    return STICKS if state * m.values.rate[i] < least else UNDECIDED


@inner
def _tiny_force(m):
    largest = 1e-12
    for i in range(m.values.force.size):
        largest = max(largest, abs(m.values.force[i]))
    return BEYOND * largest


@inner
def _open_contradicted(m, e, slack):
    largest = 0.0
    for i in range(m.values.rate.size):
        largest = max(largest, abs(m.values.rate[i]))
    if m.values.rate[m.elements.force[e]] < -slack * (1.0 + largest):
        return closed_state(m, e)
    return UNDECIDED, 0.0, 0.0


@inner
def contradiction(m, e, state, x, y, slack):
    """A better state if the following motion contradicts the current one; otherwise UNDECIDED."""
    if e < m.elements.frictions:
        return _friction_contradicted(m, e, state, slack), 0.0, 0.0
    if state == OPEN:
        return _open_contradicted(m, e, slack)
    i, force, rate = m.elements.force[e], m.values.force, m.values.rate
    if force[i] < -_tiny_force(m):
        return OPEN, 0.0, 0.0
    if m.elements.rough[e] == 0:
        return UNDECIDED, 0.0, 0.0
    bound = m.values.coefficient[e - m.elements.frictions] * max(force[i], 0.0)
    if state == CLOSED:
        size = sqrt(force[i + 1] * force[i + 1] + force[i + 2] * force[i + 2])
        if size <= bound * (1.0 + slack) + _tiny_force(m):
            return UNDECIDED, 0.0, 0.0
        return SLIDES, -force[i + 1] / size, -force[i + 2] / size
    slipping, _, _ = closed_state(m, e)
    if slipping == SLIDES:
        return UNDECIDED, 0.0, 0.0  # its velocity decides
    along, least = rate[i + 1] * x + rate[i + 2] * y, bound * m.values.mobility[i + 1]
    if along < -slack * least:
        return CLOSED, 0.0, 0.0
    size = sqrt(rate[i + 1] * rate[i + 1] + rate[i + 2] * rate[i + 2])
    if size > 1e-6 * least and along < size * (1.0 - ASIDE * ASIDE):
        return SLIDES, rate[i + 1] / size, rate[i + 2] / size
    return UNDECIDED, 0.0, 0.0


@inner
def after_event(m, e, state, number):
    """A better state after event function `number` of the element has passed zero."""
    i, force = m.elements.force[e], m.values.force
    if e < m.elements.frictions:
        if m.elements.driven[e] == 1:
            return 0 if state != 0 else 1 - 2 * number, 0.0, 0.0
        if state == STICKS:
            return _against(force[i]), 0.0, 0.0
        if state == HELD:
            return -1 if m.values.slip[i] < 0.0 else 1, 0.0, 0.0
        return STICKS, 0.0, 0.0
    if number == 0 and state != OPEN:
        return OPEN, 0.0, 0.0
    if number == 0 or state != CLOSED:
        return closed_state(m, e)  # at rest, or rotated by a right angle since the last event
    size = sqrt(force[i + 1] * force[i + 1] + force[i + 2] * force[i + 2])
    size = size if size > 0.0 else 1.0
    return SLIDES, -force[i + 1] / size, -force[i + 2] / size


@inner
def rows_at_rest(m, e, state):
    """Number of forces, starting with the element's first, whose slip is exactly zero."""
    if e < m.elements.frictions:
        return 1
    if state == OPEN:
        return 0
    return 3 if m.elements.rough[e] == 1 and state == CLOSED else 1


@inner
def watched(m, e):
    """Number of event functions of an element."""
    return 2 if m.elements.driven[e] == 1 or m.elements.rough[e] == 1 else 1


@inner
def choices(m, e):
    """Number of states to try in search of further solutions; 0: there is no choice."""
    if e < m.elements.frictions:
        return 3 if m.elements.coupled[e] == 1 else 0
    if m.elements.rough[e] == 0:
        return 0
    slipping, _, _ = closed_state(m, e)
    return 2 if slipping == SLIDES else 4


@inner
def chosen(m, e, k):
    """State number k of these."""
    if e < m.elements.frictions:
        return 0 if k == 0 else 3 - 2 * k, 0.0, 0.0
    if k == 0:
        return OPEN, 0.0, 0.0
    if k == 1:
        return closed_state(m, e)
    return SLIDES, 5.0 - 2.0 * k, 0.0
