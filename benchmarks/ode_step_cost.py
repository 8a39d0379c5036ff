"""The cost of a step: a million explicit Euler steps of a pendulum, compared with hand-written loops.

Run: python benchmarks/ode_step_cost.py
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sin
from time import perf_counter

import numpy as np
from native_loop import euler, steps
from numba import cfunc, njit, types

from sekant.solvers.ode import OdeProblem, integrate

STEPS, STEP, GRAVITY = 1_000_000, 1e-6, 9.81
_TABLE = types.CPointer(types.CPointer(types.float64))


@cfunc(types.void(_TABLE, _TABLE, types.CPointer(types.float64)))
def pendulum(arg, res, w):
    x = arg[1]
    res[0][0] = x[1]
    res[0][1] = -arg[2][0] * sin(x[0])


@dataclass(frozen=True)
class Handle:
    address: int
    work_size: int = 0


@njit
def inlined(q, v, gravity, h, steps):
    """A loop with everything in registers."""
    for _ in range(steps):
        q, v = q + h * v, v - h * gravity * sin(q)
    return q, v


def best(run, repeats: int = 30) -> float:
    """Shortest time of a step in ns."""
    run()
    times = []
    for _ in range(repeats):
        began = perf_counter()
        run()
        times.append(perf_counter() - began)
    return min(times) / STEPS * 1e9


def main() -> None:
    clock, x, slope, p, tables = (np.zeros(size) for size in (1, 2, 2, 1, 1))
    p[0] = GRAVITY
    loop = steps(Handle(pendulum.address), [clock, x, p, tables], x, slope)

    def loop_by_address() -> None:
        x[:] = 1.0, 0.3
        euler(loop, STEPS, STEP)

    problem = OdeProblem(Handle(pendulum.address), 2, p)
    hand = best(lambda: inlined(1.0, 0.3, GRAVITY, STEP, STEPS))
    called = best(loop_by_address)
    solver = best(lambda: integrate(problem, [0.0, STEPS * STEP], [1.0, 0.3], method="euler", step=STEP))
    print(f"hand-written loop, everything inlined    {hand:6.2f} ns/step")
    print(f"hand-written loop, one call by address   {called:6.2f} ns/step")
    print(f"integrate(method='euler')           {solver:6.2f} ns/step")
    print(f"ratio to the call by address        {solver / called:6.2f}")
    print(f"ratio to everything inlined         {solver / hand:6.2f}")


if __name__ == "__main__":
    main()
