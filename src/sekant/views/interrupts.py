"""Ctrl-C and requests to terminate, handled where no data are lost."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)  # batch systems send the second


class Interrupts:
    """While active, both signals raise KeyboardInterrupt: immediately or, after `defer`, on request.

    A second signal always raises immediately.
    """

    def __init__(self) -> None:
        self._deferred = False
        self._asked = False
        self._before: dict[signal.Signals, Any] = {}

    def defer(self) -> None:
        """From now on, wait for `raise_if_asked`."""
        self._deferred = True

    def raise_if_asked(self) -> None:
        """Raise a pending interrupt; call it where no data are lost."""
        if self._asked:
            raise KeyboardInterrupt

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._asked or not self._deferred:
            raise KeyboardInterrupt
        self._asked = True

    def __enter__(self) -> Interrupts:
        self._before = {number: signal.signal(number, self._receive) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
