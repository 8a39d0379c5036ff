"""Commands of `sekant` in processes of their own, whose time is that of the processor, whatever else runs."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PATIENCE = 10
"""Seconds of wall time for a second of processor time; a process that waits for something ends with it, too."""


class Endless(Exception):
    """A command took more than its time."""


def prepared(seconds: int, memory: int | None = None) -> Callable[[], None]:
    """What a new process does first: Ctrl-C reaches it, also from the background of a shell; its time is limited."""

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
    """A finished command; `Endless` after `seconds` of processor time."""
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
        raise Endless(f"no end after {PATIENCE * seconds} s") from None
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise Endless(f"no end after {seconds} s of processor time")
    return done
