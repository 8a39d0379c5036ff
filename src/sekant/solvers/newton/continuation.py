"""Follows a solution from a solved problem to the requested one, in the largest steps that succeed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

P = TypeVar("P")


def follow(
    attempt: Callable[[P, float], P | None],
    start: P,
    *,
    first: float = 0.1,
    shortest: float = 1e-3,
    growth: float = 2.0,
    cut: float = 0.5,
) -> P | None:
    """The point at share 1 from `start` at share 0; None if steps become shorter than `shortest`.

    `attempt(point, share)`: the solution at a share from one nearby, or None. A step that succeeds is followed by one
    that is larger by `growth`, one that fails by one that is smaller by `cut`.
    """
    point, share, size = start, 0.0, first
    while share < 1.0:
        goal = min(1.0, share + size)
        found = attempt(point, goal)
        if found is not None:
            point, share, size = found, goal, growth * size
            continue
        size = cut * min(size, goal - share)
        if size < shortest:
            return None
    return point
