"""Elements whose switches hold a motion are named."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant.formulations.natural.time_stops import switching_arguments
from sekant.model.joints import Prismatic


def test_arguments_of_switches() -> None:
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    found = switching_arguments(
        ca.vertcat(3 * ca.sign(x - 2), ca.fabs(y) + x, ca.if_else(x < y, x, 2.0), x * y)
    )
    values = ca.Function("f", [x, y], [ca.vertcat(*found)])(5.0, 7.0)
    assert {3.0, 7.0, 2.0} <= set(np.abs(np.array(values).ravel()).tolist())
    assert switching_arguments(ca.sin(x) * y) == []


@pytest.fixture(scope="module")
def held() -> sk.System:
    """A law that jumps by 0.6 N keeps a block that 0.1 N pushes at 0.4 m/s; beside it a switch far from its bound."""
    block = sk.Body(mass=1.0, inertia=(0.1, 0.1, 0.1))
    model = sk.Model(
        gravity=(0.0, 0.0, 0.0),
        bodies={"block": block},
        joints={"rail": Prismatic(child="block", axis=(1, 0, 0), v0=1.4)},
        forces={
            "push": sk.forces.Actuator(joint="rail", force=0.1),
            "brake": sk.forces.Actuator(joint="rail", force="0.3 - 0.6*step(v - 0.4)"),
            "drag": sk.forces.JointFriction(joint="rail", damping="0.01*abs(v - 3)"),
        },
    )
    return sk.compile(model)


@pytest.mark.parametrize("method", ["taylor", "dop853", "radau5"])
def test_a_law_that_jumps_and_holds_the_motion_is_named(held, method) -> None:
    result = sk.simulate(held, 10.0, method=method, rtol=1e-8, atol=1e-8)
    assert result.status == "chattering"
    assert result.stats["steps"] + result.stats["rejected"] < 10_000
    assert "belongs to 'brake'" in result.message


@pytest.mark.parametrize("method", ["rk4", "euler", "semi_implicit_euler", "generalized_alpha"])
def test_fixed_steps_that_go_to_and_fro_are_told(held, method) -> None:
    result = sk.simulate(held, 10.0, method=method, step=0.01)
    (warning,) = [w for w in result.warnings if w.code == "chattering"]
    assert warning.item == "'brake'"
    early = sk.simulate(held, 3.0, method=method, step=0.01)  # it gets there after some 5 s
    assert not early.warnings
