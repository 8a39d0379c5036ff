"""Matrices of derivatives by directions in lanes agree with those in symbols, which CasADi interprets."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from test_dae_functions import rolling_body

import sekant as sk
from chains import chain
from sekant.analyses.simulation.problems import dae_problem
from sekant.engine.codegen import build as building
from sekant.engine.codegen.build import build
from sekant.engine.codegen.tangents import Tangent, columns_together
from sekant.engine.functions import directions
from sekant.engine.functions.dae import build_dae
from sekant.solvers.common.sites import NUMBERS
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table

SX = ca.SX
CLOSE = {"rtol": 1e-12, "atol": 1e-12}  # both are exact but for rounding


def banded(n: int, lookups: Lookups) -> tuple[list[SX], SX, SX]:
    """Inputs x (n,) and p, and n functions of three neighbors each, with tables, switches and numbers."""
    x, p = SX.sym("x", n), SX.sym("p", 2)
    table = Table.pchip([-9.0, -0.4, 0.3, 9.0], [-3.0, -0.5, 0.1, 4.0], name="table")
    rows = []
    for i in range(n):
        a, b, c = x[i], x[(i + 1) % n], x[(i + 2) % n]
        bend = ca.if_else(a > b, a * c**3, ca.sin(b)) + ca.fabs(b - 0.1 * i) * (1.37 + i)
        rows.append(bend + lookups(table, a * b) * p[1] + ca.fmin(a, c) ** 2 + 0.3 * i)
    return [x, p], ca.vertcat(*rows), x


def by_direction(n: int, lookups: Lookups, pattern: ca.Sparsity, y: SX, x: SX) -> Tangent:
    color, count = columns_together(pattern)
    seeds = SX.sym("seeds", n)
    directions_of = SX(n, count)
    for j, c in enumerate(color):
        directions_of[j, c] = 1
    places = [(0, k, i, color[j]) for k, (i, j) in enumerate(zip(*pattern.get_triplet(), strict=True))]
    return Tangent(seeds, lookups.jtimes(y, x, seeds), directions_of, np.array(places))


@pytest.mark.parametrize("lanes", [4, 8])
@pytest.mark.parametrize("chunk", [11, 500])
def test_entries_are_those_of_the_matrix_in_symbols(lanes, chunk, monkeypatch):
    monkeypatch.setattr(building, "tangent_lanes", lambda: lanes)
    lookups = Lookups()
    inputs, y, x = banded(13, lookups)
    J = lookups.jacobian(y, x)
    zero, other = SX.zeros(J.nnz()), ca.sumsqr(y)
    tangent = by_direction(13, lookups, J.sparsity(), y, x)
    assert tangent.directions.shape[1] <= 5
    found = build("tangents", inputs, [zero, other], lookups, cache=False, chunk=chunk, tangents=[tangent])
    expected = build("symbols", inputs, [J.nz[:], other], lookups, engine="casadi")
    rng = np.random.default_rng(lanes)
    for _ in range(20):
        values = rng.normal(size=13), rng.normal(size=2)
        for a, b in zip(found(*values), expected(*values), strict=True):
            np.testing.assert_allclose(a, b, **CLOSE)


def test_more_directions_than_lanes_of_several_tangents():
    """Full matrices: every column is a direction of its own, and the directions are expressions."""
    lookups = Lookups()
    q, v = SX.sym("q", 11), SX.sym("v", 3)
    y = ca.vertcat(ca.sin(ca.sum1(q)) * v[0], ca.dot(q, q) * v[1] * v[2], ca.exp(0.1 * q[3] * ca.sum1(v)))
    N = ca.diag(1 + q**2)
    wanted = [lookups.jacobian(y, q) @ N, lookups.jacobian(y, v)]

    def full(k: int, wrt: SX, along: SX) -> Tangent:
        seeds = SX.sym(f"seeds{k}", wrt.numel())
        n = along.shape[1]
        places = [(k, j * 3 + i, i, j) for i in range(3) for j in range(n)]
        return Tangent(seeds, lookups.jtimes(y, wrt, seeds), along, np.array(places))

    zeros = [SX.zeros(m.numel()) for m in wanted]
    tangents = [full(0, q, N), full(1, v, SX.eye(3))]
    found = build("tangents", [q, v], zeros, lookups, cache=False, tangents=tangents)
    expected = build("symbols", [q, v], [ca.vec(ca.densify(m)) for m in wanted], lookups, engine="casadi")
    rng = np.random.default_rng(3)
    values = rng.normal(size=11), rng.normal(size=3)
    for a, b in zip(found(*values), expected(*values), strict=True):
        np.testing.assert_allclose(a, b, **CLOSE)


def test_modes_are_held_in_all_directions():
    lookups = Lookups()
    x = SX.sym("x", 2)
    y = ca.if_else(x[0] > 0, x[1] ** 2, 3 * x[1]) + ca.fabs(x[1]) * x[0]
    tangent = by_direction(2, lookups, ca.Sparsity.dense(1, 2), y, x)
    f = build("held", [x], [SX.zeros(2)], lookups, cache=False, tangents=[tangent])
    point = np.array([0.2, 0.7])
    np.testing.assert_allclose(f(point)[0], [0.7, 2 * 0.7 + 0.2])
    modes = np.zeros(NUMBERS * len(f.sites))
    modes.view(np.int64)[::NUMBERS] = 1
    modes[1::NUMBERS] = -1.0
    held = f(point, modes=modes)[0]
    g = build("symbols", [x], [lookups.jacobian(y, x).T], lookups, cache=False)
    assert {s.key for s in f.sites} == {s.key for s in g.sites}
    np.testing.assert_allclose(held, g(point, modes=modes)[0], **CLOSE)
    assert held != pytest.approx(f(point)[0])


def test_newton_matrix_of_a_rolling_body_by_directions(monkeypatch):
    """Curved coordinates, a position row, a velocity row, a table: as CasADi finds it in symbols."""
    expected = build_dae("rolling", rolling_body(Lookups()), engine="casadi")
    monkeypatch.setattr(directions, "pays", lambda *counts: True)
    found = build_dae("rolling", rolling_body(Lookups()), cache=False)
    rng = np.random.default_rng(4)
    for _ in range(10):
        point = [rng.normal(size=n) * 0.4 for n in (1, 6, 5, 5, 2, 1)]
        for a, b in zip(found.jacobian(*point), expected.jacobian(*point), strict=True):
            np.testing.assert_allclose(a, b, **CLOSE)


@pytest.fixture(scope="module")
def chain_functions():
    system = sk.compile(chain(8))
    return dae_problem(system, None).functions, dae_problem(system, None, engine="casadi").functions


def test_newton_matrix_of_a_chain_is_small_and_right(chain_functions):
    """In symbols it has some 20,900 operations."""
    found, expected = chain_functions
    n = found.nv
    rng = np.random.default_rng(6)
    for _ in range(5):
        point = [rng.normal(size=k) for k in (1, n, n, n, 0)]
        point.append(np.zeros(found.jacobian.sizes_in[5]))
        for a, b in zip(found.jacobian(*point), expected.jacobian(*point), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-11)
    assert found.jacobian.stats.operations < 11_000
