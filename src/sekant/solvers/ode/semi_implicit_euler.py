"""Semi-implicit (symplectic) Euler: velocities first, then positions with the new velocities.

v_{k+1} = v_k + h v'(t_k, q_k, v_k),   w_{k+1} = w_k + h w'(t_k, q_k, v_k),   q_{k+1} = q_k + h N(q_k) v_{k+1}
Hairer, Lubich, Wanner: Geometric Numerical Integration, 2nd ed., eq. I.1.9 (the variant that is explicit
for separable Hamiltonians).
"""

from __future__ import annotations

from sekant.loops.declare.calls import call_native
from sekant.loops.declare.procedures import inner
from sekant.solvers.ode.memory import LARGEST_STATE
from sekant.solvers.ode.projection import project
from sekant.solvers.ode.unit_blocks import normalize

EVALUATIONS_PER_STEP = 1


@inner
def semi_implicit_euler_steps(run, base, first, last, h):
    """Take the steps `first` <= i < `last` from ``base + i h``; returns how many succeeded.

    After a failure `run.x` holds the bad state and `run.x_old` the last good one.
    """
    x, x_old, k, qdot, clock, blocks = run.x, run.x_old, run.k, run.qdot, run.clock, run.blocks
    rhs, arg, res, work = run.rhs, run.arg_x, run.res, run.work
    n, nq, low, high, has_projection = x.size, run.nq, run.earliest, run.latest, run.projection != 0
    for i in range(first, last):
        clock[0] = min(max(base + i * h, low), high)
        call_native(rhs, arg, res, work)
        good = True
        for j in range(nq, n):
            x_old[j] = x[j]
            x[j] += h * k[0, j]
            good &= abs(x[j]) < LARGEST_STATE
        call_native(run.kinematics, run.arg_kinematics, run.kinematics_res, work)
        for j in range(nq):
            x_old[j] = x[j]
            x[j] += h * qdot[j]
            good &= abs(x[j]) < LARGEST_STATE
        if not good:
            return i - first
        normalize(x, blocks)
        if has_projection and not project(run, x, base + (i + 1) * h, run.arg_projection):
            return i - first
    return last - first
