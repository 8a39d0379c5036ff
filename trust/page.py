"""Writes the figures of a campaign into docs/trust.md.

    python -m trust.page [--longest] REPORT ...

writes them from reports of runs of different sections, or of the same section with several seeds.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trust.campaign import Section, section_of

PAGE = Path(__file__).parents[1] / "docs" / "trust.md"
TEN, LONGEST = "make trust", "longest run"
"""Names of the two parts of the page that this module writes."""


def together(sections: Sequence[Section]) -> Section:
    """The sum of sections of one name that were run with different seeds."""
    whole = Section(sections[0].name)
    for section in sections:
        for what, number in section.counts.items():
            whole.count(what, number)
        for what, found in section.measured.items():
            if what not in whole.measured or found.value > whole.measured[what].value:
                whole.measured[what] = found
        whole.failures += section.failures
        whole.left_out += [text for text in section.left_out if text not in whole.left_out]
        whole.seconds += section.seconds
    return whole


def figures(reports: Sequence[dict[str, Any]]) -> str:
    """Markdown: how the figures were measured; what was tried, measured, left out and found."""
    found = [section_of(data) for report in reports for data in report["sections"]]
    sections = [
        together([s for s in found if s.name == name]) for name in dict.fromkeys(s.name for s in found)
    ]

    def said(what: str) -> str:
        return " and ".join(dict.fromkeys(report["about"][what] for report in reports))

    seeds = " and ".join(dict.fromkeys(str(section.seed) for section in found))
    minutes = sum(section.seconds for section in sections) / 60
    lines = [
        f"{minutes:.0f} minutes of processor time, measured on {said('date')} at commit {said('commit')}: "
        f"{said('machine')}; seed {seeds}.",
        "",
        "| section | minutes | what was tried | failed |",
        "|---|---|---|---|",
    ]
    for section in sections:
        tried = ", ".join(f"{what}: {value:,}" for what, value in section.counts.items())
        lines.append(f"| {section.name} | {section.seconds / 60:.1f} | {tried} | {len(section.failures)} |")
    lines += ["", "| what was measured | value | limit |", "|---|---|---|"]
    for section in sections:
        for what, one in section.measured.items():
            limit = "" if one.limit is None else f"{one.limit:,g} {one.unit}"
            lines.append(f"| {what} | {one.value:,g} {one.unit} | {limit} |".replace("  ", " "))
    lines += ["", "Left out:", ""]
    lines += [f"- {section.name}: {text}" for section in sections for text in section.left_out]
    failures = [failure for section in sections for failure in section.failures]
    if failures:
        lines += ["", "Failed:", ""]
        lines += [f"- {failure.tried}: {failure.found.splitlines()[0]}".rstrip() for failure in failures]
    return "\n".join(lines) + "\n"


def write(reports: Sequence[dict[str, Any]], longest: bool) -> None:
    name = LONGEST if longest else TEN
    text = PAGE.read_text(encoding="utf-8")
    before, begin, rest = text.partition(f"<!-- figures: {name} -->\n")
    _, end, after = rest.partition("<!-- end of figures -->\n")
    if not end:
        raise SystemExit(f"{PAGE.name} has no place for the figures of '{name}'")
    PAGE.write_text(before + begin + figures(reports) + end + after, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m trust.page")
    parser.add_argument("reports", nargs="+", type=Path)
    parser.add_argument("--longest", action="store_true", help="the figures are those of the longest run")
    given = parser.parse_args()
    write([json.loads(path.read_text(encoding="utf-8")) for path in given.reports], given.longest)
