"""Functions of a model as object code in a library, and the C that calls them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from sekant.engine.codegen.build import build
from sekant.engine.codegen.native import NativeFunction
from sekant.io.export.c_function import CFunction
from sekant.object_code.portable import PortableCode, compile_function
from sekant.object_code.target import TARGETS, Target, host_target

if TYPE_CHECKING:
    from sekant.engine.system import System
    from sekant.geometry.spatial import SX

Floats = NDArray[np.float64]


class Portable(Protocol):
    """Functions with code for every target."""

    def portable(self, target: Target) -> PortableCode: ...


class ObjectFunctions:
    """Functions of a system as object code in a library, each with the name ``sekant_of_model_NAME``.

    The C text calls them as functions of plain arrays.
    """

    def __init__(self, system: System):
        self.system = system.with_expressions()
        self.codes: dict[str, Portable] = {}
        self._tables: dict[bytes, tuple[str, Floats]] = {}
        self._modes = 2

    def function(
        self, name: str, inputs: Sequence[tuple[str, SX]], outputs: Sequence[tuple[str, SX]]
    ) -> CFunction:
        lookups, symbols = self.system.equations.lookups, [x for _, x in inputs]
        native = build(name, symbols, [y for _, y in outputs], lookups, linked=False)
        return self.wrapped(name, native, [n for n, _ in inputs], [n for n, _ in outputs])

    def wrapped(
        self, name: str, native: NativeFunction, inputs: Sequence[str], outputs: Sequence[str]
    ) -> CFunction:
        """``static void name(const real *<input> ..., real *<output> ...)``."""
        symbol = self.add(name, native)
        parameters = [f"const real *{n}" for n in inputs] + [f"real *{n}" for n in outputs]
        text = (
            f"static void {name}({', '.join(parameters)}) {{\n"
            f"    const double *const arg[] = {{{', '.join([*inputs, self.table(native), 'free_modes'])}}};\n"
            f"    double *const res[] = {{{', '.join(outputs)}}};\n"
            f"    double w[{max(1, native.work_size)}];\n"
            f"    {symbol}(arg, res, w);\n}}\n"
        )
        return CFunction(name, text, native.stats.operations, 8 * native.work_size)

    def add(self, name: str, code: Portable) -> str:
        """Add a function as object code; returns its name."""
        if isinstance(code, NativeFunction):
            self._modes = max(self._modes, code.sizes_in[-1])
        self.codes.setdefault(name, code)
        return f"sekant_of_model_{name}"

    def table(self, native: NativeFunction) -> str:
        """The C name of the buffer of its tables."""
        content = native.tables.tobytes()
        return self._tables.setdefault(content, (f"tables{len(self._tables)}", native.tables))[0]

    @property
    def tables(self) -> dict[str, Floats]:
        return dict(self._tables.values())

    def text(self) -> str:
        """Declarations and data before all wrappers."""
        lines = [f"static const double {n}[] = {{{_numbers(t)}}};" for n, t in self._tables.values()]
        lines.append(f"static const double free_modes[{self._modes}] = {{0}};")
        for name in self.codes:
            lines.append(
                f"extern void sekant_of_model_{name}(const double *const *, double *const *, double *);"
            )
        return "\n".join(lines)

    def objects(self, platform: str, native: bool) -> list[bytes]:
        """Object code for a platform; `native`: for this processor."""
        target = host_target() if native else TARGETS[platform]
        return [
            compile_function(function.portable(target), f"sekant_of_model_{name}", target)
            for name, function in self.codes.items()
        ]


def _numbers(values: Floats) -> str:
    return (
        ", ".join(float(value).hex() if np.isfinite(value) else _infinite(value) for value in values) or "0"
    )


def _infinite(value: float) -> str:
    return "NAN" if np.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
