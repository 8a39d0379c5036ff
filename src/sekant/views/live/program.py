"""The program of a page: one WebAssembly module, the first content of its memory, and where in it what is."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.engine.functions.outputs import output_function
from sekant.engine.system import State, System
from sekant.errors import SekantError
from sekant.geometry.spatial import SX
from sekant.io.export.switching import timed_switches
from sekant.loops.declare.calls import Calls, call_many
from sekant.loops.declare.procedures import Procedure
from sekant.loops.declare.structs import Struct, pointers
from sekant.loops.image import Image, image_of
from sekant.loops.store.texts import texts_of
from sekant.object_code.portable import STACK_TOP, wasm_module
from sekant.object_code.target import WASM
from sekant.solvers.common.outcome import STATUSES
from sekant.solvers.common.sites import free_modes
from sekant.views.live.assembly import assembly_functions
from sekant.views.live.calls import single_call
from sekant.views.live.loops import Asked, page_loop

Floats = NDArray[np.float64]
MOST_MEMORY = 192 << 20
"""Bytes that a program may take; the page itself needs some besides."""


def packed_bytes(content: bytes) -> str:
    """For `decode.js`."""
    return base64.b64encode(zlib.compress(content, 7)).decode()


class PageProgram:
    """Images of memory one after the other, and the functions that they and the page call by name."""

    def __init__(self, system: System):
        self.system = system
        self._functions: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._procedures: list[Procedure] = []
        self._images: list[tuple[str, Struct, Image]] = []
        self._end = STACK_TOP
        self._bases: dict[str, int] = {}

    def add_function(self, name: str, function: Any) -> str:
        if function.address and function.address in self._names:
            return self._names[function.address]
        self._functions[name] = function
        self._names[function.address] = name
        return name

    def add_procedure(self, procedure: Procedure) -> None:
        if procedure not in self._procedures:
            self._procedures.append(procedure)

    def add_struct(
        self,
        name: str,
        struct: Struct,
        blank: Sequence[str] = (),
        outside: Mapping[str, Floats] | None = None,
    ) -> Image:
        image = image_of(struct, self._names, blank, outside)
        self._bases[name] = self._end
        self._images.append((name, struct, image))
        self._end += image.size
        if self._end > MOST_MEMORY:
            raise SekantError(
                f"model '{self.system.model.name}': a page has room for {MOST_MEMORY >> 20} MiB of memory; this run "
                f"takes {self._end >> 20} MiB or more: ask for fewer rows (output_step) or fewer outputs"
            )
        return image

    def field(self, name: str, field: str) -> list[int]:
        """Addresses of a field's word and of its first item, and how many items it has."""
        base, image = self._bases[name], self._image(name)
        place = image.places[field]
        data = base + place.data if place.data is not None else 0
        return [base + place.word, data, int(np.prod(place.shape)) if place.shape else 0]

    def address(self, name: str, array: Floats) -> int:
        return self._bases[name] + self._image(name).place_of(array)

    def call(self, name: str) -> dict[str, Any]:
        """How a page calls the function of a single call: its name, and addresses of tables and scratch."""
        return {"function": name, **{key: self.field(name, key)[1] for key in ("arg", "res", "work")}}

    def _image(self, name: str) -> Image:
        return next(image for own, _, image in self._images if own == name)

    def numbers(self) -> dict[str, int]:
        """Places of functions and procedures in the table of the module."""
        names = [*self._functions, *(procedure.symbol for procedure in self._procedures)]
        return {name: 1 + k for k, name in enumerate(names)}

    def build(self, outside: Mapping[str, int]) -> dict[str, Any]:
        """Module and memory as texts. `outside`: addresses of arrays of one image that another one uses."""
        code = [
            (f"sekant_page_{name}", function.portable(WASM)) for name, function in self._functions.items()
        ]
        symbols = [procedure.symbol for procedure in self._procedures]
        module = wasm_module(code, symbols, texts_of(self._procedures), WASM)
        numbers = self.numbers()
        words = [image.at(self._bases[name], numbers, outside) for name, _, image in self._images]
        content = np.concatenate(words).tobytes().rstrip(b"\0")
        return {
            "module": packed_bytes(module),
            "memory": packed_bytes(content),
            "base": STACK_TOP,
            "end": self._end,
            "table": len(numbers) + 1,
            "numbers": numbers,
            "bytes": {"module": len(module), "memory": len(content)},
        }


def program_of(
    given: System, method: str, asked: Asked, start: State, outputs: Sequence[str], parameters: Any
) -> dict[str, Any]:
    """Everything that a page needs to run the system: module, memory, and where in it what is.

    `start`: at the first `parameters`; `outputs`: names of what is computed for each row.
    """
    system = given.with_expressions()
    program, eq = PageProgram(system), system.equations
    loop = page_loop(system, method, asked, start, parameters)
    for name, function in loop.functions.items():
        program.add_function(name, function)
    program.add_procedure(loop.advance)
    program.add_struct(
        "run", loop.struct, ("rows", "a_rows", "lam_rows", "held.rows", "rows.x", "rows.a", "rows.lam")
    )

    p = np.array(system.parameter_vector(parameters), float)
    own = p if p.size else np.zeros(1)
    first = ca.vertcat(*eq.start.values(), eq.elements.start)
    switches = timed_switches(system, float(asked.times[-1])) if loop.edges else []
    columns = [
        ca.vertcat(SX.zeros(0, 1), *[getattr(s, name) for s in switches]) for name in ("start", "scale")
    ]
    begin = system.function("start", [eq.p], [first, *columns])
    found = [np.zeros(max(1, size)) for size in begin.sizes_out]
    program.add_function("begin", begin)
    program.add_struct("begin", single_call(begin, [own], found))

    report, chosen = output_function(system, outputs, True)
    program.add_function("report", report)
    program.add_procedure(call_many)
    n, width = loop.rows.shape[1], report.sizes_out[0]
    y = np.zeros((asked.times.size, width))
    tables = report.tables if report.tables.size else np.zeros(1)
    calls = Calls(function=report.address, work=np.zeros(max(1, report.work_size)))
    calls.set(arg=pointers(loop.times, loop.rows, own, tables, free_modes(report.sites)))
    calls.set(res=pointers(y))
    calls.set(
        arg_step=np.array([8, 8 * n, 0, 0, 0], dtype=np.int64), res_step=np.array([8 * width], dtype=np.int64)
    )
    shared = {"times": loop.times, "rows": loop.rows, "values": own}
    program.add_struct("report", calls, outside=shared)

    described: dict[str, Any] = {}
    values = program.address("begin", own)
    if system.facts.constrained:
        described["assembly"] = assembly_functions(program, system, float(asked.times[0]), own)
    outside = {"times": program.address("run", loop.times), "rows": program.address("run", loop.rows)}
    outside["values"] = values
    built = program.build(outside)
    numbers = program.numbers()
    fields = {name: program.field("run", field) for name, field in loop.fields.items()}
    fields["rows"] = [0, program.address("run", loop.rows), loop.rows.size]
    states = [program.address("run", array) + 8 * i for array in loop.states for i in range(array.size)]
    places = [0 if one is None else program.address("run", one) for one in loop.parameters]
    return {
        **built,
        **described,
        "run": fields,
        "runAt": program.field("run", next(iter(loop.struct.fields)))[0],
        "advance": numbers[loop.advance.symbol],
        "kernel": loop.kernel,
        "edges": loop.edges,
        "states": states,
        "parameters": places[: p.size],
        "values": [values, p.size],
        "first": p.tolist(),
        "begin": {
            **program.call("begin"),
            "found": [
                [program.address("begin", one), size]
                for one, size in zip(found, begin.sizes_out, strict=True)
            ],
        },
        "report": {
            "procedure": numbers[call_many.symbol],
            "at": program.field("report", "function")[0],
            "count": program.field("report", "count")[0],
            "y": [program.address("report", y), width],
        },
        "switches": [None if s.knots is None else list(s.knots) for s in switches],
        "interval": [float(asked.times[0]), float(asked.times[-1])],
        "times": asked.times.tolist(),
        "width": n,
        "channels": _channels(chosen),
        "statuses": list(STATUSES),
        "stateNames": list(system.state_names),
        "rowNames": list(system.facts.rows),
    }


def _channels(chosen: Sequence[Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "unit": one.unit if isinstance(one.unit, str) else list(one.unit),
            "parts": list(one.components),
            "about": one.description,
        }
        for one in chosen
    ]
