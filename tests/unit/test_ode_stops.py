"""Stops: times at which the right-hand side jumps; and where fixed steps land."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ode_right_hand_sides import pendulum, ramp_then_parabola, ramp_then_parabola_from_right
from sekant.solvers.common.checks import merge_stops
from sekant.solvers.ode import METHODS, OdeProblem, integrate

JUMP = np.sqrt(2.0)
PROBLEM = OdeProblem(ramp_then_parabola, 1, np.array([JUMP]))
MIRRORED = OdeProblem(ramp_then_parabola_from_right, 1, np.array([JUMP]))


def exact(t, x0):
    before = x0 + 0.3 * np.minimum(t, JUMP) + np.minimum(t, JUMP) ** 2
    return before - 7.0 / 3.0 * (np.maximum(t, JUMP) ** 3 - JUMP**3)


@pytest.mark.parametrize(
    ("method", "options"), [("rk4", {"step": 0.1}), ("dop853", {"rtol": 1e-3, "atol": 1e-3})]
)
def test_a_jump_is_exact_with_a_stop_and_not_without(method, options):
    """Both methods integrate the polynomials on either side without error."""
    times = np.array([0.0, 0.5, 1.3, 1.45, 2.2])
    with_stop = integrate(PROBLEM, times, [0.4], method=method, stops=[JUMP], **options)
    without = integrate(PROBLEM, times, [0.4], method=method, **options)
    assert np.max(np.abs(with_stop.x[:, 0] - exact(times, 0.4))) < 1e-13
    assert np.max(np.abs(without.x[:, 0] - exact(times, 0.4))) > 1e-5
    assert with_stop.stats["restarts"] == 1
    assert without.stats["restarts"] == 0


@pytest.mark.parametrize("method", [name for name in METHODS if name != "semi_implicit_euler"])
def test_the_side_to_which_the_jump_belongs_does_not_matter(method):
    options = {} if METHODS[method].adaptive else {"step": 0.11}
    times = [0.0, 0.5, JUMP, 2.0]
    left = integrate(PROBLEM, times, [0.4], method=method, stops=[JUMP], **options)
    right = integrate(MIRRORED, times, [0.4], method=method, stops=[JUMP], **options)
    assert np.array_equal(left.x, right.x)


def test_stops_at_the_ends_outside_and_twice():
    times = np.linspace(0.0, 2.0, 9)
    plain = integrate(PROBLEM, times, [0.4], stops=[JUMP])
    messy = integrate(
        PROBLEM,
        times,
        [0.4],
        stops=[7.0, JUMP, 2.0, -3.0, JUMP * (1.0 + 3e-16), 0.0, 1e-17, JUMP, 2.0 - 4e-15],
    )
    assert messy.stats == plain.stats
    assert messy.stats["restarts"] == 1
    assert np.array_equal(messy.x, plain.x)


@given(
    st.lists(st.floats(-2.0, 12.0), max_size=12),
    st.floats(-1.0, 1.0),
    st.floats(0.1, 9.0),
)
def test_edges_are_apart_and_inside(stops, start, length):
    end = start + length
    snap = 1e-14 * max(abs(start), abs(end))
    edges = merge_stops(np.array(stops), start, end, snap)
    assert edges[0] == start
    assert edges[-1] == end
    assert np.all(np.diff(edges) > snap)
    for stop in stops:
        if start < stop < end:
            assert np.min(np.abs(edges - stop)) <= snap


@settings(max_examples=30)
@given(
    st.lists(st.integers(1, 999), min_size=1, max_size=6, unique=True),
    st.lists(st.integers(1, 999), max_size=4, unique=True),
    st.sampled_from(["euler", "rk4"]),
)
def test_multiples_of_the_step_are_landed_on_without_extra_steps(outputs, stops, method):
    times = np.array([0.0, *sorted(0.001 * k for k in outputs), 1.0])
    problem = OdeProblem(pendulum, 2, np.array([9.7]))
    plain = integrate(problem, [0.0, 1.0], [1.1, -0.4], method=method, step=0.001)
    landed = integrate(
        problem, times, [1.1, -0.4], method=method, step=0.001, stops=[0.001 * k for k in stops]
    )
    assert landed.stats["steps"] == plain.stats["steps"] == 1000
    assert landed.x[-1] == pytest.approx(plain.x[-1], abs=1e-12)


def test_steps_are_shortened_only_before_a_landing():
    """Explicit Euler by hand: 0.1 twice and 0.05 to the output, 0.1 and 0.02 to the stop, 0.1 and 0.03 to the end."""
    outcome = integrate(
        OdeProblem(pendulum, 2, np.array([9.7])),
        [0.0, 0.25, 0.5],
        [1.1, -0.4],
        method="euler",
        step=0.1,
        stops=[0.37],
    )
    q, v = 1.1, -0.4
    for h in (0.1, 0.1, 0.05, 0.1, 0.02, 0.1, 0.03):
        q, v = q + h * v, v - h * 9.7 * np.sin(q)
    assert outcome.stats["steps"] == 7
    assert outcome.x[-1] == pytest.approx([q, v], abs=1e-14)


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_outputs_around_a_stop_closer_than_the_resolution(method):
    options = {"step": 0.1} if method == "rk4" else {}
    times = np.array([0.0, np.nextafter(JUMP, 0.0), JUMP, np.nextafter(JUMP, 2.0), 2.0])
    outcome = integrate(PROBLEM, times, [0.4], method=method, stops=[JUMP], **options)
    assert outcome.status == "finished"
    assert outcome.x[:, 0] == pytest.approx(exact(times, 0.4), abs=1e-12)
