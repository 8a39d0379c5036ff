"""The figures of a campaign on docs/trust.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trust.campaign import Section

PAGE = Path(__file__).parents[1] / "docs" / "trust.md"
BEGIN, END = "<!-- figures: make trust -->\n", "<!-- end of figures -->"


def figures(about: dict[str, Any], sections: list[Section]) -> str:
    lines = [
        f"Taken on {about['date']}, {about['minutes']:g} minutes of the processor, seed {about['seed']}, "
        f"{about['machine']}.",
        "",
        "| section | what was tried | failed |",
        "|---|---|---|",
    ]
    for section in sections:
        tried = ", ".join(
            f"{_number(value)} {what}" if _is_count(value) else f"{what} {_number(value)}"
            for what, value in section.counts.items()
        )
        lines.append(f"| {section.name} | {tried} | {len(section.failures)} |")
    lines += ["", "Left out:", ""]
    lines += [f"- {section.name}: {text}" for section in sections for text in section.left_out]
    failures = [failure for section in sections for failure in section.failures]
    if failures:
        lines += ["", "Failed:", ""]
        lines += [f"- {failure.tried}: {failure.found.splitlines()[0]}" for failure in failures]
    return "\n".join(lines) + "\n"


def _is_count(value: float | str) -> bool:
    return isinstance(value, (int, float)) and float(value).is_integer()


def _number(value: float | str) -> str:
    return f"{value:,.0f}" if _is_count(value) else str(value)


def write(about: dict[str, Any], sections: list[Section]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + figures(about, sections) + END + after, encoding="utf-8")
