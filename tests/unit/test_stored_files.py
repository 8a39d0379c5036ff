"""Files of released versions still load, and contain what they contained."""

import json
from pathlib import Path

import pytest
from release.stored_files import DATA, KINDS

VERSIONS = sorted(DATA.glob("files_of_*"))


def same(found, stored) -> bool:
    if isinstance(stored, dict):
        return all(same(found[key], value) for key, value in stored.items())
    if isinstance(stored, list):
        return len(found) == len(stored) and all(map(same, found, stored))
    return found == (pytest.approx(stored, rel=1e-9, abs=1e-12) if isinstance(stored, float) else stored)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_a_stored_file_contains_what_it_did(folder: Path, name: str):
    stored = json.loads((folder / "contents.json").read_text(encoding="utf-8"))
    if name in stored:  # a kind that came later has no file of an earlier version
        assert same(KINDS[name](folder / name), stored[name])


def test_every_stored_file_is_of_a_kind_that_is_read():
    for folder in VERSIONS:
        assert set(json.loads((folder / "contents.json").read_text(encoding="utf-8"))) <= set(KINDS)
