"""Reading and checking of pose data: units, columns, and refusals that name row, value, cause and remedy."""

from itertools import pairwise

import numpy as np
import pytest

from sekant.columns import split_header
from sekant.errors import DataError
from sekant.geometry import rotations as rot
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.fit.data import read_poses


def arc(n=60):
    t = np.linspace(0.0, 1.5, n)
    return np.stack([2.0 * np.sin(t), 2.0 - 2.0 * np.cos(t), 0.1 * t], axis=1)


def write(path, header, rows):
    path.write_text(header + "\n" + "\n".join(",".join(repr(float(v)) for v in row) for row in rows) + "\n")
    return path


def test_units_come_from_the_header_or_the_caller(tmp_path):
    r, roll = arc(), np.linspace(-20.0, 30.0, 60)
    body = np.column_stack([r * 1000.0, 3 * roll, 0.5 * roll, roll])
    file = write(
        tmp_path / "a.csv", "# rig 7\nx [mm], y (mm), Z [mm], yaw [deg], pitch [deg], roll [deg]", body
    )
    poses = read_poses(file)
    np.testing.assert_allclose(poses.position, r, atol=1e-15)
    np.testing.assert_allclose(poses.angles, np.radians(body[:, 3:]), atol=1e-14)
    assert poses.rows[0] == 3
    bare = write(tmp_path / "b.csv", "x,y,z", r / 0.0254)
    np.testing.assert_allclose(
        read_poses(bare, units={"x": "in", "y": "in", "z": "in"}).position, r, atol=1e-14
    )
    with pytest.raises(
        DataError, match=r"b.csv: column 'x' has no unit; .*'x \[mm\]', or pass units=\{'x': 'mm'\}"
    ):
        read_poses(bare)
    with pytest.raises(DataError, match="unit 'deg' is not a length"):
        read_poses(bare, units={"x": "deg", "y": "m", "z": "m"})


def test_units_may_stand_in_a_line_of_their_own(tmp_path):
    p = 1e3 * arc()
    rows = "".join(f"{i},{x},{y},{z}\n" for i, (x, y, z) in enumerate(p.tolist()))
    file = tmp_path / "d.csv"
    file.write_text(f"Time,X,Y,Z\ns,[mm],mm,mm\n{rows}")
    curve = PoseCurve.fit(file)
    np.testing.assert_allclose(curve.report.residuals["position"], arc(), rtol=1e-12)
    file.write_text("X,Y,Z\nm,5,m\n1,2,3\n")
    with pytest.raises(DataError, match=r"d.csv:2: column 'X': 'm' is not a number"):
        PoseCurve.fit(file)


def test_headers_are_split():
    assert split_header(" wheel travel [mm] ") == ("wheel travel", "mm")
    assert split_header("roll (deg)") == ("roll", "deg")
    assert split_header("time") == ("time", None)


def test_missing_columns_list_those_found(tmp_path):
    file = write(tmp_path / "c.csv", "x [m],height [m],z [m]", arc())
    with pytest.raises(DataError, match="no column 'y'; columns found: x, height, z"):
        read_poses(file)
    assert read_poses(file, columns={"y": "height"}).position[3, 1] == arc()[3, 1]
    assert read_poses(file, columns={"y": 0.25}).position[3, 1] == 0.25


def test_named_angles_and_any_sequence():
    angles = np.stack([np.linspace(0, 1, 60), np.linspace(0.3, -0.2, 60), np.linspace(0.1, 0.5, 60)], axis=1)
    r = arc()
    table = {"x": r[:, 0], "y": r[:, 1], "z": r[:, 2]} | dict(
        zip(["toe", "camber", "spin"], angles.T, strict=True)
    )
    poses = read_poses(table, columns={"angles": ["toe", "camber", "spin"]}, sequence="zxy")
    np.testing.assert_allclose(
        rot.rotation_from_quaternion(poses.quaternion), rot.rotation_from_euler(angles, "zxy"), atol=1e-14
    )
    with pytest.raises(DataError, match="no columns for the angles of the sequence 'zxy'"):
        read_poses(table, sequence="zxy")


def test_quaternions_matrices_and_angles_agree():
    angles = np.stack([np.linspace(0, 9, 60), np.linspace(0.3, -0.2, 60), np.linspace(0.1, 0.5, 60)], axis=1)
    R = rot.rotation_from_euler(angles, "zyx")
    q = rot.quaternion_from_rotation(R)
    a = read_poses({"position": arc(), "rotation": R}).quaternion
    b = read_poses({"position": arc(), "quaternion": q}).quaternion
    c = read_poses({"position": arc(), "euler": np.mod(angles, 2 * np.pi)}, sequence="zyx")
    np.testing.assert_allclose(a, b, atol=1e-14)
    np.testing.assert_allclose(np.abs(np.sum(a * c.quaternion, axis=1)), 1.0, atol=1e-14)
    assert "jumps of 2 pi" in c.notes[0]
    R[7, :, 2] *= -1.0
    with pytest.raises(DataError, match="row 8: the rotation matrix is left-handed"):
        read_poses({"position": arc(), "rotation": R})
    with pytest.raises(DataError, match="row 1: the quaternion has length 2"):
        read_poses({"position": arc(), "quaternion": 2 * q})


def bad(index, value):
    r = arc()
    r[index] = value
    return r


CASES = [
    (arc(5), {}, "5 points are too few for a quintic path; give at least 7"),
    (bad((9, 1), np.nan), {}, "row 10: position component 2 is nan"),
    (
        {"position": bad(20, arc()[19]), "euler": np.linspace(0.0, 1.0, 60)[:, None]},
        {"sequence": "z"},
        "row 21: the position repeats that of row 20, but the orientation differs",
    ),
    (np.delete(arc(300), slice(100, 150), axis=0), {}, "row 101: there is a gap of .* after row 100"),
    (
        {"position": arc(), "u": np.r_[0:30, 29:59]},
        {"parameter": "u"},
        "row 31: u = 29 repeats the value of row 30",
    ),
    (
        {"position": arc(), "u": np.r_[0:40, 20:40]},
        {"parameter": "u"},
        r"row 41: u falls from 39 to 20 \(1 such row\), so it is not monotonic",
    ),
    ({"position": arc()}, {"parameter": "travel"}, "no column 'travel' to fit over"),
    ({"position": arc()}, {"parameter": "arc_lenght"}, "did you mean 'arc_length'"),
    (
        {"position": arc(), "euler": np.linspace(0, 180, 60)[:, None]},
        {"sequence": "z"},
        "row 2: the orientation turns by .* deg between row 1 and",
    ),
    (arc(), {"tolerence": 1.0}, "unknown option 'tolerence' of a fit; did you mean 'tolerance'"),
    (arc(), {"orientation": "quaternion"}, "the data have no orientation"),
    (arc(), {"extrapolation": "periodic"}, "the path does not close: its ends are .* m apart"),
    (arc(), {"weights": np.r_[np.ones(59), -1.0]}, "row 60: weight -1 is not positive"),
    ({"position": arc(), "u": np.ones(59)}, {}, "column 'u' has 59 rows, but the positions have 60"),
]


@pytest.mark.parametrize(("data", "options", "message"), CASES, ids=[c[2][:40] for c in CASES])
def test_bad_data_are_refused(data, options, message):
    with pytest.raises(DataError, match=message):
        PoseCurve.fit(data, **options)


def test_bad_files_name_file_and_line(tmp_path):
    file = tmp_path / "d.csv"
    file.write_text("x [m],y [m],z [m]\n1,2,3\n4,five,6\n")
    with pytest.raises(DataError, match=r"d.csv:3: column 'y': 'five' is not a number"):
        PoseCurve.fit(file)
    file.write_text("x [m],y [m],z [m]\n1,2,3\n4,5\n")
    with pytest.raises(DataError, match=r"d.csv:3: the row has 2 values, but there are 3 columns"):
        PoseCurve.fit(file)
    file.write_text("x [m],y [m],z [m]\n1,2,3\n4,,6\n")
    with pytest.raises(DataError, match=r"d.csv:3: column 'y': the cell is empty; .* remove the row"):
        PoseCurve.fit(file)
    file.write_text("Lab 7, run 12\n10:22\nx [m],y [m],z [m]\n1,2,3\n")
    with pytest.raises(DataError, match=r"d.csv:2: .* comments above the column names, start them with '#'"):
        PoseCurve.fit(file)
    file.write_text("x [m],y [m],z [m],yaw [deg]\n1,2,3,4\n")
    with pytest.raises(DataError, match=r"--sequence z --angles yaw"):
        PoseCurve.fit(file)
    file.write_text("1,2,3\n4,5,6\n")
    with pytest.raises(DataError, match=r"d.csv:1: has no header"):
        PoseCurve.fit(file)
    with pytest.raises(DataError, match=r"none.csv: cannot be read"):
        PoseCurve.fit(tmp_path / "none.csv")
    rows = np.column_stack([arc(), np.arange(60.0)])
    rows[17, 2] = np.inf
    with pytest.raises(DataError, match=r"e.csv:19: position component 3 is inf"):
        PoseCurve.fit(write(tmp_path / "e.csv", "x [m],y [m],z [m],t [s]", rows))


def test_a_wrapped_parameter_angle_is_recognized():
    turn = np.mod(np.linspace(0.0, 8.0, 60), 2.0 * np.pi)
    r = arc()
    data = {"x": r[:, 0], "y": r[:, 1], "z": r[:, 2], "flexion": turn}
    with pytest.raises(DataError, match="jump by a full turn"):
        PoseCurve.fit(data, "flexion", units={"flexion": "rad"})


def test_many_straight_pieces_are_one_note():
    """A polygon of twelve sides: one note, not twelve; a path with one straight piece names it."""
    from sekant.geometry.fit.errors import MOST_STRAIGHTS

    turned = np.linspace(0.0, 1.5 * np.pi, 10)
    corners = np.stack([np.cos(turned), np.sin(turned), 0 * turned], axis=1)
    sides = [a + (b - a) * s for a, b in pairwise(corners) for s in np.linspace(0, 1, 12)[:-1]]
    notes = PoseCurve.fit(np.array([*sides, corners[-1]]), parameter="arc_length").report.notes
    told = [note for note in notes if "straight" in note]
    assert len(told) <= MOST_STRAIGHTS
    assert any("pieces of the path are straight" in note for note in told)


def knee(rows=None):
    """Columns of a path over an angle, with angles of other names; `rows` picks and repeats rows."""
    u = np.linspace(0.0, 2.0, 61)[slice(None) if rows is None else rows]
    columns = {"flexion": u, "x": 0.004 * np.sin(u), "y": 0.0 * u, "z": -0.003 * np.cos(u)}
    return columns | {"a": u, "b": 0.05 * np.sin(u / 1.5), "c": 0.26 * np.sin(u / 2.0)}


def test_the_order_of_angles_of_other_names_is_not_guessed(tmp_path):
    table = knee()
    for data, columns in (
        (table, {"angles": ["a", "b", "c"]}),
        ({"position": arc(), "euler": arc()}, None),
    ):
        with pytest.raises(
            DataError,
            match=r"order of the axes of these angles is unknown; for example, give sequence='zyx' \(--sequence",
        ):
            read_poses(data, columns=columns)


def test_the_order_of_rx_ry_rz_is_noted():
    r, angles = arc(), np.column_stack([np.linspace(0.0, size, 60) for size in (0.2, -0.3, 0.5)])
    named = dict(zip("xyz", r.T, strict=True))
    rotated = {**named, **dict(zip(("rx", "ry", "rz"), angles.T, strict=True))}
    (note,) = read_poses(rotated).notes
    assert "first rz about z, then ry about the new y" in note
    assert "sequence='xyz'" in note
    assert read_poses(rotated, sequence="xyz").notes == ()
    usual = {**named, **dict(zip(("roll", "pitch", "yaw"), angles.T, strict=True))}
    assert read_poses(usual).notes == ()
    np.testing.assert_array_equal(read_poses(usual).quaternion, read_poses(rotated).quaternion)


def test_angles_that_are_not_used_are_named(tmp_path):
    body = np.column_stack(list(knee().values()))
    header = "flexion [rad],x [m],y [m],z [m],a [rad],b [rad],c [rad]"
    file = write(tmp_path / "knee.csv", header, body)
    bare = PoseCurve.fit(file, parameter="flexion")
    assert [w.code for w in bare.report.warnings] == ["orientation_unread"]
    assert "columns a, b, c: these angles are not used" in str(bare.report.warnings[0])
    for options in (
        {"orientation": "none"},
        {"columns": {"angles": ["a", "b", "c"]}, "sequence": "zxy"},
    ):
        assert PoseCurve.fit(file, parameter="flexion", **options).report.warnings == ()


def test_rows_that_repeat_others_are_left_out_wherever_they_stand():
    rows = [*range(30), *range(28, 61)]
    clean, doubled = (
        PoseCurve.fit(
            knee(chosen),
            parameter="flexion",
            columns={"angles": ["a", "b", "c"]},
            sequence="zxy",
            units={"flexion": "rad"},
        )
        for chosen in (None, rows)
    )
    assert "2 repeated rows were left out, the first is row 31" in doubled.report.notes
    u = clean.sample(201)
    np.testing.assert_allclose(doubled.components(u), clean.components(u), atol=1e-13)


def test_files_of_spreadsheets_are_read_in_their_encodings(tmp_path):
    p = 1e3 * arc()
    rows = "\r\n".join(";".join(f"{v:.6f}".replace(".", ",") for v in (*row, 3.0)) for row in p.tolist())
    for encoding in ("utf-8", "utf-8-sig", "cp1252", "utf-16"):
        file = tmp_path / f"{encoding}.csv"
        file.write_bytes(f"x [mm];y [mm];z [mm];Höhenwinkel [°]\r\n{rows}\r\n".encode(encoding))
        poses = read_poses(file)
        np.testing.assert_allclose(poses.position, arc(), atol=1e-9)
        np.testing.assert_allclose(poses.columns["Höhenwinkel"], np.radians(3.0))
    wrong = tmp_path / "book.xls"
    wrong.write_bytes(b"\xd0\xcf\x11\xe0\0\0")
    with pytest.raises(DataError, match=r"book\.xls: is not a text file; export it as CSV in UTF-8"):
        read_poses(wrong)


@pytest.mark.parametrize(
    ("cell", "refused"), [("1.028", True), ("-1.028", True), ("0.028", False), ("1.5", False)]
)
def test_numbers_that_may_be_thousands_are_refused(tmp_path, cell, refused):
    file = tmp_path / "a.csv"
    rows = "\n".join(f"{0.1 * i:.1f};0,5;{cell}".replace(".", ",", 1) for i in range(9))
    file.write_text(f"x [mm];y [mm];z [mm]\n{rows}\n")
    if refused:
        with pytest.raises(DataError, match=rf"a.csv:2: '{cell}' is ambiguous"):
            read_poses(file)
    else:
        assert read_poses(file).position[0, 2] == 1e-3 * float(cell)
