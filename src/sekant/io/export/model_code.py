"""A system as C99 source: its equations as functions, sizes as macros, tables and switching times as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.engine.system import State, System
from sekant.geometry.spatial import SX
from sekant.io.export.c_function import CFunction, c_function
from sekant.io.export.c_operations import Precision
from sekant.io.export.c_tables import CTables
from sekant.io.export.interface import Interface
from sekant.io.export.refusals import FIXED_STEP
from sekant.io.export.switching import TimedSwitch, event_indicators, timed_switches
from sekant.solvers.ode import dop853_tableau as tableau

RUNTIME = Path(__file__).parent / "runtime"
MULTIPLE = 1e-6  # as in `sekant.solvers.ode.fixed_step`
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
    """`equations`: C text that defines all functions of the model; `runtime`: what integrates it.

    `p`, `x` : default parameters (np,) and start (nq + nv + nz,). `indicators`: number of event indicators.
    `stack`: most bytes of locals below a call of `rates`, `projection` or `outputs`; `table_bytes`: of arrays.
    `operations`: of the right-hand side.
    """

    equations: str
    runtime: str
    p: NDArray[np.float64]
    x: NDArray[np.float64]
    method: str
    indicators: int
    start_depends: bool
    stack: int
    table_bytes: int
    operations: int
    precision: Precision


def model_code(
    system: System,
    face: Interface,
    start: State,
    method: str,
    precision: Precision,
    *,
    events: bool = False,
    derivatives: bool = False,
) -> ModelCode:
    """All of a system that an integrator or an importer calls; with `events`, `derivatives` what FMI asks for too."""
    eq = system.equations
    x, xdot = system.rates(balance=False)
    known = [("t", eq.t), ("x", x), ("p", eq.p)]
    symbols = [symbol for _, symbol in known]
    until: Any = system.settings.until
    timed = timed_switches(system, float(until))
    z = event_indicators(system, symbols, xdot) if events else SX.zeros(0, 1)
    tables = CTables((), precision)

    def write(name: str, results: list[tuple[str, SX]], extra: Sequence[tuple[str, SX]] = ()) -> CFunction:
        tables.tables = eq.lookups.tables
        return c_function(name, [*known, *extra], results, eq.lookups, tables)

    # what is reported of rates may need other symbols than their own: accumulated work counts as zero
    zero_work = SX.zeros(system._w.numel()) if system._w.numel() else None
    y = face.y if zero_work is None else eq.lookups.substitute(face.y, system._w, zero_work)
    functions = [write("rates", [("xdot", xdot)])]
    if method == "semi_implicit_euler":
        functions.append(write("kinematics", [("qdot", eq.qdot)]))
    if eq.constraints:
        q, v, residual = eq.projection
        functions.append(write("projection", [("moved", ca.vertcat(q, v, eq.z)), ("residual", residual)]))
    functions.append(write("outputs", [("y", y)]))
    if events and z.numel():
        functions.append(write("indicators", [("z", z)]))
    if derivatives:
        functions.append(_derivatives(system, face, x, xdot, y, write))
    q0, v0 = eq.start.values()
    x0 = ca.vertcat(*[ca.vec(ca.densify(part)) for part in (q0, v0, eq.elements.start)])
    p = system.parameter_vector()
    stated = np.array(eq.lookups.oracle("stated", [eq.p], [x0])(p)).ravel()
    found = np.concatenate([start.q, start.v, system.element_states(start)])
    shift = np.where(found == stated, 0.0, found - stated)
    if x0.is_constant():
        shifted = SX(found)
    else:
        shifted = x0 + shift
    initial = c_function("initial", [("p", eq.p)], [("x", shifted)], eq.lookups, tables)
    functions.append(initial)
    if timed:
        times = [
            ("start", ca.vertcat(*[s.start for s in timed])),
            ("scale", ca.vertcat(*[s.scale for s in timed])),
        ]
        functions.append(c_function("switch_times", [("p", eq.p)], times, eq.lookups, tables))
    body = "\n".join(f.text for f in functions)
    head = _sizes(system, face, method, precision, len(timed), z.numel(), p)
    parts = [head, _blocks(system), _switch_arrays(timed, precision)]
    parts += [INVERSE_ERF if "inverse_erf(" in body else "", tables.text, body]
    integrator = "fixed_step.c" if method in FIXED_STEP else "dop853.c"
    tableau_text = "" if method in FIXED_STEP else _tableau(precision)
    runtime = [(RUNTIME / "segments.c").read_text(), tableau_text, (RUNTIME / integrator).read_text()]
    return ModelCode(
        "\n".join(part for part in parts if part),
        "\n".join(part for part in runtime if part),
        p,
        found,
        method,
        z.numel(),
        not x0.is_constant(),
        max(f.stack for f in functions),
        tables.bytes,
        functions[0].operations,
        precision,
    )


def _derivatives(system: System, face: Interface, x: SX, xdot: SX, y: SX, write) -> CFunction:
    """Derivatives of rates and outputs along a direction (dx, dp)."""
    eq = system.equations
    dx, dp = SX.sym("dx", x.numel()), SX.sym("dp", eq.p.numel())
    wrt, direction = ca.vertcat(x, eq.p), ca.vertcat(dx, dp)
    both = eq.lookups.jtimes(ca.vertcat(ca.densify(xdot), y), wrt, direction)
    n = x.numel()
    return write("directional", [("dxdot", both[:n]), ("dy", both[n:])], [("dx", dx), ("dp", dp)])


def _sizes(
    system: System, face: Interface, method: str, precision: Precision, switches: int, events: int, p: NDArray
) -> str:
    number = precision.literal
    defaults = ", ".join(number(float(value)) for value in p) or "0"
    f = precision.suffix
    lines = [
        f"typedef {precision.name} real;",
        f"#define R(name) name{'##f' if f else ''}",
        f"#define NX {system.nq + system.nv + system.nz}",
        f"#define NQ {system.nq}",
        f"#define NP {p.size}",
        f"#define NY {len(face.outputs)}",
        f"#define INDICATORS {events}",
        f"#define SWITCHES {switches}",
        f"#define UNIT_BLOCKS {len(system.equations.motion.unit_blocks)}",
        f"#define CONSTRAINED {int(bool(system.equations.constraints))}",
        "enum { STOPPED_NOT_FINITE = 1, STOPPED_CONSTRAINTS = 2, STOPPED_STEP = 3 };",
        "#define EULER 1\n#define SEMI_IMPLICIT_EULER 2\n#define RK4 3\n#define DOP853 4",
        f"#define METHOD {method.upper()}",
        f"#define SNAP {number(precision.snap)}",
        f"#define MULTIPLE {number(max(MULTIPLE, 100 * precision.snap))}",
        f"#define TOLERANCE {number(precision.projection)}",
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
    counts = ", ".join("-1" if s.knots is None else str(len(s.knots)) for s in timed)
    values = ", ".join(precision.literal(k) for k in knots) or "0"
    return "\n".join(
        [
            "/* Switching times start + k scale: for the given numbers of knots k, or (-1) every whole k. */",
            f"static const int switch_knots[] = {{{counts}}}, switch_first[] = {{{', '.join(map(str, first))}}};",
            f"static const real switch_knot[] = {{{values}}};",
        ]
    )


def _tableau(precision: Precision) -> str:
    def row(values: NDArray[np.float64]) -> str:
        return "{" + ", ".join(precision.literal(float(v)) for v in values) + "}"

    a = ",\n    ".join(row(tableau.A[s, :12]) for s in range(13))
    return "\n".join(
        [
            f"static const real dop_a[13][12] = {{\n    {a}}};",
            f"static const real dop_c[12] = {row(tableau.C[:12])};",
            f"static const real dop_e5[12] = {row(tableau.E5[:12])};",
            f"static const real dop_e3[12] = {row(tableau.E3[:12])};",
        ]
    )
