"""Evaluations at the point in memory."""

from __future__ import annotations

from math import isfinite

from sekant.loops.declare.calls import call_native, tail
from sekant.loops.declare.procedures import inner
from sekant.solvers.common.vectors import take
from sekant.solvers.dae import memory as at


@inner
def set_time(memory, t):
    """Functions see no time outside the segment, so each is evaluated on one side of a jump only."""
    window = memory.window
    memory.clock[0] = min(max(t, window[0]), window[1])


@inner
def set_state(memory, x):
    """q and v of the point from x = [q; v; w]."""
    q, v = memory.q, memory.v
    take(q, x, 0)
    take(v, x, q.size)


@inner
def _call(memory, function, arguments, result):
    call_native(function, arguments, tail(memory.res, result), memory.work)


@inner
def residual(memory):
    _call(memory, memory.residual, memory.arg_residual, at.RES_RESIDUAL)


@inner
def guards(memory):
    _call(memory, memory.guards, memory.arg_residual, at.RES_GUARDS)


@inner
def jacobian(memory):
    _call(memory, memory.jacobian, memory.arg_jacobian, at.RES_JACOBIAN)


@inner
def quadratures(memory):
    _call(memory, memory.quadratures, memory.arg_power, at.RES_POWER)


@inner
def kinematics(memory):
    _call(memory, memory.kinematics, memory.arg_kinematics, at.RES_KINEMATICS)


@inner
def constraints(memory):
    _call(memory, memory.constraint_rates, memory.arg_constraints, at.RES_CONSTRAINTS)


@inner
def mass_and_gradients(memory):
    _call(memory, memory.saddle, memory.arg_saddle, at.RES_SADDLE)


@inner
def bias(memory):
    _call(memory, memory.bias, memory.arg_bias, at.RES_BIAS)


@inner
def first_not_finite(values):
    """Index of the first number that is not finite, or -1."""
    for j in range(values.size):
        if not isfinite(values[j]):
            return j
    return -1


@inner
def normalize(memory, q):
    """Scale the unit blocks of q to unit norm."""
    blocks = memory.blocks
    for b in range(0, blocks.size, 2):
        start, stop = blocks[b], blocks[b] + blocks[b + 1]
        square = 0.0
        for j in range(start, stop):
            square += q[j] * q[j]
        scale = 1.0 / square**0.5
        for j in range(start, stop):
            q[j] *= scale
