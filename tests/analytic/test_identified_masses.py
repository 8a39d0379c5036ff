"""Masses of dropped links by identification: against the mass matrix of the exact reduction, and closed cases."""

from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from sekant.errors import ModelError

FILE = Path(__file__).parents[2] / "examples/car/parts/hatchback_front.yaml"
HOW = ("upright", "upright.wheel_center.z", (-0.06, 0.06))


@pytest.fixture(scope="module")
def corner():
    return sk.vehicle.corner(sk.vehicle.load_axle(FILE), steered=False)


def along(model, places):
    """Mass (n,) and weight (n,) of the one coordinate."""
    system = sk.compile(model)
    rest = np.zeros(1)
    light = system.model.changed(forces={})
    still = sk.compile(light)
    M = [float(system.mass_matrix(np.array([u]))[0, 0]) for u in places]
    Q = [-float(still.inverse_dynamics(np.array([u]), rest, rest)[0]) for u in places]
    return np.array(M), np.array(Q)


def test_the_told_error_is_that_of_the_model(corner):
    places = np.linspace(-0.06, 0.06, 33)
    exact, found = (sk.reduce(corner, *HOW, inertia=how) for how in ("exact", "identify"))
    M, Q = along(exact.model, places)
    for way, told in found.mass_errors.items():
        own = along(sk.reduce(corner, *HOW, inertia=way).model, places)
        assert np.abs(own[0] - M).max() / M.max() == pytest.approx(told.inertia, rel=1e-3, abs=1e-6)
        assert np.abs(own[1] - Q).max() / np.abs(Q).max() == pytest.approx(told.weight, rel=1e-3, abs=1e-6)
    best = found.mass_errors["identify"]
    for way in ("split", "ignore"):
        assert best.inertia < found.mass_errors[way].inertia
        assert best.weight < found.mass_errors[way].weight
    assert "identify: largest error of inertia" in found.summary()


def test_no_mass_is_made(corner):
    found = sk.reduce(corner, *HOW, inertia="identify")
    dropped = sum(float(corner.bodies[name].mass) for name in found.dropped)
    assert sum(lump.mass for lump in found.lumps) == pytest.approx(dropped)
    assert min(lump.mass for lump in found.lumps) > 0


def test_a_body_that_moves_with_the_kept_one_is_found_again():
    """A load in a tray on a welded joint: its own inertia is the exact answer, and the error is zero."""
    model = sk.Model(
        gravity=(0.0, 0.0, -9.81),
        bodies={
            "arm": sk.Body(mass=2.0, com=(0.3, 0.0, 0.0), inertia=(0.01, 0.06, 0.07)),
            "rod": sk.Body(mass=0.7, com=(0.2, 0.1, 0.05), inertia=(0.02, 0.03, 0.04)),
        },
        joints={
            "hinge": sk.joints.Revolute(child="arm", axis=(0, 1, 0)),
            "weld": sk.joints.Fixed(parent="arm", child="rod"),
            "same_hinge": sk.joints.Revolute(child="rod", axis=(0, 1, 0)),
        },
    )
    found = sk.reduce(model, "arm", "hinge.angle", (-0.5, 0.5), inertia="identify")
    assert found.mass_errors["identify"].inertia < 1e-4
    assert found.mass_errors["identify"].weight < 1e-4
    system, exact = sk.compile(found.model), sk.compile(model)
    q = system.initial_state().q
    own = 0.06 + 2.0 * 0.3**2 + 0.03 + 0.7 * (0.2**2 + 0.05**2)
    assert system.mass_matrix(q)[0, 0] == pytest.approx(own, rel=1e-4)
    assert exact.nv >= 1


def test_two_kept_bodies_are_refused(corner):
    with pytest.raises(ModelError, match="one kept body"):
        sk.reduce(corner, ["upright", "lower_arm"], *HOW[1:], inertia="identify")
