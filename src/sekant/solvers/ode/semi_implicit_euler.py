"""Semi-implicit (symplectic) Euler: velocities first, then positions with the new velocities.

v_{k+1} = v_k + h v'(t_k, q_k, v_k),   w_{k+1} = w_k + h w'(t_k, q_k, v_k),   q_{k+1} = q_k + h N(q_k) v_{k+1}
Hairer, Lubich, Wanner: Geometric Numerical Integration, 2nd ed., eq. I.1.9 (the variant that is explicit
for separable Hamiltonians).
"""

from __future__ import annotations

from sekant.native_call import call_native
from sekant.solvers.common.compiled import compiled
from sekant.solvers.ode.memory import LARGEST_STATE
from sekant.solvers.ode.projection import project
from sekant.solvers.ode.unit_blocks import normalize

EVALUATIONS_PER_STEP = 1


@compiled
def semi_implicit_euler_steps(native, plan, x, x_old, base, first, last, h, low, high):
    """Take the steps `first` <= i < `last` from ``base + i h``; returns how many succeeded.

    After a failure `x` holds the bad state and `x_old` the last good one.
    """
    clock, k, qdot, n, blocks = native.clock, native.k[0], native.qdot, x.size, plan.unit_blocks
    nq = plan.nq
    has_blocks, has_projection = blocks.shape[0] > 0, native.projection != 0
    for i in range(first, last):
        clock[0] = min(max(base + i * h, low), high)
        call_native(native.rhs, native.arg_x, native.res, native.work)
        good = True
        for j in range(nq, n):
            x_old[j] = x[j]
            x[j] += h * k[j]
            good &= abs(x[j]) < LARGEST_STATE
        call_native(native.kinematics, native.arg_kinematics, native.kinematics_res, native.work)
        for j in range(nq):
            x_old[j] = x[j]
            x[j] += h * qdot[j]
            good &= abs(x[j]) < LARGEST_STATE
        if not good:
            return i - first
        if has_blocks:
            normalize(x, blocks)
        if has_projection and not project(native, plan, x, base + (i + 1) * h, low, high):
            return i - first
    return last - first
