"""A model as one C header and one C source for real-time targets: fixed steps, no allocation, only math.h."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sekant.analyses.assembly.assemble import assemble
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.errors import SekantError, suggest
from sekant.files import replace_folder
from sekant.io.export.c_operations import PRECISIONS
from sekant.io.export.compilers import FULL_SPEED
from sekant.io.export.held_code import held_sizes
from sekant.io.export.interface import RUNTIME, Interface, Variable, identifier, interface
from sekant.io.export.model_code import ModelCode, model_code
from sekant.io.export.refusals import chosen_method, refuse, refuse_contacts, system_of, with_friction
from sekant.io.export.self_test import expected_values
from sekant.model.model import Model
from sekant.version import __version__

if TYPE_CHECKING:
    from sekant.model.points.collector import Collector

DEFAULT_STEP = 1e-3


@dataclass(frozen=True, eq=False)
class CExport:
    """The C files that were written, and their memory requirements.

    `stack`: largest number of bytes of local variables in one step; `tables`: bytes of constant data; `memory`:
    bytes of the model's own structure; `operations`: of one evaluation of the rates.
    """

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
        """The report as text."""
        return (
            f"{self.method}, step {self.step:g} s; {len(self.states)} states, "
            f"{len(self.parameters)} parameters, {len(self.outputs)} outputs\n"
            f"{self.operations} operations for the rates; structure {self.memory} bytes, constant tables "
            f"{self.tables} bytes, stack at most {self.stack} bytes"
        )


def start_of(system: System, initial: State | None) -> State:
    """A consistent start state."""
    if system.equations.constraints:
        found = assemble(system, initial)
        given = initial or State(found.q, found.v)
        return State(found.q, found.v, z=given.z, held=given.held)
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

    `method`: "euler", "semi_implicit_euler" or "rk4" (the default unless the model's settings name another); `step`
    (s) by default the model's own, else 1 ms. `precision`: "double" or "float". `outputs`: patterns, None for all.
    `parameters`: of a model, which remain variables of the code; by default all named ones. Compile the source with
    ``-DNAME_SELF_TEST`` for a program that compares with values from Sekant and measures a step.
    """
    if precision not in PRECISIONS:
        raise SekantError(
            f"unknown precision '{precision}'; {suggest(precision, list(PRECISIONS), 'precisions')}"
        )
    built = system_of(system, None if parameters is None else list(parameters))
    refuse(built, "C")
    if precision == "float" and built.equations.constraints:
        raise SekantError(
            f"model '{built.model.name}': constraint '{built.equations.constraints[0].name}' closes a loop, and "
            "single precision is not accurate enough for its equations; export in double precision, or first "
            "replace the loop by a path joint (sekant reduce)"
        )
    start = start_of(built, initial)
    chosen = chosen_method(built, method, True, start)
    refuse_contacts(built, chosen)
    built = with_friction(built, chosen)
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
        header.name: _header(label, built, face, found, code),
        source.name: _source(label, built, face, code, start, chosen, h),
    }
    replace_folder(place, texts)
    return found


def _described(
    system: System, code: ModelCode, face: Interface, method: str, step: float, header: Path, source: Path
) -> CExport:
    size, n = code.precision.bytes, code.x.size
    vectors = {"euler": 2, "semi_implicit_euler": 3, "rk4": 5}[method] + (
        2 if system.equations.constraints else 0
    )
    held = held_sizes(system)
    if held.events:  # copies of the state and of held values, and bracketing values
        vectors += 2
        vectors += -(-(code.p.size + held.held + 6 * held.events) // n)
    fit = held.rows * (held.degree + 2) * size
    return CExport(
        header,
        source,
        method,
        step,
        max(code.stack + vectors * n * size, fit),
        code.table_bytes,
        size * (n + code.p.size + held.held + 6) + 8 + held.memory(size, n),
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


def _header(label: str, system: System, face: Interface, found: CExport, code: ModelCode) -> str:
    precision, held = code.precision, code.held
    behind = f" + {held.held + 1}"  # held values come after the parameters
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
        "/* x: states; p: parameters; step: s. The other members are internal. */",
        "typedef struct {",
        f"    {precision.name} t, x[{label}_x_count], p[{label}_p_count{behind}], step, begin, segment, next;",
        *[f"    {line}" for line in held.fields(precision.name, code.x.size)],
        "    unsigned long steps;",
        f"}} {label};",
        "",
        "/* Sets parameters and step as in the model; change them in the structure before the start. */",
        f"void {label}_defaults({label} *m);",
        "/* Starts at time t. Returns 0; 1: a number is not finite; 2: the constraints cannot be satisfied;",
        "   4: an event of the model ends the motion; 5: events trigger one another endlessly; 6: the memory of",
        "   a delay is too small for its kinks. */",
        f"int {label}_start({label} *m, {precision.name} t);",
        "/* One step. Returns 0 or a code as above. After code 4 the state is that at the event, after another",
        "   code that before the step. */",
        f"int {label}_step({label} *m);",
        "/* Rates of the states, and all outputs, at the current state. */",
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
    public = (RUNTIME / "c/public.c").read_text().replace("NAME_", f"{label}_")
    test = (RUNTIME / "c/self_test.c").read_text().replace("NAME_SELF_TEST", f"{label.upper()}_SELF_TEST")
    test = test.replace("NAME_", f"{label}_")
    at = test.index("static real deviation")
    test = test[:at] + expected_values(system, face, code, start, method, step) + "\n" + test[at:]
    name = system.model.name.replace("*/", "")
    return "\n".join(
        [
            f"/* Model '{name}', written by Sekant {__version__}; see {label}.h. C99; link with -lm.",
            f"   Test: cc {' '.join(FULL_SPEED)}"
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
