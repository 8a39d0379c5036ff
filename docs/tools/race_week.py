"""How long one waits for the commands of the tutorial on a race team's week."""

from __future__ import annotations

import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time

from pages import DOCS, blocks
from sekant.version import __version__

IMPORTS = "from pathlib import Path\n"  # of blocks before
PAGE = DOCS / "tutorials" / "race_week.md"


def waits() -> str:
    """Seconds of every command, first with an empty cache and then again."""
    lines = [
        "| command | first run: elapsed time | first run: processor time | second run: elapsed time "
        "| second run: processor time |",
        "|---|---|---|---|---|",
    ]
    rows: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(2):
            with tempfile.TemporaryDirectory() as folder:
                for command, times in _once(folder, cache):
                    rows.setdefault(command, []).extend(times)
    for command, times in rows.items():
        words = shlex.split(command)
        given = words.index("--maneuver") + 1 if "--maneuver" in words else 2
        lines.append(
            f"| `{' '.join(words[:2])}` {words[given]} | "
            + " | ".join(f"{seconds:.1f}" for seconds in times)
            + " |"
        )
    total = [sum(times[k] for times in rows.values()) for k in range(4)]
    lines.append("| total | " + " | ".join(f"{seconds:.1f}" for seconds in total) + " |")
    load = os.getloadavg()[0]
    lines.append(
        f"\nSekant {__version__}, {time.strftime('%Y-%m-%d')}, {os.cpu_count()} processors, load average {load:.1f}."
    )
    return "\n".join(lines)


def _once(folder: str, cache: str):
    """Every block of the page in a folder; commands with their waiting and processor seconds."""
    env = {**os.environ, "SEKANT_CACHE_DIR": cache}
    for block in blocks(PAGE.read_text(encoding="utf-8")):
        if block.kind == "python":
            subprocess.run(
                [sys.executable, "-c", IMPORTS + block.text], cwd=folder, check=True, capture_output=True
            )
        for command in block.commands:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            begin = time.perf_counter()
            words = [sys.executable, "-m", "sekant", *shlex.split(command)[1:]]
            subprocess.run(words, cwd=folder, env=env, check=True, capture_output=True)
            wait = time.perf_counter() - begin
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            yield command, (wait, busy)
