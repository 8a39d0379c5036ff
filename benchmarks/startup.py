"""Time until the first output: the help of the command line, and the first result of the demo."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from timing import Timed, figure, target

DEMO = Path(__file__).parent.parent / "examples" / "double_pendulum.yaml"


def run(quick: bool) -> dict[str, Any]:
    runs = 2 if quick else 7
    with tempfile.TemporaryDirectory() as folder:
        output = str(Path(folder, "demo.nc"))
        commands = {
            "python -c pass": ["-c", "pass"],
            "import sekant": ["-c", "import sekant"],
            "sekant --help": ["-m", "sekant", "--help"],
            "sekant run, demo model": ["-m", "sekant", "run", str(DEMO), "--output", output],
        }
        best, processor = dict.fromkeys(commands, float("inf")), dict.fromkeys(commands, float("inf"))
        for i in range(-1, runs):  # the first round fills the caches
            for name, command in commands.items():
                wall, used = _times(command)
                if i >= 0:
                    best[name], processor[name] = min(best[name], wall), min(processor[name], used)
    figures = [
        figure(
            name,
            Timed(seconds, runs, 1),
            "ms",
            f"wall time; {1e3 * processor[name]:.0f} ms of processor time",
        )
        for name, seconds in best.items()
    ]
    targets = [
        target("sekant --help", best["sekant --help"], 0.4, unit="s"),
        target("first result of the demo model, warm", best["sekant run, demo model"], 3.0, unit="s"),
    ]
    return {"figures": figures, "targets": targets}


def _times(command: list[str]) -> tuple[float, float]:
    """Wall time and processor time of a Python process, in s."""
    began, used = perf_counter(), sum(os.times()[2:4])
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    wall, used = perf_counter() - began, sum(os.times()[2:4]) - used
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no message"]
        raise RuntimeError(f"python {' '.join(command[:3])} ... ended with {done.returncode}: {last[0]}")
    return wall, used
