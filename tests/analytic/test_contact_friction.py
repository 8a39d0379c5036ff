"""Rigid contacts with friction: sliding, rolling, sticking and impacts against closed solutions."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.model.parse import model_from_dict

G, R, MASS, MU = 9.81, 0.11, 0.9, 0.23
SPHERE = {"mass": MASS, "inertia": [0.4 * MASS * R**2] * 3}


def ball(velocity, height=R, restitution=0.0, gravity=(0, 0, -G)):
    free = {"type": "free", "child": "ball", "position": [0, 0, height], "velocity": list(velocity)}
    floor = {"type": "point_plane", "frame": "ball", "radius": R, "friction": MU, "restitution": restitution}
    return model_from_dict(
        {
            "gravity": list(gravity),
            "bodies": {"ball": SPHERE},
            "joints": {"fly": free},
            "contacts": {"floor": floor},
        }
    )


@pytest.fixture(scope="module")
def system():
    return sk.compile(ball((1.2, -0.7, 0.0)))


@pytest.mark.parametrize("method", ["taylor", "dop853"])
def test_a_ball_slides_until_it_rolls(system, method):
    """Sliding at -mu g until 2 u / (7 mu g), then rolling with 5/7 of its speed for ever."""
    u = np.hypot(1.2, 0.7)
    rolls = 2 * u / (7 * MU * G)
    result = sk.simulate(
        system, output_times=[0.0, 0.5 * rolls, 2 * rolls, 5 * rolls], rtol=1e-10, atol=1e-12
    )
    assert result.status == "finished"
    v = result["ball.velocity"]
    along = np.array([1.2, -0.7, 0.0]) / u
    np.testing.assert_allclose(v[1], (u - MU * G * 0.5 * rolls) * along, atol=1e-9)
    np.testing.assert_allclose(v[2:], np.tile(5 / 7 * u * along, (2, 1)), atol=1e-8)
    np.testing.assert_allclose(result["floor.force"][:3], MASS * G, rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(result["floor.friction"][1]), MU * MASS * G, rtol=1e-9)
    np.testing.assert_allclose(result["floor.friction"][2:], 0.0, atol=1e-7)
    np.testing.assert_allclose(result["floor.stuck"], [0, 0, 1, 1])
    assert np.abs(result["floor.gap"]).max() < 1e-9
    # 2/7 of the kinetic energy goes
    assert result["floor.work"][-1] == pytest.approx(-0.5 * MASS * u**2 * 2 / 7, rel=1e-8)
    assert np.abs(result["energy.balance"]).max() < 1e-8


@pytest.mark.parametrize("slip", [0.4, 9.0])
def test_an_oblique_impact_sticks_or_slides(system, slip):
    """The slip is stopped if that takes no more than mu (1 + e) m v, which is 2/7 m u for a sphere."""
    down, e = 2.0, 0.6
    system = sk.compile(ball((slip, 0.0, -down), height=R + 1e-3, restitution=e, gravity=(0, 0, 0)))
    result = sk.simulate(system, until=0.05, rtol=1e-11)
    assert result.stats["impacts"] == 1
    lost = min(2 / 7 * slip, MU * (1 + e) * down)
    np.testing.assert_allclose(result["ball.velocity"][-1], [slip - lost, 0, e * down], atol=1e-9)
    assert abs(result["ball.angular_velocity"][-1, 1]) == pytest.approx(5 * lost / (2 * R), rel=1e-9)
    assert np.abs(result["energy.balance"]).max() < 1e-10


def test_a_point_on_a_slope_sticks_or_slides_by_its_coefficient():
    for tilt, sticks in ((np.arctan(MU) - 1e-3, True), (np.arctan(MU) + 1e-3, False)):
        joints = {
            f"s{axis}": {
                "type": "prismatic",
                "axis": [float(axis == k) for k in "xyz"],
                "parent": parent,
                "child": child,
            }
            for axis, parent, child in (("x", "ground", "a"), ("y", "a", "b"), ("z", "b", "c"))
        }
        model = model_from_dict(
            {
                "gravity": [G * np.sin(tilt), 0, -G * np.cos(tilt)],
                "bodies": {"a": {"mass": 1e-6}, "b": {"mass": 1e-6}, "c": {"mass": 1.4}},
                "joints": joints,
                "contacts": {"floor": {"type": "point_plane", "frame": "c", "friction": MU}},
            }
        )
        result = sk.simulate(model, until=1.0, rtol=1e-10)
        assert result.status == "finished"
        if sticks:
            assert np.abs(result["sx.q"]).max() < 1e-15
        else:
            travel = (
                0.5 * G * (np.sin(tilt) - MU * np.cos(tilt) * 1.4 / 1.400002)
            )  # the light bodies slide too
            assert result["sx.q"][-1] == pytest.approx(travel, rel=1e-9)


def test_a_table_on_four_legs_stands():
    """Four closed contacts with friction are twelve rows for six degrees of freedom: their forces are shared."""
    legs = {
        f"leg{i}": {"position": [x, y, -0.3]} for i, (x, y) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)])
    }
    model = model_from_dict(
        {
            "gravity": [1.0, 0.4, -G],
            "bodies": {"top": {"mass": 3.0, "inertia": [0.5, 0.6, 0.7], "frames": legs}},
            "joints": {"fly": {"type": "free", "child": "top", "position": [0, 0, 0.3]}},
            "contacts": {
                name: {"type": "point_plane", "frame": f"top.{name}", "friction": 0.5} for name in legs
            },
        }
    )
    result = sk.simulate(model, until=0.2, rtol=1e-8, outputs=["top.position", "leg*"])
    assert result.status == "finished"
    np.testing.assert_allclose(result["top.position"] - [0, 0, 0.3], 0.0, atol=1e-12)
    total = sum(result[f"leg{i}.force"][-1] for i in range(4))
    assert total == pytest.approx(3.0 * G, rel=1e-9)


def rod(mu, speed):
    """A rod that slides on its tip."""
    half, m, angle = 0.5, 1.0, 0.9
    frames = {"tip": {"position": [0, 0, -half]}}
    inertia = [m * half**2 / 3, m * half**2 / 3, 1e-3]
    place = {"position": [-half * np.sin(angle), 0, half * np.cos(angle)]}
    return model_from_dict(
        {
            "bodies": {"rod": {"mass": m, "inertia": inertia, "frames": frames}},
            "joints": {
                "fly": {
                    "type": "planar",
                    "child": "rod",
                    "axis": [0, -1, 0],
                    "parent_pose": place,
                    "q0": [0, 0, angle],
                    "v0": [speed, 0, 0],
                }
            },
            "contacts": {"tip": {"type": "point_plane", "frame": "rod.tip", "friction": mu}},
        }
    )


def test_painleves_rod_on_its_tip_is_reported():
    limit = 4 / 3  # least coefficient with which a uniform rod jams at some angle
    outcomes = {}
    for mu in (0.9 * limit, 2.0):
        for speed in (1.0, -1.0):
            result = sk.simulate(rod(mu, speed), until=0.02, rtol=1e-9)
            outcomes[mu, speed] = result
    assert all(outcomes[0.9 * limit, speed].status == "finished" for speed in (1.0, -1.0))
    jammed = [outcomes[2.0, speed] for speed in (1.0, -1.0) if outcomes[2.0, speed].status == "stopped"]
    assert len(jammed) == 1
    assert "Painleve" in jammed[0].message
    assert "'tip'" in jammed[0].message


def test_several_solutions_are_reported():
    """A rod that turns so fast that its tip would lift off, but jams if it is held: both are solutions."""
    system = sk.compile(rod(2.0, 1.0))
    eq, q, p = system.equations, system.initial_state().q, system.parameter_vector()
    slip = eq.lookups.oracle("slip", [eq.t, eq.q, eq.v, eq.p], [eq.elements.friction.slip])
    J = np.array([np.array(slip(0.0, q, e, p)).ravel()[:2] for e in np.eye(3)]).T  # normal, along
    for speed, several in ((1.0, True), (-1.0, False)):
        v = np.array([0.0, 0.0, 6.0])
        v[:2] = np.linalg.solve(J[:, :2], np.array([0.0, speed]) - J @ v)
        result = sk.simulate(system, until=0.01, initial=sk.State(q, v), rtol=1e-8)
        assert result.status == "finished"
        assert ("friction_several" in [w.code for w in result.warnings]) is several
        assert result["tip.gap"][-1] > 0


def test_a_negative_coefficient_is_refused():
    with pytest.raises(SekantError, match="friction: must not be negative"):
        sk.contacts.PointPlane(frame="ball", friction=-0.1)


def test_a_rolling_ball_that_bounces_off_a_wall_slides_until_it_rolls_back():
    """The smooth wall turns v to -e v and leaves the spin; then the moment about the floor stays: v (2/5 - e) 5/7."""
    v, e = 1.4, 0.85
    wall = {"type": "point_plane", "frame": "ball", "plane": "ground.wall", "normal": [-1, 0, 0]}
    free = {
        "type": "free",
        "child": "ball",
        "position": [0, 0, R],
        "velocity": [v, 0, 0],
        "angular_velocity": [0, v / R, 0],
    }
    model = model_from_dict(
        {
            "gravity": [0, 0, -G],
            "ground": {"frames": {"wall": {"position": [0.5, 0, 0]}}},
            "bodies": {"ball": SPHERE},
            "joints": {"fly": free},
            "contacts": {
                "floor": {"type": "point_plane", "frame": "ball", "radius": R, "friction": MU},
                "wall": {**wall, "radius": R, "restitution": e},
            },
        }
    )
    result = sk.simulate(model, until=2.0, rtol=1e-10, atol=1e-12)
    assert result.stats["impacts"] == 1
    assert result["floor.stuck"][0] == result["floor.stuck"][-1] == 1
    assert result["ball.velocity.x"][-1] == pytest.approx(v * (0.4 - e) / 1.4, rel=1e-8)
    assert result["wall.work"][-1] == pytest.approx(-0.5 * MASS * v**2 * (1 - e**2), rel=1e-8)
    assert np.abs(result["energy.balance"]).max() < 1e-9
