"""Simulation in a page: data for `simulation.js`, which simulates a system like `sk.simulate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.bound_forces import decision_functions
from sekant.analyses.simulation.clocks import reactors_of
from sekant.analyses.simulation.complementarity import JAMS_BECAUSE, REMEDY, SEVERAL, BoundForces
from sekant.analyses.simulation.declared_events import DeclaredEvents, functions_of_events
from sekant.analyses.simulation.samples_and_delays import (
    delayed_function,
    fit_at_nodes,
    nodes_of,
    sample_function,
    to_powers,
)
from sekant.analyses.simulation.watched import event_functions_of
from sekant.engine.functions.motion import right_hand_side
from sekant.engine.functions.outputs import output_function
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.geometry.spatial import SX
from sekant.io.export.switching import timed_switches
from sekant.loops.declare.calls import Calls, call_many
from sekant.loops.declare.structs import pointers
from sekant.solvers.common.cascades import follow_jumps, note_signs, react_to_event
from sekant.solvers.common.outcome import STATUSES
from sekant.solvers.common.sites import free_modes
from sekant.solvers.complementarity.decide import begin, decide, react
from sekant.solvers.complementarity.elements import BEYOND
from sekant.views.live.assembly import assembly_functions
from sekant.views.live.loops import Asked, add_loop, page_loop
from sekant.views.live.program import PageProgram
from sekant.views.live.refusals import refuse_python
from sekant.views.player.figure import described_channels

Floats = NDArray[np.float64]
ROUND_OFF = 1e-14
"""Largest difference between evenly spaced times and the times of a run, relative to the largest time."""
_POINT = {name: name for name in "tqvzp"}
_COUNTS = ("sticks", "slips", "impacts", "several", "blame")


def simulation_of(
    given: System,
    method: str,
    asked: Asked,
    start: State,
    outputs: Sequence[str],
    parameters: Any,
    modes: bool = False,
    small: bool = False,
) -> dict[str, Any]:
    """All data that a page requires to run the system: module, memory, and addresses in it.

    `start`: at the first `parameters`; `outputs`: names of the outputs of each row; `modes`: whether the page shows
    eigenvalues; `small`: as for `PageProgram.build`.
    """
    system = given.with_expressions()
    program = PageProgram(system.model.name)
    reactors = reactors_of(system)
    watched = event_functions_of(system)
    p = np.array(system.parameter_vector(parameters), float)
    values = program.add_array(p.copy())
    lines = system.reactions.delayed
    asked = replace(asked, nodes=max((nodes_of(one).size for one in lines), default=0))
    # series have their IR at hand, and are made once
    loop = page_loop(given if method == "taylor" else system, method, asked, start, parameters, watched)
    described: dict[str, Any] = {"loop": add_loop(program, loop)}
    steps_over_all = bool(reactors or lines or system.reactions.sampled)
    switches = timed_switches(system, float(asked.times[-1]))
    if method == "taylor" and not steps_over_all:
        switches = []  # the method stops at all of them by itself
    described["begin"] = _begin(program, system, switches, values)
    described["reactors"] = [_reactor(program, system, one) for one in reactors]
    if system.reactions.sampled:
        described["samples"] = _samples(program, system, values)
    if lines:
        described["delays"] = _delays(program, system, values)
    if reactors:
        described["rates"] = _rates(program, system, values)
    report, chosen = output_function(system, outputs, True)
    described["report"] = _report(program, report, asked.times, (loop.width, p.size), system)
    if system.facts.constrained:
        described["assembly"] = assembly_functions(program, system, float(asked.times[0]), values)
    if modes:
        from sekant.views.live.modes import modes_of_page

        described["modes"] = modes_of_page(program, system, p, parameters)
    refuse_python(system)
    return {
        **program.build(small),
        **described,
        "values": program.place(values),
        "first": p.tolist(),
        "sizes": [system.nq, system.nv, system.nz],
        "held": len(system.facts.held),
        "works": list(system.work_names),
        "switches": [None if s.knots is None else list(s.knots) for s in switches],
        "times": _times(asked.times),
        "channels": described_channels(chosen),
        "statuses": list(STATUSES),
        "stateNames": list(system.state_names),
        "rowNames": list(system.facts.rows),
        "beyond": BEYOND,
        "rtol": asked.rtol,
    }


def _times(times: Floats) -> list[float] | dict[str, float]:
    """Times that are evenly spaced, within round-off, by their start, step, end and number; others one by one."""
    first, last, count = float(times[0]), float(times[-1]), times.size
    for step in ((last - first) / (count - 1), float(times[1] - times[0])):
        off = np.abs(first + step * np.arange(count - 1.0) - times[:-1]).max()
        if off <= ROUND_OFF * max(abs(first), abs(last)):
            return {"first": first, "step": step, "last": last, "count": count}
    return times.tolist()


def _begin(program: PageProgram, system: System, switches: Sequence[Any], values: Floats) -> dict[str, Any]:
    """Function p -> state and held values at the start, times at which signals switch."""
    eq, empty = system.equations, SX.zeros(0, 1)
    columns = {name: ca.vertcat(empty, *[getattr(s, name) for s in switches]) for name in ("start", "scale")}
    terms = {
        "x": ca.vertcat(*eq.start.values(), eq.elements.start),
        "starts": columns["start"],
        "scales": columns["scale"],
        "held": ca.vertcat(empty, *[value.start for value in eq.elements.held_values]),
    }
    function = system.function("start", [eq.p], list(terms.values()))
    found = {name: np.zeros(term.numel()) for name, term in terms.items()}
    return program.add_call(function, {"p": values}, found, "begin")


def _point(system: System, values: Floats) -> dict[str, Floats]:
    sizes = {"t": 1, "q": system.nq, "v": system.nv, "z": system.nz}
    return {name: np.zeros(size) for name, size in sizes.items()} | {"p": values.copy()}


def _state(system: System, values: Floats) -> dict[str, Floats]:
    return {"t": np.zeros(1), "x": np.zeros(system.nq + system.nv + system.nz), "p": values.copy()}


def _rates(program: PageProgram, system: System, values: Floats) -> dict[str, Any]:
    function = right_hand_side(system, balance=False)
    found = {f"rate{k}": np.zeros(size) for k, size in enumerate(function.sizes_out)}
    return program.add_call(function, _state(system, values), found, "rates")


def _samples(program: PageProgram, system: System, values: Floats) -> dict[str, Any]:
    facts, held = system.reactions.sampled, system.facts.held
    first = values.size - len(held)
    call = program.add_call(
        sample_function(system), _point(system, values), {"fresh": np.zeros(len(facts))}, "samples"
    )
    return {
        "call": call,
        "period": [one.period for one in facts],
        "offset": [one.offset for one in facts],
        "place": [first + held.index(one.name) for one in facts],
    }


def _delays(program: PageProgram, system: System, values: Floats) -> dict[str, Any]:
    """Inputs of all delays, and for each the data to fit a polynomial to values at its nodes."""
    lines, held = system.reactions.delayed, system.facts.held
    first = values.size - len(held)
    found = {"u": np.zeros(len(lines))}
    call = program.add_call(delayed_function(system), _state(system, values), found, "delayed")
    nodes = max((nodes_of(one) for one in lines), key=len)
    entries = []
    for one in lines:
        names = [*(f"c{k}" for k in range(one.degree + 1)), "middle", "half"]
        entries.append(
            {
                **vars(one),
                "place": [first + held.index(f"{one.owner}.{name}") for name in names],
                "inverse": fit_at_nodes(nodes.size, one.degree)[1].tolist(),
                "powers": to_powers(one.degree).tolist(),
            }
        )
    return {"call": call, "nodes": nodes.tolist(), "lines": entries}


def _reactor(program: PageProgram, system: System, reactor: Any) -> dict[str, Any]:
    """A reactor of the event loop: its memory, its procedures, and its messages."""
    count = int(reactor.event_functions(system).directions.size)
    if isinstance(reactor, BoundForces):
        called = decision_functions(system)
        run = program.add_run(
            reactor.memory,
            {"begin": begin, "decide": decide, "react": react},
            {**_POINT, "gained": "gained", **{name: name for name in _COUNTS}},
            called={"bound_forces": called.values, "velocity_rows": called.rows, "kinetic": called.energy},
        )
        return {
            "kind": "bound",
            "run": run,
            "count": count,
            "names": [one.name for one in reactor.elements],
            "jams": f"friction {reactor.coupled} jams at t = {{t}} s: {JAMS_BECAUSE}; {REMEDY}",
            "several": f"Warning: friction {reactor.coupled}: {SEVERAL}.",
        }
    assert isinstance(reactor, DeclaredEvents)
    run = program.add_run(
        reactor.memory,
        {"note": note_signs, "follow": follow_jumps, "react": react_to_event},
        {**_POINT, "stopped": "stopped", "blame": "blame"},
        called=functions_of_events(system),
    )
    listed = [{"name": event.name, "stop": event.stop} for event in system.reactions.events]
    return {"kind": "declared", "run": run, "count": count, "events": listed}


def _report(
    program: PageProgram, report: Any, times: Floats, widths: tuple[int, int], system: System
) -> dict[str, Any]:
    """Function (t, x, p) -> outputs of many rows; rows have their own p if the model holds values."""
    rows, (n, size_p), width = times.size, widths, report.sizes_out[0]
    t, x, y = (program.add_array(np.zeros(shape)) for shape in ((rows,), (rows, n), (rows, width)))
    own = bool(system.facts.held)
    p = program.add_array(np.zeros((rows if own else 1, max(1, size_p))))
    tables = program.add_array(report.tables if report.tables.size else np.zeros(1))
    calls = Calls(function=report.address, work=np.zeros(max(1, report.work_size)))
    calls.set(arg=pointers(t, x, p, tables, free_modes(report.sites)), res=pointers(y))
    calls.set(
        arg_step=np.array([8, 8 * n, 8 * size_p if own else 0, 0, 0], dtype=np.int64),
        res_step=np.array([8 * width], dtype=np.int64),
    )
    run = program.add_run(calls, {"all": call_many}, {"count": "count"}, called={"report": report})
    places = {name: program.place(array) for name, array in (("t", t), ("x", x), ("p", p), ("y", y))}
    return {"run": run, **places, "width": width}
