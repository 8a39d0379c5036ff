"""Lengths between pairs of points that several items state: each once, and never two that contradict each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from sekant.errors import ModelError

SAME = 1e-9
"""Relative difference of two lengths that are taken for one."""


@dataclass(frozen=True)
class Length:
    """What an item says of a pair: `length` m, a number or an expression of run-time parameters; `stated` by its
    author, or read off the start."""

    item: str
    row: str
    length: Any
    stated: bool


@dataclass
class Lengths:
    """By pair of points (or one vector)."""

    known: dict[tuple[str, ...], Length] = field(default_factory=dict)
    frames: dict[tuple[str, ...], str] = field(default_factory=dict)
    """pairs that span the frame of a body, and which"""

    def add(self, pair: tuple[str, ...], new: Length) -> str | None:
        """Note a length. Returns the name of the row that it makes superfluous: its own, another's, or None."""
        old = self.known.get(pair)
        if old is None:
            self.known[pair] = new
            return None
        if old.stated and new.stated and not _equal(old.length, new.length):
            raise ModelError(
                f"{new.item} and {old.item} contradict each other: the distance of {' and '.join(pair)} is "
                f"{_shown(new.length)} by the one and {_shown(old.length)} by the other; give it once"
            )
        if new.stated and not old.stated:
            self.known[pair] = new
            return old.row
        return new.row

    def check_frames(self) -> None:
        """Refuse frames whose lengths vary: a body is rigid, and its shape is fixed when the mechanism is built."""
        for pair, body in self.frames.items():
            found = self.known.get(pair)
            if found is not None and isinstance(found.length, ca.SX):
                raise ModelError(
                    f"the length of {found.item}, {found.length}, varies in time or from run to run, but "
                    "it spans the frame "
                    f"of {body}, whose shape is fixed when the mechanism is built; give a number, or another frame"
                )


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, ca.SX) or isinstance(b, ca.SX):
        return isinstance(a, ca.SX) and isinstance(b, ca.SX) and ca.is_equal(a, b, 8)
    return abs(a - b) <= SAME * max(abs(a), abs(b))


def _shown(length: Any) -> str:
    return f"{length:.6g} m" if isinstance(length, float) else str(length)
