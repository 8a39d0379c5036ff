"""Compiled code and CasADi's interpreter give the same numbers for everything a system can be asked."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms import ALL_JOINTS, FORCE_TYPES, random_model, random_state
from sekant.engine import compile
from sekant.engine.functions.motion import kinematics_function, right_hand_side
from sekant.engine.functions.outputs import output_function


@pytest.fixture(scope="module")
def systems():
    model = random_model(6, ALL_JOINTS, FORCE_TYPES, motions=2)
    parameters = ["b0.mass", "b2.com", "spring_damper_1.stiffness"]
    names = [name for name in model.forces if name.startswith("spring_damper")]
    parameters[2] = f"{names[0]}.stiffness"
    return [compile(model, engine=engine, parameters=parameters) for engine in ("llvm", "casadi")]


def same(one, other):
    one, other = np.asarray(one), np.asarray(other)
    assert one.shape == other.shape
    assert np.max(np.abs(one - other), initial=0.0) <= 1e-12 * np.max(np.abs(other), initial=1.0)


def test_questions_to_a_system(systems):
    t, q, v = random_state(systems[0].equations, 6)
    parameters = {"b0.mass": 3.3}
    a = np.random.default_rng(6).normal(size=v.size)
    same(*[s.forward_dynamics(q, v, t, parameters) for s in systems])
    same(*[s.inverse_dynamics(q, v, a, t, parameters) for s in systems])
    same(*[s.mass_matrix(q, t, parameters) for s in systems])
    same(*[s.energy(q, v, t, parameters) for s in systems])
    same(*[np.concatenate([s.initial_state().q, s.initial_state().v]) for s in systems])


def test_right_hand_side_and_every_output(systems):
    t, q, v = random_state(systems[0].equations, 6)
    work = np.random.default_rng(7).normal(size=len(systems[0].work_names))
    x = np.concatenate([q, v, work])
    p = systems[0].parameter_vector()
    same(*[right_hand_side(s)([t], x, p)[0] for s in systems])
    same(*[right_hand_side(s, balance=False)([t], x[: q.size + v.size], p)[0] for s in systems])
    same(*[kinematics_function(s)([t], x, p)[0] for s in systems])
    rows = []
    for system in systems:
        function, chosen = output_function(system)
        rows.append(function([t], x, p)[0])
        assert rows[-1].size == sum(output.width for output in chosen)
    same(*rows)
    assert np.all(np.isfinite(rows[0]))


def test_forward_and_inverse_dynamics_of_compiled_code(systems):
    t, q, v = random_state(systems[0].equations, 8)
    system = systems[0]
    a = system.forward_dynamics(q, v, t)
    rest = system.inverse_dynamics(q, v, a, t)
    assert np.max(np.abs(rest)) < 1e-10 * np.max(np.abs(system.inverse_dynamics(q, v, 0 * a, t)))
