"""HTML tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(head: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> str:
    """A table with a line of headings; floats to six digits, other values as strings."""
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    lines = [_line("th", head), *(_line("td", row) for row in rows)]
    return f"<table>{caption}{''.join(lines)}</table>"


def _line(tag: str, cells: Sequence[object]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(_text(cell))}</{tag}>' for cell in cells)}</tr>"


def _text(cell: object) -> str:
    return "" if cell is None else f"{cell:.6g}" if isinstance(cell, float) else str(cell)
