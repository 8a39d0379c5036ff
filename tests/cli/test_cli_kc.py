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
        *("-o", "curves.csv", "--plot", "curves.svg", "--model", "corner.yaml", "--travel", "-50mm", "60mm"),
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
