"""What the first use of each compiled loop costs, measured while the pages are built."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from sekant.loops.declare.procedures import ALL
from sekant.loops.store.objects import import_all

PROGRAM = """
import sys
from sekant.loops.store import objects
objects.import_all()
objects.prepare(*(p for p in objects.ALL.values() if p.words == sys.argv[1] and p.module.startswith("sekant.")))
"""


def table(names: Sequence[str] | None = None) -> str:
    """Processor seconds of processes that compile a loop, and of those that find it in the cache."""
    import_all()
    names = names or sorted({p.words for p in ALL.values() if p.module.startswith("sekant.")})
    lines = ["| loop | first use, s | later uses, s |", "|---|---|---|"]
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            first, later = (_seconds(name, folder) for _ in range(2))
        lines.append(f"| {name} | {first:.1f} | {later:.1f} |")
    return "\n".join(lines)


def _seconds(name: str, cache: str) -> float:
    """Processor time of a process and of all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "SEKANT_CACHE_DIR": cache}
    subprocess.run([sys.executable, "-c", PROGRAM, name], env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
