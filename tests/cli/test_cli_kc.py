"""`sekant kc` as a user meets it."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from command_line import sekant

import sekant as sk
from suspensions import EXAMPLES


def test_from_hard_points_to_curves_in_one_command(tmp_path):
    done = sekant(
        "kc",
        EXAMPLES / "hardpoints" / "double_wishbone.yaml",
        *(
            "--csv",
            "curves.csv",
            "--plot",
            "curves.svg",
            "--model",
            "corner.yaml",
            "--travel",
            "-50..60mm",
        ),
        *("--points", "12", "--racks", "3"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "caster" in done.stdout
    with (tmp_path / "curves.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 36
    drawn = next(row for row in rows if float(row["travel [mm]"]) == 0 and float(row["rack [mm]"]) == 0)
    assert float(drawn["caster [deg]"]) == pytest.approx(5.0270, abs=1e-4)
    assert "roll center height" in (tmp_path / "curves.svg").read_text()
    again, roles = sk.vehicle.load_suspension(tmp_path / "corner.yaml")
    curves = sk.vehicle.suspension_curves(again, roles, travel=[-0.05, 0.06])
    assert curves["camber"][0, 0] == pytest.approx(np.radians(float(rows[12]["camber [deg]"])), abs=1e-9)


def test_a_description_beside_a_model(tmp_path):
    model = EXAMPLES / "five_link.yaml"
    (tmp_path / "corner.yaml").write_text(
        f"model: {model}\nsuspension: {{travel: [-20 mm, 30 mm], axle: rear, wheelbase: 2.8, cg_height: 0.6}}\n"
    )
    done = sekant("kc", "corner.yaml", "--points", "4", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["side"] == "left"
    assert len(told["curves"]["anti_squat"]["values"]) == 4
    assert "caster" not in told["curves"]  # nothing steers it, and no ball joints are named


def test_faults_are_told_in_a_line(tmp_path):
    (tmp_path / "bad.yaml").write_text("type: double_wishbone\npoints: {upper_bal: [1, 2, 3]}\n")
    done = sekant("kc", "bad.yaml", cwd=tmp_path)
    assert done.returncode == 1
    assert "bad.yaml:2" in done.stderr
    assert "Traceback" not in done.stderr
    (tmp_path / "car.yaml").write_text("vehicle: car\nchassis: {mass: 900 kg}\n")
    done = sekant("kc", "car.yaml", cwd=tmp_path)
    assert done.returncode == 1
    assert (
        "car.yaml:1: vehicle: describes a car; give the file of one of its suspensions instead" in done.stderr
    )
    done = sekant("kc", EXAMPLES / "hardpoints" / "double_wishbone.yaml", "--motion", "roll", cwd=tmp_path)
    assert done.returncode == 2
    assert "--axle" in done.stderr


AXLE = """\
type: semi_trailing_arm
name: rear_axle
points:
  hinge_inner: [0.45, 0.2, 0.0]
  hinge_outer: [0.5, 0.6, -0.02]
  wheel_center: [0.0, 0.7, 0.0]
  spring_top: [0.2, 0.5, 0.4]
  spring_bottom: [0.2, 0.5, 0.0]
wheel: {tire: 205/55 R16}
spring: {stiffness: 30 N/mm, preload: 4 kN}
axle: {}
load: 3 kN
load_cases: {bump: {az: 2}}
suspension: {axle: rear, travel: [-50 mm, 60 mm], wheelbase: 2.6 m, cg_height: 0.5 m}
"""


def test_an_axle_and_its_report(tmp_path):
    (tmp_path / "rear.yaml").write_text(AXLE)
    done = sekant(
        "kc", "rear.yaml", "--points", "5", "--csv", "curves.csv", "--report", "kc.html", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "rear_axle, axle in parallel travel" in done.stdout
    assert "loads on members" in done.stdout
    head = (tmp_path / "curves.csv").read_text().splitlines()[0].split(",")
    assert {"left.camber [deg]", "right.camber [deg]", "roll_stiffness [N*m/deg]"} <= set(head)
    done = sekant("kc", "rear.yaml", "--points", "5", "--measured", "curves.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "deviation from curves.csv" in done.stdout
    page = (tmp_path / "kc.html").read_text()
    assert "<iframe" in page
    assert "Over roll" in page
    assert "Over steering" not in page
    assert "steering-axis offset at ground" not in page  # nothing steers: only words that are used
    assert "roll-centre height" in page


def test_faults_of_axles_are_told_in_a_line(tmp_path):
    (tmp_path / "rear.yaml").write_text(AXLE.replace("az: 2", "az: 2, left: {fq: 3}"))
    done = sekant("kc", "rear.yaml", "--points", "3", cwd=tmp_path)
    assert done.returncode == 1
    assert "no load 'fq'" in done.stderr
    assert "Traceback" not in done.stderr
    (tmp_path / "rear.yaml").write_text(AXLE)
    done = sekant("kc", "rear.yaml", "--motion", "twist", cwd=tmp_path)
    assert "unknown motion 'twist'" in done.stderr


def test_what_hard_points_do_to_a_curve(tmp_path):
    (tmp_path / "rear.yaml").write_text(AXLE)
    done = sekant(
        "kc", "rear.yaml", "--sensitivity", "camber", "--plot", "bars.svg", "--csv", "table.csv", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "if a hard point moves by 1 mm" in done.stdout
    assert "for 1 mm" in (tmp_path / "bars.svg").read_text()
    assert "hinge_inner.x" in (tmp_path / "table.csv").read_text().splitlines()[0]
    done = sekant("kc", "rear.yaml", "--sensitivity", "cambr", cwd=tmp_path)
    assert done.returncode == 1
    assert "no curve 'cambr'" in done.stderr


def test_a_file_of_measured_curves_is_no_suspension():
    done = sekant("kc", EXAMPLES.parent / "car" / "measured" / "front.csv")
    assert done.returncode == 1
    assert "--measured front.csv" in done.stderr
    assert "suspension: {curves: front.csv" in done.stderr


def test_designs_side_by_side_and_one_tuned(tmp_path):
    """Two files as a table of differences, a picture and a page; targets move hard points and are written."""
    (tmp_path / "rear.yaml").write_text(AXLE)
    (tmp_path / "other.yaml").write_text(
        AXLE.replace("hinge_outer: [0.5, 0.6, -0.02]", "hinge_outer: [0.5, 0.6, -0.03]")
    )
    asked = ["--points", "5", "--plot", "both.svg", "--csv", "both.csv", "--report", "both.html"]
    done = sekant("kc", "rear.yaml", "other.yaml", *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the largest difference from rear (in parentheses" in done.stdout
    assert "left.camber" in done.stdout
    rows = list(csv.DictReader((tmp_path / "both.csv").open()))
    assert {row["design"] for row in rows} == {"rear", "other"}
    assert len(rows) == 10
    assert "rear against other" in (tmp_path / "both.html").read_text()
    told = json.loads(sekant("kc", "rear.yaml", "other.yaml", "--points", "5", "--json", cwd=tmp_path).stdout)
    assert told["designs"] == ["rear", "other"]
    (tmp_path / "t.yaml").write_text(
        "travel: -10..10 mm:3\nmove: {hinge_outer.x: -90..90 mm}\n"
        "targets: {camber: {design: 0 deg, gradient: -20 deg/m}}\n"
    )
    done = sekant("kc", "rear.yaml", "--tune", "t.yaml", "-o", "tuned.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "hinge_outer.x" in done.stdout
    lines = [(tmp_path / name).read_text().splitlines() for name in ("rear.yaml", "tuned.yaml")]
    changed = [new for old, new in zip(*lines, strict=True) if old != new]  # comments and units stay
    assert len(changed) == 1
    assert "hinge_outer" in changed[0]
    tuned = sk.vehicle.load_axle(tmp_path / "tuned.yaml")
    slope = sk.vehicle.axle_curves(tuned, travel=[-0.01, 0.0, 0.01])["left.camber_gradient"][1, 0]
    assert np.degrees(slope) == pytest.approx(-20, abs=0.2)
    done = sekant("kc", "rear.yaml", "other.yaml", "--side", "left", cwd=tmp_path)
    assert done.returncode == 2
    (tmp_path / "t.yaml").write_text("targets:\n  cambr: 0 deg\n")
    done = sekant("kc", "rear.yaml", "--tune", "t.yaml", cwd=tmp_path)
    assert done.returncode == 1
    assert "t.yaml:2: targets.cambr: there is no curve 'cambr'" in done.stderr
