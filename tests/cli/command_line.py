"""The command line in a process of its own, and a model for it."""

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

COLORING = {"FORCE_COLOR", "PY_COLORS", "CLICOLOR_FORCE", "GITHUB_ACTIONS"}

PRELOADED = [
    "sekant.views.cli",
    "sekant.analyses.simulation.simulate",
    "sekant.analyses.kinematics.sweep",
    "sekant.analyses.linear.linearize",
    "sekant.analyses.steady.motion",
    "sekant.io.writing",
    "sekant.vehicle.kc.curves",
    "scipy.linalg",
    "matplotlib",
]
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(PRELOADED)

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
    """The command line in a process of its own, forked from one that has imported the modules and done nothing else.

    Each call behaves as a fresh process does; the imports are paid once. (How they are paid is tested elsewhere.)
    """
    words = [str(one) for one in arguments]
    with tempfile.TemporaryDirectory() as folder:
        texts = [Path(folder) / name for name in ("out", "err")]
        process = SERVER.Process(target=_main, args=(words, cwd, environment(), *texts))
        process.start()
        process.join()
        stdout, stderr = (text.read_text(encoding="utf-8") for text in texts)
        return subprocess.CompletedProcess(command(*words), process.exitcode or 0, stdout, stderr)


def _main(words: list[str], cwd: Path | None, variables: dict[str, str], out: Path, err: Path) -> None:
    for stream, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, out, os.O_WRONLY | os.O_CREAT),
        (2, err, os.O_WRONLY | os.O_CREAT),
    ):
        os.dup2(os.open(path, flags), stream)
    sys.stdin, sys.stdout, sys.stderr = (open(k, "r" if k == 0 else "w", encoding="utf-8") for k in range(3))  # noqa: SIM115
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(cwd or os.getcwd())
    sys.argv = ["sekant", *words]
    code = 1
    try:
        runpy.run_module("sekant", run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
