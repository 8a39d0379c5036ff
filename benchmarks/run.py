"""Run the benchmarks: python benchmarks/run.py [--quick] [--only NAME ...] [--json FILE]."""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.table import Table
from timing import machine

BENCHMARKS = (
    "dynamics_vehicle",
    "chain_scaling",
    "euler_million",
    "simulate_dop853",
    "balance",
    "path_size",
    "path_quarter_car",
    "path_fit",
    "opensim_custom_joint",
    "loops_four_bars",
    "loops_benchmarks",
    "friction_block",
    "elements",
    "kinematics_sweep",
    "pose_table",
    "reduction",
    "axle_designs",
    "car",
    "linearization",
    "lanes",
    "million_rows",
    "exported_c",
    "player_frames",
    "live",
    "startup",
    "waiting",
)
"""Modules with a function ``run(quick) -> {"figures": [...], "targets": [...]}``."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the speed of Sekant and of other programs.")
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=BENCHMARKS, metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="small cases, to check that everything runs")
    parser.add_argument("--json", type=Path, default=Path("out/bench.json"), metavar="FILE")
    options = parser.parse_args()

    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)
    report: dict[str, Any] = {"machine": machine(), "quick": options.quick, "benchmarks": {}}
    here = report["machine"]
    console.print(f"{here['processor']}, {here['cores']} cores, load {here['load']}; Python {here['python']}")
    if options.quick:
        console.print("quick: too short for reliable figures")
    for name in options.only:
        result = measure(name, options.quick)
        report["benchmarks"][name] = result
        show(console, result)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    console.print(f"written to {options.json}")
    return 1 if any("error" in result for result in report["benchmarks"].values()) else 0


def about(module: ModuleType) -> str:
    """The first sentence of the docstring."""
    return re.split(r"(?<=\.)\s+(?=[A-Z])", " ".join((module.__doc__ or module.__name__).split()))[0]


def measure(name: str, quick: bool) -> dict[str, Any]:
    """The result of one benchmark; a benchmark that cannot run reports the reason and does not affect the others."""
    began = perf_counter()
    module = importlib.import_module(name)
    result: dict[str, Any] = {"name": name, "title": about(module)}
    try:
        result |= module.run(quick)
    except ImportError as error:
        result["error"] = f"{error.name} is not installed; `make bench` installs it"
    except RuntimeError as error:
        result["error"] = str(error)
    result["wall_seconds"] = perf_counter() - began
    return result


def show(console: Console, result: dict[str, Any]) -> None:
    console.print(f"\n[bold]{result['name']}[/bold]: {result['title']}")
    if "error" in result:
        console.print(f"[red]could not run:[/red] {result['error']}")
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    for column, justify in (("name", "left"), ("value", "right"), ("note", "left")):
        table.add_column(column, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for entry in result["figures"]:
        note = entry["note"]
        if "runs" in entry:
            note = f"{note + ', ' if note else ''}best of {entry['runs']} runs of {entry['calls']}"
        table.add_row(entry["name"], f"{entry['value']:.4g} {entry['unit']}", note)
    table.add_section()
    for entry in result["targets"]:
        asked = ""
        if entry["limit"] is not None:
            relation = "at least" if entry["at_least"] else "at most"
            verdict = "[green]met[/green]" if entry["met"] else "[red]missed[/red]"
            asked = f"{relation} {entry['limit']:g}: {verdict}"
        table.add_row(entry["name"], f"{entry['value']:.3g} {entry['unit']}", asked)
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
