"""Lookups: exact derivatives of every order through nested tables, against differences of the oracle."""

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sekant.errors import DataError
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table, Table2

KNOTS = np.array([-4.0, -1.3, -0.2, 0.5, 1.1, 2.7, 4.5])
SMOOTH = Table.hermite(
    KNOTS,
    np.stack([np.sin(KNOTS), 0.3 * KNOTS**2], axis=1),
    np.stack([np.cos(KNOTS), 0.6 * KNOTS], axis=1),
    np.stack([-np.sin(KNOTS), 0.6 + 0 * KNOTS], axis=1),
    extrapolation="linear",
    name="smooth",
)
GRID1, GRID2 = np.array([-3.0, -0.4, 0.7, 1.9, 3.5]), np.array([-2.5, -0.9, 0.1, 1.6, 3.0])
MAP = Table2.cubic(
    GRID1,
    GRID2,
    np.stack([np.sin(GRID1)[:, None] * GRID2, np.cos(GRID1[:, None] - 0.5 * GRID2)], axis=2),
    extrapolation="linear",
    name="map",
)
state = st.tuples(*[st.floats(-0.9, 0.9)] * 3)


def nested():
    lk, x = Lookups(), ca.SX.sym("x", 3)
    y = lk(SMOOTH, x[0] * x[1] + 0.1)
    z = lk(MAP, y[0] - x[2], y[1] * x[0])
    u = lk(SMOOTH, z[1] + 0.4 * x[1])
    return lk, x, ca.vertcat(u[0] * z[0], ca.sin(u[1]) + x[2] ** 2, y[1])


def differences(function, x, h=1e-6):
    columns = [(function(x + h * e) - function(x - h * e)) / (2 * h) for e in np.eye(x.size)]
    return np.stack(columns, axis=-1)


def numeric(lk, x, expr):
    f = lk.oracle("f", [x], [expr])
    return lambda value: np.asarray(f(value)).ravel(order="F")


@given(value=state)
@settings(max_examples=15)
def test_first_derivative(value):
    lk, x, expr = nested()
    exact = numeric(lk, x, lk.jacobian(expr, x))(np.array(value)).reshape(3, 3, order="F")
    np.testing.assert_allclose(exact, differences(numeric(lk, x, expr), np.array(value)), atol=2e-7)


@pytest.mark.parametrize("order", [2, 3])
def test_higher_derivatives(order):
    lk, x, expr = nested()
    below = expr
    for _ in range(order - 1):
        below = ca.vec(lk.jacobian(below, x))
    exact = lk.jacobian(below, x)
    value = np.array([0.31, -0.57, 0.83])
    found = numeric(lk, x, exact)(value).reshape(-1, 3, order="F")
    expected = differences(numeric(lk, x, below), value)
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


def test_direction_and_gradient_agree_with_jacobian():
    lk, x, expr = nested()
    v = np.array([0.7, -1.1, 0.4])
    value = np.array([0.2, 0.6, -0.5])
    jacobian = numeric(lk, x, lk.jacobian(expr, x))(value).reshape(3, 3, order="F")
    np.testing.assert_allclose(numeric(lk, x, lk.jtimes(expr, x, ca.DM(v)))(value), jacobian @ v, rtol=1e-13)
    np.testing.assert_allclose(numeric(lk, x, lk.gradient(expr[1], x))(value), jacobian[1], rtol=1e-13)


def test_oracle_has_first_derivatives():
    lk, x, expr = nested()
    value = np.array([0.2, 0.6, -0.5])
    found = lk.oracle("f", [x], [expr]).jacobian()(value, ca.DM(3, 1))
    exact = numeric(lk, x, lk.jacobian(expr, x))(value).reshape(3, 3, order="F")
    np.testing.assert_allclose(np.asarray(found), exact, rtol=1e-12)


def test_derivative_without_lookups_is_casadis():
    lk, x = Lookups(), ca.SX.sym("x", 2)
    expr = ca.vertcat(x[0] * x[1], ca.sin(x[1]))
    np.testing.assert_array_equal(
        np.asarray(ca.DM(ca.evalf(ca.substitute(lk.jacobian(expr, x), x, ca.DM([0.3, 0.9]))))),
        [[0.9, 0.3], [0.0, np.cos(0.9)]],
    )
    assert lk.nodes == ()


def test_equal_uses_share_symbols():
    lk, x = Lookups(), ca.SX.sym("x", 2)
    first = lk(SMOOTH, x[0] * x[1] + 1)
    again = lk(SMOOTH, x[0] * x[1] + 1)
    other = lk(SMOOTH, x[0] * x[1] + 2)
    assert ca.is_equal(first, again)
    assert not ca.is_equal(first, other)
    assert len(lk.nodes) == 2
    assert lk.tables == (SMOOTH,)
    lk.jacobian(first, x)
    lk.jacobian(first[0] * other[1], x)
    assert [n.order for n in lk.nodes] == [(0,), (0,), (1,), (1,)]


def test_nodes_are_ordered_and_levelled():
    lk, x, expr = nested()
    lk.jacobian(expr, x)
    seen = set()
    for node in lk.nodes:
        inner = lk.direct(ca.vertcat(*node.arguments))
        assert {id(n) for n in inner} <= seen
        assert node.level == 1 + max((n.level for n in inner), default=0)
        seen.add(id(node))
    assert max(n.level for n in lk.nodes) == 3


def test_wrong_arguments():
    lk, x = Lookups(), ca.SX.sym("x", 2)
    with pytest.raises(DataError, match="takes 2 argument"):
        lk(MAP, x[0])
    with pytest.raises(DataError, match="takes 2 argument"):
        lk(MAP, x[0], x[1], order=1)
    with pytest.raises(DataError, match="scalars"):
        lk(SMOOTH, x)


def test_range_error_names_the_table_and_the_value():
    spring = Table.linear([-0.1, 0.02, 0.3], [4.0, -1.0, 7.5], name="spring")
    lk, x = Lookups(), ca.SX.sym("x", 2)
    inner = lk(SMOOTH, x[0])
    lk(spring, inner[1] - x[1])
    assert lk.range_error([x], [np.array([1.1, 0.3])]) is None
    error = lk.range_error([x], [np.array([1.1, -0.7])])
    assert "table 'spring'" in str(error)
    assert "[-0.1, 0.3]" in str(error)
    assert f"{0.3 * 1.1**2 + 0.7:.6g}" in str(error)
