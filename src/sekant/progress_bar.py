"""Progress on the error stream, for work in stages and for work in rows.

On a terminal or in a notebook it is a bar. In a pipe or a log file it is a line every few seconds, with the
time that the stage has taken so far. ``SEKANT_PROGRESS=0`` turns both off. Slow code reports its progress with
`doing`, `through` and `counting`, wherever it is called from; the progress bar of the running command shows
it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from threading import Event, Lock, Thread, Timer
from time import monotonic
from typing import Any, Self, TypeVar

_PATIENCE = 1.0  # s before the bar of a command appears
_PACE = 4.0  # s between two lines in a pipe
T = TypeVar("T")


class Bar:
    """A context in which a terminal or notebook shows a bar, after `patience` (s); elsewhere lines appear.

    `fields`: first values of its columns.
    """

    def __init__(self, fields: dict[str, Any], *, enabled: bool, patience: float = 0.0):
        self._fields = fields
        self._as_lines = not is_watched()
        enabled = enabled and os.environ.get("SEKANT_PROGRESS") != "0"
        self._timer = Timer(_PACE if self._as_lines else patience, self._show) if enabled else None
        self._at_once = not patience and not self._as_lines
        self._lock = Lock()
        self._closed = False
        self._bar: Any = None
        self._task: Any = None

    @property
    def shown(self) -> dict[str, Any]:
        """The displayed fields, for `update`."""
        return {"completed": 0.0} | self._fields

    def update(self, **fields: Any) -> None:
        """Change displayed fields."""
        self._fields |= fields
        if self._bar is not None:
            self._bar.update(self._task, **self._fields)

    def _show(self) -> None:
        with self._lock:
            if self._closed:
                return
            bar = _Lines() if self._as_lines else self._rich()
            self._task = bar.add_task(**self._fields)
            bar.start()
            self._bar = bar

    def _columns(self) -> Sequence[Any]:
        """Columns of rich's bar between the bar and the time left."""
        from rich.progress import TaskProgressColumn

        return (TaskProgressColumn(),)

    def _rich(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), *self._columns(), TimeRemainingColumn())
        return Progress(*columns, console=Console(stderr=True), transient=True)

    def __enter__(self) -> Self:
        if self._timer is not None and self._at_once:
            self._show()
        elif self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *failure: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._bar is not None:
                self._bar.stop()


class _Lines:
    """A line every few seconds with the current stage, without a terminal; it has the interface of rich's bar."""

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}
        self._over = Event()
        self._thread = Thread(target=self._write, daemon=True)

    def add_task(self, **fields: Any) -> int:
        self._fields = fields
        return 0

    def update(self, task: int, **fields: Any) -> None:
        self._fields = fields

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _write(self) -> None:
        while True:
            if sys.stderr is not None:
                print(f"sekant: {_line(**self._fields)}", file=sys.stderr, flush=True)
            if self._over.wait(_PACE):
                return


def _line(
    description: str,
    total: float | None,
    completed: float = 0.0,
    failed: int | None = None,
    rate: str = "",
    since: float = 0.0,
) -> str:
    if failed is not None:
        return f"{completed:g} of {total:g} {description}, {failed} not finished, {rate}".rstrip(", ")
    share = "" if total is None else f" {completed / total:.0%}"
    return f"{description}{share} ({monotonic() - since:.0f} s)"


class ProgressBar(Bar):
    """The bar pulses under the title of the stage until it is called with the fraction done."""

    def __init__(self, stage: str, *, enabled: bool = True):
        fields = {"description": stage, "total": None, "since": monotonic()}
        super().__init__(fields, enabled=enabled, patience=_PATIENCE)

    def __enter__(self) -> Self:
        _entered.append(self)
        return super().__enter__()

    def __exit__(self, *failure: object) -> None:
        _entered.remove(self)
        super().__exit__(*failure)

    def stage(self, title: str) -> None:
        """Show the title of the current stage."""
        self.update(description=title, total=None, completed=0.0, since=monotonic())

    def __call__(self, fraction: float) -> None:
        self.update(total=1.0, completed=min(max(fraction, 0.0), 1.0))


_entered: list[ProgressBar] = []


@contextmanager
def doing(what: str) -> Iterator[None]:
    """A context that shows `what` on the progress bar of the running command, if there is one."""
    if not _entered:
        yield
        return
    bar = _entered[-1]
    before = bar.shown
    bar.stage(what)
    try:
        yield
    finally:
        bar.update(**before)


def fraction_teller() -> Callable[[float], None] | None:
    """Function that shows the fraction done on the progress bar of the running command, if there is one."""
    return _entered[-1] if _entered else None


def through(items: Collection[T]) -> Iterator[T]:
    """The items one after the other; the progress bar of the running command shows the fraction done."""
    tell = fraction_teller()
    for number, item in enumerate(items):
        if tell is not None:
            tell(number / len(items))
        yield item


def counting(what: str) -> Callable[[], None]:
    """Function to call after each step if the number of steps is unknown: the progress bar of the running
    command shows the number so far, as in "searching, 12 evaluations"."""
    if not _entered:
        return lambda: None
    bar, done = _entered[-1], count(1)
    title = bar.shown["description"]
    return lambda: bar.update(description=f"{title}, {next(done)} {what}")


class RowsBar(Bar):
    """Number of finished and failed rows, and their rate."""

    def __init__(self, rows: int, *, enabled: bool = True):
        fields = {"description": "rows", "total": rows, "failed": 0, "rate": ""}
        super().__init__(fields, enabled=enabled)

    def __call__(self, done: int, failed: int, rate: float) -> None:
        self.update(completed=done, failed=failed, rate=f"{rate:.3g} rows/s")

    def _columns(self) -> Sequence[Any]:
        from rich.progress import MofNCompleteColumn, TextColumn

        failed, rate = TextColumn("{task.fields[failed]} not finished"), TextColumn("{task.fields[rate]}")
        return MofNCompleteColumn(), *super()._columns(), failed, rate


def is_watched() -> bool:
    """Whether the error stream is a terminal or a notebook."""
    return sys.stderr is not None and (sys.stderr.isatty() or _in_notebook())


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from rich.console import Console

    return Console().is_jupyter
