"""`sekant fit`: from a CSV file to a curve or a surface, and what bad data say."""

import json

import numpy as np
from command_line import sekant

from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.surfaces.pose_surface import PoseSurface


def write(path, header, rows):
    path.write_text(header + "\n" + "\n".join(",".join(f"{v:.17g}" for v in row) for row in rows) + "\n")
    return path


def parabola(tmp_path, header="x [mm],y [mm],z [mm],pitch [deg]"):
    x = np.linspace(-1.5, 2.0, 200)
    rows = np.column_stack([1e3 * x, 1e3 * x**2, 0 * x, 10 * x])
    return write(tmp_path / "path.csv", header, rows)


def test_a_path_is_fitted_saved_and_drawn(tmp_path):
    file = parabola(tmp_path)
    done = sekant(
        "fit", file, "-o", "p.json", "--plot", "p.png", "--sequence", "y", "--angles", "pitch", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "max | |r'| - 1 |" in done.stdout
    assert done.stdout.splitlines()[-1] == "written: p.json, p.png"
    curve = PoseCurve.load(tmp_path / "p.json")
    length = [(2 * x * np.sqrt(1 + 4 * x * x) + np.arcsinh(2 * x)) / 4 for x in (-1.5, 2.0)]
    assert abs(curve.length - (length[1] - length[0])) < 1e-8
    np.testing.assert_allclose(
        curve.euler(np.array([0.0, curve.length]), "yxz")[:, 0], np.radians([-15, 20]), atol=1e-9
    )
    assert (tmp_path / "p.png").stat().st_size > 10_000


def test_report_as_json_and_default_names(tmp_path):
    options = ["--orientation", "none", "--sequence", "y", "--angles", "pitch"]
    done = sekant("fit", parabola(tmp_path), "--json", "-p", "x", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["files"] == ["path.json"]
    assert told["report"]["points"] == 200
    assert told["range"] == [-1.5, 2.0]
    assert PoseCurve.load(tmp_path / "path.json").parameter == "x"


def test_two_parameters_make_a_surface(tmp_path):
    a, b = (
        g.ravel() for g in np.meshgrid(np.linspace(-0.1, 0.1, 9), np.linspace(-0.5, 0.5, 11), indexing="ij")
    )
    rows = np.column_stack([a, b, a * b, a**2, b - a])
    file = write(tmp_path / "s.csv", "travel [m],steer [rad],x [m],y [m],z [m]", rows)
    done = sekant("fit", file, "-p", "travel", "-p", "steer", "--kind", "polynomial", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    surface = PoseSurface.load(tmp_path / "s.json")
    np.testing.assert_allclose(surface.position(0.05, 0.2), [0.01, 0.0025, 0.15], atol=1e-12)


def test_bad_input_is_told_without_a_traceback(tmp_path):
    bare = parabola(tmp_path, "x,y,z,pitch")
    told = sekant("fit", bare, "--unit", "x=m", "--unit", "y=m", cwd=tmp_path)
    assert told.returncode == 1
    assert told.stderr.startswith(
        f"{bare}: column 'z' has no unit; add the unit to the header, e.g. 'z [mm]'"
    )
    half = sekant("fit", parabola(tmp_path), cwd=tmp_path)
    assert half.returncode == 1
    assert "path.csv: of the angles yaw, pitch and roll, there are columns only for pitch" in half.stderr
    assert sekant("fit", bare, "--unit", "x", cwd=tmp_path).returncode == 2
    missing = sekant("fit", tmp_path / "none.csv", cwd=tmp_path)
    assert missing.returncode == 1
    assert "cannot be read" in missing.stderr
    assert "Traceback" not in missing.stderr + half.stderr + told.stderr


def test_a_fit_that_would_diverge_writes_nothing(tmp_path):
    t = np.linspace(0.0, 2.0 * np.pi, 8)
    rows = np.column_stack([np.sin(t), np.sin(t) * np.cos(t), 0.0 * t])
    told = sekant("fit", write(tmp_path / "eight.csv", "x [m],y [m],z [m]", rows), cwd=tmp_path)
    assert told.returncode == 1
    assert "eight.csv: the fit would be" in told.stderr
    assert "give more points" in told.stderr
    assert not (tmp_path / "eight.json").exists()
