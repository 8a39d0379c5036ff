"""Several instances in the vector lanes of a core compared with one instance at a time: processor time of
a step, in one run. The lanes start from states that differ by a few percent. The possible gain of lanes is also
counted: register operations of the code for one instance (in which the two sides of a car already share a register,
and a table fills one), times the number of lanes, over those of the code in lanes. This is the gain if both
execute the same number of operations per second.
"""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from time import process_time
from typing import Any

import casadi as ca
import numpy as np
import trees
from timing import Timed, figure, target

import sekant as sk
from sekant.analyses.simulation.ensemble import FIXED, LANES, fits_lanes, lane_problem, lanes_of
from sekant.analyses.simulation.problems import explicit_problem
from sekant.analyses.simulation.start import start_of
from sekant.engine.codegen.lanes import emit_lanes
from sekant.engine.codegen.llvm import CHUNK, emit
from sekant.engine.codegen.tape import core_function, lookup_groups, make_tape
from sekant.engine.functions.motion import state_rates
from sekant.solvers.ode import integrate

EXAMPLES = Path(__file__).parent.parent / "examples"
ROUNDS = 40


def reduced_car() -> sk.Model:
    """The reduced car, without its controller."""
    from sekant.vehicle.car import car_model, load_car

    return car_model(load_car(EXAMPLES / "car" / "hatchback.yaml"), speed=20.0)


def quarter_car_on_a_path() -> sk.Model:
    found = runpy.run_path(str(Path(__file__).with_name("path_quarter_car.py")))
    return found["model"](found["curve"]())


MODELS = {
    "quarter car": lambda: sk.load(EXAMPLES / "quarter_car.yaml"),
    "quarter car on a path": quarter_car_on_a_path,
    "16-DOF tree": lambda: trees.sekant_model(trees.vehicle()),
    "double wishbone, closed loop": lambda: sk.load(EXAMPLES / "suspensions" / "double_wishbone.yaml"),
    "reduced car": reduced_car,
}


def varied(system: sk.System, lanes: int) -> np.ndarray:
    """Starts (n, lanes), the first one as in the model."""
    start = start_of(system, None, None, 0.0)[0]
    x = np.concatenate([start.q, start.v, system.element_states(start)])
    starts = np.repeat(x[:, None], lanes, axis=1)
    if not system.facts.constrained:
        speeds = slice(system.nq, system.nq + system.nv)
        starts[speeds] *= 1 + 0.05 * np.arange(lanes)
        starts[speeds] += 0.02 * np.arange(lanes)
    return starts


def counted_gain(system: sk.System, lanes: int) -> float:
    """Operations on 256-bit registers for one instance, times the number of lanes, over those of the code
    in lanes."""
    eq, (x, rates) = system.equations, state_rates(system, balance=False)
    dense = [ca.densify(rates)]
    groups = lookup_groups(eq.lookups, ca.veccat(*dense))
    tape = make_tape(core_function("counted", [eq.t, x, eq.p], dense, groups), groups)
    alone, wide = emit(tape).modules, emit_lanes(tape, lanes, (0,), CHUNK).modules
    return lanes * _operations(alone) / _operations(wide)


def _operations(modules: tuple[str, ...]) -> int:
    kinds = re.findall(r"= (?:fadd|fsub|fmul|fdiv|fneg)(?: contract)? (?:<(\d+) x )?double", "".join(modules))
    return sum(-(-int(width or 1) // 4) for width in kinds)


def of_a_step(system: sk.System, method: str, lanes: int, steps: int) -> tuple[float, float, float]:
    """Time (s) of a step alone and of a step in lanes, and the factor by which lanes are faster per instance."""
    starts, p = varied(system, lanes), system.parameter_vector()
    single = explicit_problem(system, None, False, method)
    wide = lane_problem(system, method, np.repeat(p[:, None], lanes, axis=1))
    h = 1e-4
    options: dict[str, Any] = {"step": h} if method in FIXED else {"rtol": 1e-8, "atol": 1e-10}
    times = np.array([0.0, h * steps])
    best = [np.inf, np.inf]
    for _ in range(ROUNDS):
        for k, (problem, at) in enumerate([(single, starts[:, 0]), (wide, starts.ravel())]):
            began = process_time()
            done = integrate(problem, times, at, method=method, **options)
            assert done.status == "finished", done.describe()
            best[k] = min(best[k], (process_time() - began) / done.stats["steps"])
    return best[0], best[1], lanes * best[0] / best[1]


def of_different(system: sk.System, lanes: int, until: float) -> tuple[float, float, float]:
    """With dop853, for lanes that start with different velocities: processor time (s) of the runs one by one
    and in lanes, and the largest number of steps of a run alone over the smallest."""
    starts = varied(system, lanes)
    single = explicit_problem(system, None, False, "dop853")
    wide = lane_problem(system, "dop853", np.repeat(system.parameter_vector()[:, None], lanes, axis=1))
    times = np.array([0.0, until])
    best, steps = [np.inf, np.inf], np.zeros(lanes)
    for _ in range(ROUNDS):
        spent = 0.0
        for lane in range(lanes):
            began = process_time()
            done = integrate(single, times, starts[:, lane], method="dop853", rtol=1e-8, atol=1e-10)
            spent += process_time() - began
            assert done.status == "finished", done.describe()
            steps[lane] = done.stats["steps"]
        best[0] = min(best[0], spent)
        began = process_time()
        tight = 1 / np.sqrt(lanes)  # as studies ask: every lane keeps its tolerance
        done = integrate(wide, times, starts.ravel(), method="dop853", rtol=1e-8 * tight, atol=1e-10 * tight)
        best[1] = min(best[1], process_time() - began)
        assert done.status == "finished", done.describe()
    return best[0], best[1], float(steps.max() / steps.min())


def run(quick: bool) -> dict[str, Any]:
    figures, targets = [], []
    for name, make in MODELS.items():
        system = sk.compile(make())
        for method, limit in (("rk4", 3.0), ("dop853", 2.0)):
            if not fits_lanes(system, method):  # it ends steps at breaks, row by row
                continue
            lanes = lanes_of(system, method)
            steps = (
                100 if quick else 2000 if lanes > LANES else 500
            )  # a few milliseconds; the best one counts
            alone, wide, gain = of_a_step(system, method, lanes, steps)
            figures.append(figure(f"{name}, {method}: alone", Timed(alone, ROUNDS, 1), "ns"))
            note = f"speedup by operation counts: {counted_gain(system, lanes):.2f}"
            figures.append(figure(f"{name}, {method}: {lanes} lanes", Timed(wide, ROUNDS, 1), "ns", note))
            targets.append(target(f"{name}, {method}: speedup by lanes", gain, limit, at_least=True))
            if method == "dop853" and not system.facts.constrained:
                one, all_, spread = of_different(system, 4, 0.2 if quick else 2.0)
                note = f"steps of the runs alone differ by {100 * (spread - 1):.0f} %"
                figures.append(
                    figure(f"{name}, dop853: different starts, alone", Timed(one, ROUNDS, 1), "us", note)
                )
                figures.append(
                    figure(f"{name}, dop853: different starts, four lanes", Timed(all_, ROUNDS, 1), "us")
                )
                targets.append(
                    target(
                        f"{name}, dop853: speedup by lanes, different starts", one / all_, 2.0, at_least=True
                    )
                )
    return {"figures": figures, "targets": targets}


if __name__ == "__main__":
    told = run(len(sys.argv) > 1)
    for entry in [*told["figures"], *told["targets"]]:
        print(f"{entry['name']:60} {entry['value']:.4g} {entry['unit']} {entry.get('note', '')}")
