"""Several explicit Euler steps in one native function.

The state of a small system stays in registers from step to step: a step of a pendulum takes 11 ns instead of 16,
which is what a loop written by hand for that very pendulum takes. And the coordinates after a step are known before
it is taken, q + h q': what depends on them alone is computed for two steps side by side (see `twins`), so their
number is even.
"""

from __future__ import annotations

import casadi as ca

from sekant.engine.codegen.native import NativeFunction
from sekant.engine.functions.motion import right_hand_side, state_rates
from sekant.engine.system import System
from sekant.geometry.spatial import SX

LARGEST = 16
SMALLEST = 4
"""Steps in a group. With fewer the gain is not worth a second function: the model is too large."""
OPERATIONS = 1600
"""Of a group at most: with six steps of a body on a path (240 operations) a step takes a fifth less, with more of
them no less than that."""


def euler_group(system: System, balance: bool) -> tuple[NativeFunction, int] | None:
    """A function that takes a group of steps, and their number; None where it would not pay.

    (control, x, p) -> x with control (5,) = (base, i, h, low, high): step j of the group begins at the time
    base + (i + j) h, kept within [low, high].
    """
    operations = right_hand_side(system, balance).stats.operations
    size = min(LARGEST, OPERATIONS // max(1, operations)) // 2 * 2
    x, xdot = state_rates(system, balance)
    if system.engine != "llvm" or size < SMALLEST:
        return None
    t, p, lookups = system.equations.t, system.equations.p, system.equations.lookups
    control = SX.sym("control", 5)
    base, first, h, low, high = ca.vertsplit(control)
    y = x
    for j in range(size):
        time = ca.fmin(ca.fmax(base + (first + j) * h, low), high)
        y = y + h * lookups.substitute(xdot, ca.vertcat(t, x), ca.vertcat(time, y))
        for start, length in system.equations.motion.unit_blocks:
            block = y[start : start + length]
            y[start : start + length] = block * (1 / ca.sqrt(ca.dot(block, block)))
    return system.function("euler_group", [control, x, p], [y]), size
