"""Kinematic analysis: names of drives, ranges, tables and pictures, and what bad input says."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from loops import disc, four_bar, slider_crank, wishbones
from sekant.model.prescribed_motion import Motion


@pytest.fixture(scope="module")
def crank():
    return sk.compile(slider_crank())


def test_values_keep_the_order_in_which_they_were_asked_for(crank):
    up = sk.kinematics(crank, "A.angle", range=(-0.5, 0.5, 6))
    mixed = sk.kinematics(crank, "A.angle", values=[0.1, -0.5, 0.5, -0.1, 0.3, -0.3])
    np.testing.assert_allclose(mixed["D.q"], up["D.q"][[3, 0, 5, 2, 4, 1]], atol=1e-12)


def test_units_may_be_given(crank):
    result = sk.kinematics(crank, "A.angle", range=("-30 deg", "30 deg", 3))
    np.testing.assert_allclose(result.drive, np.radians([-30, 0, 30]), atol=1e-15)


def test_table_csv_and_picture(crank, tmp_path):
    result = sk.kinematics(crank, "A.angle", range=(-0.5, 0.5, 6))
    result.to_csv(tmp_path / "k.csv", ["D.q", "slider.position"])
    lines = (tmp_path / "k.csv").read_text().splitlines()
    assert lines[0].split(",")[:3] == ["A.angle [rad]", "D.q [m]", "d(D.q)/d(A.angle)"]
    rows = np.array([[float(x) for x in line.split(",")] for line in lines[1:]])
    assert rows.shape == (6, 9)
    np.testing.assert_array_equal(rows[:, 2], result.derivative("D.q"))
    np.testing.assert_array_equal(rows[:, 3:6], result["slider.position"])
    result.plot(tmp_path / "k.png")
    assert (tmp_path / "k.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("drive", "options", "said"),
    [
        ("A.angel", {"range": (0, 1, 3)}, "did you mean 'A.angle'"),
        ("slider.position", {"range": (0, 1, 3)}, "drive one of slider.position.x"),
        ("A.angle", {}, "give either range"),
        ("A.angle", {"range": (0, 1, 3), "values": [1]}, "give either range"),
        ("A.angle", {"range": (0, 1)}, "(first, last, count)"),
        ("A.angle", {"range": (0, 1, 0)}, "(first, last, count)"),
        ("A.angle", {"range": (1, 1, 3)}, "empty"),
        ("A.angle", {"range": (0, np.nan, 3)}, "not finite"),
        ("A.angle", {"values": []}, "no values"),
        ("A.angle", {"values": [0.1, 0.1]}, "twice"),
        ("A.angle", {"range": ("3 mm", "5 mm", 3)}, "an angle is expected"),
        ("distance(slider, grund)", {"range": (0, 1, 3)}, "did you mean 'ground'"),
        (["A.angle", "A.angle"], {"range": [(0, 1, 3)] * 2}, "named twice"),
        (["A.angle", "D.q"], {"range": [(0, 1, 3)]}, "got 1 for 2 drives"),
        (["A.angle", "D.q"], {"range": [(0, 1, 3)] * 2}, "has 1 degree of freedom but 2 drives"),
        ("slider.y", {"range": (0, 1, 3)}, "cannot be driven"),
    ],
)
def test_bad_input_is_named(crank, drive, options, said):
    with pytest.raises(sk.SekantError) as caught:
        sk.kinematics(crank, drive, **options)
    assert said in str(caught.value)


def test_freedoms_that_are_left_are_named():
    model = four_bar()
    joints = {name: joint for name, joint in model.joints.items() if name != "C"}
    open_chain = model.model_copy(update={"joints": joints})
    with pytest.raises(sk.SekantError) as caught:
        sk.kinematics(open_chain, "A.angle", range=(0, 1, 3))
    assert "3 degrees of freedom but 1 drive" in str(caught.value)
    assert "hold (hold=[...]) 2 of these" in str(caught.value)
    for name in ("B.angle", "D.angle"):
        assert name in str(caught.value)
    assert "'A.angle' can" not in str(caught.value)


def test_out_of_reach_gives_the_limits_found():
    with pytest.raises(sk.SekantError) as caught:
        sk.kinematics(slider_crank(), "D.q", range=(2.0, 3.0, 5))
    assert "dead point at D.q = 1.39910686 m" in str(caught.value)
    assert "dead point at D.q = 0.597913037 m" in str(caught.value)


def test_a_driven_coordinate_cannot_be_driven_twice():
    model = slider_crank().model_copy(update={"motions": {"motor": Motion(joint="A", value=0.3)}})
    with pytest.raises(sk.SekantError, match="motion 'motor'"):
        sk.kinematics(model, "A.angle", range=(0, 1, 3))


def test_velocities_are_refused():
    model = wishbones().model_copy(update={"sensors": {"speed": sk.sensors.Velocity(frame="upright")}})
    with pytest.raises(sk.SekantError, match="depends on velocities"):
        sk.kinematics(model, "speed.z", range=(0, 1, 3))


def test_rolling_is_refused():
    with pytest.raises(sk.SekantError, match="restricts velocities"):
        sk.kinematics(disc(), "disc.x", range=(0, 1, 3))


def test_points_drive_mechanisms_in_natural_coordinates():
    m = sk.natural.Mechanism(dim=2, gravity=(0, -9.81))
    O, A = m.ground("O", (0, 0)), m.point("A", (0.6, -0.8))
    m.rod(O, A, mass=1.3)
    result = sk.kinematics(m.compile(), "A.x", range=(-0.9, 0.9, 7))
    np.testing.assert_allclose(result["A.y"], -np.sqrt(1 - result.drive**2), atol=1e-12)
    np.testing.assert_allclose(
        result.derivative("A.y"), result.drive / np.sqrt(1 - result.drive**2), atol=1e-9
    )


def test_values_may_count_from_the_start(crank):
    begin = float(sk.assemble(crank).q[list(crank.state_names).index("A.angle")])
    result = sk.kinematics(crank, "A.angle", range=(-0.2, 0.3, 6), relative=True)
    np.testing.assert_allclose(result.drive, begin + np.linspace(-0.2, 0.3, 6), atol=1e-14)
    slider = sk.kinematics(crank, "slider.x", range=("-20 mm", "20 mm", 3), relative=True)
    assert np.ptp(slider.drive) == pytest.approx(0.04)
    absolute = sk.kinematics(crank, "slider.x", values=slider.drive)
    np.testing.assert_allclose(absolute["A.q"], slider["A.q"], atol=1e-12)


@pytest.mark.parametrize("count", [10**9, 10**400], ids=["many", "endless"])
def test_a_range_of_too_many_values_is_refused(count):
    model = sk.Model(
        bodies={"arm": sk.Body(mass=1.0, inertia=(0.3, 0.7, 0.9))},
        joints={"hinge": sk.joints.Revolute(child="arm")},
    )
    for arguments in (
        {"drive": "hinge.q", "range": (0.0, 1.0, count)},
        {"drive": {"hinge.q": (0.0, 1.0, count)}},
    ):
        with pytest.raises(sk.SekantError, match=r"'hinge\.q' has more than 10,000,000 values"):
            sk.kinematics(model, **arguments)
