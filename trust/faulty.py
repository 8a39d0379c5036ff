"""Runs commands of `sekant` with faults in their file layer: ``python -m trust.faulty`` is a server of such runs.

Each line of its input is a JSON object, and each line of its output the answer. The server forks a process for each
run, so that modules are imported once. Every call of the operating system that opens a file for writing,
writes, renames or removes one is counted. Call number `at` meets the fault: `kill` (SIGKILL before the call),
`full` (the disk is full from this call), or `interrupt` (like Ctrl-C). With `processor`, the processor
appears to be the oldest of its kind. With `sealed`, file permissions apply to root, too. With `home` they do
so as well, and the folder is the user's home directory instead of the cache.
"""

from __future__ import annotations

import atexit
import ctypes
import errno
import importlib
import io
import json
import mmap
import os
import pathlib
import signal
import stat
import sys
import traceback
from contextlib import suppress
from typing import Any

FAULT, AT = "none", 0
CALLS = mmap.mmap(-1, 8)  # shared with the forked process
SECONDS = 300
"""Time limit of a run, enforced by SIGALRM."""


def meet(frees: bool = False) -> None:
    """Count one call; the chosen one meets the fault. Files can still be removed from a full disk (`frees`)."""
    calls = int.from_bytes(CALLS[:], "little") + 1
    CALLS[:] = calls.to_bytes(8, "little")
    if FAULT == "kill" and calls == AT:
        os.kill(os.getpid(), signal.SIGKILL)
    if FAULT == "interrupt" and calls == AT:
        signal.raise_signal(signal.SIGINT)
    if FAULT == "full" and 0 < AT <= calls and not frees:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Writer(io.FileIO):
    """A file whose writes are counted."""

    def write(self, data: Any) -> int:
        meet()
        return super().write(data)


def opening(original: Any) -> Any:
    def opened(file: Any, mode: str = "r", buffering: int = -1, *rest: Any, **options: Any) -> Any:
        writes = any(sign in mode for sign in "wax+") and isinstance(file, (str, os.PathLike, int))
        if not writes or (isinstance(file, int) and not stat.S_ISREG(os.fstat(file).st_mode)):
            return original(file, mode, buffering, *rest, **options)
        if not isinstance(file, int):
            meet()
        raw = Writer(file, mode.replace("b", "").replace("t", ""))
        stream = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return (
            stream if "b" in mode else io.TextIOWrapper(stream, encoding=options.get("encoding") or "utf-8")
        )

    return opened


def counted(original: Any, frees: bool) -> Any:
    def called(*given: Any, **options: Any) -> Any:
        meet(frees)
        return original(*given, **options)

    return called


def other_processor() -> None:
    """The oldest processors of this kind, with only the features that all of them have."""
    import llvmlite.binding as llvm

    llvm.get_host_cpu_name = lambda: "x86-64"
    llvm.get_host_cpu_features = llvm.FeatureMap


def seal() -> None:
    """Drop the capabilities that let root write anywhere (Linux; nothing changes on other systems or for
    other users)."""
    version, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    with suppress(AttributeError, OSError):
        libc = ctypes.CDLL(None)
        if libc.capget(version, data) == 0:
            for word in (
                0,
                1,
            ):  # effective and permitted; 1 and 2 are CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
                data[word] &= ~0b110
            libc.capset(version, data)


def prepare(fault: str, at: int) -> None:
    """Install the fault."""
    import builtins

    global FAULT, AT
    FAULT, AT = fault, at
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if fault == "processor":
        other_processor()
    if fault in ("sealed", "home"):
        seal()
    builtins.open = opening(builtins.open)
    io.open = builtins.open
    os.fdopen = opening(os.fdopen)
    pathlib.io.open = builtins.open  # type: ignore[attr-defined]
    for name in ("replace", "rename", "unlink", "mkdir"):
        setattr(os, name, counted(getattr(os, name), frees=name == "unlink"))


def run(request: dict[str, Any]) -> int:
    """The command of a request in this process; its exit code."""
    from sekant.views.cli import main

    os.chdir(request["folder"])
    for number, name in enumerate((os.devnull, ".output", ".error")):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), number)
    if request["fault"] == "home":
        for name in ("SEKANT_CACHE_DIR", "XDG_CACHE_HOME"):
            os.environ.pop(name, None)
        os.environ["HOME"] = request["home"]
    else:
        os.environ["SEKANT_CACHE_DIR"] = request["home"]
    sys.argv = ["sekant", *request["words"]]
    code: Any = 0
    try:
        prepare(request["fault"], request["at"])
        main()
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    modules = os.open(".modules", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(modules, json.dumps(list(sys.modules)).encode())
    sys.stderr.flush()
    sys.stdout.flush()
    return code if isinstance(code, int) else 1


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Exit code, number of calls, and the error output of the command."""
    for name in request.get("import", ()):
        with suppress(Exception):
            importlib.import_module(name)
    if "words" not in request:
        return {}
    CALLS[:] = bytes(8)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(SECONDS)
            code = run(request)
        finally:
            os._exit(code)
    _, status, usage = os.wait4(child, 0)
    error = pathlib.Path(request["folder"], ".error").read_text(errors="replace")
    code, calls = os.waitstatus_to_exitcode(status), int.from_bytes(CALLS[:], "little")
    return {"code": code, "calls": calls, "error": error, "seconds": usage.ru_utime + usage.ru_stime}


def main() -> None:
    import sekant.views.cli  # noqa: F401 -- forked processes find it imported

    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
