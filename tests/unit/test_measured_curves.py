"""Measured K&C curves: our own, written and read again, give a corner on a path with the same curves."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.vehicle.kc.measured import deviations
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
        ("travel [mm],camber [deg]\n" + "1,2\n" * 5, "same travel occurs twice"),
        ("travel [mm],camber [mm]\n" + "".join(f"{k},2\n" for k in range(5)), "mm"),
        ("travel [mm],camber [deg]\n1,2\n2\n3,1\n4,1\n5,1\n", "has 1 values, the header 2"),
        ("travel [mm],camber [deg]\n1,2\n2,x\n3,1\n4,1\n5,1\n", "holds no number"),
    ],
)
def test_faulty_files(tmp_path, text, said):
    (tmp_path / "rig.csv").write_text(text)
    with pytest.raises(SekantError, match=said):
        sk.vehicle.read_measured(tmp_path / "rig.csv")
