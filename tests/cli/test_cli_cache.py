"""The cache is shown and cleared."""

import json

from command_line import sekant

from sekant.object_code.cache import Entry, ObjectCache


def test_the_cache_is_shown_and_cleared(tmp_path, monkeypatch):
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path / "deep" / "cache"))
    assert json.loads(sekant("cache", "--json").stdout)["entries"] == 0
    store = ObjectCache()
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
