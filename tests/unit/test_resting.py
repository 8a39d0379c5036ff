"""Contacts in the air are held over stretches of fixed steps: the steps are those that ask at every evaluation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sekant as sk
from sekant.analyses.simulation.problems import explicit_problem
from sekant.model.parse import model_from_dict
from sekant.solvers.ode import OdeProblem, integrate

LINKS = 6


def arm(floor: float) -> sk.System:
    """Hanging links that swing onto a floor at this height and against a ball."""
    bodies = {f"b{i}": {"mass": 1.0 + 0.2 * i, "inertia": [0.1, 0.12, 0.03]} for i in range(LINKS)}
    joints = {
        f"j{i}": {
            "type": "revolute",
            "parent": "ground" if i == 0 else f"b{i - 1}",
            "child": f"b{i}",
            "axis": [[0, 1, 0], [1, 0, 0], [0, 0, 1]][i % 3],
            "parent_pose": {"position": [0.05 * i, 0.02, -0.3 if i else 0.0]},
            "q0": 0.6 - 0.3 * i,
        }
        for i in range(LINKS)
    }
    law = {"stiffness": 3e4, "dissipation": 0.2, "friction": 0.3}
    forces = {
        "floor": {"type": "plane_contact", "frame": "b5", "plane": "ground.floor", **law},
        "ball": {
            "type": "sphere_contact",
            "frame": "b5",
            "radius": 0.05,
            "stiffness": 5e4,
            "other": "ground.ball",
            "other_radius": 0.1,
        },
    }
    frames = {"floor": {"position": [0, 0, floor]}, "ball": {"position": [-0.08, 0.1, -1.5]}}
    data = {"bodies": bodies, "joints": joints, "forces": forces, "ground": {"frames": frames}}
    return sk.compile(model_from_dict({"name": "arm", **data}))


@pytest.fixture(scope="module")
def system() -> sk.System:
    return arm(-1.6)


def run(system: sk.System, problem: OdeProblem, method: str, step: float, outputs: int) -> np.ndarray:
    start = system.initial_state()
    x0, times = np.concatenate([start.q, start.v]), np.linspace(0, 2.0, outputs)
    return integrate(problem, times, x0, method=method, step=step).x


@pytest.mark.parametrize(("method", "step"), [("euler", 1e-4), ("semi_implicit_euler", 1e-4), ("rk4", 5e-4)])
@pytest.mark.parametrize("outputs", [2, 41, 4001])
def test_steps_are_those_that_ask_at_every_evaluation(system, method, step, outputs):
    """Both contacts close and open again; outputs may lie a single step apart."""
    problem = explicit_problem(system, None, False, method)
    held = run(system, problem, method, step, outputs)
    np.testing.assert_array_equal(held, run(system, replace(problem, resting=None), method, step, outputs))
    if outputs == 4001:
        resting = problem.resting
        assert resting is not None
        gaps = resting.guards.map(np.zeros((1, 1)), held, system.parameter_vector()[None, :])[0]
        changes = np.count_nonzero(np.diff(np.sign(gaps), axis=0), axis=0)
        assert len(resting.sites) == 2
        assert (changes >= 2).all(), changes


@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_what_rests_is_not_asked(system, method):
    """Told by guards that know of no floor, an arm falls through the one that it has."""
    problem, other = (explicit_problem(s, None, False, method) for s in (system, arm(-50.0)))
    deceived = run(system, replace(problem, resting=other.resting), method, 1e-4, 3)
    expected = run(system, problem, method, 1e-4, 3)
    assert np.abs(deceived - expected).max() > 1e-3


def test_guards_of_what_a_run_changes_do_not_rest():
    """A comparison of velocities, of time or of a sampled signal is asked for at every evaluation."""
    signals = {"seen": {"type": "sampled", "input": "j0.q", "period": 0.01}}
    for name, count in {"j0.q": 1, "j0.v": 0, "t": 0, "seen": 0}.items():
        guard = f"exp(sin(3*{name})) * cos(exp({name})) - tan(0.1*{name}) - 0.4"
        law = f"if_else({guard} < 0, 5*sin({guard}), 0)"
        model = model_from_dict(
            {
                "name": "hinge",
                "bodies": {"b": {"mass": 1, "com": [0, 0, -0.3], "inertia": [1, 1, 1]}},
                "joints": {"j0": {"type": "revolute", "child": "b", "axis": [0, 1, 0]}},
                "signals": signals,
                "forces": {"law": {"type": "actuator", "joint": "j0", "force": law}},
            }
        )
        resting = explicit_problem(sk.compile(model), None, False, "rk4").resting
        assert (0 if resting is None else len(resting.sites)) == count, name
