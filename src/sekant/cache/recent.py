"""The last answers to repeated questions in one process: equations, and results for parts of cars."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any

MOST = 64


class Recent:
    """The last answers (`most`) by their keys; those of `once` are never removed.

    Several threads may use it.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._answers: OrderedDict[Hashable, Any] = OrderedDict()
        self._values: dict[Hashable, Any] = {}
        self._lock = Lock()

    def get(self, key: Hashable) -> Any:
        """The answer; None if it is not known."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]
        return None

    def put(self, key: Hashable, answer: Any) -> Any:
        with self._lock:
            self._answers[key] = answer
            if len(self._answers) > self._most:
                self._answers.popitem(last=False)
        return answer

    def answer(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The cached answer, or the result of `make`."""
        known = self.get(key)
        return (self.put(key, (make(),)) if known is None else known)[0]

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The result of `make`, computed once."""
        if key not in self._values:
            self._values[key] = make()
        return self._values[key]
