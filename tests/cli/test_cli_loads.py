"""`sekant loads` of an axle and of a car."""

import csv
import json
from pathlib import Path

import pytest
from command_line import sekant

from sekant.views.commands.new import FOLDER

EXAMPLES = Path(__file__).parents[2] / "examples"
CAR = EXAMPLES / "car" / "formula" / "formula.yaml"


def test_loads_of_a_car(tmp_path):
    (tmp_path / "cases.yaml").write_text("braking: {ax: -1.2}\nkerb: {az: 2, hold: springs}\n")
    asked = [
        "--cases",
        "cases.yaml",
        "--csv",
        "loads.csv",
        "--envelope",
        "largest.csv",
        "--html",
        "play.html",
        "--json",
    ]
    done = sekant("loads", CAR, *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    for axle in ("front", "rear"):
        page = (tmp_path / f"play-{axle}.html").read_text()
        assert '"stages":[[0.0,"braking"],[1.0,"kerb"]]' in page.replace(", ", ",").replace(": ", ":")
    wheels = told["wheels"]
    total = [sum(x for key, x in wheels[case].items() if key.endswith("fz")) for case in ("braking", "kerb")]
    assert total[1] == pytest.approx(2 * total[0], rel=1e-9)
    assert wheels["braking"]["front.left.fz"] > wheels["braking"]["rear.left.fz"]
    rows = list(csv.DictReader((tmp_path / "loads.csv").read_text().splitlines()))
    assert {row["axle"] for row in rows} == {"front", "rear"}
    row = next(
        r
        for r in rows
        if (r["case"], r["axle"], r["part"], r["point"]) == ("braking", "front", "left.push_rod", "axial")
    )
    assert float(row["axial [N]"]) == pytest.approx(told["axial"]["front"]["left.push_rod"]["braking"])
    assert "front,left.spring axial" in (tmp_path / "largest.csv").read_text()


def test_what_is_missing_is_told(tmp_path):
    done = sekant("loads", CAR, cwd=tmp_path)
    assert done.returncode == 1
    assert "--cases" in done.stderr
    (tmp_path / "axle.yaml").write_bytes((FOLDER / "car" / "front.yaml").read_bytes())
    done = sekant("loads", "axle.yaml", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("axle.yaml: has no load cases; with --cases, name a YAML file")
    (tmp_path / "cases.yaml").write_text("turn:\n  ayy: 1\n")
    done = sekant("loads", CAR, "--cases", "cases.yaml", cwd=tmp_path)
    assert done.returncode == 1
    assert "cases.yaml:2" in done.stderr
    assert "did you mean 'ay'" in done.stderr
