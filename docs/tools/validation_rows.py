"""Rows of the validation: a published number beside ours, and the table of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Row:
    """One number; `tolerance`: how near ours must be, relative to the published one; `limit`: at most that one."""

    what: str
    where: str
    published: float
    ours: float
    tolerance: float
    note: str = ""
    limit: bool = False

    @property
    def agrees(self) -> bool:
        if self.limit:
            return self.ours <= self.published
        return abs(self.ours - self.published) <= self.tolerance * max(abs(self.published), 1e-30)


def table(rows: Iterable[Row]) -> str:
    """All rows as Markdown."""
    lines = [
        "| quantity | where | published | ours | relative difference | remark |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        difference = abs(row.ours - row.published) / max(abs(row.published), 1e-30)
        note = row.note if row.agrees else f"**does not agree** {row.note}"
        gap = "" if row.limit else f"{difference:.1e}"
        ours = f"{row.ours:.2g}" if row.limit else f"{row.ours:.9g}"
        what = row.what.replace("|", r"\|")
        lines.append(f"| {what} | {row.where} | {row.published:.9g} | {ours} | {gap} | {note} |")
    return "\n".join(lines)


def example(name: str) -> Any:
    """The module of a script among the examples."""
    path = EXAMPLES / f"{name}.py"
    sys.path.insert(0, str(path.parent))
    return import_module(path.stem)
