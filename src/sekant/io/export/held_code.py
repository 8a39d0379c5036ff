"""Held values, samples and delays of a model in C: functions, constant arrays, memory.

Held values come after the parameters, at p[NP] and beyond; the files in `runtime/c` update them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

import casadi as ca

from sekant.analyses.simulation.instants import JUMPS, most_pieces
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.geometry.spatial import SX
from sekant.io.export.c_function import CFunction
from sekant.io.export.c_operations import Precision, array
from sekant.solvers.instants.delay_lines import MORE, STRETCHES

Write = Callable[..., CFunction]


@dataclass(frozen=True)
class HeldSizes:
    """Counts: held values, events, values that events set, samples, delays; `degree` of the polynomials of delays;
    `kept` pieces and `rows` of nodes in the memory of each."""

    held: int = 0
    events: int = 0
    reactions: int = 0
    samples: int = 0
    delays: int = 0
    degree: int = 0
    kept: int = 0
    jumps: int = 0
    rows: int = 0
    parameters: int = 0

    def macros(self) -> list[str]:
        return [
            f"#define {name.upper()} {number}"
            for name, number in asdict(self).items()
            if name != "parameters"
        ]

    def fields(self, real: str, states: int) -> list[str]:
        """Members of the structure of the model."""
        found = []
        if self.events:
            n = self.events
            found.append(f"{real} guard[{n}]; int sign[{n}], unsure, stopped;")
        if self.samples:
            found.append(f"{real} tick[{self.samples}];")
        if self.delays:
            piece = f"struct {{ {real} begin, end, c[{self.degree + 1}]; int kink; }} kept[{self.kept}];"
            found += [
                f"{real} began, stretch, stretch_x[{states}], left_p[{self.parameters + 1}]; int node, blind;",
                f"struct {{ {real} from, cut, ended, t[{self.rows}], u[{self.rows}]; "
                f"int last_kink, first, count, rows; {piece} }} line[{self.delays}];",
            ]
        return found

    def memory(self, size: int, states: int) -> int:
        """Bytes of these members with numbers of `size` bytes, without padding."""
        numbers, whole = self.events + self.samples, (self.events + 2) if self.events else 0
        if self.delays:
            numbers += 3 + states + self.parameters
            numbers += self.delays * (5 + 2 * self.rows + self.kept * (self.degree + 3))
            whole += 2 + self.delays * (4 + self.kept)
        return size * numbers + 4 * whole


def held_sizes(system: System) -> HeldSizes:
    eq = system.equations.elements
    delays = list(eq.delayed)
    degree = max((one.degree for one in delays), default=0)
    return HeldSizes(
        held=len(eq.held_values),
        events=len(eq.events),
        reactions=sum(len(event.sets) for event in eq.events),
        samples=len(eq.sampled),
        delays=len(delays),
        degree=degree,
        kept=most_pieces(system) if delays else 0,
        jumps=JUMPS if delays else 0,
        rows=STRETCHES * (degree + 1 + MORE) + 2 if delays else 0,
        parameters=int(system.equations.p.numel()) - len(eq.held_values),
    )


def held_start(system: System, start: State) -> SX:
    """Held values at the start."""
    own = [value.start for value in system.equations.elements.held_values]
    return SX(start.held) if start.held is not None and len(start.held) else ca.vertcat(*own)


def held_functions(system: System, start: State, write: Write, of_parameters: Write) -> list[CFunction]:
    """Functions of (t, x, p), and of p alone: start values, samples, inputs of delays, values that events set."""
    eq, found = system.equations.elements, []
    if eq.held_values:
        found.append(of_parameters("held_start", [("held", held_start(system, start))]))
    if eq.sampled:
        found.append(write("samples", [("fresh", ca.vertcat(*[one.expression for one in eq.sampled]))]))
    if eq.delayed:
        found.append(write("delayed", [("u", ca.vertcat(*[one.expression for one in eq.delayed]))]))
    if eq.events:
        sets = [SX(value) for event in eq.events for value in event.sets.values()]
        found.append(write("reactions", [("value", ca.vertcat(*sets))]))
    return found


def held_arrays(system: System, precision: Precision) -> str:
    """Constant arrays: the values that each event sets, times of samples, lengths of delays."""
    eq, states = system.equations.elements, system.nq + system.nv
    place = {value.name: i for i, value in enumerate(eq.held_values)}
    number = precision.literal
    parts = []
    if eq.sampled:
        parts += [
            array("real", "sample_period", [number(one.period) for one in eq.sampled]),
            array("real", "sample_offset", [number(one.offset) for one in eq.sampled]),
            array("int", "sample_target", [str(place[".".join(one.key)]) for one in eq.sampled]),
        ]
    if eq.delayed:
        width = max(one.degree for one in eq.delayed) + 3
        rows = []
        for one in eq.delayed:
            names = [*[f"c{k}" for k in range(one.degree + 1)], "middle", "half"]
            rows.append("{" + ", ".join(str(place[f"{one.owner}.{name}"]) for name in names) + "}")
        parts += [
            array("real", "delay_time", [number(one.time) for one in eq.delayed]),
            array("real", "delay_pieces", [number(float(one.pieces)) for one in eq.delayed]),
            f"static const int delay_target[][{width}] = {{{', '.join(rows)}}};",
        ]
    if eq.events:
        total, first, targets = states + system.nz, [0], []
        for event in eq.events:
            for key in event.sets:
                name = ".".join(key)
                targets.append(states + eq.names.index(name) if name in eq.names else total + place[name])
            first.append(len(targets))
        parts += [
            array("int", "event_direction", [str(event.direction) for event in eq.events]),
            array("int", "event_level", [str(int(event.level)) for event in eq.events]),
            array("int", "event_stops", [str(int(bool(event.stop))) for event in eq.events]),
            array("int", "event_first", [str(i) for i in first]),
            array("int", "event_target", [str(i) for i in targets]),
        ]
    return "\n".join(parts)
