"""Modes as motions of coordinates and bodies, their participation, their verdict."""

import numpy as np
import pytest

import sekant as sk
from linear_models import loaded_slider_crank, slider_pendulum


@pytest.fixture(scope="module")
def modes():
    return sk.linearize(sk.compile(slider_pendulum(20.0))).modes()


def test_left_and_right_eigenvectors_are_dual(modes):
    A = modes.model.A
    assert np.conj(modes.left.T) @ modes.right == pytest.approx(np.eye(4), abs=1e-12)
    assert A @ modes.right == pytest.approx(modes.right * modes.eigenvalues, abs=1e-12)
    assert np.conj(modes.left.T) @ A == pytest.approx(
        modes.eigenvalues[:, None] * np.conj(modes.left.T), abs=1e-12
    )


def test_shapes_move_bodies_as_their_coordinates_do(modes):
    """The rod's origin rides on the slider; it turns about x."""
    for k in range(4):
        y, angle = modes.shapes[:, k]
        motions = modes.body_motions(k)
        assert motions["slider"] == pytest.approx([0, y, 0, 0, 0, 0], abs=1e-12)
        assert motions["rod"] == pytest.approx([0, y, 0, angle, 0, 0], abs=1e-12)
        amplitudes = [size for size, _ in modes.shape(k).values()]
        assert max(amplitudes) == pytest.approx(1.0)


def test_participation_adds_up_and_conjugates_share_it(modes):
    shares = modes.participation
    assert shares.sum(axis=0) == pytest.approx(np.ones(4))
    assert shares[:, 0] == pytest.approx(shares[:, 1], rel=1e-9)


def test_states_of_a_mode_of_a_loop_nearly_keep_it_closed():
    system = sk.compile(loaded_slider_crank())
    loop = sk.linearize(system).modes()
    gaps = []
    for amplitude in (2e-3, 1e-3):
        states = loop.states(0, amplitude=amplitude, count=8)
        assert len(states) == 8
        gaps.append(max(np.abs(_violation(system, state)).max() for state in states))
    assert 3.5 < gaps[0] / gaps[1] < 4.5  # a motion along the tangent leaves the loop to second order


def _violation(system, state):
    eq = system.equations
    return np.array(
        eq.lookups.oracle("Phi", [eq.t, eq.q, eq.p], [eq.Phi])(0.0, state.q, system.parameter_vector())
    )


def test_verdicts():
    def single(force):
        return sk.Model(
            gravity=(0, 0, 0),
            bodies={"a": sk.Body(mass=2.0, inertia=(1, 1, 1))},
            joints={"j": sk.joints.Prismatic(child="a")},
            forces={"f": sk.forces.Actuator(joint="j", force=force)},
        )

    found = {}
    for force in ("-3*q - 0.1*v", "-3*q", "-3*q + 0.1*v", "3*q - 0.1*v", "-0.1*v"):
        found[force] = sk.linearize(sk.compile(single(force))).modes()
    assert [m.stability for m in found.values()] == ["stable", "marginal", "unstable", "unstable", "marginal"]
    assert found["-0.1*v"].zeros == 1
    assert np.isnan(found["-0.1*v"].damping_ratio[0])
    assert found["-3*q - 0.1*v"].damping_ratio == pytest.approx([0.1 / (2 * np.sqrt(6))] * 2, rel=1e-12)
    assert "stable; 0 zero eigenvalues" in found["-3*q - 0.1*v"].table()
