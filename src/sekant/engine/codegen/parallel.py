"""Compilation of several modules on all processors.

The compiler library allows one thread at a time, so other processors are used by separate processes. These
get the text of a module through a pipe and return its object code.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from queue import Empty, SimpleQueue

from sekant.cache.store import Entry, make_key, user_cache
from sekant.object_code import target as objects
from sekant.object_code.link import ENTRY, Linked
from sekant.object_code.target import (
    OPTIMIZATION,
    compile_module,
    optimization,
    read_frame,
    tape_optimization,
    target_identity,
    write_frame,
)

WORTH_A_PROCESS = 200_000
"""Remaining bytes of IR text (about 0.2 s of compilation) that justify starting a process."""


def compile_modules(
    texts: Sequence[str], level: int | None = None, processes: int | None = None
) -> list[bytes]:
    """Object code of each module, in order. `level` of optimization: by default that of tapes. `processes`:
    the largest number of processes, this one included."""
    level = tape_optimization() if level is None else level
    waiting: SimpleQueue[int] = SimpleQueue()
    for i in range(len(texts)):
        waiting.put(i)
    results: list[bytes | None] = [None] * len(texts)
    spare = sum(len(t) for t in texts[1:])
    limit = processes if processes is not None else min(os.cpu_count() or 1, 1 + spare // WORTH_A_PROCESS)
    helpers = [
        threading.Thread(target=_drive_worker, args=(texts, level, waiting, results), daemon=True)
        for _ in range(min(limit, len(texts)) - 1)
    ]
    for helper in helpers:
        helper.start()
    while (i := _next(waiting)) is not None:
        results[i] = compile_module(texts[i], optimization=level)
    for helper in helpers:
        helper.join()
    return [
        compile_module(t, optimization=level) if r is None else r for t, r in zip(texts, results, strict=True)
    ]


def _next(waiting: SimpleQueue[int]) -> int | None:
    try:
        return waiting.get_nowait()
    except Empty:
        return None


def _drive_worker(
    texts: Sequence[str], level: int, waiting: SimpleQueue[int], results: list[bytes | None]
) -> None:
    """Feed one worker process. The caller compiles what it fails to return."""
    command = [sys.executable, "-P", objects.__file__]
    try:
        worker = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, OPTIMIZATION: str(level)},
        )
    except OSError:
        return
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        while (i := _next(waiting)) is not None:
            write_frame(worker.stdin, texts[i].encode())
            results[i] = read_frame(worker.stdout)
            if results[i] is None:
                break
    except OSError:
        return
    finally:
        worker.stdin.close()
        worker.stdout.close()
        worker.wait()


def compile_text(text: str, cache: bool = True) -> Linked:
    """The function `ENTRY` of one module, which may call the functions of the C library that tapes may call."""
    store = user_cache() if cache else None
    key = make_key([target_identity(), str(optimization()), text])
    entry = store.load(key) if store is not None else None
    if entry is None:
        entry = Entry({}, tuple(compile_modules([text], optimization())))
        if store is not None:
            store.store(key, entry)
    return Linked(entry.objects, ENTRY)
