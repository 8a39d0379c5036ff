"""Curves and surfaces in model files: every source, what is written back, and what is said about faults."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.geometry import PoseTable
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.pose_motion import PoseMotion
from sekant.io import model_text
from sekant.model.curves import SOURCES
from sekant.model.joints import Path
from sekant.model.parse import model_from_dict

BODY = """
bodies: {bead: {mass: 2 kg, inertia: [0.3, 0.4, 0.5]}}
joints: {wire: {type: path, curve: c, child: bead}}
"""


def load(folder, curve: str, rest: str = BODY, head: str = "") -> sk.Model:
    """The model whose one curve, called c, is described by YAML text."""
    file = folder / "model.yaml"
    file.write_text(f"{head}\ncurves:\n  c: {curve}\n{rest}")
    return sk.load(file)


def message(folder, curve: str, rest: str = BODY, head: str = "") -> str:
    with pytest.raises(SekantError) as caught:
        load(folder, curve, rest, head)
    return str(caught.value)


def points(folder, name="points.csv", count=61):
    u = np.linspace(-1.0, 2.0, count)
    rows = [
        f"{a:.15g}, {1e3 * a:.15g}, {1e3 * np.sin(a):.15g}, {500 * a**2:.15g}, {np.degrees(0.3 * a):.15g}"
        for a in u
    ]
    text = "lift [m], x [mm], y [mm], z [mm], twist [deg]\n" + "\n".join(rows) + "\n"
    (folder / name).write_text(text)


def test_formula_with_parameters_units_and_rotation(tmp_path):
    model = load(
        tmp_path,
        "{parameter: phi, unit: rad, range: [0, 0.5 rev], position: [R*cos(phi), R*sin(phi), 20 mm],"
        " rotation: {z: [phi]}}",
        head="parameters: {R: 300 mm}",
    )
    c = model.curves["c"]
    assert c.range == pytest.approx((0, np.pi))
    assert (c.unit, c.parameter, c.orientation) == ("rad", "phi", "euler:z")
    R, p = c.pose(1.1)
    assert p == pytest.approx([0.3 * np.cos(1.1), 0.3 * np.sin(1.1), 0.02], abs=1e-10)
    assert R[:2, 0] == pytest.approx([np.cos(1.1), np.sin(1.1)], abs=1e-10)
    assert model.curve_parameters == {"c": ("R",)}


def test_the_name_of_the_parameter_hides_that_of_the_model(tmp_path):
    model = load(
        tmp_path,
        "{parameter: s, range: [0, 1], position: [s, 2*s, L]}",
        head="parameters: {s: 7, L: 3, q: 'L'}",
    )
    assert model.curves["c"].position(0.5) == pytest.approx([0.5, 1.0, 3.0])
    assert model.curve_parameters == {"c": ("L",)}


@pytest.mark.parametrize(
    ("rotation", "expected"),
    [
        ("{quaternion: [cos(u/2), 0, sin(u/2), 0]}", "quaternion"),
        ("{matrix: [[cos(u), 0, sin(u)], [0, 1, 0], [-sin(u), 0, cos(u)]]}", "quaternion"),
        ("{yx: [u, 0]}", "euler:yx"),
        ("{y: u}", "euler:y"),
    ],
)
def test_notations_of_a_rotation(tmp_path, rotation, expected):
    c = load(tmp_path, f"{{range: [-1, 1], position: [u, 0, 0], rotation: {rotation}}}").curves["c"]
    R, _ = c.pose(0.7)
    assert c.orientation == expected
    assert R[:, 2] == pytest.approx([np.sin(0.7), 0, np.cos(0.7)], abs=1e-9)


def test_arc_length_and_frame(tmp_path):
    c = load(
        tmp_path,
        "{range: [0, pi], position: [2*cos(u), 2*sin(u), 0], arc_length: true, frame: frenet, bank: 0.1*s}",
    ).curves["c"]
    assert c.range[1] == pytest.approx(2 * np.pi, rel=1e-9)
    R, p = c.pose(1.0)
    assert p == pytest.approx([2 * np.cos(0.5), 2 * np.sin(0.5), 0], abs=1e-9)
    t, n, b = R.T
    assert t == pytest.approx([-np.sin(0.5), np.cos(0.5), 0], abs=1e-8)
    inward, up = -p / 2, np.array([0, 0, 1.0])
    assert n == pytest.approx(np.cos(0.1) * inward + np.sin(0.1) * up, abs=1e-8)
    assert b == pytest.approx(np.cos(0.1) * up - np.sin(0.1) * inward, abs=1e-8)


def test_bank_from_a_table(tmp_path):
    head = "tables: {banking: {x: [0, 1, 2, 3, 4], y: [0, 0.1, 0.3, 0.2, 0], kind: cubic}}"
    c = load(tmp_path, "{track: [{straight: 4 m}], frame: upright, bank_table: banking}", head=head).curves[
        "c"
    ]
    assert c.pose(2.0)[0][:, 1] == pytest.approx([0, np.cos(0.3), np.sin(0.3)], abs=1e-9)


def test_long_expressions_may_be_folded(tmp_path):
    """A block that YAML folds into one line reads as if it stood in one."""
    c = load(
        tmp_path,
        "\n    range: [0, 1]\n    position:\n      - >-\n        u\n        + u^2\n      - 0\n      - 0\n",
    ).curves["c"]
    assert c.position(0.5)[0] == pytest.approx(0.75)


def test_control_points(tmp_path):
    given = "points: [[0, 0, 0], [1, 0, 0], [2, 1, 0], [3, 1, 1], [4, 0, 1], [5, 0, 0]]"
    c = load(tmp_path, f"{{{given}, frame: rmf}}").curves["c"]
    a, b = c.range
    assert c.position(np.array([a, b])) == pytest.approx(np.array([[0, 0, 0], [5, 0, 0]]), abs=1e-9)
    assert np.linalg.norm(c.position(c.sample(50), 1), axis=1) == pytest.approx(np.ones(50), abs=1e-7)
    plain = load(tmp_path, f"{{{given}, arc_length: false, outside: linear}}").curves["c"]
    assert plain.range == (0.0, 1.0)
    assert plain.extrapolation == "linear"


def test_track_with_every_kind_of_piece(tmp_path):
    points(tmp_path)
    curve = """
    start: {position: [0, 0, 1], direction: [0, 1, 0]}
    frame: none
    track:
      - straight: 2 m
      - clothoid: {length: 1 m, start: 0, end: 0.5 1/m, smooth: true}
      - arc: {radius: 2 m, angle: 30 deg}
      - clothoid: {length: 1 m, start: 0.5, end: 0}
      - helix: {radius: 1 m, pitch: 0.5 m, angle: 90 deg}
      - fitted: {data: points.csv, joined: true}"""
    c = load(tmp_path, curve).curves["c"]
    length = 2 + 1 + 2 * np.pi / 6 + 1 + np.hypot(1, 0.25 / np.pi) * np.pi / 2
    assert c.position(0.0) == pytest.approx([0, 0, 1])
    assert c.position(0.5) == pytest.approx([0, 0.5, 1])
    assert c.range[1] > length + 3.0
    heading = c.position(2 + 1 + 2 * np.pi / 6 + 1, 1)
    turned = 0.25 + np.pi / 6 + 0.25
    assert heading == pytest.approx([-np.sin(turned), np.cos(turned), 0], abs=1e-8)


def test_data_are_found_beside_the_file_that_names_them(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    points(inner)
    (inner / "part.yaml").write_text(
        "curves: {c: {data: points.csv, parameter: lift, sequence: z, columns: {angles: [twist]}}}\n"
    )
    (tmp_path / "main.yaml").write_text("include: inner/part.yaml\n" + BODY)
    c = sk.load(tmp_path / "main.yaml").curves["c"]
    R, p = c.pose(0.7)
    assert c.parameter == "lift"
    assert p == pytest.approx([0.7, np.sin(0.7), 0.245], abs=1e-7)
    assert R[:2, 0] == pytest.approx([np.cos(0.21), np.sin(0.21)], abs=1e-7)


def test_a_saved_curve_and_its_continuation(tmp_path):
    twisted = PoseCurve.from_function(lambda u: [u, u**2, 0.3 * u**3], (-1.0, 1.0))
    twisted.save(tmp_path / "twisted.json")
    c = load(tmp_path, "{file: twisted.json, outside: linear}").curves["c"]
    assert np.array_equal(c.table.coefficients, twisted.table.coefficients)
    assert c.extrapolation == "linear"


SURFACE = "joints: {on: {type: surface, surface: c, child: bead}}\nbodies: {bead: {mass: 2 kg}}\n"


def test_surfaces_from_formulas_and_data(tmp_path):
    formula = load(
        tmp_path,
        "{surface: {parameters: [a, b], units: {a: m, b: rad}, range: [[0, L], [-1, 1]],"
        " position: [a, a*b, 0.2*b^2], rotation: {zy: [0.3*a, b]}}, outside: [error, linear]}",
        SURFACE,
        "parameters: {L: 2}",
    )
    s = formula.curves["c"]
    assert (s.range, s.units) == (((0, 2), (-1, 1)), ("m", "rad"))
    assert s.position(1.1, 0.4) == pytest.approx([1.1, 0.44, 0.032], abs=1e-9)
    assert formula.curve_parameters == {"c": ("L",)}
    rows = [
        f"{a}, {b}, {a}, {a * b}, {0.2 * b**2}" for a in np.linspace(0, 2, 9) for b in np.linspace(-1, 1, 11)
    ]
    (tmp_path / "grid.csv").write_text("a [m], b [rad], x [m], y [m], z [m]\n" + "\n".join(rows))
    for kind in ("polynomial", "spline"):
        fitted = load(
            tmp_path,
            f"{{surface: {{data: grid.csv, parameters: [a, b], kind: {kind}, degree: [5, 5]}}}}",
            SURFACE,
        ).curves["c"]
        assert fitted.position(1.1, 0.4) == pytest.approx([1.1, 0.44, 0.032], abs=1e-8)
        assert fitted.report is not None


def test_models_with_curves_are_written_and_read_back_bit_by_bit(tmp_path):
    points(tmp_path)
    (tmp_path / "model.yaml").write_text(
        """
parameters: {R: 0.7}
curves:
  c: {data: points.csv, frame: rmf}
  ring: {unit: rad, range: [0, 2*pi], position: [R*cos(u), R*sin(u), 0], rotation: {z: [u]}, outside: periodic}
  tube: {surface: {range: [[0, 1], [0, 2]], position: [u1, u2, u1*u2]}, outside: [linear, error]}
bodies: {bead: {mass: 2, inertia: [1, 1, 1]}, ball: {mass: 1}, lamp: {mass: 1, inertia: [1, 1, 1]}}
joints:
  wire: {type: path, curve: c, child: bead}
  on: {type: surface, surface: tube, child: ball}
  turn: {type: path, curve: ring, child: lamp}
"""
    )
    model = sk.load(tmp_path / "model.yaml")
    text = model_text(model)
    again = model_from_text(tmp_path, text)
    assert model_text(again) == text
    assert again.curve_parameters == {"ring": ("R",)}
    for name, curve in model.curves.items():
        other = again.curves[name]
        assert type(other) is type(curve)
        assert np.array_equal(other.table.coefficients, curve.table.coefficients)
        assert other.table.extrapolation == curve.table.extrapolation
        assert other.orientation == curve.orientation
    assert sk.compile(again).model_hash == sk.compile(model).model_hash


def model_from_text(folder, text: str) -> sk.Model:
    (folder / "again.yaml").write_text(text)
    return sk.load(folder / "again.yaml")


def test_curves_that_joints_hold_get_names(tmp_path):
    curve = PoseCurve.from_function(lambda u: [u, 0, u**2], (-1.0, 1.0))
    model = sk.Model(
        bodies={"a": sk.Body(mass=1), "b": sk.Body(mass=2)},
        joints={"left": Path(child="a", curve=curve), "right": Path(child="b", curve=curve)},
    )
    again = model_from_text(tmp_path, model_text(model))
    assert list(again.curves) == ["left.curve"]
    assert [joint.curve for joint in again.joints.values() if isinstance(joint, Path)] == ["left.curve"] * 2
    assert sk.compile(again).forward_dynamics([0.3, 0.4], [1, 2]) == pytest.approx(
        sk.compile(model).forward_dynamics([0.3, 0.4], [1, 2]), rel=1e-15
    )


def test_parameters_of_a_curve_cannot_stay_inputs(tmp_path):
    model = load(
        tmp_path,
        "{range: [0, 1], position: [R*u, 0, 0]}",
        head="parameters: {d: 2, R: d/2, k: 3}",
    )
    for name in ("R", "d"):
        with pytest.raises(
            SekantError, match=f"parameter '{name}' defines the curve 'c'.*load the model again"
        ):
            sk.compile(model, parameters=[name])
    assert sk.compile(model, parameters=["k"]).parameters.keys() == {"k"}
    assert sk.load(tmp_path / "model.yaml", set={"d": 6}).curves["c"].position(1.0)[0] == pytest.approx(3.0)


POSITION = "position: [u, 0, 0]"


@pytest.mark.parametrize(
    ("curve", "parts"),
    [
        ("{frame: rmf}", ["model.yaml:3: curve 'c': the curve has no source", "data, "]),
        ("{data: a.csv, points: []}", ["model.yaml:3:", "there is no file 'a.csv'"]),
        ("{points: [], position: [0, 0, 0]}", ["has both 'p", "a curve has only one source"]),
        ("{position: [u, 0, 0]}", ["'range' is missing"]),
        (f"{{range: [2, 1], {POSITION}}}", ["model.yaml:3: curve 'c': range: starts at 2 and ends at 1"]),
        ("{range: [0, 1], position: [w, 0, 0]}", ["position[0]: unknown name 'w'"]),
        (
            "{range: [0, 1], position: [u, 0]}",
            ["position: got a list of length 2, but 3 values are expected"],
        ),
        ("{range: [0, 1], position: [u, 0, bump(u)]}", ["table 'bump' cannot be used in the formula"]),
        (
            f"{{range: [0, 1], {POSITION}, rotation: {{zyz: [0, 1]}}}}",
            ["rotation", "'zyz' needs 3 values (got 2)"],
        ),
        (f"{{range: [0, 1], {POSITION}, rotation: {{abc: [0]}}}}", ["rotation", "abc"]),
        (f"{{range: [0, 1], {POSITION}, rotation: {{z: [u]}}, frame: rmf}}", ["given twice, by rotation"]),
        (f"{{range: [0, 1], {POSITION}, bank: 3 deg}}", ["frame: a bank angle requires a frame"]),
        (
            f"{{range: [0, 1], {POSITION}, frame: frenett}}",
            ["frame: cannot be the text 'frenett'; did you mean 'frenet'?"],
        ),
        (f"{{range: [0, 1], {POSITION}, outside: periodic}}", ["does not close: its ends are 1 m"]),
        (f"{{range: [0, 1], {POSITION}, parameter: 'a b'}}", ["parameter", "is not a valid name"]),
        ("{points: [[0, 0, 0], [1, 1, 1]]}", ["2 control points are too few for degree 5"]),
        ("{points: [[0, 0, x]]}", ["points[0][2]: unknown name 'x'"]),
        ("{track: [{straight: 1 m, arc: {radius: 1, angle: 1}}]}", ["track[0]", "straight and arc at once"]),
        ("{track: [{}]}", ["track[0]", "needs a kind"]),
        ("{track: [{arc: {radius: 1 m}}]}", ["track[0].arc: 'angle' is missing"]),
        ("{track: [{straight: 3 deg}]}", ["track[0].straight", "3 deg"]),
        ("{track: [{straight: -1 m}]}", ["curve 'c': segment 1 (straight): its length is -1 m"]),
        (
            "{track: [{straight: 1}, {straight: 1}], closed: true}",
            ["curve 'c'", "gap of 2 m between segment 2"],
        ),
        ("{track: [{straight: 1}], frame: none, bank: 1 deg}", ["frame: a bank angle requires a frame"]),
        ("{surface: {range: [[0, 1], [0, 1]]}}", ["either data (a CSV file) or position"]),
        (
            "{surface: {position: [u1, u2, 0]}}",
            ["range", "is missing; give the start and the end of each parameter"],
        ),
        ("{file: model.yaml}", ["model.yaml", "is not valid JSON"]),
        ("{inline: '{'}", ["inline: is not valid JSON"]),
        ("{inline: {format: x}}", ["is not a sekant pose curve or sekant pose surface"]),
        ("{inline: {format: sekant pose curve, version: 1}}", ["'breaks' is missing"]),
    ],
)
def test_faults_are_told_with_their_place(tmp_path, curve, parts):
    text = message(tmp_path, curve)
    for part in parts:
        assert part in text
    assert "curve 'c'" in text
    assert "Traceback" not in text


def test_faults_of_data_name_the_line_in_the_data(tmp_path):
    points(tmp_path)
    lines = (tmp_path / "points.csv").read_text().splitlines()
    lines[7] = lines[7].replace(lines[7].split(",")[1], " oops")
    (tmp_path / "points.csv").write_text("\n".join(lines))
    text = message(tmp_path, "{data: points.csv}")
    assert "points.csv:8: curve 'c': column 'x': 'oops' is not a number" in text


def test_a_path_joint_wants_a_curve_and_a_surface_joint_a_surface(tmp_path):
    text = message(tmp_path, "{surface: {range: [[0, 1], [0, 1]], position: [u1, u2, 0]}}")
    assert "joint 'wire': curve: 'c' is a PoseSurface, not a PoseCurve" in text
    text = message(tmp_path, f"{{range: [0, 1], {POSITION}}}", BODY.replace("curve: c", "curve: d"))
    assert "joint 'wire': curve: unknown curve or surface 'd'" in text


def test_all_faults_are_reported_at_once(tmp_path):
    rest = BODY.replace("mass: 2 kg", "mass: -2 kg")
    text = message(tmp_path, "{range: [1, 0], position: [u, 0, 0]}", rest)
    assert "range: starts at 1" in text
    assert "must not be negative" in text


def test_a_table_of_poses_as_text(tmp_path):
    """The same curve as from the table in memory; the drive may have another unit, derivatives are by the drive."""
    u = np.linspace(-0.3, 0.4, 15)
    zero = np.zeros_like(u)
    R = np.stack([[[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]] for a in 1.3 * u])
    rows = ([u**2, np.sin(u), u], [2 * u, np.cos(u), 1 + zero], [zero, zero, 1.3 + zero])
    p, d, delta = (np.stack(columns, axis=1) for columns in rows)
    dd = np.stack([2 + zero, -np.sin(u), zero], axis=1)
    nodes = PoseMotion(p, R, d, delta, dd, np.zeros_like(p))
    table = PoseTable(u, {"arm": nodes}, "z", "m")
    table.to_text(tmp_path / "arm.csv", "arm")
    wanted = table.curve("arm").pose(0.123)
    found = load(tmp_path, "{pose_table: arm.csv}").curves["c"]
    assert (found.parameter, found.unit, found.range) == ("z", "m", (-0.3, 0.4))
    for one, other in zip(found.pose(0.123), wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    lines = (tmp_path / "arm.csv").read_text().replace("z [m]", "z [mm]").splitlines()
    cells = [[float(x) for x in line.split(",")] for line in lines[1:]]
    scaled = [
        [1e3 * row[0], *row[1:13], *(x / 1e3 for x in row[13:19]), *(x / 1e6 for x in row[19:])]
        for row in cells
    ]
    (tmp_path / "mm.csv").write_text(
        "\n".join([lines[0], *(",".join(map(repr, row)) for row in scaled)]) + "\n"
    )
    in_mm = load(tmp_path, "{pose_table: mm.csv, outside: linear}").curves["c"]
    assert (in_mm.unit, in_mm.table.extrapolation) == ("m", "linear")
    for one, other in zip(in_mm.pose(0.123), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    assert load(tmp_path, "{pose_table: arm.csv, scheme: cubic}").curves["c"].continuity != found.continuity
    (tmp_path / "bad.csv").write_text((tmp_path / "arm.csv").read_text().replace("delta3", "gamma3"))
    assert "bad.csv:1: curve 'c': there is no column 'delta3'" in message(tmp_path, "{pose_table: bad.csv}")


def test_the_registry_is_complete():
    assert set(SOURCES) == {"file", "inline", "data", "pose_table", "position", "points", "track", "surface"}
    for key, cls in SOURCES.items():
        assert key in cls.model_fields
        assert cls.summary
        assert cls.model_fields[key].is_required()


def test_objects_are_taken_as_they_are():
    curve = PoseCurve.from_function(lambda u: [u, 0, u**2], (-1.0, 1.0))
    model = model_from_dict(
        {
            "curves": {"c": curve},
            "bodies": {"a": {"mass": 1}},
            "joints": {"j": {"type": "path", "child": "a", "curve": "c"}},
        }
    )
    assert model.curves["c"] is curve
    assert isinstance(json.dumps(model.model_dump()["curves"]), str)


def test_blend_of_a_frenet_frame(tmp_path):
    """HALL's cubic blend has zero rate at the ends of a straight stretch, the quintic one that of the neighbors."""
    source = "{{range: [-1, 1.2], position: [u, sin(3*u), 0.3*cos(2*u)], frame: frenet{}}}"
    cubic, quintic, plain = (
        load(tmp_path, source.format(text)).curves["c"] for text in (", blend: cubic", ", blend: quintic", "")
    )
    u = np.linspace(-1.0, 1.2, 401)
    assert np.array_equal(plain.table.coefficients, quintic.table.coefficients)
    assert (cubic.continuity.orientation, quintic.continuity.orientation) == (0, 2)
    assert np.abs(cubic.twist(u) - quintic.twist(u)).max() > 1e-3
    text = message(tmp_path, "{range: [0, 1], position: [u, 0, 0], frame: rmf, blend: cubic}")
    assert "model.yaml:3: curve 'c': blend: blend applies only to the frame 'frenet'" in text
    text = message(tmp_path, "{range: [0, 1], position: [u, 0, 0], frame: frenet, blend: septic}")
    assert "quintic" in text


def test_tolerance_reaches_the_frame(tmp_path):
    source = "{{range: [0, 6], position: [2*cos(u), sin(u), 0.3*u], frame: frenet, tolerance: {}}}"
    rough, fine = (load(tmp_path, source.format(tolerance)).curves["c"] for tolerance in ("1e-4", "1e-11"))
    assert 1e-7 < max(rough.report.between_nodes) < 1e-4
    assert max(fine.report.between_nodes) < 1e-11
    assert len(rough.table.breaks) < len(fine.table.breaks)
