"""`sekant reduce`: from a model file to a reduced one that runs."""

import json
from pathlib import Path

from command_line import sekant

MODEL = Path(__file__).parents[2] / "examples" / "slider_crank.yaml"


def test_reduced_file_runs(tmp_path):
    ends = ["--over", "O.angle=-40..170 deg", "-o", "small.yaml"]
    done = sekant("reduce", MODEL, "--keep", "rod", *ends, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["files"][0] == "small.yaml"
    assert all(error["position_max"] < 1e-8 for error in told["errors"].values())
    done = sekant("run", "small.yaml", "--until", "0.05", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_bad_input_is_a_line(tmp_path):
    ends = ["--over", "O.angle=0..1", "-o", "small.yaml"]
    done = sekant("reduce", MODEL, "--keep", "rood", *ends, cwd=tmp_path)
    assert done.returncode == 1
    assert "there is no body or frame 'rood'" in done.stderr
    assert "Traceback" not in done.stderr
