"""Compliant contacts against closed solutions, by every method."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import sekant as sk
from sekant.errors import SekantError
from sekant.model.parse import model_from_dict

G = 9.81
K, C, SPEED = 3.0e5, 0.17, 1.3


def remaining(v):
    """Speed after an impact at speed v: with x = 3/2 c d', x - ln(1 + x) is the same before and after."""
    a = 1.5 * C
    after = brentq(lambda w: (a * v - np.log1p(a * v)) - (-a * w - np.log1p(-a * w)), 1e-9, v, xtol=1e-15)
    return float(after)


@pytest.fixture(scope="module")
def impact():
    """A ball that flies against a wall without gravity."""
    return sk.compile(
        model_from_dict(
            {
                "gravity": [0, 0, 0],
                "bodies": {"ball": {"mass": 0.7}},
                "joints": {"fly": {"type": "prismatic", "child": "ball", "q0": 0.06, "v0": -SPEED}},
                "forces": {
                    "wall": {
                        "type": "plane_contact",
                        "frame": "ball",
                        "radius": "50 mm",
                        "stiffness": K,
                        "dissipation": C,
                    }
                },
            }
        )
    )


@pytest.mark.parametrize("method", ["dop853", "taylor", "radau5"])
def test_an_impact_leaves_what_the_equation_of_hunt_and_crossley_says(impact, method):
    result = sk.simulate(impact, until=0.05, method=method, rtol=1e-10, atol=1e-12)
    assert result.status == "finished"
    assert result["fly.v"][-1] == pytest.approx(remaining(SPEED), rel=2e-8)
    assert result["wall.normal_force"].min() >= 0
    assert result["wall.normal_force"].max() > 100
    assert np.abs(result["energy.balance"]).max() < 1e-8 * result["energy"][0]


def test_an_impact_by_fixed_steps_converges_to_it(impact):
    errors = [
        abs(sk.simulate(impact, until=0.05, method="rk4", step=h)["fly.v"][-1] - remaining(SPEED))
        for h in (2e-5, 1e-5)
    ]
    assert errors[1] < 1e-6
    assert errors[1] < errors[0]


def test_a_contact_torn_open_does_not_pull(impact):
    state = sk.State(np.array([0.0499]), np.array([5.0 / C]))
    values = impact.outputs(state)
    assert float(np.ravel(values["wall.gap"])[0]) < 0
    assert float(np.ravel(values["wall.normal_force"])[0]) == 0.0


SLOPE = 0.3


@pytest.fixture(scope="module")
def rolling():
    """A ball that starts to roll down a slope, and lies on it at first as deep as its weight presses it in."""
    r, m = 0.05, 0.4
    deep = (m * G * np.cos(SLOPE) / K) ** (1 / 1.5)
    return sk.compile(
        model_from_dict(
            {
                "gravity": [G * np.sin(SLOPE), 0, -G * np.cos(SLOPE)],
                "bodies": {"ball": {"mass": m, "inertia": [0.4 * m * r**2] * 3}},
                "joints": {
                    "slide": {
                        "type": "planar",
                        "child": "ball",
                        "axis": [0, -1, 0],
                        "parent_pose": {"position": [0, 0, r - deep]},
                    }
                },
                "forces": {
                    "floor": {
                        "type": "plane_contact",
                        "frame": "ball",
                        "radius": r,
                        "stiffness": K,
                        "dissipation": 0.3,
                        "friction": 0.6,
                        "width": "0.1 mm/s",
                    }
                },
            }
        )
    )


def test_a_ball_rolls_down_a_slope_with_five_sevenths(rolling):
    result = sk.simulate(rolling, until=1.0, method="radau5", rtol=1e-9)
    assert result.status == "finished"
    x, t = result["ball.velocity"][:, 0], result.time
    late = t > 0.5
    slope = np.polyfit(t[late], x[late], 1)[0]
    assert slope == pytest.approx(5 / 7 * G * np.sin(SLOPE), rel=1e-8)
    assert np.abs(result["energy.balance"]).max() < 1e-8


def test_two_balls_share_an_impact_like_a_wall(impact):
    """Equal balls that meet head-on are each other's mirror: what is left is that of the relative speed."""
    ball = {"mass": 0.7}
    law = {"stiffness": K, "dissipation": C}
    model = model_from_dict(
        {
            "gravity": [0, 0, 0],
            "bodies": {"one": ball, "two": ball},
            "joints": {
                "a": {"type": "prismatic", "child": "one", "q0": -0.05, "v0": SPEED},
                "b": {"type": "prismatic", "child": "two", "q0": 0.06},
            },
            "forces": {
                "hit": {
                    "type": "sphere_contact",
                    "frame": "one",
                    "radius": 0.04,
                    "other": "two",
                    "other_radius": 0.05,
                    **law,
                }
            },
        }
    )
    result = sk.simulate(model, until=0.1, rtol=1e-10, atol=1e-12)
    assert result["b.v"][-1] - result["a.v"][-1] == pytest.approx(remaining(SPEED), rel=1e-7)
    assert result["b.v"][-1] + result["a.v"][-1] == pytest.approx(SPEED, rel=1e-12)


def test_a_ball_in_a_bowl_is_a_pendulum():
    """A frictionless ball in a spherical bowl, given as a height field, swings as a pendulum of the length R - r."""
    R, r, start = 0.9, 0.1, 0.4
    deep = (1.3 * G * np.cos(start) / 2e8) ** (1 / 1.5)
    bowl = f"{R} - sqrt({R}^2 - x^2 - y^2)"
    length = R - r
    length + deep
    model = model_from_dict(
        {
            "bodies": {"ball": {"mass": 1.3, "inertia": [0.01, 0.02, 0.03]}},
            "joints": {
                "fly": {
                    "type": "planar",
                    "child": "ball",
                    "axis": [0, -1, 0],
                    "parent_pose": {
                        "position": [(length + deep) * np.sin(start), 0, R - (length + deep) * np.cos(start)]
                    },
                }
            },
            "forces": {
                "bowl": {
                    "type": "surface_contact",
                    "frame": "ball",
                    "radius": r,
                    "height": bowl,
                    "stiffness": 2e8,
                }
            },
        }
    )
    result = sk.simulate(model, until=0.4, method="radau5", rtol=1e-8)
    assert result.status == "finished"
    p = result["ball.position"]
    away = np.hypot(p[:, 0], p[:, 2] - R) - length
    assert away.min() > 0
    assert away.max() < 2.5 * deep
    speed = np.sum(result["ball.velocity"] ** 2, axis=1)
    height = p[:, 2] - p[0, 2]
    np.testing.assert_allclose(speed + 2 * G * height, 0.0, atol=1e-3)
    assert np.abs(result["energy.balance"]).max() < 1e-6


def test_a_bump_stop_pushes_and_lets_go():
    stop = {
        "type": "bump_stop",
        "parent": "ground",
        "child": "block",
        "length": 0.3,
        "stiffness": 9e4,
        "dissipation": C,
    }
    model = model_from_dict(
        {
            "gravity": [0, 0, 0],
            "bodies": {"block": {"mass": 1.7}},
            "joints": {"rail": {"type": "prismatic", "child": "block", "q0": 0.35, "v0": -SPEED}},
            "forces": {"stop": stop},
        }
    )
    result = sk.simulate(model, until=0.3, rtol=1e-10, atol=1e-12)
    assert result["rail.v"][-1] == pytest.approx(remaining(SPEED), rel=1e-7)
    assert result["stop.force"].min() >= 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"friction": -0.2}, "friction.*must not be negative"),
        ({"dissipation": -1.0}, "dissipation.*must not be negative"),
        ({"width": 0.0}, "width.*must be positive"),
        ({"stiffness": 0.0}, "stiffness.*must be positive"),
        ({"exponent": 0.5}, "exponent.*must be at least 1"),
        ({"plane": "ball"}, "'ball' is at both ends"),
    ],
)
def test_impossible_contacts_are_refused(change, message):
    force = {"type": "plane_contact", "frame": "ball", "stiffness": K, **change}
    with pytest.raises(SekantError, match=message):
        model_from_dict(
            {
                "bodies": {"ball": {"mass": 1.0}},
                "joints": {"fly": {"type": "free", "child": "ball"}},
                "forces": {"floor": force},
            }
        )


def test_a_surface_that_moves_in_time_is_refused():
    force = {"type": "surface_contact", "frame": "ball", "stiffness": K, "height": "0.1*x + sin(t)"}
    model = {
        "bodies": {"ball": {"mass": 1.0}},
        "joints": {"fly": {"type": "free", "child": "ball"}},
        "forces": {"road": force},
    }
    with pytest.raises(SekantError, match="driven body"):
        sk.simulate(model_from_dict(model), until=0.1)


@pytest.mark.long
def test_marbles_are_as_exact_as_their_motion_is_sensitive():
    """Marbles that meet in a bowl carry a change of their start on thousands of times larger.

    Series hold a step to a thousandth of the tolerance, so they keep rtol even so; other methods keep that factor.
    """
    system = sk.compile(sk.load(Path(__file__).parents[2] / "examples" / "marbles.yaml"))

    def motion(method, rtol, initial=None):
        run = sk.simulate(system, 2.0, output_step=0.02, method=method, rtol=rtol, atol=rtol, initial=initial)
        assert run.status == "finished"
        return np.column_stack([run[name] for name in run.names if name.endswith((".q", ".v"))])

    exact, start, change = motion("taylor", 1e-12), sk.assemble(system), 1e-9
    size = 1.0 + np.abs(exact).max(axis=0)
    assert np.max(np.abs(motion("taylor", 1e-10) - exact) / size) < 1e-10
    rng = np.random.default_rng(3)
    moved = replace(start, v=start.v + change * rng.standard_normal(start.v.size))
    growth = np.abs(motion("dop853", 1e-12, moved) - exact).max() / change
    assert growth > 100.0
    assert np.abs(motion("dop853", 1e-12) - exact).max() < growth * 1e-12
