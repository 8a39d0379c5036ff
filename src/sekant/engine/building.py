"""Time that each thread has spent on building parts of a system: equations, series, compiled functions."""

from __future__ import annotations

from threading import local
from time import perf_counter
from typing import Any


class BuildClock(local):
    """The clock of a system and of those derived from it: `seconds` spent in ``with clock:``; nested blocks
    count once."""

    seconds = 0.0
    depth = 0
    began = 0.0

    def __enter__(self) -> None:
        if not self.depth:
            self.began = perf_counter()
        self.depth += 1

    def __exit__(self, *_: Any) -> None:
        self.depth -= 1
        if not self.depth:
            self.seconds += perf_counter() - self.began
