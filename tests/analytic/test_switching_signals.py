"""Signals that switch, sample and delay, and events, against closed solutions in several methods and formulations."""

import importlib
import random
from math import factorial

import numpy as np
import pytest

import sekant as sk
from sekant.errors import ModelError, SolverError
from sekant.model.parse import model_from_dict

MASS, FORCE = 2.3, 3.1


def slider(signals, force=0.0, **more):
    return model_from_dict(
        {
            "gravity": [0, 0, 0],
            "bodies": {"block": {"mass": MASS, "inertia": [0.1, 0.2, 0.3]}},
            "joints": {"rail": {"type": "prismatic", "child": "block", "axis": [1, 0, 0], "q0": 0.3}},
            "forces": {"motor": {"type": "actuator", "joint": "rail", "force": force}},
            "signals": signals,
            **more,
        }
    )


RELAY = {
    "type": "hysteresis",
    "input": "rail.q",
    "on_above": 0.1,
    "off_below": -0.07,
    "low": FORCE,
    "high": -FORCE,
    "unit": "N",
}


def relay_motion(t):
    """Position, velocity and force at t: arcs of constant acceleration between the thresholds."""
    a, q, v, at, sign, switches = FORCE / MASS, 0.3, 0.0, 0.0, -1.0, 0
    while True:
        target = -0.07 if sign < 0 else 0.1
        speed = np.sqrt(v * v + 2 * sign * a * (target - q))
        span = (sign * speed - v) / (sign * a)
        if at + span >= t:
            h = t - at
            return q + v * h + sign * a * h * h / 2, v + sign * a * h, sign * FORCE, switches
        q, v, at, sign, switches = target, sign * speed, at + span, -sign, switches + 1


@pytest.mark.parametrize(
    ("formulation", "options"),
    [
        ("joint", {"rtol": 1e-11}),
        ("cartesian", {"rtol": 1e-11}),
        ("natural", {"rtol": 1e-11}),
        ("joint", {"method": "dop853", "rtol": 1e-11, "atol": 1e-13}),
        ("cartesian", {"method": "dop853", "rtol": 1e-11, "atol": 1e-13}),
        ("joint", {"method": "radau5", "rtol": 1e-11, "atol": 1e-13}),
        ("joint", {"method": "rk4", "step": 0.013}),  # exact on arcs of constant acceleration
    ],
)
def test_relay_with_hysteresis(formulation, options):
    system = sk.compile(slider({"relay": RELAY}, "relay"), formulation=formulation)
    result = sk.simulate(system, until=7.0, **options)
    for row in (0, 400, 1000):
        q, v, force, switches = relay_motion(result.time[row])
        assert result["rail.q"][row] == pytest.approx(q, abs=1e-11)
        assert result["rail.v"][row] == pytest.approx(v, abs=1e-11)
        assert result["relay"][row] == force
    assert result.stats["events"] == switches == 4
    # the amplitude grows from arc to arc, and the work of the motor accounts for it
    assert abs(result["energy.balance"]).max() < 1e-12


def test_a_run_goes_on_on_its_branch():
    model = slider({"relay": RELAY}, "relay")
    whole = sk.simulate(model, until=3.0)
    half = sk.simulate(model, until=0.65)  # between the thresholds on the upper branch
    assert half["relay"][-1] == -FORCE
    assert -0.07 < half["rail.q"][-1] < 0.1
    rest = sk.simulate(model, initial=half, until=3.0)
    assert rest["rail.q"][-1] == pytest.approx(whole["rail.q"][-1], abs=1e-12)
    assert sk.compile(model).outputs(half.final_state)["relay"] == -FORCE


@pytest.mark.parametrize("method", ["dop853", "radau5", "rk4", "taylor"])
def test_sampled_controller_is_the_discrete_system(method):
    """u[k] = -4 q[k] - 3 v[k] - s[k], s[k+1] = s[k] + 0.7 T q[k]; between samples the force is constant."""
    period = 0.05
    model = slider(
        {
            "total": {"type": "sampled", "input": f"total + 0.7*{period}*rail.q", "period": period},
            "u": {"type": "sampled", "input": "-4*rail.q - 3*rail.v - total", "period": "50 ms", "unit": "N"},
        },
        "u",
    )
    options = {"method": method, "rtol": 1e-11, "atol": 1e-13, "step": 0.01 if method == "rk4" else None}
    result = sk.simulate(model, until=2.0, output_step=period / 2, **options)
    q, v, total = 0.3, 0.0, 0.0
    for k in range(40):
        u, total_next = -4 * q - 3 * v - total, total + 0.7 * period * q
        assert result["u"][2 * k] == pytest.approx(u, abs=1e-11)  # a row at a sample is that just after it
        assert result["u"][2 * k + 1] == result["u"][2 * k]
        assert result["total"][2 * k] == pytest.approx(total_next, abs=1e-11)
        q, v, total = q + period * v + period**2 * u / (2 * MASS), v + period * u / MASS, total_next
    assert result["rail.q"][-1] == pytest.approx(q, abs=1e-11)
    half = sk.simulate(model, until=0.83, **options)  # between two samples: what they left goes on
    rest = sk.simulate(model, initial=half, until=2.0, **options)
    assert rest["rail.q"][-1] == pytest.approx(q, abs=1e-10)


def test_samples_are_compiled_once_and_before_the_run(monkeypatch):
    """With the work accumulated or without; nothing is compiled while the clock of the run is on."""
    module = importlib.import_module("sekant.analyses.simulation.simulate")
    inner, running, made = module.runner_of, [False], []
    make = sk.System.function

    def runner_of(method):
        running[0] = True
        return inner(method)

    def function(self, name, *given, **more):
        assert not running[0], f"'{name}' is compiled in the run"
        made.append(name)
        return make(self, name, *given, **more)

    monkeypatch.setattr(module, "runner_of", runner_of)
    monkeypatch.setattr(sk.System, "function", function)
    gain = 4.0 + random.random()  # a model that no run before has left in the cache
    signals = {"u": {"type": "sampled", "input": f"-{gain}*rail.q - 3*rail.v", "period": "1 ms", "unit": "N"}}
    system, ends = sk.compile(slider(signals, "u")), []
    for balance in (False, True):
        result = sk.simulate(system, until=0.1, method="rk4", step=1e-3, balance=balance)
        running[0] = False
        ends.append(result["rail.q"][-1])
    assert made.count("sampling") == 1
    assert ends[0] == ends[1]
    assert np.max(np.abs(result["energy.balance"])) < 1e-9


@pytest.mark.parametrize(("method", "pieces"), [("dop853", 1), ("taylor", 2)])
def test_delay_by_the_method_of_steps(method, pieces):
    """x' = -x(t - T), x = 1 before: x = sum of (-1)^k (t - (k - 1) T)^k / k!, a polynomial of degree k on step k."""
    T = 0.8
    signals = {
        "x": {"type": "integral", "input": "-late", "start": 1.0},
        "late": {"type": "delay", "input": "x", "time": T, "start": 1.0, "pieces": pieces},
    }
    result = sk.simulate(slider(signals), until=4.5, method=method, rtol=1e-11, atol=1e-13)

    def exact(t):
        return (
            sum((-1) ** k * max(t - (k - 1) * T, 0.0) ** k / factorial(k) for k in range(12))
            if t > 0
            else 1.0
        )

    for row in range(0, 1001, 77):
        t = result.time[row]
        assert result["x"][row] == pytest.approx(exact(t), abs=2e-10)
        assert result["late"][row] == pytest.approx(exact(t - T), abs=2e-10)
    assert not result.warnings


def test_a_delay_takes_a_kink_along():
    """The input jumps at an event; the delayed signal jumps T later and nowhere else."""
    signals = {
        "mark": {"type": "event", "when": "t - 0.33", "set": "level", "to": "2*t"},
        "level": {"type": "held", "start": -1.0},
        "late": {"type": "delay", "input": "level + t", "time": 0.5, "start": 9.0, "pieces": 1},
    }
    result = sk.simulate(slider(signals), output_times=[0, 0.49, 0.51, 0.829, 0.831, 1.4], method="taylor")
    assert result["late"] == pytest.approx([9, 9, -0.99, -0.671, 0.66 + 0.331, 0.66 + 0.9], abs=1e-12)


def test_a_delay_keeps_as_many_pieces_as_there_are_kinks():
    """Stairs of 4 ms within a delay of half a second: 125 kinks are on their way; a saved run goes on with them."""
    signals = {
        "phase": {"type": "integral", "input": 250},
        "tick": {
            "type": "event",
            "when": "phase - 1",
            "direction": "rising",
            "reset": ["phase"],
            "set": "stairs",
            "to": "t",
        },
        "stairs": {"type": "held", "start": 0.0},
        "late": {"type": "delay", "input": "stairs", "time": 0.5, "start": -1.0},
    }
    sim = sk.Simulation(slider(signals), method="dop853")
    sim.step(0.402)
    saved = sim.save()
    ends = []
    for _ in range(2):
        for length in (0.2, 0.3):
            sim.step(length)
        ends.append((sim.outputs["stairs"], sim.outputs["late"]))
        sim.restore(saved)
    assert ends[0] == pytest.approx((0.9, 0.4), abs=1e-9)
    assert ends[1] == ends[0]


def test_a_coarse_delay_warns():
    signals = {"late": {"type": "delay", "input": "sin(40*t)", "time": 1.0, "pieces": 1}}
    result = sk.simulate(slider(signals), until=2.5)
    assert [warning.code for warning in result.warnings] == ["delay_interpolation"]
    assert "pieces" in str(result.warnings[0])


def test_an_event_stops_the_run_where_it_happens():
    signals = {"far": {"type": "event", "when": "rail.q - 1.7", "stop": "the block is far enough"}}
    result = sk.simulate(slider(signals, FORCE), until=9.0)
    t = np.sqrt(2 * MASS * 1.4 / FORCE)
    assert (result.status, result.ok) == ("stopped", True)
    assert result.message.startswith("the block is far enough at t = ")
    assert result.time[-1] == pytest.approx(t, rel=1e-12)
    assert result["rail.q"][-1] == pytest.approx(1.7, rel=1e-12)
    assert result.final_state.t == result.time[-1]


@pytest.mark.parametrize("method", ["taylor", "dop853", "radau5"])
def test_events_set_and_reset_in_order(method):
    """Each time the phase passes one it is taken back to zero (a sawtooth), and the step of the stairs is doubled."""
    signals = {
        "phase": {"type": "integral", "input": 1.3},
        "tooth": {"type": "event", "when": "phase - 1", "direction": "rising", "reset": ["phase"]},
        "stairs": {"type": "held", "start": 0.5},
        "climb": {
            "type": "event",
            "when": "phase - 1",
            "set": "stairs",
            "to": "2*stairs",
            "direction": "rising",
        },
    }
    result = sk.simulate(slider(signals), until=4.0, method=method)
    assert result["tooth"][-1] == result["climb"][-1] == np.floor(1.3 * 4.0)
    assert result["stairs"][-1] == 0.5 * 2**5
    assert result["phase"][-1] == pytest.approx(1.3 * 4.0 - 5, abs=1e-12)


def test_a_guard_that_jumps_in_time_counts():
    signals = {
        "on": {
            "type": "event",
            "when": "if_else(t > 0.4, 1, -1)",
            "direction": "rising",
            "set": "f",
            "to": 7.0,
        }
    }
    signals["f"] = {"type": "held"}
    result = sk.simulate(slider(signals, "f"), until=1.0)
    assert result["on"][-1] == 1
    assert result["rail.q"][-1] == pytest.approx(0.3 + 7 / MASS * 0.6**2 / 2, rel=1e-12)


def test_events_beside_contacts():
    """A ball counts its impacts through the jump of its velocity."""
    model = model_from_dict(
        {
            "bodies": {"ball": {"mass": 1.3}},
            "joints": {"fall": {"type": "prismatic", "child": "ball", "q0": 1.0}},
            "contacts": {"floor": {"type": "point_plane", "frame": "ball", "restitution": 0.8}},
            "signals": {"bounce": {"type": "event", "when": "fall.v", "direction": "rising"}},
        }
    )
    result = sk.simulate(model, until=2.5)
    assert result["bounce"][-1] == result.stats["impacts"] == 4


@pytest.mark.parametrize(
    ("signals", "text"),
    [
        ({"s": {"type": "sampled", "input": "t", "period": 0}}, "period: must be positive"),
        ({"s": {"type": "delay", "input": "t", "time": "-1 s"}}, "time: must be positive"),
        ({"s": {**RELAY, "on_above": -0.07}}, "on_above: must be larger than off_below"),
        ({"s": {"type": "event", "when": "t - 1", "set": "x"}}, "unknown signal 'x'"),
        (
            {"s": {"type": "event", "when": "t - 1", "set": "x"}, "x": {"type": "expression", "value": "t"}},
            "no single value that an event can set",
        ),
        ({"s": {"type": "event", "when": 1.0}}, "never crosses zero"),
        ({"s": {"type": "sampled", "input": "nobody", "period": 1}}, "unknown name 'nobody'"),
    ],
)
def test_nonsense_is_refused(signals, text):
    with pytest.raises(ModelError, match=text):
        slider(signals)


def test_events_that_never_end_are_named():
    signals = {
        "up": {"type": "event", "when": "x - 0.5", "direction": "rising", "set": "x", "to": 0.0},
        "down": {"type": "event", "when": "x - 0.5", "direction": "falling", "set": "x", "to": 1.0},
        "x": {"type": "held"},
        "go": {"type": "event", "when": "t - 0.2", "set": "x", "to": 1.0},
    }
    with pytest.raises(SolverError, match="endlessly"):
        sk.simulate(slider(signals), until=1.0)


def test_implicit_steps_land_on_switches():
    """A relay by generalized-alpha: its steps are exact under constant forces, so only a switch can be missed."""
    model = slider({"relay": RELAY}, "relay")
    exact = sk.simulate(model, until=1.0, rtol=1e-11, method="dop853")
    found = sk.simulate(model, until=1.0, method="generalized_alpha", step=0.01)
    assert found.stats["events"] == exact.stats["events"] > 0
    assert found["rail.q"][-1] == pytest.approx(exact["rail.q"][-1], abs=1e-12)


def test_a_stiff_model_with_events_is_run_by_an_implicit_method():
    """A lag of 0.1 ms behind a switch: 1e4 steps a second for a series, a few for radau5."""
    signals = {
        "relay": {**RELAY, "input": "sin(3*t)", "on_above": 0.5, "off_below": -0.2},
        "valve": {"type": "lowpass", "input": "relay", "time_constant": "0.1 ms", "start": FORCE},
    }
    result = sk.simulate(slider(signals, "valve"), until=1.5)
    assert result.provenance["options"]["method"] == "radau5"
    on, off = np.arcsin(0.5) / 3, (np.pi + np.arcsin(0.2)) / 3
    assert result.stats["events"] == 2
    # the impulse of the force, which lags as much after one switch as after the other
    impulse = FORCE * (on - (off - on) + (1.5 - off))
    assert result["rail.v"][-1] == pytest.approx(impulse / MASS, rel=1e-6)


@pytest.mark.parametrize("method", ["dop853", "rk4"])
def test_crossings_of_both_directions_count_once(method):
    """A spring swings through zero at the odd quarters of its period; both relays begin beyond their thresholds."""
    relay = {"type": "hysteresis", "input": "rail.q", "off_below": -0.9}
    model = slider(
        {
            "crossings": {"type": "event", "when": "rail.q", "direction": "both"},
            "first": {**relay, "on_above": 0.2},
            "second": {**relay, "on_above": 0.1},
        },
        "-9*rail.q",
    )
    step = {"step": 1e-2} if method == "rk4" else {}
    result = sk.simulate(model, 5.0, method=method, output_step=0.1, **step)
    quarter = np.pi / 2 / np.sqrt(9 / MASS)
    np.testing.assert_array_equal(result["crossings"], np.floor((result.time / quarter + 1) / 2))
    assert np.all(result["first"] == 1)
    assert np.all(result["second"] == 1)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "taylor", "rtol": 1e-10},
        {"method": "dop853", "rtol": 1e-10},
        {"method": "rk4", "step": 0.01},
    ],
)
def test_a_distance_along_a_straight_motion_is_seen(options):
    """The motion is a polynomial, but the distance to a point beside it has branch points 0.2 s off the real axis."""
    model = model_from_dict(
        {
            "gravity": [0, 0, 0],
            "bodies": {"probe": {"mass": 1.1, "inertia": [0.1, 0.2, 0.3]}},
            "joints": {
                "fly": {"type": "free", "child": "probe", "position": [-4, 0.2, 0], "velocity": [1, 0, 0]}
            },
            "sensors": {"place": {"type": "position", "frame": "probe"}},
            "signals": {
                "far": {"type": "expression", "value": "sqrt(place.x^2 + place.y^2)"},
                "near": {"type": "event", "when": "far - 0.25", "set": "first", "to": "t"},
                "first": {"type": "held"},
                "gone": {"type": "event", "when": "far - 3", "direction": "rising", "stop": "far away"},
            },
        }
    )
    result = sk.simulate(model, until=20.0, **options)
    assert result["near"][-1] == 2
    assert result["first"][-1] == pytest.approx(4.15, abs=1e-9)  # on the way out: 0.15^2 + 0.2^2 = 0.25^2
    assert result.time[-1] == pytest.approx(4 + np.sqrt(9 - 0.04), abs=1e-9)


def test_generalized_alpha_lands_on_events():
    """x = cos(2 t) to x = 0 at pi/4, where a push begins; then x' = 1/2 is the end; of the order of the method.

    x = 3/8 - a cos(2 s) - sin(2 s), a = 3/8, with s = t - pi/4: the stop is where 2 a sin(2 s) - 2 cos(2 s) = 1/2.
    """
    model = model_from_dict(
        {
            "name": "oscillator",
            "gravity": [0, 0, 0],
            "bodies": {"block": {"mass": 2}},
            "joints": {"rail": {"type": "prismatic", "child": "block", "axis": [1, 0, 0], "q0": 1}},
            "forces": {"spring": {"type": "actuator", "joint": "rail", "force": "push - 8*rail.q"}},
            "signals": {
                "push": {"type": "held", "start": 0},
                "half": {
                    "type": "event",
                    "when": "rail.q",
                    "direction": "falling",
                    "set": "push",
                    "to": "push + 3",
                },
                "end": {"type": "event", "when": "rail.v - 0.5", "direction": "rising", "stop": True},
            },
        }
    )
    size, ahead = np.hypot(0.75, 2), np.arctan2(2, 0.75)
    expected = np.pi / 4 + (ahead + np.arcsin(0.5 / size)) / 2
    system = sk.compile(model)
    errors = []
    for step in (0.02, 0.01, 0.005):
        result = sk.simulate(system, until=4.0, method="generalized_alpha", step=step, output_step=0.1)
        assert (result.status, result["push"][-1]) == ("stopped", 3.0)
        errors.append(abs(result.time[-1] - expected))
    orders = np.diff(np.log2(errors))
    assert errors[-1] < 2e-5
    assert (orders < -1.7).all(), errors
