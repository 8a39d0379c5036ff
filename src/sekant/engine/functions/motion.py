"""The motion of a system as native functions of (t, x, p), and the times at which it is not smooth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sekant.engine.codegen.native import NativeFunction
from sekant.engine.functions.single import SingleFunction
from sekant.formulations.timeline import model_stops, timed_items
from sekant.geometry.spatial import SX
from sekant.model.model import Model

if TYPE_CHECKING:
    from sekant.engine.system import System


def work_symbols(system: System) -> SX:
    """Symbols of the accumulated work w (nw,)."""
    return system.once("w", lambda: SX.sym("w", len(system.work_names)))


def state_symbols(system: System, balance: bool = True) -> SX:
    """x = [q; v; z; w]; without `balance`, no accumulated work."""
    eq = system.equations
    return ca.vertcat(eq.q, eq.v, eq.z, *([work_symbols(system)] if balance else []))


def state_rates(system: System, balance: bool = True) -> tuple[SX, SX]:
    """Symbols of the state x, and its rates as expressions of t, x, p."""
    eq, balance = system.equations, balance and bool(system.work_names)
    powers = eq.energies.powers.values() if balance else ()
    return state_symbols(system, balance), ca.vertcat(eq.qdot, eq.a, eq.elements.rates, *powers)


def right_hand_side(system: System, balance: bool = True) -> NativeFunction:
    """(t, x, p) -> xdot; without `balance`, x has no accumulated work."""
    balance = balance and bool(system.work_names)

    def make() -> NativeFunction:
        eq = system.equations
        x, xdot = state_rates(system, balance)
        rhs = system.function("rhs_work" if balance else "rhs", [eq.t, x, eq.p], [xdot])
        if rhs.sites:
            _ = rhs.guards  # stored with it
        return rhs

    return system.cached(("rhs", balance), make)


def rates_at_states(system: System, balance: bool = True) -> SingleFunction:
    """The function of `single_rates` of a large system."""
    balance = balance and bool(system.work_names)

    def terms() -> tuple[list[SX], list[SX]]:
        x, xdot = state_rates(system, balance)
        return [system.equations.t, x, system.equations.p], [xdot]

    return SingleFunction(("single rates", balance), "rates", terms)


def single_rates(system: System, balance: bool = True) -> NativeFunction:
    """Like `right_hand_side`, for evaluation at single states. For a large system it is not optimized, so
    that methods that use other functions do not wait for it."""
    return rates_at_states(system, balance).of(system) if system.large else right_hand_side(system, balance)


def kinematics_function(system: System, balance: bool = True) -> NativeFunction:
    """(t, x, p) -> qdot."""

    def make() -> NativeFunction:
        eq = system.equations
        return system.function("kinematics", [eq.t, state_symbols(system, balance), eq.p], [eq.qdot])

    return system.cached(("kinematics", balance), make)


def projection_function(system: System, balance: bool = True) -> NativeFunction:
    """(t, x, p) -> x after one Newton step onto the constraints, and the residual () before it."""

    def make() -> NativeFunction:
        eq, x = system.equations, state_symbols(system, balance)
        q, v, residual = eq.projection
        moved = ca.vertcat(q, v, x[system.nq + system.nv :])
        return system.function("projection", [eq.t, x, eq.p], [moved, residual])

    return system.cached(("projection", balance), make)


def time_stops(
    system: System, begin: float, end: float, values: Mapping[str, ArrayLike] | None = None
) -> list[float]:
    """Times in [begin, end] at which a signal or a table of time jumps or kinks."""

    def find() -> list[float]:
        if system.structure is not None:
            return sorted(model_stops(model, timed_items(model), begin, end, named_values(model, values)))
        return system.equations.timeline.stops(begin, end, {**system.parameters, **(values or {})})

    model = system.model
    named = tuple(
        (name, np.asarray(x, float).tobytes())
        for name, x in (values or {}).items()
        if name in model.parameters
    )
    return list(system.cached_at(("stops", begin, end), named, find))


def named_values(model: Model, values: Mapping[str, ArrayLike] | None) -> dict[str, float]:
    """The values that belong to named parameters of the model."""
    return {
        name: float(np.asarray(x, float).ravel()[0])
        for name, x in (values or {}).items()
        if name in model.parameters
    }


LARGEST = 16
SMALLEST = 4
"""Smallest number of steps in a group. With fewer, the model is too large and the gain does not justify a
second function."""
OPERATIONS = 1600
"""Largest number of operations of a group: six steps of a body on a path (240 operations) save a fifth per
step; more steps save no more."""


def euler_group(system: System, balance: bool) -> tuple[NativeFunction, int] | None:
    """A function that takes a group of explicit Euler steps, and their number; None if it does not pay.

    The state of a small system stays in registers from step to step: a step of a pendulum takes 11 ns instead
    of 16, the same time as in a loop written by hand for that pendulum. In addition, the coordinates after a
    step are known in advance, q + h q': values that depend only on them are computed for two steps at once (see
    `twins`), so the number of steps is even.

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
