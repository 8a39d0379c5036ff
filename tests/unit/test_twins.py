"""Twins in compiled code: found where two sides are alike, and the same numbers side by side."""

import casadi as ca
import numpy as np
import pytest

from sekant.engine.codegen import llvm
from sekant.engine.codegen.build import build
from sekant.engine.codegen.regions import find_regions
from sekant.engine.codegen.sites import find_sites
from sekant.engine.codegen.tape import core_function, lookup_groups, make_tape
from sekant.engine.codegen.twins import LEAST, find_twins, without_circles
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table


def two_sides(depth=14):
    """Inputs, outputs and lookups of a body with two arms alike but for a table, a constant, their own speed."""
    u, v, w = (ca.SX.sym(name, 2) for name in ("u", "v", "w"))
    rng, lookups, sides = np.random.default_rng(5), Lookups(), []
    for i, own in enumerate((0.3, -0.3)):
        table = Table(np.array([-2.0, 0.5, 3.0]), rng.uniform(0.4, 0.9, (2, 3, 2)), "linear")
        y, y1 = lookups(table, u[i]), lookups(table, u[i], order=1)
        x, z = y[0] * own + w[0], y1[1] * v[i]
        for _ in range(depth):
            x, z = (x * z - w[1] * y[1]) / (1 + x**2), ca.sqrt(z**2 + 0.3) + ca.if_else(x > 0.2, ca.sin(x), 0)
        sides.append((x, z))
    (x, z), (x2, z2) = sides
    return [u, v, w], [ca.vertcat(x + x2, z * z2, x, x2, z2)], lookups


def tape_of(inputs, outputs, lookups):
    groups = lookup_groups(lookups, ca.veccat(*outputs))
    return make_tape(core_function("f", inputs, outputs, groups), groups)


@pytest.mark.parametrize("chunk", [7, 60, 500])
def test_the_same_numbers_as_casadi(chunk):
    inputs, outputs, lookups = two_sides()
    native = build("f", inputs, outputs, lookups, cache=False, chunk=chunk)
    oracle = build("f", inputs, outputs, lookups, engine="casadi")
    rng = np.random.default_rng(2)
    for _ in range(20):
        values = [rng.uniform(-1.5, 2.5, 2) for _ in inputs]
        # 28 operations one after the other, each to round-off
        np.testing.assert_allclose(native(*values), oracle(*values), rtol=1e-12, atol=1e-13)


def test_most_of_two_sides_are_twins_with_operands_that_are():
    tape = tape_of(*two_sides())
    found = find_twins(tape, lambda i: True)
    assert len(found) > 0.3 * tape.operations  # pairs; only the sines and the comparisons are alone
    partner = found | {j: i for i, j in found.items()}
    for i, j in found.items():
        assert tape.op[i] == tape.op[j]
        mine, its = ([int(tape.a[k]), int(tape.b[k])] for k in (i, j))
        alike = [
            all(partner.get(x, y) == y or x == y for x, y in zip(mine, y2, strict=True))
            for y2 in (its, its[::-1])
        ]
        assert any(alike)
    texts = llvm.emit(tape).modules
    assert sum(text.count("fmul contract <2 x double>") for text in texts) > 2 * LEAST // 3


def test_an_unlike_pair_of_lookups_has_no_twins():
    inputs, outputs, lookups = two_sides(depth=2)
    tape = tape_of(inputs, outputs, lookups)
    assert find_twins(tape, lambda i: True) == {}  # too few to be worth it
    regions = find_regions(tape, find_sites(tape))
    assert regions is None or not regions.twins


def test_pairs_that_need_one_another_are_separated():
    sources = [(), (0,), (), (2,)]
    pairs = {0: [0, 3], 3: [0, 3], 1: [1, 2], 2: [1, 2]}
    left = without_circles(sources, pairs)
    assert set(left) <= {1, 2}  # 3 comes after 2, and 1 after 0


def test_pairs_without_circles_stay():
    sources = [(), (), (0,), (1,)]
    pairs = {0: [0, 1], 1: [0, 1], 2: [2, 3], 3: [2, 3]}
    assert without_circles(sources, pairs) == pairs
