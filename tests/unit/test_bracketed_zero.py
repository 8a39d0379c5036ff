"""Zeros between two places of different sign."""

import math

import pytest

from sekant.solvers.newton.bracketed import bracketed_zero


@pytest.mark.parametrize(
    ("f", "low", "high", "zero", "most"),
    [
        (lambda x: x**3 - 2, 0.0, 2.0, 2 ** (1 / 3), 12),
        (lambda x: math.tanh(50 * (x - 0.3)), 0.0, 1.0, 0.3, 20),
        (lambda x: 2e5 * max(x - 0.1, 0.0) - 3e3, 0.0, 0.3, 0.115, 12),
        (lambda x: math.exp(x) - 1e9, 0.0, 100.0, math.log(1e9), 30),
        (lambda x: -1.0 if x < 0.7 else 2.0, 0.0, 1.0, 0.7, 60),  # a jump: no interpolation helps
        (lambda x: x - 0.25, -3.0, 0.25, 0.25, 2),  # at an end
    ],
)
def test_a_zero_is_found_to_round_off_in_few_evaluations(f, low, high, zero, most):
    asked = []

    def counted(x):
        asked.append(x)
        return f(x)

    assert bracketed_zero(counted, low, high, 1e-14) == pytest.approx(zero, rel=1e-15, abs=2e-14)
    assert len(asked) <= most
    assert all(low <= x <= high for x in asked)


def test_equal_signs_are_refused():
    with pytest.raises(ValueError, match="signs at 1 and 2"):
        bracketed_zero(lambda x: x, 1.0, 2.0, 1e-12)
