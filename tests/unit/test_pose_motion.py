"""The pose of a frame over drives: the motion of a frame fixed to it, against differences of its pose."""

from __future__ import annotations

import numpy as np
import pytest

from sekant.geometry.pose_motion import FIELDS, PoseMotion

R_MN = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
P_MN = np.array([0.3, -0.7, 1.1])
Z, Y = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])


def pose(u: float, s: float) -> tuple[np.ndarray, np.ndarray]:
    """Turned by u about z, then by 2 s about the turned y; the origin on a bent path."""
    R_z = np.array([[np.cos(u), -np.sin(u), 0.0], [np.sin(u), np.cos(u), 0.0], [0.0, 0.0, 1.0]])
    a = 2 * s
    R_y = np.array([[np.cos(a), 0.0, np.sin(a)], [0.0, 1.0, 0.0], [-np.sin(a), 0.0, np.cos(a)]])
    return R_z @ R_y, np.array([u**2, u * s, np.sin(s)])


def motion(u: float, s: float) -> PoseMotion:
    """Of one point of two drives, from closed expressions."""
    R, p = pose(u, s)
    y = np.array([-np.sin(u), np.cos(u), 0.0])  # y after the first turn, and its derivative by u
    w = np.array([Z, 2 * y])
    alpha = np.zeros((2, 2, 3))
    alpha[1, 0] = 2 * np.array([-np.cos(u), -np.sin(u), 0.0])
    v = np.array([[2 * u, s, 0.0], [0.0, u, np.cos(s)]])
    a = np.zeros((2, 2, 3))
    a[0, 0], a[0, 1], a[1, 0], a[1, 1] = [2.0, 0, 0], [0, 1.0, 0], [0, 1.0, 0], [0, 0, -np.sin(s)]
    return PoseMotion(*(part[None] for part in (p, R, v, w, a, alpha)))


def place(u: float, s: float) -> np.ndarray:
    R, p = pose(u, s)
    return p + R @ P_MN


def test_frame_fixed_to_a_moving_one() -> None:
    u, s, h = 0.4, -0.3, 1e-4
    found = motion(u, s).of_frame(R_MN, P_MN)
    assert found.position[0] == pytest.approx(place(u, s))
    assert found.rotation[0] == pytest.approx(pose(u, s)[0] @ R_MN)
    step = np.eye(2) * h
    for i in range(2):
        ahead, behind = place(u + step[i, 0], s + step[i, 1]), place(u - step[i, 0], s - step[i, 1])
        assert found.velocity[0, i] == pytest.approx((ahead - behind) / (2 * h), abs=1e-7)
        for j in range(2):
            corners = [
                x * y * place(*(np.array([u, s]) + x * step[i] + y * step[j]))
                for x in (1, -1)
                for y in (1, -1)
            ]
            bend = sum(corners) / (4 * h**2)
            assert found.acceleration[0, i, j] == pytest.approx(bend, abs=1e-6)
    assert np.array_equal(found.angular, motion(u, s).angular)


def test_axes_of_one_drive_may_be_left_out_and_second_derivatives_cut() -> None:
    whole = motion(0.4, -0.3)
    first = PoseMotion(
        whole.position,
        whole.rotation,
        whole.velocity[:, 0],
        whole.angular[:, 0],
        whole.acceleration[:, 0, 0],
        whole.angular_acceleration[:, 0, 0],
    )
    cut = PoseMotion(
        *(whole.fields[n] for n in FIELDS[:4]), *(whole.fields[n][:, :1, :1] for n in FIELDS[4:])
    )
    expected = whole.of_frame(R_MN, P_MN)
    assert first.of_frame(R_MN, P_MN).acceleration == pytest.approx(expected.acceleration[:, 0, 0])
    assert cut.of_frame(R_MN, P_MN).acceleration == pytest.approx(expected.acceleration[:, :1, :1])
    assert cut.of_frame(R_MN, P_MN).velocity == pytest.approx(expected.velocity)


def test_rest_and_choice() -> None:
    still = PoseMotion.resting(4, 5, drives=2, second=1).of_frame(R_MN, P_MN)
    assert still.rotation.shape == (4, 5, 3, 3)
    assert not still.velocity.any()
    assert still.acceleration.shape == (4, 5, 1, 1, 3)
    assert still.at((slice(1, 3), 2)).position == pytest.approx(np.tile(P_MN, (2, 1)))
