"""Steps one after another: the bits of a whole run, inputs that change, ways back, faults."""

from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError, SolverError

EXAMPLES = Path(__file__).parents[2] / "examples"
STEP = 0.01


def pushed() -> sk.Model:
    """A block on a spring, pushed by an input and by a force that ends within a step."""
    return sk.Model(
        bodies={"block": sk.Body(mass=0.7)},
        joints={"slide": sk.joints.Prismatic(parent="ground", child="block", axis=(1.0, 0.0, 0.0), q0=0.3)},
        forces={
            "spring": sk.forces.Actuator(joint="slide", force="-35*q - 0.4*v"),
            "push": sk.forces.PointForce(frame="block", force=("if_else(t < 0.4137, 3, u)", 0.0, 0.0)),
        },
        inputs={"u": {"default": 0.0}},
    )


@pytest.fixture(scope="module")
def block():
    return sk.compile(pushed())


@pytest.fixture(scope="module")
def crank():
    return sk.compile(sk.load(EXAMPLES / "slider_crank.yaml"))


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "euler"])
@pytest.mark.parametrize("substeps", [1, 3])
def test_steps_are_those_of_a_run_bit_for_bit(block, method, substeps):
    whole = sk.simulate(block, 1.0, method=method, step=STEP / substeps, output_step=STEP)
    sim = sk.Simulation(block, method=method, step=STEP / substeps if substeps > 1 else None)
    for k in range(1, 100):
        sim.step(STEP)
        assert sim.time == whole.time[k]
        assert sim.outputs["slide.q"] == whole["slide.q"][k]
        assert sim.outputs["slide.v"] == whole["slide.v"][k]


def test_a_mechanism_with_loops_steps_as_in_a_run(crank):
    whole = sk.simulate(crank, 0.5, method="rk4", step=STEP, output_step=STEP)
    sim = sk.Simulation(crank, outputs=["*.q", "*.position"])
    name = next(name for name in sim.outputs if name.endswith(".q"))
    for k in range(1, 50):
        sim.step(STEP)
        np.testing.assert_array_equal(sim.outputs[name], whole[name][k])


def test_an_adaptive_method_follows_the_closed_solution(block):
    """m x'' = -k x - c x' + u from rest at x0: while u = 3 acts, a damped oscillation about u / k."""
    sim = sk.Simulation(block, method="dop853", rtol=1e-10, atol=1e-12)
    for _ in range(7):
        sim.step(0.05)
    m, k, c, u, x0 = 0.7, 35.0, 0.4, 3.0, 0.3
    decay, omega = c / (2 * m), np.sqrt(k / m - (c / (2 * m)) ** 2)
    t = sim.time
    shape = np.cos(omega * t) + decay / omega * np.sin(omega * t)
    exact = u / k + (x0 - u / k) * np.exp(-decay * t) * shape
    assert sim.state.q[0] == pytest.approx(exact, abs=1e-9)
    sim.step(0.3)  # over the end of the push
    assert sim.outputs["slide.q"] == pytest.approx(
        sk.simulate(block, sim.time, method="dop853", rtol=1e-11, atol=1e-13)["slide.q"][-1], abs=1e-9
    )


def test_inputs_hold_from_step_to_step(block):
    times = np.array([0.0, 0.5, 0.5 + 1e-9, 1.0])
    sim = sk.Simulation(block)
    for k in range(100):
        sim.inputs["u"] = 0.0 if k < 50 else -2.5
        sim.step(STEP)
    whole = sk.simulate(block, 1.0, method="dop853", inputs={"u": (times, [0.0, 0.0, -2.5, -2.5])})
    assert sim.inputs["u"] == -2.5
    assert dict(sim.inputs) == {"u": -2.5}
    assert sim.outputs["slide.q"] == pytest.approx(whole["slide.q"][-1], abs=1e-6)


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_going_back_gives_the_same_bits(block, method):
    sim = sk.Simulation(block, method=method)
    for _ in range(30):
        sim.step(STEP)
    kept = sim.save()
    sim.inputs["u"] = 1.5
    first = [_q(sim) for _ in range(40)]
    sim.restore(kept)
    assert (sim.time, sim.inputs["u"]) == (kept.time, 0.0)
    sim.inputs["u"] = 1.5
    assert [_q(sim) for _ in range(40)] == first
    sim.reset()
    assert (sim.time, sim.state.q[0]) == (0.0, 0.3)


def _q(sim):
    sim.step(STEP)
    return sim.outputs["slide.q"]


def test_a_start_and_a_clock_of_ones_own(block):
    state = sk.State(np.array([0.1]), np.array([-0.2]))
    sim = sk.Simulation(block, initial=state, t=0.3, outputs=["slide.*"])
    sim.step(0.02)
    sim.step(0.01)
    assert sim.time == pytest.approx(0.33, abs=1e-15)
    whole = sk.simulate(block, output_times=[0.3, 0.32, 0.33], initial=state, method="dop853", rtol=1e-12)
    assert sim.outputs["slide.q"] == pytest.approx(whole["slide.q"][-1], abs=1e-7)
    assert set(sim.outputs) == {name for name in whole.names if name.startswith("slide.")}
    assert sim.outputs.vector.size == sim.outputs.channels.width


def test_a_motion_that_cannot_go_on_names_the_cause_and_stays_where_it_was():
    model = pushed().changed(
        forces={"spring": sk.forces.Actuator(joint="slide", force="sqrt(0.35 - q)*40")}, inputs={}
    )
    sim = sk.Simulation(model)
    with pytest.raises(SolverError, match="stopped at t"):
        for _ in range(200):
            sim.step(STEP)
    assert sim.time < 2.0
    assert np.all(np.isfinite(sim.state.q))


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (lambda s: sk.Simulation(s, method="rk5"), "unknown method 'rk5'"),
        (lambda s: sk.Simulation(s, step=-1.0), "positive"),
        (lambda s: sk.Simulation(s).step(0.0), "positive"),
        (lambda s: sk.Simulation(s).step(float("nan")), "positive"),
        (lambda s: sk.Simulation(s).inputs.__setitem__("w", 1.0), "not an input"),
        (lambda s: sk.Simulation(s).inputs.__setitem__("u", np.inf), "finite"),
        (lambda s: sk.Simulation(s).outputs["slide.x"], "slide"),
        (lambda s: sk.Simulation(sk.load(EXAMPLES / "bouncing_ball.yaml"), method="rk4"), "contacts need"),
        (lambda s: sk.Simulation(s).restore(sk.Simulation(s, method="radau5").save()), "another method"),
    ],
)
def test_faults_say_what_to_do(block, action, text):
    with pytest.raises(SekantError, match=text):
        action(block)


def test_a_controller_in_a_loop_balances_a_pendulum():
    from runpy import run_path

    balance = run_path(str(EXAMPLES / "controller_loop.py"))["balance"]
    sim = balance(4.0)
    assert sim.time == pytest.approx(4.0)
    assert abs(sim.outputs["hinge.q"]) < 0.01
    assert sim.outputs["rail.q"] == pytest.approx(0.2, abs=0.02)


def test_a_record_has_the_rows_of_a_run(block, tmp_path):
    whole = sk.simulate(block, 1.0, method="rk4", step=STEP, output_step=STEP)
    sim = sk.Simulation(block)
    for _ in range(300):  # more than the memory has at first
        sim.step(STEP)
    found = sim.result()
    assert len(found) == 301
    for name in ("slide.q", "slide.v", "block.position", "energy.kinetic"):
        np.testing.assert_array_equal(found[name][:100], whole[name][:100])
    found.save(tmp_path / "a.nc")
    np.testing.assert_array_equal(sk.Result.load(tmp_path / "a.nc")["slide.q"], found["slide.q"])
    sk.view(found, tmp_path / "a.html")


def test_the_record_follows_ways_back_and_inputs(block):
    sim = sk.Simulation(block)
    sim.step(STEP)
    here = sim.save()
    sim.inputs["u"] = 2.0
    sim.step(STEP)
    sim.restore(here)
    sim.step(STEP / 2)
    np.testing.assert_allclose(sim.result().time, [0, STEP, 1.5 * STEP], rtol=1e-15)
    sim.reset()
    assert sim.result().time.tolist() == [0.0]
    with pytest.raises(SolverError, match="nothing was recorded"):
        sk.Simulation(block, record=False).result()


def test_the_record_goes_from_event_to_event():
    """Samples and delays make steps that go from event to event; a row stands at the end of each step."""
    sim = sk.Simulation(sk.load(EXAMPLES / "servo.yaml"))
    for _ in range(5):
        sim.step(STEP)
    found = sim.result()
    np.testing.assert_allclose(found.time, STEP * np.arange(6), rtol=1e-12)
    assert found["motor.q"][-1] == sim.outputs["motor.q"]
