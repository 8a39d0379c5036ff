"""Cubic pieces through points against SciPy's."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PchipInterpolator

from sekant.tables.table import Table

RNG = np.random.default_rng(5)


def points(n, rough):
    x = np.cumsum(RNG.uniform(0.02, 1.7, n)) - 3.0
    y = RNG.normal(size=(n, 2)) if rough else np.column_stack([np.sin(x), np.exp(0.3 * x)])
    return x, y


@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize("n", [4, 5, 7, 40])
def test_the_smooth_spline(n, rough):
    x, y = points(n, rough)
    found, known = Table.cubic(x, y), Table.from_scipy(CubicSpline(x, y))
    scale = np.abs(known.coefficients).max(axis=(0, 1))
    assert np.abs((found.coefficients - known.coefficients) / scale).max() < 1e-12


@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize("n", [2, 3, 4, 40])
def test_the_monotone_one(n, rough):
    x, y = points(n, rough)
    y[n // 2 :, 0] = y[n // 2, 0]  # flat from here on
    found, known = Table.pchip(x, y), Table.from_scipy(PchipInterpolator(x, y))
    scale = np.abs(known.coefficients).max(axis=(0, 1)) + 1e-300
    assert np.abs((found.coefficients - known.coefficients) / scale).max() < 1e-13


def test_a_cubic_is_given_back():
    x = np.array([-2.0, -0.3, 0.1, 0.9, 4.0])
    table = Table.cubic(x, 2 - x + 0.5 * x**2 - 0.25 * x**3)
    at = np.linspace(-2.0, 4.0, 29)
    assert np.abs(table(at)[:, 0] - (2 - at + 0.5 * at**2 - 0.25 * at**3)).max() < 1e-13
