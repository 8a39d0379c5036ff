"""Switches whose value jumps with another switch: every method decides them anew where that one changes."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.model.parse import model_from_dict

LAWS = {
    "if_else(if_else(rail.q > 0.4, rail.q - 0.9, 1) < 0, 5, 1)": 0.7 + 5 * 0.5,
    "if_else(if_else(rail.q > 0.4, rail.q - 0.9, 1) > 0, 5, 1)": 5 * 0.7 + 0.5,
    "sign(if_else(rail.q > 0.4, rail.q - 0.9, 1))": 0.7 - 0.5,
    "max(0, if_else(rail.q > 0.4, 0.9 - rail.q, -1))": 0.5**2 / 2,
    "floor(if_else(rail.q > 0.4, 20*rail.q, 0.5))": sum(range(8, 24)) / 20,
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", ["dop853", "taylor", "radau5"])
def test_the_integral_of_a_law_within_a_law(law, method):
    """A slider at 1 m/s passes 0.4 m, where the inner law jumps, and then what the outer one asks for."""
    model = model_from_dict(
        {
            "name": "slider",
            "gravity": [0, 0, 0],
            "bodies": {"block": {"mass": 1, "inertia": [1, 1, 1]}},
            "joints": {"rail": {"type": "prismatic", "child": "block", "v0": 1}},
            "signals": {"sum": {"type": "integral", "input": law}},
        }
    )
    result = sk.simulate(model, 1.2, method=method, rtol=1e-9, output_step=0.3)
    assert result.status == "finished", result.message
    assert result["sum"][-1] == pytest.approx(LAWS[law], abs=1e-7)


@pytest.mark.parametrize("method", ["taylor", "dop853", "radau5"])
def test_a_switch_whose_value_stays_at_zero_is_that_of_zero(method):
    """A comparison of max(0, q) v on a spring: before q = 0 the product is zero throughout, and not less than it was.

    About which point the mass swings tells which side holds: (q - F / k)^2 + (v / w)^2 is constant on each.
    """
    mass, stiffness, push, q0, v0 = 2.0, 8.0, -2.0, -0.2, 1.3
    w, shift = np.sqrt(stiffness / mass), push / stiffness
    model = model_from_dict(
        {
            "gravity": [0, 0, 0],
            "bodies": {"block": {"mass": mass}},
            "joints": {
                "rail": {"type": "prismatic", "axis": [1, 0, 0], "child": "block", "q0": q0, "v0": v0}
            },
            "forces": {
                "spring": {"type": "actuator", "joint": "rail", "force": f"-{stiffness}*q"},
                "push": {
                    "type": "actuator",
                    "joint": "rail",
                    "force": f"if_else(max(0, q)*v <= 0, {push}, 0)",
                },
            },
        }
    )
    result = sk.simulate(model, 2.6, method=method, rtol=1e-9)
    q, v = np.ravel(result["rail.q"]), np.ravel(result["rail.v"])
    at_zero = np.hypot(q0 - shift, v0 / w) ** 2 - shift**2  # (v / w)^2 where q = 0
    falling = (v < 0) | (q < 0) & (result.time > 1)
    assert (q[falling] < 0).any()
    size = (q - shift) ** 2 + (v / w) ** 2
    np.testing.assert_allclose(size[falling], (np.sqrt(at_zero) - shift) ** 2, rtol=1e-7)


@pytest.mark.parametrize("stops", [1, 2])
def test_a_stop_that_was_left_does_not_hold_the_series_of_the_other_side(stops):
    """Between two smooth stops: where the motion turns on one of them, the damper of the other was 0 / 0."""
    limits = {"type": "joint_limit", "joint": "rail", "stiffness": 210.0, "damping": 3.0, "ramp": 0.4}
    places = [{"lower": -0.01, "upper": 0.005}, {"lower": -0.2, "upper": 0.3}][:stops]
    model = model_from_dict(
        {
            "gravity": [1.3, -2.1, -9.4],
            "bodies": {"block": {"mass": 2.0}},
            "joints": {"rail": {"type": "prismatic", "axis": [0, 1, 0.3], "child": "block", "v0": 1.3}},
            "forces": {f"stop{i}": {**limits, **place} for i, place in enumerate(places)},
        }
    )
    runs = [
        sk.simulate(model, 2.0, method=m, rtol=r)
        for m, r in (("dop853", 1e-10), ("taylor", 1e-7), ("taylor", 1e-9))
    ]
    assert [run.status for run in runs] == ["finished"] * 3
    for run in runs[1:]:
        np.testing.assert_allclose(run["rail.q"], runs[0]["rail.q"], atol=1e-7)


@pytest.mark.parametrize("method", ["dop853", "radau5", "taylor"])
@pytest.mark.parametrize(
    ("zone", "width"),
    [
        ("rail.q > -0.01 and rail.q < 0.01", 0.02),  # both comparisons change within one step
        ("not (rail.q <= -0.01 or rail.q >= 0.01)", 0.02),
        ("abs(rail.q) < 0.01", 0.02),  # the comparison changes and returns, with the sign
        ("abs(rail.q) < 1e-4", 2e-4),
        ("abs(abs(rail.q) - 0.3) < 0.001", 0.004),
    ],
)
def test_a_zone_much_shorter_than_a_step_is_not_missed(method, zone, width):
    push = sk.forces.Actuator(joint="rail", force=f"if_else({zone}, -0.4/{width}, 0)")
    rail = sk.joints.Prismatic(child="block", axis=(1, 0, 0), q0=-1.0, v0=3.0)
    block = sk.Body(mass=1.3)
    model = sk.Model(gravity=(0, 0, 0), bodies={"block": block}, joints={"rail": rail}, forces={"push": push})
    result = sk.simulate(model, 1.0, method=method)
    assert result.ok
    assert result["rail.v"][-1] == pytest.approx((9.0 - 2 * 0.4 / 1.3) ** 0.5, abs=1e-8)
    assert result.stats["steps"] < 40


def test_a_short_pulse_of_time_with_a_kink_close_behind():
    """The crossing lies so close to the kink that a step to it must not be lengthened to the kink."""
    push = sk.forces.Actuator(joint="rail", force="if_else(abs(t - 0.5) < 1e-5, 1e5, 0)")
    rail = sk.joints.Prismatic(child="block", axis=(1, 0, 0))
    model = sk.Model(
        gravity=(0, 0, 0),
        bodies={"block": sk.Body(mass=1.3)},
        joints={"rail": rail},
        forces={"push": push},
    )
    result = sk.simulate(model, 1.0, method="radau5")
    assert result.ok
    assert result["rail.v"][-1] == pytest.approx(2.0 / 1.3, abs=1e-6)


@pytest.mark.parametrize("method", ["taylor", "dop853"])
def test_a_run_that_begins_on_an_event_and_on_a_switch_up_to_round_off(method):
    """The switch cuts the first step to almost nothing; behind it, the run still begins on the event."""
    push = sk.forces.Actuator(joint="rail", force="if_else(rail.q > 1e-17, 1, 0)")
    model = sk.Model(
        gravity=(0, 0, 0),
        bodies={"block": sk.Body(mass=1.3)},
        joints={"rail": sk.joints.Prismatic(child="block", axis=(1, 0, 0), v0=3.0)},
        forces={"push": push},
        signals={"end": sk.signals.Event(when="rail.q + sin(2*t) - 4e-17", direction="rising", stop=True)},
    )
    result = sk.simulate(model, 0.1, method=method)
    assert result.status == "finished"
