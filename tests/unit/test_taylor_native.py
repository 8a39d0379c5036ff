"""The native kernel of the Taylor method against the interpreter, on systems with constraints and switches."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant.analyses.simulation.problems import taylor_problem
from sekant.engine.codegen.parallel import compile_text
from sekant.engine.functions.taylor_tape import taylor_tape
from sekant.solvers.taylor import TaylorProblem, TaylorRun, integrate
from sekant.solvers.taylor.native.kernel import MOST_UNKNOWNS

EXAMPLES = Path(__file__).parents[2] / "examples"
MODELS = {
    "slider_crank": EXAMPLES / "slider_crank.yaml",
    "bricard, redundant rows": EXAMPLES / "bricard.yaml",
    "governor": EXAMPLES / "flyball_governor.yaml",
    "strut in points": EXAMPLES / "natural" / "mcpherson_strut.yaml",
    "path joint": EXAMPLES / "knee.yaml",
}


@pytest.mark.parametrize("name", [name for name, path in MODELS.items() if path.exists()])
def test_series_of_mechanisms(name: str) -> None:
    """The same coefficients to round-off, relative to the largest of their order, after a few steps."""
    model = sk.load(MODELS[name])
    system = model.compile() if isinstance(model, sk.natural.Mechanism) else sk.compile(model)
    native = taylor_problem(system)
    assert native.layout.kernel is not None
    interpreted = TaylorProblem(native.tape, native.unit_blocks)
    start = sk.assemble(system)
    order, found = 14, []
    for problem in (native, interpreted):
        run = TaylorRun(
            problem, [0.0, 1e3], start.q, start.v, p=system.parameter_vector(), rtol=1e-8, order=order
        )
        run.advance(3)
        found.append((run.t, *run.series))
    (t1, _, Q1, V1), (t2, _, Q2, V2) = found
    assert t1 == pytest.approx(t2, rel=1e-9)
    for mine, theirs in ((Q1, Q2), (V1, V2)):
        size = np.abs(theirs).max(axis=0)
        scale = np.maximum.accumulate(size[::-1])[::-1] + 1e-12
        assert np.all(np.abs(mine - theirs) <= 2e-8 * scale)
        assert np.all(np.abs(mine - theirs)[:, :2] <= 1e-11 * scale[:2])


def rolling(compiler=None) -> TaylorProblem:
    """A knife edge that is pushed and rubs: a velocity constraint, a switch, an event and a parameter."""
    q, v, a, p = ca.SX.sym("q", 3), ca.SX.sym("v", 3), ca.SX.sym("a", 3), ca.SX.sym("p")
    across = -ca.sin(q[2]) * v[0] + ca.cos(q[2]) * v[1]
    force = ca.vertcat(p - 0.2 * ca.fabs(v[0]), 0.3, 0.1 * ca.fmax(0.0, q[0] - 0.1) - 0.05 * v[2])
    tape = taylor_tape(q=q, v=v, a=a, p=p, residual=a - force, velocities=across, events=q[0] - 0.15)
    return TaylorProblem(tape, compiler=compiler)


def test_switches_events_and_velocity_constraints() -> None:
    runs = [
        integrate(
            rolling(compiler),
            np.linspace(0.0, 4.0, 9),
            [0.0, 0.0, 0.4],
            [0.0, 0.0, 0.9],
            p=[0.7],
            rtol=1e-11,
            on_event=lambda record: None,
        )
        for compiler in (None, compile_text)
    ]
    assert len(runs[0].events) == len(runs[1].events) == 2
    assert runs[0].stats["restarts"] == runs[1].stats["restarts"] >= 3
    for name in ("x", "a", "lam"):
        np.testing.assert_allclose(getattr(runs[0], name), getattr(runs[1], name), atol=1e-11)


def test_large_systems_are_interpreted() -> None:
    n = MOST_UNKNOWNS + 1
    x, a = ca.SX.sym("x", n), ca.SX.sym("a", n)
    right = -x * ca.vertcat(x[1:], x[0])
    tape = taylor_tape(v=x, a=a, residual=a - right)
    assert TaylorProblem(tape, compiler=pytest.fail).layout.kernel is None
