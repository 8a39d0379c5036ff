"""Radau IIA at changes of modes of sites: breaks of tables and curves, signs, comparisons, floors.

Modes (see `sekant.solvers.common.modes`) are held within a step, so that all its stages use one smooth
system. Where a guard has left its interval by the end of a step, or at a stage, the residuals there, and in
every piece of a table that the step crossed, are compared with those in the modes that are valid there; the
Newton matrix converts the largest difference to one of velocities,

    cost = (1 - theta) mu h ||K^-1 (F_new - F_old)|| ,   theta: where on the step the guard left,

which is the error of continuing in the old modes. A step with a cost of at most a tenth of the tolerance is
accepted, and the next one starts in the new modes. Any other step is repeated so that it ends just beyond the
crossing: inside a step the collocation polynomial is of lower order than at its end, so a crossing found on
it is only an estimate, and the same rule applies to the repeated step.
"""

from __future__ import annotations

from math import inf, sqrt

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.landing import NEGLIGIBLE, landing, leaves
from sekant.solvers.common.memory import call, set_time
from sekant.solvers.common.modes import (
    MOST_BREAKS,
    begin_step,
    farthest_site,
    guards_jumped,
    inside_piece,
    keep,
    pieces_passed,
    restore,
    settling,
    switched,
)
from sekant.solvers.common.vectors import clear, put, take
from sekant.solvers.dae.memory import DaeMemory, first_not_finite, set_state
from sekant.solvers.dae.radau_dense import MU_REAL, C
from sekant.solvers.dae.radau_newton import scale_right_side, set_stage, solve_real

# Results of `watch`.
STANDS, TURNED, REPEAT = range(3)
BEYOND = 0.02  # largest part of a step by which its repetition goes beyond the crossing
LEAST_MARGIN = 1e-12  # of a step, so that it ends beyond the crossing


@inner
def _guards_at(memory, t):
    """Guards at the point, whose time is set."""
    call(memory.guards)


_settle = settling(_guards_at)


@procedure(DaeMemory, "Radau integrator", 0.2)
def settle(memory, t, everywhere):
    """Modes at the present state from the guards: of all sites (1), or of those outside their interval (0)."""
    set_time(memory.clock, t)
    set_state(memory, memory.x)
    put(memory.point.a, 0, memory.a_now)
    put(memory.point.lam, 0, memory.lam_now)
    _settle(memory, memory.modes, t, everywhere == 1.0)
    begin_step(memory.modes)
    return 0


@inner
def _set_end(memory, t_new):
    """Set the point to the projected end of the trial step."""
    set_time(memory.clock, t_new)
    set_state(memory, memory.step.trial)
    put(memory.point.a, 0, memory.newton.za[2])
    lam, Z = memory.point.lam, memory.newton.z[2]
    take(lam, Z, Z.size - lam.size)


@inner
def set_inside(memory, t, h, theta):
    """Set the point to a point on the trial step's polynomials; a and lam come from the parabolas through the
    stages."""
    newton, point = memory.newton, memory.point
    x, q, v, a, lam = memory.x, point.q, point.v, point.a, point.lam
    stage_q, stage_a, Z = newton.zq, newton.za, newton.z
    first = Z.shape[1] - lam.size
    set_time(memory.clock, t + theta * h)
    clear(a)
    clear(lam)
    take(q, x, 0)
    take(v, x, q.size)
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
def _look(memory, watch, t, h, theta, how):
    """Evaluate the guards at a point on the trial step's polynomials."""
    set_inside(memory, t, h, theta)
    call(memory.guards)


_, excursion, locate, reach = landing(_look)


@inner
def _change(memory, h):
    """Norm of the change of v over the step by the modes that belong to the point; inf: not finite.

    Constraints that jump count as the velocities needed to satisfy them within the step.
    """
    m = memory.modes
    F, old, b, weight = memory.found.f, memory.newton.w[0], memory.real.b, memory.newton.weight
    call(memory.residual)
    put(old, 0, F)
    keep(m)
    _settle(memory, m, 0.0, False)
    call(memory.residual)
    restore(m)
    memory.counts.evaluations += 2
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
def _cost(memory, t, h):
    """Largest change over the step: at stages and end beyond a change, and in every piece that it crossed;
    inf if there are many of these, or if a guard jumped with the modes of others.
    """
    m, largest = memory.modes, 0.0
    for i in range(3):
        if i < 2:
            set_stage(memory, t, h, i)
        else:
            _set_end(memory, memory.step.t_trial)
        call(memory.guards)
        put(m.watch.middle, 0, m.watch.value)
        if leaves(m.watch):
            largest = max(largest, _change(memory, h))
    keep(m)
    _settle(memory, m, 0.0, False)
    s = farthest_site(m)
    passed = pieces_passed(m, s)
    hidden = guards_jumped(m.watch, m.watch.middle)
    restore(m)
    if hidden or abs(passed) > MOST_BREAKS:
        return inf
    side = 1.0 if passed > 0.0 else -1.0
    for i in range(1, int(abs(passed))):
        reach(memory, m.watch, t, h, 0, s, inside_piece(m, s, side * i), side)
        largest = max(largest, _change(memory, h))
    return largest


@inner
def _switches_passed(memory):
    """Number of switches that change by the end of the step."""
    m = memory.modes
    _set_end(memory, memory.step.t_trial)
    call(memory.guards)
    keep(m)
    _settle(memory, m, 0.0, False)
    count = switched(m)
    restore(m)
    return count


@inner
def _excursion(memory, t, h):
    """A point at which a guard is outside its interval that is inside at both ends and at all stages; 0: none."""
    w = memory.modes.watch
    put(w.a, 0, w.start)
    _look(memory, w, t, h, 0.5, 0)
    put(w.middle, 0, w.value)
    theta = 0.5 if leaves(w) else excursion(memory, w, t, h, 0, 0.0, 1.0)
    put(w.b, 0, w.value)
    return theta


@procedure(DaeMemory, "Radau integrator", 0.5)
def watch(memory, t, h):
    """Check the guards of an accepted step, whose end, at `step.t_trial`, is in `step.trial`.

    STANDS: no mode changes. TURNED: the step is accepted, and modes change at its end. REPEAT: repeat it with
    the length `step.h_trial`.
    """
    step = memory.step
    m, w = memory.modes, memory.modes.watch
    inside, beyond = 0.0, 2.0
    put(w.a, 0, w.start)
    for i in range(2):
        set_stage(memory, t, h, i)
        call(memory.guards)
        put(w.b, 0, w.value)
        if leaves(w):
            beyond = C[i]
            break
        inside = C[i]
        put(w.a, 0, w.b)
    if beyond > 1.0:
        _set_end(memory, step.t_trial)
        call(memory.guards)
        put(w.b, 0, w.value)
        if leaves(w):
            beyond = 1.0
    if beyond <= 1.0:
        cost = _cost(memory, t, h)
    else:
        inside, beyond = 0.0, _excursion(memory, t, h)
        if beyond == 0.0:
            _set_end(memory, step.t_trial)
            call(memory.guards)
            begin_step(m)
            return STANDS
        cost = _change(memory, h)
    # between several switches are modes that neither end of the step has, such as that of `a < x and x < b`
    several = cost <= NEGLIGIBLE and _switches_passed(memory) > 1
    if cost > NEGLIGIBLE or several:
        theta = locate(memory, w, t, h, 0, inside, beyond)
        if several:
            _look(memory, w, t, h, theta, 0)
            cost = _change(memory, h)
        at_end = 1.0 - theta <= 2.0 * max(4e-16 * abs(t) / h, LEAST_MARGIN)
        if not at_end and cost * (1.0 - theta) > NEGLIGIBLE:
            margin = max(LEAST_MARGIN, min(BEYOND, 0.5 * NEGLIGIBLE / cost))
            step.h_trial = h * min(theta + margin, 0.9 + 0.1 * theta)
            return REPEAT
    return TURNED
