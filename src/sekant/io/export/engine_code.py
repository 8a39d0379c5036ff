"""Co-simulation by the engine's own loops: object code of functions and procedures, and the memory of a run in C.

Functions are compiled from the same expressions as in the engine, and the loops are its own; only what is decided
between two calls of a loop (events, friction, samples, delays) is C, in `runtime`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.problems import EventFunctions, explicit_problem, with_events
from sekant.engine.codegen.build import build
from sekant.io.export.c_function import CFunction
from sekant.loops.image import WORD, Image, image_of
from sekant.loops.store.objects import objects_for
from sekant.object_code.portable import compile_function
from sekant.object_code.target import NATIVE, TARGETS, host_target, tape_optimization
from sekant.solvers.common.checks import UNLIMITED, StepOptions
from sekant.solvers.ode.memory import lay_out
from sekant.solvers.ode.methods import METHODS

if TYPE_CHECKING:
    from sekant.engine.codegen.native import NativeFunction
    from sekant.engine.system import System
    from sekant.geometry.spatial import SX

Floats = NDArray[np.float64]
MOST_STOPS = 32
"""Times at which signals switch that the loop takes at a time."""
NUMBERS = (
    *("t", "span_start", "step_start", "pace.start", "forecast.at", "earliest", "latest", "snap", "step"),
    *("rtol", "h", "h_usual", "h_kept", "after_rejection", "stiff", "steps", "which", "row", "events"),
)
ARRAYS = ("t_eval", "edges", "low", "high", "rows", "x", "x_old", "p", "atol")
COUNTED = ("t_eval", "edges", "low", "high", "rows", "held_rows", "sampled")
"""Fields of the memory of a run that C sets or reads, and arrays of which it says how long they are."""


class ObjectFunctions:
    """Functions of a system that are object code in a library, each under the name ``sekant_of_model_NAME``, and the
    C that calls them as functions of plain arrays."""

    def __init__(self, system: System):
        self.system = system.with_expressions()
        self.natives: dict[str, NativeFunction] = {}
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

    def add(self, name: str, native: NativeFunction) -> str:
        """The name of a function in object code."""
        self.natives.setdefault(name, native)
        self._modes = max(self._modes, native.sizes_in[-1])
        return f"sekant_of_model_{name}"

    def table(self, native: NativeFunction) -> str:
        """The C name of the buffer of its tables."""
        content = native.tables.tobytes()
        return self._tables.setdefault(content, (f"tables{len(self._tables)}", native.tables))[0]

    @property
    def tables(self) -> dict[str, Floats]:
        return dict(self._tables.values())

    def text(self) -> str:
        """Declarations and data that stand before all wrappers."""
        lines = [f"static const double {n}[] = {{{_numbers(t)}}};" for n, t in self._tables.values()]
        lines.append(f"static const double free_modes[{self._modes}] = {{0}};")
        for name in self.natives:
            lines.append(
                f"extern void sekant_of_model_{name}(const double *const *, double *const *, double *);"
            )
        return "\n".join(lines)

    def objects(self, platform: str, native: bool) -> list[bytes]:
        """Object code for a platform; `native`: for the very processor here."""
        target = host_target() if native else TARGETS[platform]
        return [
            compile_function(
                function.portable(target), f"sekant_of_model_{name}", target, tape_optimization()
            )
            for name, function in self.natives.items()
        ]


class EngineLoop:
    """The loop of a method for a system, with the memory of a run.

    `guards`: what is watched, with the directions (ne,) that count; `nodes`: times at which delays want to know the
    motion, at most.
    """

    def __init__(
        self,
        functions: ObjectFunctions,
        method: str,
        guards: Sequence[SX],
        directions: Sequence[int],
        nodes: int,
    ):
        self.method, self._functions = METHODS[method], functions
        system = functions.system
        problem = explicit_problem(system, None, False, method)
        watched = EventFunctions(lambda: ca.vertcat(*guards), np.array(directions, dtype=float))
        self.problem = with_events(problem, system, watched)
        self._nodes = nodes

    def wrappers(self) -> list[CFunction]:
        """C functions that call what the loop calls."""
        known, add, problem = ["t", "x", "p"], self._functions.wrapped, self.problem
        found = [add("rates", problem.rhs, known, ["xdot"])]  # type: ignore[arg-type]
        if problem.projection is not None:
            found.append(add("projection", problem.projection, known, ["moved", "residual"]))  # type: ignore[arg-type]
        if problem.events is not None:
            found.append(add("guards", problem.events, known, ["e"]))  # type: ignore[arg-type]
        return found

    def objects(self, platform: str, native: bool) -> list[bytes]:
        """Object code of the procedures."""
        return objects_for([self.method.advance], NATIVE if native else platform)

    def text(self) -> str:
        """The image of the memory of a run, where in it what is, and the loop."""
        problem, add = self.problem, self._functions.add
        called = {problem.rhs.address: add("rates", problem.rhs)}  # type: ignore[arg-type]
        others = {
            "projection": problem.projection,
            "kinematics": problem.kinematics,
            "guards": problem.events,
            "modes": None if problem.switching is None else problem.switching.guards,
        }
        for name, function in others.items():
            if function is not None:
                called[function.address] = add(name, function)
        count = problem.n
        times, edges = np.zeros(2 + self._nodes), np.zeros(2 + MOST_STOPS)
        options = StepOptions(times, edges, 0.0, 0.0, np.inf, UNLIMITED, 0.0, 1.0, np.ones(count))
        run = lay_out(problem, np.zeros(count), options)
        blank = (*("t_eval", "edges", "low", "high", "rows", "held_rows", "x", "x_old", "p", "atol"), "work")
        table = self._functions.table(problem.rhs)  # type: ignore[arg-type]
        outside = {table: problem.tables} if problem.tables.size else {}
        image = image_of(run, called, blank, outside)
        return "\n".join([*_places(image), _image_text(image), self._loop()])

    def _loop(self) -> str:
        return f"#define ADVANCE {self.method.advance.symbol}\n#define KERNEL {self.method.kernel}"


def _places(image: Image) -> list[str]:
    """Where fields are, in words."""
    lines = [f"#define {_macro(name)} {image.places[name].word // WORD}" for name in NUMBERS]
    for name in ARRAYS:
        lines.append(f"#define {_macro(name)} {(image.places[name].data or 0) // WORD}")
    return lines + [f"#define {_macro(name)}_COUNT {image.places[name].word // WORD + 1}" for name in COUNTED]


def _macro(name: str) -> str:
    """The name in C of a field."""
    return "RUN_" + name.upper().replace(".", "_")


def _image_text(image: Image) -> str:
    content = image.content + b"\0" * (-len(image.content) % WORD)
    words = ", ".join(f"0x{int(word):x}" for word in np.frombuffer(content, dtype=np.uint64))
    data = ", ".join(str(place // WORD) for place in image.data.tolist())
    functions = ", ".join(f"{{{place // WORD}, {name}}}" for place, name in image.functions)
    outside = ", ".join(f"{{{place // WORD}, {name} + {by // 8}}}" for place, name, by in image.outside)
    return "\n".join(
        [
            f"#define RUN_WORDS {image.size // WORD}",
            f"static const unsigned long long run_image[] = {{{words}}};",
            f"static const unsigned int run_data[] = {{{data}}};",
            "static const struct { unsigned int word; void (*function)(const double *const *, double *const *, "
            f"double *); }} run_functions[] = {{{functions}}};",
            "static const struct { unsigned int word; const double *array; } run_outside[] = "
            f"{{{outside or '{0, free_modes}'}}};",
            f"#define RUN_OUTSIDE {len(image.outside)}",
        ]
    )


def _numbers(values: Floats) -> str:
    return (
        ", ".join(float(value).hex() if np.isfinite(value) else _infinite(value) for value in values) or "0"
    )


def _infinite(value: float) -> str:
    return "NAN" if np.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
