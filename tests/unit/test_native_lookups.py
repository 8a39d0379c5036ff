"""Native table search and evaluation against the numeric tables, at every order and in every mode."""

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sekant.engine.codegen.build import build
from sekant.engine.codegen.packing import pack_tables, search_bound
from sekant.engine.codegen.tape import core_function, lookup_groups, make_tape
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table, Table2

MODES = ["error", "constant", "linear", "polynomial", "periodic"]
rng = np.random.default_rng(20)


def random_table(pieces, components, powers, mode, breaks=None):
    if breaks is None:
        breaks = np.cumsum(rng.uniform(0.05, 1.0, pieces + 1)) - 1.7
    c = rng.normal(size=(pieces, components, powers))
    increment = rng.normal(size=components) if mode == "periodic" else None
    return Table(breaks, c, mode, increment=increment)


def compiled(table, orders):
    lk, x = Lookups(), ca.SX.sym("x")
    return build("table", [x], [lk(table, x, order=o) for o in orders], lk, cache=False)


def around(breaks):
    a, b = breaks[0], breaks[-1]
    inside = np.concatenate([breaks, np.nextafter(breaks, -np.inf), np.nextafter(breaks, np.inf)])
    outside = np.concatenate([a - np.array([1e-3, 0.7, 40.0]), b + np.array([1e-3, 0.7, 40.0])])
    return np.concatenate([inside, outside, rng.uniform(a, b, 40)])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("components", "powers"), [(1, 1), (1, 4), (2, 2), (3, 4), (6, 6), (7, 3)])
def test_all_orders_and_modes(mode, components, powers):
    table = random_table(9, components, powers, mode)
    orders = range(table.powers + 2)
    x = around(table.breaks)
    found = compiled(table, orders).map(x)
    for order, values in zip(orders, found, strict=True):
        expected = table(x, order)
        scale = np.nanmax(np.abs(expected)) + 1.0
        np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12 * scale, err_msg=f"order {order}")


@pytest.mark.parametrize("mode", MODES)
def test_not_a_number_and_infinity(mode):
    table = random_table(5, 2, 3, mode)
    for values in compiled(table, [0, 1, 2, 3]).map([np.nan, np.inf, -np.inf]):
        assert np.isnan(values[0]).all()
        assert not np.isfinite(values).any() or mode != "error"


@pytest.mark.parametrize("modes", [("error", "linear"), ("constant", "periodic"), ("polynomial", "constant")])
@pytest.mark.parametrize("components", [1, 3])
def test_two_variables(modes, components):
    b1, b2 = np.cumsum(rng.uniform(0.1, 1, 6)), np.cumsum(rng.uniform(0.1, 1, 5)) - 2
    table = Table2(b1, b2, rng.normal(size=(5, 4, components, 3, 4)), modes)
    lk, x = Lookups(), ca.SX.sym("x", 2)
    orders = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 3), (3, 0), (0, 4)]
    f = build("map", [x], [lk(table, x[0], x[1], order=o) for o in orders], lk, cache=False)
    x1, x2 = (v.ravel() for v in np.meshgrid(around(b1), around(b2)))
    for order, values in zip(orders, f.map(np.stack([x1, x2], axis=1)), strict=True):
        expected = table(x1, x2, order)
        scale = np.nanmax(np.abs(expected)) + 1.0
        np.testing.assert_allclose(values, expected, rtol=1e-11, atol=1e-11 * scale, err_msg=str(order))


def test_table_of_100_000_pieces_costs_the_code_of_a_small_one():
    tables = [random_table(n, 3, 4, "linear") for n in (10, 100_000)]
    functions = [compiled(t, [0, 1]) for t in tables]
    assert functions[0].stats.operations == functions[1].stats.operations
    assert search_bound(tables[1].breaks) <= 4
    big = tables[1]
    x = np.concatenate([rng.uniform(big.breaks[0] - 1, big.breaks[-1] + 1, 2000), big.breaks[::97]])
    for order, values in enumerate(functions[1].map(x)):
        np.testing.assert_allclose(values, big(x, order), rtol=1e-9, atol=1e-9)


def test_code_serves_any_table_of_the_same_shape():
    first, second = random_table(4, 2, 3, "constant"), random_table(57, 2, 3, "linear")
    f = compiled(first, [0, 1])
    x = around(second.breaks)
    for order, values in enumerate(f.map(x, tables=pack_tables([second]))):
        np.testing.assert_allclose(values, second(x, order), rtol=1e-12, atol=1e-10)


@given(
    steps=st.lists(st.floats(1e-12, 1e6), min_size=1, max_size=60),
    start=st.floats(-1e3, 1e3),
    fractions=st.lists(st.floats(-0.2, 1.2), min_size=1, max_size=20),
)
@settings(max_examples=60)
def test_search_is_exact_for_crowded_breaks(steps, start, fractions, index_function):
    breaks = np.unique(start + np.concatenate([[0.0], np.cumsum(steps)]))
    if breaks.size < 2:
        return
    number = np.arange(breaks.size - 1.0).reshape(-1, 1, 1)
    table = Table(breaks, number, "constant")
    x = np.concatenate([breaks, breaks[0] + np.array(fractions) * (breaks[-1] - breaks[0])])
    (found,) = index_function.map(x, tables=pack_tables([table]))
    np.testing.assert_array_equal(found, table(x))
    assert search_bound(breaks) <= np.log2(breaks.size) + 1


@pytest.fixture(scope="module")
def index_function():
    return compiled(Table(np.array([0.0, 1.0]), np.zeros((1, 1, 1)), "constant"), [0])


@pytest.mark.parametrize("count", [1, 7, 1000, 99_999])
def test_uniform_tables_need_one_comparison(count):
    assert search_bound(np.linspace(-0.3, 0.7, count + 1)) <= 2


def test_one_search_for_all_orders():
    table = random_table(5, 6, 6, "linear")
    lk, x = Lookups(), ca.SX.sym("x")
    y = ca.vertcat(*[lk(table, ca.sin(x), order=o) for o in (0, 1, 2)])
    groups = lookup_groups(lk, y)
    tape = make_tape(core_function("f", [x], [y], groups), groups)
    assert len(tape.lookups) == 1
    assert tape.lookups[0].orders == ((0,), (1,), (2,))


@pytest.mark.parametrize("chunk", [1, 3, 1500])
def test_nested_lookups_in_chunks(chunk):
    curve = random_table(8, 6, 4, "linear")
    damper = Table.pchip([-3.0, -1, 0, 2], [4.0, 1, -2, -9], extrapolation="linear")
    surface = Table2.cubic(
        np.linspace(-2, 2, 6), np.linspace(-1, 3, 5), rng.normal(size=(6, 5, 2)), extrapolation="constant"
    )
    lk, x = Lookups(), ca.SX.sym("x", 3)
    y = lk(curve, x[0])
    z = lk(surface, y[2] * x[1], lk(damper, y[5] - x[2]))
    out = ca.vertcat(z[0] * y[0], ca.cos(z[1]) + y[4], x[2], 4.5)
    outputs = [out, lk.jacobian(out, x)]
    native = build("nested", [x], outputs, lk, cache=False, chunk=chunk)
    reference = build("nested", [x], outputs, lk, engine="casadi")
    for values in rng.normal(size=(20, 3)):
        for found, expected in zip(native(values), reference(values), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    assert reference.errors == []


def test_only_needed_lookups_enter_the_code():
    lk, x = Lookups(), ca.SX.sym("x", 2)
    used = lk(random_table(5, 2, 4, "linear"), x[0])
    lk(random_table(5, 3, 4, "error"), x[1], order=2)
    f = build("f", [x], [used], lk, cache=False)
    assert np.isfinite(f([0.1, 1e9])[0]).all()
    assert f.stats.operations == 2


def test_functions_of_one_system_share_their_packed_tables():
    """Large tables are packed once for the functions that use them, and again for other tables."""
    one, two = random_table(5, 2, 3, "error"), random_table(5, 2, 3, "error")
    first = pack_tables([one, two])
    assert pack_tables([one, two]) is first
    assert pack_tables([two, one]) is not first
    assert pack_tables([one]) is not first
    assert not np.array_equal(pack_tables([two, one]), first)
