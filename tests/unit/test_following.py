"""Tables that follow functions: closeness, jumps and kinks where they are, and what cannot be followed."""

from __future__ import annotations

from math import exp, nan, sin, tanh

import numpy as np
import pytest

from sekant.errors import DataError
from sekant.tables.following import CLOSE, following


@pytest.mark.parametrize(
    ("function", "breaks"),
    [
        (lambda t: 0.7 * sin(2 * t), []),
        (lambda t: exp(-(((t - 0.77) / 0.02) ** 2)), []),
        (lambda t: tanh(40 * (t - 0.5)), []),
        (lambda t: 2.0 if t > 0.3 else -1.0, [0.3]),
        (lambda t: 5.0 if 0.4 < t < 0.403 else 0.0, [0.4, 0.403]),
        (lambda t: float(np.sign(sin(7 * t))), [np.pi / 7 * k for k in range(1, 5)]),
        (lambda t: abs(sin(5 * t)), [np.pi / 5, 2 * np.pi / 5, 3 * np.pi / 5]),
        (lambda t: min(max(t - 0.21, 0.0), 0.4), [0.21, 0.61]),
        (lambda t: sin(3 * t) + 0.2 * max(t - 0.6137, 0.0) + (t > 1.1), [0.6137, 1.1]),
    ],
)
def test_a_table_follows_and_breaks_where_the_function_does(function, breaks):
    table = following(function, 0.0, 2.0, "u")
    x = np.random.default_rng(3).uniform(0.0, 2.0, 3000)
    exact = np.array([function(t) for t in x])
    assert np.max(np.abs(table(x)[:, 0] - exact)) <= 2 * CLOSE * np.max(np.abs(exact))
    inside = table.kinks[(table.kinks > 0) & (table.kinks < 2)]
    assert inside == pytest.approx(breaks, abs=1e-9)


def test_a_value_at_the_very_start_counts_for_nothing():
    assert following(lambda t: float(t > 0), 0.0, 1.0, "u")(0.0)[0] == 1.0


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda t: (t * 1e8) % 1.0, "more than 20 jumps"),
        (lambda t: nan if t > 0.5 else 1.0, "not finite"),
        (lambda t: abs(t - 0.5) ** 0.5, "off by"),
    ],
)
def test_what_cannot_be_followed_is_told(function, words, monkeypatch):
    monkeypatch.setattr("sekant.tables.following.MOST_BREAKS", 20)
    with pytest.raises(DataError, match=words):
        following(function, 0.0, 1.0, "u")
