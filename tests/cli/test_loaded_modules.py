"""What a command does not need, it does not load: the libraries that take long to import."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import PRELOADED

EXAMPLES = Path(__file__).parents[2] / "examples"
SLOW = ("matplotlib", "pandas", "numba", "scipy.optimize")
NOT_TO_RUN = (
    *("scipy", "ruamel", "sekant.vehicle", "sekant.formulations.equations", "sekant.engine.codegen.build"),
    *(
        "sekant.solvers.dae",
        "sekant.solvers.taylor",
        "sekant.model.points.sections",
        "sekant.model.joints.path",
    ),
)
PROGRAM = """
import sys
from sekant.views.cli import app
try:
    app(sys.argv[1:], prog_name="sekant")
except SystemExit as end:
    assert not end.code, end.code
print("LOADED", *sys.modules)
"""


def loaded(*arguments, folder):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.rpartition("LOADED")[2].split())


def test_help_loads_next_to_nothing(tmp_path):
    found = loaded("--help", folder=tmp_path)
    assert not found & {"numpy", "casadi", "pydantic", "llvmlite", "scipy", *SLOW}


@pytest.mark.parametrize(
    ("arguments", "more"),
    [
        (("check", EXAMPLES / "slider_crank.yaml"), ("numpy", "casadi", "ruamel", "sekant.model")),
        (("run", EXAMPLES / "quarter_car.yaml", "--until", "0.1"), NOT_TO_RUN),
        (("kc", EXAMPLES / "suspensions" / "double_wishbone.yaml"), ("scipy", "sekant.reduction")),
        (("kc", EXAMPLES / "car" / "formula" / "parts" / "front.yaml", "--report", "a.html"), ("scipy",)),
        (("drive", EXAMPLES / "car" / "sedan.yaml", "--maneuver", "step-steer"), ("scipy",)),
    ],
    ids=lambda value: str(value[0]),
)
def test_commands_leave_slow_libraries_alone(tmp_path, arguments, more):
    loaded(*arguments, folder=tmp_path)  # fills the caches
    found = loaded(*arguments, folder=tmp_path)
    assert not found & {*SLOW, *more}


def test_reducing_an_axle_with_a_moved_point_leaves_slow_libraries_alone(tmp_path):
    loaded("new", "car", "car", folder=tmp_path)
    drive = ("drive", "car/car.yaml", "--maneuver", "car/maneuver.yaml", "--set", "duration=0.1 s")
    loaded(*drive, folder=tmp_path)
    axle = tmp_path / "car" / "front.yaml"
    before = axle.read_text(encoding="utf-8")
    moved = before.replace("lower_ball: [5, 640, -95]", "lower_ball: [5, 640, -94]")
    assert moved != before
    axle.write_text(moved, encoding="utf-8")
    assert not loaded(*drive, folder=tmp_path) & {*SLOW, "scipy.interpolate"}


@pytest.mark.parametrize("name", PRELOADED)
def test_what_the_commands_of_the_tests_are_forked_with_exists(name):
    assert importlib.util.find_spec(name)  # the server passes over a name that it does not find
