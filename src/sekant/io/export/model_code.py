"""A system as C99 source: its equations as functions, sizes as macros, tables and switching times as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.events import MOST_EVENTS
from sekant.engine.functions.motion import state_rates, work_symbols
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.geometry.spatial import SX
from sekant.io.export.c_function import CFunction, c_function
from sekant.io.export.c_operations import Precision, array
from sekant.io.export.c_tables import CTables
from sekant.io.export.engine_loops import MOST_STOPS, EngineLoop
from sekant.io.export.held_code import HeldSizes, held_arrays, held_functions, held_sizes, held_start
from sekant.io.export.instants_code import InstantCode, InstantSizes, happens, watched_guards
from sekant.io.export.interface import RUNTIME, Interface
from sekant.io.export.object_functions import ObjectFunctions
from sekant.io.export.switching import TimedSwitch, event_indicators, timed_switches
from sekant.solvers.common.cascades import MOST_AT_ONCE
from sekant.solvers.common.fixed_steps import MULTIPLE
from sekant.solvers.instants.samples import ON_TIME

INVERSE_ERF = """
/* Inverse error function: a rational start and two Newton steps. */
static real inverse_erf(real x) {
    const real z = x * x, t = R(sqrt)(-R(log)((1 - R(fabs)(x)) / 2));
    const real n = (((real)-0.140543331 * z + (real)0.914624893) * z - (real)1.645349621) * z + (real)0.886226899;
    const real d = ((((real)0.012229801 * z - (real)0.329097515) * z + (real)1.442710462) * z
        - (real)2.118377725) * z + 1;
    const real tail = (((real)1.641345311 * t + (real)3.429567803) * t - (real)1.624906493) * t - (real)1.970840454;
    real y = R(fabs)(x) < (real)0.7 ? x * n / d
        : R(copysign)(tail / (((real)1.6370678 * t + (real)3.5438892) * t + 1), x);
    for (int i = 0; i < 2; i++) y -= (R(erf)(y) - x) / ((real)1.1283791670955126 * R(exp)(-y * y));
    return R(fabs)(x) == 1 ? R(copysign)(INFINITY, x) : R(fabs)(x) > 1 ? NAN : y;
}
"""


@dataclass(frozen=True, eq=False)
class ModelCode:
    """C source of a system.

    `equations`: C text that defines all functions of the model; `runtime`: the integrator. `p`, `x` : default
    parameters (np,) and start (nq + nv + nz,). `indicators`: number of event indicators, including those of events.
    `held`: held values, samples and delays, in C or in a library. `stack`: largest number of bytes of locals below
    a call of `rates`, `projection` or `outputs`; `table_bytes`: of arrays. `operations`: of the right-hand side.
    `objects`: parts with object code.
    """

    equations: str
    runtime: str
    p: NDArray[np.float64]
    x: NDArray[np.float64]
    method: str
    held: HeldSizes | InstantSizes
    indicators: int
    start_depends: bool
    stack: int
    table_bytes: int
    operations: int
    precision: Precision
    objects: tuple[ObjectFunctions | EngineLoop | InstantCode, ...] = ()


def model_code(
    system: System,
    face: Interface,
    start: State,
    method: str,
    precision: Precision,
    *,
    kind: str = "c",
    objects: ObjectFunctions | None = None,
    rtol: float = 1e-8,
) -> ModelCode:
    """The source of all functions of a system that an integrator or an importer calls.

    `kind`: "c" for C, "me" and "cs" for a library for model exchange or co-simulation. `objects`: object code for
    the functions of a library, for the engine's loop of co-simulation with the tolerance `rtol`, and for decisions
    at events; None if there are no events and an importer integrates.
    """
    eq = system.equations
    x, xdot = state_rates(system, balance=False)
    known = [("t", eq.t), ("x", x), ("p", eq.p)]
    symbols = [symbol for _, symbol in known]
    until: Any = system.settings.until
    timed = timed_switches(system, float(until))
    z = event_indicators(system, symbols, xdot) if kind == "me" else SX.zeros(0, 1)
    instants = InstantCode(objects) if objects is not None and happens(system) else None
    quiet = InstantSizes(len(system.facts.held))
    held = held_sizes(system) if kind == "c" else quiet if instants is None else instants.sizes
    tables = CTables((), precision)

    def write(name: str, results: list[tuple[str, SX]], extra: Sequence[tuple[str, SX]] = ()) -> CFunction:
        return function(name, [*known, *extra], results)

    def function(name: str, inputs: Sequence[tuple[str, SX]], results: Sequence[tuple[str, SX]]) -> CFunction:
        if objects is not None:
            return objects.function(name, inputs, results)
        tables.tables = eq.lookups.tables
        return c_function(name, inputs, results, eq.lookups, tables)

    # reported rates may need other symbols: accumulated work counts as zero
    zero_work = SX.zeros(work_symbols(system).numel()) if work_symbols(system).numel() else None
    y = face.y if zero_work is None else eq.lookups.substitute(face.y, work_symbols(system), zero_work)
    guards, directions = watched_guards(system)
    loop = None
    if objects is not None and kind == "cs":
        nodes = 0 if instants is None else instants.sizes.nodes
        loop = EngineLoop(objects, method, start, rtol, (guards, directions), nodes)
    functions = [] if loop is None else loop.wrappers()
    known_already = {one.name for one in functions}
    if "rates" not in known_already:
        functions.insert(0, write("rates", [("xdot", xdot)]))
    if method == "semi_implicit_euler" and loop is None:
        functions.append(write("kinematics", [("qdot", eq.qdot)]))
    if eq.constraints and "projection" not in known_already:
        q, v, residual = eq.projection
        functions.append(write("projection", [("moved", ca.vertcat(q, v, eq.z)), ("residual", residual)]))
    if guards and "guards" not in known_already:
        functions.append(write("guards", [("e", ca.vertcat(*guards))]))
    functions.append(write("outputs", [("y", y)]))
    if z.numel():
        functions.append(write("indicators", [("z", z)]))
    if kind != "c":
        functions.append(_derivatives(system, x, xdot, y, write))
    q0, v0 = eq.start.values()
    x0 = ca.vertcat(*[ca.vec(ca.densify(part)) for part in (q0, v0, eq.elements.start)])
    p = system.parameter_vector()
    stated = np.array(eq.lookups.oracle("stated", [eq.p], [x0])(p)).ravel()
    found = np.concatenate([start.q, start.v, system.element_states(start)])
    shift = np.where(found == stated, 0.0, found - stated)
    shifted = SX(found) if x0.is_constant() else x0 + shift

    def of_parameters(name: str, results: list[tuple[str, SX]]) -> CFunction:
        return function(name, [("p", eq.p)], results)

    functions.append(of_parameters("initial", [("x", shifted)]))
    if kind == "c":
        functions += held_functions(system, start, write, of_parameters)
    elif held.held:
        functions.append(of_parameters("held_start", [("held", held_start(system, start))]))
    if timed:
        times = [
            ("start", ca.vertcat(*[s.start for s in timed])),
            ("scale", ca.vertcat(*[s.scale for s in timed])),
        ]
        functions.append(of_parameters("switch_times", times))
    body = "\n".join(f.text for f in functions)
    own = p[: p.size - held.held]
    head = _sizes(system, face, method, precision, len(timed), z.numel(), own, held)
    parts = [head, _blocks(system), _switch_arrays(timed, precision)]
    parts += [held_arrays(system, precision)] if kind == "c" else []
    if objects is not None:
        images = [one.text() for one in (loop, instants) if one is not None]  # these also name functions
        parts += [objects.text(), _read(["fmu/image.c"]), *images, body]
    else:
        parts += [INVERSE_ERF if "inverse_erf(" in body else "", tables.text, body]
    files = _c_files(held) if isinstance(held, HeldSizes) else _library_files(held)
    return ModelCode(
        "\n".join(part for part in parts if part),
        _read(files),
        own,
        found,
        method,
        held,
        z.numel() + held.events if kind == "me" else 0,
        not x0.is_constant(),
        max(f.stack for f in functions),
        tables.bytes,
        functions[0].operations,
        precision,
        tuple(one for one in (objects, loop, instants) if one is not None),
    )


def _c_files(held: HeldSizes) -> list[str]:
    """The C files around the equations in exported C."""
    files = ["samples"] if held.samples else []
    files += ["delays"] if held.delays else []
    files += ["events", "crossings"] if held.events else []
    files += ["fixed_step", "stops"]
    files += ["cuts"] if held.delays else []
    files += ["reactions"] if held.events else []
    return ["segments.c", *(f"c/{name}.c" for name in [*files, "advance"])]


def _library_files(sizes: InstantSizes) -> list[str]:
    """The C files around the equations in a library; `runtime/fmu/instance.c` and the functions of FMI come after
    them."""
    return ["segments.c", *(["fmu/instants.c"] if sizes.words else []), "fmu/course.c"]


def _read(files: Sequence[str]) -> str:
    return "\n".join((RUNTIME / name).read_text() for name in files)


def _derivatives(system: System, x: SX, xdot: SX, y: SX, write) -> CFunction:
    """Derivatives of rates and outputs along a direction (dx, dp)."""
    eq = system.equations
    dx, dp = SX.sym("dx", x.numel()), SX.sym("dp", eq.p.numel())
    wrt, direction = ca.vertcat(x, eq.p), ca.vertcat(dx, dp)
    both = eq.lookups.jtimes(ca.vertcat(ca.densify(xdot), y), wrt, direction)
    n = x.numel()
    return write("directional", [("dxdot", both[:n]), ("dy", both[n:])], [("dx", dx), ("dp", dp)])


def _sizes(
    system: System,
    face: Interface,
    method: str,
    precision: Precision,
    switches: int,
    indicators: int,
    p: NDArray,
    held: HeldSizes | InstantSizes,
) -> str:
    number = precision.literal
    defaults = ", ".join(number(float(value)) for value in p) or "0"
    f = precision.suffix
    lines = [
        f"typedef {precision.name} real;",
        f"#define R(name) name{'##f' if f else ''}",
        f"#define NX {system.nq + system.nv + system.nz}",
        f"#define NQ {system.nq}",
        f"#define NV {system.nv}",
        f"#define NP {p.size}",
        f"#define NY {len(face.outputs)}",
        f"#define INDICATORS {indicators}",
        f"#define SWITCHES {switches}",
        f"#define UNIT_BLOCKS {len(system.equations.motion.unit_blocks)}",
        f"#define CONSTRAINED {int(bool(system.equations.constraints))}",
        *held.macros(),
        "enum { STOPPED_NOT_FINITE = 1, STOPPED_CONSTRAINTS, STOPPED_STEP,",
        "       STOPPED_EVENT, STOPPED_CHATTERING, STOPPED_MEMORY, STOPPED_JAMMED, STOPPED_INSIDE };",
        "#define EULER 1\n#define SEMI_IMPLICIT_EULER 2\n#define RK4 3",
        f"#define METHOD {method.upper()}",
        f"#define SNAP {number(precision.snap)}",
        f"#define MULTIPLE {number(max(MULTIPLE, 100 * precision.snap))}",
        f"#define TOLERANCE {number(precision.projection)}",
        f"#define ROUND {number(precision.round_off)}",
        f"#define ON_TIME {number(max(ON_TIME, 100 * precision.snap))}",
        f"#define ON_ZERO {number(1e3 * precision.round_off)}",
        f"#define MOST_AT_ONCE {MOST_AT_ONCE}\n#define MOST_EVENTS {MOST_EVENTS}\n#define MOST_STOPS {MOST_STOPS}",
        f"#define LARGEST {number(precision.largest)}",
        f"static const real default_parameters[NP + 1] = {{{defaults}}};",
    ]
    return "\n".join(lines)


def _blocks(system: System) -> str:
    blocks = system.equations.motion.unit_blocks
    if not len(blocks):
        return ""
    pairs = ", ".join(f"{{{start}, {length}}}" for start, length in blocks)
    return f"static const int unit_blocks[][2] = {{{pairs}}};"


def _switch_arrays(timed: Sequence[TimedSwitch], precision: Precision) -> str:
    if not timed:
        return ""
    first, knots = [], []
    for switch in timed:
        first.append(len(knots))
        knots += list(switch.knots or ())
    counts = ["-1" if s.knots is None else str(len(s.knots)) for s in timed]
    return "\n".join(
        [
            "/* Switching times start + k scale: for the given numbers of knots k, or (-1) every whole k. */",
            array("int", "switch_knots", counts),
            array("int", "switch_first", map(str, first)),
            array("real", "switch_knot", map(precision.literal, knots)),
        ]
    )
