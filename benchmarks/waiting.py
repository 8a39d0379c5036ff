"""Waiting: first use with empty caches, every later use, and a call from Python; in processor seconds.

Every command runs in a process of its own; its processor time includes that of the processes that it starts.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import casadi as ca
from timing import Timed, best_of, figure, target

from sekant.engine.codegen.build import build

EXAMPLES = Path(__file__).parents[1] / "examples"
LOOPS = {
    "Taylor integrator": ("sekant.solvers.taylor.advance", "advance", 15.0),
    "Radau integrator": ("sekant.solvers.dae.radau", "advance", 12.0),
    "Dormand-Prince integrator": ("sekant.solvers.ode.dop853", "advance", 6.0),
    "fixed-step integrators": ("sekant.solvers.ode.fixed_step", "advance_fixed", None),
    "sweep of positions": ("sekant.solvers.sweep.walk", "spread", None),
}
COMMANDS = {
    "sekant --help": (["--help"], 0.3),
    "sekant check": (["check", str(EXAMPLES / "slider_crank.yaml")], 0.6),
    "sekant run, quarter car": (["run", str(EXAMPLES / "quarter_car.yaml")], 1.2),
}


def run(quick: bool) -> dict[str, Any]:
    figures, targets = [], []
    repeat = 1 if quick else 5
    numpy = min(_seconds([sys.executable, "-c", "import numpy"]) for _ in range(repeat))
    figures.append(figure("import numpy, for comparison", Timed(numpy, repeat, 1), "s"))
    for name, (module, function, limit) in LOOPS.items():
        program = f"from {module} import {function} as f; f.address"
        with tempfile.TemporaryDirectory() as empty:
            cold = _seconds([sys.executable, "-c", program], SEKANT_CACHE_DIR=empty)
            warm = _seconds([sys.executable, "-c", program], SEKANT_CACHE_DIR=empty)
        figures += [
            figure(f"{name}, empty cache", Timed(cold, 1, 1), "s"),
            figure(f"{name}, from the cache", Timed(warm, 1, 1), "s"),
        ]
        targets.append(target(f"{name}, empty cache", cold, limit, unit="s"))
    with tempfile.TemporaryDirectory() as folder:
        for name, (arguments, limit) in COMMANDS.items():
            command = [sys.executable, "-m", "sekant", *arguments]
            warm = min(_seconds(command, folder) for _ in range(repeat + 1))
            figures.append(figure(f"{name}, warm", Timed(warm, repeat, 1), "s"))
            targets.append(target(f"{name}, warm", warm, limit, unit="s"))
    return {"figures": figures + _calls(quick), "targets": targets}


def _seconds(command: list[str], folder: str | None = None, **environment: str) -> float:
    """Processor time of a process and of all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.decode()[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _calls(quick: bool) -> list[dict[str, Any]]:
    """What a call from Python costs, on a function that does next to nothing."""
    x = ca.SX.sym("x", 3)
    function = build("double", [x], [2 * x])
    bound, value, calls = function.bound(), [1.0, 2.0, 3.0], 100 if quick else 5000

    def repeated(action: Any) -> Any:
        return lambda: [action() for _ in range(calls)]

    best = best_of(
        {"bound": (repeated(bound), calls), "own arrays": (repeated(lambda: function(value)), calls)}, runs=5
    )
    return [
        figure("call of a bound function", best["bound"], "us"),
        figure("call that returns its own arrays", best["own arrays"], "us"),
    ]
