"""Programs for pages: compiled functions and loops as one WebAssembly module, and the first content of its memory.

    program = PageProgram("rig")                              # for messages
    p = program.add_array(system.parameter_vector())          # memory shared with everything added later
    curves = program.add_call(function, {"q": q, "p": p}, {"y": y})
    walk = program.add_run(memory, {"advance": procedure}, {"t": "clock.t"}, called={"rates": rates})
    data = {**program.build(), "curves": curves, "walk": walk}

`data` is data for the page, where `module.js` runs it, in a worker too:

    const module = await Module.load(data);                   # fails if module and memory do not match
    module.array(data.p).set([...]);                          # the array of `place(p)`
    const { y } = module.ask(data.curves, { q: [0.1, 0.2] }); # other arguments keep their values
    module.restart(data.walk);                                # resets the memory of the run
    const code = module.proceed(data.walk, "advance", 1000, 0);  # a code of `solvers.common.outcome`
    const t = module.number(data.walk, "t");

Any function of a system can be called (those of `system.function`, `system.cached`; the system must have its
expressions, see `System.with_expressions`), and any procedure on a struct of `sekant.loops`. Memory is checked: the
total is at most `MOST_MEMORY`, and the page checks a guard at the end of the module's stack after each call.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SekantError
from sekant.loops.declare.procedures import Procedure
from sekant.loops.declare.structs import LINE, Struct, address_of
from sekant.loops.image import Image, image_of
from sekant.loops.store.objects import bitcode_of
from sekant.object_code.portable import STACK_TOP, data_end, wasm_module
from sekant.object_code.target import WASM
from sekant.solvers.common.memory import call_of
from sekant.solvers.common.sites import free_modes

Floats = NDArray[np.float64]
MOST_MEMORY = 96 << 20
"""Largest size of a program in bytes: both the page and its worker contain it, and need further memory."""


def packed_bytes(content: bytes) -> str:
    """Compressed bytes for `decode.js`."""
    return base64.b64encode(zlib.compress(content, 7)).decode()


class PageProgram:
    """Arrays and images of memory in sequence, and the functions that they and the page call."""

    def __init__(self, name: str):
        """`name`: of the model, for messages."""
        self._name = name
        self._functions: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._procedures: dict[str, Procedure] = {}
        self._images: list[tuple[int, Struct, Image]] = []
        self._arrays: list[tuple[int, NDArray[Any]]] = []
        self._end = STACK_TOP

    def add_array(self, array: NDArray[Any]) -> NDArray[Any]:
        """Add an array with its own contiguous memory and its content; structs that are added later refer to it."""
        if array.size and self._found(array) is None:
            self._arrays.append((self._end, array))
            self._grow(array.nbytes)
        return array

    def add_function(self, name: str, function: Any) -> None:
        """Add a function that a struct calls by its address."""
        if function.address not in self._names:
            name = name if name not in self._functions else f"{name}_{len(self._functions)}"
            self._functions[name] = function
            self._names[function.address] = name

    def add_call(
        self, function: Any, given: Mapping[str, Floats], found: Mapping[str, Floats], name: str = "function"
    ) -> dict[str, Any]:
        """Add a call of a function on arrays with these names, in its order, for `Module.ask`; calls may share
        arrays."""
        self.add_function(name, function)
        tables = self.add_array(function.tables if function.tables.size else np.zeros(1))
        arguments = [*(self.add_array(one) if one.size else np.zeros(1) for one in given.values()), tables]
        results = [self.add_array(one) if one.size else np.zeros(1) for one in found.values()]
        call = call_of(
            function,
            (*arguments, free_modes(function.sites)),
            results,
            np.zeros(max(1, function.work_size)),
        )
        base = self._add(call, ())
        image = self._images[-1][2]
        at = {key: base + (image.places[key].data or 0) for key in ("arg", "res", "work")}
        return {
            "function": self._names[function.address],
            **at,
            "given": {key: self.place(array) for key, array in given.items()},
            "found": {key: self.place(array) for key, array in found.items()},
        }

    def add_run(
        self,
        struct: Struct,
        procedures: Mapping[str, Procedure],
        fields: Mapping[str, str],
        *,
        called: Mapping[str, Any] | None = None,
        blank: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Add a struct with the procedures that work on it, for `Module.restart` and `Module.proceed`.

        `fields`: struct fields (``clock.t``) that a page sets and reads; `called`: functions that procedures call,
        by name; `blank`: arrays whose content is not needed.
        """
        for name, function in (called or {}).items():
            self.add_function(name, function)
        for procedure in procedures.values():
            self._procedures[procedure.symbol] = procedure
        base = self._add(struct, blank)
        image = self._images[-1][2]

        def place_of(field: str) -> list[int]:
            """Addresses of the field's word and of its first item, and its number of items."""
            place = image.places[field]
            first = 0 if place.data is None else base + place.data
            return [base + place.word, first, int(np.prod(place.shape)) if place.shape else 0]

        return {
            "at": base,
            "size": image.size,
            "procedures": {name: one.symbol for name, one in procedures.items()},
            "fields": {name: place_of(field) for name, field in fields.items()},
        }

    def place(self, array: NDArray[Any]) -> list[int]:
        """Address of an array in the page, and its number of items, for `Module.array`."""
        if not array.size:
            return [0, 0]
        found = self._found(array)
        if found is None:
            raise SekantError("the program does not contain this array")
        return [found, int(array.size)]

    def build(self, small: bool = False) -> dict[str, Any]:
        """Module and memory as data for the page; `small`: as for `wasm_module`."""
        code = [
            (f"sekant_page_{name}", function.portable(WASM)) for name, function in self._functions.items()
        ]
        module = wasm_module(
            code, list(self._procedures), bitcode_of(list(self._procedures.values()), "wasm32"), WASM, small
        )
        numbers = {name: 1 + k for k, name in enumerate([*self._functions, *self._procedures])}
        words = np.zeros((self._end - STACK_TOP) // 8, dtype=np.int64)
        for base, array in self._arrays:
            first = (base - STACK_TOP) // 8
            words[first : first + array.size] = np.ascontiguousarray(array).ravel().view(np.int64)
        for base, struct, image in self._images:
            outside = {name: base for name, (base, _) in self._outside(struct).items()}
            first = (base - STACK_TOP) // 8
            words[first : first + image.size // 8] = image.at(base, numbers, outside)
        content = words.tobytes().rstrip(b"\0")
        return {
            "module": packed_bytes(module),
            "memory": packed_bytes(content),
            "border": -(-data_end(module) // LINE) * LINE,
            "base": STACK_TOP,
            "end": self._end,
            "table": len(numbers) + 1,
            "numbers": numbers,
            "bytes": {"module": len(module), "memory": len(content)},
        }

    def _add(self, struct: Struct, blank: Sequence[str]) -> int:
        base = self._end
        outside = {name: array for name, (_, array) in self._outside(struct).items()}
        image = image_of(struct, self._names, blank, outside)
        self._images.append((base, struct, image))
        self._grow(image.size)
        return base

    def _outside(self, struct: Struct) -> dict[str, tuple[int, NDArray[Any]]]:
        """Arrays that were added before a struct, with unique names."""
        known = next((base for base, own, _ in self._images if own is struct), self._end)
        return {f"array{k}": one for k, one in enumerate(self._arrays) if one[0] < known}

    def _found(self, array: NDArray[Any]) -> int | None:
        address = address_of(array)
        for base, own in self._arrays:
            if 0 <= address - address_of(own) < own.nbytes:
                return base + address - address_of(own)
        for base, _, image in self._images:
            for start, size, place in image.blocks:
                if 0 <= address - start < size:
                    return base + place + address - start
        return None

    def _grow(self, size: int) -> None:
        self._end += -(-size // LINE) * LINE
        if self._end > MOST_MEMORY:
            raise SekantError(
                f"model '{self._name}': a page can use {MOST_MEMORY >> 20} MiB of memory, but this simulation needs "
                f"{self._end >> 20} MiB or more; use a larger output_step or fewer outputs"
            )
