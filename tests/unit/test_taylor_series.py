"""Taylor coefficients of every operation against repeated differentiation by CasADi."""

from __future__ import annotations

from math import factorial

import casadi as ca
import numpy as np
import pytest

from sekant.engine.codegen.parallel import compile_text
from sekant.engine.functions.taylor_tape import taylor_tape
from sekant.errors import SekantError, SolverError
from sekant.solvers.taylor import TaylorProblem, TaylorRun
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table, Table2

ORDER = 9
t = ca.SX.sym("t")
x = 0.31 + 0.7 * t - 0.23 * t**2 + 0.11 * t**3
y = 1.4 - 0.5 * t + 0.37 * t**2


def coefficients(f: ca.SX, lookups: Lookups | None = None) -> np.ndarray:
    """(ORDER,): of f(t) at t = 0, from the series of v with v' = f: by the interpreter and by native code."""
    v, a = ca.SX.sym("v"), ca.SX.sym("a")
    tape = taylor_tape(v=v, a=a, t=t, residual=a - f, lookups=lookups)
    found = []
    for compiler in (None, compile_text):
        run = TaylorRun(
            TaylorProblem(tape, compiler=compiler), [0.0, 1e-3], [], [0.0], rtol=1e-6, order=ORDER
        )
        run.advance(1)
        _, _, V = run.series
        found.append(V[0, 1:] * np.arange(1, ORDER + 1))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12, atol=1e-13)
    return found[1]


def derivatives(f: ca.SX) -> np.ndarray:
    found = []
    for k in range(ORDER):
        found.append(float(ca.Function("f", [t], [f])(0.0)) / factorial(k))
        f = ca.jacobian(f, t)
    return np.array(found)


SMOOTH = {
    "add": x + y,
    "sub": x - y,
    "constants": 3.0 - x * 0.4 + (y - 2.0) / 0.3 + 0.7,
    "neg": -ca.sin(-x),
    "mul": x * y,
    "sq": ca.sin(x) ** 2,
    "twice": x + x,
    "div": x / y,
    "held over moving": 1.7 / y,
    "inv": 1.0 / y,
    "sqrt": ca.sqrt(y),
    "exp": ca.exp(x),
    "log": ca.log(y),
    "sin": ca.sin(x),
    "cos": ca.cos(x),
    "tan": ca.tan(x),
    "asin": ca.asin(x),
    "acos": ca.acos(x),
    "atan": ca.atan(x),
    "sinh": ca.sinh(x),
    "cosh": ca.cosh(x),
    "tanh": ca.tanh(x),
    "asinh": ca.asinh(x),
    "acosh": ca.acosh(y),
    "atanh": ca.atanh(x),
    "log1p": ca.log1p(x),
    "expm1": ca.expm1(x),
    "erf": ca.erf(x),
    "atan2": ca.atan2(x, y),
    "atan2 left": ca.atan2(x, -y),
    "hypot": ca.hypot(x, y),
    "constant power": y**2.6,
    "negative power": y ** (-1.5),
    "integer power": x**5,
    "negative integer power": y ** (-3),
    "general power": y**x,
    "nested": ca.exp(ca.sin(x * y) / (1.0 + ca.cos(y) ** 2)) * ca.sqrt(x + y),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_coefficients_of_operation(name: str) -> None:
    expected = derivatives(SMOOTH[name])
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(coefficients(SMOOTH[name]), expected, rtol=1e-11, atol=1e-13)


SWITCHED = {
    "fabs": (ca.fabs(x - 2.0), 2.0 - x),
    "sign": (ca.sign(-y) * x, -x),
    "fmin": (ca.fmin(x, y), x),
    "fmax": (ca.fmax(x, y), y),
    "lt": ((x < y) * y, y),
    "le": ((y <= x) * y + x, x),
    "if_else": (ca.if_else(x > y, ca.log(x - y), ca.sin(x)), ca.sin(x)),
    "and": (ca.logic_and(x < y, y < 2) * x, x),
    "or": (ca.logic_or(x > y, y > 2) * x + y, y),
    "not": (ca.logic_not(x > y) * x, x),
    "floor": (ca.floor(10 * x) + x, 3.0 + x),
    "ceil": (ca.ceil(10 * x) + x, 4.0 + x),
    "fmod": (ca.fmod(7 * x, 0.9), 7 * x - 1.8),
    "copysign": (ca.copysign(x, -y), -x),
    "nested": (ca.if_else(x > 0, ca.fabs(ca.fmin(x, 0.2) - y), 5.0), y - 0.2),
}


@pytest.mark.parametrize("name", SWITCHED)
def test_coefficients_of_switched_operation(name: str) -> None:
    expression, smooth = SWITCHED[name]
    np.testing.assert_allclose(coefficients(expression), derivatives(smooth), rtol=1e-11, atol=1e-13)


def test_power_of_a_base_that_is_zero() -> None:
    z = x - 0.31
    np.testing.assert_allclose(coefficients(z**3), derivatives(z**3), atol=1e-13)


@pytest.mark.parametrize("extrapolation", ["error", "periodic", "linear"])
def test_table_follows_its_piece(extrapolation: str) -> None:
    points = np.linspace(-1.0, 2.0, 7)
    values = np.stack([np.sin(2 * points), points**2 + 0.1], axis=1)
    increment = {"increment": np.array([0.4, -0.3])} if extrapolation == "periodic" else {}
    table = Table.cubic(points, values, extrapolation=extrapolation, **increment)
    argument = x + (6.0 if extrapolation == "periodic" else 4.0 if extrapolation == "linear" else 0.0)
    start = float(ca.Function("x", [t], [argument])(0.0))
    for order in (0, 1):
        for component in (0, 1):
            lookups = Lookups()
            found = coefficients(lookups(table, argument, order=order)[component], lookups)
            u = argument - start
            exact = sum(
                float(table(start, order + k)[component]) / factorial(k) * u**k
                for k in range(table.powers + 1)
            )
            np.testing.assert_allclose(found, derivatives(ca.SX(exact)), rtol=1e-10, atol=1e-12)


def test_table_of_two_variables() -> None:
    g1, g2 = np.linspace(0, 1, 5), np.linspace(1, 2, 4)
    table = Table2.cubic(g1, g2, np.sin(g1[:, None]) * np.exp(0.3 * g2[None, :]))
    lookups = Lookups()
    found = coefficients(lookups(table, x, y)[0], lookups)
    exact = ca.SX(0)
    for i in range(4):
        for j in range(4):
            value = float(table(0.31, 1.4, (i, j))[0])
            exact += value / factorial(i) / factorial(j) * (x - 0.31) ** i * (y - 1.4) ** j
    np.testing.assert_allclose(found, derivatives(exact), rtol=1e-10, atol=1e-12)


def test_operation_without_series_is_named() -> None:
    with pytest.raises(SolverError, match="erfinv"):
        coefficients(ca.erfinv(x))


def test_position_constraints_must_not_depend_on_velocities() -> None:
    q, v, a = ca.SX.sym("q"), ca.SX.sym("v"), ca.SX.sym("a")
    with pytest.raises(SekantError, match="position constraints must not depend on v"):
        taylor_tape(q=q, v=v, a=a, residual=a, positions=q - v)
    with pytest.raises(SekantError, match="must be zero when the velocities are zero"):
        taylor_tape(q=q, v=v, a=a, residual=a, rates=v + 0.1)
    with pytest.raises(SekantError, match="rates N v must not depend on v"):
        taylor_tape(q=q, v=v, a=a, residual=a, rates=v**2)
    with pytest.raises(SekantError, match="the same number"):
        taylor_tape(q=q, v=v, a=a, residual=ca.vertcat(a, a))
