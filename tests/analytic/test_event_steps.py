"""Steps through events: the motion of a whole run, inputs that jump, ways back."""

from pathlib import Path

import numpy as np
import pytest

import sekant as sk

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def slider():
    """A block with dry friction on a spring, pushed by an input."""
    model = sk.Model(
        gravity=(0.0, 0.0, 0.0),
        bodies={"block": sk.Body(mass=1.3)},
        joints={"slide": sk.joints.Prismatic(parent="ground", child="block", axis=(1.0, 0.0, 0.0), q0=0.4)},
        forces={
            "spring": sk.forces.Actuator(joint="slide", force="-20*q + u"),
            "friction": sk.forces.JointFriction(joint="slide", level=1.7),
        },
        inputs={"u": {"default": 0.0}},
    )
    return sk.compile(model)


@pytest.fixture(scope="module")
def pole():
    """A pole balanced by a sampled and delayed controller."""
    return sk.compile(sk.load(EXAMPLES / "balanced_pole.yaml"))


def test_friction_sticks_slips_and_breaks_loose_under_an_input(slider):
    """Swings about +-F/k shrink by 2 F/k each; then the block sticks until k q + u passes the level."""
    sim = sk.Simulation(slider)
    assert sim.method == "dop853"
    k, F, omega = 20.0, 1.7, np.sqrt(20.0 / 1.3)
    for _ in range(40):
        sim.step(0.03)
    t, end = sim.time, -(0.4 - 2 * F / k)
    assert np.pi / omega < t < 2 * np.pi / omega  # on the second swing
    exact = -F / k + (end + F / k) * np.cos(omega * (t - np.pi / omega))
    assert sim.outputs["slide.q"] == pytest.approx(exact, abs=1e-7)
    for _ in range(60):
        sim.step(0.03)
    rest = sim.outputs["slide.q"]
    assert sim.outputs["slide.v"] == 0.0
    assert abs(k * rest) < F
    kept = sim.save()
    sim.inputs["u"] = k * rest + 0.99 * F
    sim.step(0.1)
    assert sim.outputs["slide.q"] == rest
    sim.inputs["u"] = k * rest + 1.5 * F  # beyond the level: x = x0 + 0.5 F / k (1 - cos)
    sim.step(0.1)
    gone = sim.outputs["slide.q"]
    assert gone - rest == pytest.approx(0.5 * F / k * (1 - np.cos(omega * 0.1)), rel=1e-6)
    sim.restore(kept)
    assert (sim.inputs["u"], sim.outputs["slide.q"]) == (0.0, rest)
    sim.inputs["u"] = k * rest + 1.5 * F
    sim.step(0.1)
    assert sim.outputs["slide.q"] == pytest.approx(gone, abs=1e-12)


def test_a_fixed_step_regularizes_friction_and_says_so(slider):
    sim = sk.Simulation(slider, method="rk4", step=1e-3)
    assert [warning.code for warning in sim.warnings] == ["friction_regularized"]
    sim.step(0.1)


@pytest.mark.parametrize("length", [0.02, 0.0137])
def test_samples_and_delays_are_those_of_a_run(pole, length):
    """Steps that fall on the samples, and steps that do not, also within pieces of the delay."""
    sim = sk.Simulation(pole, method="dop853", rtol=1e-9, atol=1e-11)
    count = int(0.4 / length)
    kept = None
    for k in range(count):
        if k == count // 2:
            kept = sim.save()
        sim.step(length)
    options = {"method": "dop853", "rtol": 1e-9, "atol": 1e-11}
    whole = sk.simulate(pole, sim.time, output_times=[0.0, sim.time], **options)
    for name in ("rail.q", "hinge.q", "hinge.v"):
        assert sim.outputs[name] == pytest.approx(whole[name][-1], abs=2e-8)
    last = sim.outputs["hinge.v"]
    sim.restore(kept)
    for _ in range(count - count // 2):
        sim.step(length)
    assert sim.outputs["hinge.v"] == last


def test_a_ball_bounces_as_in_a_run():
    system = sk.compile(sk.load(EXAMPLES / "bouncing_ball.yaml"))
    sim = sk.Simulation(system)
    name = next(name for name in sim.outputs if name.endswith(".position"))
    while sim.time < 1.0:
        sim.step(0.05)
    whole = sk.simulate(system, sim.time, output_times=[0.0, sim.time], method="dop853")
    np.testing.assert_allclose(sim.outputs[name], whole[name][-1], atol=1e-7)


def test_an_event_that_stops_the_run_stops_the_step():
    model = sk.Model(
        gravity=(0.0, 0.0, 0.0),
        bodies={"block": sk.Body(mass=0.7)},
        joints={"slide": sk.joints.Prismatic(parent="ground", child="block", axis=(1.0, 0.0, 0.0), v0=0.5)},
        signals={"gate": sk.signals.Event(when="slide.q - 0.3", stop=True)},
    )
    sim = sk.Simulation(model)
    sim.step(0.5)
    assert sim.stopped == ""
    sim.step(0.5)
    assert "gate" in sim.stopped
    assert sim.time == pytest.approx(0.6, abs=1e-9)
    sim.step(0.5)
    assert (sim.stopped, sim.outputs["slide.q"]) == ("", pytest.approx(0.55, abs=1e-9))


@pytest.mark.parametrize("method", ["taylor", "radau5"])
def test_other_methods_step_as_well(method):
    """m x'' = -k x + u from rest at x0, with a jump of the input."""
    model = sk.Model(
        gravity=(0.0, 0.0, 0.0),
        bodies={"block": sk.Body(mass=0.7)},
        joints={"slide": sk.joints.Prismatic(parent="ground", child="block", axis=(1.0, 0.0, 0.0), q0=0.3)},
        forces={"spring": sk.forces.Actuator(joint="slide", force="-35*q + u")},
        inputs={"u": {"default": 0.0}},
    )
    sim = sk.Simulation(model, method=method, rtol=1e-9, atol=1e-11)
    sim.step(0.2)
    sim.inputs["u"] = 2.0
    for _ in range(3):
        sim.step(0.1)
    omega, x0, shift = np.sqrt(35.0 / 0.7), 0.3, 2.0 / 35.0
    q, v = x0 * np.cos(0.2 * omega), -x0 * omega * np.sin(0.2 * omega)
    exact = shift + (q - shift) * np.cos(0.3 * omega) + v / omega * np.sin(0.3 * omega)
    assert sim.outputs["slide.q"] == pytest.approx(exact, abs=1e-7)
