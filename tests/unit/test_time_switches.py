"""Switching times: against where the value itself jumps or kinks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekant.errors import ModelError
from sekant.model.expressions.expression import Expression

PARAMETERS = {"t0": 1.5, "T": 0.8, "v": 4.0, "a": 0.3}


def times(text, begin=0.0, end=5.0, knots=None):
    switches = Expression(text).time_switches(PARAMETERS)
    found = [time for s in switches for time in s.times(begin, end, PARAMETERS.__getitem__, knots)]
    return sorted(set(np.round(found, 12)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t > t0 + 1", [2.5]),
        ("step(2*t - 3)", [1.5]),
        ("x*step(v*(t - t0) - 2)", [2.0]),
        ("step5(t, t0, 0, t0 + 1, 3)", [1.5, 2.5]),
        ("adams_step(2*t, 1, 0, 3, 3)", [0.5, 1.5]),
        ("abs(t - 2)", [2.0]),
        ("max(t, 3 - t, 2*t - 4)", [1.5, 7 / 3, 4.0]),
        ("clamp(3 - t, a, 1)", [2.0, 2.7]),
        ("pulse(t, 1, 0.5)", [1.0, 1.5]),
        ("pulse(t, 1, 0.5, 2)", [1.0, 1.5, 3.0, 3.5, 5.0]),
        ("floor(t/2 + 0.25)", [1.5, 3.5]),
        ("mod(t, 2)", [0.0, 2.0, 4.0]),
        ("if_else(mod(t, 2) < 0.5, 1, -1)", [0.0, 0.5, 2.0, 2.5, 4.0, 4.5]),
        ("t - 2*floor(t/2) > 1.5", [0.0, 1.5, 2.0, 3.5, 4.0]),
        ("if_else(t < 1 and x > 0, 3, sin(step(t - 2)))", [1.0, 2.0]),
        ("x > 3", []),
        ("t > x", []),
        ("(t - 1)*(t - 2) > 0", []),
        ("t > log(-1)", []),
        ("step((a - a)*t - 1)", []),
        ("sin(t) + 3*t^2", []),
    ],
)
def test_times(text, expected):
    assert times(text) == pytest.approx(expected)


def test_tables_switch_at_their_knots():
    assert times("bump(v*t - 2)", knots={"bump": [-1.0, 0.0, 6.0, 90.0]}.__getitem__) == [0.25, 0.5, 2.0]
    assert times("bump(v*t - 2)") == []


def test_times_are_expressions_of_parameters():
    (switch,) = Expression("t > t0 + 1").time_switches()
    assert (switch.start, switch.scale) == (Expression("t0 + 1"), None)
    (switch,) = Expression("mod(t - 3, T)").time_switches()
    assert (switch.start.text, switch.scale.text) == ("3", "T")


def test_times_beyond_all_bounds_are_refused():
    with pytest.raises(ModelError, match=r"switches every 1e-09 s, which is too often for"):
        times("floor(t*1e9)")


@given(st.floats(0.2, 3), st.floats(-2, 2), st.floats(0.3, 1.5), st.floats(0.1, 0.9))
def test_between_stops_the_value_does_not_jump(rate, shift, period, level):
    """A square wave changes its value only at times that were announced."""
    text = f"if_else(mod({rate!r}*t - ({shift!r}), {period!r}) < {level!r}*{period!r}, 1, 0)"
    expression = Expression(text)
    stops = [s for switch in expression.time_switches() for s in switch.times(0.0, 4.0)]
    grid = np.linspace(0, 4, 203)
    values = [expression.evaluate({"t": t}.__getitem__) for t in grid]
    for i in np.flatnonzero(np.diff(values)):
        assert any(grid[i] - 1e-9 <= stop <= grid[i + 1] + 1e-9 for stop in stops)
