"""Quintic splines through points, against SciPy's."""

import numpy as np
import pytest
from scipy.interpolate import BSpline, make_interp_spline

from sekant.geometry.fit.bsplines import clamped_knots
from sekant.geometry.fit.spline_grids import DEGREE, basis, interpolant, spline_pieces
from sekant.tables.splines import bspline_pieces


@pytest.mark.parametrize("n", [6, 7, 9, 30])
def test_interpolants(n):
    rng = np.random.default_rng(n)
    x = np.sort(rng.uniform(-2.0, 3.0, n)) + 0.2 * np.arange(n)
    y = np.column_stack([np.sin(x), rng.normal(size=n), np.ones(n)])
    t, c = interpolant(x, y)
    expected = make_interp_spline(x, y, DEGREE)
    np.testing.assert_allclose(t, expected.t)
    np.testing.assert_allclose(c, expected.c, atol=1e-11 * np.abs(expected.c).max())
    breaks, pieces = spline_pieces(t, c)
    other, terms = bspline_pieces(expected)
    np.testing.assert_allclose(breaks, other)
    scale = np.abs(terms).max(axis=(0, 1))
    np.testing.assert_allclose(pieces / scale, terms / scale, atol=1e-10)


def test_splines_with_knots_of_their_own():
    t = clamped_knots(-1.0, 2.0, np.array([-0.3, 0.4, 0.4, 1.1]))
    c = np.random.default_rng(2).normal(size=(len(t) - DEGREE - 1, 2))
    x = np.linspace(-1.0, 2.0, 41)
    np.testing.assert_allclose(basis(t, x, DEGREE) @ c, BSpline(t, c, DEGREE)(x), atol=1e-13)
    breaks, pieces = spline_pieces(t, c)
    other, terms = bspline_pieces(BSpline(t, c, DEGREE))
    np.testing.assert_allclose(breaks, other)
    np.testing.assert_allclose(pieces, terms, rtol=1e-11, atol=1e-11 * np.abs(terms).max())


def test_a_polynomial_is_found_exactly():
    x = np.linspace(0.0, 1.0, 11) ** 1.3
    p = np.polynomial.Polynomial([1.0, -2.0, 0.5, 3.0, -1.0, 0.7])
    _, pieces = spline_pieces(*interpolant(x, p(x)[:, None]))
    np.testing.assert_allclose(pieces[0, 0], p.coef, atol=1e-10)
