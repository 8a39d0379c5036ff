"""Lengths between pairs of points. Several items may give the same length: it is used once, and
contradictions are refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError

SAME = 1e-9
"""Relative difference below which two lengths count as the same."""


@dataclass(frozen=True)
class Length:
    """The length of a pair according to an item: `length` m, a number or an expression of run-time parameters;
    `stated` by its author, or taken from the start."""

    item: str
    row: str
    length: Any
    stated: bool


@dataclass(frozen=True, eq=False)
class Carried:
    """Points and vectors fixed in a rigid body: components (dim,) in its frame of points (m) and vectors, by name."""

    item: str
    places: dict[str, NDArray[np.float64]]


@dataclass
class Lengths:
    """Lengths by pair of points (or one vector)."""

    known: dict[tuple[str, ...], Length] = field(default_factory=dict)
    frames: dict[tuple[str, ...], str] = field(default_factory=dict)
    """pairs that span the frame of a body, and this body"""
    carried: list[Carried] = field(default_factory=list)
    """of each rigid body"""

    def add(self, pair: tuple[str, ...], new: Length) -> str | None:
        """Register a length. Returns the name of the row that becomes redundant: its own, another's, or None."""
        old = self.known.get(pair)
        if old is None:
            self.known[pair] = new
            return None
        if old.stated and new.stated and not _equal(old.length, new.length):
            what = f"the distance between {' and '.join(pair)}" if pair[1:] else f"the length of {pair[0]}"
            raise ModelError(
                f"{new.item} and {old.item} contradict each other: {what} is {_shown(new.length)} in the "
                f"first and {_shown(old.length)} in the second; give this length only once"
            )
        if new.stated and not old.stated:
            self.known[pair] = new
            return old.row
        return new.row

    def implied(self, new: Length, pair: Sequence[str], m: Any) -> bool:
        """Whether a length holds because one rigid body carries the pair; refused if it contradicts that body."""
        for body in self.carried:
            found = [carried_at(name, body, m) for name in pair]
            places = [place for place in found if place is not None]
            if len(places) < len(pair):
                continue
            arm = places[0] if len(places) == 1 else places[1] - places[0]
            length = float(np.linalg.norm(arm))
            if new.stated and not _equal(new.length, length):
                raise ModelError(
                    f"{new.item} and {body.item} contradict each other: {' and '.join(pair)} "
                    f"{'are' if len(pair) > 1 else 'is'} fixed in {body.item}, where "
                    f"{'their distance' if len(pair) > 1 else 'its length'} is {_shown(length)} (got "
                    f"{_shown(new.length)}); leave this length out"
                )
            return True
        return False

    def carries(self, names: Sequence[str], m: Any) -> bool:
        """Whether one rigid body carries all of them."""
        return any(all(carried_at(name, body, m) is not None for name in names) for body in self.carried)

    def check_frames(self) -> None:
        """Refuse frames whose lengths vary: a body is rigid, and its shape is fixed when the mechanism is built."""
        for pair, body in self.frames.items():
            found = self.known.get(pair)
            if found is not None and isinstance(found.length, ca.SX):
                raise ModelError(
                    f"the length {found.length} of {found.item} varies in time or from run to run, but it "
                    f"belongs to the frame of {body}, whose shape is fixed when the mechanism is built; "
                    "give a number, or choose another frame"
                )


def carried_at(name: str, body: Carried, m: Any) -> NDArray[np.float64] | None:
    """Components (dim,) in the body's frame of a point (m) or vector that it carries, or that is a product or a sum
    of such; otherwise None."""
    if name in body.places:
        return body.places[name]
    item = m.natural.items.get("assign", {}).get(name)
    if item is None:
        return None
    if item.cross:
        first, second = (carried_at(other, body, m) for other in item.cross)
        return None if first is None or second is None else np.cross(first, second)
    total = np.zeros(m.dim)
    for other, share in item.combine.items():
        place = carried_at(other, body, m)
        if place is None:
            return None
        total += m.number(share, f"the factor of '{other}'") * place
    return total if item.combine else None


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, ca.SX) or isinstance(b, ca.SX):
        return isinstance(a, ca.SX) and isinstance(b, ca.SX) and ca.is_equal(a, b, 8)
    return abs(a - b) <= SAME * max(abs(a), abs(b))


def _shown(length: Any) -> str:
    return f"{length:.6g} m" if isinstance(length, float) else str(length)
