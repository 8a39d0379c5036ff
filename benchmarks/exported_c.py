"""A step of exported C compared with a step of our compiled loop: processor time in the same run."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from timing import Timed, figure, target

import sekant as sk
from sekant.analyses.simulation.problems import explicit_problem
from sekant.analyses.simulation.start import start_of
from sekant.engine.functions.motion import time_stops
from sekant.io.export.compilers import FULL_SPEED, system_compiler
from sekant.solvers.ode import integrate

EXAMPLES = Path(__file__).parents[1] / "examples"
CASES = {  # file, method, step in s
    "quarter car, euler": ("quarter_car.yaml", "euler", 1e-4),
    "quarter car, rk4": ("quarter_car.yaml", "rk4", 1e-4),
    "coaster, rk4": ("roller_coaster.yaml", "rk4", 1e-4),
    "double wishbone with its loop, rk4": ("suspensions/double_wishbone.yaml", "rk4", 1e-4),
}
ROUNDS = 5


def of_c(program: Path, steps: int) -> float:
    """Time of a step (s), as reported by the self-test of the source."""
    told = subprocess.run([str(program), str(steps)], capture_output=True, text=True, check=True).stdout
    found = re.search(r"steps: (\S+) ns a step", told)
    assert found, told
    return float(found[1]) * 1e-9


def of_engine(system: sk.System, method: str, step: float, steps: int) -> float:
    """Time of a step (s) in our own loop, without intermediate outputs."""
    start = start_of(system, None, None, 0.0)[0]
    x = np.concatenate([start.q, start.v, system.element_states(start)])
    problem = explicit_problem(system, None, False, method)
    times = np.array([0.0, steps * step])
    began = process_time()
    done = integrate(problem, times, x, method=method, step=step, stops=time_stops(system, 0.0, times[-1]))
    assert done.status == "finished", done.describe()
    return (process_time() - began) / steps


def run(quick: bool) -> dict[str, Any]:
    compiler = system_compiler()
    if compiler is None:
        raise RuntimeError("there is no C compiler here")
    figures, targets = [], []
    steps = 500 if quick else 20_000
    for name, (file, method, step) in CASES.items():
        system = sk.compile(sk.load(EXAMPLES / file))
        with tempfile.TemporaryDirectory() as folder:
            source = sk.export.c(
                system, folder, method=method, step=step, outputs=["energy.kinetic"], name="m"
            ).source
            program = Path(folder) / "m"
            subprocess.run(
                [compiler, *FULL_SPEED, "-DM_SELF_TEST", str(source), "-lm", "-o", str(program)], check=True
            )
            best = [np.inf, np.inf]
            for _ in range(ROUNDS):
                best[0] = min(best[0], of_c(program, steps))
                best[1] = min(best[1], of_engine(system, method, step, steps))
        figures.append(figure(f"{name}: exported C", Timed(best[0], ROUNDS, steps), "ns"))
        figures.append(figure(f"{name}: our own loop", Timed(best[1], ROUNDS, steps), "ns"))
        targets.append(target(f"{name}: exported C / our own loop", best[0] / best[1], 1.3))
    return {"figures": figures, "targets": targets}


if __name__ == "__main__":
    told = run(False)
    for entry in [*told["figures"], *told["targets"]]:
        print(f"{entry['name']:60} {entry['value']:.4g} {entry['unit']}")
