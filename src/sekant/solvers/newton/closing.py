"""A point q, v near a start at which all equations and their rates hold, in compiled code: for runs and for pages.

`close` changes only the coordinates whose start values are not stated if these suffice, and all of them otherwise;
then it slides q toward the start. From other first guesses (`analyses/assembly/loop_geometry.py` finds some),
`close_from` continues in the same way, and `solve_positions` only solves Phi(q) = target.
"""

from __future__ import annotations

from math import pi, sqrt

from sekant.loops.declare.procedures import inner, procedure
from sekant.loops.declare.structs import Integer, Integers, Matrix, Real, Struct, Vector
from sekant.solvers.common.memory import Call, call
from sekant.solvers.common.vectors import clear, normalize, put
from sekant.solvers.linear.least_squares import factor, reflect_back, solve_shortest

FOUND, OPEN, NO_RATES = range(3)
"""Return codes: done; no such q (`wrong` is the remaining gap); no rates v at q."""
RANK = 1e-9  # relative size of pivots that count as zero
NOTHING = 1e-12  # rows of G shorter than this are rounding errors
SMALL = 1e-6  # gaps up to this count as closed
TOLERANCE = 1e-12  # of Phi, if nobody asks for another one
STALLED = 1e3  # residuals of this many tolerances suffice where no step reduces them
EQUAL = 1.0 + 1e-12  # an increase of the distance up to this ratio may be a rounding error
FREE, STATED, HELD = range(3)
"""Kinds of coordinates and velocities: free ones may change, stated ones only if the free ones do not suffice, and
held ones never."""
INSPECTION, KEPT, ALL = range(3)
"""Values of `method`: nothing moved, stated coordinates did not move, or all moved."""


class Closing(Struct):
    """Equations Phi(q) = 0 (h,) and rates G v + drift = 0 (m,), the first h of which are those of Phi."""

    q0: Vector  # (nq,) the start
    q: Vector  # (nq,) the point
    v: Vector  # (nv,) the start, then the point
    target: Vector  # (h,) Phi at the point, zero except for `solve_positions`
    tolerance: Real  # of Phi
    most: Integer  # steps of `solve_positions`
    method: Integer  # how q was found
    steps: Integer  # Newton's steps so far, without those that slide
    wrong: Integer  # the first gap that remains although Phi = 0, or -1
    fills: Integer  # 1: undetermined rates get the least kinetic energy; 0: they change as little as possible
    count: Integer  # free directions of the rates, the first rows of `N`
    scale: Vector  # (nv,) of displacements; the sum of the squares of their ratios to it is least
    rate_scale: Vector  # (nv,)
    kept: Integers  # (nv,) FREE, STATED or HELD
    kept_rates: Integers  # (nv,)
    given_rates: Integers  # (nv,) 1: `energy` does not change it
    turning: Integers  # entries of q without whole turns more than the start
    counts: Integers  # entries of q that return to the start
    blocks: Integers  # see `normalize`
    terms: Call  # of `at` -> phi, entries, drift
    retract: Call  # `at` moved by `step` -> moved
    gaps: Call  # of `at` -> gap; none: Phi = 0 suffices
    energy: Call  # of `at`, v -> M, momentum; none without `fills`
    row: Integers  # of each of the entries of G that may differ from zero
    column: Integers
    entries: Vector
    at: Vector  # (nq,)
    phi: Vector  # (h,)
    G: Matrix  # (nv, m), transposed
    drift: Vector  # (m,)
    step: Vector  # (nv,)
    moved: Vector  # (nq,)
    gap: Vector  # each must be small
    M: Matrix  # (nv, nv)
    momentum: Vector  # (nv,) slopes of the energy
    delta: Vector  # (nv,)
    ahead: Vector  # (nq,)
    rhs: Vector  # (m,)
    A: Matrix  # (k, k) factors, with k the larger of m and nv
    N: Matrix  # (nv, nv) directions, as rows
    beta: Vector  # (k,)
    pivot: Integers  # (k,)
    b: Vector  # (k,)
    x: Vector  # (k,)
    chosen: Integers  # (nv,) columns of G


@inner
def _largest(x):
    """Infinite if an entry is not a number."""
    found = 0.0
    for i in range(x.size):
        found = max(found, abs(x[i])) if abs(x[i]) < 1e300 else 1e300
    return found


@inner
def _length(x):
    square = 0.0
    for i in range(x.size):
        square += x[i] * x[i]
    return sqrt(square)


@inner
def _look(m, q):
    """The terms at q, without rows that are rounding errors."""
    put(m.at, 0, q)
    call(m.terms)
    for i in range(m.phi.size):
        m.phi[i] -= m.target[i]
    for k in range(m.entries.size):
        m.G[m.column[k], m.row[k]] = m.entries[k]
    for i in range(m.drift.size):
        square = 0.0
        for j in range(m.v.size):
            square += m.G[j, i] * m.G[j, i]
        if not square > NOTHING * NOTHING:
            for j in range(m.v.size):
                m.G[j, i] = 0.0


@inner
def _open_gap(m, q):
    """The first gap that is left at q, or -1."""
    if m.gaps.function == 0:
        return -1
    put(m.at, 0, q)
    call(m.gaps)
    for k in range(m.gap.size):
        if not m.gap[k] <= SMALL:
            return k
    return -1


@inner
def _move(m, q):
    """`moved`: q moved by `step`, with its terms."""
    put(m.at, 0, q)
    call(m.retract)
    normalize(m.moved, m.blocks)
    _look(m, m.moved)


@inner
def _least(m, rows, scale, kept, which, x):
    """The least x (nv,) with G x nearest to `rhs` in the first rows; entries kept more than `which` are zero."""
    n = 0
    for j in range(x.size):
        x[j] = 0.0
        if kept[j] <= which:
            m.chosen[n] = j
            for i in range(rows):
                m.A[n, i] = m.G[j, i] * scale[j]
            n += 1
    for i in range(rows):
        m.b[i] = m.rhs[i]
    rank = factor(m.A, n, rows, m.beta, m.pivot, RANK)
    solve_shortest(m.A, n, rows, m.beta, m.pivot, rank, m.b, m.x)
    for k in range(n):
        x[m.chosen[k]] = scale[m.chosen[k]] * m.x[k]


@inner
def _newton(m, q, which, most):
    """Newton's method with line search for Phi = target from q, in place; returns whether it succeeds."""
    _look(m, q)
    for step in range(most + 1):
        error, before = _largest(m.phi), _length(m.phi)
        if error <= m.tolerance:
            return True
        if step == most or error == 1e300:
            return False
        for i in range(m.phi.size):
            m.rhs[i] = -m.phi[i]
        _least(m, m.phi.size, m.scale, m.kept, which, m.delta)
        share = 1.0
        while share > 1e-6:
            for j in range(m.delta.size):
                m.step[j] = share * m.delta[j]
            _move(m, q)
            if _length(m.phi) < (1.0 - 1e-4 * share) * before:
                break
            share *= 0.5
        if not share > 1e-6:
            return error <= STALLED * m.tolerance
        put(q, 0, m.moved)
        m.steps += 1
    return False


@inner
def _distance(m, q):
    found = 0.0
    for j in range(q.size):
        found += ((q[j] - m.q0[j]) / m.scale[j]) ** 2
    return found


@inner
def _slide(m, which):
    """Slide q along Phi = 0 toward the start while that reduces the weighted distance (no blocks of unit norm)."""
    if m.q.size != m.v.size:
        return
    steps = m.steps
    for _ in range(30):
        _look(m, m.q)
        for i in range(m.phi.size):
            m.rhs[i] = 0.0
            for j in range(m.q.size):
                m.rhs[i] += m.G[j, i] * (m.q0[j] - m.q[j])
        _least(m, m.phi.size, m.scale, m.kept, which, m.delta)
        for j in range(m.q.size):
            m.step[j] = m.q0[j] - m.q[j] - m.delta[j] if m.kept[j] <= which else 0.0
        if _largest(m.step) < 1e-10:
            return
        _move(m, m.q)
        put(m.ahead, 0, m.moved)
        succeeded = _newton(m, m.ahead, which, 8)
        m.steps = steps
        if not succeeded or _distance(m, m.ahead) >= EQUAL * _distance(m, m.q) or _open_gap(m, m.ahead) >= 0:
            return
        put(m.q, 0, m.ahead)


@inner
def _unwind(m):
    """Take back whole turns that occur in no equation."""
    for k in range(m.turning.size):
        i = m.turning[k]
        given = m.q[i]
        turns = round((given - m.q0[i]) / (2.0 * pi))
        if turns != 0:
            m.q[i] = given - 2.0 * pi * turns
            _look(m, m.q)
            if not _largest(m.phi) <= STALLED * m.tolerance:
                m.q[i] = given


@inner
def _keep_stated(m):
    """Move only the coordinates that are not stated, if there are both kinds; returns whether that succeeds."""
    free, stated = 0, 0
    for j in range(m.kept.size):
        free += 1 if m.kept[j] == FREE else 0
        stated += 1 if m.kept[j] == STATED else 0
    if free == 0 or stated == 0 or not _newton(m, m.q, FREE, 25):
        return False
    _slide(m, FREE)
    return _open_gap(m, m.q) < 0


@inner
def _arrive(m):
    """Move all coordinates except held ones from q; returns whether all equations hold and no gap is left."""
    m.method = ALL
    if not _newton(m, m.q, STATED, 60):
        return False
    m.wrong = _open_gap(m, m.q)
    if m.wrong >= 0:
        return False
    _unwind(m)
    _slide(m, STATED)
    return True


@inner
def _position(m):
    """Find q from q0; returns whether all equations hold and no gap is left."""
    m.method = INSPECTION
    put(m.q, 0, m.q0)
    _look(m, m.q)
    if m.phi.size == 0 or (_largest(m.phi) <= m.tolerance and _open_gap(m, m.q) < 0):
        return True
    m.method = KEPT
    if _keep_stated(m):
        _unwind(m)
        return True
    put(m.q, 0, m.q0)
    return _arrive(m)


@inner
def _off(m, x):
    """`rhs` <- -(G x + drift); its largest entry."""
    for i in range(m.drift.size):
        m.rhs[i] = -m.drift[i]
        for j in range(x.size):
            m.rhs[i] -= m.G[j, i] * x[j]
    return _largest(m.rhs)


@inner
def _change(m, which):
    """`step`: the smallest change of v toward rates that hold; returns the remaining error of the rates."""
    _off(m, m.v)
    _least(m, m.drift.size, m.rate_scale, m.kept_rates, which, m.delta)
    for j in range(m.v.size):
        m.step[j] = m.v[j] + m.delta[j]
    return _off(m, m.step)


@inner
def _rates(m):
    """Change v so that all rates hold at q; stated velocities change only if the others are not enough."""
    _look(m, m.q)
    for _ in range(2):
        size = _off(m, m.v)
        if size == 0.0:
            break
        if _change(m, FREE) > 1e-10 * max(1.0, size):
            _change(m, STATED)
        put(m.v, 0, m.step)
    return _off(m, m.v) <= 1e-8 * max(1.0, _largest(m.v), _largest(m.drift))


@inner
def _free_directions(m):
    """`N`, orthonormal: `count` changes of the rates `chosen` (not given) that violate no equation; returns how many
    rates these are."""
    n = 0
    for j in range(m.v.size):
        if m.given_rates[j] == 0:
            m.chosen[n] = j
            for i in range(m.drift.size):
                m.A[i, n] = m.G[j, i]
            n += 1
    rank = factor(m.A, m.drift.size, n, m.beta, m.pivot, RANK)
    for c in range(n - rank):
        direction = m.N[c]
        clear(direction)
        direction[rank + c] = 1.0
        reflect_back(m.A, n, m.beta, m.pivot, rank, direction)
    m.count = n - rank
    return n


@inner
def _relax(m):
    """Minimize the energy where no equation and no given value determines v: v - N (N^T M N)^+ N^T dT/dv.

    The result does not depend on the points or axes in which a body is described.
    """
    n, count = _free_directions(m), m.count
    call(m.energy)
    finite = _largest(m.momentum)
    for j in range(m.v.size):
        finite = max(finite, _largest(m.M[j]))
    m.count = count if finite < 1e300 else 0
    if m.count == 0:
        return
    for c in range(count):
        for k in range(n):
            m.x[k] = 0.0
            for i in range(n):
                m.x[k] += m.M[m.chosen[i], m.chosen[k]] * m.N[c, i]
        for d in range(count):
            m.A[c, d] = 0.0
            for k in range(n):
                m.A[c, d] += m.N[d, k] * m.x[k]
        m.b[c] = 0.0
        for k in range(n):
            m.b[c] += m.N[c, k] * m.momentum[m.chosen[k]]
    rank = factor(m.A, count, count, m.beta, m.pivot, RANK)
    solve_shortest(m.A, count, count, m.beta, m.pivot, rank, m.b, m.x)
    for c in range(count):
        for k in range(n):
            m.v[m.chosen[k]] -= m.N[c, k] * m.x[c]
    least = 1e-14 * _largest(m.v)
    for j in range(m.v.size):
        m.v[j] = m.v[j] if abs(m.v[j]) > least else 0.0


@inner
def _finish(m):
    """Set the counts of q, and find v; the return code."""
    for k in range(m.counts.size):
        m.q[m.counts[k]] = m.q0[m.counts[k]]
    if not _rates(m):
        return NO_RATES
    if m.fills == 1:
        _relax(m)
    return FOUND


@procedure(Closing, "closing of loops", 0.4)
def close(m, a, b):
    """Find q and v from q0 and v."""
    m.wrong, m.steps, m.count = -1, 0, 0
    return _finish(m) if _position(m) else OPEN


@procedure(Closing, "closing of loops", 0.4)
def close_from(m, a, b):
    """Find q and v from q and v, near q0."""
    m.wrong, m.steps, m.count = -1, 0, 0
    return _finish(m) if _arrive(m) else OPEN


@procedure(Closing, "closing of loops", 0.1)
def solve_positions(m, a, b):
    """Solve Phi(q) = target from q."""
    m.steps = 0
    return FOUND if _newton(m, m.q, STATED, m.most) else OPEN
