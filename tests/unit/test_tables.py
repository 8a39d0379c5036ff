"""Piecewise polynomials of one and two variables: values, derivatives, ends of the range."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BSpline, CubicSpline, RectBivariateSpline, make_interp_spline

from sekant.errors import DataError
from sekant.tables.table import Table, Table2

X = np.array([-0.3, 0.1, 0.25, 0.9, 1.4])
Y = np.array([[2.0, -1.0], [0.5, 3.0], [1.75, 0.2], [-2.5, 0.9], [4.0, -3.3]])
MODES = ["error", "constant", "linear", "polynomial", "periodic"]


def test_linear_hits_points_and_slopes():
    table = Table.linear(X, Y)
    np.testing.assert_allclose(table(X), Y, rtol=1e-15)
    np.testing.assert_allclose(table(0.5, 1), (Y[3] - Y[2]) / 0.65, rtol=1e-14)
    assert table.range == (-0.3, 1.4)


@pytest.mark.parametrize("make", [Table.cubic, Table.pchip, Table.linear])
@given(x=st.floats(-0.29, 1.39), order=st.integers(1, 3))
@settings(max_examples=25)
def test_derivatives_match_differences(make, x, order):
    table = make(X, Y)
    h = 1e-6
    if np.min(np.abs(X - x)) < 2 * h:
        return
    difference = (table(x + h, order - 1) - table(x - h, order - 1)) / (2 * h)
    np.testing.assert_allclose(table(x, order), difference, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("mode", MODES)
def test_one_number_as_many(mode):
    """On all pieces, at and beyond the ends, in all derivatives, of what is not a number too."""
    table, other = Table.cubic(X, Y, extrapolation=mode), Table.linear(X, Y, extrapolation=mode)
    grid = Table2.cubic(X, X - 0.2, np.outer(Y[:, 0], Y[:, 1]), extrapolation=mode)
    points = np.array([*X, *(X + 0.03), -0.3 - 1e-12, 1.4 + 1e-12, -0.8, 2.3, 7.1, np.nan])
    for order in range(6):
        for x in points:
            for one in (table, other):
                np.testing.assert_allclose(one.at(float(x), order), one(x, order), rtol=1e-12, atol=1e-11)
            orders = (order // 2, order - order // 2)
            found, wanted = grid.at(float(x), 0.35, orders), grid(x, 0.35, orders)
            np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-10)


def test_cubic_is_scipys():
    spline = CubicSpline(X, Y)
    x = np.linspace(-0.3, 1.4, 37)
    for order in range(5):
        np.testing.assert_allclose(Table.cubic(X, Y)(x, order), spline(x, order), rtol=1e-12, atol=1e-9)


def test_bspline_of_any_degree():
    spline = make_interp_spline(np.linspace(0, 2, 9), np.cos(np.arange(9.0)), k=5)
    assert isinstance(spline, BSpline)
    x = np.linspace(0, 2, 41)
    table = Table.from_scipy(spline)
    for order in range(4):
        np.testing.assert_allclose(table(x, order)[:, 0], spline(x, order), rtol=1e-9, atol=1e-7)


def test_bspline_with_several_components():
    """Each component as if alone, also where a knot is repeated."""
    knots = np.array([0, 0, 0, 0, 0.4, 0.9, 0.9, 1.3, 2, 2, 2, 2.0])
    weights = np.random.default_rng(6).normal(size=(8, 3))
    table = Table.from_scipy(BSpline(knots, weights, 3))
    x = np.linspace(0.01, 1.99, 45)
    assert table.components == 3
    assert np.array_equal(table.breaks, [0, 0.4, 0.9, 1.3, 2])
    for order in range(3):
        for i in range(3):
            alone = BSpline(knots, weights[:, i], 3)
            np.testing.assert_allclose(table(x, order)[:, i], alone(x, order), rtol=1e-11, atol=1e-11)


def test_hermite_takes_given_derivatives():
    x = np.array([0.0, 0.4, 1.1])
    data = [np.sin(3 * x), 3 * np.cos(3 * x), -9 * np.sin(3 * x)]
    table = Table.hermite(x, *data)
    for order, values in enumerate(data):
        np.testing.assert_allclose(table(x, order)[:, 0], values, atol=1e-12)
    assert table.powers == 6


@pytest.mark.parametrize(
    ("mode", "below", "above"),
    [
        ("constant", [0.0, 0.0], [0.0, 0.0]),
        ("linear", None, None),
    ],
)
def test_constant_and_linear_ends(mode, below, above):
    table = Table.cubic(X, Y, extrapolation=mode)
    inner = Table.cubic(X, Y)
    d0, d1 = inner(X[0], 1), inner(X[-1], 1)
    slope0, slope1 = (d0, d1) if below is None else (np.array(below), np.array(above))
    np.testing.assert_allclose(table(X[0] - 0.7), Y[0] - 0.7 * slope0, rtol=1e-12)
    np.testing.assert_allclose(table(X[-1] + 0.6), Y[-1] + 0.6 * slope1, rtol=1e-12)
    np.testing.assert_allclose(table(X[-1] + 0.6, 1), slope1, rtol=1e-12)
    np.testing.assert_array_equal(table(X[-1] + 0.6, 2), 0.0)


def test_error_gives_nan_outside_but_not_for_round_off():
    table = Table.cubic(X, Y, name="damper")
    for order in (0, 1, 2, 3, 4, 7):
        assert np.all(np.isnan(table([-0.31, 1.41], order)))
        assert np.all(np.isfinite(table([-0.3, 1.4, np.nextafter(1.4, 2), np.nextafter(-0.3, -1)], order)))
    assert "table 'damper': 1.41 is outside its range [-0.3, 1.4]" in str(table.range_error(1.41))


def test_polynomial_end_continues():
    table = Table.cubic(X, Y, extrapolation="polynomial")
    spline = CubicSpline(X, Y)
    np.testing.assert_allclose(table([-2.0, 3.0]), spline([-2.0, 3.0]), rtol=1e-12)


def test_periodic_repeats_with_increment():
    table = Table.linear(X, Y, extrapolation="periodic", increment=Y[-1] - Y[0])
    x = np.linspace(-0.2, 1.3, 7)
    for laps in (-3, -1, 2):
        shifted = table(x + laps * 1.7)
        np.testing.assert_allclose(shifted, table(x) + laps * (Y[-1] - Y[0]), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(table(x + laps * 1.7, 1), table(x, 1), rtol=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_nan_argument_gives_nan(mode):
    table = Table(np.array([0.0, 1.0, 3.0]), np.array([[[2.0]], [[5.0]]]), mode)
    for order in (0, 1):
        assert np.isnan(table(np.nan, order)).all()


@pytest.mark.parametrize("mode", MODES)
def test_antiderivative(mode):
    table = Table.cubic(X, Y, extrapolation=mode)
    integral = table.antiderivative(0.2)
    np.testing.assert_allclose(integral(0.2), 0.0, atol=1e-14)
    x = np.linspace(-0.3, 1.4, 23) if mode == "error" else np.linspace(-3.1, 4.2, 61)
    np.testing.assert_allclose(integral(x, 1), table(x), rtol=1e-10, atol=1e-10)
    assert integral.kinks.size == 0 or mode == "periodic"
    np.testing.assert_allclose(integral.derivative()(x), table(x), rtol=1e-10, atol=1e-10)


def test_antiderivative_of_growing_table_is_refused():
    with pytest.raises(DataError, match="grows"):
        Table.linear(X, Y, extrapolation="periodic", increment=[1.0, 2.0]).antiderivative()


def test_derivative_table_keeps_ends():
    table = Table.cubic(X, Y, extrapolation="linear")
    x = np.linspace(-2.0, 3.0, 41)
    for order in (1, 2, 3, 4):
        np.testing.assert_allclose(table.derivative(order)(x), table(x, order), rtol=1e-12, atol=1e-12)


def test_kinks():
    np.testing.assert_array_equal(Table.linear(X, Y).kinks, X[1:-1])
    assert Table.cubic(X, Y).kinks.size == 0
    np.testing.assert_array_equal(Table.cubic(X, Y, extrapolation="constant").kinks, X[[0, -1]])
    assert Table.cubic(X, Y, extrapolation="linear").kinks.size == 0
    straight = Table.linear([0.0, 1.0, 2.0, 5.0], [1.0, 3.0, 5.0, -1.0], extrapolation="linear")
    np.testing.assert_array_equal(straight.kinks, [2.0])
    angle = np.linspace(0, 2 * np.pi, 33)
    wave = Table.cubic(angle, np.sin(angle) * (angle < 7) - 0.0, ends="natural", extrapolation="periodic")
    assert wave.kinks.size == 0


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ([0.0, 1.0, 1.0], [1.0, 2.0, 3.0], "must increase"),
        ([0.0], [1.0], "at least two"),
        ([0.0, 1.0], [1.0, 2.0, 3.0], r"one value per point \(got 2 points and values"),
        ([0.0, 1.0], [1.0, np.inf], "contain inf"),
        ([0.0, np.nan], [1.0, 2.0], "contain nan"),
    ],
)
def test_bad_data(x, y, words):
    with pytest.raises(DataError, match=words):
        Table.linear(x, y, name="spring")


def test_unknown_extrapolation():
    with pytest.raises(DataError, match="did you mean 'constant'"):
        Table.linear(X, Y, extrapolation="constnt")


X1, X2 = np.array([-1.0, 0.2, 0.9, 2.0, 2.6]), np.array([0.0, 0.4, 1.5, 2.5])
GRID = np.stack([np.sin(X1)[:, None] * X2, X1[:, None] ** 2 - np.cos(X2)], axis=2)


def test_bicubic_is_scipys():
    table = Table2.cubic(X1, X2, GRID)
    x1, x2 = np.linspace(-1, 2.6, 13), np.linspace(0, 2.5, 13)
    for j in range(2):
        spline = RectBivariateSpline(X1, X2, GRID[:, :, j], s=0)
        for order in [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1)]:
            expected = spline.ev(x1, x2, *order)
            np.testing.assert_allclose(table(x1, x2, order)[:, j], expected, rtol=1e-9, atol=1e-9)
    assert [k.size for k in table.kinks] == [0, 0]


def test_bilinear():
    table = Table2.linear(X1, X2, GRID, extrapolation=("constant", "linear"), name="map")
    np.testing.assert_allclose(table(*np.meshgrid(X1, X2, indexing="ij")), GRID, atol=1e-14)
    np.testing.assert_allclose(table(5.0, 1.1), table(2.6, 1.1), rtol=1e-13)
    slope = table(0.5, 2.5, (0, 1))
    np.testing.assert_allclose(table(0.5, 3.5), table(0.5, 2.5) + slope, rtol=1e-13)
    np.testing.assert_array_equal(table.kinks[0], X1[1:-1])
    np.testing.assert_array_equal(table.kinks[1], X2[1:-1])
    mixed = Table2.linear(X1, X2, GRID, extrapolation=("error", "periodic"))
    assert np.isnan(mixed(3.0, 0.2, (1, 0))).all()
    np.testing.assert_allclose(mixed(0.3, 0.2 + 5.0), mixed(0.3, 0.2), rtol=1e-12)


def test_bad_grids():
    with pytest.raises(DataError, match=r"grid \(got 5 x 4 points"):
        Table2.linear(X1, X2, GRID[:-1])
    with pytest.raises(DataError, match="explicit"):
        Table2.linear(X1, X2, GRID, extrapolation="explicit")
