"""Impacts, rest and release against closed solutions."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.model.parse import model_from_dict

G = 9.81


def ball(restitution=0.8, height=1.0, **more):
    contact = {"type": "point_plane", "frame": "ball", "restitution": restitution, **more}
    return model_from_dict(
        {
            "bodies": {"ball": {"mass": 1.3}},
            "joints": {"fall": {"type": "prismatic", "child": "ball", "q0": height}},
            "contacts": {"floor": contact},
        }
    )


def impact_times(restitution, height, count):
    v = np.sqrt(2 * G * height)
    times = [v / G]
    for k in range(1, count):
        times.append(times[-1] + 2 * v * restitution**k / G)
    return np.array(times)


def test_a_ball_after_ten_impacts():
    e, h = 0.8, 1.0
    t = impact_times(e, h, 11)
    apex = 0.5 * (t[9] + t[10])
    result = sk.simulate(ball(e, h), output_times=[0.0, apex], rtol=1e-12)
    assert result.status == "finished"
    assert result.stats["impacts"] == 10
    rise = h * e**20
    assert result["fall.q"][-1] == pytest.approx(rise, rel=1e-12)
    assert result["energy"][-1] == pytest.approx(1.3 * G * rise, rel=1e-12)
    # what the impacts took is accounted for
    assert result["floor.work"][-1] == pytest.approx(-1.3 * G * (h - rise), rel=1e-12)
    assert abs(result["energy.balance"][-1]) < 1e-12


def test_a_ball_comes_to_rest_and_is_carried():
    result = sk.simulate(ball(0.5, rest_speed=1e-2), until=5.0)
    assert result["fall.q"].min() > -1e-12
    assert result["fall.q"][-1] == pytest.approx(0.0, abs=1e-12)
    assert result["floor.force"][-1] == pytest.approx(1.3 * G, rel=1e-12)
    assert result["floor.force"][0] == 0.0


def test_an_elastic_ball_keeps_its_energy():
    result = sk.simulate(ball(1.0, 0.3), until=5.0, rtol=1e-12)
    assert result.stats["impacts"] >= 9
    np.testing.assert_allclose(result["energy"], result["energy"][0], rtol=1e-11)


def test_a_resting_mass_lifts_off_when_the_force_pulls():
    # a(t) = t N upwards on 2 kg at rest: it leaves the ground when t = m g
    m = 2.0
    model = model_from_dict(
        {
            "bodies": {"block": {"mass": m}},
            "joints": {"lift": {"type": "prismatic", "child": "block", "v0": -0.001}},
            "forces": {"pull": {"type": "actuator", "joint": "lift", "force": "t"}},
            "contacts": {"floor": {"type": "point_plane", "frame": "block", "restitution": 0.0}},
        }
    )
    off = m * G
    times = [0.0, 0.5 * off, off + 1.0]
    result = sk.simulate(model, output_times=times, rtol=1e-12)
    assert result["floor.force"][1] == pytest.approx(0.5 * m * G, rel=1e-9)
    assert result["lift.q"][1] == pytest.approx(0.0, abs=1e-9)
    # afterwards m z'' = t - m g, so z = (t - off)^3 / (6 m)
    assert result["lift.q"][2] == pytest.approx(1.0 / (6 * m), rel=1e-9)


def test_a_joint_stop_in_a_closed_loop():
    # a parallelogram is one pendulum: its stop turns the whole of it, and both cranks rebound alike
    def crank(x):
        return {"type": "revolute", "at": [x, 0, 0], "axis": [0, 1, 0]}

    model = model_from_dict(
        {
            "bodies": {
                "left": {"mass": 1.0, "com": [0, 0, -0.5], "inertia": [0.1, 0.1, 0.01]},
                "right": {"mass": 1.0, "com": [1, 0, -0.5], "inertia": [0.1, 0.1, 0.01]},
                "beam": {"mass": 2.0, "com": [0.5, 0, -1], "inertia": [0.01, 0.2, 0.2]},
            },
            "joints": {
                "a": {**crank(0), "child": "left", "q0": 0.6},
                "b": {**crank(1), "child": "right", "q0": 0.6},
                "c": {
                    "type": "revolute",
                    "parent": "left",
                    "child": "beam",
                    "at": [0, 0, -1],
                    "axis": [0, 1, 0],
                },
                "d": {
                    "type": "revolute",
                    "parent": "right",
                    "child": "beam",
                    "at": [1, 0, -1],
                    "axis": [0, 1, 0],
                },
            },
            "contacts": {
                "stop": {
                    "type": "joint_stop",
                    "joint": "a",
                    "side": "lower",
                    "limit": 0.2,
                    "restitution": 0.7,
                }
            },
        }
    )
    result = sk.simulate(model, until=1.5, rtol=1e-11)
    assert result.stats["impacts"] >= 1
    assert result["a.q"].min() > 0.2 - 1e-9
    np.testing.assert_allclose(result["a.q"], result["b.q"], atol=1e-9)
    rates, hit = result["a.v"], int(np.argmax(np.diff(result["a.v"]) > 1.0))
    assert rates[hit + 1] / -rates[hit] == pytest.approx(0.7, abs=0.02)
    assert np.abs(result["energy.balance"]).max() < 1e-8


def test_contacts_need_the_method_with_events():
    with pytest.raises(SekantError, match="contacts need method taylor or dop853"):
        sk.simulate(ball(), until=1.0, method="rk4", step=1e-3)


@pytest.mark.parametrize("value", [-0.1, 1.5])
def test_impossible_restitution_is_refused(value):
    with pytest.raises(SekantError, match="contact 'floor': restitution: must be between 0"):
        ball(value)
