"""Semi-implicit (symplectic) Euler: velocities first, then positions with the new velocities.

v_{k+1} = v_k + h v'(t_k, q_k, v_k),   w_{k+1} = w_k + h w'(t_k, q_k, v_k),   q_{k+1} = q_k + h N(q_k) v_{k+1}
Hairer, Lubich, Wanner: Geometric Numerical Integration, 2nd ed., eq. I.1.9 (the variant that is explicit
for separable Hamiltonians).
"""

from __future__ import annotations

from sekant.loops.declare.procedures import inner
from sekant.solvers.common.memory import LARGEST_STATE, call, set_time
from sekant.solvers.common.vectors import normalize
from sekant.solvers.ode.projection import project

EVALUATIONS_PER_STEP = 1


@inner
def semi_implicit_euler_steps(run, base, first, last, h):
    """Take the steps `first` <= i < `last` from ``base + i h``; returns how many succeeded.

    After a failure `run.x` holds the bad state and `run.x_old` the last good one.
    """
    x, x_old, k, qdot, clock, blocks = run.x, run.x_old, run.k, run.qdot, run.clock, run.blocks
    rhs = run.rhs_x
    n, nq, projection, has_projection = x.size, run.nq, run.projection.held, run.projection.held.function != 0
    for i in range(first, last):
        set_time(clock, base + i * h)
        call(rhs)
        good = True
        for j in range(nq, n):
            x_old[j] = x[j]
            x[j] += h * k[0, j]
            good &= abs(x[j]) < LARGEST_STATE
        call(run.kinematics)
        for j in range(nq):
            x_old[j] = x[j]
            x[j] += h * qdot[j]
            good &= abs(x[j]) < LARGEST_STATE
        if not good:
            return i - first
        normalize(x, blocks)
        if has_projection and not project(run, projection, x, base + (i + 1) * h):
            return i - first
    return last - first
