"""Events and samples in the explicit loops, against closed solutions."""

from __future__ import annotations

from dataclasses import replace
from math import acos, exp, pi, sqrt

import numpy as np
import pytest

from ode_right_hand_sides import native
from sekant.errors import SolverError
from sekant.solvers.ode import METHODS, OdeProblem, Sampling, integrate

G, REBOUND = 9.81, 0.8


@native
def falling(arg, res, w):
    """x = [height, speed]."""
    res[0][0] = arg[1][1]
    res[0][1] = -9.81


@native
def heights(arg, res, w):
    """Ground, and a height of p[0] that is passed in both directions."""
    res[0][0] = arg[1][0]
    res[0][1] = arg[1][0] - arg[2][0]


@native
def oscillator(arg, res, w):
    res[0][0] = arg[1][1]
    res[0][1] = -arg[1][0]


@native
def near_the_top(arg, res, w):
    res[0][0] = arg[1][0] - arg[2][0]


@native
def follows_what_is_held(arg, res, w):
    """x0' = p[1] - x0, x1' = p[2]: two states that follow two held values."""
    res[0][0] = arg[2][1] - arg[1][0]
    res[0][1] = arg[2][2]


@native
def sample(arg, res, w):
    """First held value: gain p[0] times the state; the second counts the samples."""
    res[0][0] = 1.0 - arg[2][0] * arg[1][0]
    res[0][1] = arg[2][2] + 1.0


@native
def held_value_less_five(arg, res, w):
    res[0][0] = arg[2][2] - 5.0


BALL = OdeProblem(falling, 2, np.array([0.5]), nq=1, nv=1, events=heights, directions=np.array([-1, 0]))
OPTIONS = {name: {} if method.adaptive else {"step": 0.01} for name, method in METHODS.items()}


@pytest.mark.parametrize("method", ["dop853", "rk4"])
def test_a_ball_bounces_at_the_times_of_the_parabolas(method):
    """Height h: down in sqrt(2 h / g), then 2 v / g a bounce with v smaller by the factor each time."""
    ground = OdeProblem(falling, 2, np.zeros(1), nq=1, nv=1, events=heights, directions=np.array([-1, -1]))
    t, x, hits = 0.0, np.array([1.3, 0.0]), []
    while len(hits) < 12:
        done = integrate(ground, [t, t + 2.0], x, method=method, **OPTIONS[method])
        assert done.status == "event"
        assert done.event.number == 0
        assert done.event.t == done.t_last
        assert abs(done.event.x[0]) < 1e-13
        t, x = done.event.t, done.event.x * [1.0, -REBOUND]
        hits.append(t)
    fall = sqrt(2 * 1.3 / G)
    flights = 2 * fall * REBOUND ** np.arange(1, 12)
    assert hits == pytest.approx(fall + np.concatenate([[0.0], np.cumsum(flights)]), rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_directions_and_outputs_before_the_event(method):
    """A throw passes 0.5 m upwards and downwards, both count; the ground counts on the way down only."""
    start, times = [-0.1, 5.0], np.linspace(0.0, 2.0, 81)
    first = integrate(BALL, times, start, method=method, **OPTIONS[method])
    assert first.event is not None
    assert first.event.number == 1
    step_error = 1e-12 if method in ("dop853", "rk4") else 0.01  # of first-order methods: half g h t
    exact = (5.0 - sqrt(25.0 - 2 * G * 0.6)) / G
    assert first.event.t == pytest.approx(exact, abs=step_error)
    assert first.event.x[0] == pytest.approx(0.5, abs=1e-13)
    assert first.t.tolist() == times[times <= first.event.t].tolist()
    again = integrate(BALL, [first.t_last, 2.0], first.x_last, method=method, **OPTIONS[method])
    exact = (5.0 + sqrt(25.0 - 2 * G * 0.6)) / G
    assert again.event is not None
    assert again.event.number == 1
    assert again.event.t == pytest.approx(exact, abs=2 * step_error)


def test_a_function_that_leaves_its_sign_and_returns_within_a_step_is_seen():
    """x = sin t stays above 0.99 for 0.28 s, less than a step lasts."""
    level = 0.99
    problem = OdeProblem(
        oscillator, 2, np.array([level]), nq=1, nv=1, events=near_the_top, directions=np.array([1])
    )
    done = integrate(problem, [0.0, 3.0], [0.0, 1.0], rtol=1e-9, atol=1e-11)
    assert done.event is not None
    assert (
        3.0 / integrate(replace(problem, events=None, directions=[]), [0.0, 3.0], [0.0, 1.0]).stats["steps"]
        > 0.28
    )
    # the slope of the function is 0.14 there, so the error of the motion counts seven times
    assert done.event.t == pytest.approx(pi / 2 - acos(level), abs=1e-8)


def test_an_event_does_not_depend_on_chunks():
    whole = integrate(BALL, np.linspace(0.0, 2.0, 81), [-0.1, 5.0])
    cut = integrate(BALL, np.linspace(0.0, 2.0, 81), [-0.1, 5.0], chunk_steps=1)
    assert cut.event is not None
    assert cut.t_last == whole.t_last
    assert np.array_equal(cut.x, whole.x)
    assert np.array_equal(cut.x_last, whole.x_last)


def hold(gain: float, times, **more) -> OdeProblem:
    sampling = Sampling(sample, 1, 2, np.asarray(times, float))
    return OdeProblem(follows_what_is_held, 2, np.array([gain, 0.0, 0.0]), sampling=sampling, **more)


@pytest.mark.parametrize("method", ["dop853", "rk4", "euler"])
def test_a_sampled_controller_is_the_matrix_of_its_steps(method):
    """x' = u - x with u = 1 - k x held over T: x_(n+1) = a x_n + (1 - a) (1 - k x_n), a = exp(-T)."""
    gain, period = 2.5, 0.1
    problem, times = hold(gain, np.arange(0, 11) * period), np.arange(0, 21) * 0.05
    options = {} if method == "dop853" else {"step": 1e-3}
    done = integrate(problem, times, [0.7, 0.0], method=method, **options)
    x, a, expected, u = 0.7, exp(-period), [], 0.0
    for k, _ in enumerate(times):
        if k % 2 == 0 and k < 20:
            u = 1.0 - gain * x
        expected.append((x if k % 2 == 0 else u + (x - u) * exp(-0.05), u))
        x = x if k % 2 == 0 else a * x + (1.0 - a) * u
    tolerance = {"dop853": 1e-9, "rk4": 1e-12}.get(method, 2e-3)
    assert done.x[:, 0] == pytest.approx([row[0] for row in expected], abs=tolerance)
    assert done.held[:, 0] == pytest.approx([row[1] for row in expected], abs=3 * tolerance)
    counts = np.minimum(np.arange(21) // 2 + 1, 10)
    assert done.held[:, 1].tolist() == counts.tolist()
    assert done.held_last.tolist() == done.held[-1].tolist()
    assert done.x[-1, 1] == pytest.approx(sum(range(1, 11)) * period, abs=1e-12)
    assert problem.p.tolist() == [gain, 0.0, 0.0]


def test_samples_before_the_start_and_at_the_end_belong_to_other_runs():
    done = integrate(hold(1.0, [0.0, 0.5, 1.0, 1.5, 2.0]), [0.5, 1.2, 2.0], [0.0, 0.0])
    assert done.held[:, 1].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("method", ["dop853", "rk4"])
def test_a_sample_that_jumps_over_zero_is_an_event(method):
    problem = hold(1.0, np.arange(0, 10) * 0.1, events=held_value_less_five, directions=np.array([1]))
    done = integrate(
        problem, [0.0, 1.0], [0.0, 0.0], method=method, **({} if method == "dop853" else {"step": 0.03})
    )
    assert done.event is not None
    assert done.event.t == 0.4
    assert done.held_last[1] == 5.0


def test_what_does_not_fit_is_refused():
    with pytest.raises(SolverError, match="every event needs one direction"):
        OdeProblem(falling, 2, events=heights)
    with pytest.raises(SolverError, match="-1, 0 and 1"):
        OdeProblem(falling, 2, events=heights, directions=np.array([2, 0]))
    with pytest.raises(SolverError, match="2 sampled values from index 2 do not fit into 3 parameters"):
        OdeProblem(falling, 2, np.zeros(3), sampling=Sampling(sample, 2, 2, np.zeros(1)))
