"""Markdown of the figures in out/bench.json, which `make bench` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from example_list import about

FILE = Path(__file__).parents[2] / "out" / "bench.json"
BENCHMARKS = FILE.parents[1] / "benchmarks"


def markdown(file: Path = FILE) -> str:
    """A section for each benchmark, or a sentence if nothing has been measured here."""
    if not file.is_file():
        return "Nothing has been measured here yet: run `make bench`, then `make docs` again."
    report = json.loads(file.read_text(encoding="utf-8"))
    here = report["machine"]
    parts = [f"Measured on {here['processor']}, {here['cores']} cores; Python {here['python']}."]
    if report.get("quick"):
        parts.append("This was a quick run, too short for reliable figures.")
    parts += [_section(result) for result in report["benchmarks"].values()]
    return "\n\n".join(parts)


def _section(result: dict[str, Any]) -> str:
    source = BENCHMARKS / f"{result['name']}.py"
    lines = [f"## {result['name']}", about(source) if source.is_file() else result["title"]]
    if "error" in result:
        return "\n\n".join([*lines, f"Could not run: {result['error']}"])
    rows = ["| measured | value | remark or goal |", "|---|---|---|"]
    for entry in result["figures"]:
        rows.append(_row(entry["name"], f"{entry['value']:.4g} {entry['unit']}", entry["note"]))
    for entry in result["targets"]:
        asked = ""
        if entry["limit"] is not None:
            relation = "at least" if entry["at_least"] else "at most"
            asked = f"{relation} {entry['limit']:g}: {'met' if entry['met'] else 'missed'}"
        rows.append(_row(f"**{entry['name']}**", f"{entry['value']:.3g} {entry['unit']}", asked))
    return "\n\n".join([*lines, "\n".join(rows)])


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
