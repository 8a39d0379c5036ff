"""Measures the time of several contenders, and describes the machine. Other work on the machine can only make
a run slower. So every contender runs many times for a few milliseconds, in turn with the others, and the best
run of each counts. Contenders in the same process are measured in processor time of the thread, so that
waiting for a processor does not count.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import thread_time
from typing import Any


@dataclass(frozen=True)
class Timed:
    """Best time of one call (s), the number of runs, and the number of calls in each run."""

    seconds: float
    runs: int
    calls: int


def best_of(
    contenders: Mapping[str, tuple[Callable[[], Any], int]], runs: int, warm_up: int = 2
) -> dict[str, Timed]:
    """Best time of each contender: a function of no arguments and the number of calls that it makes."""
    best = dict.fromkeys(contenders, float("inf"))
    for run in range(-warm_up, runs):
        for name, (function, _) in contenders.items():
            began = thread_time()
            function()
            seconds = thread_time() - began
            if run >= 0:
                best[name] = min(best[name], seconds)
    return {name: Timed(best[name] / calls, runs, calls) for name, (_, calls) in contenders.items()}


def machine() -> dict[str, Any]:
    """Processor, cores, load and relevant versions."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {}
    for package in ("sekant", "casadi", "llvmlite", "numba", "numpy", "scipy", "pin", "mujoco", "exudyn"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "versions": versions,
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def figure(name: str, timed: Timed, unit: str, note: str = "") -> dict[str, Any]:
    """A measured time in `unit` ("s", "ms", "us", "ns"), as an entry of the report."""
    scale = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
    return {
        "name": name,
        "value": timed.seconds * scale,
        "unit": unit,
        "runs": timed.runs,
        "calls": timed.calls,
        "note": note,
    }


def target(
    name: str, value: float, limit: float | None = None, *, at_least: bool = False, unit: str = "x"
) -> dict[str, Any]:
    """A result with its target, if there is one; `unit` "x" stands for a ratio."""
    met = None if limit is None else bool(value >= limit if at_least else value <= limit)
    return {"name": name, "value": value, "unit": unit, "limit": limit, "at_least": at_least, "met": met}
