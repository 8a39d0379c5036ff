"""The walk over all points of a sweep, compiled.

From a solution with its first and second derivatives the next one is predicted and corrected by Newton's method.
Steps are halved if the correction is large compared with the prediction, if it does not contract, or if the
determinant of the equations changes its sign: all of these indicate that another branch is near. If the sign
still changes in the shortest step, and the derivatives continue smoothly, two branches cross.
"""

from __future__ import annotations

from math import isfinite, pi

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.memory import call
from sekant.solvers.common.vectors import clear, normalize, put
from sekant.solvers.linear.least_squares import determinant, factor, solve
from sekant.solvers.sweep.memory import SweepMemory

FAILED, REGULAR, SINGULAR = 0, 1, 2
RANK = 1e-10  # pivots below this, relative to the first, are zero
SHORTEST = 2.0**-14  # of the distance between two points
LARGEST_CORRECTION = 0.3  # of the prediction
MOST = 12  # iterations


@inner
def _move(m):
    """q displaced by delta, with unit norms preserved."""
    call(m.retract)
    put(m.q, 0, m.q_moved)
    normalize(m.q, m.blocks)


@inner
def _residual(m):
    """Minus the residual of the equations at q, into rhs; returns its largest entry."""
    call(m.terms)
    first = m.F.size - m.target.size
    largest = 0.0
    for i in range(m.F.size):
        r = m.F[i]
        if i >= first:
            r -= m.target[i - first]
            if m.periodic[i - first]:
                r -= 2.0 * pi * round(r / (2.0 * pi))
        m.rhs[i] = -r
        if not isfinite(r):
            return r
        largest = max(largest, abs(r))
    return largest


@inner
def _newton(m, tolerance, allowed):
    """Solve from q on; FAILED if the sum of all corrections exceeds `allowed`. The factors then belong to the
    solution.

    A point that meets the tolerance is improved by one more step, which makes it exact to round-off, so that
    the current factors are valid at the solution; a step that does not contract shows that this is already so.
    """
    last, total, close = 1e300, 0.0, False
    for _ in range(MOST):
        m.counts[2] += 1
        size = _residual(m)
        if not isfinite(size):
            return FAILED
        n, rows = m.J.shape
        for k in range(n):
            for i in range(rows):
                if not isfinite(m.J[k, i]):
                    return FAILED
                m.A[k, i] = m.J[k, i]
        rank = factor(m.A, m.A.shape[0], m.A.shape[1], m.beta, m.pivot, RANK)
        close = size <= tolerance
        if close and rank < n:
            return SINGULAR
        solve(m.A, m.A.shape[0], m.A.shape[1], m.beta, m.pivot, rank, m.rhs, m.delta)
        step = 0.0
        for k in range(n):
            step = max(step, abs(m.delta[k]))
        if close and not step <= 0.7 * last:
            return REGULAR
        total += step
        if not step <= 0.7 * last or total > allowed:
            return FAILED
        last = step
        _move(m)
        if close:
            return REGULAR
    return FAILED


@inner
def _derivatives(m):
    """w = dq by each drive, and their derivatives by the first drives, at the solution whose factors are in place."""
    drives, n = m.trial_w.shape
    first = m.F.size - drives
    for j in range(drives):
        clear(m.rhs)
        m.rhs[first + j] = 1.0
        solve(m.A, m.A.shape[0], m.A.shape[1], m.beta, m.pivot, n, m.rhs, m.trial_w[j])
    for i in range(m.bends):
        for j in range(m.bends):
            put(m.along, 0, m.trial_w[i])
            put(m.across, 0, m.trial_w[j])
            call(m.curvature)
            for k in range(m.rhs.size):
                m.rhs[k] = -m.bend[k]
            solve(m.A, m.A.shape[0], m.A.shape[1], m.beta, m.pivot, n, m.rhs, m.trial_ww[i, j])


@inner
def _commit(m):
    """Copy the trial to the base."""
    drives, n = m.trial_w.shape
    put(m.base_q, 0, m.q)
    put(m.base_d, 0, m.target)
    for k in range(n):
        put(m.base_J[k], 0, m.J[k])
    for j in range(drives):
        put(m.base_w[j], 0, m.trial_w[j])
        for i in range(drives):
            put(m.base_ww[j, i], 0, m.trial_ww[j, i])


@inner
def _predict(m):
    """q at the target by the derivatives at the base; the size of the displacement."""
    drives, n = m.base_w.shape
    reach = 0.0
    for k in range(n):
        total = 0.0
        for i in range(drives):
            step = m.target[i] - m.base_d[i]
            total += m.base_w[i, k] * step
            for j in range(drives):
                total += 0.5 * m.base_ww[i, j, k] * step * (m.target[j] - m.base_d[j])
        m.delta[k] = total
        reach = max(reach, abs(total))
    put(m.q, 0, m.base_q)
    _move(m)
    return reach


@inner
def _goes_on(m):
    """Whether the derivatives at the trial point along the step are similar to those at the base."""
    drives, n = m.base_w.shape
    before, after, both = 0.0, 0.0, 0.0
    for k in range(n):
        old, new = 0.0, 0.0
        for i in range(drives):
            step = m.target[i] - m.base_d[i]
            old += m.base_w[i, k] * step
            new += m.trial_w[i, k] * step
        before += old * old
        after += new * new
        both += old * new
    return both > 0.9 * max(before, after)


@inner
def _aim(m, origin, goal, way):
    """Target at the fraction `way` from `origin` to `goal`."""
    for j in range(m.target.size):
        m.target[j] = goal[j] if way >= 1.0 else origin[j] + way * (goal[j] - origin[j])


@inner
def _walk(m, origin, goal, start, to, tolerance):
    """From the base, which is at `origin`, to `goal`; the base follows, except to a singular goal."""
    done, step = 0.0, 1.0
    while done < 1.0:
        way = 1.0 if done + step > 1.0 - 1e-9 else done + step
        _aim(m, origin, goal, way)
        reach = _predict(m)
        found = _newton(m, tolerance, LARGEST_CORRECTION * reach + 1e-9)
        if found == SINGULAR and way == 1.0:
            return SINGULAR
        crossing = False
        if found == REGULAR:
            turned = determinant(m.base_J, m.J, m.square) <= 0.0
            _derivatives(m)
            if turned:
                crossing = way - done <= 2.0 * SHORTEST and _goes_on(m)
                if not crossing:
                    found = FAILED
        if found == REGULAR:
            if crossing:
                _meet(m, start, to)
            _commit(m)
            done = way
            step = 2.0 * step
        else:
            step = 0.5 * (way - done)
            if step < SHORTEST:
                return FAILED
    return REGULAR


@inner
def _meet(m, start, to):
    """Record that two branches meet halfway between the base and the target."""
    k = m.counts[1]
    if k < m.meetings.shape[0]:
        m.meetings[k, 0], m.meetings[k, 1] = start, to
        for j in range(m.target.size):
            m.meeting_at[k, j] = 0.5 * (m.base_d[j] + m.target[j])
        m.counts[1] += 1


@inner
def _store(m, k, found):
    m.reached[k] = found
    put(m.Q[k], 0, m.q)
    drives, n = m.base_w.shape
    for i in range(drives):
        for l in range(n):
            m.W[k, i, l] = m.base_w[i, l] if found == REGULAR else float("nan")
            for j in range(drives):
                m.WW[k, i, j, l] = m.base_ww[i, j, l] if found == REGULAR else float("nan")


@inner
def _load(m, k):
    """Load the stored point k as the base."""
    put(m.q, 0, m.Q[k])
    put(m.target, 0, m.points[k])
    call(m.terms)
    for i in range(m.target.size):
        put(m.trial_w[i], 0, m.W[k, i])
        for j in range(m.target.size):
            put(m.trial_ww[i, j], 0, m.WW[k, i, j])
    _commit(m)


@inner
def _fail(m, start, to):
    k = m.counts[0]
    m.failed[k, 0], m.failed[k, 1] = start, to
    m.counts[0] += 1


@procedure(SweepMemory, "sweep of positions", 0.5)
def spread(m, a, b):
    """Reach the point `first` from q at the drive values `start`, and from it all others along the edges.

    Returns FAILED if the start is not a regular solution, SINGULAR if `first` is not one.
    """
    first, tolerance, stack = m.first, m.tolerance, m.stack
    put(m.target, 0, m.start)
    if _newton(m, tolerance, 1e300) != REGULAR:
        return FAILED
    _derivatives(m)
    _commit(m)
    found = _walk(m, m.start, m.points[first], -1, first, tolerance)
    if found == FAILED:
        _fail(m, -1, first)
        return REGULAR
    if found == SINGULAR:
        return SINGULAR
    _store(m, first, found)
    m.departure[first] = first
    at, waiting = first, 0
    for e in range(m.edges.shape[1]):
        if m.edges[first, e] >= 0:
            stack[waiting, 0], stack[waiting, 1] = first, m.edges[first, e]
            waiting += 1
    while waiting > 0:
        waiting -= 1
        old, new = stack[waiting, 0], stack[waiting, 1]
        if m.reached[new] != FAILED:
            continue
        regular = m.departure[old]
        if at != regular:
            _load(m, regular)
        found = _walk(m, m.points[regular], m.points[new], old, new, tolerance)
        at = -1
        if found == FAILED:
            _fail(m, old, new)
            continue
        _store(m, new, found)
        m.departure[new] = new if found == REGULAR else regular
        at = new if found == REGULAR else -1
        for e in range(m.edges.shape[1]):
            far = m.edges[new, e]
            if far >= 0 and m.reached[far] == FAILED:
                stack[waiting, 0], stack[waiting, 1] = new, far
                waiting += 1
    return REGULAR
