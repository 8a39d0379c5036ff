"""The interface of an exported model: states, parameters, inputs and outputs, one number each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import casadi as ca

from sekant.engine.functions.motion import work_symbols
from sekant.engine.functions.outputs import all_outputs, asked_outputs
from sekant.engine.system import System
from sekant.errors import SekantError, suggest
from sekant.geometry.spatial import SX
from sekant.model.resolve import number_unit

RUNTIME = Path(__file__).parent / "runtime"
_WORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while real axis
MODEL R row_of lap_of inverse_erf"""


@cache
def reserved() -> frozenset[str]:
    """C keywords, and all names in the files of `runtime`."""
    text = "".join(file.read_text() for file in sorted(RUNTIME.rglob("*.c")))
    return frozenset([*_WORDS.split(), *re.findall(r"\b([A-Za-z_]\w*)\(", text)])


@dataclass(frozen=True)
class Variable:
    """One number with a name; `unit` as in model files, empty if it has none."""

    name: str
    unit: str
    description: str


@dataclass(frozen=True, eq=False)
class Interface:
    """Variables of an exported model.

    `parameters` (np,) include the inputs: `inputs` are their positions. `y` (ny,): expressions of the outputs.
    """

    states: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    inputs: tuple[int, ...]
    outputs: tuple[Variable, ...]
    y: SX


def interface(system: System, outputs: Sequence[str] | None, inputs: Sequence[str]) -> Interface:
    """The interface of a system; `outputs`: patterns, None for all that do not require accumulated work."""
    shown, y = _outputs(system, outputs)
    parameters = _parameters(system)
    return Interface(_states(system), parameters, _inputs(system, parameters, inputs), shown, y)


def identifier(name: str) -> str:
    """A valid C name that is unused in the generated code."""
    text = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"m_{text}" if not text or text[0].isdigit() or text in reserved() else text


def _states(system: System) -> tuple[Variable, ...]:
    eq = system.equations
    names = system.state_names[: system.nq + system.nv + system.nz]
    units = [*_units(system, eq.motion.q_names, "coordinates")]
    units += [*_units(system, eq.motion.v_names, "velocities")]
    units = (units if len(units) == system.nq + system.nv else [""] * (system.nq + system.nv)) + [
        ""
    ] * system.nz
    kinds = ["coordinate"] * system.nq + ["velocity"] * system.nv + ["state of an element"] * system.nz
    return tuple(
        Variable(name, unit, kind) for name, unit, kind in zip(_unique(names), units, kinds, strict=True)
    )


def _units(system: System, keys: Sequence, field: str) -> list[str]:
    found = []
    for owner, i in keys:
        joint = system.equations.motion.owner_of(owner)
        found.append(getattr(joint, field)[i].unit if joint is not None else "")
    return found


def _unique(names: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return result


def _parameters(system: System) -> tuple[Variable, ...]:
    found = []
    for name, default in system.parameters.items():
        unit = number_unit(system.model, name) or ""
        parts = [name] if default.size == 1 else [f"{name}[{i + 1}]" for i in range(default.size)]
        found += [Variable(part, unit, "parameter of the model") for part in parts]
    return tuple(found)


def _inputs(system: System, parameters: Sequence[Variable], names: Sequence[str]) -> tuple[int, ...]:
    """Positions of the parameters that an importer may change at any time: the model's inputs, and `names`."""
    known = [parameter.name for parameter in parameters]
    eq, found = system.equations, []
    for name in dict.fromkeys([*system.inputs, *names]):
        if name not in known:
            hint = suggest(name, known, "run-time parameters")
            raise SekantError(
                f"there is no input '{name}': an input is an entry of `inputs` or a run-time parameter of the "
                f"model, so add a parameter, or compile with parameters=['{name}']; {hint}"
            )
        k = known.index(name)
        moved = ca.vertcat(eq.Phi, eq.rate, eq.qdot, eq.motion.q_all)
        if eq.lookups.jacobian(moved, eq.p[k]).nnz():
            raise SekantError(
                f"input '{name}' occurs in a prescribed motion or a constraint, which also depends on the rates "
                "of the input; use the input in a force, or export it as a parameter"
            )
        found.append(k)
    return tuple(found)


def _outputs(system: System, patterns: Sequence[str] | None) -> tuple[tuple[Variable, ...], SX]:
    work = work_symbols(system)
    known = [o for o in all_outputs(system) if not (work.numel() and ca.depends_on(o.expression, work))]
    if system.equations.constraints == [] and not system.model.contacts:
        known = [o for o in known if not o.name.startswith("constraints.")]
    known = [o for o in known if o.name not in ("energy.work", "energy.balance")]
    chosen = known if patterns is None else asked_outputs(known, patterns)
    found: list[Variable] = []
    for o in chosen:
        width = o.expression.numel()
        parts = [f"{o.name}.{c}" for c in o.components] if o.components else [o.name]
        if len(parts) != width:
            parts = [f"{o.name}[{i + 1}]" for i in range(width)]
        units = [o.unit] * width if isinstance(o.unit, str) else list(o.unit)
        found += [Variable(n, u, o.description) for n, u in zip(parts, units, strict=True)]
    states = set(system.state_names[: system.nq + system.nv + system.nz])
    names = _unique([v.name if v.name not in states else f"{v.name}_output" for v in found])
    found = [Variable(n, v.unit, v.description) for n, v in zip(names, found, strict=True)]
    y = ca.vertcat(SX.zeros(0, 1), *[ca.vec(ca.densify(o.expression)) for o in chosen])
    return tuple(found), y
