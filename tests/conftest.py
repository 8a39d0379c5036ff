"""What all tests share."""

from __future__ import annotations

import signal

import pytest

from sekant.solvers.common.objects import prepare_all


def pytest_configure(config: pytest.Config) -> None:
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        prepare_all()  # on all cores, before the workers start and each does it for itself


@pytest.fixture
def interruptible():
    """Ctrl-C raises KeyboardInterrupt, also where the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
