"""`sekant new`, `sekant schema`, `--json` everywhere, hints at a terminal, comparison of files."""

import json
import os
import pty
import subprocess

import numpy as np
import pytest
import typer.main
from command_line import command, environment, sekant
from typer.testing import CliRunner

import sekant as sk
from sekant.results import Channel, Channels, Result
from sekant.vehicle.maneuvers import maneuver
from sekant.vehicle.maneuvers.files import read_maneuver
from sekant.views.cli import app
from sekant.views.commands.new import FOLDER, Template, write_template

TEMPLATES = sorted(
    entry.name for entry in FOLDER.iterdir() if entry.is_dir() and not entry.name.startswith("_")
)
COMMANDS = typer.main.get_command(app).commands


def test_the_templates_on_offer_are_those_of_the_package():
    assert sorted(kind.value for kind in Template) == TEMPLATES


@pytest.mark.parametrize("name", [name for name in TEMPLATES if name != "track"])
def test_a_new_model_runs(name, tmp_path):
    model, *_ = write_template(name, tmp_path / "sub" / "folder")
    result = sk.simulate(sk.load(model), 2.0)
    assert result.ok
    assert result.warnings == ()  # whoever meets Sekant for the first time has nothing to mend
    energy = result.digest()["energy"]
    assert energy is not None
    assert energy["relative"] < 1e-6
    first, *_, last = model.read_text().splitlines()
    assert first.startswith("# ")
    assert last.startswith("simulation:")


def test_a_new_track_is_a_lap_for_any_car(tmp_path):
    told = json.loads(sekant("new", "track", "lap", "--json", cwd=tmp_path).stdout)
    assert told["files"] == ["lap/autocross.yaml", "lap/track.csv"]
    found = read_maneuver(tmp_path / "lap" / "autocross.yaml")
    assert (found.kind, found.car) == ("autocross", None)
    course = maneuver(found.kind, **found.options).course()
    assert not course.level
    assert course.length > 200.0


def test_new_says_what_to_do_next_and_overwrites_nothing(tmp_path):
    done = sekant("new", "quarter-car", "cars", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:2] == ["written: cars/quarter_car.yaml", "next: sekant check cars/quarter_car.yaml"]
    (tmp_path / "cars" / "quarter_car.yaml").write_text("mine")
    again = sekant("new", "quarter-car", "cars", cwd=tmp_path)
    assert again.returncode == 1
    assert again.stderr.startswith("cars/quarter_car.yaml: already exists and will not be overwritten")
    assert (tmp_path / "cars" / "quarter_car.yaml").read_text() == "mine"
    told = json.loads(sekant("new", "path", "--json", cwd=tmp_path).stdout)
    assert told["files"] == ["path.yaml", "poses.csv"]
    assert told["next"][0] == "sekant check path.yaml"
    assert sekant("new", "spaceship", cwd=tmp_path).returncode == 2


def test_schema_is_json_that_knows_every_joint(tmp_path):
    schema = json.loads(sekant("schema").stdout)
    kinds = [
        part["properties"]["type"]["const"]
        for part in schema["$defs"].values()
        if "type" in part["properties"]
    ]
    assert {"path", "surface", "revolute"} <= set(kinds)
    done = sekant(
        "schema", "-o", tmp_path / "s.json", "--json"
    )  # another process: tests add types to this one
    assert json.loads(done.stdout) == {"ok": True, "files": [str(tmp_path / "s.json")]}
    assert json.loads((tmp_path / "s.json").read_text()) == schema


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_speaks_json(name):
    for part in getattr(COMMANDS[name], "commands", {name: COMMANDS[name]}).values():
        assert any("--json" in parameter.opts for parameter in part.params)


def test_hints_are_for_people_at_a_terminal_only(model_folder):
    piped = sekant("check", "crane.yaml", cwd=model_folder)
    assert (piped.returncode, piped.stderr) == (0, "")
    assert "next:" not in piped.stdout
    ours, theirs = pty.openpty()
    done = subprocess.run(
        command("check", "crane.yaml"),
        stdout=subprocess.PIPE,
        stderr=theirs,
        cwd=model_folder,
        env=environment(),
        check=True,
    )
    os.close(theirs)
    seen = os.read(ours, 4096).decode()
    os.close(ours)
    assert "next: sekant run crane.yaml --plot crane.svg" in seen
    assert done.stdout.decode() == piped.stdout


def test_plot_compares_two_results(tmp_path):
    time = np.linspace(0.0, 2.0, 21)
    channels = Channels([Channel("hinge.q", "rad"), Channel("slide.q", "m"), Channel("slide.v", "m/s")])
    for name, more in (("a", 0.03), ("b", 0.0)):
        data = np.column_stack([2 * time, -time, time]) + more
        Result(time, data, channels, provenance={"model": "crane"}).save(tmp_path / f"{name}.nc")
    done = sekant("plot", "a.nc", "*.q", "--against", "b.nc", "-o", "c.svg", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["files"], set(told["errors"])) == (["c.svg"], {"hinge.q", "slide.q"})
    assert told["errors"]["hinge.q"]["max"] == pytest.approx(0.03 / 4)
    assert "a against b" in (tmp_path / "c.svg").read_text()
    assert sekant("plot", "a.nc", "--energy", "--against", "b.nc", cwd=tmp_path).returncode == 2


def test_check_counts_the_freedom_of_a_loop(tmp_path):
    model, *_ = write_template("four-bar", tmp_path)
    told = json.loads(CliRunner().invoke(app, ["check", str(model), "--json"]).stdout)
    assert (told["degrees_of_freedom"], told["coordinates"]) == (0, 2)  # the motor drives the only one


def test_the_shell_completes_commands_and_templates():
    asked = environment() | {"_SEKANT_COMPLETE": "complete_bash"}
    for typed, position, expected in (("sekant ne", "1", "new"), ("sekant new quarter", "2", "quarter-car")):
        done = subprocess.run(
            command(),
            capture_output=True,
            text=True,
            env=asked | {"COMP_WORDS": typed, "COMP_CWORD": position},
            check=False,
        )
        assert done.stdout.split() == [expected]
