"""What all tests share."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault(
    "SEKANT_OPTIMIZATION", "0"
)  # most models of the tests run once; `make test-long` optimizes

os.environ["SEKANT_PROGRESS"] = "0"  # on a busy machine a command would print lines of progress

os.environ.pop(
    "PYTHONDONTWRITEBYTECODE", None
)  # else every command that a test starts compiles the package anew

from sekant.loops.store.objects import prepare_all

settings.register_profile("any time", deadline=None)  # no test depends on how long something takes
settings.load_profile("any time")


def pytest_configure(config: pytest.Config) -> None:
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        prepare_all()  # on all cores, before the workers start and each does it for itself


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the cases that `long_cases.txt` lists; one that no test has any more is an error.

    Pages come first: one of them takes half a minute, for which the other workers would wait at the end.
    """
    items.sort(key=lambda item: "tests/pages/" not in item.nodeid)
    lines = Path(__file__).with_name("long_cases.txt").read_text(encoding="utf-8").splitlines()
    listed = {line for line in lines if line and not line.startswith("#")}
    found = [item for item in items if item.nodeid in listed]
    for item in found:
        item.add_marker(pytest.mark.long)
    files = {item.nodeid.partition("::")[0] for item in items}
    whole = all("::" not in argument for argument in config.args) and not config.option.keyword
    stale = {case for case in listed if case.partition("::")[0] in files} - {item.nodeid for item in found}
    if whole and stale:
        raise pytest.UsageError(f"tests/long_cases.txt lists {sorted(stale)[0]}, which does not exist")


@pytest.fixture
def interruptible():
    """Ctrl-C raises KeyboardInterrupt, also where the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
