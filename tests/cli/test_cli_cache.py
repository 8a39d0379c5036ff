"""The cache is shown and cleared."""

import json

from command_line import sekant

from sekant.cache.store import Cache, Entry


def test_the_cache_is_shown_and_cleared(tmp_path, monkeypatch):
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path / "deep" / "cache"))
    assert json.loads(sekant("cache", "--json").stdout)["entries"] == 0
    store = Cache()
    for key in ("a", "b"):
        assert store.store(key, Entry({}, (b"code" * 500,)))
    found = json.loads(sekant("cache", "--json").stdout)
    assert (found["directory"], found["entries"]) == (str(store.directory), 2)
    assert found["bytes"] > 4000
    assert "2 entries" in sekant("cache").stdout
    done = sekant("cache", "--clear")
    assert done.returncode == 0
    assert "0 entries" in done.stdout
    assert store.load("a") is None


def test_a_cache_that_cannot_be_used_is_told_with_the_remedy(tmp_path, monkeypatch):
    place = tmp_path / "file"
    place.write_text("no directory")
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(place))
    done = sekant("cache")
    assert done.returncode == 1
    assert done.stderr == (
        f"the cache {place} is not a directory, so every run compiles again; set SEKANT_CACHE_DIR to another folder\n"
    )
