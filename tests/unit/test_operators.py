"""Operators of expressions that pass by CasADi's overloads give what these give."""

import operator

import casadi as ca
import numpy as np
import pytest

import sekant.tables.operators  # noqa: F401

X, V, M = ca.SX.sym("x"), ca.SX.sym("v", 3), ca.SX.sym("M", 3, 3)
OPERANDS = [X, V, M, ca.SX(3, 3), ca.SX(2.5), 0.0, 1.0, -2.5, float("inf"), 2, True, np.float64(1.5)]
BY_NAME = {"add": ca.plus, "sub": ca.minus, "mul": ca.times, "truediv": ca.rdivide}


@pytest.mark.parametrize("name", BY_NAME)
def test_they_are_those_of_casadi(name):
    """Element by element the same expression, of the same shape and sparsity, to any depth."""
    ours, theirs = getattr(operator, name), BY_NAME[name]
    for a in OPERANDS:
        for b in OPERANDS:
            if not (isinstance(a, ca.SX) or isinstance(b, ca.SX)):
                continue
            found, wanted = ours(a, b), theirs(a, b)
            assert found.sparsity() == wanted.sparsity(), (a, b)
            assert str(found) == str(wanted), (a, b)


def test_other_operands_are_left_to_casadi():
    assert str(V + np.array([1.0, 2.0, 3.0])) == str(ca.plus(V, np.array([1.0, 2.0, 3.0])))
    assert isinstance(X + ca.DM(2), ca.SX)
    with pytest.raises(RuntimeError, match="Dimension mismatch"):
        V + ca.SX.sym("w", 2)
    with pytest.raises((TypeError, NotImplementedError)):
        X + "2"
