"""N four-bars in a row for 10 s, compared with Exudyn and MuJoCo; growth with N.

Up to 64 unknowns the series are native code, above they are interpreted: N = 10 is on one side, all others
are on the other. Twice per turn all rods are on one line. Near this position, the series of round-off errors
converges only up to the position itself. A step that happens to begin close to it is therefore as short as
the remaining distance, and its systems take up to 12 back-substitutions, which are reported next to the
steps. The number of such steps is random and does not grow with N.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from loop_peers import UNTIL, Exudyn, MuJoCo, exact_angle
from timing import best_of, figure, target

import sekant as sk
from sekant.analyses.simulation.problems import taylor_problem
from sekant.solvers.common.outcome import Outcome
from sekant.solvers.taylor import TaylorRun, integrate

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

from n_four_bar import n_four_bar, n_four_bar_in_points

N = 40
TOLERANCE = 1e-8
TOLERANCES = (1e-5, 1e-6, 1e-7, 1e-8, 1e-10)
EXUDYN_STEPS, MUJOCO_STEP = (2_000, 10_000), 2e-3


class Sekant:
    """The assembled mechanism, as the problem that `simulate` passes to its integrator."""

    def __init__(self, count: int):
        self.system = self.compiled(count)
        self.start = sk.assemble(self.system)
        self.problem = taylor_problem(self.system)
        self.names = list(self.system.state_names)

    def compiled(self, count: int) -> sk.System:
        return sk.compile(n_four_bar(count))

    def solve(self, tolerance: float = TOLERANCE) -> Outcome:
        return integrate(*self._motion, **self._options(tolerance))

    @property
    def _motion(self) -> tuple:
        return self.problem, np.array([0.0, UNTIL]), self.start.q, self.start.v

    def _options(self, tolerance: float) -> dict:
        return {"p": self.system.parameter_vector(), "rtol": tolerance, "atol": tolerance}

    def counted(self, tolerance: float) -> TaylorRun:
        """A whole run, for its counts."""
        run = TaylorRun(*self._motion, **self._options(tolerance))
        run.advance(10**6)
        return run

    def error(self, angle: float, tolerance: float = TOLERANCE) -> float:
        x = self.solve(tolerance).x_last
        rods = [x[i] for i, name in enumerate(self.names) if name.startswith("O") and name.endswith(".angle")]
        return max(abs(2 * np.sin((found - angle) / 2)) for found in rods)


class InPoints(Sekant):
    """The same mechanism in natural coordinates."""

    def compiled(self, count: int) -> sk.System:
        return n_four_bar_in_points(count).compile()

    def error(self, angle: float, tolerance: float = TOLERANCE) -> float:
        tops = self.solve(tolerance).x_last[: self.system.nq].reshape(-1, 2)
        exact = np.array([[i + np.cos(angle), np.sin(angle)] for i in range(len(tops))])
        return float(np.linalg.norm(tops - exact, axis=1).max())


def loosest(ours: Sekant, angle: float) -> tuple[float, float]:
    """The first tolerance with an error of at most 1e-6 m, and that error."""
    for tolerance in TOLERANCES:
        error = ours.error(angle, tolerance)
        if error <= 1e-6:
            break
    return tolerance, error


def run(quick: bool) -> dict[str, Any]:
    count, runs = (4, 1) if quick else (N, 3)
    angle = float(exact_angle(count, np.array([0.0, UNTIL]))[-1])
    joints, ours = Sekant(count), InPoints(count)
    tolerance, error = loosest(ours, angle)
    tolerance_joints, error_joints = loosest(joints, angle)
    mujoco = MuJoCo(count, MUJOCO_STEP)
    steps = (200, 1_000) if quick else EXUDYN_STEPS
    exudyn = {n: Exudyn(count) for n in steps}
    contenders = {
        "ours": (lambda: ours.solve(tolerance), 1),
        "joints": (lambda: joints.solve(tolerance_joints), 1),
    }
    best = best_of(contenders, 3 if quick else 15)
    best |= best_of({"mujoco": (mujoco.solve, 1)}, runs, 0)
    for n in steps:
        best |= best_of({f"exudyn {n}": (lambda n=n: exudyn[n].solve(n), 1)}, 1, 0)
    simulated = best_of(
        {"simulate": (lambda: sk.simulate(ours.system, UNTIL, rtol=tolerance, atol=tolerance), 1)}, runs, 1
    )
    outcome = ours.solve(tolerance)
    figures = [
        figure(
            f"Sekant in points, N = {count}, tolerance {tolerance:.0e}",
            best["ours"],
            "ms",
            f"error {error:.1e} m, {outcome.stats['steps']} steps of order {outcome.stats['order']}",
        ),
        figure(
            f"Sekant in joint coordinates, tolerance {tolerance_joints:.0e}",
            best["joints"],
            "ms",
            f"error {error_joints:.1e} m, 3 of 5 equations per loop are redundant",
        ),
        figure("simulate in points, with all outputs at 1001 times", simulated["simulate"], "ms"),
        figure(
            f"MuJoCo, RK4, step {MUJOCO_STEP:g} s", best["mujoco"], "ms", f"error {mujoco.error(angle):.1e} m"
        ),
    ]
    for n in steps:
        note = f"error {exudyn[n].error(angle):.1e} m"
        figures.append(figure(f"Exudyn, generalized alpha, {n} steps", best[f"exudyn {n}"], "ms", note))
    targets = [
        target("error of Sekant", error, 1e-6, unit="m"),
        target(
            f"Exudyn at {steps[0]} steps / Sekant",
            best[f"exudyn {steps[0]}"].seconds / best["ours"].seconds,
            30,
            at_least=True,
        ),
        target(
            f"Exudyn at {steps[1]} steps (still less accurate) / Sekant",
            best[f"exudyn {steps[1]}"].seconds / best["ours"].seconds,
        ),
        target("MuJoCo / Sekant", best["mujoco"].seconds / best["ours"].seconds, 10, at_least=True),
    ]
    sizes = (4, 8) if quick else (10, 20, 40, 80, 160)
    models = {size: ours if size == count else InPoints(size) for size in sizes}
    for growth in (1e-6, 1e-8):
        seconds = []
        for size, grown in models.items():
            timed = best_of({"run": (partial(grown.solve, growth), 1)}, 2 if quick else 9)["run"]
            run = grown.counted(growth)
            steps_taken = run.outcome().stats["steps"]
            seconds.append(timed.seconds / steps_taken)
            note = f"{steps_taken} steps, {run.sweeps:.2f} back-substitutions per system"
            figures.append(figure(f"N = {size}, tolerance {growth:g}", timed, "ms", note))
        exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
        last = float(np.log2(seconds[-1] / seconds[-2]))
        grows = f"exponent of N of the time per step at {growth:g}"
        targets.append(target(f"{grows}, from N = {sizes[-2]} to {sizes[-1]}", last, 1.15, unit=""))
        targets.append(target(f"{grows}, fitted to all N", exponent, 1.15, unit=""))
    return {"figures": figures, "targets": targets}
