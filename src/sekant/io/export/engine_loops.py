"""Co-simulation by the engine's own loops: their object code, and the memory of a run as an image in C.

Functions are compiled from the same expressions as in the engine, and the loops are those of the engine. Only
decisions between two calls of a loop (events, friction, samples, delays) are C code, in `runtime`, where `engine.c`
copies the image, sets the inputs of a run, and calls the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from sekant.analyses.simulation.problems import (
    EventFunctions,
    dae_problem,
    explicit_problem,
    taylor_problem,
    with_events,
)
from sekant.analyses.simulation.run_memory import (
    RunMemory,
    explicit_memory,
    implicit_memory,
    series_memory,
)
from sekant.analyses.simulation.runs import TAYLOR, is_adaptive
from sekant.engine.system import System
from sekant.io.export.c_function import CFunction
from sekant.io.export.object_functions import ObjectFunctions
from sekant.loops.image import WORD, Image, image_of
from sekant.loops.store.objects import objects_for
from sekant.solvers.common.checks import UNLIMITED, StepOptions
from sekant.solvers.ode.integrate import METHODS

if TYPE_CHECKING:
    from sekant.engine.state import State
    from sekant.geometry.spatial import SX

MOST_STOPS = 32
"""Largest number of switching times of signals in one call of a loop."""
CALLED_BY_C = {"rates": ["xdot"], "projection": ["moved", "residual"], "guards": ["e"]}
"""Functions that C calls, too, and the names of their results."""


class EngineLoop:
    """The loop of a method for a system.

    `watched`: event functions, with the directions that count; `nodes`: largest number of times at which delays
    sample the motion; `rtol`: determines the order of a series.
    """

    def __init__(
        self,
        functions: ObjectFunctions,
        method: str,
        start: State,
        rtol: float,
        watched: tuple[Sequence[SX], Sequence[int]],
        nodes: int,
    ):
        self.functions = functions
        guards, directions = watched
        events = EventFunctions(lambda: ca.vertcat(*guards), np.array(directions, dtype=float))
        self.form = "EXPLICIT" if method in METHODS else "SERIES" if method == TAYLOR else "IMPLICIT"
        if self.form == "SERIES":
            self.memory = _series(functions.system, rtol, events, nodes)
        else:
            self.memory = _steps(functions.system, method, start, events, nodes)

    def wrappers(self) -> list[CFunction]:
        """C functions that call the same functions as the loop."""
        called = self.memory.functions
        return [
            self.functions.wrapped(name, called[name], ["t", "x", "p"], results)
            for name, results in CALLED_BY_C.items()
            if name in called
        ]

    def objects(self, platform: str, native: bool) -> list[bytes]:
        """Object code of the procedures."""
        return objects_for([self.memory.advance], "" if native else platform)

    def text(self) -> str:
        """C text of the image of the memory of a run, its addresses, and the loop."""
        memory, functions = self.memory, self.functions
        called = {one.address: functions.add(name, one) for name, one in memory.functions.items()}
        shared = {}
        if self.form != "SERIES" and memory.tables.size:
            rates: Any = memory.functions["rates" if self.form == "EXPLICIT" else "dae_residual"]
            shared[functions.table(rates)] = memory.tables
        image = image_of(memory.struct, called, [*memory.fields.values(), *memory.states], shared)
        lines = ["#define EXPLICIT 0\n#define IMPLICIT 1\n#define SERIES 2", f"#define FORM {self.form}"]
        lines += [f"#define ADVANCE {memory.advance.symbol}", f"#define KERNEL {memory.kernel}"]
        lines += [f"#define RUN_WIDTH {memory.width}", *_places(image, memory), image_text(image, "run")]
        return "\n".join(lines)


def _steps(system: System, method: str, start: State, events: EventFunctions, nodes: int) -> RunMemory:
    """Memory of an explicit or implicit method."""
    times, edges = np.zeros(2 + nodes), np.zeros(2 + MOST_STOPS)

    def options(count: int) -> StepOptions:
        return StepOptions(times, edges, 0.0, 0.0, np.inf, UNLIMITED, 0.0, 1.0, np.ones(count))

    if method in METHODS:
        explicit: Any = with_events(explicit_problem(system, None, False, method), system, events)
        return explicit_memory(explicit, method, options(explicit.n))
    problem = with_events(dae_problem(system, None, lands=is_adaptive(method)), system, events)
    x = np.concatenate([start.q, start.v, system.element_states(start), np.zeros(problem.functions.nw)])
    return implicit_memory(problem, method, x, options(x.size))


class _Uncompiled:
    """In place of the code of a series' kernel, of which the IR is enough."""

    address = 1

    def __init__(self, text: str):
        pass


def _series(system: System, rtol: float, events: EventFunctions, nodes: int) -> RunMemory:
    """Memory of a Taylor series of the order for `rtol`."""
    from sekant.solvers.taylor.problem import TaylorProblem
    from sekant.solvers.taylor.run import TaylorRun

    tape = taylor_problem(system, events).tape
    problem = TaylorProblem(tape, unit_blocks=system.facts.unit_blocks, compiler=_Uncompiled)
    q = np.zeros(problem.nq)
    for first, _ in problem.unit_blocks:
        q[first] = 1.0
    run = TaylorRun(
        *(problem, np.arange(2.0 + nodes), q, np.zeros(problem.nv)),
        p=np.zeros(problem.n_parameters),
        rtol=rtol,
        max_steps=UNLIMITED,
        directions=events.directions if problem.n_events else None,
        reactions=False,
    )
    return series_memory(run)


def _places(image: Image, memory: RunMemory) -> list[str]:
    """Addresses in the image, in words: of numbers, of the items of arrays, and of their lengths."""

    def items(name: str) -> int:
        return (image.places[name].data or 0) // WORD

    lines = []
    for c, name in memory.fields.items():
        word, is_array = image.places[name].word // WORD, bool(image.places[name].shape)
        lines.append(f"#define RUN_{c.upper()} {items(name) if is_array else word}")
        lines += [f"#define RUN_{c.upper()}_COUNT {word + 1}"] if is_array else []
    states = [items(n) + i for n in memory.states for i in range(image.places[n].shape[0])]
    parameters = [-1 if one is None else image.place_of(one) // WORD for one in memory.parameters]
    lines.append(f"static const int run_states[] = {{{', '.join(map(str, states))}}};")
    lines.append(f"static const int run_parameters[] = {{{', '.join(map(str, [*parameters, -1]))}}};")
    return lines


def image_text(image: Image, name: str) -> str:
    """A constant `Image` of this name, see `runtime/fmu/image.c`."""
    content = image.content + b"\0" * (-len(image.content) % WORD)
    words = [f"0x{int(word):x}" for word in np.frombuffer(content, dtype=np.uint64)]
    data = [str(place // WORD) for place in image.data.tolist()]
    functions = [f"{{{place // WORD}, {called}}}" for place, called in image.functions]
    outside = [f"{{{place // WORD}, {array} + {by // WORD}}}" for place, array, by in image.outside]
    arrays = {
        "content": ("unsigned long long", words),
        "data": ("unsigned int", data),
        "functions": ("FunctionWord", functions),
        "outside": ("ArrayWord", outside),
    }
    lines, fields = [], [str(image.size // WORD)]
    for part, (kind, entries) in arrays.items():
        listed = ", ".join(entries) or ("0" if part in ("content", "data") else "{0, 0}")
        lines.append(f"static const {kind} {name}_{part}[] = {{{listed}}};")
        fields += [f"{name}_{part}", str(len(entries))]
    return "\n".join([*lines, f"static const Image {name}_image = {{{', '.join(fields)}}};"])
