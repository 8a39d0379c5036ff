"""Procedures -> LLVM IR -> object code, in separate processes: the program of these processes."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence
from typing import IO

from sekant.cache.store import Entry, encode
from sekant.errors import SekantError
from sekant.loops.declare.procedures import Procedure
from sekant.loops.translate import translate
from sekant.object_code.target import TARGETS, compile_module, level_target, read_frame, write_frame


def compile_procedure(procedure: Procedure, targets: Sequence[str]) -> Entry:
    """The object code of a procedure for each target: a level of processors of this kind (empty: this
    processor), or a name of `TARGETS`."""
    text, needs = translate(procedure)
    plain, chosen = not procedure.long_loops, [TARGETS.get(name) or level_target(name) for name in targets]
    objects = tuple(compile_module(text, target, plain_loops=plain) for target in chosen)
    return Entry({"needs": sorted(needs)}, objects)


def serve(source: IO[bytes], sink: IO[bytes], targets: Sequence[str]) -> None:
    """Compile the requested procedures, frame by frame, until the input ends."""
    while (frame := read_frame(source)) is not None:
        module, name = json.loads(frame)
        write_frame(sink, encode(compile_procedure(getattr(importlib.import_module(module), name), targets)))


if __name__ == "__main__":
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer, sys.argv[1:])
    except SekantError as error:
        sys.exit(str(error))
