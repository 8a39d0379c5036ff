"""Pose tables without a header: rows of u, T, d, delta as other programs write them, read and written unchanged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import sekant as sk
from sekant.errors import DataError, SekantError
from sekant.geometry.pose_tables.pose_table import PoseTable
from sekant.geometry.rotations import rotation_from_euler
from sekant.views.cli import app

FILE = Path(__file__).parents[2] / "examples/suspensions/quarter_car_geometric.yaml"
ROCKER = FILE.with_name("formula_student.yaml")
UNITS = {"drive": "mm", "length": "mm", "angle": "rad"}


def helix(u):
    """A body on a helix over u in m: T (n, 3, 4), d, delta, SI."""
    a = 3.0 * u
    R = rotation_from_euler(np.column_stack([a, 0 * a, 0 * a]), "zyx")
    p = np.column_stack([0.2 * np.cos(a), 0.2 * np.sin(a), u])
    d = np.column_stack([-0.6 * np.sin(a), 0.6 * np.cos(a), 1 + 0 * u])
    delta = np.column_stack([0 * u, 0 * u, 3.0 + 0 * u])
    return np.concatenate([R, p[:, :, None]], axis=2), d, delta


def text_of(u, T, d, delta, separator, columns=12, turned=False):
    """In mm, with derivatives by mm."""
    T = T.copy()
    T[:, :, 3] *= 1e3
    if columns == 16:
        T = np.concatenate([T, np.tile([[[0.0, 0.0, 0.0, 1.0]]], (len(u), 1, 1))], axis=1)
        T = T.transpose(0, 2, 1) if turned else T
    rows = np.column_stack([1e3 * u, T.reshape(len(u), -1), d, 1e-3 * delta])
    return "\n".join(separator.join(f"{x:.15g}" for x in row) for row in rows) + "\n"


@pytest.mark.parametrize(
    ("separator", "columns", "turned"),
    [(" ", 12, False), (", ", 16, False), (";", 16, True), ("\t", 12, False)],
)
def test_their_rows_are_read_unchanged(tmp_path, separator, columns, turned):
    u = np.linspace(-0.1, 0.1, 21)
    file = tmp_path / "carrier.txt"
    file.write_text(text_of(u, *helix(u), separator, columns, turned))
    table = PoseTable.from_text(file, "carrier", UNITS)
    assert table.drive == pytest.approx(u)
    assert table.unit == "m"
    curve = table.curve("carrier")
    T, _, _ = helix(np.array([0.033]))
    R, p = curve.pose(np.array([0.033]))
    assert np.allclose(p, T[:, :, 3], atol=1e-9)
    assert np.allclose(R, T[:, :, :3], atol=1e-8)


def test_a_model_file_declares_the_units_once(tmp_path):
    u = np.linspace(-0.1, 0.1, 21)
    (tmp_path / "carrier.txt").write_text(text_of(u, *helix(u), " "))
    model = tmp_path / "model.yaml"
    curve = "{pose_table: carrier.txt, units: {drive: mm, length: mm}}"
    model.write_text(
        f"curves: {{way: {curve}}}\nbodies: {{carrier: {{mass: 10 kg, inertia: [1, 2, 3]}}}}\n"
        "joints: {way_joint: {type: path, child: carrier, curve: way, q0: 0.02}}\n"
    )
    system = sk.compile(sk.load(model))
    assert system.nv == 1
    model.write_text(model.read_text().replace(", units: {drive: mm, length: mm}", ""))
    with pytest.raises(SekantError, match=r"has no header; give its units where.*drive: mm"):
        sk.load(model)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.replace("\n", " 1\n"), "its rows have 20 values, but the rows of a pose table have"),
        (lambda t: t.replace("\n", "\nx y\n", 1), "not a number"),
        (lambda t: t.replace("-90 ", "-110 ", 1), "drive must increase"),
    ],
)
def test_bad_rows_are_told_by_the_columns_of_a_pose_table(tmp_path, change, says):
    u = np.linspace(-0.1, 0.1, 21)
    file = tmp_path / "carrier.txt"
    file.write_text(change(text_of(u, *helix(u), " ")))
    with pytest.raises(DataError, match=r"carrier\.txt") as caught:
        PoseTable.from_text(file, "carrier", UNITS)
    assert says in str(caught.value)


@pytest.mark.parametrize("separator", [" ", ", ", ";"])
def test_rows_in_place_of_a_path_are_told_by_the_columns_of_a_pose_table(tmp_path, separator):
    u = np.linspace(-0.1, 0.1, 21)
    file = tmp_path / "carrier.txt"
    file.write_text(text_of(u, *helix(u), separator))
    with pytest.raises(DataError, match=r"its rows have 19 values, as in a pose table.*pose_table:"):
        sk.PoseCurve.fit(file)


def test_every_body_is_written_in_one_call_and_read_back(tmp_path):
    drive = ["--drive", "upright.wheel_center.z=-50..50 mm:11"]
    place = tmp_path / "table.txt"
    run = CliRunner().invoke(app, ["kinematics", str(FILE), *drive, "--table", str(place)])
    assert run.exit_code == 0, run.output
    names = sk.load(FILE).bodies
    assert {p.name for p in tmp_path.iterdir()} == {f"table_{name}.txt" for name in names}
    rows = np.loadtxt(tmp_path / "table_upright.txt")
    assert rows.shape == (11, 24)
    result = sk.kinematics(sk.load(FILE), "upright.wheel_center.z", (-0.05, 0.05, 11))
    nodes = result.body("upright")
    assert np.allclose(rows[:, [4, 8, 12]], nodes.position)
    assert np.allclose(rows[:, 22:], nodes.position[:, :2])
    assert np.allclose(rotation_from_euler(rows[:, 19:22], "zyx"), nodes.rotation)
    units = {"drive": "m", "length": "m"}
    again = PoseTable.from_text(tmp_path / "table_upright.txt", "upright", units)
    assert np.allclose(again.nodes("upright").angular, result.pose_table().nodes("upright").angular)
    run = CliRunner().invoke(app, ["kinematics", str(FILE), *drive, "--table", str(tmp_path / "upright.csv")])
    assert run.exit_code == 0, run.output
    assert (tmp_path / "upright.csv").read_text().startswith("upright.wheel_center.z [m],T11")


def test_ignored_masses_are_ignored_where_a_force_acts():
    """The lower end of a spring stands on a follower: it carries the force, and no mass."""
    model = sk.load(ROCKER)
    found = sk.reduce(model, "upright", "upright.wheel_center.z", (0.15, 0.18), inertia="ignore")
    assert found.carried
    kept = sum(float(body.mass) for body in found.model.bodies.values())
    assert kept == pytest.approx(float(model.bodies["upright"].mass))
