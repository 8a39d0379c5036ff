"""A solver that a newcomer writes in one file works in simulations as those of the house do."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import sekant as sk
from sekant.solvers.ode import METHODS


@pytest.fixture
def heun():
    """The method is known in this test only: others go through all that are registered."""
    heun_method = importlib.import_module("heun_method")  # registers itself at the first import
    METHODS.setdefault("heun", heun_method.HEUN)
    yield
    METHODS.pop("heun")


@pytest.fixture
def swing(heun):
    """A hinge with a spring and a damper: angle'' = -(k angle + c angle') / J, from 0.7 rad."""
    model = sk.Model(
        gravity=(0, 0, 0),
        bodies={"arm": sk.Body(mass=1.3, inertia=(0.3, 0.7, 0.9))},
        joints={"hinge": sk.joints.Revolute(child="arm", q0=0.7)},
        forces={"s": sk.forces.RotationalSpringDamper(joint="hinge", stiffness=5.0, damping=0.4)},
    )
    return sk.compile(model)


def exact(t: np.ndarray) -> np.ndarray:
    J, k, c = 0.9, 5.0, 0.4
    d = c / (2 * J)
    w = np.sqrt(k / J - d**2)
    return 0.7 * np.exp(-d * t) * (np.cos(w * t) + d / w * np.sin(w * t))


def test_order_and_counts(swing) -> None:
    errors = []
    for step in (0.01, 0.005, 0.0025):
        result = sk.simulate(swing, until=2.0, output_step=0.1, method="heun", step=step)
        assert result.status == "finished"
        errors.append(np.abs(result["hinge.q"] - exact(result.time)).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx([2.0, 2.0], abs=0.06)
    assert result.stats["steps"] == 800
    assert result.stats["evaluations"] == 1600


def test_it_is_offered(swing) -> None:
    with pytest.raises(sk.SekantError, match="heun"):
        sk.simulate(swing, until=0.1, method="heunn", step=1e-3)
