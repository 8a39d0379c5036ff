"""`sekant run`, `check` and `doctor` on a small crane."""

import json
import signal
import subprocess
import time

import numpy as np
import pytest
from command_line import command, environment, sekant

from sekant.results import Result


def test_run_leaves_a_result_and_a_summary(model_folder):
    done = sekant("run", "crane.yaml", cwd=model_folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("crane: finished, 0 to 2 s, 1001 rows")
    assert "energy balance drifts by" in done.stdout
    assert done.stdout.endswith("written: crane.nc\n")
    assert len(done.stdout.splitlines()) <= 24
    result = Result.load(model_folder / "crane.nc")
    assert result.ok
    assert result["shoulder.q"][0] == pytest.approx(np.deg2rad(50))
    assert result.provenance["options"]["method"] == "dop853"
    assert sorted(path.name for path in model_folder.iterdir()) == ["crane.nc", "crane.yaml"]


def test_run_with_everything_prints_only_json(model_folder):
    done = sekant(
        "run", "crane.yaml", "--json", "--until", "0.5", "--method", "rk4", "--step", "1e-3", "--output-step",
        "0.01", "--set", "L=0.6", "--set", "hook.mass=900 g", "--csv", "a.csv", "--plot", "a.svg", "-o", "b.nc",
        cwd=model_folder,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert (told["ok"], told["rows"], told["time"]) == (True, 51, [0.0, 0.5])
    assert told["stats"]["steps"] == 500
    assert told["files"] == ["b.nc", "a.csv", "a.svg"]
    result = Result.load(model_folder / "b.nc")
    np.testing.assert_allclose(np.linalg.norm(result["hook.position"], axis=1), 0.6)
    np.testing.assert_array_equal(Result.load(model_folder / "a.csv").data, result.data)
    assert "shoulder.q" in (model_folder / "a.svg").read_text()


def test_the_engines_agree(model_folder):
    for engine in ("llvm", "casadi"):
        done = sekant(
            "run", "crane.yaml", "--until", "0.2", "--engine", engine, "-o", f"{engine}.nc", cwd=model_folder
        )
        assert done.returncode == 0
    native, oracle = (Result.load(model_folder / f"{engine}.nc") for engine in ("llvm", "casadi"))
    np.testing.assert_allclose(native["elbow.q"], oracle["elbow.q"], rtol=1e-9, atol=1e-12)


def test_check_tells_how_smooth_curves_and_tables_are(tmp_path):
    (tmp_path / "model.yaml").write_text("""
tables:
  corner: {x: [-1, -0.1, 0.1, 1], y: [-300, -50, 40, 200], extrapolation: linear}
  smooth: {x: [0, 1, 2, 3, 4, 5], y: [1, 2, 3, 5, 4, 1], kind: cubic, extrapolation: error}
  stairs: {x: [0, 1, 2], y: [1, 2, 3], kind: step}
curves:
  bend: {track: [{straight: 3 m}, {arc: {radius: 2 m, angle: 1}}], frame: rmf}
  sheet: {surface: {position: [u1, u2, u1^2*u2], range: [[0, 1], [0, 2]]}}
bodies: {bead: {mass: 2 kg, inertia: [0.3, 0.4, 0.5]}}
joints: {wire: {type: path, curve: bend, child: bead}}
""")
    done = sekant("check", "model.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = {
        line.split()[1]: line
        for line in done.stdout.splitlines()
        if line.startswith(("curve", "table", "surf"))
    }
    assert "2 pieces" in lines["bend"]
    assert "C1 position, C0 orientation (derivative 1 jumps by 1 of its size at 3)" in lines["bend"]
    assert "C0 (derivative 1 jumps by" in lines["corner"]
    assert "at 0.1)" in lines["corner"]  # slopes 278, 450, 178: the last corner is the sharper one
    assert "C2 (derivative 3 jumps" in lines["smooth"]
    assert "not continuous (the value jumps by 0.333 of its size at 1)" in lines["stairs"]
    assert "along u1: C7; along u2: C7" in lines["sheet"]
    told = json.loads(sekant("check", "model.yaml", "--json", cwd=tmp_path).stdout)
    assert told["smoothness"]["corner"]["continuity"].startswith("C0")


def test_check_prints_the_tree(model_folder):
    done = sekant("check", "crane.yaml", "--set", "load=2.3", cwd=model_folder)
    assert (done.returncode, done.stderr) == (0, "")
    for part in ("shoulder", "elbow", "2 degrees of freedom", "3 kg"):
        assert part in done.stdout
    told = json.loads(sekant("check", "crane.yaml", "--json", cwd=model_folder).stdout)
    assert told["ok"]
    assert told["degrees_of_freedom"] == 2
    assert told["mass"] == pytest.approx(2.0)
    assert [(body["name"], body["parent"]) for body in told["bodies"]] == [("arm", "ground"), ("hook", "arm")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "nowhere.yaml"], "nowhere.yaml: "),
        (["check", "nowhere.yaml"], "nowhere.yaml: "),
        (["run", "wrong.yaml"], "wrong.yaml:6: body 'arm': "),
        (["check", "wrong.yaml"], "wrong.yaml:6: body 'arm': "),
        (
            ["run", "crane.yaml", "--set", "lod=3"],
            "--set lod=3: there is no parameter or item named 'lod'; did you mean 'load'?",
        ),
        (["run", "crane.yaml", "--method", "rk5"], "unknown method 'rk5'; did you mean 'rk4'?"),
        (["run", "crane.yaml", "--method", "rk4"], "method 'rk4' needs a step"),
        (["run", "crane.yaml", "--until", "-1"], "until must be"),
    ],
)
def test_faults_are_one_line_and_leave_nothing(arguments, message, model_folder):
    text = (model_folder / "crane.yaml").read_text()
    (model_folder / "wrong.yaml").write_text(text.replace("mass: load", "mass: -2.5"))
    before = sorted(path.name for path in model_folder.iterdir())
    done = sekant(*arguments, cwd=model_folder)
    assert done.returncode == 1
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert sorted(path.name for path in model_folder.iterdir()) == before


def test_a_fault_of_the_equations_has_its_line(tmp_path):
    """Also where a study names the model, and where the gallery loads it."""
    (tmp_path / "block.yaml").write_text("""
bodies: {box: {mass: 2.5 kg}}
joints: {rail: {type: prismatic, child: box, axis: [1, 0, 0], v0: 1}}
forces:
  pull: {type: actuator, joint: rail, force: -3*sign(v)}
""")
    (tmp_path / "study.yaml").write_text("model: block.yaml\nvary: {box.mass: [1, 2]}\n")
    for arguments in (["run", "block.yaml"], ["sweep", "study.yaml", "--jobs", "1"]):
        done = sekant(*arguments, cwd=tmp_path)
        assert done.returncode == 1
        assert done.stderr.startswith("block.yaml:5: force 'pull': ")
    (tmp_path / "study.yaml").unlink()
    done = sekant("gallery", ".", "-o", "pages", "--short", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["models"]["block"].startswith("block.yaml:5: force 'pull': ")


@pytest.mark.usefixtures("interruptible")  # a process inherits what its parent ignores
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_keeps_its_rows_and_says_so(number, model_folder):
    arguments = (
        "run",
        "crane.yaml",
        "--method",
        "rk4",
        "--step",
        "1e-5",
        "--until",
        "1e6",
        "--output-step",
        "0.1",
    )
    process = subprocess.Popen(
        command(*arguments),
        cwd=model_folder,
        env=environment(),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    file = model_folder / "crane.nc"
    while process.poll() is None and not (file.exists() and len(Result.load(file)) > 1):
        time.sleep(0.05)
    process.send_signal(number)
    _, stderr = process.communicate()
    assert process.returncode == 130
    result = Result.load(file)
    assert result.status == "interrupted"
    assert stderr.decode() == (
        f"interrupted; saved {len(result)} rows up to t = {result.time[-1]:g} s in crane.nc\n"
    )


@pytest.mark.long
def test_doctor_finds_this_installation_well(tmp_path, monkeypatch):
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path / "cache"))
    done = sekant("doctor", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["ok"], told["problems"]) == (0, True, [])
    assert told["self_test"]["passed"]
    assert told["cache"]["directory"] == str(tmp_path / "cache")
    done = sekant("doctor")
    assert "permissions  0700" in done.stdout
    assert done.stdout.endswith("no problems found\n")


def test_doctor_tells_what_is_wrong(tmp_path, monkeypatch):
    (tmp_path / "cache").mkdir(mode=0o755)
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path / "cache"))
    done = sekant("doctor")
    assert done.returncode == 1
    assert "problem: other users can read the cache" in done.stdout


def test_a_run_that_blows_up_keeps_its_rows_and_exits_with_1(model_folder):
    options = ("--method", "euler", "--step", "0.5", "--until", "5000", "--output-step", "0.5")
    done = sekant("run", "crane.yaml", *options, cwd=model_folder)
    assert done.returncode == 1
    assert done.stdout.startswith("crane: not_finite, 0 to ")
    assert done.stderr.startswith("not_finite: ")
    result = Result.load(model_folder / "crane.nc")
    assert result.status == "not_finite"
    assert len(result) > 1
    assert result.time[-1] < 5000


def test_a_run_may_begin_at_rest_or_where_another_ended(model_folder):
    rest = sekant(
        "run", "crane.yaml", "--initial", "rest", "--until", "0.5", "-o", "rest.nc", cwd=model_folder
    )
    assert (rest.returncode, rest.stderr) == (0, "")
    still = Result.load(model_folder / "rest.nc")
    assert abs(still["shoulder.q"][0]) < 0.1
    assert np.ptp(still["shoulder.q"]) < 1e-6
    sekant("run", "crane.yaml", "--until", "0.3", "-o", "first.nc", cwd=model_folder)
    done = sekant(
        "run", "crane.yaml", "--initial", "first.nc", "--until", "0.6", "-o", "b.nc", cwd=model_folder
    )
    assert done.returncode == 0, done.stderr
    first, second = Result.load(model_folder / "first.nc"), Result.load(model_folder / "b.nc")
    assert second.time[0] == pytest.approx(0.3)
    np.testing.assert_allclose(second["elbow.q"][0], first["elbow.q"][-1], atol=1e-9)
    missing = sekant("run", "crane.yaml", "--initial", "gone.nc", cwd=model_folder)
    assert missing.returncode == 1
    assert "gone.nc" in missing.stderr
