"""Runs commands of `sekant` in separate processes with a limit of processor time, which does not depend on
the load of the machine."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PATIENCE = 10
"""Limit of wall time per second of processor time, so that a process that only waits ends, too."""


class Endless(Exception):
    """A command exceeded its time limit."""


def prepared(seconds: int, memory: int | None = None) -> Callable[[], None]:
    """Set up a new process: Ctrl-C reaches it even in the background of a shell, and its time is limited."""

    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return prepare


def sekant(
    words: Sequence[str],
    folder: Path,
    seconds: int,
    *,
    memory: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; raises `Endless` after `seconds` of processor time."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "sekant", *words],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            env=environment,
            timeout=PATIENCE * seconds,
            stdin=subprocess.DEVNULL,
            preexec_fn=prepared(seconds, memory),
        )
    except subprocess.TimeoutExpired:
        raise Endless(f"still running after {PATIENCE * seconds} s") from None
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise Endless(f"still running after {seconds} s of processor time")
    return done
