"""Coefficients of the Radau IIA method of order 5, and velocities between the ends of its steps.

Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., table IV.5.6; transformation of the Newton
systems and error estimate as in section IV.8: T^-1 A^-1 T = diag(gamma, [[alpha, -beta], [beta, alpha]]).

Under constraints on positions the velocities of the stages are of lower order than those at the end of a
step, and the error estimate weighs them with the step (VII.7), so the collocation polynomial is accurate
enough for the start of the next Newton iteration but not for outputs. The ends are projected, and their
accelerations follow from the equations of motion; so do those at two states between them. The integral of the
cubic through the four accelerations at Lobatto's points,

    v(theta) = v_0 + h integral_0^theta a ,    closed at theta = 1 by a linear term,

has an error of h^5 plus h times that of the accelerations. If a depends so strongly on v that errors of the
inner states are amplified (stiff systems), the integral does not close, and the collocation polynomial is used.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from sekant.loops.declare.procedures import inner
from sekant.solvers.common.memory import set_time
from sekant.solvers.common.vectors import put, take
from sekant.solvers.dae.memory import set_state
from sekant.solvers.dae.projection import accelerations, factorize_at, project

_S6 = 6.0**0.5

C = np.array([(4.0 - _S6) / 10.0, (4.0 + _S6) / 10.0, 1.0])
A = np.array(
    [
        [(88.0 - 7.0 * _S6) / 360.0, (296.0 - 169.0 * _S6) / 1800.0, (-2.0 + 3.0 * _S6) / 225.0],
        [(296.0 + 169.0 * _S6) / 1800.0, (88.0 + 7.0 * _S6) / 360.0, (-2.0 - 3.0 * _S6) / 225.0],
        [(16.0 - _S6) / 36.0, (16.0 + _S6) / 36.0, 1.0 / 9.0],
    ]
)
A_INV = np.linalg.inv(A)


def _transformation() -> np.ndarray:
    """Columns: the real eigenvector of A^-1, real and imaginary part of a complex one; last row (1, 1, 0)."""
    values, vectors = np.linalg.eig(A_INV)
    vectors = vectors / vectors[2]
    real, pair = vectors[:, np.argmin(np.abs(np.imag(values)))], vectors[:, np.argmax(np.imag(values))]
    return np.stack([np.real(real), np.real(pair), np.imag(pair)], axis=1)


T = _transformation()
TI = np.linalg.inv(T)
_LAMBDA = TI @ A_INV @ T
MU_REAL = float(_LAMBDA[0, 0])
MU_COMPLEX = complex(_LAMBDA[1, 1], _LAMBDA[2, 1])

# h (f0 + E Z / h) / gamma estimates the error (IV.8.18).
E = np.array([-13.0 - 7.0 * _S6, -13.0 + 7.0 * _S6, -1.0]) / 3.0

# Coefficients of theta, theta^2, theta^3 of the collocation polynomial from the increments at the stages.
POWERS = np.linalg.inv(np.stack([C, C**2, C**3], axis=1))


NODES = np.array([0.0, 0.5 - 0.1 * sqrt(5.0), 0.5 + 0.1 * sqrt(5.0), 1.0])
INTEGRAL = np.linalg.inv(np.vander(NODES, increasing=True)) / np.arange(1.0, 5.0)[:, None]
OPEN = 0.2  # of the change by the integral: allowed error at the end of the step
SMALL = 0.1  # of the tolerance: an error that is ignored

# State of the velocities in the last step.
UNKNOWN, REFINED, COLLOCATED = range(3)


@inner
def collocation(memory, theta, x):
    """The state at theta of the last step by its collocation polynomial."""
    poly, x_old = memory.step.poly, memory.x_old
    extra = theta * (1.0 + theta * (-4.5 + theta * (6.0 - 2.5 * theta)))
    for j in range(x.size):
        rise = theta * (poly[0, j] + theta * (poly[1, j] + theta * poly[2, j]))
        x[j] = x_old[j] + rise + extra * poly[3, j]


@inner
def _node(memory, i):
    """Compute the accelerations at node i; returns whether they are finite."""
    step = memory.step
    x = step.trial
    t = step.start + NODES[i] * step.length
    if i == 0 or i == 3:
        put(x, 0, memory.x_old if i == 0 else memory.x)
        set_time(memory.clock, t)
        set_state(memory, x)
        factorize_at(memory)
    else:
        collocation(memory, NODES[i], x)
        if project(memory, t, x) >= 0:
            return False
    if not accelerations(memory):
        return False
    take(step.node_a[i], memory.saddle.x, 0)
    return True


@inner
def refine(memory):
    """Powers of theta of the velocities in the last step, in `step.dense`; sets `step.known`."""
    step, plan = memory.step, memory.plan
    nq, h = memory.nq, step.length
    a, dense, x = step.node_a, step.dense, step.trial
    x_old, x_new, atol = memory.x_old, memory.x, plan.atol
    step.known = COLLOCATED
    for i in range(4):
        if not _node(memory, i):
            return
    miss, change = 0.0, 0.0
    for j in range(memory.nv):
        k = nq + j
        rise = 0.0
        for p in range(4):
            dense[p, j] = h * (
                INTEGRAL[p, 0] * a[0, j]
                + INTEGRAL[p, 1] * a[1, j]
                + INTEGRAL[p, 2] * a[2, j]
                + INTEGRAL[p, 3] * a[3, j]
            )
            rise += dense[p, j]
        gap = rise - (x_new[k] - x_old[k])
        dense[0, j] -= gap
        miss += (gap / (atol[k] + plan.rtol * abs(x_new[k]))) ** 2
    for i in range(1, 3):
        collocation(memory, NODES[i], x)
        for j in range(memory.nv):
            k = nq + j
            gap = refined(memory, NODES[i], j) - x[k]
            change += 0.5 * (gap / (atol[k] + plan.rtol * abs(x_new[k]))) ** 2
    if miss <= OPEN**2 * change or miss <= SMALL**2 * memory.nv:
        step.known = REFINED


@inner
def refined(memory, theta, j):
    """Velocity j at theta of the last step."""
    dense = memory.step.dense
    rise = dense[0, j] + theta * (dense[1, j] + theta * (dense[2, j] + theta * dense[3, j]))
    return memory.x_old[memory.nq + j] + theta * rise


@inner
def between(memory, theta, x):
    """The state at theta of the last step, strictly inside it."""
    if memory.mh > 0 and memory.step.known == UNKNOWN:
        refine(memory)
    collocation(memory, theta, x)
    if memory.mh > 0 and memory.step.known == REFINED:
        for j in range(memory.nv):
            x[memory.nq + j] = refined(memory, theta, j)
