"""``python -m trust``: run the campaign and write its figures.

    python -m trust [--minutes M] [--only SECTION ...] [--seed N] [--first] [--page]

Ten minutes of the processor by default; ``HOURS=8 make trust`` is the night's run. Every section gets a share.
Figures and failures go to out/trust/report.json; `--page` also writes the figures into docs/trust.md. Exit code 1 if
anything failed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from trust import page  # noqa: E402
from trust.campaign import Clock, Failure, FirstFailure, Section  # noqa: E402

SHARES = {
    "mechanisms": 0.36,
    "files": 0.18,
    "faults": 0.18,
    "security": 0.06,
    "accuracy": 0.08,
    "large": 0.10,
    "supply": 0.04,
}


def run_section(name: str, seconds: float, seed: int) -> Section:
    campaign: Callable[[Clock, int], Section] = import_module(f"trust.{name}").campaign
    clock = Clock(seconds)
    try:
        section = campaign(clock, seed)
    except FirstFailure as failure:
        section = failure.section
    except Exception as error:  # a section that breaks is a finding, and the others still run
        section = Section(name, "")
        section.failures.append(Failure("the section itself", f"{type(error).__name__}: {error}"))
    section.seconds = round(clock.spent, 1)
    return section


def told(section: Section) -> str:
    figures = ", ".join(
        f"{what}: {value:g}" if isinstance(value, float) else f"{what}: {value}"
        for what, value in section.counts.items()
    )
    lines = [f"{section.name} ({section.seconds:.0f} s): {figures}"]
    lines += [f"  left out: {text}" for text in section.left_out]
    lines += [f"  FAILED {failure}" for failure in section.failures]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m trust", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60 * float(os.environ.get("HOURS") or 1 / 6))
    parser.add_argument("--only", nargs="*", choices=SHARES, default=list(SHARES))
    parser.add_argument("--seed", type=int, default=int(time.strftime("%Y%m%d")) * 1000)
    parser.add_argument("--page", action="store_true", help="write the figures into docs/trust.md")
    parser.add_argument("--first", action="store_true", help="end each section with its first failure")
    given = parser.parse_args()
    Section.first_only = given.first
    whole = sum(SHARES[name] for name in given.only)
    sections = []
    print(f"{given.minutes:g} minutes from seed {given.seed}; the same seed tries the same things")
    for name in given.only:
        seconds = 60 * given.minutes * SHARES[name] / whole
        print(f"{name}: {seconds:.0f} s ...", flush=True)
        sections.append(run_section(name, seconds, given.seed))
        print(told(sections[-1]), flush=True)
    about = {
        "date": time.strftime("%Y-%m-%d"),
        "minutes": given.minutes,
        "seed": given.seed,
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
    }
    folder = ROOT / "out" / "trust"
    folder.mkdir(parents=True, exist_ok=True)
    report = {"about": about, "sections": [section.as_data() for section in sections]}
    (folder / "report.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    if given.page:
        page.write(about, sections)
    failed = sum(len(section.failures) for section in sections)
    print(f"{failed} failed; {folder.relative_to(ROOT)}/report.json has all of it")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
