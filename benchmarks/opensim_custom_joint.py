"""A body on a spline path, compared with OpenSim's CustomJoint with the same splines (if OpenSim is
installed). The body turns only about one axis. With splines on two or three rotation axes, OpenSim 4.6 gives
different accelerations as soon as the body moves, and its energy drifts by one percent in 10 s, while ours is
constant.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
from initial_value import initial_value_problem
from native_loop import STEP, euler, steps
from scipy.interpolate import CubicHermiteSpline, CubicSpline
from timing import Timed, best_of, figure, target

import sekant as sk
from sekant.engine.functions.motion import right_hand_side
from sekant.model.joints import Path
from sekant.solvers.common.sites import free_modes
from sekant.solvers.ode import integrate
from sekant.tables.table import Table

MASS, COM, INERTIA = 1.7, (0.05, -0.08, 0.11), (0.31, 0.42, 0.53)
GRAVITY, START, UNTIL, TOLERANCE = (0.0, 0.0, -9.81), -1.1, 10.0, 1e-9
NODES = np.linspace(-2.0, 2.0, 21)
STATES = ((0.31, 0.0), (-1.3, 2.1), (1.7, -0.9))


def splines() -> np.ndarray:
    """A rotation about z (rad) and three translations (m) at the nodes, (21, 4): a bowl in space."""
    u = NODES
    return np.stack(
        [0.25 * np.cos(1.3 * u), u, 0.4 * np.sin(1.7 * u), 0.5 * u**2 + 0.1 * np.sin(3 * u)], axis=1
    )


def opensim(quick: bool) -> dict[str, Any] | None:
    """The output of `opensim_peer`; None without OpenSim. OPENSIM_PYTHON may name the interpreter in which it
    is installed."""
    given = {
        "nodes": NODES.tolist(),
        "values": splines().tolist(),
        "mass": MASS,
        "com": COM,
        "inertia": INERTIA,
        "gravity": GRAVITY,
        "start": START,
        "until": UNTIL,
        "tolerance": TOLERANCE,
        "states": STATES,
        "count": 20 if quick else 1_000,
        "runs": 2 if quick else 10,
    }
    script = pathlib.Path(__file__).with_name("opensim_peer.py")
    command = [os.environ.get("OPENSIM_PYTHON", sys.executable), str(script), json.dumps(given)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        if "No module named 'opensim'" in done.stderr:
            return None
        raise RuntimeError(f"OpenSim failed: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def sekant_model(slopes: np.ndarray) -> sk.Model:
    """The same splines."""
    order = [1, 2, 3, 0]
    table = Table.from_scipy(
        CubicHermiteSpline(NODES, splines()[:, order], slopes[:, order]), extrapolation="linear"
    )
    body = sk.Body(mass=MASS, com=COM, inertia=(*INERTIA, 0, 0, 0))
    joint = Path(child="body", curve=sk.PoseCurve(table, "euler:z"), q0=START)
    return sk.Model(gravity=GRAVITY, bodies={"body": body}, joints={"path": joint})


def native_loop(system: sk.System):
    """Evaluations of the right-hand side one after another, as an integrator makes them."""
    rhs = right_hand_side(system, balance=False)
    x, xdot = np.array([START, 0.0]), np.zeros(2)
    inputs = [np.zeros(1), x, np.zeros(1), np.append(rhs.tables, 0.0), free_modes(rhs.sites)]
    loop = steps(rhs, inputs, x, xdot)

    def run(count: int) -> list[np.ndarray]:
        euler(loop, count, STEP)
        return inputs

    return run


def run(quick: bool) -> dict[str, Any]:
    peer = opensim(quick)
    slopes = CubicSpline(NODES, splines())(NODES, 1) if peer is None else np.array(peer["slopes"])
    system = sk.compile(sekant_model(slopes))
    loop = native_loop(system)
    problem, x0 = initial_value_problem(system, balance=False)

    def ours(tolerance: float) -> Any:
        return integrate(problem, np.array([0.0, UNTIL]), x0, method="dop853", rtol=tolerance, atol=tolerance)

    exact = float(ours(1e-13).x_last[0])
    errors = {
        tolerance: abs(float(ours(tolerance).x_last[0]) - exact) for tolerance in (TOLERANCE, 1e-10, 1e-11)
    }
    off = 0.0 if peer is None else abs(peer["last"] - exact)
    equal = next((tolerance for tolerance, error in errors.items() if error <= off), 1e-11)
    count = 20 if quick else 1_000
    contenders = {
        "rhs": (lambda: loop(count), count),
        "run": (lambda: ours(TOLERANCE), 1),
        "equal": (lambda: ours(equal), 1),
    }
    best = best_of(contenders, 2 if quick else 30)
    figures = [
        figure("Sekant, right-hand side", best["rhs"], "ns"),
        figure("Sekant, 10 s at 1e-9 (DOP853)", best["run"], "ms", f"error {errors[TOLERANCE]:.1e}"),
        figure(f"Sekant, 10 s at {equal:.0e} (DOP853)", best["equal"], "ms", f"error {errors[equal]:.1e}"),
    ]
    if peer is None:
        figures[0]["note"] = "no comparison: OpenSim is not installed, see README"
        return {"figures": figures, "targets": []}
    found = [float(system.forward_dynamics([u], [v])[0]) for u, v in STATES]
    difference = float(np.abs(np.array(found) - peer["accelerations"]).max())
    if difference > 1e-9:
        raise RuntimeError(f"the two models differ: accelerations by {difference:.1e}")
    runs = 2 if quick else 10
    figures += [
        figure("OpenSim, right-hand side", Timed(peer["rhs_seconds"], runs, count), "ns", "from Python"),
        figure("OpenSim, 10 s at 1e-9", Timed(peer["run_seconds"], runs, 1), "ms", f"error {off:.1e}"),
    ]
    targets = [
        target(
            "OpenSim / Sekant, right-hand side", peer["rhs_seconds"] / best["rhs"].seconds, 50, at_least=True
        ),
        target(
            "OpenSim / Sekant, 10 s at 1e-9", peer["run_seconds"] / best["run"].seconds, 20, at_least=True
        ),
        target(
            "OpenSim / Sekant, 10 s, at a tolerance at which Sekant is more accurate",
            peer["run_seconds"] / best["equal"].seconds,
            20,
            at_least=True,
        ),
        target("error of Sekant / error of OpenSim at this tolerance", errors[equal] / off, 1.0),
    ]
    return {"figures": figures, "targets": targets}
