"""Sticking, sliding, touching and separating at events, found by a complementarity step.

At an event, the states of all elements at rest are determined again: the step finds a state of all elements
that the following motion does not contradict. It is found by pivoting on the compiled equations themselves:
all elements that contradict their state change it; if that does not reduce their number, only the first of
them does, which terminates for positive definite matrices (Murty's rule). Elements change in the order of the
model, so the result is reproducible. If the levels of friction do not depend on reactions, the accelerations
are unique. With coefficients of friction they need not be: if there are few other states of elements at rest,
these are tried, and further solutions are reported.
"""

from __future__ import annotations

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.memory import call
from sekant.solvers.complementarity.elements import (
    BEYOND,
    CLOSED,
    HELD,
    OPEN,
    STICKS,
    TOUCHES,
    UNDECIDED,
    after_event,
    choices,
    chosen,
    closed_state,
    contradiction,
    hold,
    moving,
    rests,
    resumed,
    state_of,
    watched,
)
from sekant.solvers.complementarity.impacts import collide
from sekant.solvers.complementarity.memory import Decision
from sekant.solvers.complementarity.rows import find_given, stop_slips

DECIDED, JAMMED, INSIDE = range(3)
"""Return codes of procedures: a solution was found, friction jams, or a contact starts with penetration."""
MOST_ROUNDS = 200
MOST_TRIED = 200  # states of elements at rest that are tried in search of further solutions
PATIENCE = 5
MISSES = 1e-12  # square of the relative error of forces coupled through reactions and friction
JAMS = 1e-3  # margin of the coupling through reactions below which friction jams


@inner
def _evaluate(m):
    m.evaluations += 1
    call(m.at_values)


@inner
def _put(target, e, state, x, y):
    target.state[e], target.way[e, 0], target.way[e, 1] = state, x, y


@inner
def _hold_all(m, source):
    for e in range(source.state.size):
        hold(m, e, source.state[e], source.way[e, 0], source.way[e, 1])


@inner
def _wish_nothing(m):
    for e in range(m.wish.state.size):
        m.wish.state[e] = UNDECIDED


@inner
def _contradictions(m, slack):
    """Number of elements that contradict `states` in the following motion; sets better states in `better`."""
    _hold_all(m, m.states)
    _evaluate(m)
    count = 0
    for e in range(m.resting.size):
        state, x, y = UNDECIDED, 0.0, 0.0
        if m.resting[e] == 1:
            now, way = m.states.state[e], m.states.way
            state, x, y = contradiction(m, e, now, way[e, 0], way[e, 1], slack)
        _put(m.better, e, state, x, y)
        count += 1 if state != UNDECIDED else 0
    return count


@inner
def _pivot(m, slack):
    """Change `states` until no element contradicts them; returns whether this succeeded."""
    fewest, patience = m.resting.size + 1, PATIENCE
    for _ in range(MOST_ROUNDS):
        wrong = _contradictions(m, slack)
        if wrong == 0:
            return True
        if wrong < fewest:
            fewest, patience = wrong, PATIENCE
        else:
            patience -= 1
        first = True
        for e in range(m.resting.size):
            if m.better.state[e] != UNDECIDED:
                if patience > 0 or first:
                    _put(m.states, e, m.better.state[e], m.better.way[e, 0], m.better.way[e, 1])
                first = False
    return False


@inner
def _jams(m):
    """Whether friction has no solution at the values, or Newton's method finds none."""
    found = not m.values.miss[0] < MISSES
    for k in range(m.values.margin.size):
        found = found or m.values.margin[k] <= JAMS
    return found


@inner
def _differs(m):
    """Whether `states` differ from `found`."""
    other = False
    for e in range(m.states.state.size):
        other = other or m.states.state[e] != m.found.state[e]
        other = other or m.states.way[e, 0] != m.found.way[e, 0] or m.states.way[e, 1] != m.found.way[e, 1]
    return other


@inner
def _try_next(m):
    """The next combination of choices; returns whether there is one."""
    for e in range(m.choice.size):
        if m.resting[e] == 1 and choices(m, e) > 0:
            m.choice[e] += 1
            if m.choice[e] < choices(m, e):
                return True
            m.choice[e] = 0
    return False


@inner
def _look_for_others(m):
    """Try the other states of elements at rest; `several`: there is a further solution in addition to `states`."""
    combinations, scale = 1.0, 1e-12
    for e in range(m.choice.size):
        m.choice[e] = 0
        if m.resting[e] == 1 and choices(m, e) > 0:
            combinations *= choices(m, e)
        _put(m.found, e, m.states.state[e], m.states.way[e, 0], m.states.way[e, 1])
    if combinations == 1.0 or combinations > MOST_TRIED:
        return
    rate = m.rows.slip  # of the solution
    for i in range(rate.size):
        rate[i] = m.values.rate[i]
        scale = max(scale, abs(m.values.force[i]) * m.values.mobility[i])
    more = True
    while more and m.several == 0:
        for e in range(m.choice.size):
            if m.resting[e] == 1 and choices(m, e) > 0:
                state, x, y = chosen(m, e, m.choice[e])
                _put(m.states, e, state, x, y)
        if _differs(m) and _contradictions(m, BEYOND) == 0 and m.values.miss[0] < MISSES:
            for i in range(rate.size):
                if abs(m.values.rate[i] - rate[i]) > 1e-6 * scale:
                    m.several = 1
        more = _try_next(m)
    for e in range(m.choice.size):
        _put(m.states, e, m.found.state[e], m.found.way[e, 0], m.found.way[e, 1])


@inner
def _begin(m):
    """Set the initial states of pivoting, and the elements that are to be decided."""
    for e in range(m.resting.size):
        before, x, y = state_of(m, e)
        _put(m.before, e, before, x, y)
        still, wish, m.resting[e] = rests(m, e, before), m.wish.state[e], 0
        if m.given[e] == 1 and (still or wish == STICKS):
            _put(m.states, e, HELD, 0.0, 0.0)
            continue
        slips = before == HELD and not still  # for example a joint that passes the end of its stroke
        if (still or (wish != UNDECIDED and not slips)) and m.given[e] == 0 and m.elements.driven[e] == 0:
            m.resting[e] = 1
        if wish != UNDECIDED:
            _put(m.states, e, wish, m.wish.way[e, 0], m.wish.way[e, 1])
        elif still:
            state, x, y = resumed(m, e, before, x, y)
            _put(m.states, e, state, x, y)
        else:
            _put(m.states, e, moving(m, e, before), 0.0, 0.0)


@inner
def _is_still(state):
    return state in (STICKS, CLOSED)


@procedure(Decision, "contacts and friction", 1.2)
def decide(m, slack, wishing):
    """Decide the states of all elements at rest, with round-off up to `slack`; returns a code above.

    `wishing`: 1 if `wish` contains the initial states, else 0.
    """
    if wishing == 0.0:
        _wish_nothing(m)
    _evaluate(m)
    find_given(m)
    _begin(m)
    stop_slips(m)
    if not _pivot(m, slack):
        return JAMMED
    if m.elements.reactive == 1:
        if _jams(m):
            return JAMMED
        if m.several == 0:
            _look_for_others(m)
    _hold_all(m, m.states)
    for e in range(m.states.state.size):
        before, state = m.before.state[e], m.states.state[e]
        m.sticks += 1 if not _is_still(before) and before != OPEN and _is_still(state) else 0
        m.slips += 1 if _is_still(before) and not _is_still(state) and state != OPEN else 0
    return DECIDED


@procedure(Decision, "contacts and friction", 0.3)
def begin(m, a, b):
    """Decide at the start of a run; closed contacts that are still closing have an impact. Returns a code above."""
    sticks, slips = m.sticks, m.slips
    for e in range(m.elements.frictions, m.resting.size):
        _evaluate(m)
        gap, rate = m.values.gap[e - m.elements.frictions], m.values.slip[m.elements.force[e]]
        if gap < -TOUCHES:
            m.blame = e
            return INSIDE
        if gap <= TOUCHES and rate < 0.0:
            collide(m, float(e), 0.0)
    code = decide(m, BEYOND, 0.0)
    m.sticks, m.slips = sticks, slips
    return code


@procedure(Decision, "contacts and friction", 0.3)
def react(m, number, lenient):
    """React to the zero crossing of event function `number` of all elements; returns a code above.

    `lenient`: 1 if the same has already happened at this time, so that more round-off is allowed.
    """
    k = int(number)
    for e in range(m.resting.size):
        if k < watched(m, e):
            _wish_nothing(m)
            state, x, y = state_of(m, e)
            if state == OPEN and k == 0:
                m.impacts += 1
                stays = collide(m, float(e), 0.0)
                _evaluate(m)
                if stays == 1:
                    state, x, y = closed_state(m, e)
                    _put(m.wish, e, state, x, y)
                return decide(m, BEYOND, 1.0)
            _evaluate(m)
            state, x, y = after_event(m, e, state, k)
            _put(m.wish, e, state, x, y)
            return decide(m, 1e3 * BEYOND if lenient > 0.0 else BEYOND, 1.0)
        k -= watched(m, e)
    return JAMMED


@procedure(Decision, "contacts and friction", 0.1)
def follow(m, number, lenient):
    """Like `react`, for event functions that are already below zero: a contact that is already opening has
    had its impact."""
    k = int(number)
    _evaluate(m)
    for e in range(m.resting.size):
        if k == 0 and e >= m.elements.frictions:
            state, _, _ = state_of(m, e)
            if state == OPEN and m.values.slip[m.elements.force[e]] >= 0.0:
                return DECIDED
        k -= watched(m, e)
    return react(m, number, lenient)
