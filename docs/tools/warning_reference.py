"""Markdown of the warnings that analyses give, from the table of their codes."""

from __future__ import annotations

from sekant.warning_codes import CODES


def markdown() -> str:
    """A table with one row per code: where it appears, its meaning and the remedy."""
    rows = [
        f"| `{code}` | {told.analyses} | {told.meaning} | {told.remedy} |"
        for code, told in sorted(CODES.items())
    ]
    return "\n".join(["| code | analyses | meaning | remedy |", "|---|---|---|---|", *rows])
