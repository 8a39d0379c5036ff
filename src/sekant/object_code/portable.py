"""Code for other targets: IR -> object code of named functions, or one WebAssembly module.

IR is the same for all targets except for the changes of `adapted`. WebAssembly needs no linker: LLVM emits an
object with every index and address written as if it were the only module and its data began at 0. That is
final where all code is one module; entries for linkers are dropped. Such a module has no exports: the
requested functions are in the table of functions, from index 1 on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray

from sekant.errors import SekantError
from sekant.object_code.link import ENTRY
from sekant.object_code.target import (
    Target,
    compile_linked,
    optimization,
    optimize,
    tape_optimization,
    target_machine,
)

NUMBERS = "sekant_numbers"
"""Name of the array of a function's numbers in its code."""
STACK_TOP = 1 << 16
"""Start of the memory of a page in WebAssembly, in bytes; the module's own data and its stack lie below."""
LEAST_STACK = 1 << 14
"""Smallest size of the stack in bytes."""
FUNCTION, PROCEDURE = "void @{}(ptr, ptr, ptr)", "i64 @{}(ptr, double, double)"
"""LLVM types of the entries of the table of functions."""
_UNFUSED = """
define internal double @sekant.multiply_add(double %a, double %b, double %c) alwaysinline {
 %p = fmul double %a, %b
 %s = fadd double %p, %c
 ret double %s
}
"""
_EXTREME = """
define internal double @sekant.{name}(double %a, double %b) alwaysinline {{
 %first = fcmp {comparison} double %a, %b
 %none = fcmp uno double %b, %b
 %one = or i1 %first, %none
 %found = select i1 %one, double %a, double %b
 ret double %found
}}
"""


@dataclass(frozen=True, eq=False)
class PortableCode:
    """A function for a target: modules of IR that define `ENTRY`, and the numbers that they refer to.
    `looped`: whether it contains loops, for which more LLVM passes are used."""

    modules: tuple[str, ...]
    numbers: NDArray[np.float64]
    work_size: int
    looped: bool = False


def adapted(text: str, target: Target) -> str:
    """IR text for a target. Without fused operations, products and sums are rounded separately. For
    minimum and maximum operations that ignore NaN, LLVM would call the C library from WebAssembly."""
    if not target.fused:
        text = text.replace(" contract ", " ")
        text = _replaced(text, "llvm.fma.f64", "sekant.multiply_add", _UNFUSED)
    if target.is_wasm:
        for name, comparison in (("minnum", "ole"), ("maxnum", "oge")):
            helper = _EXTREME.format(name=name, comparison=comparison)
            text = _replaced(text, f"llvm.{name}.f64", f"sekant.{name}", helper)
    return text


def _replaced(text: str, name: str, other: str, definition: str) -> str:
    if f"call double @{name}(" not in text:
        return text
    return text.replace(f"call double @{name}(", f"call double @{other}(") + definition


def compile_function(code: PortableCode, name: str, target: Target) -> bytes:
    """Object code of a function with its own name, hidden by libraries; optimized as for this process."""
    module = _function(code, name, target, llvm.create_context())
    module.get_function(name).visibility = "hidden"
    return compile_linked(module, target, optimization() if code.looped else tape_optimization())


def _function(code: PortableCode, name: str, target: Target, context: Any) -> Any:
    """One module that exports only the function and its numbers. For LLVM these are variables, as in linked
    code: if LLVM folded them, fused products and sums would be rounded differently."""
    items = ", ".join(f"double 0x{int(word):016X}" for word in code.numbers.view(np.uint64))
    whole = llvm.parse_assembly(
        f"@{NUMBERS} = hidden global [{code.numbers.size} x double] [{items}]\n", context
    )
    for text in code.modules:
        whole.link_in(llvm.parse_assembly(adapted(text, target), context))
    for value in (*whole.functions, *whole.global_variables):
        if not value.is_declaration and value.name not in (ENTRY, NUMBERS):
            value.linkage = "internal"
    whole.get_global_variable(NUMBERS).name = f"{name}_numbers"
    entry = whole.get_function(ENTRY)
    entry.name = name
    if entry.name != name:
        raise SekantError(f"a function cannot be named '{name}': its own code uses that name")
    return whole


def optimized_procedure(text: str, symbol: str, target: Target) -> bytes:
    """Bitcode of a procedure from its IR, optimized for a target, for `wasm_module`."""
    machine = target_machine(target)
    module = llvm.parse_assembly(adapted(text, target), llvm.create_context())
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name != symbol:
            value.linkage = "internal"
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    optimize(module, machine, 2, plain_loops=True)
    return module.as_bitcode()


def wasm_module(
    functions: Sequence[tuple[str, PortableCode]],
    procedures: Sequence[str],
    made: Iterable[bytes],
    target: Target,
    small: bool = False,
) -> bytes:
    """One WebAssembly module. Its table holds the functions and then the procedures, by these names; `made`:
    results of `optimized_procedure` for the procedures and those that they call. A `small` module is a third smaller
    and takes three times as long to make; it is as fast, for the browser optimizes the code that it runs."""
    machine, context = target_machine(target, 1 if small else 0), llvm.create_context()
    names = [*(name for name, _ in functions), *procedures]
    declared = [FUNCTION.format(name) for name, _ in functions] + [PROCEDURE.format(p) for p in procedures]
    table = "".join(f"declare {line}\n" for line in declared)
    table += f"@table = constant [{len(names)} x ptr] [{', '.join(f'ptr @{name}' for name in names)}]\n"
    whole = llvm.parse_assembly(table, context)
    whole.triple, whole.data_layout = machine.triple, str(machine.target_data)
    kept = {"table", *(f"{name}_numbers" for name, _ in functions)}
    for name, code in functions:
        one = _function(code, name, target, context)
        one.triple, one.data_layout = whole.triple, whole.data_layout
        optimize(one, machine, tape_optimization(), plain_loops=True)
        whole.link_in(one)
    for bitcode in made:
        whole.link_in(llvm.parse_bitcode(bitcode, context))
    for value in (*whole.functions, *whole.global_variables):
        if not value.is_declaration and value.name not in kept:
            value.linkage = "internal"
    module = _without_custom_sections(machine.emit_object(whole))
    size = data_end(module)
    if size > STACK_TOP - LEAST_STACK:
        raise SekantError(
            f"the constants of this code take {size} bytes, but a WebAssembly module has room for "
            f"{STACK_TOP - LEAST_STACK}; pass its tables as data of the run, or simplify the model"
        )
    return module


def _sections(module: bytes) -> Iterable[tuple[int, bytes]]:
    """Kinds of sections, and sections with their headers; LLVM writes the size of a section in five bytes."""
    at = 8
    while at < len(module):
        end = at + 6 + _number(module, at + 1)[0]
        yield module[at], module[at:end]
        at = end


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number in LEB128, and its end."""
    found = shift = 0
    while True:
        byte = data[at]
        found |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if not byte & 128:
            return found, at


def _without_custom_sections(module: bytes) -> bytes:
    return module[:8] + b"".join(section for kind, section in _sections(module) if kind)


def data_end(module: bytes) -> int:
    """End of a module's data in its memory, from the last of the segments ``i32.const offset end size bytes``."""
    end = 0
    for kind, section in _sections(module):
        if kind == 11:
            count, at = _number(section, 6)
            for _ in range(count):
                if section[at] != 0 or section[at + 1] != 0x41:
                    raise SekantError("LLVM wrote data in a form that Sekant does not recognize")
                offset, at = _number(section, at + 2)
                size, at = _number(section, at + 1)
                end, at = max(end, offset + size), at + size
    return end
