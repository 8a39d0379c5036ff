"""The command line in a process of its own, and a model for it."""

import os
import subprocess
import sys
from pathlib import Path

COLORING = {"FORCE_COLOR", "PY_COLORS", "CLICOLOR_FORCE", "GITHUB_ACTIONS"}

PENDULUM = """\
name: crane
parameters:
  L: 800 mm
  load: 1.3 kg
bodies:
  arm: {mass: load, com: [0, 0, -L/2], inertia: [0.06, 0.05, 0.02]}
  hook: {mass: 0.7, com: [0.02, 0, -0.3], inertia: [0.03, 0.025, 0.01]}
joints:
  shoulder: {type: revolute, child: arm, axis: [0, 1, 0], q0: 50 deg}
  elbow:
    type: revolute
    parent: arm
    child: hook
    axis: [0.1, 1, 0]
    parent_pose: {position: [0, 0, -L]}
simulation: {until: 2 s}
"""


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "sekant", *map(str, arguments)]


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in COLORING} | {"COLUMNS": "120"}


def sekant(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, cwd=cwd, env=environment(), check=False
    )
