"""Co-simulation by the engine's own loops: their object code, and the memory of a run as an image in C.

Functions are compiled from the same expressions as in the engine, and the loops are those of the engine. Only
decisions between two calls of a loop (events, friction, samples, delays) are C code, in `runtime`, where `engine.c`
copies the image, sets the inputs of a run, and calls the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.problems import (
    EventFunctions,
    dae_problem,
    explicit_problem,
    taylor_problem,
    with_events,
)
from sekant.io.export.c_function import CFunction
from sekant.io.export.object_functions import ObjectFunctions
from sekant.loops.declare.procedures import Procedure
from sekant.loops.declare.structs import Struct
from sekant.loops.image import WORD, Image, image_of
from sekant.loops.store.objects import objects_for
from sekant.object_code.portable import PortableCode
from sekant.object_code.target import Target
from sekant.solvers.common.checks import UNLIMITED, StepOptions
from sekant.solvers.ode.integrate import METHODS

if TYPE_CHECKING:
    from sekant.engine.state import State
    from sekant.geometry.spatial import SX

Floats = NDArray[np.float64]
MOST_STOPS = 32
"""Largest number of switching times of signals in one call of a loop."""
KNOWN = ["t", "x", "p"]
EXPLICIT, IMPLICIT, SERIES = "EXPLICIT", "IMPLICIT", "SERIES"


@dataclass(frozen=True, eq=False)
class RunMemory:
    """The memory of a run, and the addresses in it that C sets and reads.

    `called`: names of functions by address. `numbers`, `arrays`: fields by their names in C; `counted`: arrays
    whose length C sets. `states`: fields with the states, in order; `parameters`: address of each, as arrays of one
    number, None if the loop does not need it. `width`: of a row of output. `shared`: tables, by their C names.
    """

    struct: Struct
    called: dict[int, str]
    numbers: dict[str, str]
    arrays: dict[str, str]
    counted: dict[str, str]
    states: Sequence[str]
    parameters: Sequence[Floats | None]
    width: int
    shared: dict[str, Floats] = field(default_factory=dict)


class EngineLoop:
    """The loop of a method for a system; see the classes below."""

    form: str
    advance: Procedure
    kernel: int = 0

    def __init__(self, functions: ObjectFunctions):
        self.functions = functions

    def wrappers(self) -> list[CFunction]:
        """C functions that call the same functions as the loop."""
        return []

    def memory(self) -> RunMemory:
        raise NotImplementedError

    def objects(self, platform: str, native: bool) -> list[bytes]:
        """Object code of the procedures."""
        return objects_for([self.advance], "" if native else platform)

    def text(self) -> str:
        """C text of the image of the memory of a run, its addresses, and the loop."""
        memory = self.memory()
        blank = [*memory.arrays.values(), *memory.states, *memory.counted.values()]
        image = image_of(memory.struct, memory.called, blank, memory.shared)
        lines = ["#define EXPLICIT 0\n#define IMPLICIT 1\n#define SERIES 2", f"#define FORM {self.form}"]
        lines += [f"#define ADVANCE {self.advance.symbol}", f"#define KERNEL {self.kernel}"]
        lines += [f"#define RUN_WIDTH {memory.width}", *_places(image, memory), image_text(image, "run")]
        return "\n".join(lines)


def _tables(functions: ObjectFunctions, function: Any, tables: Floats) -> dict[str, Floats]:
    """The tables of a function, which are not part of images."""
    name = functions.table(function)
    return {name: tables} if tables.size else {}


def _options(count: int, nodes: int) -> StepOptions:
    """Memory for the inputs of a run."""
    times, edges = np.zeros(2 + nodes), np.zeros(2 + MOST_STOPS)
    return StepOptions(times, edges, 0.0, 0.0, np.inf, UNLIMITED, 0.0, 1.0, np.ones(count))


def _watched(guards: Sequence[SX], directions: Sequence[int]) -> EventFunctions:
    return EventFunctions(lambda: ca.vertcat(*guards), np.array(directions, dtype=float))


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


def _within(part: str, *names: str) -> dict[str, str]:
    return {name: f"{part}.{name}" for name in names}


_SPANS = {
    "t": "clock.t",
    "row": "clock.row",
    "span_start": "clock.span_start",
    "steps": "counts.steps",
    "snap": "plan.snap",
    "step": "plan.step",
    "rtol": "plan.rtol",
    "h": "step.h",
    "step_start": "step.start",
    "window_start": "step.pace.start",
}
_EVENTS = {"which": "watched.which", "events": "watched.call.function"}
_TIMES = {name: f"plan.{name}" for name in ("t_eval", "edges", "low", "high")} | {"rows": "rows"}
_ARRAYS = {**_TIMES, "x_old": "x_old", "atol": "plan.atol"}


class ExplicitLoop(EngineLoop):
    """dop853 and fixed steps.

    `guards`: event functions, with the directions (ne,) that count; `nodes`: largest number of times at which
    delays sample the motion.
    """

    form = EXPLICIT

    def __init__(
        self,
        functions: ObjectFunctions,
        method: str,
        guards: Sequence[SX],
        directions: Sequence[int],
        nodes: int,
    ):
        super().__init__(functions)
        system = functions.system
        self.advance, self.kernel = METHODS[method].advance, METHODS[method].kernel
        plain = explicit_problem(system, None, False, method)
        self.problem = with_events(plain, system, _watched(guards, directions))
        self._nodes = nodes

    def wrappers(self) -> list[CFunction]:
        problem: Any = self.problem
        found = [self.functions.wrapped("rates", problem.rhs, KNOWN, ["xdot"])]
        if problem.projection is not None:
            results = ["moved", "residual"]
            found.append(self.functions.wrapped("projection", problem.projection, KNOWN, results))
        if problem.events is not None:
            found.append(self.functions.wrapped("guards", problem.events, KNOWN, ["e"]))
        return found

    def memory(self) -> RunMemory:
        from sekant.solvers.ode.memory import lay_out

        problem: Any = self.problem
        used = {
            "rates": problem.rhs,
            "projection": problem.projection,
            "kinematics": problem.kinematics,
            "guards": problem.events,
            "modes": None if problem.switching is None else problem.switching.guards,
        }
        run = lay_out(problem, np.zeros(problem.n), _options(problem.n, self._nodes))
        own = {
            "earliest": "clock.earliest",
            "latest": "clock.latest",
            "rates_at": "step.forecast.at",
            "h_usual": "step.usual",
            "h_kept": "step.kept",
            "after_rejection": "step.after_rejection",
            "stiff": "step.stiff",
            **_EVENTS,
        }
        return RunMemory(
            struct=run,
            called={f.address: self.functions.add(name, f) for name, f in used.items() if f is not None},
            numbers={**_SPANS, **own},
            arrays=_ARRAYS,
            counted={**_TIMES, "held_rows": "held.rows", "sampled": "held.sampled"},
            states=("x",),
            parameters=[run.p[i:] for i in range(run.p.size)],
            width=problem.n,
            shared=_tables(self.functions, problem.rhs, problem.tables),
        )


class ImplicitLoop(EngineLoop):
    """radau5 and generalized-alpha on the equations of index 3, from a start with known redundant rows.

    `guards`, `directions`, `nodes` as for explicit methods.
    """

    form = IMPLICIT

    def __init__(
        self,
        functions: ObjectFunctions,
        method: str,
        start: State,
        guards: Sequence[SX],
        directions: Sequence[int],
        nodes: int,
    ):
        from sekant.solvers.dae.integrate import METHODS as IMPLICIT_METHODS
        from sekant.solvers.dae.state_matrices import has_redundant_rows

        super().__init__(functions)
        system, chosen = functions.system, IMPLICIT_METHODS[method]
        self.advance, self._nodes = chosen.advance, nodes
        plain = dae_problem(system, None, lands=chosen.adaptive)
        self.problem = with_events(plain, system, _watched(guards, directions))
        x = np.concatenate(
            [start.q, start.v, system.element_states(start), np.zeros(self.problem.functions.nw)]
        )
        self._redundant, self._n = has_redundant_rows(self.problem, 0.0, x), x.size

    def wrappers(self) -> list[CFunction]:
        events = self.problem.events
        return [] if events is None else [self.functions.wrapped("guards", events, KNOWN, ["e"])]

    def memory(self) -> RunMemory:
        from sekant.solvers.dae.memory import lay_out

        problem = self.problem
        names = ("residual", "jacobian", "kinematics", "constraints", "saddle", "bias", "power")
        used = {f"dae_{name}": getattr(problem.functions, name) for name in names}
        used["modes"] = None if problem.switching is None else problem.switching.guards
        used["guards"] = problem.events
        memory = lay_out(problem, np.zeros(self._n), _options(self._n, self._nodes), self._redundant, 0.8)
        assert problem.tables is not None
        return RunMemory(
            struct=memory,
            called={f.address: self.functions.add(name, f) for name, f in used.items() if f is not None},
            numbers={**_SPANS, **_EVENTS},
            arrays=_ARRAYS,
            counted={**_TIMES, **_same("a_rows", "lam_rows")},
            states=("x",),
            parameters=[problem.p[i:] for i in range(self.functions.system.equations.p.numel())],
            width=self._n,
            shared=_tables(self.functions, problem.functions.residual, problem.tables),
        )


class Uncompiled:
    """In place of the code of a series' kernel, of which the IR is enough."""

    address = 1

    def __init__(self, text: str):
        pass


@dataclass(frozen=True, eq=False)
class KernelCode:
    """The kernel as a function among others."""

    text: str
    work_size: int
    address: int = Uncompiled.address

    def portable(self, target: Target) -> PortableCode:
        return PortableCode((self.text,), np.zeros(1), self.work_size, looped=True)


class SeriesLoop(EngineLoop):
    """Taylor series of the order for `rtol`; `guards`, `directions`, `nodes` as for explicit methods."""

    form = SERIES

    def __init__(
        self,
        functions: ObjectFunctions,
        rtol: float,
        guards: Sequence[SX],
        directions: Sequence[int],
        nodes: int,
    ):
        from sekant.solvers.taylor.advance import advance
        from sekant.solvers.taylor.problem import TaylorProblem

        super().__init__(functions)
        self.advance, system = advance, functions.system
        tape = taylor_problem(system, _watched(guards, directions)).tape
        self.problem = TaylorProblem(tape, unit_blocks=system.facts.unit_blocks, compiler=Uncompiled)
        self._rtol, self._directions, self._nodes = rtol, directions, nodes

    def memory(self) -> RunMemory:
        from sekant.solvers.taylor.run import TaylorRun

        problem = self.problem
        q = np.zeros(problem.nq)
        for first, _ in problem.unit_blocks:
            q[first] = 1.0
        times = np.arange(2.0 + self._nodes)
        p = np.zeros(problem.n_parameters)
        run = TaylorRun(
            *(problem, times, q, np.zeros(problem.nv)),
            p=p,
            rtol=self._rtol,
            atol=self._rtol,
            max_steps=UNLIMITED,
            directions=self._directions if problem.n_events else None,
            reactions=False,
        )
        memory, kernel = run.memory, problem.layout.kernel
        called: dict[int, str] = {}
        if kernel is not None:
            called[kernel.address] = self.functions.add_code(
                "series", KernelCode(kernel.text, kernel.work_size)
            )
        nodes = problem.layout.program.inputs["p"].tolist()
        return RunMemory(
            struct=memory,
            called=called,
            numbers={
                **_within("clock", "t", "row", "step_start"),
                **_within("plan", "snap", "rtol", "tol", "atol_work"),
                **_within("ending", "which", "jumped"),
                "steps": "counts.steps",
            },
            arrays={"t_eval": "plan.t_eval", "rows": "rows.x", "atol": "plan.scale_abs"},
            counted={"t_eval": "plan.t_eval", "rows": "rows.x", "a_rows": "rows.a", "lam_rows": "rows.lam"},
            states=("point.q", "point.v"),
            parameters=[memory.series[node] if node >= 0 else None for node in nodes],
            width=problem.nq + problem.nv + problem.n_powers,
        )


def _places(image: Image, memory: RunMemory) -> list[str]:
    """Addresses in the image, in words."""

    def items(name: str) -> int:
        return (image.places[name].data or 0) // WORD

    lines = [f"#define RUN_{c.upper()} {image.places[n].word // WORD}" for c, n in memory.numbers.items()]
    lines += [f"#define RUN_{c.upper()} {items(name)}" for c, name in memory.arrays.items()]
    for c, name in memory.counted.items():
        lines.append(f"#define RUN_{c.upper()}_COUNT {image.places[name].word // WORD + 1}")
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
