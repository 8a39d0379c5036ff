"""Functions that share code give what each gives alone, to the last bit, and share what is equal."""

import casadi as ca
import numpy as np
import pytest

from sekant.engine.codegen.build import _Source, build, build_together
from sekant.engine.codegen.together import TapePart
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table

COUNT = 150


@pytest.fixture
def parts():
    """Rates of (t, x, p), events of (t, first part of x, p), forces of the pieces of x, and a function of p alone."""
    t, q, v, w, p = (ca.SX.sym(name, n) for name, n in (("t", 1), ("q", 3), ("v", 2), ("w", 1), ("p", 2)))
    lookups = Lookups()
    looked = lookups(Table.pchip([-2.0, -0.7, 0.4, 1.1, 2.0], [0.3, -1.2, 0.8, 2.1, 0.2]), q[0])
    y = looked
    for k in range(COUNT):
        y = ca.sin(y + 0.1 * k * q[k % 3]) + p[k % 2] * v[k % 2]
    z = y
    for k in range(COUNT):
        z = ca.fmax(z, ca.cos(z * q[1]) - k * t)
    x = ca.vertcat(q, v, w)
    return lookups, [
        TapePart("rates", [t, x, p], [ca.vertcat(v, y, q[2])]),
        TapePart("outputs", [t, x, p], [ca.vertcat(w, 3.5, y, z)]),
        TapePart("events", [t, ca.vertcat(q, v), p], [z - y]),
        TapePart("forces", [t, q, v, p], [y * q, ca.SX([[1.0, 0.0], [2.0, 3.0]]) * z]),
        TapePart("scale", [p], [p[0] + p[1]]),
    ]


def test_parts_give_what_they_give_alone(parts):
    lookups, parts = parts
    together = build_together("all", parts, lookups, cache=False)
    rng = np.random.default_rng(4)
    for part, found in zip(parts, together, strict=True):
        alone = build(part.name, part.inputs, part.outputs, lookups, cache=False, quick=True)
        assert found.shapes_in == alone.shapes_in
        assert found.shapes_out == alone.shapes_out
        for _ in range(5):
            given = [rng.normal(size=shape) for shape in found.shapes_in]
            for one, other in zip(found(*given), alone(*given), strict=True):
                np.testing.assert_array_equal(one, other)


def test_parts_share_their_operations(parts, monkeypatch):
    lookups, parts = parts
    counts = []
    compiled = _Source._compiled
    monkeypatch.setattr(_Source, "_compiled", lambda *what: counts.append(compiled(*what)) or counts[-1])
    build_together("all", parts, lookups, cache=False)
    for part in parts:
        build(part.name, part.inputs, part.outputs, lookups, cache=False, quick=True)
    together, *alone = (one.stats.operations for one in counts)
    assert max(alone) < together < max(alone) + 20
    assert sum(alone) > 3 * together


def test_a_part_that_needs_less_of_the_inputs_reads_no_others(parts):
    """Its state may be shorter than that of the first part: what lies behind it in memory has no influence."""
    lookups, parts = parts
    events = build_together("all", parts, lookups, cache=False)[2]
    memory = np.array([0.3, -0.2, 0.9, 0.4, 1.3, np.nan])
    found = events(0.1, memory[:5], [0.7, -0.4])[0]
    assert np.isfinite(found).all()
    memory[5] = 4.0
    np.testing.assert_array_equal(events(0.1, memory[:5], [0.7, -0.4])[0], found)


def test_shared_code_comes_from_the_cache(parts, tmp_path, monkeypatch):
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path))
    lookups, parts = parts
    first = build_together("all", parts, lookups)
    monkeypatch.setattr(_Source, "_compiled", lambda *what: pytest.fail("compiled again"))
    for one, other in zip(first, build_together("all", parts, lookups), strict=True):
        assert one.code == other.code != ""
        assert one.address == other.address


def test_parts_that_repeat_a_block_are_compiled_alone():
    """Blocks are shorter: one function for all repetitions."""
    x = ca.SX.sym("x", 60)
    total, y = 0, ca.SX(0)
    for k in range(60):
        y = x[k] * 1.3
        for _ in range(100):
            y = ca.sin(y + x[k]) * x[k]
        total = total + y
    parts = [TapePart("one", [x], [total]), TapePart("other", [x], [total * y])]
    assert build_together("all", parts, Lookups(), cache=False) is None
