"""Dry friction in joints whose slip the constraints of a loop give, whatever friction does."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from loops import four_bar
from random_models import rotated
from sekant.model.joints import Cylindrical


def _held_slide(law: dict, number: int) -> tuple[sk.Model, np.ndarray, np.ndarray]:
    """A planar four-bar whose last joint could slide along its axis, were it not for the loop; placed at random."""
    base = four_bar()
    sleeve = Cylindrical(parent="coupler.end", child="rocker.end", axis=(0.0, 1.0, 0.0))
    model = base.changed(
        joints={**base.joints, "C": sleeve},
        forces={"rubs": sk.forces.JointFriction(joint="C", coordinate=1, **law)},
    )
    return rotated(model, np.random.default_rng(number))


@pytest.mark.parametrize("law", [{"coefficient": 0.3}, {"level": 0.4}], ids=str)
@pytest.mark.parametrize("formulation", ["joint", pytest.param("natural", marks=pytest.mark.long)])
def test_friction_in_a_joint_that_a_loop_holds_still_does_nothing(law, formulation):
    """No motion is there to hinder; what part of the load it bears is not determined, and round-off decided on it."""
    expected = sk.simulate(four_bar(), 0.2, rtol=1e-9)
    for number in range(2 if formulation == "joint" else 1):
        model, R, p = _held_slide(law, number)
        system = sk.compile(model, formulation=formulation)
        for method in ("dop853", "taylor"):
            found = sk.simulate(system, 0.2, rtol=1e-9, method=method)
            assert found.status == "finished", found.message
            place = expected["coupler.position"] @ R.T + p
            assert np.abs(found["coupler.position"] - place).max() < 1e-6
            assert not found["rubs.force"].any()
            assert not found["rubs.stuck"].any()


@pytest.mark.parametrize("method", ["dop853", "taylor"])
def test_friction_in_a_joint_that_a_driver_moves_through_a_loop_changes_sides_with_it(method):
    """A crank that swings to and fro: the constraints give the rate of the rocker, which never sticks."""
    level, base = 0.4, four_bar()
    model = base.changed(
        motions={"swing": sk.Motion(joint="A", value="-1 + 0.3*sin(9*t)")},
        forces={"rubs": sk.forces.JointFriction(joint="D", level=level)},
    )
    found = sk.simulate(model, 0.9, method=method, rtol=1e-9)
    assert found.status == "finished", found.message
    rate = np.ravel(found["D.v"])
    turning = np.abs(rate) > 1e-2
    np.testing.assert_allclose(np.ravel(found["rubs.force"])[turning], -level * np.sign(rate[turning]))
    assert {1.0, -1.0} <= set(np.sign(rate[turning]))
