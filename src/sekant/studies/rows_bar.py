"""A progress bar for work in rows: done, failed, rate and time left, on the error stream."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any


class RowsBar:
    """While it is entered, a bar shows if there is a terminal or a notebook to show it on."""

    def __init__(self, rows: int, *, enabled: bool = True):
        self._rows, self._enabled = rows, enabled and (sys.stderr.isatty() or _in_notebook())
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, done: int, failed: int, rate: float) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=done, failed=failed, rate=f"{rate:.3g} rows/s")

    def __enter__(self) -> RowsBar:
        if self._enabled:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TaskProgressColumn,
                TextColumn,
                TimeRemainingColumn,
            )

            self._bar = Progress(
                TextColumn("rows"),
                BarColumn(),
                MofNCompleteColumn(),
                TaskProgressColumn(),
                TextColumn("{task.fields[failed]} not finished"),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("rows", total=self._rows, failed=0, rate="")
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from rich.console import Console

    return Console().is_jupyter
