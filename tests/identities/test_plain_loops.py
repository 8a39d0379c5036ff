"""Every loop as plain Python and compiled: the same motion, bit for bit.

Compiled loops have no fused operations, and the model's functions are the same native code both times, so nothing may
differ. Powers and complex quotients are where plain Python would: see `sekant.loops.translate.plain`.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sekant as sk
from sekant.analyses.simulation.instants import instants_of
from sekant.loops.declare import procedures
from sekant.loops.declare.calls import call_many
from sekant.loops.declare.procedures import ALL
from sekant.loops.store.objects import import_all, procedure_of
from sekant.loops.translate import translate
from sekant.solvers.common.cascades import follow_jumps, note_signs, react_to_event
from sekant.solvers.complementarity.decide import begin, follow
from sekant.solvers.dae.integrate import METHODS as IMPLICIT_METHODS
from sekant.solvers.instants.instants import (
    InstantMemory,
    catch_up,
    end_stretch,
    happen_at,
    keep_point,
    kink_at,
    look_at_inputs,
    note_before,
    pass_stop,
    start_instants,
)
from sekant.solvers.newton.closing import close, close_from, solve_positions
from sekant.solvers.ode import METHODS
from sekant.solvers.ode.rk4 import rk4_steps
from sekant.solvers.sweep.walk import spread
from sekant.solvers.taylor.advance import advance as advance_series

EXAMPLES = Path(__file__).parents[2] / "examples"
FIXED = {"step": 1e-3}
RUNS = [
    ("quarter_car", "joint", 0.05, "euler", FIXED),
    ("quarter_car", "joint", 0.05, "semi_implicit_euler", FIXED),
    ("quarter_car", "joint", 0.05, "rk4", FIXED),
    ("quarter_car", "joint", 0.05, "dop853", {}),
    ("quarter_car", "joint", 0.05, "taylor", {}),
    ("quarter_car", "joint", 0.05, "radau5", {}),
    ("slider_crank", "joint", 0.02, "rk4", FIXED),
    ("slider_crank", "cartesian", 0.02, "generalized_alpha", FIXED),
    ("slider_crank", "cartesian", 0.02, "radau5", {}),
    ("slider_crank", "natural", 0.02, "taylor", {}),
    ("four_bar", "joint", 0.05, "dop853", {}),
    ("bouncing_ball", "joint", 0.6, "auto", {}),
    ("stick_slip", "joint", 0.3, "dop853", {}),
    ("stick_slip", "joint", 0.3, "radau5", {}),
    ("stick_slip", "joint", 0.3, "taylor", {}),
]


@pytest.mark.parametrize(("name", "formulation", "until", "method", "options"), RUNS)
def test_a_run_is_the_same_in_plain_python(
    monkeypatch: pytest.MonkeyPatch, name: str, formulation: Any, until: float, method: Any, options: Any
):
    system = sk.compile(sk.load(EXAMPLES / f"{name}.yaml"), formulation=formulation)
    compiled = sk.simulate(system, until, method=method, **options)
    monkeypatch.setattr(procedures, "as_python", True)
    plain = sk.simulate(system, until, method=method, **options)
    assert plain.status == compiled.status
    assert plain.stats["steps"] == compiled.stats["steps"] > 0
    for column in compiled.names:
        np.testing.assert_array_equal(plain[column], compiled[column], err_msg=column)


@pytest.mark.parametrize(
    ("method", "options"),
    [("dop853", {}), ("radau5", {}), ("generalized_alpha", {"step": 0.02}), ("rk4", {"step": 0.02})],
)
def test_events_are_the_same_in_plain_python(monkeypatch: pytest.MonkeyPatch, method: Any, options: Any):
    """A block that a relay pushes to and fro: each method locates events on steps of its own."""
    relay = sk.signals.Hysteresis(input="rail.q", on_above=0.1, off_below=-0.07, low=3.1, high=-3.1)
    model = sk.Model(
        gravity=(0, 0, 0),
        bodies={"block": sk.Body(mass=2.3)},
        joints={"rail": sk.joints.Prismatic(child="block", axis=(1, 0, 0), q0=0.05, v0=0.3)},
        forces={"motor": sk.forces.Actuator(joint="rail", force="relay - 0.4*rail.v")},
        signals={"relay": relay},
    )
    system = sk.compile(model)
    compiled = sk.simulate(system, 1.2, method=method, rtol=1e-5, output_step=0.1, **options)
    monkeypatch.setattr(procedures, "as_python", True)
    plain = sk.simulate(system, 1.2, method=method, rtol=1e-5, output_step=0.1, **options)
    assert plain.stats["events"] == compiled.stats["events"] >= 2
    for column in compiled.names:
        np.testing.assert_array_equal(plain[column], compiled[column], err_msg=column)


ELSEWHERE = {
    "sekant_solvers_ode_fixed_step_advance_lanes": "the loop of fixed steps again, compiled for lanes",
    "sekant_solvers_linear_ldl_factorize_system": "called from Python alone; radau5 and taylor call the same helpers",
    "sekant_solvers_linear_ldl_solve_system": "called from Python alone; radau5 and taylor call the same helpers",
}
"""Procedures that none of these runs calls, and why that is not a gap."""


def test_instants_are_the_same_in_plain_python(monkeypatch: pytest.MonkeyPatch):
    """Points of a motion are kept, pieces end, a clock strikes, an event happens."""
    system = sk.compile(sk.load(EXAMPLES / "balanced_pole.yaml"))

    def after() -> tuple[InstantMemory, list[int]]:
        m = instants_of(system)
        m.p[:] = system.parameter_vector()
        m.q[:2] = 0.1, 0.05
        m.apart = 1e-12
        codes = [start_instants(m)]
        for _ in range(5):
            begin, end = m.t[0], m.next
            for t in (begin + 0.5 * (m.delays.nodes + 1) * (end - begin)).tolist():
                m.t[0], m.q[1], m.v[1] = t, 0.05 * np.cos(9 * t), -0.45 * np.sin(9 * t)
                codes += [look_at_inputs(m), keep_point(m, t)]
            m.t[0] = end
            codes += [kink_at(m, end), end_stretch(m, end, codes[-1]), note_before(m), pass_stop(m, 1.0)]
        m.q[1] = 1.2
        codes += [catch_up(m, -1.0), happen_at(m, 0.0)]
        return m, codes

    compiled, codes = after()
    monkeypatch.setattr(procedures, "as_python", True)
    plain, plain_codes = after()
    assert codes == plain_codes
    assert np.ptp(compiled.delays.coefficient) > 0
    for name in ("v", "z", "p"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(compiled, name))
    for name in ("coefficient", "begin", "end", "kink", "count", "cut", "error"):
        np.testing.assert_array_equal(getattr(plain.delays, name), getattr(compiled.delays, name))


def test_every_procedure_is_in_one_of_these_runs():
    import_all()
    own = {symbol for symbol, p in ALL.items() if p.module.startswith("sekant.")}
    known = [m for m in (*METHODS.values(), *IMPLICIT_METHODS.values()) if m.advance.symbol in own]
    assert {method for _, _, _, method, _ in RUNS} >= {"taylor", *(method.name for method in known)}
    waiting = {method.advance.symbol for method in known}
    waiting |= {advance_series.symbol, spread.symbol, call_many.symbol, begin.symbol, follow.symbol}
    waiting |= {note_signs.symbol, follow_jumps.symbol, react_to_event.symbol}
    waiting |= {close.symbol, close_from.symbol, solve_positions.symbol}  # in unit/test_closing.py
    waiting |= {symbol for symbol, p in ALL.items() if p.module == start_instants.module}
    called: set[str] = set()
    while waiting:
        symbol = waiting.pop()
        called.add(symbol)
        waiting |= translate(procedure_of(symbol))[1] - called
    assert own - called == ELSEWHERE.keys()


def test_a_sweep_is_the_same_in_plain_python(monkeypatch: pytest.MonkeyPatch):
    system = sk.compile(sk.load(EXAMPLES / "four_bar.yaml"))
    compiled = sk.kinematics(system, drive={"A.q": (0.1, 0.4, 7)})
    monkeypatch.setattr(procedures, "as_python", True)
    plain = sk.kinematics(system, drive={"A.q": (0.1, 0.4, 7)})
    assert len(compiled) == 7
    for values in ("q", "dq", "ddq"):
        np.testing.assert_array_equal(getattr(plain, values), getattr(compiled, values), err_msg=values)


PROGRAM = """
import sys
import sekant as sk
lines = set()
def trace(frame, event, argument):
    if frame.f_code.co_name == "rk4_steps":
        lines.add(frame.f_lineno)
        return trace
sys.settrace(lambda frame, event, argument: trace(frame, event, argument))
sk.simulate(sk.load(sys.argv[1]), 0.01, method="rk4", step=1e-3)
print(len(lines))
"""


@pytest.mark.parametrize("loops_of", ["python", ""])
def test_a_debugger_sees_every_line(loops_of: str):
    """The environment decides; lines are then those of the source."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(EXAMPLES / "quarter_car.yaml")],
        env={**os.environ, "SEKANT_LOOPS": loops_of},
        capture_output=True,
        text=True,
        check=True,
    )
    body = inspect.getsource(rk4_steps.function).splitlines()
    assert (int(done.stdout) > len(body) // 2) == (loops_of == "python")
