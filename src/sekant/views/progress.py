"""A progress bar on the error stream, for a person who has to wait."""

from __future__ import annotations

import sys
from threading import Lock, Timer
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE = 1.0  # s before a bar appears


class ProgressBar:
    """While it is entered and takes long, a bar shows if there is a terminal to show it on.

    It pulses under the title of the stage until it is called with the fraction done.
    """

    def __init__(self, stage: str, *, enabled: bool = True):
        self._stage = stage
        self._timer = Timer(_PATIENCE, self._show) if enabled and sys.stderr.isatty() else None
        self._lock = Lock()
        self._closed = False
        self._fraction: float | None = None
        self._bar: Progress | None = None
        self._task: Any = None

    def stage(self, title: str) -> None:
        """What goes on from here."""
        self._stage, self._fraction = title, None
        self._update()

    def __call__(self, fraction: float) -> None:
        self._fraction = min(max(fraction, 0.0), 1.0)
        self._update()

    def _update(self) -> None:
        if self._bar is not None:
            total = None if self._fraction is None else 1.0
            self._bar.update(
                self._task, description=self._stage, total=total, completed=self._fraction or 0.0
            )

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        with self._lock:
            if self._closed:
                return
            bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = bar.add_task(self._stage, total=None)
            bar.start()
            self._bar = bar

    def __enter__(self) -> ProgressBar:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._bar is not None:
                self._bar.stop()
