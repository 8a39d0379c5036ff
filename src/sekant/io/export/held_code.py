"""Held values of a model between events, samples and passages of delays, as C: functions, constant arrays, memory.

Held values stand behind the parameters, at p[NP] and beyond; see the files in `runtime` for what happens to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

import casadi as ca

from sekant.analyses.simulation.bound_forces import bound_elements, bound_event_functions
from sekant.engine.system import State, System
from sekant.geometry.spatial import SX
from sekant.io.export.c_function import CFunction
from sekant.io.export.c_operations import Precision

STRETCHES = 4
"""Stretches of motion whose nodes a piece of a delay may consist of, before it ends of itself."""
SPARE = 16
"""Pieces that a delay can keep beyond those that follow from its own grid and from samples."""
JUMPS = 32
"""Pieces that a delay keeps at most when another one is to end where an input of the model jumps."""
PASSAGES = 3
"""Ends of pieces that one kink causes on its way through delays, before it is smooth."""

Write = Callable[..., CFunction]


@dataclass(frozen=True)
class HeldSizes:
    """Counts: held values, events (`declared` ones, then those of friction and contacts, where `frictions` is 1),
    values that these set, samples, delays; `degree` of their polynomials; `kept` pieces and `rows` of nodes in the
    memory of each."""

    held: int = 0
    events: int = 0
    declared: int = 0
    frictions: int = 0
    reactions: int = 0
    samples: int = 0
    delays: int = 0
    degree: int = 0
    kept: int = 0
    jumps: int = 0
    rows: int = 0
    parameters: int = 0

    def macros(self) -> list[str]:
        names = (
            "held",
            "events",
            "declared",
            "frictions",
            "reactions",
            "samples",
            "delays",
            "degree",
            "kept",
            "jumps",
            "rows",
        )
        return [f"#define {name.upper()} {getattr(self, name)}" for name in names]

    def fields(self, real: str, states: int) -> list[str]:
        """Members of the structure of the model."""
        found = []
        if self.events:
            n = self.events
            found.append(f"{real} guard[{n}]; int sign[{n}], unsure, stopped;")
        if self.frictions:
            found.append(f"{real} last_time; int last_guard, again;")
        if self.samples:
            found.append(f"{real} tick[{self.samples}];")
        if self.delays:
            piece = f"struct {{ {real} begin, end, c[{self.degree + 1}]; int kink; }} kept[{self.kept}];"
            found += [
                f"{real} began, stretch, stretch_x[{states}], stretch_u[{self.delays}];",
                f"{real} left_p[{self.parameters + self.held + 1}], left_u[{self.delays}]; int node, blind;",
                f"struct {{ {real} from, cut, ended, t[{self.rows}], u[{self.rows}]; "
                f"int last_kink, first, count, rows; {piece} }} line[{self.delays}];",
            ]
        return found

    def memory(self, size: int, states: int) -> int:
        """Bytes of these members with numbers of `size` bytes, without padding."""
        numbers, whole = self.events + self.samples, (self.events + 2) if self.events else 0
        if self.frictions:
            numbers, whole = numbers + 1, whole + 2
        if self.delays:
            numbers += 3 + states + self.parameters + self.held
            numbers += self.delays * (5 + 2 * self.rows + self.kept * (self.degree + 3))
            whole += 2 + self.delays * (4 + self.kept)
        return size * numbers + 4 * whole


def held_sizes(system: System) -> HeldSizes:
    eq = system.equations.elements
    delays = list(eq.delayed)
    degree = max((one.degree for one in delays), default=0)
    kept = 0
    for one in delays:
        kinks = sum(ceil(one.time / sample.period) + 1 for sample in eq.sampled)
        others = sum(ceil(one.time / other.time) + 1 for other in delays)
        kept = max(kept, one.pieces + PASSAGES * (kinks + others) + SPARE + JUMPS)
    return HeldSizes(
        held=len(eq.held_values),
        events=len(eq.events) + len(bound_guards(system)),
        declared=len(eq.events),
        frictions=int(has_bound_forces(system)),
        reactions=sum(len(event.sets) for event in eq.events),
        samples=len(eq.sampled),
        delays=len(delays),
        degree=degree,
        kept=kept,
        jumps=JUMPS if delays else 0,
        rows=STRETCHES * (degree + 5) + 2 if delays else 0,
        parameters=int(system.equations.p.numel()) - len(eq.held_values),
    )


def watched_guards(system: System) -> tuple[list[SX], list[int]]:
    """What is watched for events, and the directions in which it counts."""
    events, bound = system.equations.elements.events, bound_guards(system)
    guards = [*(event.function for event in events), *bound]
    return guards, [*(event.direction for event in events), *([-1] * len(bound))]


def held_functions(system: System, start: State, write: Write, of_parameters: Write) -> list[CFunction]:
    """Functions of (t, x, p), and of p alone: start values, samples, inputs of delays, what events set."""
    eq, found = system.equations.elements, []
    if eq.held_values:
        own = [value.start for value in eq.held_values]
        given = SX(start.held) if start.held is not None and len(start.held) else ca.vertcat(*own)
        found.append(of_parameters("held_start", [("held", given)]))
    if eq.sampled:
        found.append(write("samples", [("fresh", ca.vertcat(*[one.expression for one in eq.sampled]))]))
    if eq.delayed:
        found.append(write("delayed", [("u", ca.vertcat(*[one.expression for one in eq.delayed]))]))
    if eq.events:
        sets = [SX(value) for event in eq.events for value in event.sets.values()]
        found.append(write("reactions", [("value", ca.vertcat(*sets))]))
    return found


def has_bound_forces(system: System) -> bool:
    """Whether something sticks, slides, touches and parts at events."""
    elements = system.equations.elements
    return elements.friction is not None and not elements.regularized


def bound_guards(system: System) -> list[SX]:
    """Functions whose zeros trigger a new decision about that."""
    if not has_bound_forces(system):
        return []
    return ca.vertsplit(bound_event_functions(system, bound_elements(system)).expressions())


def held_arrays(system: System, precision: Precision) -> str:
    """Constant arrays: what is set by which event, when samples are due, lengths of delays."""
    eq, states = system.equations.elements, system.nq + system.nv
    place = {value.name: i for i, value in enumerate(eq.held_values)}
    number = precision.literal
    parts = []
    if eq.sampled:
        parts += [
            _array("real", "sample_period", [number(one.period) for one in eq.sampled]),
            _array("real", "sample_offset", [number(one.offset) for one in eq.sampled]),
            _array("int", "sample_target", [str(place[".".join(one.key)]) for one in eq.sampled]),
        ]
    if eq.delayed:
        width = max(one.degree for one in eq.delayed) + 3
        rows = []
        for one in eq.delayed:
            names = [*[f"c{k}" for k in range(one.degree + 1)], "middle", "half"]
            rows.append("{" + ", ".join(str(place[f"{one.owner}.{name}"]) for name in names) + "}")
        parts += [
            _array("real", "delay_time", [number(one.time) for one in eq.delayed]),
            _array("real", "delay_pieces", [number(float(one.pieces)) for one in eq.delayed]),
            f"static const int delay_target[][{width}] = {{{', '.join(rows)}}};",
        ]
    guards = bound_guards(system)
    if eq.events or guards:
        total, first, targets = states + system.nz, [0], []
        for event in eq.events:
            for key in event.sets:
                name = ".".join(key)
                targets.append(states + eq.names.index(name) if name in eq.names else total + place[name])
            first.append(len(targets))
        fall, none = ["-1"] * len(guards), ["0"] * len(guards)
        parts += [
            _array("int", "event_direction", [*[str(event.direction) for event in eq.events], *fall]),
            _array("int", "event_level", [*[str(int(event.level)) for event in eq.events], *none]),
        ]
    if eq.events:
        parts += [
            _array("int", "event_stops", [str(int(bool(event.stop))) for event in eq.events]),
            _array("int", "event_first", [str(i) for i in first]),
            _array("int", "event_target", [str(i) for i in targets] or ["0"]),
        ]
    return "\n".join(parts)


def event_texts(system: System) -> str:
    """Why the run ends at each event, as an array of texts."""
    texts = [
        '"' + event.stop.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ").replace("%", "%%") + '"'
        for event in system.equations.elements.events
    ]
    return f"static const char *const event_text[] = {{{', '.join(texts)}}};" if texts else ""


def _array(kind: str, name: str, values: Sequence[str]) -> str:
    return f"static const {kind} {name}[] = {{{', '.join(values)}}};"
