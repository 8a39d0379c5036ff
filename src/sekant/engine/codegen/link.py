"""Object code -> executable memory."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from sekant.engine.codegen.objects import target_machine
from sekant.engine.codegen.operations import libm_symbols

_names = itertools.count()


@cache
def _jit() -> Any:
    return llvm.create_lljit_compiler(target_machine(), use_jit_link=True)


@cache
def _symbols() -> dict[str, int]:
    return libm_symbols()


class Linked:
    """Object code in executable memory; `address` is valid as long as this object lives."""

    def __init__(self, objects: Sequence[bytes], entry: str):
        library = llvm.JITLibraryBuilder()
        for data in objects:
            library.add_object_img(data)
        for name, place in _symbols().items():
            library.import_symbol(name, place)
        library.export_symbol(entry)
        self._jit = _jit()
        self._tracker = library.link(self._jit, f"sekant{next(_names)}")
        self.address = int(self._tracker[entry])
