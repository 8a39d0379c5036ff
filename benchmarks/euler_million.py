"""A million explicit Euler steps of a damped pendulum, compared with a hand-written loop for the same equation."""

from __future__ import annotations

from math import sin
from typing import Any

import numpy as np
from initial_value import initial_value_problem
from numba import njit
from timing import best_of, figure, target

import sekant as sk
from sekant.model.forces import JointFriction
from sekant.model.joints import Revolute
from sekant.solvers.common.outcome import Outcome
from sekant.solvers.ode import OdeProblem, integrate

MASS, LENGTH, INERTIA, GRAVITY, DAMPING, START, STEP = 1.3, 0.7, 0.11, 9.81, 0.05, 1.1, 1e-6


@njit
def by_hand(q, v, n, h, stiffness, damping):
    for _ in range(n):
        a = -stiffness * sin(q) - damping * v
        q += h * v
        v += h * a
    return q, v


def pendulum() -> sk.Model:
    """A hinge about y; because of its friction, the energy balance has one more state, the work done."""
    arm = sk.Body(mass=MASS, com=(0, 0, -LENGTH), inertia=(0.13, INERTIA, 0.05, 0, 0, 0))
    return sk.Model(
        name="pendulum",
        gravity=(0, 0, -GRAVITY),
        bodies={"arm": arm},
        joints={"hinge": Revolute(child="arm", axis=(0, 1, 0), q0=(START,))},
        forces={"friction": JointFriction(joint="hinge", damping=DAMPING)},
    )


def run(quick: bool) -> dict[str, Any]:
    steps = 20_000 if quick else 1_000_000
    until = steps * STEP
    moment = INERTIA + MASS * LENGTH**2
    constants = (MASS * GRAVITY * LENGTH / moment, DAMPING / moment)
    system = sk.compile(pendulum())
    plain, balanced = (initial_value_problem(system, balance, groups=True) for balance in (False, True))

    def ours(problem: OdeProblem, x0: np.ndarray) -> Outcome:
        return integrate(problem, [0.0, until], x0, method="euler", step=STEP)

    def whole_call() -> sk.Result:
        options = {"method": "euler", "step": STEP, "output_step": until, "balance": False}
        return sk.simulate(system, until, outputs=["hinge.*"], **options)

    contenders = {
        "hand-written loop": (lambda: by_hand(START, 0.0, steps, STEP, *constants), steps),
        "Sekant's integrator": (lambda: ours(*plain), steps),
        "Sekant's integrator with the energy balance": (lambda: ours(*balanced), steps),
        "simulate, including outputs and result": (whole_call, steps),
    }
    times = best_of(contenders, 3 if quick else 20)
    hand, own, own_balanced, _ = (t.seconds for t in times.values())
    figures = [figure(name, t, "ns", "per step") for name, t in times.items()]
    angle, _ = by_hand(START, 0.0, steps, STEP, *constants)
    difference = abs(float(whole_call()["hinge.q"].ravel()[-1]) - angle)
    targets = [
        target("Sekant / hand-written loop, same two states", own / hand, 1.3),
        target("Sekant with the energy balance (a third state) / hand-written loop", own_balanced / hand),
        target("difference of the last angle from the hand-written loop", difference, 1e-9, unit="rad"),
    ]
    return {"figures": figures, "targets": targets}
