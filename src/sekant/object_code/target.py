"""LLVM IR text -> object code for this processor.

This file is also the program of the worker processes: it needs nothing but llvmlite, and it talks in frames of
an eight-byte length and the bytes, IR text in and object code out.
"""

from __future__ import annotations

import os
import struct
import sys
from functools import cache
from typing import IO, Any

import llvmlite
import llvmlite.binding as llvm

_LENGTH = struct.Struct("<q")

OPTIMIZATION = "SEKANT_OPTIMIZATION"
"""The variable of the environment for how much models are optimized: 2, or 0 for code made in an eighth of the
time that takes some 1.6 times as long to run. The loops of the solvers are always made at level 2."""


@cache
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def optimization() -> int:
    """Of models, as the environment has it: 0 or 2."""
    return 0 if os.environ.get(OPTIMIZATION) == "0" else 2


@cache
def target_identity() -> str:
    """Everything about compiler and processor on which object code depends."""
    _initialize()
    version = ".".join(str(v) for v in llvm.llvm_version_info)
    features = llvm.get_host_cpu_features().flatten()
    triple = llvm.get_process_triple()
    return "\n".join([llvmlite.__version__, version, triple, llvm.get_host_cpu_name(), features])


def level_of_processor() -> tuple[str, ...]:
    """The levels of processors whose code runs here, best first."""
    _initialize()
    architecture = llvm.get_process_triple().partition("-")[0]
    features = llvm.get_host_cpu_features()
    if architecture != "x86_64":
        return (architecture,)
    has_all = all(features.get(name, False) for name in _V3)
    return ("x86-64-v3", "x86-64") if has_all else ("x86-64",)


def has_long_registers() -> bool:
    """Whether registers of this processor have room for eight numbers."""
    return bool(llvm.get_host_cpu_features().get("avx512f", False))


@cache
def has_fused() -> bool:
    """Whether this processor has an instruction for a product and a sum with one rounding."""
    _initialize()
    arm = llvm.get_process_triple().startswith(("aarch64", "arm64"))
    return arm or bool(llvm.get_host_cpu_features().get("fma", False))


def levels_of_architecture() -> tuple[str, ...]:
    """The levels for which code is made where a package is built for processors of this kind."""
    _initialize()
    architecture = llvm.get_process_triple().partition("-")[0]
    return ("x86-64-v3", "x86-64") if architecture == "x86_64" else (architecture,)


_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")


@cache
def target_machine(level: str = "", optimization: int = 2) -> Any:
    """For this processor, or for a level of processors; making one takes longer than a small module."""
    _initialize()
    own = not level
    cpu = level if level.startswith("x86") else "generic"
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name() if own else cpu,
        features=llvm.get_host_cpu_features().flatten() if own else "",
        opt=optimization,
        reloc="pic",
        codemodel="small",
    )


def compile_module(text: str, level: str = "", optimization: int = 2, plain_loops: bool = False) -> bytes:
    """Object code of one module of IR text, optimized at level 2 without vectorization, or not at all.

    Joining scalar operations into vectors costs five times the other passes and gains nothing on these tapes.
    `plain_loops`: loops stay as they are written. Those of the solvers are over a handful of states: unrolled and
    vectorized they take twice the time to compile and up to a fifth more to run.
    """
    machine = target_machine(level, optimization)
    module = llvm.parse_assembly(text, llvm.create_context())
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    if optimization:
        tuning = llvm.create_pipeline_tuning_options(speed_level=optimization)
        tuning.slp_vectorization = False
        if plain_loops:
            tuning.loop_unrolling = tuning.loop_vectorization = False
        builder = llvm.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)


def write_frame(stream: IO[bytes], data: bytes) -> None:
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def read_frame(stream: IO[bytes]) -> bytes | None:
    """The next frame, or None at the end of the stream or within a broken frame."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(head)
    data = stream.read(size)
    return data if len(data) == size else None


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Compile modules of models until the source ends."""
    while (text := read_frame(source)) is not None:
        write_frame(sink, compile_module(text.decode(), optimization=optimization()))


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
