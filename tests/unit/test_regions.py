"""Regions of compiled code that a jump passes: the same bits as without, and really passed."""

import re

import casadi as ca
import numpy as np
import pytest

from sekant.engine.codegen import llvm, regions
from sekant.engine.codegen.build import build
from sekant.engine.codegen.lanes import emit_lanes
from sekant.engine.codegen.regions import find_regions
from sekant.engine.codegen.sites import find_sites
from sekant.engine.codegen.tape import core_function, lookup_groups, make_tape
from sekant.solvers.common.sites import NUMBERS, PIECE, free_modes
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table


def whole_numbers(seed, operations, size=6):
    """A random tape on which all arithmetic is exact, so that fused products cannot differ: sums, signs, choices."""
    rng = np.random.default_rng(seed)
    x = ca.SX.sym("x", size)
    lookups = Lookups()
    table = Table(np.array([-3.0, -1.0, 2.0, 4.0]), rng.integers(-3, 4, (3, 2, 2)).astype(float), "linear")
    values = list(ca.vertsplit(x))
    for _ in range(operations):
        i, j, k = (values[n] for n in rng.integers(max(0, len(values) - 25), len(values), 3))
        kind = rng.integers(9)
        if kind == 8:
            values += ca.vertsplit(lookups(table, ca.fmin(ca.fmax(i, -5), 5)))
            continue
        values.append(
            [
                lambda p, q, r: p + q,
                lambda p, q, r: p - q,
                lambda p, q, r: ca.if_else(p < q, q - r, 0),
                lambda p, q, r: ca.if_else(p <= q, r, p + r),
                lambda p, q, r: ca.if_else(p, q + r, 0),
                lambda p, q, r: ca.sign(p) * q,
                lambda p, q, r: ca.fabs(p) - r,
                lambda p, q, r: ca.fmax(ca.fmin(p, q), r),
            ][kind](i, j, k)
        )
    return x, ca.vertcat(*values[-4:]), lookups


def held_somewhere(function, rng):
    """Modes of which some are held, as they are or as they are not."""
    modes = free_modes(function.sites)
    for s, site in enumerate(function.sites):
        if rng.random() < 0.6:
            modes.view(np.int64)[NUMBERS * s] = 2 if site.kind == PIECE else 1
            modes[NUMBERS * s + 1] = 0.0 if site.kind == PIECE else rng.integers(-1, 2)
    return modes


@pytest.mark.parametrize("seed", range(9))
def test_the_same_bits_as_without(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    x, y, lookups = whole_numbers(seed, 70)
    chunk = [5, 13, 1500][seed % 3]
    monkeypatch.setattr(regions, "LEAST", [1, 3][seed % 2])
    found = build("found", [x], [y], lookups, cache=False, chunk=chunk)
    guards = found.guards if found.sites else None
    monkeypatch.setattr(llvm, "find_regions", lambda tape, sites, twins: None)
    plain = build("plain", [x], [y], lookups, cache=False, chunk=chunk)
    oracle = lookups.oracle("oracle", [x], [y])
    for _ in range(20):
        at = rng.integers(-4, 5, x.numel()).astype(float)
        np.testing.assert_array_equal(found(at)[0], plain(at)[0])
        np.testing.assert_array_equal(found(at)[0], np.array(oracle(at)).ravel())
        modes = held_somewhere(plain, rng)
        np.testing.assert_array_equal(found(at, modes=modes)[0], plain(at, modes=modes)[0])
        if guards is not None:
            np.testing.assert_array_equal(guards(at)[0], plain.guards(at)[0])


def tape_of(x, y):
    tape = make_tape(core_function("f", [x], [y], lookup_groups(Lookups(), y)))
    return tape, find_sites(tape)


def heavy(x):
    """Something that is worth a jump."""
    for _ in range(4):
        x = ca.sin(x) / (2 + x * x)
    return x


def region_of(tape, sites, op):
    """Conditions under which the operations `op` are needed, by kind."""
    found = find_regions(tape, sites)
    assert found is not None
    numbers = [found.of[i] for i in np.flatnonzero(tape.op == op)]
    assert min(numbers) >= 0
    return [sorted(kind for kind, _ in found.conditions[r]) for r in numbers]


def test_what_counts_under_a_flag_is_one_region():
    x = ca.SX.sym("x", 3)
    tape, sites = tape_of(
        x, ca.vertcat(x[1] + ca.if_else(x[0], heavy(x[1]), 0), ca.if_else(x[0], heavy(x[2]), 0))
    )
    assert region_of(tape, sites, ca.OP_SIN) == [["value"]] * 8


def test_a_held_comparison_needs_not_what_it_compares():
    """Free, both sides are computed; held, only those of the branch that is taken, and the guard with it."""
    x = ca.SX.sym("x", 2)
    gap = heavy(x[0])
    tape, sites = tape_of(x, ca.if_else(gap < 0, ca.exp(heavy(x[1])) * gap, 0))
    assert region_of(tape, sites, ca.OP_EXP) == [["value"]]
    assert sorted(set(map(tuple, region_of(tape, sites, ca.OP_SIN)))) == [("mode",), ("value",)]


def test_a_value_that_is_also_used_elsewhere_is_always_there():
    x = ca.SX.sym("x", 2)
    y = heavy(x[1])
    assert find_regions(*tape_of(x, ca.vertcat(ca.if_else(x[0], 3 * y, 0), y))) is None


def test_the_code_of_a_region_stands_behind_its_jump():
    """Nothing of the costly branch is left outside of the block that the jump passes."""
    x = ca.SX.sym("x", 2)
    tape, sites = tape_of(x, ca.if_else(x[0], heavy(1 / x[1]), 0))
    (text,) = llvm.emit(tape, sites=sites).modules
    before, inside, after = re.split(r"region\d+\.(?:in|end):", text)
    assert inside.count("call double @sin(") == 4
    assert inside.count("fdiv double") == 5
    assert all(word not in part for word in ("call double @sin(", "fdiv") for part in (before, after))
    assert re.search(r"br i1 %region\d+\.0, label %region\d+\.in, label %region\d+\.out", before)
    f = build("f", [x], [ca.if_else(x[0], heavy(1 / x[1]), 0)], cache=False)
    assert f([0.0, 0.0])[0][0] == 0.0
    assert np.isnan(f([1.0, 0.0])[0][0])  # the sine of 1/0


@pytest.mark.parametrize(("seed", "lanes"), [(1, 2), (2, 4), (3, 8)])
def test_lanes_pass_what_none_of_them_needs(seed, lanes, monkeypatch):
    """Conditions that hold in some lanes, in all or in none: every lane has the bits of a function without lanes."""
    monkeypatch.setattr(regions, "LEAST", 1)
    x, y, lookups = whole_numbers(seed, 70)
    one = build("one", [x], [y], lookups, cache=False)
    many = build("many", [x], [y], lookups, cache=False, lanes=lanes, chunk=[5, 13, 1500][seed % 3])
    text = "".join(emit_lanes(tape_of(x, ca.if_else(x[0], heavy(x[1]), 0))[0], lanes, (), 1500).modules)
    assert f"@llvm.vector.reduce.or.v{lanes}i1(<{lanes} x i1> %region" in text
    rng = np.random.default_rng(seed)
    for _ in range(40):
        at = np.repeat(rng.integers(-4, 5, (x.numel(), 1)), lanes, axis=1).astype(float)
        at[rng.integers(x.numel()), rng.integers(lanes)] = rng.integers(-4, 5)
        expected = np.column_stack([one(at[:, k])[0] for k in range(lanes)])
        np.testing.assert_array_equal(many(at.ravel())[0].reshape(-1, lanes), expected)
