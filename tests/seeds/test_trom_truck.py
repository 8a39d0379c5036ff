"""A five-axle tractor-semitrailer in a turn of 0.25 g at 50 mph (TROM 5.4; parameters are our choice)."""

from pathlib import Path

import numpy as np
import pytest

import sekant as sk

FILE = Path(__file__).parents[2] / "examples" / "vehicles" / "tractor_semitrailer.yaml"
SPEED, LATERAL = 50 * 0.44704, 0.25 * 9.80665


def test_steady_turn_and_its_38_eigenvalues():
    system = sk.compile(sk.load(FILE), parameters=["steer", "drive"])
    assert system.nv == 19
    steady = sk.steady_motion(
        system,
        turn=0.11,
        unknown=["turn", "steer", "drive"],
        targets={"tractor.speed": SPEED, "tractor.lateral_acceleration": LATERAL},
    )
    assert steady.turn == pytest.approx(LATERAL / SPEED, rel=1e-10)
    assert 0.0 < steady.unknowns["steer"] < 0.1
    poor = system.initial_state()
    poor.q[1], poor.q[3] = -400.0, 1.4  # twice the radius, and a third of a meter too high
    again = sk.steady_motion(
        system,
        poor,
        turn=0.05,
        unknown=["turn", "steer", "drive"],
        targets={"tractor.speed": SPEED, "tractor.lateral_acceleration": LATERAL},
        parameters={"steer": 0.0, "drive": 0.0},
    )
    assert again.unknowns == pytest.approx(steady.unknowns, rel=1e-8)
    # all side forces of the tires push 35.35 t toward the axis, less the drive's share
    linear = sk.linearize(system, steady, outputs=["*.tire_?.force"])
    forces = linear.reporters.at(linear.operating_point.point)[0].reshape(-1, 3).sum(axis=0)
    mass = 6300 + 25000 + 550 + 2 * 1050 + 2 * 700
    assert forces[2] == pytest.approx(mass * 9.80665, rel=1e-9)
    assert np.hypot(*forces[:2]) == pytest.approx(mass * LATERAL, rel=5e-3)
    modes = linear.modes()
    assert modes.eigenvalues.size == 38
    # seen from the vehicle: the phase on the circle, and a circle elsewhere that turns backwards
    assert modes.zeros == 1
    assert modes.eigenvalues[2:4] == pytest.approx([1j * steady.turn, -1j * steady.turn], abs=1e-9)
    assert np.all(modes.eigenvalues[[1, *range(4, 38)]].real < -1e-3)
    # frozen in fixed axes, as TROM: two zeros of the position, a slow pair near the turn, all others nearly the same
    frozen = sk.linearize(system, steady, at="motion").modes()
    assert frozen.zeros == 2
    assert frozen.eigenvalues[2].imag == pytest.approx(steady.turn, rel=0.05)
    assert frozen.eigenvalues[8:] == pytest.approx(modes.eigenvalues[8:], rel=1e-3)
