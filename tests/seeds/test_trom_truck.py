"""A five-axle tractor-semitrailer in a turn of 0.25 g at 50 mph (TROM 5.4; parameters are our choice)."""

from pathlib import Path

import numpy as np
import pytest

import sekant as sk

FILE = Path(__file__).parents[2] / "examples" / "vehicles" / "tractor_semitrailer.yaml"
SPEED, LATERAL = 50 * 0.44704, 0.25 * 9.80665


@pytest.fixture(scope="module")
def system():
    return sk.compile(sk.load(FILE), parameters=["steer", "drive", "trailer.mass"])


@pytest.mark.parametrize("at", [pytest.param(None, marks=pytest.mark.long), "motion"])
def test_eigenvalues_follow_the_steady_turns_of_another_load(system, at):
    """Total derivatives by the trailer's mass at the same speed and lateral acceleration, against differences."""
    options = {
        "unknown": ["turn", "steer", "drive"],
        "targets": {"tractor.speed": SPEED, "tractor.lateral_acceleration": LATERAL},
        "tolerance": 1e-12,
    }
    start = sk.analyses.steady_motion(system, turn=0.11, **options)

    def linear(mass):
        return sk.linearize(
            system,
            sk.analyses.steady_motion(system, start, turn=0.11, parameters={"trailer.mass": mass}, **options),
            at=at,
        )

    middle = linear(25e3)
    found = middle.sensitivity(["trailer.mass"])
    values = middle.modes().eigenvalues
    h = 2.5
    sides = [linear(25e3 + s * h).modes().eigenvalues for s in (1, -1)]
    ahead, behind = ([side[np.argmin(np.abs(side - value))] for value in values] for side in sides)
    slopes = (np.array(ahead) - np.array(behind)) / (2 * h)
    large = np.abs(slopes) > 1e-6 * np.abs(slopes).max()
    assert large.sum() >= 34
    assert found.eigenvalues[large, 0] == pytest.approx(slopes[large], rel=1e-5)
    if at is None:
        assert middle.warnings == ()
        assert found.unknowns["steer"] == pytest.approx(
            [(linear(25e3 + h).operating_point.steady.unknowns["steer"] - start.unknowns["steer"]) / h],
            rel=1e-3,
        )
    else:
        assert [w.code for w in middle.warnings] == ["frozen_motion"]


def test_steady_turn_and_its_38_eigenvalues(system):
    assert system.nv == 19
    steady = sk.analyses.steady_motion(
        system,
        turn=0.11,
        unknown=["turn", "steer", "drive"],
        targets={"tractor.speed": SPEED, "tractor.lateral_acceleration": LATERAL},
    )
    assert steady.turn == pytest.approx(LATERAL / SPEED, rel=1e-10)
    assert 0.0 < steady.unknowns["steer"] < 0.1
    poor = system.initial_state()
    poor.q[1], poor.q[3] = -400.0, 1.4  # twice the radius, and a third of a meter too high
    again = sk.analyses.steady_motion(
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


def test_the_turn_of_the_example_is_found_with_run_time_parameters():
    """Columns of its slopes differ by nine orders of magnitude: a step counts each in its own length."""
    found = sk.compile(sk.load(FILE), parameters=["steer", "drive"])
    targets = {"tractor.speed": SPEED, "tractor.lateral_acceleration": LATERAL}
    steady = sk.analyses.steady_motion(found, turn=0.11, unknown=["turn", "steer", "drive"], targets=targets)
    assert steady.turn == pytest.approx(LATERAL / SPEED, rel=1e-6)
