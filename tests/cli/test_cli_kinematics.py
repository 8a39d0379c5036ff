"""`sekant kinematics`: from a model file to a table, and what bad input says."""

import json
from pathlib import Path

import numpy as np
from command_line import sekant

MODEL = Path(__file__).parents[2] / "examples" / "slider_crank.yaml"


def test_a_crank_is_turned_and_its_table_written(tmp_path):
    ends = ["--drive", "O.angle=-30 deg..28.6478897565412 deg:5"]
    done = sekant(
        "kinematics",
        MODEL,
        *ends,
        "-q",
        "rod.slider.x",
        "--csv",
        "k.csv",
        "--plot",
        "k.svg",
        "--json",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["complete"] is True
    assert told["files"] == ["k.csv", "k.svg"]
    rows = np.loadtxt(tmp_path / "k.csv", delimiter=",", skiprows=1)
    phi = np.linspace(-np.pi / 6, 0.5, 5)
    x = 0.4 * np.cos(phi) + np.sqrt(1 - (0.4 * np.sin(phi)) ** 2)
    np.testing.assert_allclose(rows[:, :2], np.column_stack([phi, x]), atol=1e-12)
    assert "<svg" in (tmp_path / "k.svg").read_text()


def test_what_is_out_of_reach_gives_the_limits_found(tmp_path):
    done = sekant("kinematics", MODEL, "--drive", "rod.slider.x=2..3", cwd=tmp_path)
    assert done.returncode == 1
    assert "dead point at rod.slider.x = 1.4 m" in done.stderr
    assert "Traceback" not in done.stderr
