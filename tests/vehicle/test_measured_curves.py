"""Measured K&C curves: our own, written and read again, give a corner on a path with the same curves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import sekant as sk
from sekant.errors import SekantError
from sekant.model.expressions.expression import Expression
from sekant.vehicle import load_axle
from sekant.vehicle.measured.curves import deviations
from sekant.views.cli import app
from suspensions import planar_points

UPPER, LOWER = (0.36, 0.16, 0.62, 0.19), (0.33, -0.11, 0.66, -0.13)
HEADERS = ("travel", "camber", "toe", "track_change", "wheelbase_change")


@pytest.fixture(scope="module")
def ours():
    # without steering, and with a tie rod that steers in bump
    points = planar_points(UPPER, LOWER, tie_rod_inner=[-0.12, 0.33, -0.09])
    model = sk.vehicle.double_wishbone(points, steered=False, camber="-1 deg", toe="0.2 deg")
    return sk.vehicle.suspension_curves(model, travel=np.linspace(-0.05, 0.06, 23))


def write(curves, path, names=HEADERS):
    head, rows = curves.rows()
    kept = [k for k, h in enumerate(head) if h.split(" [")[0] in names]
    lines = [
        ",".join(head[k] for k in kept),
        *(",".join(f"{row[k]:.12g}" for k in kept) for row in rows[::-1]),
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_corner_of_measured_curves_has_them(ours, tmp_path):
    measured = sk.vehicle.read_measured(write(ours, tmp_path / "rig.csv"))
    np.testing.assert_allclose(measured["camber"], ours["camber"], atol=1e-12)
    model = sk.vehicle.corner_of_curves(measured, wheel_center=(0.0, 0.71, 0.0), radius=0.29)
    travel = np.linspace(-0.045, 0.055, 7)
    again = sk.vehicle.suspension_curves(model, travel=travel)
    wanted = {name: np.interp(travel, ours.travel, ours[name][:, 0]) for name in HEADERS[1:]}
    for name, values in wanted.items():
        # linear interpolation between 5 mm apart is good to some 1e-5
        np.testing.assert_allclose(again[name][:, 0], values, atol=3e-5, err_msg=name)
    exact = sk.vehicle.suspension_curves(model, travel=ours.travel[1:-1])
    for name in HEADERS[1:]:
        np.testing.assert_allclose(exact[name], ours[name][1:-1], atol=1e-7, err_msg=name)
    gradient = np.interp(travel, ours.travel, ours["camber_gradient"][:, 0])
    np.testing.assert_allclose(again["camber_gradient"][:, 0], gradient, atol=5e-3)


def test_deviations(ours, tmp_path):
    shifted = sk.vehicle.read_measured(write(ours, tmp_path / "rig.csv"))
    unit, values = shifted.data["camber"]
    shifted.data["camber"] = (unit, values + np.radians(0.1))
    found = deviations(ours, shifted)
    assert found["camber"] == ("deg", pytest.approx(0.1, rel=1e-6))
    assert found["toe"][1] < 1e-9


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("travel [mm],cambre [deg]\n" + "1,2\n" * 5, "unknown quantity 'cambre'; did you mean 'camber'"),
        ("camber [deg]\n" + "1\n" * 5, "no column 'travel'"),
        ("travel [mm],camber [deg]\n" + "1,2\n" * 5, "same travel occurs in several rows"),
        ("travel [mm],camber [mm]\n" + "".join(f"{k},2\n" for k in range(5)), "mm"),
        (
            "travel [mm],camber [deg]\n1,2\n2\n3,1\n4,1\n5,1\n",
            "rig.csv:3: the row has 1 value, but there are 2 columns",
        ),
        (
            "travel [mm],camber [deg]\n1,2\n2,x\n3,1\n4,1\n5,1\n",
            "rig.csv:3: column 'camber': 'x' is not a number",
        ),
    ],
)
def test_faulty_files(tmp_path, text, said):
    (tmp_path / "rig.csv").write_text(text)
    with pytest.raises(SekantError, match=said):
        sk.vehicle.read_measured(tmp_path / "rig.csv")


def test_decimal_commas_and_empty_cells(tmp_path):
    """As spreadsheets write them: the one reader of columns reads these files too."""
    rows = "".join(f"{10 * k},5;{'' if k == 2 else f'0,{k}'}\n" for k in range(5))
    (tmp_path / "rig.csv").write_text("# rig\ntravel [mm];camber [deg]\n" + rows)
    found = sk.vehicle.read_measured(tmp_path / "rig.csv")
    np.testing.assert_allclose(found.travel, 1e-3 * np.array([0.5, 10.5, 20.5, 30.5, 40.5]))
    np.testing.assert_allclose(np.degrees(found["camber"][:, 0]), [0.0, 0.1, np.nan, 0.3, 0.4], atol=1e-12)


RATES = """travel [mm], lateral_same.toe [deg/kN], lateral_same.camber [deg/kN], lateral_same.y [mm/kN], \
driving.x [mm/kN], driving.toe [deg/kN], aligning_same.toe [deg/(kN*m)], aligning_same.y [mm/(kN*m)]
-40, -0.03, -0.31, 1.4, 0.41, 0.012, -0.9, 0.0
0, -0.0267, -0.27, 1.1, 0.37, 0.014, -0.8, 0.0
50, -0.02, -0.25, 1.0, 0.33, 0.016, -0.75, 0.0
"""


def test_measured_compliance_rates_are_those_of_the_corner(ours, tmp_path):
    """Loads on the corner on its path, held in travel, move and turn the wheel by the rates that were read.

    Rates of one load are kept as they are; of several, as far as they obey Maxwell's theorem: what load i does along
    load j is then the mean of both rates.
    """
    radius, step, travel = 0.29, 5.0, (-0.04, 0.0, 0.05)
    (tmp_path / "rates.csv").write_text(RATES)
    rates = sk.vehicle.read_compliance(tmp_path / "rates.csv")
    assert rates.loads == ("fy", "dx", "mz")
    measured = sk.vehicle.read_measured(write(ours, tmp_path / "rig.csv"))
    model = sk.vehicle.corner_of_curves(
        measured, wheel_center=(0.0, 0.71, 0.0), radius=radius, compliance=rates
    )
    joint, curve = model.joints["travel"], model.curves["kc"]
    assert isinstance(joint, sk.joints.Path)
    elastic = joint.elastic
    assert elastic is not None
    assert isinstance(curve, sk.PoseCurve)
    R = curve.pose(np.array(travel))[0]
    W, B = rates.matrices(np.array(travel), R, radius)
    G = np.einsum("nik,nil->nkl", W, B)
    for k, u in enumerate(travel):
        turn = np.kron(np.eye(2), R[k].T)
        found = W[k].T @ turn.T @ elastic.compliance(u) @ turn @ W[k]
        np.testing.assert_allclose(found, 0.5 * (G[k] + G[k].T), rtol=1e-6, atol=1e-12)
    turned = {key: -x if key == ("mz", "toe") else x for key, x in rates.rates.items()}
    with pytest.raises(SekantError, match=r"under mz at travel .* mm, the wheel moves opposite to the load"):
        sk.vehicle.MeasuredCompliance("left", rates.travel, turned).modes(np.array(travel), R, radius)
    alone = sk.vehicle.MeasuredCompliance(
        "left", rates.travel, {key: x for key, x in rates.rates.items() if key[0] == "fy"}
    )
    model = sk.vehicle.corner_of_curves(
        measured, wheel_center=(0.0, 0.71, 0.0), radius=radius, compliance=alone
    )
    side = sk.forces.PointForce(frame="upright.contact", force=(0.0, Expression("side"), 0.0))
    loaded = model.changed(parameters={"side": 0.0}, forces={"push": side}, gravity=(0.0, 0.0, 0.0))
    system = sk.compile(loaded, parameters=["side"], engine="casadi")
    eq = system.equations
    frame = eq.motion.frame("upright.wheel_center")
    pose = eq.lookups.oracle("pose", [eq.t, eq.q, eq.p], [frame.R, frame.p])

    def moved(force):
        """Toe and camber (rad), and y (m) of the wheel's center."""
        rest = sk.equilibrium(system, hold=["travel.u"], parameters={"side": force})
        R, p = (np.array(part) for part in pose(0.0, rest.q, [force]))
        return np.array([np.arctan2(R[0, 1], R[1, 1]), np.arcsin(-R[2, 1]), p[1, 0]])

    found = (moved(step) - moved(-step)) / (2 * step)
    wanted = [rates.rates["fy", name][1] for name in ("toe", "camber", "y")]
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lateral.toe [deg/kN]\n1\n", "unknown column 'lateral.toe'; did you mean 'lateral_same.toe'"),
        ("lateral_same.toe [mm/kN]\n1\n", "mm/kN"),
        ("lateral_same.toe [deg/kN]\n1\n2\n", "has 2 rows, but no column 'travel'"),
        ("travel [mm],lateral_same.toe [deg/kN]\n1,1\n1,2\n", "same travel occurs in several rows"),
        ("travel [mm]\n1\n", "contains no rates"),
    ],
)
def test_faulty_rates(tmp_path, text, said):
    (tmp_path / "rates.csv").write_text(text)
    with pytest.raises(SekantError, match=said):
        sk.vehicle.read_compliance(tmp_path / "rates.csv")


@pytest.fixture(scope="module")
def steered():
    model = sk.vehicle.double_wishbone(planar_points(UPPER, LOWER, tie_rod_inner=[-0.12, 0.33, -0.09]))
    return sk.vehicle.suspension_curves(
        model, travel=np.linspace(-0.05, 0.06, 12), steering=np.linspace(-0.02, 0.02, 5)
    )


def test_curves_at_several_racks_make_a_steered_corner(steered, tmp_path):
    """The wheel of the reduced corner has camber, toe and contact point of the curves it was made from."""
    measured = sk.vehicle.read_measured(write(steered, tmp_path / "rig.csv", ("rack", *HEADERS)))
    assert measured["toe"].shape == (12, 5)
    np.testing.assert_allclose(measured["toe"], steered["toe"], atol=1e-11)
    radius, center = 0.29, np.array([0.0, 0.71, 0.0])
    model = sk.vehicle.corner_of_curves(measured, wheel_center=center, radius=radius)
    surface = model.curves["kc"]
    i, j = np.meshgrid(np.arange(12), np.arange(5), indexing="ij")
    R, p = surface.pose(steered.travel[i], steered.steering[j])
    e = R[..., :, 1]
    np.testing.assert_allclose(np.arcsin(-e[..., 2]), steered["camber"], atol=1e-7)
    np.testing.assert_allclose(np.arctan2(e[..., 0], e[..., 1]), steered["toe"], atol=1e-7)
    down = np.array([0.0, 0.0, -1.0]) - (-e[..., 2:]) * e
    contact = p + radius * down / np.linalg.norm(down, axis=-1, keepdims=True)
    rest = contact[int(np.argmin(np.abs(steered.travel))), 2]
    for axis, name in ((1, "track_change"), (0, "wheelbase_change")):
        change = contact[..., axis] - rest[axis]
        np.testing.assert_allclose(change - change[0, 0], steered[name] - steered[name][0, 0], atol=1e-6)
    assert sk.compile(model).nv == 1  # the travel; the rack is held


def test_a_steered_corner_of_curves_gives_way_by_measured_rates(steered, tmp_path):
    measured = sk.vehicle.read_measured(write(steered, tmp_path / "rig.csv", ("rack", *HEADERS)))
    file = tmp_path / "rates.csv"
    file.write_text(
        "lateral_same.toe [deg/kN], lateral_same.camber [deg/kN], lateral_same.y [mm/kN]\n-0.03, -0.3, 1.2\n"
    )
    model = sk.vehicle.corner_of_curves(
        measured, wheel_center=(0.0, 0.71, 0.0), radius=0.29, compliance=sk.vehicle.read_compliance(file)
    )
    modes = model.joints["travel"].elastic
    assert modes.along == 2
    assert modes.count == 1
    moved = modes.compliance(0.0, 0.0) @ [
        0,
        1e3,
        0,
        290.0,
        0,
        0,
    ]  # a lateral force at the contact, wheel upright
    assert 1e3 * moved[1] == pytest.approx(1.2, rel=0.02)
    assert -np.degrees(moved[5]) == pytest.approx(-0.03, rel=0.02)


def test_bad_sets_of_curves_are_told(tmp_path):
    head, row = "travel [mm], rack [mm], camber [deg], toe [deg], track_change [mm]", "0.1, 0.2, 0.3"
    two = [f"{z}, {r}, {row}" for r in (0, 5) for z in (-20, 0, 20, 40)]
    few = [f"{z}, {r}, {row}" for r, zs in ((-5, (0, 5)), (0, (0, 5, 9, 12)), (5, (0, 5, 8, 9))) for z in zs]
    for rows, says in ((two, "curves at two rack positions"), (few, "2 positions at rack -5 mm")):
        file = tmp_path / "rig.csv"
        file.write_text("\n".join([head, *rows]) + "\n")
        with pytest.raises(SekantError, match=says):
            sk.vehicle.read_measured(file)
    file.write_text(head.replace("[deg]", "[kg]", 1) + "\n" + "\n".join(two) + "\n")
    with pytest.raises(SekantError, match=r"column 'camber'"):
        sk.vehicle.read_measured(file)


STEERED = Path(__file__).parents[2] / "examples" / "axles" / "front_double_wishbone.yaml"


def steered_rows(curves, racks, path):
    names = ("travel", "rack", "camber", "toe")
    lines = ["travel [mm],rack [mm],camber [deg],toe [deg]"]
    for j in racks:
        columns = [
            curves.shown(name if name in ("travel", "rack") else f"left.{name}")[1][:, j] for name in names
        ]
        lines += [",".join(f"{x:.15g}" for x in row) for row in zip(*columns, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_measured_rows_are_compared_at_their_own_rack(tmp_path):
    """Rows of our own curves at some positions of the rack deviate by nothing, whatever positions ours has."""
    rack = np.array([-0.025, -0.01, 0.0, 0.01, 0.025])
    curves = sk.vehicle.axle_curves(load_axle(STEERED), travel=np.linspace(-0.04, 0.05, 7), steering=rack)
    for racks in ([4], [0, 2, 4]):
        file = steered_rows(curves, racks, tmp_path / "rig.csv")
        found = deviations(curves, sk.vehicle.read_measured(file))
        assert set(found) == {"camber", "toe"}
        assert max(gap for _, gap in found.values()) < 1e-9
        told = CliRunner().invoke(app, ["kc", str(STEERED), "--measured", str(file), "--racks", "2"])
        assert told.exit_code == 0, told.output
        line = next(x for x in told.output.splitlines() if x.startswith("  toe") and len(x.split()) == 3)
        assert abs(float(line.split()[1])) < 1e-3, line  # between 41 positions the curve is a cubic spline
    straight = sk.vehicle.axle_curves(load_axle(STEERED), travel=[-0.01, 0.0, 0.01])
    with pytest.raises(
        SekantError,
        match=r"positions of the measurement \(25 mm\) are outside the range of the computed curves \(0 mm\)",
    ):
        deviations(straight, sk.vehicle.read_measured(steered_rows(curves, [4], tmp_path / "rig.csv")))
