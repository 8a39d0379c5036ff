"""`sekant linearize`: tables, JSON and pictures of modes, and what bad input says."""

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import sekant

SPINNER = """\
name: spinner
parameters: {T: 0}
bodies:
  hub: {mass: 1}
  bob: {mass: 10, com: [0, 0, -0.5]}
joints:
  shaft: {type: revolute, child: hub, axis: [0, 0, 1]}
  hinge: {type: revolute, parent: hub, child: bob, axis: [0, 1, 0], q0: 30 deg}
forces:
  drive: {type: actuator, joint: shaft, force: T - 0.3*v}
"""
SWING = """\
name: swing
bodies: {rod: {mass: 2, com: [0, 0, -0.5], inertia: [0.2, 0.2, 0.01]}}
joints: {hinge: {type: revolute, child: rod, axis: [0, 1, 0], q0: 40 deg}}
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "spinner.yaml").write_text(SPINNER)
    (tmp_path / "swing.yaml").write_text(SWING)
    return tmp_path


def test_modes_about_an_equilibrium_are_told_and_drawn(files):
    done = sekant("linearize", "swing.yaml", "--plot", "modes.svg", cwd=files)
    assert done.returncode == 0, done.stderr
    frequency = np.sqrt(2 * 9.81 * 0.5 / (0.2 + 0.5)) / (2 * np.pi)
    assert f"{frequency:.5f}" in done.stdout
    assert "hinge.angle" in done.stdout
    assert "mode 1" in (files / "modes.svg").read_text()


def test_a_bode_plot_needs_an_input_and_an_output(files):
    ports = ["--input", "hinge.angle", "--response", "hinge.q"]
    done = sekant("linearize", "swing.yaml", *ports, "--bode", "bode.svg", cwd=files)
    assert done.returncode == 0, done.stderr
    assert "hinge.q / hinge.angle" in (files / "bode.svg").read_text()
    done = sekant("linearize", "swing.yaml", "--bode", "bode.svg", cwd=files)
    assert done.returncode == 2
    assert "--input" in done.stderr


def test_modes_about_a_steady_motion_as_json(files):
    options = ["--at", "steady", "--rate", "shaft.angle=4.75975", "--unknown", "T", "--json"]
    done = sekant("linearize", "spinner.yaml", *options, cwd=files)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["unknowns"]["T"] == pytest.approx(0.3 * 4.75975)
    assert told["zeros"] == 1
    assert len(told["modes"]) == 4
    assert told["modes"][-1]["undamped_frequency"] == pytest.approx(8.58 / (2 * np.pi), rel=2e-3)


def test_modes_at_a_time_and_bad_input(files):
    done = sekant("linearize", "swing.yaml", "--at", "time", "--time", "100 ms", "--json", cwd=files)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    q = told["q"][0]
    assert 0.5 < q < np.radians(40)
    assert told["A"][1][0] == pytest.approx(-2 * 9.81 * 0.5 * np.cos(q) / 0.7, rel=1e-3)
    done = sekant("linearize", "spinner.yaml", "--at", "steady", "--rate", "shaft.angle=5", cwd=files)
    assert done.returncode == 1
    assert "steady motion is impossible" in done.stderr
    assert "force along shaft.rate" in done.stderr
    assert "Traceback" not in done.stderr
    assert sekant("linearize", "swing.yaml", "--rate", "hinge.angle=2", cwd=files).returncode == 2


def test_units_are_those_of_what_is_given(files):
    for options in (
        ["--at", "time", "--time", "1 kg"],
        ["--at", "steady", "--turn", "5deg", "--unknown", "T"],
    ):
        done = sekant("linearize", "spinner.yaml", *options, cwd=files)
        assert done.returncode == 2
        assert "is not a number in" in done.stderr


OSCILLATOR = """\
name: oscillator
parameters: {k: 8 N/m, c: 1 N*s/m}
gravity: [0, 0, 0]
bodies: {block: {mass: 2}}
joints: {rail: {type: prismatic, child: block, axis: [1, 0, 0]}}
forces: {law: {type: actuator, joint: rail, force: -k*q - c*v}}
"""


def test_sensitivities_and_a_locus_in_one_command(files):
    (files / "oscillator.yaml").write_text(OSCILLATOR)
    asked = ["--sensitivity", "k,c", "--locus", "c=-1..15 N*s/m:9", "--plot", "locus.svg"]
    done = sekant("linearize", "oscillator.yaml", *asked, cwd=files)
    assert done.returncode == 0, done.stderr
    assert "d(damping)" in done.stdout
    assert "becomes stable at c = " in done.stdout
    assert "root locus: c" in (files / "locus.svg").read_text()
    done = sekant("linearize", "oscillator.yaml", *asked[:4], "--json", cwd=files)
    told = json.loads(done.stdout)
    assert [row["parameter"] for row in told["sensitivity"]] == ["k", "c"]
    assert told["locus"]["crossings"][0]["value"] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        (["--locus", "c"], 1, "NAME=RANGE"),
        (["--locus", "c=1..2 kg"], 1, "--locus"),
        (["--locus", "d=1..2"], 1, "'d'"),
        (["--sensitivity", "k,,c"], 2, "empty name"),
        (["--at", "time", "--locus", "c=1..2"], 2, "sekant steady"),
    ],
)
def test_wrong_loci_are_told(files, asked, code, said):
    (files / "oscillator.yaml").write_text(OSCILLATOR)
    done = sekant("linearize", "oscillator.yaml", *asked, cwd=files)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert said in done.stderr


def test_steady_motions_with_modes_sensitivities_and_a_locus(files):
    asked = ["--rate", "shaft.angle=5", "--unknown", "T", "--sensitivity", "bob.mass"]
    locus = ["--locus", "shaft.angle=5..6 rad/s:3", "--plot", "locus.svg"]
    done = sekant("steady", "spinner.yaml", *asked, *locus, cwd=files)
    assert done.returncode == 0, done.stderr
    assert "found T = 1.5" in done.stdout
    assert "bob.mass" in done.stdout
    assert "(SI units)" in done.stdout
    assert (files / "locus.svg").exists()
    done = sekant("steady", "spinner.yaml", *asked, "--json", cwd=files)
    told = json.loads(done.stdout)
    assert told["unknown_sensitivity"]["T"]["bob.mass"] == pytest.approx(0.0, abs=1e-9)
    done = sekant("steady", "spinner.yaml", cwd=files)
    assert done.returncode == 2
    assert "--turn" in done.stderr
    done = sekant("steady", "spinner.yaml", *asked, "--locus", "T=1..2", cwd=files)
    assert done.returncode == 1
    assert "is an unknown of the steady motion" in done.stderr


def test_a_car_runs_straight_ahead_and_turns(tmp_path):
    measured = Path(__file__).parents[2] / "examples" / "car" / "measured"
    for file in measured.iterdir():
        text = file.read_text()
        (tmp_path / file.name).write_text(
            text.replace("compliance: rates.csv", "") if file.suffix == ".yaml" else text
        )
    done = sekant("steady", "car.yaml", "--sensitivity", "chassis.mass", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sensitivity"]
    done = sekant("linearize", "car.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert "sekant steady" in done.stderr
    for asked, said in (
        (["--turn", "1"], "lateral_acceleration"),
        (["--velocity", "0,20,0"], "along x"),
        (["--target", "speed=-3"], "positive"),
        (["--target", "radius=3"], "unknown target"),
    ):
        done = sekant("steady", "car.yaml", *asked, cwd=tmp_path)
        assert done.returncode == 2
        assert said in done.stderr
    done = sekant("steady", "car.yaml", "--target", "lateral_acceleration=30", cwd=tmp_path)
    assert done.returncode == 1
    assert "exceeds the grip" in done.stderr
