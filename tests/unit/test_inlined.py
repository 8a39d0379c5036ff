"""Traced functions give the expressions that the plain ones give, folded as far."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

from sekant.tables.inlined import inlined

SX = ca.SX


@dataclass(frozen=True)
class Pair:
    left: SX
    right: SX | None


def plain(a: SX, pair: Pair, parts: list[SX], *, twice: bool = False) -> tuple[Pair, list[SX]]:
    product = a @ pair.left
    if pair.right is not None:
        product = product + pair.right
    return Pair(2 * product if twice else product, None), [part * product[0] for part in parts]


traced = inlined(plain)


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("with_right", [False, True])
def test_a_traced_function_has_the_values_of_the_plain_one(twice, with_right):
    a, b, c, d = SX.sym("a", 3, 3), SX.sym("b", 3), SX.sym("c", 3), SX.sym("d")
    arguments = (a, Pair(b, c if with_right else None), [d, 3 * d])
    expected, found = plain(*arguments, twice=twice), traced(*arguments, twice=twice)
    assert found[0].right is None
    assert isinstance(found[1], list)
    rng = np.random.default_rng(4)
    numbers = [rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3), 0.7]

    def value(result):
        return ca.Function("f", [a, b, c, d], [ca.vertcat(result[0].left, *result[1])])(*numbers)

    assert np.array_equal(np.array(value(found)), np.array(value(expected)))


def test_constants_are_folded_in_every_call():
    b = SX.sym("b", 3)
    eye = SX(np.eye(3))
    found, _ = traced(eye, Pair(b, SX.zeros(3)), [])
    assert ca.is_equal(found.left, b, 3)
    constant, _ = traced(2 * eye, Pair(SX([1.0, 2.0, 3.0]), None), [])
    assert constant.left.is_constant()
    assert np.array_equal(np.array(ca.DM(constant.left)).ravel(), [2.0, 4.0, 6.0])


def test_arguments_that_are_not_expressions_are_refused():
    with pytest.raises(TypeError, match="float"):
        traced(1.5, Pair(SX.zeros(3), None), [])  # type: ignore[arg-type]
