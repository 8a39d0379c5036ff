"""Where on a step of DOP853 a guard leaves the interval of its mode: on the dense output, or on a cubic."""

from __future__ import annotations

from sekant.loops.declare.procedures import inner
from sekant.solvers.common.modes import outside
from sekant.solvers.ode.dop853_modes import copy, guards_at
from sekant.solvers.ode.dop853_stages import interpolate
from sekant.solvers.ode.dop853_tableau import N_STAGES
from sekant.solvers.ode.unit_blocks import normalize

SAMPLES = 8  # points of a step at which guards are looked at for the first exit
MOST_HALVINGS = 80


@inner
def cubic(run, h, theta):
    """stage = the cubic through both ends of the step and their slopes."""
    x, end, k, stage = run.x, run.x_old, run.k, run.stage
    b = theta * theta * (3.0 - 2.0 * theta)
    c = h * theta * (1.0 - theta) * (1.0 - theta)
    d = -h * theta * theta * (1.0 - theta)
    for j in range(x.size):
        stage[j] = x[j] + b * (end[j] - x[j]) + c * k[0, j] + d * k[N_STAGES, j]


@inner
def leaves(m):
    """Whether a guard in G is outside the interval of its mode."""
    found = False
    for s in range(m.kind.size):
        found = found or outside(m, s, m.g[s]) != 0
    return found


@inner
def look(run, t, h, theta, dense):
    """Guards at a point of the step, on the dense output or the cubic; returns whether one is outside."""
    m = run.modes
    if dense:
        interpolate(run, run.x, theta, run.stage)
    else:
        cubic(run, h, theta)
    normalize(run.stage, run.blocks)
    guards_at(run, t + theta * h)
    return leaves(m)


@inner
def _guess(m, a, b, weight_a, weight_b):
    """Where between a and b the first site that is outside at b crosses its bound, by regula falsi."""
    first = b
    for s in range(m.kind.size):
        side = outside(m, s, m.g_b[s])
        if side != 0:
            bound = m.high[s] if side > 0 else m.low[s]
            before, beyond = (
                weight_a * (bound - m.g_a[s]) * side,
                weight_b * (m.g_b[s] - bound) * side,
            )
            if before > 0.0:
                first = min(first, a + (b - a) * before / (before + beyond))
            else:
                first = a
    return first


@inner
def first_exit(run, t, h, dense):
    """The first point of the step at which a guard is outside its interval; 2 if there is none.

    Sites that are outside there get their side. Regula falsi in the form of Illinois between two samples.
    """
    m = run.modes
    a, b = 0.0, 0.0
    copy(m.g_start, m.g_a)
    found = False
    for i in range(1, SAMPLES + 1):
        b = i / SAMPLES
        found = look(run, t, h, b, dense)
        if found:
            break
        copy(m.g, m.g_a)
        a = b
    if not found:
        return 2.0
    copy(m.g, m.g_b)
    finest = max(4e-16 * abs(t) / h, 1e-15)
    weight_a, weight_b, last = 1.0, 1.0, 0
    for _ in range(MOST_HALVINGS):
        if b - a <= finest:
            break
        guess = _guess(m, a, b, weight_a, weight_b)
        if guess - a < 0.25 * finest or b - guess < 0.25 * finest:
            guess = (
                a + 0.5 * (b - a) if last == 0 else min(a + 0.5 * finest, b) if last > 0 else b - 0.5 * finest
            )
        if not a < guess < b:
            guess = a + 0.5 * (b - a)
            if not a < guess < b:
                break
        if look(run, t, h, guess, dense):
            b = guess
            copy(m.g, m.g_b)
            weight_b = 1.0
            weight_a = 0.5 * weight_a if last > 0 else 1.0
            last = 1
        else:
            a = guess
            copy(m.g, m.g_a)
            weight_a = 1.0
            weight_b = 0.5 * weight_b if last < 0 else 1.0
            last = -1
    for s in range(m.kind.size):
        m.side[s] = outside(m, s, m.g_b[s])
    return b


@inner
def turns_outside(m, s):
    """Where the parabola through the guard at start (g_start), middle (g_a) and end (g_b) is outermost; 0: inside."""
    rise, bend = (
        m.g_b[s] - m.g_start[s],
        m.g_b[s] - 2.0 * m.g_a[s] + m.g_start[s],
    )
    if outside(m, s, m.g_a[s]) != 0:
        return 0.5
    if bend == 0.0 or abs(rise) >= 2.0 * abs(bend):
        return 0.0
    theta = 0.5 - 0.25 * rise / bend
    extreme = m.g_a[s] - 0.125 * rise * rise / bend
    return theta if outside(m, s, extreme) != 0 else 0.0
