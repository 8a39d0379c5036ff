"""How long each thread has spent on building what a system keeps: equations, series, compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from threading import local
from time import perf_counter
from typing import Any


class BuildClock(local):
    """Of one system and those made of it: `seconds` of all that was built. What is built while something else is
    belongs to that."""

    seconds = 0.0
    running = False

    def timed(self, make: Callable[[], Any]) -> Any:
        """What `make` returns."""
        if self.running:
            return make()
        self.running, began = True, perf_counter()
        try:
            return make()
        finally:
            self.running = False
            self.seconds += perf_counter() - began
