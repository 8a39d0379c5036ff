"""The cache of object code: hits, damage, rights, size, writers at the same time."""

import os
import stat
import threading

import casadi as ca
import numpy as np
import pytest

from sekant.cache.store import Cache, Entry, default_directory, make_key, why_nothing_is_cached
from sekant.engine.codegen.build import build
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table

x = ca.SX.sym("x", 2)
EXPRESSION = ca.sin(x[0]) * x[1] ** 3 - 0.25
VALUE = np.array([0.3, -1.7])
EXPECTED = np.sin(0.3) * (-1.7) ** 3 - 0.25
ENTRY = Entry({"work_size": 3}, (b"first object", b"second\nobject\x00"))


def make(cache):
    f = build("f", [x], [EXPRESSION], cache=cache)
    np.testing.assert_allclose(f(VALUE)[0], [EXPECTED], rtol=1e-14)
    return f.stats


def test_second_build_comes_from_the_cache(tmp_path):
    cache = Cache(tmp_path / "deep" / "cache")
    first, second = make(cache), make(cache)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert second.compile_seconds == 0.0
    assert (first.operations, first.chunks) == (second.operations, second.chunks)
    assert stat.S_IMODE(cache.directory.stat().st_mode) == 0o700


def test_without_cache_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path / "none"))
    assert not make(False).from_cache
    assert not (tmp_path / "none").exists()


def test_directory_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("SEKANT_CACHE_DIR", raising=False)
    assert default_directory() == tmp_path / "xdg" / "sekant"
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path / "own"))
    assert default_directory() == tmp_path / "own"
    make(True)
    assert make(True).from_cache
    assert len(list((tmp_path / "own").iterdir())) == 2  # the code, and the numbers that it was linked with


def entry_file(cache):
    """That of the code; the other one holds the numbers."""
    return max(cache.directory.glob("*.skobj"), key=lambda path: path.stat().st_size)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: data[:20],
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
        lambda data: b"other" + data[5:],
    ],
)
def test_damaged_entry_is_rebuilt(tmp_path, damage):
    cache = Cache(tmp_path / "c")
    make(cache)
    path = entry_file(cache)
    path.write_bytes(damage(path.read_bytes()))
    assert not make(cache).from_cache
    assert make(cache).from_cache


def test_damaged_numbers_are_found_again(tmp_path):
    cache = Cache(tmp_path / "c")
    make(cache)
    code = entry_file(cache)
    (numbers,) = (path for path in cache.directory.glob("*.skobj") if path != code)
    numbers.write_bytes(numbers.read_bytes()[:-1])
    assert make(cache).from_cache


def test_code_does_not_depend_on_table_data(tmp_path):
    cache = Cache(tmp_path / "c")
    hits = []
    for n in (4, 900):
        lk = Lookups()
        points = np.linspace(-1.0, 2.0, n)
        y = lk(Table.cubic(points, np.cos(points)), x[0])
        f = build("f", [x], [y], lk, cache=cache)
        hits.append(f.stats.from_cache)
        np.testing.assert_allclose(f(VALUE)[0], Table.cubic(points, np.cos(points))(0.3), rtol=1e-13)
    assert hits == [False, True]


def test_shape_of_a_table_is_part_of_the_key(tmp_path):
    cache = Cache(tmp_path / "c")
    for table in (
        Table.cubic([0.0, 1, 2, 4], [1.0, 5, 2, 0]),
        Table.linear([0.0, 1, 2, 4], [1.0, 5, 2, 0]),
        Table.cubic([0.0, 1, 2, 4], [1.0, 5, 2, 1], extrapolation="periodic"),
    ):
        lk = Lookups()
        assert not build("f", [x], [lk(table, x[0])], lk, cache=cache).stats.from_cache


def test_directory_open_to_others_is_distrusted_and_repaired(tmp_path):
    cache = Cache(tmp_path / "c")
    make(cache)
    cache.directory.chmod(0o777)
    key = entry_file(cache).stem
    assert cache.load(key) is None
    assert not make(cache).from_cache
    assert stat.S_IMODE(cache.directory.stat().st_mode) == 0o700
    assert make(cache).from_cache


def test_link_in_place_of_the_directory_is_not_followed(tmp_path):
    (tmp_path / "target").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "target")
    cache = Cache(tmp_path / "link")
    assert not cache.store("k", ENTRY)
    assert cache.load("k") is None
    assert not make(cache).from_cache
    assert "is a symbolic link" in why_nothing_is_cached(cache)


def test_file_in_place_of_the_directory(tmp_path):
    (tmp_path / "c").write_text("no directory")
    assert not make(Cache(tmp_path / "c")).from_cache
    assert "is not a directory, so every run compiles again" in why_nothing_is_cached(Cache(tmp_path / "c"))


def test_entries_round_trip(tmp_path):
    cache = Cache(tmp_path / "c")
    assert cache.load("k") is None
    assert cache.store("k", ENTRY)
    assert cache.load("k") == ENTRY


def test_least_recently_used_go_first(tmp_path):
    cache = Cache(tmp_path / "c", limit=5000)
    entries = {name: Entry({}, (name.encode() * 1500,)) for name in "abcd"}
    for age, name in enumerate("abc"):
        cache.store(name, entries[name])
        os.utime(cache.directory / f"{name}.skobj", (1000 + age, 1000 + age))
    assert cache.load("a") is not None
    cache.store("d", entries["d"])
    assert cache.load("b") is None
    assert all(cache.load(name) == entries[name] for name in "acd")


def test_entry_above_the_limit_is_kept_alone(tmp_path):
    cache = Cache(tmp_path / "c", limit=10)
    cache.store("a", ENTRY)
    cache.store("b", ENTRY)
    assert cache.load("a") is None
    assert cache.load("b") == ENTRY


def test_entries_are_counted_now_and_then_only(tmp_path, monkeypatch):
    looks = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looks.append(path) or scan(path))
    cache = Cache(tmp_path / "c", limit=1_000_000)
    for n in range(200):
        Cache(cache.directory, cache.limit).store(str(n), Entry({}, (bytes(9_000),)))
    assert len(looks) < 60  # each at the limit after another 2 % of it
    assert 900_000 < cache.usage()[1] < 1_030_000


def test_leftovers_of_killed_writers_go(tmp_path):
    cache = Cache(tmp_path / "c")
    cache.directory.mkdir(mode=0o700)
    old, young = cache.directory / ".new-old", cache.directory / ".new-young"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (1000, 1000))
    cache.store("b", ENTRY)
    assert not old.exists()
    assert young.exists()


def test_writers_at_the_same_time(tmp_path):
    entries = [Entry({"n": n}, (bytes([n]) * 200_000,)) for n in range(8)]
    wrong = []

    def work(n):
        cache = Cache(tmp_path / "c")
        for _ in range(20):
            cache.store("k", entries[n])
            found = cache.load("k")
            if found not in entries:
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert [p.name for p in (tmp_path / "c").iterdir()] == ["k.skobj"]


def test_keys_do_not_run_together():
    assert make_key(["ab", "c"]) != make_key(["a", "bc"])
    assert make_key(["ab", b"c"]) == make_key([b"ab", "c"])


def test_an_entry_under_the_name_of_another_is_absent(tmp_path):
    cache = Cache(tmp_path / "c")
    cache.store("a", ENTRY)
    cache.store("b", Entry({"other": 1}, (b"code",)))
    (cache.directory / "a.skobj").rename(cache.directory / "swap")
    (cache.directory / "b.skobj").rename(cache.directory / "a.skobj")
    (cache.directory / "swap").rename(cache.directory / "b.skobj")
    assert cache.load("a") is None
    assert cache.load("b") is None


def test_an_open_directory_is_closed_before_it_is_emptied(tmp_path, monkeypatch):
    cache = Cache(tmp_path / "c")
    cache.store("a", ENTRY)
    cache.directory.chmod(0o777)
    (cache.directory / ".new-planted").write_bytes(b"")
    seen = []
    unlink = type(cache.directory).unlink

    def watched(path, missing_ok=False):
        seen.append(stat.S_IMODE(cache.directory.stat().st_mode) & 0o777)
        assert Cache(cache.directory).load("a") is None  # for no process before all is gone
        unlink(path, missing_ok)

    monkeypatch.setattr(type(cache.directory), "unlink", watched)
    assert cache.is_usable()
    assert seen == [0o700, 0o700]
    assert os.listdir(cache.directory) == []
    assert stat.S_IMODE(cache.directory.stat().st_mode) == 0o700
