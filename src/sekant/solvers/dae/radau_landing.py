"""Landing of Radau IIA where a site changes its mode: on breaks of tables and curves, signs, comparisons, floors.

Modes (see `sekant.solvers.common.modes`) are held within a step, so that its stages see one smooth system. Where a
guard has left its interval by the end of a step, or at a stage, the residuals there, and in every piece of a table
that the step went over, are compared to those with the modes that belong there; the Newton matrix turns the largest
difference into one of velocities,

    cost = (1 - theta) mu h ||K^-1 (F_new - F_old)|| ,   theta: where on the step the guard left,

which is what the step is off by having gone on in the old modes. A step that costs at most a tenth of the tolerance
stands, and the next one starts in the new modes. Any other is repeated so that it ends just beyond the crossing:
inside a step the collocation polynomial is of lower order than at its end, so a crossing found on it is but a guess,
and the repeated step is judged by the same rule.
"""

from __future__ import annotations

from math import inf, sqrt

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.modes import (
    MOST_BREAKS,
    decide,
    farthest_site,
    inside_piece,
    keep,
    outside,
    pieces_passed,
    restore,
)
from sekant.solvers.common.outcome import CHATTERING, MORE, STEP_TOO_SMALL
from sekant.solvers.common.vectors import clear, put, take
from sekant.solvers.dae.calls import first_not_finite, guards, residual, set_state, set_time
from sekant.solvers.dae.memory import DaeMemory
from sekant.solvers.dae.radau_newton import scale_right_side, set_stage, solve_real
from sekant.solvers.dae.radau_tableau import MU_REAL, C

# What `watch` finds.
STANDS, TURNED, REPEAT = range(3)
NEGLIGIBLE = 0.1  # of the tolerance: what stepping over a change may cost
BEYOND = 0.02  # most of a step by which its repetition goes beyond the crossing
LEAST_MARGIN = 1e-12  # of a step, so that it ends beyond the crossing
HALVINGS = 50
BISECTIONS = 12  # to find a point in a piece
ENDLESS = 1e6  # trials that a run may have left, by the last thousand, before it is given up as chattering
STALLED = 1e8  # the same, where many trials are rejected, before the step counts as too small
WINDOW = 1000


@inner
def _leaves(m):
    """Whether a guard is outside the interval of its mode."""
    found = False
    for s in range(m.kind.size):
        found = found or outside(m, s, m.g[s]) != 0
    return found


@inner
def _settle(memory, everywhere):
    """Hold at the point the modes that its guards ask for. Sets SITE to one that has changed."""
    m = memory.modes
    for _ in range(m.kind.size + 1):
        guards(memory)
        changed = False
        for s in range(m.kind.size):
            if (everywhere or outside(m, s, m.g[s]) != 0) and decide(m, s):
                changed = True
                memory.site = s
        if not changed:
            break


@inner
def _mark(m):
    for s in range(m.kind.size):
        m.g_start[s] = m.g[s]


@procedure(DaeMemory, "Radau integrator", 0.2)
def settle(memory, t, everywhere):
    """Modes at the present state from the guards: of all sites (1), or of those outside their interval (0)."""
    set_time(memory, t)
    set_state(memory, memory.x)
    put(memory.a, 0, memory.a_now)
    put(memory.lam, 0, memory.lam_now)
    _settle(memory, everywhere == 1.0)
    _mark(memory.modes)
    return 0


@inner
def _set_end(memory, t_new):
    """Make the projected end of the trial step the point."""
    set_time(memory, t_new)
    set_state(memory, memory.trial)
    put(memory.a, 0, memory.za[2])
    lam, Z = memory.lam, memory.z[2]
    take(lam, Z, Z.size - lam.size)


@inner
def _set_inside(memory, t, h, theta):
    """Make a point of the trial step's polynomials the point; a and lam are those of the parabolas by the stages."""
    x, q, v, a, lam = memory.x, memory.q, memory.v, memory.a, memory.lam
    stage_q, stage_a, Z = memory.zq, memory.za, memory.z
    first = Z.shape[1] - lam.size
    set_time(memory, t + theta * h)
    clear(a)
    clear(lam)
    for j in range(q.size):
        q[j] = x[j]
    for j in range(v.size):
        v[j] = x[q.size + j]
    for i in range(3):
        share = 1.0
        for k in range(3):
            if k != i:
                share *= (theta - C[k]) / (C[i] - C[k])
        rise = share * theta / C[i]
        for j in range(q.size):
            q[j] += rise * (stage_q[i, j] - x[j])
        for j in range(v.size):
            v[j] += rise * Z[i, j]
            a[j] += share * stage_a[i, j]
        for j in range(lam.size):
            lam[j] += share * Z[i, first + j]


@inner
def _change(memory, h):
    """Norm of what the modes that belong to the point would change in v over the step; inf: not finite.

    Constraints that jump count as the velocities with which they would be met within the step.
    """
    m = memory.modes
    F, old, b, weight = memory.f, memory.w[0], memory.real_b, memory.weight
    residual(memory)
    put(old, 0, F)
    keep(m)
    _settle(memory, False)
    residual(memory)
    restore(m)
    memory.residuals += 2
    if first_not_finite(F) >= 0 or first_not_finite(old) >= 0:
        return inf
    for j in range(b.size):
        b[j] = F[j] - old[j]
    scale_right_side(memory, b, MU_REAL / h)
    solve_real(memory)
    square = 0.0
    for j in range(memory.nv):
        square += (weight[j] * b[j]) ** 2
    return MU_REAL * sqrt(square / memory.nv)


@inner
def _crossing(memory, t, h, inside, beyond):
    """The part of the step at which the first guard leaves, between one that is inside and one beyond."""
    for _ in range(HALVINGS):
        middle = 0.5 * (inside + beyond)
        _set_inside(memory, t, h, middle)
        guards(memory)
        if _leaves(memory.modes):
            beyond = middle
        else:
            inside = middle
    return beyond


@inner
def _set_in_piece(memory, t, h, s, target, side):
    """Make the point of the step the point at which the guard of site s passes a value."""
    before, after = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (before + after)
        _set_inside(memory, t, h, middle)
        guards(memory)
        if side * (memory.modes.g[s] - target) > 0.0:
            after = middle
        else:
            before = middle
    _set_inside(memory, t, h, after)


@inner
def _cost(memory, t, h):
    """Largest change over the step: at stages and end beyond a change, and in every piece that it went over.

    inf if these are more than a few.
    """
    m, largest = memory.modes, 0.0
    for i in range(3):
        if i < 2:
            set_stage(memory, t, h, i)
        else:
            _set_end(memory, memory.t_trial)
        guards(memory)
        if _leaves(m):
            largest = max(largest, _change(memory, h))
    keep(m)
    _settle(memory, False)
    s = farthest_site(m)
    passed = pieces_passed(m, s)
    restore(m)
    if abs(passed) > MOST_BREAKS:
        return inf
    side = 1.0 if passed > 0.0 else -1.0
    for i in range(1, int(abs(passed))):
        _set_in_piece(memory, t, h, s, inside_piece(m, s, side * i), side)
        largest = max(largest, _change(memory, h))
    return largest


@procedure(DaeMemory, "Radau integrator", 0.5)
def watch(memory, t, h):
    """Look at the guards of a step that passed, whose end, at T_TRIAL, is in TRIAL.

    STANDS: no mode changes. TURNED: the step stands, and modes change at its end. REPEAT: it is to
    be repeated with the length H_TRIAL.
    """
    m = memory.modes
    inside, beyond = 0.0, 2.0
    for i in range(2):
        set_stage(memory, t, h, i)
        guards(memory)
        if _leaves(m):
            beyond = C[i]
            break
        inside = C[i]
    if beyond > 1.0:
        _set_end(memory, memory.t_trial)
        guards(memory)
        if not _leaves(m):
            _mark(m)
            return STANDS
        beyond = 1.0
    cost = _cost(memory, t, h)
    if cost > NEGLIGIBLE:
        theta = _crossing(memory, t, h, inside, beyond)
        if cost == inf or cost * (1.0 - theta) > NEGLIGIBLE:
            margin = max(LEAST_MARGIN, min(BEYOND, 0.5 * NEGLIGIBLE / cost))
            memory.h_trial = h * min(theta + margin, 0.9 + 0.1 * theta)
            return REPEAT
    return TURNED


@inner
def endless(memory):
    """Whether, by the last thousand trials, the run would not end, and why: CHATTERING, where a site changes back and
    forth, STEP_TOO_SMALL, where many trials are rejected, as on the way into a dead point; else MORE."""
    trials = memory.steps + memory.rejected
    if trials - memory.window_trials < WINDOW:
        return MORE
    turns, rejected = memory.turns - memory.window_turns, memory.rejected - memory.window_rejected
    gained, left = memory.t - memory.window_start, memory.edges[memory.edges.size - 1] - memory.t
    memory.window_trials, memory.window_turns, memory.window_start = trials, memory.turns, memory.t
    memory.window_rejected = memory.rejected
    if 5 * turns > WINDOW and left * WINDOW > ENDLESS * gained:
        return CHATTERING
    return STEP_TOO_SMALL if 4 * rejected > WINDOW and left * WINDOW > STALLED * gained else MORE
