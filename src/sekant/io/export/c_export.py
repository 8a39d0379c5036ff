"""A model as one C header and one C source for real-time targets: fixed steps, no allocation, nothing but math.h."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.assemble import assemble
from sekant.analyses.simulation.runs import explicit_problem
from sekant.engine.system import State, System
from sekant.errors import SekantError, suggest
from sekant.io.export.c_operations import PRECISIONS, Precision
from sekant.io.export.interface import Interface, Variable, identifier, interface
from sekant.io.export.model_code import RUNTIME, ModelCode, model_code
from sekant.io.export.refusals import chosen_method, refuse, system_of
from sekant.model.model import Model
from sekant.model.points.collector import Collector
from sekant.solvers.ode import METHODS, integrate
from sekant.version import __version__

DEFAULT_STEP = 1e-3
TEST_STEPS, TEST_ROWS = 2000, 5
ALLOWED = {"double": (1e-9, 1e-9, 1e-7), "float": (1e-3, 1e-3, 1e-2)}
"""Deviations that the self-test allows in states, rates and outputs, of their largest size during the test. In
single precision 1e-7 of a length times the stiffness of a spring is an error of the force: rates have few digits."""


@dataclass(frozen=True, eq=False)
class CExport:
    """What was written. `stack`: most bytes of local variables of one step; `tables`: bytes of constant data;
    `memory`: bytes of the model's own structure; `operations`: of one evaluation of the rates."""

    header: Path
    source: Path
    method: str
    step: float
    stack: int
    tables: int
    memory: int
    operations: int
    states: tuple[str, ...]
    parameters: tuple[str, ...]
    outputs: tuple[str, ...]

    def summary(self) -> str:
        """For a reader."""
        return (
            f"{self.header}, {self.source}: {self.method}, step {self.step:g} s; {len(self.states)} states, "
            f"{len(self.parameters)} parameters, {len(self.outputs)} outputs\n"
            f"{self.operations} operations for the rates; structure {self.memory} bytes, constant tables "
            f"{self.tables} bytes, stack at most {self.stack} bytes"
        )


def duration(system: System) -> float:
    """Seconds that the model is meant to be simulated for."""
    until: Any = system.settings.until
    return float(until)


def start_of(system: System, initial: State | None) -> State:
    """A consistent state to start from."""
    if system.equations.constraints:
        found = assemble(system, initial)
        return State(found.q, found.v, z=np.zeros(0) if initial is None else initial.z)
    return initial or system.initial_state()


def export_c(
    system: System | Model | Collector,
    folder: str | Path,
    *,
    name: str | None = None,
    method: str | None = None,
    step: float | None = None,
    precision: str = "double",
    outputs: Sequence[str] | None = None,
    parameters: Sequence[str] | None = None,
    initial: State | None = None,
) -> CExport:
    """Write ``name.h`` and ``name.c`` into `folder`.

    `method`: "euler", "semi_implicit_euler" or "rk4" (the default unless the model's settings name another);
    `step` (s) by default the model's own, else 1 ms. `precision`: "double" or "float". `outputs`: patterns, None
    for all. `parameters`: of a model, which stay variables of the code; by default every named one. Compile the
    source with ``-DNAME_SELF_TEST`` for a program that compares with values from Sekant and measures a step.
    """
    if precision not in PRECISIONS:
        raise SekantError(
            f"unknown precision '{precision}'; {suggest(precision, list(PRECISIONS), 'precisions')}"
        )
    built = system_of(system, None if parameters is None else list(parameters))
    refuse(built, "C")
    if precision == "float" and built.equations.constraints:
        raise SekantError(
            f"model '{built.model.name}': constraint '{built.equations.constraints[0].name}' closes a loop, whose "
            "equations single precision cannot solve to any useful accuracy; export in double precision, or replace "
            "the loop by a path joint first (sekant reduce)"
        )
    start = start_of(built, initial)
    chosen = chosen_method(built, method, True, start)
    settings = built.settings
    h = float(step or settings.step or DEFAULT_STEP)  # type: ignore[arg-type]
    if not 0 < h < np.inf:
        raise SekantError(f"step must be positive and finite (got {h:g})")
    face = interface(built, outputs, ())
    code = model_code(built, face, start, chosen, PRECISIONS[precision])
    label = identifier(name or built.model.name)
    place = Path(folder)
    header, source = place / f"{label}.h", place / f"{label}.c"
    found = _described(built, code, face, chosen, h, header, source)
    texts = {
        header: _header(label, built, face, found, code.precision),
        source: _source(label, built, face, code, start, chosen, h),
    }
    place.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        file.write_text(text, encoding="utf-8")
    return found


def _described(
    system: System, code: ModelCode, face: Interface, method: str, step: float, header: Path, source: Path
) -> CExport:
    size, n = code.precision.bytes, code.x.size
    vectors = {"euler": 2, "semi_implicit_euler": 3, "rk4": 5}[method] + (
        2 if system.equations.constraints else 0
    )
    return CExport(
        header,
        source,
        method,
        step,
        code.stack + vectors * n * size,
        code.table_bytes,
        size * (n + code.p.size + 6) + 8,
        code.operations,
        tuple(v.name for v in face.states),
        tuple(v.name for v in face.parameters),
        tuple(v.name for v in face.outputs),
    )


def _enumeration(label: str, kind: str, variables: Sequence[Variable]) -> str:
    lines = [
        f"    {label}_{kind}_{identifier(v.name)}, /* {v.unit or '-'}: {_comment(v)} */" for v in variables
    ]
    return "enum {\n" + "\n".join([*lines, f"    {label}_{kind}_count"]) + "\n};"


def _comment(variable: Variable) -> str:
    return f"{variable.name}, {variable.description}".replace("*/", "")


def _header(label: str, system: System, face: Interface, found: CExport, precision: Precision) -> str:
    parts = [
        f"/* Model '{system.model.name.replace('*/', '')}', written by Sekant {__version__}.",
        "   SI units and radians throughout.",
        f"   One step of {found.step:g} s by {found.method}; {found.operations} operations for the rates.",
        f"   Memory: {found.memory} bytes in the structure, {found.tables} bytes of constant tables,",
        f"   at most {found.stack} bytes of local variables; nothing is allocated, only math.h is called. */",
        f"#ifndef {label.upper()}_H",
        f"#define {label.upper()}_H",
        "",
        _enumeration(label, "x", face.states),
        _enumeration(label, "p", face.parameters) if face.parameters else f"enum {{ {label}_p_count = 0 }};",
        _enumeration(label, "y", face.outputs) if face.outputs else f"enum {{ {label}_y_count = 0 }};",
        "",
        "/* x: states; p: parameters; step: s. The rest is the code's own. */",
        "typedef struct {",
        f"    {precision.name} t, x[{label}_x_count], p[{label}_p_count + 1], step, begin, segment, next;",
        "    unsigned long steps;",
        f"}} {label};",
        "",
        "/* Parameters and step as in the model; change them in the structure before the start. */",
        f"void {label}_defaults({label} *m);",
        "/* The start at time t. Gives 0; 1: a number is not finite; 2: the constraints cannot be satisfied. */",
        f"int {label}_start({label} *m, {precision.name} t);",
        "/* One step. Gives 0, or a code as above; the state is then the one before the step that failed. */",
        f"int {label}_step({label} *m);",
        "/* Rates of the states, and all outputs, where the model stands. */",
        f"void {label}_rates(const {label} *m, {precision.name} *xdot);",
        f"void {label}_outputs(const {label} *m, {precision.name} *y);",
        "",
        "#endif",
        "",
    ]
    return "\n".join(parts)


def _source(
    label: str, system: System, face: Interface, code: ModelCode, start: State, method: str, step: float
) -> str:
    public = (RUNTIME / "public.c").read_text().replace("NAME_", f"{label}_")
    test = (RUNTIME / "self_test.c").read_text().replace("NAME_SELF_TEST", f"{label.upper()}_SELF_TEST")
    test = test.replace("NAME_", f"{label}_")
    at = test.index("static real deviation")
    test = test[:at] + _expected(system, face, code, start, method, step) + "\n" + test[at:]
    name = system.model.name.replace("*/", "")
    return "\n".join(
        [
            f"/* Model '{name}', written by Sekant {__version__}; see {label}.h. C99; link with -lm.",
            "   Test: cc -std=c99 -O3 -march=native -fno-math-errno"
            f" -D{label.upper()}_SELF_TEST {label}.c -lm && ./a.out 1000000 */",
            f'#include "{label}.h"',
            "#include <math.h>",
            f"#define MODEL {label}",
            f"#define STEP {code.precision.literal(step)}",
            code.equations,
            code.runtime,
            public,
            test,
        ]
    )


def _expected(
    system: System, face: Interface, code: ModelCode, start: State, method: str, step: float
) -> str:
    """Values from the engine: rates at the start, states along the way, outputs at the end."""
    problem = explicit_problem(system, None, False, method)
    x0 = np.concatenate([start.q, start.v, system.element_states(start)])
    steps = min(TEST_STEPS, max(TEST_ROWS, int(duration(system) / step) // TEST_ROWS * TEST_ROWS))
    times = step * np.arange(steps + 1)
    stops = system.time_stops(0.0, float(times[-1]))
    done = integrate(problem, times, x0, method=method, step=step, stops=stops)
    if done.status != "finished":
        raise SekantError(
            f"model '{system.model.name}' cannot take {steps} steps of {step:g} s by {METHODS[method].name}: "
            f"{done.describe(system.state_names[: x0.size])}"
        )
    every = steps // TEST_ROWS
    rows = done.x[every::every]
    p = system.parameter_vector()
    xdot = system.right_hand_side(False)(np.array([np.nextafter(0.0, 1.0)]), x0, p)[0].ravel()
    rates = system.right_hand_side(False).map(times[:, None], np.ascontiguousarray(done.x), p[None, :])[0]
    report = system.once(("exported", tuple(v.name for v in face.outputs)), lambda: _report(system, face))
    y = report(np.array([times[-1]]), done.x[-1], p)[0].ravel()
    every_y = report.map(times[:, None], np.ascontiguousarray(done.x), p[None, :])[0]
    state, rate, output = ALLOWED[code.precision.name]
    number = code.precision.literal
    return "\n".join(
        [
            f"#define EXPECTED_STEPS {steps}\n#define EXPECTED_EVERY {every}",
            f"#define STATE_ALLOWED {number(state)}\n#define RATE_ALLOWED {number(rate)}",
            f"#define OUTPUT_ALLOWED {number(output)}",
            _array("expected_rates", xdot, number),
            _array("rate_scale", _scale(rates), number),
            _array("state_scale", _scale(done.x), number),
            _array("expected_outputs", y, number),
            _array("output_scale", _scale(every_y), number),
            "static const real expected_states[][NX] = {\n"
            + ",\n".join("    {" + ", ".join(number(float(v)) for v in row) + "}" for row in rows)
            + "};",
        ]
    )


def _report(system: System, face: Interface):
    import casadi as ca

    eq = system.equations
    work = system._w
    y = face.y if not work.numel() else eq.lookups.substitute(face.y, work, ca.SX.zeros(work.numel()))
    return system.function("exported", [eq.t, ca.vertcat(eq.q, eq.v, eq.z), eq.p], [y])


def _scale(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest size of each column; of all columns together, times 1e-3, where one stays small."""
    if not values.size:
        return np.ones(values.shape[1])
    each = np.abs(values).max(axis=0)
    return np.maximum(each, max(1e-3 * each.max(), 1e-12))


def _array(name: str, values: NDArray[np.float64], number) -> str:
    return f"static const real {name}[] = {{{', '.join(number(float(v)) for v in values) or '0'}}};"
