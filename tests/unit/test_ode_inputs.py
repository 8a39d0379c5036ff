"""Wrong inputs are named, with the number and the remedy."""

from __future__ import annotations

import numpy as np
import pytest

from ode_right_hand_sides import pendulum
from sekant.errors import SolverError
from sekant.solvers.ode import METHODS, OdeProblem, integrate

PROBLEM = OdeProblem(pendulum, 2, np.array([9.7]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "dop835"}, "unknown method 'dop835'; did you mean 'dop853'"),
        ({"method": "rk4"}, "needs a step"),
        ({"method": "rk4", "step": 0.0}, r"positive and finite \(got 0.0\)"),
        ({"method": "euler", "step": -0.1}, r"got -0.1"),
        ({"method": "euler", "step": np.nan}, r"got nan"),
        ({"step": 0.1}, "chooses its own steps"),
        ({"method": "semi_implicit_euler", "step": 0.1}, r"nq = 0, nv = 0"),
        ({"t_eval": [0.0, 1.0, 1.0]}, r"t_eval\[1\] = 1.0 is followed by 1.0"),
        ({"t_eval": [0.0, 2.0, 1.0]}, r"t_eval\[1\] = 2.0 is followed by 1.0"),
        ({"t_eval": []}, "at least one time"),
        ({"t_eval": [0.0, np.inf]}, r"t_eval\[1\] is not finite"),
        ({"x0": [0.3, np.nan]}, r"x0\[1\] = nan"),
        ({"x0": [0.3]}, r"must have shape \(2,\)"),
        ({"rtol": -1e-3}, "must not be negative"),
        ({"rtol": 0.0, "atol": [1e-3, 0.0]}, "both be zero"),
        ({"atol": [1e-3, 1e-3, 1e-3]}, "one for each of 2 states"),
        ({"stops": [0.5, np.nan]}, "stops must be finite"),
        ({"max_step": 0.0}, "max_step must be positive"),
        ({"first_step": -1.0}, "first_step must be positive"),
        ({"max_steps": 0}, "max_steps must be at least 1"),
        ({"chunk_steps": 0}, "chunk_steps must be at least 1"),
    ],
)
def test_wrong_input_is_named(changes, message):
    arguments = {"t_eval": [0.0, 1.0], "x0": [0.3, 0.1], **changes}
    with pytest.raises(SolverError, match=message):
        integrate(PROBLEM, arguments.pop("t_eval"), arguments.pop("x0"), **arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 0}, "at least one state"),
        ({"nq": 2, "nv": 1}, "nq = 2 and nv = 1 do not fit into n = 2"),
        ({"unit_blocks": np.array([[1, 2]])}, "2 states that starts at index 1 with stride 1, but .* n = 2"),
    ],
)
def test_wrong_problem_is_named(changes, message):
    with pytest.raises(SolverError, match=message):
        OdeProblem(**{"rhs": pendulum, "n": 2, **changes})


def test_a_unit_block_of_zeros_is_named():
    problem = OdeProblem(pendulum, 2, unit_blocks=np.array([[0, 2]]))
    with pytest.raises(SolverError, match=r"x0\[0:2\] is zero"):
        integrate(problem, [0.0, 1.0], [0.0, 0.0])


def test_inputs_are_left_alone():
    times, start, blocks = np.linspace(0.0, 1.0, 5), np.array([0.3, 0.1]), np.array([[0, 2]])
    problem = OdeProblem(pendulum, 2, np.array([9.7]), unit_blocks=blocks)
    outcome = integrate(problem, times, start)
    times[:], start[:], blocks[:] = -1.0, -1.0, -1
    assert np.array_equal(outcome.t, np.linspace(0.0, 1.0, 5))
    assert np.array_equal(outcome.x[0], [0.3, 0.1])
    assert np.array_equal(problem.unit_blocks, [[0, 2, 1]])  # with the stride of one


def test_every_method_says_what_it_is():
    for name, method in METHODS.items():
        assert method.name == name
        assert method.order >= 1
        assert len(method.description) > 10
        assert method.adaptive == (method.evaluations_per_step == 0)
