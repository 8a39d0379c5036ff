"""Kinematic analysis against closed forms: four-bar, slider-crank, dead points, a parallelogram's branches."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from loops import Y, at, four_bar, rod, slider_crank
from paths import twisted
from sekant.model.joints import Prismatic, Revolute
from sekant.model.model import Ground

CRANK, ROD, LIFT = 0.4, 1.0, 0.05


def slider_position(phi):
    """x of the slider and its derivatives by the crank's angle.

    Rotation by phi about +y takes x to (cos, 0, -sin).
    """
    z = LIFT + CRANK * np.sin(phi)  # height of the slider above the pin
    root = np.sqrt(ROD**2 - z**2)
    dz, ddz = CRANK * np.cos(phi), -CRANK * np.sin(phi)
    d = -CRANK * np.sin(phi) - z * dz / root
    dd = -CRANK * np.cos(phi) - (dz**2 + z * ddz) / root - (z * dz) ** 2 / root**3
    return CRANK * np.cos(phi) + root, d, dd


@pytest.mark.parametrize("formulation", ["joint", "cartesian"])
def test_slider_crank_driven_by_its_crank(formulation):
    system = sk.compile(slider_crank(), formulation=formulation)
    result = sk.kinematics(system, "A.angle", range=(-7.0, 7.0, 57))
    assert result.complete
    assert not result.limits
    x, dx, ddx = slider_position(result.drive)
    np.testing.assert_allclose(result["D.q"], x, atol=2e-15)
    np.testing.assert_allclose(result.derivative("D.q"), dx, atol=1e-11)
    np.testing.assert_allclose(result.second_derivative("D.q"), ddx, atol=1e-10)
    slider = result.body("slider")
    np.testing.assert_allclose(slider.position, np.column_stack([x, 0 * x, 0 * x + LIFT]), atol=2e-15)
    np.testing.assert_allclose(slider.velocity[:, 0], dx, atol=1e-11)
    np.testing.assert_allclose(slider.acceleration[:, 0], ddx, atol=1e-10)
    np.testing.assert_allclose(slider.angular, 0.0, atol=1e-11)
    crank = result.body("crank")
    np.testing.assert_allclose(crank.angular, np.tile([0.0, 1.0, 0.0], (len(result), 1)), atol=1e-11)


@pytest.mark.parametrize("formulation", ["joint", "natural"])
def test_positions_are_exact_to_round_off_however_close_the_points(formulation):
    """Over 1.5e-4 rad the prediction itself meets the tolerance of 1e-12, and is to be corrected all the same."""
    result = sk.kinematics(
        sk.compile(slider_crank(), formulation=formulation), "A.angle", range=(0.1, 0.4, 2001)
    )
    x, dx, _ = slider_position(result.drive)
    c, s = np.cos(result.drive), np.sin(result.drive)
    crank = result.body("crank").rotation
    np.testing.assert_allclose(result["D.q"], x, atol=2e-15)
    np.testing.assert_allclose(result.derivative("D.q"), dx, atol=5e-15)
    np.testing.assert_allclose(crank[:, 0, [0, 2]], np.column_stack([c, s]), atol=1e-15)


@pytest.mark.parametrize("formulation", ["joint", "cartesian"])
def test_slider_crank_driven_by_its_slider_ends_at_both_dead_points(formulation):
    system = sk.compile(slider_crank(), formulation=formulation)
    result = sk.kinematics(system, "D.q", range=(0.3, 1.6, 131))
    ends = sorted(float(limit.value[0]) for limit in result.limits)
    exact = [np.sqrt((ROD - CRANK) ** 2 - LIFT**2), np.sqrt((ROD + CRANK) ** 2 - LIFT**2)]
    np.testing.assert_allclose(ends, exact, rtol=1e-12)
    assert {limit.kind for limit in result.limits} == {"dead point"}
    assert not result.complete
    asked = np.linspace(0.3, 1.6, 131)
    np.testing.assert_array_equal(result.reached, (asked > exact[0]) & (asked < exact[1]))
    x, dx, _ = slider_position(result["A.angle"])
    np.testing.assert_allclose(x, result.drive, atol=2e-15)
    np.testing.assert_allclose(result.derivative("A.angle"), 1 / dx, rtol=1e-9)
    assert "dead point at D.q = 1.39910686 m" in result.summary()


def test_a_dead_point_itself_may_be_asked_for():
    top = np.sqrt((ROD + CRANK) ** 2 - LIFT**2)
    result = sk.kinematics(slider_crank(), "D.q", values=[1.2, 1.3, top])
    assert result.complete
    assert result.singular.tolist() == [False, False, True]
    np.testing.assert_allclose(result["A.angle"][-1], -np.arcsin(LIFT / (ROD + CRANK)), atol=1e-7)
    assert np.isnan(result.dq[-1]).all()


def test_four_bar_against_freudenstein():
    """a crank, b coupler, c rocker, d ground: the coupler's length b is what the two pins' distance must be."""
    a, b, c = 0.3, 0.9, 0.6
    ground = np.array([0.8, 0.1])
    system = sk.compile(four_bar())
    result = sk.kinematics(system, "A.angle", range=(-6.0, 6.0, 49))
    assert result.complete
    phi, psi = result.drive, result["D.angle"]
    pin = a * np.column_stack([np.cos(phi), -np.sin(phi)])
    diff = ground - pin
    distance = np.linalg.norm(diff, axis=1)
    # angle at the rocker's foot in the triangle of sides c, distance, b; z up, y rotation turns x to -z
    gamma = np.arccos((c**2 + distance**2 - b**2) / (2 * c * distance))
    toward = np.arctan2(-diff[:, 1], -diff[:, 0])  # from the foot to the pin
    candidates = -(toward[:, None] + gamma[:, None] * np.array([1, -1]))
    error = np.abs(np.exp(1j * psi)[:, None] - np.exp(1j * candidates))
    branch = int(np.argmin(error[0]))
    assert error[:, branch].max() < 1e-11
    assert error[:, 1 - branch].max() > 0.5
    # d(psi)/d(phi) by the velocities of the two ends along the coupler
    tip = ground + c * np.column_stack([np.cos(psi), -np.sin(psi)])
    along = tip - pin
    d_pin = a * np.column_stack([-np.sin(phi), -np.cos(phi)])
    d_tip = c * np.column_stack([-np.sin(psi), -np.cos(psi)])
    ratio = np.sum(along * d_pin, axis=1) / np.sum(along * d_tip, axis=1)
    np.testing.assert_allclose(result.derivative("D.angle"), ratio, atol=1e-10)


def test_the_rocker_of_a_crank_rocker_swings_between_its_dead_points():
    a, b, c, d = 0.3, 0.9, 0.6, float(np.hypot(0.8, 0.1))
    result = sk.kinematics(four_bar(), "D.angle", range=(-5.0, 2.0, 71))
    inclined = np.arctan2(0.1, 0.8)
    # at the dead points crank and coupler are in line: the triangle (b +- a, c, d)
    at_foot = [np.arccos((c**2 + d**2 - (b + s * a) ** 2) / (2 * c * d)) for s in (-1, 1)]
    exact = sorted(-(np.pi + inclined - s * g) for g in at_foot for s in (1, -1))
    found = sorted(float(limit.value[0]) for limit in result.limits)
    assert len(found) == 2
    gap = [min(abs(np.exp(1j * value) - np.exp(1j * e)) for e in exact) for value in found]
    assert max(gap) < 1e-12


def parallelogram(phi: float) -> sk.Model:
    joints = {
        "A": Revolute(child="crank", axis=Y, q0=(phi,)),
        "B": Revolute(parent="crank.end", child="coupler", axis=Y, q0=(-phi,)),
        "C": Revolute(parent="coupler.end", child="rocker.end", axis=Y),
        "D": Revolute(child="rocker", axis=Y, parent_pose=at(0.9, 0.0, 0.0), q0=(phi,)),
    }
    bodies = {"crank": rod(1.1, 0.3), "coupler": rod(1.9, 0.9), "rocker": rod(1.5, 0.3)}
    return sk.Model(name="parallelogram", bodies=bodies, joints=joints)


def test_a_parallelogram_stays_one_through_the_points_where_branches_meet():
    values = np.linspace(-2.0, 5.0, 83)  # 0 and pi are not among them
    result = sk.kinematics(parallelogram(0.8), "A.angle", values=values)
    assert result.complete
    np.testing.assert_allclose(result["D.angle"], values, atol=1e-9)
    np.testing.assert_allclose(result.derivative("D.angle"), 1.0, atol=1e-7)
    assert [limit.kind for limit in result.limits] == ["branches meet"] * 2
    meetings = sorted(result.limits, key=lambda limit: limit.value[0])
    np.testing.assert_allclose([limit.value[0] for limit in meetings], [0.0, np.pi], atol=1e-11)
    angles = [list(result.q_names).index(f"{joint}.angle") for joint in "AD"]
    for limit in meetings:
        np.testing.assert_allclose(limit.q[angles], limit.value[0], atol=1e-10)


def test_the_meeting_point_itself_has_no_derivatives():
    result = sk.kinematics(parallelogram(0.8), "A.angle", values=[-0.4, -0.2, 0.0, 0.2, 0.4])
    assert result.complete
    assert result.singular.tolist() == [False, False, True, False, False]
    np.testing.assert_allclose(result["D.angle"], result.drive, atol=1e-7)
    with pytest.raises(sk.SekantError, match="singular position"):
        sk.kinematics(parallelogram(0.0), "A.angle", range=(-1, 1, 5))


def test_two_drives_of_an_open_arm():
    """A planar arm: the tip's coordinates driven, the inverse kinematics in closed form."""
    l1, l2 = 0.7, 0.5
    joints = {
        "shoulder": Revolute(child="upper", axis=Y, q0=(-0.4,)),
        "elbow": Revolute(parent="upper.end", child="fore", axis=Y, q0=(1.1,)),
    }
    model = sk.Model(name="arm", bodies={"upper": rod(1.1, l1), "fore": rod(0.7, l2)}, joints=joints)
    result = sk.kinematics(model, {"fore.end.x": (0.5, 1.3, 9), "fore.end.z": (-0.2, 0.6, 7)})
    x, z = result.drive.T
    asked = np.stack(np.meshgrid(*result.axes, indexing="ij"), axis=-1).reshape(-1, 2)
    np.testing.assert_array_equal(result.reached, np.linalg.norm(asked, axis=1) < l1 + l2)
    assert all(limit.kind == "dead point" for limit in result.limits)
    for limit in result.limits:
        assert abs(np.linalg.norm(limit.value) - (l1 + l2)) < 1e-12
    elbow = np.arccos((x**2 + z**2 - l1**2 - l2**2) / (2 * l1 * l2))
    shoulder = -np.arctan2(z, x) - np.arctan2(l2 * np.sin(elbow), l1 + l2 * np.cos(elbow))
    np.testing.assert_allclose(result["elbow.angle"], elbow, atol=1e-10)
    np.testing.assert_allclose(result["shoulder.angle"], shoulder, atol=1e-10)
    J = np.array([result.derivative(f"fore.end.{c}") for c in "xz"])  # (2, n, 2)
    np.testing.assert_allclose(J.transpose(1, 0, 2), np.tile(np.eye(2), (len(result), 1, 1)), atol=1e-10)
    np.testing.assert_allclose(result.ddq, np.swapaxes(result.ddq, 1, 2), atol=1e-8)
    grid = result.on_grid(result["elbow.angle"])
    assert grid.shape == (9, 7)
    assert np.isnan(grid).sum() == (~result.reached).sum()


def test_the_end_of_a_path_is_a_limit():
    low, high = twisted().range
    body = sk.Body(mass=1.0, inertia=(0.1, 0.2, 0.3))
    model = sk.Model(bodies={"car": body}, joints={"rail": sk.joints.Path(child="car", curve=twisted())})
    result = sk.kinematics(model, "rail.u", range=(low - 0.2, high + 0.3, 40))
    assert not result.complete
    assert {limit.kind for limit in result.limits} == {"end of range"}
    np.testing.assert_allclose(sorted(float(k.value[0]) for k in result.limits), [low, high], atol=1e-9)


def test_a_lift_driven_by_a_distance():
    """A slider pulled by a rope: x^2 + h^2 = d^2."""
    h = 0.6
    joints = {"slide": Prismatic(child="box", axis=(1.0, 0.0, 0.0), q0=(0.5,))}
    model = sk.Model(
        ground=Ground(frames={"hook": at(0.0, 0.0, h)}), bodies={"box": rod(1.0, 0.2)}, joints=joints
    )
    result = sk.kinematics(model, "distance(ground.hook, box)", range=(0.4, 1.5, 23))
    assert result.singular.sum() == 1  # 0.6 is asked for
    d = result.drive[1:]
    np.testing.assert_allclose(result["slide.q"][1:], np.sqrt(d**2 - h**2), atol=1e-12)
    np.testing.assert_allclose(result.derivative("slide.q")[1:], d / np.sqrt(d**2 - h**2), rtol=1e-10)
    assert len(result.limits) == 1
    assert abs(result.limits[0].value[0] - h) < 1e-12


def test_a_range_beyond_reach_advises_the_dead_points():
    """Rods of 0.5 m and 0.3 m end to end reach 0.2 to 0.8 m: the advice goes as far, and is reached."""
    model = sk.Model(
        gravity=(0, 0, 0),
        bodies={
            "a": sk.Body(mass=1, inertia=(0.1, 0.1, 0.1), frames={"end": {"position": (0.5, 0, 0)}}),
            "b": sk.Body(mass=1, inertia=(0.1, 0.1, 0.1), frames={"tip": {"position": (0.3, 0, 0)}}),
        },
        joints={
            "shoulder": sk.joints.Revolute(child="a", axis=(0, 0, 1), q0=0.4),
            "elbow": sk.joints.Revolute(parent="a.end", child="b", axis=(0, 0, 1), q0=1.1),
        },
    )
    asked = {"drive": "distance(ground, b.tip)", "hold": "shoulder.angle"}
    found = sk.kinematics(model, range=(0.1, 0.9, 33), **asked)
    told = next(str(w) for w in found.warnings if w.code == "range_not_reached")
    assert "use 0.2 to 0.8 m" in told
    assert sk.kinematics(model, range=(0.2, 0.8, 33), **asked).complete
