"""Procedures -> LLVM IR (numba) -> object code.

Numba optimizes a function together with all that it calls, and each of these again for every caller. Here it only
types and translates; the module that comes out, with all helpers in it, is optimized once.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Sequence
from typing import IO, Any

from numba.core import codegen, compiler, cpu, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from sekant.object_code.cache import Entry, encode
from sekant.object_code.target import compile_module, read_frame, write_frame
from sekant.solvers.common.intrinsics import OPTIONS, StructType, Translation
from sekant.solvers.common.loops import Procedure


class _Library(codegen.AOTCodeLibrary):
    """IR as numba writes it, all helpers linked in."""

    def _optimize_functions(self, ll_module):
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self):
        pass


class _Codegen(codegen.AOTCPUCodegen):
    _library_class = _Library


class _Context(cpu.CPUContext):
    def get_executable(self, library, fndesc, env):
        """Nothing runs here: a key by which numba finds the function again, of the kind that it expects."""
        return [].append


def take_over() -> None:
    """Let numba translate for this process's processor to IR only. This process can run nothing that it compiles."""
    plain = _Context(cpu_target.typing_context, "cpu")
    target: Any = cpu_target
    target._toplevel_target_context = plain.subtarget(
        _internal_codegen=_Codegen("sekant", cpu_name="generic"), aot_mode=True
    )


def translate(procedure: Procedure) -> str:
    """The LLVM IR of a procedure: one function that other modules can see, its symbol."""
    target: Any = cpu_target
    typing_context, context = target.typing_context, target.target_context
    typing_context.refresh()
    context.refresh()
    flags = compiler.Flags()
    cpu_target.options.parse_as_flags(flags, OPTIONS)
    arguments: Any = (StructType(procedure.struct), types.float64, types.float64)
    found = compiler.compile_extra(
        typing_context, context, procedure.function, arguments, types.int64, flags, {}, None, Translation
    )
    with global_compiler_lock:
        found.library._ensure_finalized()
    module = found.library._final_module
    name = found.fndesc.llvm_func_name
    for function in module.functions:
        if not function.is_declaration:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    return str(module) + _entry(procedure.symbol, name)


def _entry(symbol: str, function: str) -> str:
    """Numba's functions return a status and, through pointers, the value and what was raised."""
    return f"""
define i64 @{symbol}(ptr %m, double %a, double %b) nounwind {{
  %value = alloca i64
  %raised = alloca ptr
  %status = call i32 @{function}(ptr %value, ptr %raised, ptr %m, double %a, double %b)
  %found = load i64, ptr %value
  ret i64 %found
}}
"""


def compile_procedure(procedure: Procedure, levels: Sequence[str]) -> Entry:
    """Its object code for each level of processors."""
    text = translate(procedure)
    objects = tuple(compile_module(text, level) for level in levels)
    needs = sorted(set(re.findall(r"call i64 @(sekant_\w+)\(", text)) - {procedure.symbol})
    return Entry({"needs": needs}, objects)


def serve(source: IO[bytes], sink: IO[bytes], levels: Sequence[str]) -> None:
    """Compile what is asked for, frame by frame, until the source ends."""
    while (frame := read_frame(source)) is not None:
        module, name = json.loads(frame)
        write_frame(sink, encode(compile_procedure(getattr(importlib.import_module(module), name), levels)))


if __name__ == "__main__":
    take_over()
    serve(sys.stdin.buffer, sys.stdout.buffer, sys.argv[1:])
