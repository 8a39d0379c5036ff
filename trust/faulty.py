"""Runs `sekant` with faults in its file layer: ``python -m trust.faulty FAULT NUMBER COUNTER WORDS...``

Every call of the operating system that opens a file for writing, writes, renames or removes one is counted. The call
number NUMBER is answered with the fault: `kill` (SIGKILL before it), `full` (the disk is full from then on), or
`interrupt` (as Ctrl-C). With `processor` the processor seems to be the oldest of its kind from the start. COUNTER is
a file that gets the number of calls, by which the campaign knows when to end.
"""

from __future__ import annotations

import errno
import io
import os
import pathlib
import signal
import sys
from typing import Any

FAULT, AT, COUNTER = sys.argv[1], int(sys.argv[2]), sys.argv[3]
calls = 0


def meet() -> None:
    """Count one call; the chosen one meets the fault."""
    global calls
    calls += 1
    os.truncate(COUNTER, calls)
    if FAULT == "kill" and calls == AT:
        os.kill(os.getpid(), signal.SIGKILL)
    if FAULT == "interrupt" and calls == AT:
        signal.raise_signal(signal.SIGINT)
    if FAULT == "full" and 0 < AT <= calls:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Writer(io.FileIO):
    """A file whose writes are counted."""

    def write(self, data: Any) -> int:
        meet()
        return super().write(data)


def opening(original: Any) -> Any:
    def opened(file: Any, mode: str = "r", buffering: int = -1, *rest: Any, **options: Any) -> Any:
        writes = any(sign in mode for sign in "wax+") and isinstance(file, (str, os.PathLike, int))
        if not writes or (isinstance(file, int) and file <= 2):
            return original(file, mode, buffering, *rest, **options)
        if not isinstance(file, int):
            meet()
        raw = Writer(file, mode.replace("b", "").replace("t", ""))
        stream = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return (
            stream if "b" in mode else io.TextIOWrapper(stream, encoding=options.get("encoding") or "utf-8")
        )

    return opened


def counted(original: Any) -> Any:
    def called(*given: Any, **options: Any) -> Any:
        meet()
        return original(*given, **options)

    return called


def other_processor() -> None:
    """The first processors of this kind, which can do nothing beyond what all of them can."""
    import llvmlite.binding as llvm

    llvm.get_host_cpu_name = lambda: "x86-64"
    llvm.get_host_cpu_features = llvm.FeatureMap


def main() -> None:
    import builtins

    if FAULT == "processor":
        other_processor()
    from sekant.views.cli import main as command

    builtins.open = opening(builtins.open)
    io.open = builtins.open
    os.fdopen = opening(os.fdopen)
    pathlib.io.open = builtins.open  # type: ignore[attr-defined]
    for name in ("replace", "rename", "unlink", "mkdir"):
        setattr(os, name, counted(getattr(os, name)))
    sys.argv = ["sekant", *sys.argv[4:]]
    command()


if __name__ == "__main__":
    main()
