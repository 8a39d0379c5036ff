"""Signals with states against closed solutions, in every method and formulation; inputs as functions of time."""

import numpy as np
import pytest
from scipy.linalg import expm

import sekant as sk
from sekant.errors import ModelError, SekantError, SolverError
from sekant.io import model_text
from sekant.model.parse import model_from_dict
from sekant.model.signals import SIGNALS

MASS, STIFFNESS = 2.3, 57.0
KP, KI, KD, FILTER, LAG = 21.0, 7.0, 3.1, 0.04, 0.06


def controlled(**signals):
    """A slider on a spring, pulled by an actuator whose force is the signal `pull`."""
    return model_from_dict(
        {
            "gravity": [0, 0, 0],
            "bodies": {"block": {"mass": MASS, "inertia": [0.1, 0.2, 0.3]}},
            "joints": {
                "rail": {"type": "prismatic", "child": "block", "axis": [1, 0, 0], "q0": 0.3, "v0": -0.2}
            },
            "forces": {
                "spring": {"type": "actuator", "joint": "rail", "force": f"-{STIFFNESS}*rail.q"},
                "motor": {"type": "actuator", "joint": "rail", "force": "pull"},
            },
            "inputs": {"wish": {"unit": "m", "default": 0.1}},
            "signals": signals,
        }
    )


@pytest.fixture(scope="module")
def pid_model():
    return controlled(
        seen={"type": "lowpass", "input": "rail.q", "time_constant": LAG, "start": 0.3},
        pull={
            "type": "pid",
            "error": "wish - seen",
            "kp": KP,
            "ki": KI,
            "kd": KD,
            "derivative_filter": FILTER,
        },
    )


def pid_matrix():
    """Of y = (q, v, seen, integral, filtered, 1)."""
    wish = 0.1
    error = np.array([0, 0, -1, 0, 0, wish])
    filtered = np.array([0, 0, 0, 0, 1.0, 0])
    A = np.zeros((6, 6))
    A[0, 1] = 1
    A[1] = (KP * error + KD * (error - filtered) / FILTER) / MASS
    A[1, 3] += 1 / MASS
    A[1, 0] -= STIFFNESS / MASS
    A[2, 0], A[2, 2] = 1 / LAG, -1 / LAG
    A[3] = KI * error
    A[4] = (error - filtered) / FILTER
    return A


@pytest.mark.parametrize("method", ["dop853", "radau5", "taylor"])
def test_pid_behind_a_lowpass_is_the_matrix_exponential(pid_model, method):
    result = sk.simulate(pid_model, until=2.0, method=method, rtol=1e-10, atol=1e-12)
    exact = expm(2.0 * pid_matrix()) @ np.array([0.3, -0.2, 0.3, 0, 0, 1])
    assert result.status == "finished"
    found = [result["rail.q"][-1], result["rail.v"][-1], result["seen"][-1]]
    np.testing.assert_allclose(found, exact[:3], atol=3e-9)
    assert abs(result["energy.balance"][-1]) < 1e-7  # of a joule exchanged several times over


@pytest.mark.parametrize("formulation", ["cartesian", "natural"])
def test_states_of_signals_are_the_same_in_every_formulation(pid_model, formulation):
    system = sk.compile(pid_model, formulation=formulation)
    result = sk.simulate(system, until=1.0, rtol=1e-10, atol=1e-12)
    exact = expm(1.0 * pid_matrix()) @ np.array([0.3, -0.2, 0.3, 0, 0, 1])
    np.testing.assert_allclose(result["rail.q"][-1], exact[0], atol=3e-9)


def test_linear_signals_follow_their_matrices():
    """Transfer function, state space, second-order lowpass, derivative and integral of a sine."""
    model = controlled(
        pull={"type": "expression", "value": 0},
        u={"type": "expression", "value": "sin(3*t)"},
        tf={"type": "transfer_function", "input": "u", "numerator": [2, 1, 5], "denominator": [2, 6, 4]},
        ss={
            "type": "state_space",
            "inputs": ["u"],
            "A": [[-1, 0.5], [0.2, -2]],
            "B": [[1], [0.7]],
            "C": [[1, 2], [0.3, -1]],
            "D": [[0.1], [0]],
        },
        lp={"type": "lowpass", "order": 2, "input": "u", "time_constant": 0.3, "damping": 0.4},
        dd={"type": "derivative", "input": "u", "time_constant": 0.2},
        area={"type": "integral", "input": "u", "start": 0.25},
    )
    result = sk.simulate(model, until=1.7, rtol=1e-10, atol=1e-12)

    def last(A, B, C, D):
        """Output at the end: the sine is carried along as an oscillator of its own."""
        A, B, C = np.array(A, float), np.array(B, float).ravel(), np.atleast_2d(np.array(C, float))
        n = len(A)
        big = np.zeros((n + 2, n + 2))
        big[:n, :n], big[:n, n] = A, B
        big[n, n + 1], big[n + 1, n] = 3, -3
        x = expm(1.7 * big) @ np.array([*np.zeros(n + 1), 1])
        return C @ x[:n] + np.ravel(D) * x[n]

    t = 1.7
    np.testing.assert_allclose(
        result["tf"][-1], last([[0, 1], [-2, -3]], [0, 1], [2.5 - 2, 0.5 - 3], [1]), atol=1e-8
    )
    np.testing.assert_allclose(
        result["ss"][-1], last([[-1, 0.5], [0.2, -2]], [1, 0.7], [[1, 2], [0.3, -1]], [0.1, 0]), atol=1e-8
    )
    T, d = 0.3, 0.4
    np.testing.assert_allclose(
        result["lp"][-1], last([[0, 1], [-1 / T**2, -2 * d / T]], [0, 1 / T**2], [1, 0], [0]), atol=1e-8
    )
    np.testing.assert_allclose(result["dd"][-1], last([[-5.0]], [5.0], [-5.0], [5.0]), atol=1e-8)
    np.testing.assert_allclose(result["area"][-1], 0.25 + (1 - np.cos(3 * t)) / 3, atol=1e-9)


def test_a_limited_controller_unwinds():
    """At the limit the force is the limit; the integral stays near what the limit allows."""
    signals = {
        "type": "pid",
        "error": "1 - rail.q",
        "kp": 10,
        "ki": 400,
        "high": 5,
        "low": -5,
        "windup_time": 0.05,
    }
    result = sk.simulate(controlled(pull=signals), until=3.0)
    assert np.max(result["pull"]) <= 5 + 1e-12
    assert np.min(result["pull"]) >= -5 - 1e-12
    wound = sk.simulate(controlled(pull={**signals, "windup_time": 1e9}), until=3.0)
    assert np.max(np.abs(wound["pull"][-300:] - 5)) < 1e-9  # without anti-windup it never leaves the limit


def test_a_rate_limited_signal_rises_in_a_straight_line():
    model = controlled(
        pull={"type": "expression", "value": 0},
        slow={"type": "rate_limit", "input": 2, "rising": 0.5, "time_constant": 0.01},
    )
    result = sk.simulate(model, until=3.0, output_step=0.1)
    np.testing.assert_allclose(result["slow"], 0.5 * result.time, atol=1e-8)


def test_inputs_from_rows_and_functions_agree_with_the_expression(pid_model):
    by_text = controlled(pull={"type": "expression", "value": "3*sin(2*t) + wish"})
    by_input = controlled(pull={"type": "expression", "value": "wish"})
    reference = sk.simulate(by_text, until=2.0, inputs={"wish": 0.4}, rtol=1e-10)
    called = sk.simulate(by_input, until=2.0, inputs={"wish": lambda t: 3 * np.sin(2 * t) + 0.4}, rtol=1e-10)
    np.testing.assert_allclose(called["rail.q"], reference["rail.q"], atol=1e-8)
    ramp = controlled(pull={"type": "expression", "value": "if_else(t < 1, 2*t, 2)"})
    rows = sk.simulate(by_input, until=2.0, inputs={"wish": ([0, 1], [0, 2])}, rtol=1e-10)
    np.testing.assert_allclose(rows["rail.q"], sk.simulate(ramp, until=2.0, rtol=1e-10)["rail.q"], atol=1e-8)


def test_inputs_are_columns_of_a_linear_model():
    model = controlled(pull={"type": "expression", "value": "5*wish"})
    linear = sk.linearize(sk.compile(model), inputs=["wish"])
    np.testing.assert_allclose(linear.B, [[0], [5 / MASS]], atol=1e-12)


@pytest.mark.parametrize(
    ("signals", "words"),
    [
        ({"pull": {"type": "expression", "value": "other"}, "other": {"type": "expression", "value": "2*pull"}},
         ["pull -> other -> pull", "state"]),
        ({"pull": {"type": "lowpass", "input": 1, "time_constant": 0}}, ["time_constant: must be positive"]),
        ({"pull": {"type": "lowpas", "input": 1}}, ["unknown signal type", "lowpass"]),
        ({"pull": {"type": "integral", "input": "speed"}}, ["unknown name 'speed'"]),
        ({"pull": {"type": "transfer_function", "input": "t", "numerator": [1, 2, 3], "denominator": [1, 2]}},
         ["would differentiate its input"]),
        ({"pull": {"type": "state_space", "inputs": ["t"], "A": [[1, 2]], "B": [[1]], "C": [[1]]}},
         ["A: must be a 1 x 1 matrix"]),
        ({"pull": {"type": "pid", "error": "t", "low": 2, "high": 1}}, ["low: must be below high"]),
        ({"pull": {"type": "pid", "error": "t"}}, ["give at least one of kp, ki and kd"]),
        ({"pull": {"value": "t"}}, ["type: is missing; signal types: ", "expression"]),
    ],
)  # fmt: skip
def test_nonsense_is_refused_with_its_name(signals, words):
    with pytest.raises(SekantError) as caught:
        sk.simulate(controlled(**signals), until=0.1)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (([0, 0], [1, 2]), "must increase"),
        (([0, 1], [1, np.nan]), "NaN"),
        (([0, 1, 2], [1, 2]), "a value for each time"),
        ("3 N", "a number, a pair"),
        (([0, 1, 1, 1, 2], [0, 0, 1, 2, 2]), "must increase"),
        (lambda t: np.nan if t > 0.5 else 1.0, "not finite"),
    ],
)
def test_bad_inputs_are_named(pid_model, value, words):
    with pytest.raises(SolverError, match=words):
        sk.simulate(pid_model, until=1.0, inputs={"wish": value})


@pytest.mark.parametrize("method", ["auto", "taylor", "radau5", "rk4"])
def test_inputs_may_jump(method):
    """A mass of 2 kg, pushed by 3 N from t = 0.3 s on: a function of time, or rows of which one time stands twice."""
    model = sk.Model(
        bodies={"cart": sk.Body(mass=2.0)},
        joints={"rail": sk.joints.Prismatic(child="cart", axis=(1, 0, 0))},
        inputs={"push": {"default": 0.0, "unit": "N"}},
        forces={"thrust": sk.forces.Actuator(joint="rail", force="push")},
        gravity=(0, 0, 0),
    )
    steps = {"step": 1e-3} if method == "rk4" else {}
    for push in (lambda t: 3.0 if t >= 0.3 else 0.0, ([0, 0.3, 0.3, 1], [0, 0, 3, 3])):
        result = sk.simulate(model, until=1.0, inputs={"push": push}, method=method, **steps)
        later = np.maximum(result.time - 0.3, 0.0)
        assert result["rail.q"] == pytest.approx(0.75 * later**2, abs=1e-12)
        assert not result.warnings


def test_unknown_inputs_are_named(pid_model):
    with pytest.raises(SolverError, match="did you mean 'wish'"):
        sk.simulate(pid_model, until=1.0, inputs={"wich": 1})


def test_every_signal_type_is_documented():
    for cls in SIGNALS.values():
        assert cls.summary
        assert cls.__doc__


def test_models_with_signals_survive_files(pid_model, tmp_path):
    file = tmp_path / "model.yaml"
    file.write_text(model_text(pid_model))
    again = sk.load(file)
    assert again.signals == pid_model.signals
    assert again.inputs == pid_model.inputs
    with pytest.raises(ModelError, match="is already in use by"):
        model_from_dict({"signals": {"a": {"type": "expression", "value": 1}}, "inputs": {"a": {}}})


def test_dop853_holds_states_of_elements_to_the_tolerance():
    """A controller whose filters are faster than what they move: their errors count as those of velocities do."""
    model = sk.load("examples/balanced_pendulum.yaml")
    found = sk.simulate(model, 0.4, method="dop853", rtol=1e-8, output_step=1e-3)
    expected = sk.simulate(model, 0.4, method="radau5", rtol=1e-9, atol=1e-11, output_step=1e-3)
    assert np.abs(found["rail.q"] - expected["rail.q"]).max() < 1e-8
