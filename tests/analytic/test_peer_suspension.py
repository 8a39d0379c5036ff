"""Curves of a double wishbone by the way of a public peer, pymycar 0.0.3: points at fixed distances, Euler angles.

The peer solves for four points and one of the spin axis by their distances, and calls the angles of the upright's
rotation from the drawing, R = Rz(a) Ry(b) Rx(c), toe = -a and camber = c. Ours are angles of the spin axis (ISO
8855): for a wheel drawn upright, sin(camber) = -cos(b) sin(c) on the left, and the steer angle is a - atan2(sin b sin
c, cos c). Caster and kingpin inclination are the same but for the signs of x and y. So curves agree once definitions
are translated.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation

import sekant as sk

POINTS = {
    "upper_front": [103.0, 350.0, 142.0],
    "upper_rear": [-127.0, 350.0, 128.0],
    "upper_ball": [-12.0, 589.0, 127.0],
    "lower_front": [122.0, 345.0, -80.0],
    "lower_rear": [-108.0, 345.0, -80.0],
    "lower_ball": [7.0, 620.0, -89.0],
    "tie_rod_outer": [-156.0, 545.0, 178.0],
    "tie_rod_inner": [-156.0, 317.0, 186.0],
    "wheel_center": [0.0, 678.0, 0.0],
}  # mm, of the double wishbone of PILS
MOVING = ("upper_ball", "lower_ball", "tie_rod_outer", "wheel_center")
HELD = [
    ("upper_ball", "upper_front"),
    ("upper_ball", "upper_rear"),
    ("lower_ball", "lower_front"),
    ("lower_ball", "lower_rear"),
    ("tie_rod_outer", "tie_rod_inner"),
]
TRAVEL = np.linspace(-60.0, 60.0, 7)  # mm


def by_distances():
    """Angles a, b, c (n,) of the upright, and the upper and the lower ball joint (n, 3), by distances of points."""
    start = {name: np.array(p) for name, p in POINTS.items()}
    pairs = HELD + [(m, n) for i, m in enumerate(MOVING) for n in MOVING[:i]]
    lengths = [np.linalg.norm(start[m] - start[n]) for m, n in pairs]
    guess = np.concatenate([start[name] for name in MOVING])
    angles, balls = [], []
    drawn = np.array([start[name] - start["upper_ball"] for name in MOVING[1:]]).T
    for z in TRAVEL:

        def gaps(x, z=z):
            here = start | dict(zip(MOVING, x.reshape(-1, 3), strict=True))
            found = [np.linalg.norm(here[m] - here[n]) - l for (m, n), l in zip(pairs, lengths, strict=True)]
            return [*found, here["wheel_center"][2] - z]

        x, _, ok, why = fsolve(gaps, guess, xtol=1e-13, full_output=True)
        assert ok == 1, why
        p = x.reshape(-1, 3)
        angles.append(Rotation.from_matrix((p[1:] - p[0]).T @ np.linalg.inv(drawn)).as_euler("ZYX"))
        balls.append((p[0], p[1]))
    a, b, c = np.array(angles).T
    upper, lower = (np.array(side) for side in zip(*balls, strict=True))
    return a, b, c, upper, lower


def by_peer():
    """The same by pymycar."""
    module = pytest.importorskip("pymycar.CarKinematic.double_whisbone")
    functions = pytest.importorskip("pymycar.CarKinematic.functions")
    p = {name: np.array(place) for name, place in POINTS.items()}
    data = {
        "wheel_center": p["wheel_center"],
        "wheel_center_axis": p["wheel_center"] - [0.0, 100.0, 0.0],
        "uca_outer": p["upper_ball"],
        "UCA_FRONT": p["upper_front"],
        "UCA_REAR": p["upper_rear"],
        "lca_outer": p["lower_ball"],
        "LCA_FRONT": p["lower_front"],
        "LCA_REAR": p["lower_rear"],
        "tierod_outer": p["tie_rod_outer"],
        "TIEROD_INNER": p["tie_rod_inner"],
    }
    found = module.double_whisbone_base(data, 60.0, 60.0, 20.0, save_to_txt=False)
    solution = found if isinstance(found, dict) else found[0]
    wheel = functions.get_wheel(solution)
    np.testing.assert_allclose(wheel["wheel_jounce"], TRAVEL, atol=1e-9)
    angles = (-wheel["toe_angle"], wheel["side_view_angle"], wheel["camber_angle"])
    return *angles, solution["uca_outer"], solution["lca_outer"]


def compare(a, b, c, upper, lower):
    model = sk.vehicle.double_wishbone(POINTS, unit="mm", steered=False, wheel={"radius": 0.265})
    roles = sk.vehicle.Suspension(rack=None, steer_axis=("upright.lower_ball", "upright.upper_ball"))
    ours = sk.vehicle.suspension_curves(model, roles, travel=1e-3 * TRAVEL)
    axis = upper - lower
    wanted = {
        "camber": np.arcsin(-np.cos(b) * np.sin(c)),
        "toe": np.arctan2(np.sin(b) * np.sin(c), np.cos(c)) - a,
        "caster": np.arctan(-axis[:, 0] / axis[:, 2]),
        "kingpin_inclination": np.arctan(-axis[:, 1] / axis[:, 2]),
    }
    assert np.ptp(c) > 2e-3  # camber and toe do change
    assert np.ptp(a) > 2e-3
    for name, values in wanted.items():
        np.testing.assert_allclose(ours[name][:, 0], values, atol=1e-10, err_msg=name)


def test_curves_are_those_of_points_at_fixed_distances():
    compare(*by_distances())


@pytest.mark.long
def test_curves_are_those_of_a_public_peer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the peer writes its log where it runs
    compare(*by_peer())
