"""A body on a spline path of 10, 1,000 and 100,000 pieces: time of a step and of compilation."""

from __future__ import annotations

from time import thread_time
from typing import Any

import numpy as np
from initial_value import initial_value_problem
from scipy.interpolate import make_interp_spline
from timing import Timed, best_of, figure, target

import sekant as sk
from sekant.engine.functions.motion import right_hand_side
from sekant.engine.functions.outputs import output_function
from sekant.model.joints import Path
from sekant.solvers.ode import integrate
from sekant.tables.table import Table

SIZES = (10, 1_000, 100_000)
LENGTH, SPEED = 12.0, 1.0


def path(pieces: int) -> sk.PoseCurve:
    """A quintic spline of `pieces` pieces of uneven lengths through the poses of one smooth motion."""
    rng = np.random.default_rng(pieces)
    steps = rng.uniform(0.6, 1.4, pieces + 4)
    u = np.concatenate([[0.0], np.cumsum(steps)])
    u *= LENGTH / u[-1]
    turn = 0.4 * np.sin(u)
    values = np.stack(
        [np.sin(u), 0.3 * u, 0.5 * np.cos(0.7 * u), np.cos(turn), np.sin(turn), 0.2 * np.cos(u), 0.1 * u],
        axis=1,
    )
    table = Table.from_scipy(make_interp_spline(u, values, k=5), extrapolation="periodic")
    return sk.PoseCurve(table, "quaternion", name="path")


def model(pieces: int) -> sk.Model:
    body = sk.Body(mass=1.3, com=(0.1, -0.2, 0.3), inertia=(0.3, 0.4, 0.5, 0.02, -0.03, 0.01))
    joint = Path(child="body", curve=path(pieces), q0=0.0, v0=SPEED)
    return sk.Model(gravity=(0, 0, -0.3), bodies={"body": body}, joints={"joint": joint})


def compile_seconds(described: sk.Model) -> float:
    """From the model to all functions that `simulate` calls, without the cache, in processor time."""
    began = thread_time()
    system = sk.compile(described, cache=False)
    right_hand_side(system, balance=True)
    output_function(system)
    return thread_time() - began


def run(quick: bool) -> dict[str, Any]:
    steps, runs = (2_000, 2) if quick else (50_000, 15)
    until = LENGTH / SPEED
    models = {n: model(n) for n in SIZES}
    contenders = {}
    for n, described in models.items():
        problem, x0 = initial_value_problem(sk.compile(described), balance=False)

        def go(problem=problem, x0=x0):
            return integrate(problem, np.array([0.0, until]), x0, method="rk4", step=until / steps)

        assert go().status == "finished"
        contenders[str(n)] = (go, steps)
    best = best_of(contenders, runs)
    compiled = {n: float("inf") for n in SIZES}
    for _ in range(2 if quick else 10):
        for n in SIZES:  # again each time, so that nothing of an earlier compilation can be used again
            compiled[n] = min(compiled[n], compile_seconds(model(n)))
    figures = [
        figure(f"{n:,} pieces, RK4", best[str(n)], "ns", "per step, all pieces visited") for n in SIZES
    ]
    figures += [
        figure(
            f"{n:,} pieces, compile time", Timed(compiled[n], 10, 1), "ms", "equations and outputs, no cache"
        )
        for n in SIZES
    ]
    times = [best[str(n)].seconds for n in SIZES]
    targets = [
        target("slowest step / fastest step", max(times) / min(times), 1.3),
        target("longest compilation / shortest", max(compiled.values()) / min(compiled.values()), 1.2),
    ]
    return {"figures": figures, "targets": targets}
