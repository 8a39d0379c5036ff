"""The search for the point of a step at which a watched value leaves its interval. All integrators use it.

Watched values (`Watch`) are guards of sites, with the interval of their mode, and event functions, with their
sign. An integrator provides their evaluation on its step, ``look(m, w, t, h, theta, how)``: it puts the values
at the part theta of the step of length h from time t into ``w.value``, on a dense output or by a step of
another length. `landing` makes the search from it, which samples a step in panels of two halves. If a value is
inside at the ends and in the middle of a panel, but the parabola through these points has its extremum close to
the bound or beyond it, the value is evaluated at the extremum. In this way, a value that leaves and comes back
within a panel is also found, if the panel is short enough for the parabola to show it. A crossing between two
points is located to round-off of time.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.loops.declare.procedures import inner
from sekant.loops.declare.structs import Integer, Integers, Real, Struct, Vector
from sekant.solvers.common.outcome import CHATTERING, MORE, STEP_TOO_SMALL
from sekant.solvers.common.vectors import put

NEGLIGIBLE = 0.1  # of the tolerance: allowed error of stepping over a change
PANELS = 4  # of a step
NEAR = (
    0.2  # of the change of a value in a panel: distance from the bound below which an extremum is evaluated
)
PROBES = 3  # evaluations of an extremum
MOST_HALVINGS = 80
BISECTIONS = 12  # to find a point in a piece
NONE = 2.0  # the result if nothing is found
LEAST = 5e-324  # an event function has left its sign at zero, that is below the smallest positive number
AT_REST = 8.0  # times its value at the start of a step: how far a value may leave an interval that is a point
WINDOW = 1000  # trials after which the progress of a run is checked
ENDLESS = 1e6  # predicted number of remaining trials above which a run counts as chattering
STALLED = 1e8  # the same with many rejected trials: then the step counts as too small


class Watch(Struct):
    """Values (n,) that are watched over a step, each within [low, high]."""

    value: Vector  # where the function writes them
    low: Vector
    high: Vector
    counts: Integers  # 1 if steps must end where the value leaves the interval
    start: Vector  # at the start of the step
    a: Vector  # at both ends and in the middle of a panel or of a bracket
    middle: Vector
    b: Vector
    side: Integers  # side to which it leaves: -1, 0, 1


def lay_out_watch(n: int) -> Watch:
    """Allocate memory for values without bounds."""
    whole: NDArray[np.int64] = np.zeros(n, dtype=np.int64)
    return Watch(
        low=np.full(n, -np.inf),
        high=np.full(n, np.inf),
        counts=whole + 1,
        side=whole,
        **{name: np.zeros(n) for name in ("value", "start", "a", "middle", "b")},
    )


@inner
def outside(w, i, value):
    """The side (-1, 1) on which a value is outside the interval of i; 0: inside, or not finite.

    An interval that is a point was reached by a landing, which is exact only up to round-off. A value that is
    zero at the start of the step and stays zero, such as that of `x*y < 0` while x is constrained to zero,
    counts as outside of either sign.
    """
    low, high, slack = w.low[i], w.high[i], 0.0
    if low == high:
        slack = AT_REST * abs(w.start[i])
    elif value == 0.0 and w.start[i] == 0.0 and high - low == inf and (low == 0.0 or high == 0.0):
        return -1 if low == 0.0 else 1
    return 1 if value > high + slack else -1 if value < low - slack else 0


@inner
def leaves(w):
    """Whether a value that counts is outside its interval."""
    found = False
    for i in range(w.value.size):
        found = found or (w.counts[i] != 0 and outside(w, i, w.value[i]) != 0)
    return found


@inner
def note_sides(w):
    """Store the sides on which the values at the end of the bracket are outside."""
    for i in range(w.value.size):
        w.side[i] = outside(w, i, w.b[i])


@inner
def nothing(m, w):
    """The `pass_by` of values whose crossings all count."""


@inner
def _turn(w, i, a, middle, b, at_a, at_middle, at_b):
    """The point at which value i has an extremum close to its bound or beyond it, by the parabola through
    three points inside; 0: none."""
    if outside(w, i, at_a) != 0 or outside(w, i, at_middle) != 0 or outside(w, i, at_b) != 0:
        return 0.0
    rise = (at_middle - at_a) / (middle - a)
    bend = ((at_b - at_middle) / (b - middle) - rise) / (b - a)
    if not abs(bend) > 0.0:
        return 0.0
    theta = 0.5 * (a + middle - rise / bend)
    if not a < theta < b:
        return 0.0
    extreme = at_a + (theta - a) * (rise + (theta - middle) * bend)
    gap = w.high[i] - extreme if bend < 0.0 else extreme - w.low[i]
    depth = max(abs(extreme - at_a), abs(extreme - at_b))
    return theta if gap <= NEAR * depth else 0.0


@inner
def turns(w, a, middle, b):
    """Whether a value has an extremum close to its bound between a and b, by ``w.a``, ``w.middle`` and ``w.b``."""
    found = False
    for i in range(w.value.size):
        found = found or _turn(w, i, a, middle, b, w.a[i], w.middle[i], w.b[i]) > 0.0
    return found


@inner
def _guess(w, a, b, finest, weight_a, weight_b, last):
    """Estimate where between a and b the first value that is outside at b leaves its interval; a if there is
    no number between them.

    Regula falsi (Illinois), at least `finest` from both ends. `last`: side (1: b, -1: a) of the previous
    guess.
    """
    guess = b
    for i in range(w.value.size):
        side = outside(w, i, w.b[i])
        if side != 0 and w.counts[i] != 0:
            bound = w.high[i] if side > 0 else w.low[i]
            before, beyond = weight_a * (bound - w.a[i]) * side, weight_b * (w.b[i] - bound) * side
            guess = min(guess, a + (b - a) * before / (before + beyond)) if before > 0.0 else a
    if guess - a < 0.25 * finest or b - guess < 0.25 * finest:
        guess = a + 0.5 * (b - a)
        if last != 0:
            guess = min(a + 0.5 * finest, b) if last > 0 else b - 0.5 * finest
    if not a < guess < b:
        guess = a + 0.5 * (b - a)
    return guess if a < guess < b else a


def landing(look: Callable[..., Any], pass_by: Callable[..., Any] = nothing) -> tuple[Any, Any, Any, Any]:
    """The search on steps that `look` evaluates: `first_exit`, `excursion`, `locate`, `reach`.

    ``pass_by(m, w)`` adopts the values outside in ``w.value`` that do not count.
    """

    @inner
    def locate(m, w, t, h, how, a, b):
        """The point between a (values ``w.a``), where nothing is outside, and b (``w.b``), where something
        is, where that value leaves. Its values are in ``w.b``."""
        finest = max(4e-16 * abs(t) / h, 1e-15)
        weight_a, weight_b, last = 1.0, 1.0, 0
        width = b - a
        for tried in range(1, MOST_HALVINGS):
            guess = _guess(w, a, b, finest, weight_a, weight_b, last)
            if tried % 3 == 0:  # a value on its bound at a does not help to locate where it leaves
                guess = a + 0.5 * (b - a) if b - a > 0.5 * width else guess
                width = b - a
            if b - a <= finest or guess == a:
                break
            look(m, w, t, h, guess, how)
            if leaves(w):
                b = guess
                put(w.b, 0, w.value)
                weight_a, weight_b, last = 0.5 * weight_a if last > 0 else 1.0, 1.0, 1
            else:
                a = guess
                put(w.a, 0, w.value)
                weight_a, weight_b, last = 1.0, 0.5 * weight_b if last < 0 else 1.0, -1
        return b

    @inner
    def excursion(m, w, t, h, how, a, b):
        """A point between a (``w.a``) and b (``w.b``) at which a value is outside that is inside at both and in the
        middle (``w.middle``); its values are in ``w.value``. 0: none is found."""
        for i in range(w.value.size):
            left, center, right = a, 0.5 * (a + b), b
            at_left, at_center, at_right = w.a[i], w.middle[i], w.b[i]
            for _ in range(PROBES):
                theta = _turn(w, i, left, center, right, at_left, at_center, at_right)
                if theta == 0.0 or theta == center:
                    break
                look(m, w, t, h, theta, how)
                here = w.value[i]
                if outside(w, i, here) != 0:
                    return theta
                rises = (here - at_center) * (at_center - 0.5 * (at_left + at_right)) > 0.0
                if rises and theta < center:
                    right, at_right, center, at_center = center, at_center, theta, here
                elif rises:
                    left, at_left, center, at_center = center, at_center, theta, here
                elif theta < center:
                    left, at_left = theta, here
                else:
                    right, at_right = theta, here
        return 0.0

    @inner
    def first_exit(m, w, t, h, how, panels):
        """The first point of the step, in (0, 1], at which a value that counts is outside its interval; `NONE`.

        Sides and values there are in ``w.side`` and ``w.b``; without one, ``w.value`` holds the values at the end.
        """
        b = 0.0
        put(w.a, 0, w.start)
        for i in range(panels):
            a, middle, b = b, (i + 0.5) / panels, (i + 1.0) / panels
            look(m, w, t, h, middle, how)
            put(w.b, 0, w.value)
            if leaves(w):
                b = locate(m, w, t, h, how, a, middle)
                note_sides(w)
                return b
            put(w.middle, 0, w.value)
            look(m, w, t, h, b, how)
            put(w.b, 0, w.value)
            theta = excursion(m, w, t, h, how, a, b)
            if theta > 0.0 and leaves(w):
                put(w.b, 0, w.value)
                b = locate(m, w, t, h, how, a, theta)
                note_sides(w)
                return b
            if theta > 0.0:
                pass_by(m, w)
                put(w.a, 0, w.value)
            else:
                put(w.value, 0, w.middle)
                pass_by(m, w)
                put(w.a, 0, w.middle)
                theta = middle
            put(w.value, 0, w.b)
            if leaves(w):
                b = locate(m, w, t, h, how, theta, b)
                note_sides(w)
                return b
            pass_by(m, w)
            put(w.a, 0, w.b)
        return NONE

    @inner
    def reach(m, w, t, h, how, i, target, side):
        """The point of the step at which value i passes `target` to the side; the last point evaluated."""
        a, b = 0.0, 1.0
        for _ in range(BISECTIONS):
            middle = 0.5 * (a + b)
            look(m, w, t, h, middle, how)
            if side * (w.value[i] - target) > 0.0:
                b = middle
            else:
                a = middle
        look(m, w, t, h, b, how)
        return b

    return first_exit, excursion, locate, reach


class Pace(Struct):
    """Counts and time at the start of the trials from which progress is measured."""

    trials: Integer
    landings: Integer
    rejected: Integer
    start: Real


@inner
def endless(pace, counts, t, end):
    """Whether the last thousand trials show that the run would not end, and why: CHATTERING if a site
    changes back and forth, STEP_TOO_SMALL if many trials are rejected, as on the way to a dead point; else MORE.
    """
    trials = counts.steps + counts.rejected
    if trials - pace.trials < WINDOW:
        return MORE
    landed, failed = counts.landings - pace.landings, counts.rejected - pace.rejected
    gained, left = t - pace.start, end - t
    pace.trials, pace.landings, pace.rejected, pace.start = trials, counts.landings, counts.rejected, t
    if 5 * landed > WINDOW and left * WINDOW > ENDLESS * gained:
        return CHATTERING
    return STEP_TOO_SMALL if 4 * failed > WINDOW and left * WINDOW > STALLED * gained else MORE
