"""Markdown of the warnings that analyses give, from the table of their codes."""

from __future__ import annotations

from sekant.warning_codes import CODES


def markdown() -> str:
    """One row a code: where it appears, what it means, what helps."""
    rows = [
        f"| `{code}` | {told.analyses} | {told.meaning} | {told.remedy} |"
        for code, told in sorted(CODES.items())
    ]
    return "\n".join(["| code | from | what was found | what helps |", "|---|---|---|---|", *rows])
