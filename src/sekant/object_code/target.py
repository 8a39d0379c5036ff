"""LLVM IR text -> object code for this processor, or for another target.

This file is also the program of the worker processes: it needs only llvmlite, and communicates in frames of an
eight-byte length and the bytes, IR text in and object code out.
"""

from __future__ import annotations

import os
import struct
import sys
from dataclasses import dataclass
from functools import cache
from typing import IO, Any

import llvmlite
import llvmlite.binding as llvm

_LENGTH = struct.Struct("<q")

OPTIMIZATION = "SEKANT_OPTIMIZATION"
"""Environment variable for the optimization of models: 2, or 0 for code that compiles in a quarter of the time and
takes some 1.6 times as long to run. The loops of the solvers are always optimized at level 2."""


@dataclass(frozen=True)
class Target:
    """The target of object code. `triple`, `cpu`, `features`: in LLVM's names. `fused`: whether a product and
    a sum may be one operation with one rounding; without it, all targets with the same math library compute
    the same numbers. Emitters accept a target if their text depends on it."""

    triple: str
    cpu: str = "generic"
    features: str = ""
    fused: bool = False

    @property
    def is_wasm(self) -> bool:
        return self.triple.startswith("wasm32")


WASM = Target("wasm32-unknown-unknown", "", "+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext")
"""WebAssembly with features of all browsers since 2023; it has no fused operations."""
TARGETS = {
    "linux64": Target("x86_64-unknown-linux-gnu", "x86-64"),
    "win64": Target("x86_64-pc-windows-gnu", "x86-64"),
    "darwin64": Target("x86_64-apple-macosx10.13.0", "x86-64"),
    "aarch64-linux": Target("aarch64-unknown-linux-gnu"),
    "aarch64-darwin": Target("arm64-apple-macosx11.0.0"),
    "wasm32": WASM,
}
"""Targets by the names of platforms in FMUs: any processor of the kind, and no fused operations."""


@cache
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@cache
def _initialize_all() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


@cache
def host_target() -> Target:
    """This processor, with all of its instructions."""
    _initialize()
    triple, features = llvm.get_process_triple(), llvm.get_host_cpu_features()
    fused = triple.startswith(("aarch64", "arm64")) or bool(features.get("fma", False))
    return Target(triple, llvm.get_host_cpu_name(), features.flatten(), fused)


def level_target(level: str) -> Target:
    """The target of a level of processors, see `levels_of_architecture`; empty: this processor."""
    if not level:
        return host_target()
    triple, intel = host_target().triple, level.startswith("x86")
    return Target(triple, level if intel else "generic", "", fused=level != "x86-64")


def optimization() -> int:
    """Optimization level of models from the environment: 0 or 2."""
    return 0 if os.environ.get(OPTIMIZATION) == "0" else 2


STRAIGHT = 1
"""Level for code without loops, in which every value is computed once: only the pass of level 2 that combines
instructions. The other passes take as long as generating the machine code, and do not change it."""


def tape_optimization() -> int:
    """Optimization level of functions from tapes: 0 or `STRAIGHT`."""
    return min(optimization(), STRAIGHT)


@cache
def target_identity() -> str:
    """All properties of compiler and processor that affect object code."""
    host, version = host_target(), ".".join(str(v) for v in llvm.llvm_version_info)
    return "\n".join([llvmlite.__version__, version, host.triple, host.cpu, host.features])


def level_of_processor() -> tuple[str, ...]:
    """The levels of processors whose code runs on this one, best first."""
    _initialize()
    architecture = llvm.get_process_triple().partition("-")[0]
    features = llvm.get_host_cpu_features()
    if architecture != "x86_64":
        return (architecture,)
    has_all = all(features.get(name, False) for name in _V3)
    return ("x86-64-v3", "x86-64") if has_all else ("x86-64",)


def has_long_registers() -> bool:
    """Whether this processor has registers for eight doubles."""
    return bool(llvm.get_host_cpu_features().get("avx512f", False))


def levels_of_architecture() -> tuple[str, ...]:
    """The levels for which packages contain code for processors of this kind."""
    _initialize()
    architecture = llvm.get_process_triple().partition("-")[0]
    return ("x86-64-v3", "x86-64") if architecture == "x86_64" else (architecture,)


_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")


@cache
def target_machine(target: Target | None = None, optimization: int = 2) -> Any:
    """LLVM's machine for a target, by default this processor; creating one takes longer than compiling a small
    module."""
    target = target or host_target()
    _initialize() if target.triple == host_target().triple else _initialize_all()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu,
        features=target.features,
        opt=optimization,
        reloc="static" if target.is_wasm else "pic",
        codemodel="small",
    )


def compile_module(
    text: str, target: Target | None = None, optimization: int = 2, plain_loops: bool = False
) -> bytes:
    """Object code of one module of IR text, optimized at level 2 without vectorization, `STRAIGHT`, or not at all.

    Vectorizing scalar operations takes five times as long as the other passes and gains nothing on these
    tapes. `plain_loops`: loops are not unrolled or vectorized. Those of the solvers have few iterations:
    unrolling and vectorizing them doubles the compilation time and makes them up to a fifth slower. `target`:
    by default this processor.
    """
    return compile_linked(llvm.parse_assembly(text, llvm.create_context()), target, optimization, plain_loops)


def compile_linked(
    module: Any, target: Target | None = None, optimization: int = 2, plain_loops: bool = False
) -> bytes:
    """Like `compile_module`, for a module that LLVM has already parsed."""
    machine = target_machine(target, optimization)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    optimize(module, machine, optimization, plain_loops)
    return machine.emit_object(module)


def optimize(module: Any, machine: Any, optimization: int, plain_loops: bool) -> None:
    """Run LLVM's passes on a module; see `compile_module`."""
    if not optimization:
        return
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    tuning.slp_vectorization = False
    if plain_loops:
        tuning.loop_unrolling = tuning.loop_vectorization = False
    builder = llvm.create_pass_builder(machine, tuning)
    if optimization == STRAIGHT:
        passes = llvm.create_new_function_pass_manager()
        passes.add_instruction_combine_pass()
        for function in module.functions:
            if not function.is_declaration:
                passes.run(function, builder)
        return
    builder.getModulePassManager().run(module, builder)


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
        write_frame(sink, compile_module(text.decode(), optimization=int(os.environ[OPTIMIZATION])))


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
