"""Object code that comes with the package: which is taken, when none is, and what is said where there is nothing."""

from __future__ import annotations

import json

import pytest
from test_procedures import memory

from sekant.cache.store import Entry, encode
from sekant.errors import SekantError
from sekant.loops.declare.procedures import _C
from sekant.loops.store import objects, prebuilt
from sekant.object_code.link import Linked
from sekant.object_code.target import level_of_processor, levels_of_architecture
from small_procedures import add_up

LEVELS = levels_of_architecture()


@pytest.fixture(scope="module")
def made() -> Entry:
    """A procedure at all levels."""
    return objects.compile_procedures([add_up.symbol], LEVELS)[add_up.symbol]


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """A package with the code of that procedure."""
    for i, level in enumerate(LEVELS):
        (tmp_path / level).mkdir()
        data = encode(Entry({"needs": [], "level": level}, (made.objects[i],)), add_up.symbol)
        (tmp_path / level / f"{add_up.symbol}.skobj").write_bytes(data)
    manifest = {"sources": prebuilt.sources(), "levels": LEVELS, "symbols": [add_up.symbol]}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.setattr(prebuilt, "PREBUILT", tmp_path)
    prebuilt._manifest.cache_clear()
    yield tmp_path
    prebuilt._manifest.cache_clear()


def test_the_best_level_that_runs_here_is_taken(folder, monkeypatch):
    found = prebuilt.prebuilt(add_up.symbol)
    assert found is not None
    assert found.header["level"] == level_of_processor()[0]
    monkeypatch.setattr(prebuilt, "level_of_processor", lambda: (LEVELS[-1],))
    prebuilt._manifest.cache_clear()
    plain = prebuilt.prebuilt(add_up.symbol)
    assert plain is not None
    assert plain.header["level"] == LEVELS[-1]


@pytest.mark.parametrize("damage", ["sources", "levels", "manifest", "object", "no_symbol"])
def test_code_that_does_not_fit_is_not_taken(folder, damage):
    file = folder / "manifest.json"
    manifest = json.loads(file.read_text())
    if damage == "sources":
        manifest["sources"] = "0" * 64
    elif damage == "levels":
        manifest["levels"] = ["vax"]
    elif damage == "no_symbol":
        manifest["symbols"] = []
    file.write_text("{" if damage == "manifest" else json.dumps(manifest))
    if damage == "object":
        for path in folder.rglob("*.skobj"):
            path.write_bytes(path.read_bytes()[:-1] + b"?")
    prebuilt._manifest.cache_clear()
    assert prebuilt.prebuilt(add_up.symbol) is None


def test_all_levels_give_the_same_bits(made):
    """Nothing is fused or reordered, so processors differ in speed only."""
    levels = [level for level in LEVELS if level in level_of_processor()]
    assert levels
    totals, codes = [], [made.objects[LEVELS.index(level)] for level in levels]
    for code in (*codes, objects.compile_procedures([add_up.symbol])[add_up.symbol].objects[0]):
        linked, m = Linked([code], add_up.symbol), memory()
        assert _C(linked.address)(m.pointer, 0.3, 0.7) == 11
        totals.append(m.total)
    assert totals == [totals[0]] * len(totals)


def test_a_compiler_that_dies(tmp_path, monkeypatch):
    """Its end is told, whether or not it took what it was asked for."""
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexec 0<&-\nkill -9 $$\n")
    program.chmod(0o700)
    monkeypatch.setattr(objects.sys, "executable", str(program))
    for _ in range(5):
        with pytest.raises(SekantError, match="its process ended with code -9"):
            objects.compile_procedures([add_up.symbol])
