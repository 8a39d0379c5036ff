"""Tracked angles in natural mechanisms: they count turns and are no motion of their own in linear models."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk

MASS, ARM, K, C, G = 0.7, 0.5, 5.0, 0.4, 9.81


def pendulum(spring: bool = True):
    """A point on a rod of no mass, with a spring and a damper on its tracked angle."""
    m = sk.natural.Mechanism(dim=2, gravity=(0.0, -G))
    O, A = m.ground("O", (0.0, 0.0)), m.point("A", (0.3, -0.4))
    m.distance(O, A, name="rod")
    m.mass(A, MASS)
    phi = m.angle("phi", A - O)
    if spring:
        m.angular_spring(phi, K, -0.5, name="twist")
    m.dissipation("drag", C * m.rate(phi) ** 2 / 2)
    return m


@pytest.mark.parametrize("spring", [True, False])
def test_a_stable_pendulum_with_a_tracked_angle_is_stable(spring):
    """m l^2 phi'' + c phi' + (k + m g l cos) phi = 0, and no other motion."""
    system = pendulum(spring).compile(engine="casadi")
    rest = sk.equilibrium(system)
    assert rest.stability == "stable"
    linear = sk.linearize(system, rest, outputs=["phi"])
    modes = linear.modes()
    phi = rest.q[-1]
    stiffness = -MASS * G * ARM * np.sin(phi) + (K if spring else 0.0)
    expected = np.roots([MASS * ARM**2, C, stiffness])
    assert modes.eigenvalues == pytest.approx(sorted(expected, key=lambda z: -z.imag), rel=1e-8)
    assert modes.zeros == 0
    assert modes.stability == "stable"
    # the angle is an output of the motion: at 1 rad in it, the point moves by the arm
    s = modes.shapes[:, 0]
    assert abs(np.hypot(*np.abs(s[:2])) / s[2]) == pytest.approx(ARM, rel=1e-9)


def test_an_angle_tracked_along_a_motion_adds_nothing():
    """Frozen at an instant of a swing: as many eigenvalues as without tracking, and the same."""

    def values(track: bool):
        m = sk.natural.Mechanism(dim=2, gravity=(0.0, -G))
        O, A = m.ground("O", (0.0, 0.0)), m.point("A", (0.3, -0.4))
        m.distance(O, A, name="rod")
        m.mass(A, MASS)
        if track:
            m.angle("phi", A - O)
        system = m.compile(engine="casadi")
        q, v = np.array([0.3, -0.4]), 2.0 * np.array([0.4, 0.3])
        if track:
            q, v = np.append(q, np.arctan2(-0.4, 0.3)), np.append(v, 2.0)
        return sk.linearize(system, sk.State(q, v), at="motion", independent=["A.x"]).modes().eigenvalues

    assert values(True) == pytest.approx(values(False), rel=1e-9)


def test_a_tracked_quantity_that_is_no_function_of_position_keeps_its_state():
    """s' = x y' is not a gradient: along a motion on a plane it remembers the way, and that is a state."""
    m = sk.natural.Mechanism(dim=2, gravity=(0.0, 0.0))
    A = m.point("A", (0.3, 0.2))
    m.mass(A, MASS)
    m.track("area", A.value[0] * m.rate(A.value)[1])
    system = m.compile(engine="casadi")
    q, v = np.array([0.3, 0.2, 0.0]), np.array([1.0, 2.0, 0.6])
    assert sk.linearize(system, sk.State(q, v), at="motion").A.shape == (5, 5)
    still = sk.linearize(system, sk.State(q, np.zeros(3)), at="motion")
    assert still.A.shape == (4, 4)
