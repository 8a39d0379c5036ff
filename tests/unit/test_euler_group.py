"""Groups of Euler steps: the same motion as step by step, however the run is cut, and the same failures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sekant as sk
from sekant.analyses.simulation.problems import explicit_problem
from sekant.engine.functions.motion import LARGEST, euler_group
from sekant.model.forces import Actuator, JointFriction
from sekant.model.joints import Free, Prismatic, Revolute
from sekant.model.table import TableData
from sekant.solvers.ode import OdeProblem, integrate

STEP = 1e-3


def _pendulum(force: str = "0.4 * sin(7 * t) - 0.3 * v") -> sk.Model:
    return sk.Model(
        bodies={"arm": sk.Body(mass=1.3, com=(0.1, 0.2, -0.6), inertia=(0.3, 0.4, 0.2, 0, 0, 0))},
        joints={"hinge": Revolute(child="arm", axis=(0.1, 1, 0.2), q0=(0.9,), v0=(0.3,))},
        forces={
            "motor": Actuator(joint="hinge", force=force),
            "friction": JointFriction(joint="hinge", damping=0.2),
        },
    )


def _spinning_body() -> sk.Model:
    joint = Free(child="top", angular_velocity=(3.0, 0.2, -0.5), velocity=(0.1, 0.4, 0.2))
    return sk.Model(
        bodies={"top": sk.Body(mass=0.7, com=(0, 0, 0), inertia=(0.3, 0.5, 0.4, 0, 0, 0))},
        joints={"free": joint},
    )


def _on_a_table() -> sk.Model:
    table = TableData(
        x=(-2.0, -0.3, 0.1, 0.9, 2.0), y=(-3.0, -0.8, 0.2, 1.1, 2.9), kind="pchip", extrapolation="linear"
    )
    return sk.Model(
        tables={"law": table},
        bodies={"block": sk.Body(mass=0.9)},
        joints={"slide": Prismatic(child="block", axis=(1, 0, 0), q0=(0.7,))},
        forces={"spring": Actuator(joint="slide", force="-4*law(q)")},
    )


def _problems(model: sk.Model, balance: bool = True) -> tuple[OdeProblem, OdeProblem, np.ndarray]:
    """The problem step by step and in groups, and the start."""
    system = sk.compile(model)
    single, start = explicit_problem(system, None, balance, "euler"), system.initial_state()
    x0 = np.concatenate([start.q, start.v, np.zeros(single.n - system.nq - system.nv)])
    found = euler_group(system, balance)
    assert found is not None
    return single, replace(single, euler_group=found[0], group_size=found[1]), x0


@pytest.mark.parametrize(
    "model", [_pendulum(), _spinning_body(), _on_a_table()], ids=["pendulum", "spinning body", "table"]
)
@pytest.mark.parametrize("balance", [False, True])
def test_groups_give_the_motion_of_single_steps(model, balance):
    single, grouped, x0 = _problems(model, balance)
    times = [0.0, 0.1, 0.4567, 1.0]
    expected = integrate(single, times, x0, method="euler", step=STEP, stops=[0.333])
    found = integrate(grouped, times, x0, method="euler", step=STEP, stops=[0.333])
    assert found.stats["steps"] == expected.stats["steps"]
    assert np.abs(found.x - expected.x).max() < 1e-12 * np.abs(expected.x).max()


@pytest.mark.parametrize("chunk", [1, 7, 100])
def test_a_run_in_pieces_is_bit_for_bit_the_run_in_one(chunk):
    _, grouped, x0 = _problems(_pendulum())
    times = [0.0, 0.1013, 0.9]
    whole = integrate(grouped, times, x0, method="euler", step=STEP)
    pieces = integrate(grouped, times, x0, method="euler", step=STEP, chunk_steps=chunk)
    assert np.array_equal(whole.x, pieces.x)


def test_a_failure_inside_a_group_is_found_at_its_step():
    single, grouped, x0 = _problems(_pendulum("1 / (t < 0.0375) * v"))
    expected = integrate(single, [0.0, 1.0], x0, method="euler", step=STEP)
    found = integrate(grouped, [0.0, 1.0], x0, method="euler", step=STEP)
    assert expected.status == found.status == "not_finite"
    assert found.t_last == expected.t_last
    assert found.component == expected.component
    assert np.abs(found.x_last - expected.x_last).max() < 1e-12


def test_the_limit_of_steps_is_kept():
    _, grouped, x0 = _problems(_pendulum())
    outcome = integrate(grouped, [0.0, 1.0], x0, method="euler", step=STEP, max_steps=2 * LARGEST + 3)
    assert outcome.status == "too_many_steps"
    assert outcome.stats["steps"] == 2 * LARGEST + 3


def test_simulate_takes_groups_in_long_runs():
    model = _pendulum()
    options = {"method": "euler", "step": 1e-5, "outputs": ["hinge.q"], "output_step": 0.1}
    long = sk.simulate(model, 0.6, **options)
    short = sk.simulate(model, 0.4, **options)
    assert np.abs(long["hinge.q"][:5] - short["hinge.q"]).max() < 1e-12
