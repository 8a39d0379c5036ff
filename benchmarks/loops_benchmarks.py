"""Bricard's mechanism, slider-crank and stiff governor for 10 s, compared with SciPy, IDAS and published figures."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sin, sqrt
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from initial_value import initial_value_problem
from numba import njit
from scipy.integrate import solve_ivp
from timing import Timed, best_of, figure, target

import sekant as sk
from sekant.analyses.simulation.problems import dae_problem, taylor_problem
from sekant.engine.functions.motion import state_rates
from sekant.solvers.dae import integrate_dae
from sekant.solvers.ode import integrate as integrate_ode
from sekant.solvers.taylor import integrate as integrate_taylor

EXAMPLES = Path(__file__).parents[1] / "examples"
UNTIL = 10.0
OPENSIM = {"bricard": (0.088, 8e-7), "flyball_governor": (0.056, 2e-4)}
"""Seconds and error (m) of OpenSim on a machine like ours; it is not installed by `make bench`."""
DAETS = {"n_four_bar": 0.04, "slider_crank": 0.12, "bricard": 0.32, "flyball_governor": 709.79}
"""Published seconds at a tolerance of 1e-10 (DERA 5.18, 6.33), on another machine."""


def load(name: str) -> sk.System:
    return sk.compile(sk.load(EXAMPLES / f"{name}.yaml"))


@njit
def crank(t, x):
    """The slider-crank in one coordinate: J th'' + J' th'^2 / 2 + V' = 0, thin rods of 1 kg, 0.4 and 1 m."""
    l, g = 0.4, 9.81
    s, c = sin(x[0]), cos(x[0])
    root = sqrt(1.0 - (l * s) ** 2)
    Ax, Ay = -l * s, l * c
    Bx = Ax + Ax * Ay / root
    dAx, dAy = -l * c, -l * s
    droot = -l * l * s * c / root
    dBx = dAx + (dAx * Ay + Ax * dAy) / root - Ax * Ay * droot / root**2
    J = l * l / 3 + (l * l + Ax * Bx + Bx * Bx) / 3
    dJ = (dAx * Bx + Ax * dBx + 2 * Bx * dBx) / 3
    out = np.empty(2)
    out[0] = x[1]
    out[1] = -(dJ * x[1] ** 2 / 2 + g * l * c) / J
    return out


class Series:
    """A mechanism with loops and its Taylor integrator."""

    def __init__(self, name: str):
        self.system = load(name)
        self.start = sk.assemble(self.system)
        self.problem = taylor_problem(self.system)

    def solve(self, tolerance: float, until: float):
        times, p = np.array([0.0, until]), self.system.parameter_vector()
        return integrate_taylor(
            self.problem, times, self.start.q, self.start.v, p=p, rtol=tolerance, atol=tolerance
        )


def run(quick: bool) -> dict[str, Any]:
    until, runs = (1.0, 2) if quick else (UNTIL, 15)
    figures: list[dict[str, Any]] = []
    targets: list[dict[str, Any]] = []
    for part in (_slider_crank, _bricard, _governor):
        found = part(until, runs)
        figures += found[0]
        targets += found[1]
    return {"figures": figures, "targets": targets}


def _published(name: str, ours: Timed) -> dict[str, Any]:
    note = f"published for another machine; {DAETS[name] / ours.seconds:.0f} times ours"
    return {"name": f"  DAETS at 1e-10: {name}", "value": DAETS[name], "unit": "s", "note": note}


def _slider_crank(until: float, runs: int):
    ours = Series("slider_crank")
    at = ours.system.state_names.index("O.angle")
    c = 0.4 * sin(pi / 4)
    x0 = np.array([pi / 4, 4 / (c + c * c / sqrt(1 - c * c))])

    def scipy(tolerance: float) -> Any:
        return solve_ivp(crank, (0.0, until), x0, "DOP853", rtol=tolerance, atol=tolerance)

    reference = scipy(1e-13).y[0, -1]
    peer_error = float(abs(scipy(1e-10).y[0, -1] - reference))

    def error_at(tolerance: float) -> float:
        return float(abs(ours.solve(tolerance, until).x_last[at] - reference))

    tolerance, error = _loosest(error_at, peer_error)
    best = best_of(
        {"ours": (lambda: ours.solve(tolerance, until), 1), "scipy": (lambda: scipy(1e-10), 1)}, runs
    )
    figures = [
        figure(
            f"slider-crank, Sekant's series at {tolerance:.0e}", best["ours"], "ms", f"error {error:.1e} rad"
        ),
        figure(
            "  SciPy DOP853 at 1e-10 in one coordinate", best["scipy"], "ms", f"error {peer_error:.1e} rad"
        ),
        _published("slider_crank", best["ours"]),
    ]
    ratio = best["scipy"].seconds / best["ours"].seconds
    return figures, [target("slider-crank: SciPy / Sekant", ratio, 20, at_least=True)]


def _loosest(error_at: Callable[[float], float], allowed: float) -> tuple[float, float]:
    """The loosest tolerance (a power of ten) with an allowed error, and that error."""
    for exponent in range(4, 13):
        error = error_at(10.0**-exponent)
        if error <= allowed:
            break
    return 10.0**-exponent, error


def _bricard(until: float, runs: int):
    ours = Series("bricard")
    seconds, peer_error = OPENSIM["bricard"]
    reference = ours.solve(1e-13, until).x_last[: ours.system.nq]

    def error_at(tolerance: float) -> float:
        return float(np.abs(ours.solve(tolerance, until).x_last[: ours.system.nq] - reference).max())

    tolerance, error = _loosest(error_at, peer_error)
    best = best_of({"ours": (lambda: ours.solve(tolerance, until), 1)}, runs)
    figures = [
        figure(f"Bricard, Sekant's series at {tolerance:.0e}", best["ours"], "ms", f"error {error:.1e} rad"),
        {
            "name": "  OpenSim at its tolerance 1e-7",
            "value": seconds,
            "unit": "s",
            "note": f"error {peer_error:.0e} m, measured earlier on a machine like ours",
        },
        _published("bricard", best["ours"]),
    ]
    ratio = seconds / best["ours"].seconds
    return figures, [target("Bricard: OpenSim / Sekant", ratio, 10, at_least=True)]


def _governor(until: float, runs: int):
    system = load("flyball_governor")
    start = system.initial_state()
    x0, p = np.concatenate([start.q, start.v]), system.parameter_vector()
    problem = dae_problem(system, None)
    times = np.array([0.0, until])

    def radau(tolerance: float):
        return integrate_dae(
            problem, times, x0[: system.nq], x0[system.nq :], method="radau5", rtol=tolerance, atol=tolerance
        )

    explicit, start_row = initial_value_problem(system, balance=False)
    x, xdot = state_rates(system, balance=False)
    eq = system.equations
    ode = {"x": x, "t": eq.t, "p": eq.p, "ode": xdot}
    options = {"reltol": 1e-8, "abstol": 1e-8, "max_num_steps": 1_000_000}
    idas = ca.integrator("governor", "idas", ode, 0.0, until, options)
    reference = integrate_ode(explicit, times, start_row, method="dop853", rtol=1e-12, atol=1e-12).x_last
    peer = np.array(idas(x0=x0, p=p)["xf"]).ravel()
    peer_error = float(np.abs(peer - reference)[: system.nq].max())

    def error_at(tolerance: float) -> float:
        return float(np.abs(radau(tolerance).x_last[: x0.size] - reference)[: system.nq].max())

    tolerance, error = _loosest(error_at, 1e-6)
    best = best_of({"ours": (lambda: radau(tolerance), 1)}, runs)
    best |= best_of({"idas": (lambda: idas(x0=x0, p=p), 1)}, min(runs, 3), 1)
    seconds, opensim_error = OPENSIM["flyball_governor"]
    figures = [
        figure(f"governor, Sekant's radau5 at {tolerance:.0e}", best["ours"], "ms", f"error {error:.1e}"),
        figure("  IDAS through CasADi at 1e-8", best["idas"], "ms", f"error {peer_error:.1e}"),
        {
            "name": "  OpenSim's CPodes",
            "value": seconds,
            "unit": "s",
            "note": f"error {opensim_error:.0e} m, measured earlier on a machine like ours",
        },
        _published("flyball_governor", best["ours"]),
    ]
    targets = [
        target("governor: error of Sekant (m, rad)", error, 1e-6, unit=""),
        target("governor: IDAS / Sekant", best["idas"].seconds / best["ours"].seconds, 10, at_least=True),
        target("governor: OpenSim / Sekant", seconds / best["ours"].seconds, 4, at_least=True),
    ]
    return figures, targets
