"""Output rows: states between the steps, projected, with accelerations and multipliers."""

from __future__ import annotations

from sekant.solvers.common.compiled import inner
from sekant.solvers.common.procedures import call, procedure, table_at
from sekant.solvers.common.views import ints, mat, put, row, take, vec
from sekant.solvers.dae import memory as at
from sekant.solvers.dae.calls import normalize, set_state, set_time
from sekant.solvers.dae.projection import accelerations, factorize_at, project


@procedure
def write_row(pointer, rows, t, consistent):
    """Make a row of the state in the next row of ROWS; returns -1 or the constraint that cannot be met.

    `consistent`: 1 if that state needs no projection.
    """
    memory = table_at(pointer, rows)
    count, time, solution = ints(memory, at.COUNT), vec(memory, at.TIME), vec(memory, at.LDL_X)
    n, size = count[at.ROW], ints(memory, at.SIZE)
    x = row(memory, at.ROWS, n)
    if size[at.M] > 0 and consistent == 0.0:
        bad = project(memory, t, x)
        if bad >= 0:
            count[at.COMPONENT], time[at.T_FAILED] = bad, t
            return bad
    else:
        normalize(memory, x)
        set_time(memory, t)
        set_state(memory, x)
        factorize_at(memory)
    accelerations(memory)
    take(row(memory, at.A_ROWS, n), solution, 0)
    take(row(memory, at.LAM_ROWS, n), solution, size[at.NV])
    count[at.ROW] += 1
    return -1


@inner
def start_run(memory):
    """Consistent start, first row; returns MORE or a code of failure."""
    count, time, window = ints(memory, at.COUNT), vec(memory, at.TIME), vec(memory, at.WINDOW)
    x, given, a = vec(memory, at.X), vec(memory, at.TRIAL), vec(memory, at.A_NOW)
    nq, nv, t = vec(memory, at.Q).size, a.size, time[at.T]
    window[0], window[1] = vec(memory, at.LOW)[0], vec(memory, at.HIGH)[0]
    put(given, 0, x)
    bad = project(memory, t, x)
    if bad >= 0:
        count[at.COMPONENT], time[at.T_FAILED] = bad, t
        return at.CONSTRAINTS
    for j in range(nq):
        time[at.MOVED_Q] = max(time[at.MOVED_Q], abs(x[j] - given[j]))
    for j in range(nq, nq + nv):
        time[at.MOVED_V] = max(time[at.MOVED_V], abs(x[j] - given[j]))
    put(row(memory, at.ROWS, 0), 0, x)
    put(vec(memory, at.X_OLD), 0, x)
    call(memory, at.WRITE_ROW, t, 1.0)
    put(a, 0, row(memory, at.A_ROWS, 0))
    put(vec(memory, at.LAM_NOW), 0, row(memory, at.LAM_ROWS, 0))
    for j in range(nv):
        if not abs(a[j]) < 1e300:
            count[at.COMPONENT], time[at.T_FAILED] = nq + j, t
            return at.NOT_FINITE
    return at.MORE


@inner
def _interpolate(memory, theta, x):
    poly, x_old = mat(memory, at.POLY), vec(memory, at.X_OLD)
    extra = theta * (1.0 + theta * (-4.5 + theta * (6.0 - 2.5 * theta)))
    for j in range(x.size):
        rise = theta * (poly[0, j] + theta * (poly[1, j] + theta * poly[2, j]))
        x[j] = x_old[j] + rise + extra * poly[3, j]


@inner
def write_rows(memory, budget):
    """Write the outputs up to the present time, at most `budget` of them; returns the budget left.

    Returns -1 after a failure.
    """
    count, time, t_eval = ints(memory, at.COUNT), vec(memory, at.TIME), vec(memory, at.T_EVAL)
    t = time[at.T]
    while budget > 0 and count[at.ROW] < t_eval.size and t_eval[count[at.ROW]] <= t:
        t_row = t_eval[count[at.ROW]]
        x = row(memory, at.ROWS, count[at.ROW])
        if t_row == t:
            put(x, 0, vec(memory, at.X))
        else:
            _interpolate(memory, (t_row - time[at.STEP_START]) / time[at.STEP_LENGTH], x)
        if call(memory, at.WRITE_ROW, t_row, 1.0 if t_row == t else 0.0) >= 0:
            return -1
        budget -= 1
    return budget
