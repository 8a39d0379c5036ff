"""What the builder of a mechanism was asked for, as the sections of a file name it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Note:
    """One item: section, name and fields in a file; values are points, bodies, numbers, expressions and lists."""

    section: str
    name: str
    fields: dict[str, Any]
