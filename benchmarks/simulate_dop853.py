"""A double pendulum for 10 s at a tolerance of 1e-10, compared with SciPy's DOP853 and a compiled equation."""

from __future__ import annotations

from math import cos, sin
from typing import Any

import numpy as np
from initial_value import initial_value_problem
from numba import njit
from scipy.integrate import solve_ivp
from timing import best_of, figure, target

import sekant as sk
from sekant.model.joints import Revolute
from sekant.solvers.common.outcome import Outcome
from sekant.solvers.ode import integrate

M1, L1, C1, J1 = 1.3, 0.8, 0.45, 0.07
M2, C2, J2 = 0.9, 0.35, 0.04
GRAVITY, START, UNTIL, TOLERANCE = 9.81, (1.2, -1.9), 10.0, 1e-10
TIGHTER = 1e-11
"""The two libraries weigh errors in different coordinates: this tolerance makes Sekant the more accurate one."""


@njit
def right_hand_side(t, x):
    """Lagrange's equations in the absolute angles (theta_1, theta_2) and their rates."""
    c, s = cos(x[0] - x[1]), sin(x[0] - x[1])
    a, b, d = J1 + M1 * C1**2 + M2 * L1**2, M2 * L1 * C2 * c, J2 + M2 * C2**2
    f = -M2 * L1 * C2 * s * x[3] ** 2 - (M1 * C1 + M2 * L1) * GRAVITY * sin(x[0])
    g = M2 * L1 * C2 * s * x[2] ** 2 - M2 * C2 * GRAVITY * sin(x[1])
    out = np.empty(4)
    out[0], out[1] = x[2], x[3]
    out[2] = (d * f - b * g) / (a * d - b * b)
    out[3] = (a * g - b * f) / (a * d - b * b)
    return out


def double_pendulum() -> sk.Model:
    bodies = {
        "upper": sk.Body(mass=M1, com=(0, 0, -C1), inertia=(0.05, J1, 0.06, 0, 0, 0)),
        "lower": sk.Body(mass=M2, com=(0, 0, -C2), inertia=(0.03, J2, 0.035, 0, 0, 0)),
    }
    joints = {
        "shoulder": Revolute(child="upper", axis=(0, 1, 0), q0=(START[0],)),
        "elbow": Revolute(
            parent="upper",
            child="lower",
            axis=(0, 1, 0),
            parent_pose=sk.Frame(position=(0, 0, -L1)),
            q0=(START[1],),
        ),
    }
    return sk.Model(name="double_pendulum", gravity=(0, 0, -GRAVITY), bodies=bodies, joints=joints)


def run(quick: bool) -> dict[str, Any]:
    until = 1.0 if quick else UNTIL
    times = np.linspace(0.0, until, 101)
    x0 = np.array([START[0], START[0] + START[1], 0.0, 0.0])

    def scipy(tolerance: float) -> Any:
        return solve_ivp(
            right_hand_side, (0.0, until), x0, "DOP853", t_eval=times, rtol=tolerance, atol=tolerance
        )

    system = sk.compile(double_pendulum())

    def ours(tolerance: float) -> sk.Result:
        names = ["shoulder.*", "elbow.*"]
        return sk.simulate(system, output_times=times, rtol=tolerance, atol=tolerance, outputs=names)

    def error(result: sk.Result) -> float:
        q = np.array([np.asarray(result[f"{name}.q"]).ravel() for name in ("shoulder", "elbow")])
        return float(np.abs(np.cumsum(q, axis=0) - reference).max())

    reference = scipy(1e-13).y[:2]
    peer = scipy(TOLERANCE)
    peer_error = float(np.abs(peer.y[:2] - reference).max())
    problem, start = initial_value_problem(system, balance=True)

    def solver(tolerance: float) -> Outcome:
        return integrate(problem, times, start, method="dop853", rtol=tolerance, atol=tolerance)

    contenders = {
        "scipy": (lambda: scipy(TOLERANCE), 1),
        "whole call": (lambda: ours(TOLERANCE), 1),
        "same": (lambda: solver(TOLERANCE), 1),
        "tighter": (lambda: solver(TIGHTER), 1),
    }
    best = best_of(contenders, 3 if quick else 30)
    note = f"{peer.nfev} evaluations, error {peer_error:.1e} rad"
    figures = [
        figure("SciPy DOP853", best["scipy"], "ms", note),
        figure("simulate, including outputs and result", best["whole call"], "ms"),
    ]
    for name, tolerance in (("same", TOLERANCE), ("tighter", TIGHTER)):
        found = ours(tolerance)
        note = f"{found.stats['evaluations']} evaluations, error {error(found):.1e} rad"
        figures.append(figure(f"Sekant's integrator at {tolerance:.0e}", best[name], "ms", note))
    peer_seconds = best["scipy"].seconds
    targets = [
        target("SciPy / Sekant, same tolerance", peer_seconds / best["same"].seconds),
        target("SciPy / Sekant's simulate, same tolerance", peer_seconds / best["whole call"].seconds),
        target("SciPy / Sekant at the tighter tolerance", peer_seconds / best["tighter"].seconds),
        target(
            "error of Sekant at the tighter tolerance / error of SciPy", error(ours(TIGHTER)) / peer_error
        ),
    ]
    return {"figures": figures, "targets": targets}
