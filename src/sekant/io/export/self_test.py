"""Values from the engine for the self-test of an exported C source."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.clocks import clocks_of, reactors_of
from sekant.analyses.simulation.events import run_with_events
from sekant.analyses.simulation.runs import Setup, runner_of
from sekant.analyses.simulation.samples_and_delays import sampled_in_loop
from sekant.engine.functions.motion import right_hand_side, work_symbols
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.errors import SekantError
from sekant.io.export.c_operations import array
from sekant.io.export.interface import Interface
from sekant.io.export.model_code import ModelCode
from sekant.solvers.ode import METHODS

Floats = NDArray[np.float64]
TEST_STEPS, TEST_ROWS = 2000, 5
ALLOWED = {"double": (1e-9, 1e-9, 1e-7), "float": (1e-3, 1e-3, 1e-2)}
"""Allowed deviations of states, rates and outputs in the self-test, relative to their largest values.

In single precision 1e-7 of a length times the stiffness of a spring is an error of the force: rates have few
digits.
"""


def _duration(system: System) -> float:
    """Duration (s) of a simulation of the model."""
    until: Any = system.settings.until
    return float(until)


def _motion(
    system: System, start: State, method: str, step: float, steps: int
) -> tuple[Floats, Floats, Floats]:
    """Times (n,), states (n, nx), parameters and held values (n, np) after each step, until the motion ends."""
    times: Floats = step * np.arange(steps + 1, dtype=np.float64)
    x: list[Floats] = []
    p: list[Floats] = []

    def take(_: System, rows: Floats, t: Floats, states: Floats, fraction: float) -> None:
        x.append(states.copy())
        p.append(np.broadcast_to(rows, (t.size, rows.shape[1])).copy())

    def take_plain(t: Floats, states: Floats, fraction: float) -> None:
        take(system, system.parameter_vector(None, start.held)[None, :], t, states, fraction)

    rtol: Any = system.settings.rtol
    setup = Setup(method, system, start, times, None, step, rtol, rtol, False, None, take_plain, take)
    reactors = reactors_of(system)
    in_loop = not reactors and sampled_in_loop(system, method)
    clocks = [] if in_loop else clocks_of(system, lambda: setup.stops)
    done = run_with_events(setup, reactors, clocks) if clocks else runner_of(method)(setup)
    count = sum(part.shape[0] for part in x)
    if done.status == "stopped":
        count -= 1  # the row at which an event ends the motion
    elif done.status == "interrupted":
        raise KeyboardInterrupt
    elif done.status != "finished":
        raise SekantError(
            f"the simulation of model '{system.model.name}' fails within {steps} steps of {step:g} s with "
            f"the method {METHODS[method].name}: {done.message}"
        )
    if count < TEST_ROWS + 2:
        raise SekantError(
            f"the motion of model '{system.model.name}' ends at t = {done.t_last:.6g} s ({done.message}), which "
            f"is too early for a self-test with steps of {step:g} s; use shorter steps"
        )
    return times[:count], np.ascontiguousarray(np.concatenate(x)[:count]), np.concatenate(p)[:count]


def expected_values(
    system: System, face: Interface, code: ModelCode, start: State, method: str, step: float
) -> str:
    """Values from the engine: rates at the start, states along the way, outputs at the end."""
    steps = min(TEST_STEPS, max(TEST_ROWS, int(_duration(system) / step)))
    times, x, p = _motion(system, start, method, step, steps + 1)
    steps = (times.size - 2) // TEST_ROWS * TEST_ROWS  # the last row lacks the instants at its time
    times, x, p = times[: steps + 1], x[: steps + 1], p[: steps + 1]
    every = steps // TEST_ROWS
    rows = x[every::every]
    xdot = right_hand_side(system, False)(np.array([np.nextafter(0.0, 1.0)]), x[0], p[0])[0].ravel()
    rates = right_hand_side(system, False).map(times[:, None], x, p)[0]
    report = system.once(("exported", tuple(v.name for v in face.outputs)), lambda: _report(system, face))
    every_y = report.map(times[:, None], x, p)[0]
    state, rate, output = ALLOWED[code.precision.name]
    number = code.precision.literal
    return "\n".join(
        [
            f"#define EXPECTED_STEPS {steps}\n#define EXPECTED_EVERY {every}",
            f"#define STATE_ALLOWED {number(state)}\n#define RATE_ALLOWED {number(rate)}",
            f"#define OUTPUT_ALLOWED {number(output)}",
            array("real", "expected_rates", map(number, xdot.tolist())),
            array("real", "rate_scale", map(number, _scale(rates).tolist())),
            array("real", "state_scale", map(number, _scale(x).tolist())),
            array("real", "expected_outputs", map(number, every_y[-1].tolist())),
            array("real", "output_scale", map(number, _scale(every_y).tolist())),
            "static const real expected_states[][NX] = {\n"
            + ",\n".join("    {" + ", ".join(number(float(v)) for v in row) + "}" for row in rows)
            + "};",
        ]
    )


def _report(system: System, face: Interface):
    eq = system.equations
    work = work_symbols(system)
    y = face.y if not work.numel() else eq.lookups.substitute(face.y, work, ca.SX.zeros(work.numel()))
    return system.function("exported", [eq.t, ca.vertcat(eq.q, eq.v, eq.z), eq.p], [y])


def _scale(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest magnitude of each column; for small columns that of all columns together, times 1e-3."""
    if not values.size:
        return np.ones(values.shape[1])
    each = np.abs(values).max(axis=0)
    return np.maximum(each, max(1e-3 * each.max(), 1e-12))
