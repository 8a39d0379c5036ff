"""The command line as a user meets it: help, versions, usage errors, pictures."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer.main
from command_line import sekant

from sekant.results import Channel, Channels, Result
from sekant.version import __version__
from sekant.views.cli import app
from sekant.views.options import in_unit


@pytest.fixture
def result_file(tmp_path) -> Path:
    time = np.linspace(0.0, 2.0, 21)
    channels = Channels([Channel("hinge.q", "rad"), Channel("arm.position", "m", ("x", "y", "z"))])
    data = np.column_stack([np.sin(time), time, time**2, -time])
    Result(time, data, channels, provenance={"model": "crane"}).save(tmp_path / "crane.nc")
    return tmp_path / "crane.nc"


def test_help_names_every_command():
    done = sekant("--help")
    assert done.returncode == 0
    for command in ("run", "check", "fit", "plot", "doctor"):
        assert command in done.stdout
        assert sekant(command, "--help").returncode == 0
    assert done.stderr == ""


def test_options_mean_the_same_in_all_commands():
    """-o is short for --output, what a command makes; --csv and --plot name further files; --json takes nothing."""

    def commands(group):
        for command in group.commands.values():
            yield from commands(command) if hasattr(command, "commands") else [command]

    found = {}
    for command in commands(typer.main.get_command(app)):
        for option in command.params:
            for name in option.opts:
                if name.startswith("-"):
                    found.setdefault(name, []).append((option, command.name))
    assert all("--output" in option.opts for option, _ in found["-o"])
    assert len(found["--output"]) == len(found["-o"]) > 8
    for name in ("--output", "--csv", "--plot"):
        assert {option.type_descriptor.annotation for option, _ in found[name]} == {Path}, name
        assert not any(option.multiple for option, _ in found[name]), name
    assert len(found["--csv"]) > 3
    assert all(option.is_flag for option, _ in found["--json"])


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [("3", "s", 3.0), ("300ms", "s", 0.3), ("-2.5e-1 mm", "m", -2.5e-4), ("80 km/h", "m/s", 80 / 3.6)],
)
def test_options_take_units(text, unit, value):
    assert in_unit(unit)(text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("3 m", "'3 m' is a length, but a time is expected"),
        ("abc", "'abc' is not a number; write a number in s"),
        ("", "'' is not a number; write a number in s"),
        ("3 parsec", "unknown unit 'parsec'"),
    ],
)
def test_options_in_other_units_are_refused(text, cause):
    with pytest.raises(typer.BadParameter, match=cause):
        in_unit("s")(text)


@pytest.mark.parametrize(
    ("arguments", "ending"),
    [
        (["run", "a.yaml", "--html", "a.txt"], ".html"),
        (["run", "a.yaml", "--csv", "a.nc"], ".csv"),
        (["kc", "a.yaml", "--report", "a.txt"], ".html"),
        (["kc", "a.yaml", "--model", "a.json"], ".yaml"),
        (["drive", "a.yaml", "-o", "a.html"], ".nc"),
        (["fit", "a.csv", "-o", "a.yaml"], ".json"),
        (["schema", "-o", "a.txt"], ".json"),
    ],
)
def test_names_of_files_of_another_kind_are_refused_before_any_work(arguments, ending):
    done = sekant(*arguments)  # there is no file to work on
    assert done.returncode == 1
    assert f"{arguments[-1]}: " in done.stderr
    assert f"must end in {ending}" in done.stderr


def test_version():
    assert sekant("--version").stdout == f"sekant {__version__}\n"


def test_the_command_line_starts_without_heavy_libraries():
    heavy = (
        "numpy",
        "scipy",
        "matplotlib",
        "casadi",
        "numba",
        "llvmlite",
        "pydantic",
        "pandas",
        "ruamel.yaml",
    )
    program = f"import sys, sekant.views.cli; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plto"], "No such command 'plto'"),
        (["plot"], "Missing argument"),
        (["run"], "Missing argument"),
        (["run", "a.yaml", "--until", "soon"], "--until"),
        (["run", "a.yaml", "--engine", "steam"], "steam"),
        (["run", "a.yaml", "--set", "k"], "not of the form NAME=VALUE"),
        (["run", "a.yaml", "--set", "k=1", "--set", "k=2"], "set twice"),
        (["run", "a.yaml", "--output", "a.csv"], "must end in .nc"),
        (["check", "a.yaml", "--frobnicate"], "No such option"),
    ],
)
def test_usage_errors_exit_with_2(arguments, message, tmp_path):
    done = sekant(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_plot_draws_an_overview_beside_the_caller(result_file, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    done = sekant("plot", result_file, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "written: crane.svg\n", "")
    assert "hinge.q" in (folder / "crane.svg").read_text()


def test_plot_draws_what_is_named(result_file, tmp_path):
    done = sekant("plot", result_file, "arm.x", "*.q", "-o", tmp_path / "a.svg")
    assert done.returncode == 0
    picture = (tmp_path / "a.svg").read_text()
    assert "arm.position.x" in picture
    assert "arm.position.y" not in picture


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plot", "nowhere.nc"], "nowhere.nc: cannot be read: there is no such file"),
        (["plot", "crane.nc", "hinge.w"], "there is no channel 'hinge.w'; did you mean 'hinge.q'?\n"),
        (["plot", "crane.nc", "-o", "a.jpg"], "a.jpg: '.jpg' is not a supported picture format"),
        (["plot", "crane.nc", "-o", "no/a.svg"], "no/a.svg: cannot be written: there is no directory 'no'\n"),
        (["plot", "text.nc"], "text.nc: is not a result file"),
        (["run", "a.yaml", "-o", "no/a.nc"], "no/a.nc: cannot be written: there is no directory 'no'\n"),
        (["run", "a.yaml", "-o", "folder.nc"], "folder.nc: is a directory"),
        (["run", "a.yaml", "--plot", "a.jpg"], "a.jpg: '.jpg' is not a supported picture format"),
        (["run", "a.yaml", "--csv", "no/a.csv"], "no/a.csv: cannot be written"),
    ],
)
def test_wrong_data_exit_with_1_and_one_line(arguments, message, result_file, tmp_path):
    (tmp_path / "text.nc").write_text("not netCDF")
    (tmp_path / "folder.nc").mkdir()
    done = sekant(*arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
