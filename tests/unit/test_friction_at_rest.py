"""Dry friction in equilibria and linear models: what is assumed is said, what does not exist is refused."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.model.parse import model_from_dict

K, M, LEVEL = 70.0, 1.9, 5.0
UPPER = np.sort_complex(np.roots([0.7, 2.0, 31.0]))
"""Eigenvalues of the upper block alone."""


@pytest.fixture(scope="module")
def system():
    """Two blocks on springs, of which one rubs."""
    spring = {"type": "rotational_spring_damper"}
    return sk.compile(
        model_from_dict(
            {
                "gravity": [0, 0, 0],
                "bodies": {"one": {"mass": M}, "two": {"mass": 0.7}},
                "joints": {
                    "rail": {"type": "prismatic", "axis": [1, 0, 0], "child": "one", "q0": 0.3},
                    "top": {
                        "type": "prismatic",
                        "axis": [1, 0, 0],
                        "parent": "one",
                        "child": "two",
                        "q0": 0.1,
                    },
                },
                "forces": {
                    "rub": {"type": "joint_friction", "joint": "rail", "level": LEVEL},
                    "spring": {**spring, "joint": "rail", "stiffness": K},
                    "upper": {**spring, "joint": "top", "stiffness": 31.0, "damping": 2.0},
                },
            }
        )
    )


def test_without_a_state_friction_is_left_out_and_that_is_said(system):
    rest = sk.equilibrium(system)
    np.testing.assert_allclose(rest.q, 0.0, atol=1e-9)
    assert [w.code for w in rest.warnings] == ["friction_ignored"]


def test_a_joint_that_sticks_at_the_end_of_a_run_stays_in_the_equilibrium(system):
    end = sk.simulate(system, until=30.0, rtol=1e-10)
    assert end["rub.stuck"][-1] == 1
    rest = sk.equilibrium(system, end.final_state)
    assert rest.q[0] == end["rail.q"][-1]
    assert abs(rest.q[0]) > 1e-3
    assert rest.q[1] == pytest.approx(0.0, abs=1e-9)
    assert rest.holding["rail.displacement"] == pytest.approx(K * rest.q[0], rel=1e-9)
    assert abs(rest.holding["rail.displacement"]) < LEVEL
    assert rest.warnings == ()
    assert float(np.ravel(rest.outputs["rub.force"])[0]) == pytest.approx(K * rest.q[0], rel=1e-9)
    model = sk.linearize(system, rest, outputs=["top.q"], inputs=["top.displacement"])
    assert model.warnings == ()
    np.testing.assert_allclose(np.sort_complex(model.modes().eigenvalues), UPPER, rtol=1e-10)
    assert model.transfer(0.0)[0, 0] == pytest.approx(1 / 31.0, rel=1e-10)
    multipliers = model.operating_point.point.lam
    assert multipliers == pytest.approx([-K * rest.q[0]], rel=1e-9)


def test_a_joint_at_rest_is_taken_to_stick_and_that_is_said(system):
    model = sk.linearize(system)
    assert sorted(w.code for w in model.warnings) == ["friction_ignored", "friction_sticks"]
    np.testing.assert_allclose(np.sort_complex(model.modes().eigenvalues), UPPER, rtol=1e-10)
    pulled = sk.linearize(system, sk.State(np.array([0.2, 0.0]), np.zeros(2)))
    assert [w.code for w in pulled.warnings] == ["friction_sticks", "friction_exceeded"]
    assert "14" in pulled.warnings[1].cause  # 70 N/m times 0.2 m


def test_a_motion_in_which_a_joint_sticks_has_the_rest_of_the_coordinates(system):
    model = sk.linearize(system, sk.State(np.array([0.05, 0.02]), np.array([0.0, -0.1])), at="motion")
    np.testing.assert_allclose(np.sort_complex(np.linalg.eigvals(model.A)), UPPER, rtol=1e-10)


def test_a_joint_that_could_not_bear_it_is_named(system):
    names = [value.name for value in system.equations.elements.held_values]
    held = np.array([1.0 if name == "rub.stuck" else 0.0 for name in names])
    rest = sk.equilibrium(system, sk.State(np.array([0.2, 0.0]), np.zeros(2), held=held))
    assert [w.code for w in rest.warnings] == ["friction_exceeded"]
    assert "14" in rest.warnings[0].cause  # 70 N/m times 0.2 m


def test_small_motions_about_sliding_have_the_friction_of_that_branch(system):
    state = sk.State(np.array([0.1, 0.02]), np.array([0.4, -0.1]))
    model = sk.linearize(system, state, at="motion")
    eigenvalues = np.sort_complex(np.linalg.eigvals(model.A))
    masses = np.array([[M + 0.7, 0.7], [0.7, 0.7]])
    A = np.block(
        [
            [np.zeros((2, 2)), np.eye(2)],
            [-np.linalg.solve(masses, np.diag([K, 31.0])), -np.linalg.solve(masses, np.diag([0.0, 2.0]))],
        ]
    )
    np.testing.assert_allclose(eigenvalues, np.sort_complex(np.linalg.eigvals(A)), atol=1e-9)


def test_steady_motion_refuses_dry_friction(system):
    with pytest.raises(SekantError, match="'rub'"):
        sk.analyses.steady_motion(system, velocity=(1.0, 0, 0))
