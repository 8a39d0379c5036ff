"""``python -m trust``: run the campaign and write its figures.

    python -m trust [--minutes M] [--only SECTION ...] [--seed N] [--first] [--report FILE] [--page]

By default it takes ten minutes of processor time; ``HOURS=8 make trust`` is the run for a night. Every
section gets a share. Figures and failures go to out/trust/report.json; `--page` also writes the figures into
docs/trust.md. Ctrl-C ends the run and keeps the figures so far. Exit code 1 if anything failed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from trust import page  # noqa: E402
from trust.campaign import Clock, FirstFailure, Section  # noqa: E402

SECTIONS = {  # title, share of the time
    "mechanisms": ("Random mechanisms", 0.36),
    "files": ("Files and command lines", 0.16),
    "faults": ("Faults", 0.20),
    "security": ("Security", 0.06),
    "accuracy": ("Accuracy", 0.08),
    "large": ("Long and large", 0.10),
    "supply": ("Supply", 0.04),
}
MINUTES = 10.0


def run_section(name: str, seconds: float, seed: int) -> tuple[Section, bool]:
    """The results of a section, and whether Ctrl-C ended it."""
    title, _ = SECTIONS[name]
    section, clock, ended = Section(title, seed=seed), Clock(seconds), False
    try:
        campaign: Callable[[Section, Clock, int], None] = import_module(f"trust.{name}").campaign
        campaign(section, clock, seed)
    except FirstFailure:
        pass
    except KeyboardInterrupt:
        section.left_out.append(f"everything after {clock.spent / 60:.1f} of {seconds / 60:.1f} minutes")
        ended = True
    except Exception:  # a section that breaks is a finding, and the others still run
        with suppress(FirstFailure):
            section.fail("the section itself", traceback.format_exc(limit=-5))
    section.seconds = round(clock.spent, 1)
    return section, ended


def told(section: Section) -> str:
    figures = [f"{what}: {value:,}" for what, value in section.counts.items()]
    figures += [f"{what}: {value}" for what, value in section.measured.items()]
    lines = [f"{section.name} ({section.seconds:.0f} s): {', '.join(figures)}"]
    lines += [f"  left out: {text}" for text in section.left_out]
    lines += [f"  FAILED {failure}" for failure in section.failures]
    return "\n".join(lines)


def about() -> dict[str, Any]:
    """The machine and the version for which the figures were measured."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    return {
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit or "unknown",
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m trust", description=(__doc__ or "").partition("\n")[0])
    hours = float(os.environ.get("HOURS") or MINUTES / 60)
    parser.add_argument("--minutes", type=float, default=60 * hours)
    parser.add_argument("--only", nargs="*", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--seed", type=int, default=int(time.strftime("%Y%m%d")) * 1000)
    parser.add_argument("--report", type=Path, default=ROOT / "out" / "trust" / "report.json")
    parser.add_argument("--page", action="store_true", help="write the figures into docs/trust.md")
    parser.add_argument("--first", action="store_true", help="end each section at its first failure")
    given = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell's background ignores Ctrl-C
        signal.signal(number, signal.default_int_handler)
    Section.first_only = given.first
    whole = sum(SECTIONS[name][1] for name in given.only)
    sections: list[Section] = []
    print(f"{given.minutes:g} minutes from seed {given.seed}; the same seed tries the same things")
    for name in given.only:
        seconds = 60 * given.minutes * SECTIONS[name][1] / whole
        print(f"{name}: {seconds:.0f} s ...", flush=True)
        section, ended = run_section(name, seconds, given.seed)
        sections.append(section)
        print(told(section), flush=True)
        if ended:
            break
    report = {"about": about(), "sections": [section.as_data() for section in sections]}
    given.report.parent.mkdir(parents=True, exist_ok=True)
    given.report.write_text(json.dumps(report, indent=1), encoding="utf-8")
    if given.page:
        page.write([report], longest=given.minutes > MINUTES)
    failed = sum(len(section.failures) for section in sections)
    print(f"{failed} failed; see {given.report} for all of it")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
