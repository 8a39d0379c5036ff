"""What it means for a mechanism to move as one rigid body, in any coordinates."""

from __future__ import annotations

from dataclasses import dataclass

from sekant.geometry.spatial import SX


@dataclass(frozen=True, eq=False)
class GroupRows:
    """`rows`: velocities less those of the group motion, by name, each () and zero in a steady motion; `own`:
    numbers of velocities that no group motion gives and that must vanish by themselves (parameters of paths)."""

    rows: list[tuple[str, SX]]
    own: tuple[int, ...]
