"""The cost of idle elements on an arm, and of a digital controller of the arm. An arm with six hinges gets
each element in a state in which it does not act: a contact in the air, gears within their play, a joint far
from its stop, a switch on its branch, a sample between two times. Three numbers of operations are counted in
this state: those of a step with one evaluation, those of an evaluation with held switches as in adaptive
methods, and those of a Taylor series. Times are those of a step of Euler's method; they vary by a few percent
with the layout of the code. A test for contact needs the position of the body, also in a series, so the
operations for the position are counted separately. The controller is a PID for each hinge, sampled at 1 kHz,
with RK4 steps of 1 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import casadi as ca
import numpy as np
from friction_block import arm
from timing import best_of, figure, target

import sekant as sk
from sekant.analyses.simulation.problems import EventFunctions, explicit_problem, taylor_problem
from sekant.analyses.simulation.watched import event_functions_of
from sekant.engine.codegen.regions import find_regions
from sekant.engine.codegen.sites import find_sites
from sekant.engine.codegen.tape import CONST, INPUT, Tape, core_function, make_tape
from sekant.engine.functions.motion import state_rates
from sekant.formulations import friction
from sekant.io import model_text
from sekant.model.parse import model_from_dict
from sekant.solvers.ode import integrate
from sekant.solvers.taylor import TaylorRun
from sekant.solvers.taylor.native.stages import history_of

JOINTS = 6
STEP = 1e-9
FAR = {"position": [0, 0, -50.0]}
PLACE = {"stiffness": 1e5, "dissipation": 0.1}
IDLE: dict[str, dict[str, Any]] = {
    "joint_friction": {"forces": {"x": {"type": "joint_friction", "joint": "j2", "level": 1.0}}},
    "joint_limit": {
        "forces": {
            "x": {
                "type": "joint_limit",
                "joint": "j2",
                "lower": -3.0,
                "upper": 3.0,
                "stiffness": 1e3,
                "ramp": 0.1,
            }
        }
    },
    "plane_contact": {
        "forces": {"x": {"type": "plane_contact", "frame": "b5", "plane": "ground.far", **PLACE}}
    },
    "surface_contact": {
        "forces": {
            "x": {
                "type": "surface_contact",
                "frame": "b5",
                "surface": "ground.far",
                "height": "0.1*x*y",
                **PLACE,
            }
        }
    },
    "sphere_contact": {
        "forces": {
            "x": {
                "type": "sphere_contact",
                "frame": "b5",
                "radius": 0.1,
                "other": "ground.far",
                "other_radius": 0.1,
                **PLACE,
            }
        }
    },
    "bump_stop": {
        "forces": {
            "x": {"type": "bump_stop", "parent": "ground", "child": "b0", "length": 1e-3, "stiffness": 1e3}
        }
    },
    "compliant_coupling": {
        "forces": {
            "x": {
                "type": "compliant_coupling",
                "joint": "j1",
                "driven": "j2",
                "stiffness": 1e3,
                "backlash": 3.0,
                "ratio": 0.5,
            }
        }
    },
    "point_plane (rigid)": {"contacts": {"x": {"type": "point_plane", "frame": "b5", "plane": "ground.far"}}},
    "joint_stop (rigid)": {
        "contacts": {"x": {"type": "joint_stop", "joint": "j2", "limit": 3.0, "side": "upper"}}
    },
    "hysteresis": {
        "signals": {"x": {"type": "hysteresis", "input": "j2.v", "on_above": 900.0, "off_below": 800.0}}
    },
    "sampled": {"signals": {"x": {"type": "sampled", "input": "j2.q", "period": 1e9}}},
    "delay": {"signals": {"x": {"type": "delay", "input": "j2.q", "time": 0.1}}},
    "event": {"signals": {"x": {"type": "event", "when": "j2.q - 900", "stop": "far away"}}},
}
PLACES = {
    "plane_contact": [2],
    "surface_contact": [0, 1, 2],
    "sphere_contact": [0, 1, 2],
    "point_plane (rigid)": [2],
}
"""Coordinates of the last body that the test for contact needs."""
ORDER = 16
"""Of series at a tolerance of 1e-10."""
RUBBING = {"joint_friction": {"type": "joint_friction", "joint": "j2", "coefficient": 0.1, "radius": 0.02}}
"""Friction with a coefficient, which always acts."""
USED = {"hysteresis", "sampled", "delay"}
"""Signals whose value drives a hinge, because unused signals are not computed."""


def with_element(name: str) -> sk.Model:
    """The arm with one additional element; with none for an empty name."""
    pull = {"type": "actuator", "joint": "j4", "force": "0.2*x" if name in USED else 0.1}
    data = _arm()
    data["forces"] = {"pull": pull}
    data["ground"] = {"frames": {"far": FAR}}
    for key, items in IDLE.get(name, {}).items():
        data[key] = {**data.get(key, {}), **items}
    return model_from_dict(data)


def rubbing() -> sk.Model:
    """The arm with friction by a coefficient in its first joint."""
    data = _arm()
    data["forces"] = {"pull": {"type": "actuator", "joint": "j4", "force": 0.1}, **RUBBING}
    return model_from_dict(data)


def _arm() -> dict[str, Any]:
    from ruamel.yaml import YAML

    data = YAML(typ="safe").load(model_text(arm(0)))
    return {key: value for key, value in data.items() if key != "format"}


def state_of(system: sk.System) -> tuple[np.ndarray, np.ndarray]:
    """x and p of a state in which no element acts."""
    state = np.concatenate([np.linspace(0.1, 0.6, JOINTS), np.linspace(0.3, -0.2, JOINTS)])
    z = system.element_states(system.initial_state(None), None)
    return np.concatenate([state, z]), system.parameter_vector()


def steps_of(system: sk.System) -> Callable[[int], object]:
    """Many steps of Euler's method, so short that the arm hardly moves."""
    problem = explicit_problem(system, None, False, "euler")
    x, _ = state_of(system)
    return lambda many: integrate(problem, [0.0, many * STEP], x, method="euler", step=STEP)


def _tape(system: sk.System) -> Tape:
    eq = system.equations
    x, rates = state_rates(system, balance=False)
    return make_tape(core_function("f", [eq.t, x, eq.p], [rates], []))


def place(system: sk.System, coordinates: list[int]) -> int:
    """Additional operations to compute these coordinates of the last body of the arm."""
    eq, (x, rates) = system.equations, state_rates(system, balance=False)
    p_WB = eq.motion.frame("b5").p[coordinates]
    both = make_tape(core_function("f", [eq.t, x, eq.p], [rates, p_WB], []))
    return both.operations - _tape(system).operations


def rounds_of_friction() -> tuple[int, int]:
    """Operations that friction by a coefficient adds: all, and those of one of its Newton steps."""
    counts, rounds = {}, friction.ROUNDS
    for number in (rounds, rounds - 1):
        friction.ROUNDS = number
        counts[number] = operations(sk.compile(rubbing()))
    friction.ROUNDS = rounds
    alone = operations(sk.compile(with_element("")))
    return counts[rounds] - alone, counts[rounds] - counts[rounds - 1]


def place_in_series(coordinates: list[int]) -> int:
    """Like `place`, for one order of a series."""
    if not coordinates:
        return 0
    alone = with_element("")
    system = sk.compile(alone.changed(name=f"coordinates {coordinates} of {alone.name}"))  # kept by its name
    p_WB = system.equations.motion.frame("b5").p[coordinates]
    both = series_operations(system, EventFunctions(lambda: p_WB, np.zeros(len(coordinates))))
    return both - series_operations(sk.compile(alone))


def series_operations(system: sk.System, watched: EventFunctions | None = None) -> int:
    """Operations of one order of a Taylor series in the idle state, as the mean up to `ORDER`: one for each
    operation, and for a product one more for each lower order. `watched`: by default the values that the
    elements of the system watch.
    """
    problem = taylor_problem(system, watched or event_functions_of(system))
    x, p = state_of(system)
    run = TaylorRun(problem, [0.0, 1.0], x[: system.nq], x[system.nq :], p=p)
    run.advance(1)
    work, nodes = problem.layout.program.stage, problem.nodes
    needed = [region < 0 or run.memory.series[region, 0] != 0.0 for region in work.region.tolist()]
    members = work.d[np.repeat(needed, np.diff(work.start))].tolist()
    return sum(1 + ORDER // 2 * len(history_of(nodes, i)) for i in members)


def fixed_operations(system: sk.System) -> int:
    """Operations of a step with one evaluation, which evaluates all switches."""
    return operations(system, [])


def operations(system: sk.System, held: Collection[int] | None = None) -> int:
    """Operations that one evaluation executes; `held`: the held sites, by default all."""
    tape = _tape(system)
    sites = find_sites(tape)
    regions, free = find_regions(tape, sites), set(range(len(sites.sites))) - set(held or ())
    if regions is None:
        return tape.operations
    inputs = [np.zeros(1), *state_of(system)]
    value: list[float] = []
    for op, i, j, number in zip(tape.op.tolist(), tape.a, tape.b, tape.constant, strict=True):
        if op == INPUT:
            value.append(float(inputs[i][j]))
        elif op == CONST:
            value.append(float(number))
        else:
            both = (ca.SX(value[i]),) if j < 0 else (ca.SX(value[i]), ca.SX(value[j]))
            value.append(float(ca.SX.unary(op, *both) if j < 0 else ca.SX.binary(op, *both)))

    def site_of(kind: str, number: int) -> int:
        return number if kind == "free" else sites.switches[number][0]  # type: ignore[index]

    holds = [
        any(
            (held is not None and kind != "value" and site_of(kind, k) in free)
            or (kind != "free" and value[k] != 0)
            for kind, k in conditions
        )
        for conditions in regions.conditions
    ]
    return tape.operations - sum(region >= 0 and not holds[region] for region in regions.of)


def controlled() -> sk.Model:
    """A PID for each hinge, sampled at 1 kHz: sums and differences of samples."""
    signals, forces = {}, {}
    for i in range(JOINTS):
        error = f"{0.2 + 0.1 * i} - j{i}.q"
        signals[f"sum{i}"] = {"type": "sampled", "input": f"sum{i} + 1e-3*({error})", "period": 1e-3}
        control = f"{90 - 9 * i}*({error}) + {60 - 7 * i}*sum{i} - {14 - 2 * i}*j{i}.v"
        signals[f"u{i}"] = {"type": "sampled", "input": control, "period": 1e-3}
        forces[f"m{i}"] = {"type": "actuator", "joint": f"j{i}", "force": f"u{i}"}
    return model_from_dict({**_arm(), "signals": signals, "forces": forces})


def run(quick: bool) -> dict[str, Any]:
    figures, targets = [], []
    base = sk.compile(with_element(""))
    calls, counts, least = {}, {}, {}
    for name in ("", *IDLE):
        system = base if not name else sk.compile(with_element(name))
        calls[name] = steps_of(system)
        counts[name] = np.array([fixed_operations(system), operations(system), series_operations(system)])
        where = PLACES.get(name, [])
        least[name] = place(base, where), place_in_series(where)
    many = 1_000 if quick else 20_000
    timed = best_of({name: (partial(call, many), many) for name, call in calls.items()}, 3 if quick else 40)
    for name in IDLE:
        share = (timed[name].seconds / timed[""].seconds - 1) * 100
        free, held, series = (counts[name] / counts[""] - 1) * 100
        known, seen = least[name][0] / counts[""][0] * 100, least[name][1] / counts[""][2] * 100
        about = (
            f"{share:+.1f} % of a step; the position of the body takes {known:.1f} % of its operations, "
            f"{seen:.1f} % of a series"
        )
        figures.append(figure(f"idle {name}", timed[name], "ns", about))
        targets += [
            target(
                f"operations that an idle {name} adds, fixed steps ({known:.1f} % for the position of the body)",
                free,
                2.0,
                unit="%",
            ),
            target(f"operations that an idle {name} adds, switches held", held, 2.0, unit="%"),
            target(
                f"operations that an idle {name} adds, series ({seen:.1f} % for the position of the body)",
                series,
                2.0,
                unit="%",
            ),
        ]
    until = 0.5 if quick else 10.0
    system = sk.compile(controlled())

    def simulate() -> sk.Result:
        return sk.simulate(
            system,
            until=until,
            method="rk4",
            step=1e-3,
            output_step=until / 10,
            balance=False,
            outputs=["j*.q"],
        )

    pid = best_of({"pid": (simulate, 1)}, 2 if quick else 5)["pid"]
    figures.append(figure(f"six PIDs at 1 kHz, {until:g} s by RK4 with 1 ms", pid, "ms"))
    targets.append(target("times faster than real time", until / pid.seconds, 200.0, unit="", at_least=True))
    return {"figures": figures, "targets": targets}


if __name__ == "__main__":
    import json

    print(json.dumps(run(quick=True), indent=1))
