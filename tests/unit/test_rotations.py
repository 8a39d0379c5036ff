"""Rotations: every representation gives the same matrix, and bad matrices are named."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekant.errors import DataError
from sekant.geometry import rotations as rot

SEQUENCES = ["zyx", "xyz", "zxz", "yxy", "zxy", "xzx"]
small = st.floats(-3.0, 3.0)


def elementary(axis, a):
    c, s = np.cos(a), np.sin(a)
    return {
        "x": np.array([[1, 0, 0], [0, c, -s], [0, s, c]]),
        "y": np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
        "z": np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
    }[axis]


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_is_the_product_of_elementary_rotations(sequence):
    angles = np.array([0.3, -0.7, 1.9])
    expected = np.linalg.multi_dot([elementary(a, x) for a, x in zip(sequence, angles, strict=True)])
    np.testing.assert_allclose(rot.rotation_from_euler(angles, sequence), expected, atol=1e-15)


@given(st.tuples(small, small, small), st.floats(0.2, 4.0))
def test_round_trips(phi, scale):
    R = rot.rotation_from_vector(np.array(phi))
    q = rot.quaternion_from_rotation(R)
    np.testing.assert_allclose(rot.rotation_from_quaternion(scale * q), R, atol=1e-13)
    np.testing.assert_allclose(
        rot.rotation_from_vector(rot.rotation_vector_from_quaternion(-scale * q)), R, atol=1e-12
    )
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-13)


def test_rotation_vector_near_zero_and_half_turn():
    for phi in ([1e-9, -2e-9, 3e-9], [0.0, 0.0, 0.0], [3.1415, 0.0, 0.0], [0.6, -1.1, 0.4]):
        q = rot.quaternion_from_rotation_vector(np.array(phi))
        np.testing.assert_allclose(rot.rotation_vector_from_quaternion(q), phi, atol=1e-15, rtol=1e-12)


@pytest.mark.parametrize("sequence", ["zyx", "zxz"])
def test_euler_angles_are_continuous_over_several_turns(sequence):
    t = np.linspace(0.0, 1.0, 400)
    angles = np.stack([9.0 * t, 0.4 + 2.0 * t, -7.0 * t], axis=1)
    back = rot.euler_from_quaternion(rot.quaternion_from_euler(angles, sequence), sequence)
    np.testing.assert_allclose(back, angles, atol=1e-9)


def test_product_composes_and_signs_continue():
    a, b = np.array([0.9, 0.1, -0.3, 0.2]), np.array([0.2, -0.5, 0.6, 1.1])
    Ra, Rb = rot.rotation_from_quaternion(a), rot.rotation_from_quaternion(b)
    np.testing.assert_allclose(
        rot.rotation_from_quaternion(rot.quaternion_product(a, b)), Ra @ Rb, atol=1e-15
    )
    q = rot.quaternion_from_euler(np.linspace(0.0, 20.0, 200)[:, None], "z")
    mixed = q * np.where(np.arange(200) % 3 == 0, -1.0, 1.0)[:, None]
    np.testing.assert_allclose(rot.continue_signs(mixed), -q, atol=1e-15)


def test_left_handed_and_scaled_matrices_are_named():
    R = np.stack([rot.rotation_from_euler([0.1 * i, 0.2, 0.3], "zyx") for i in range(5)])
    left = R.copy()
    left[3, :, 1] *= -1.0
    with pytest.raises(DataError, match=r"row 4: .*left-handed \(determinant -1"):
        rot.check_rotations(left)
    scaled = R.copy()
    scaled[2] *= 1.01
    with pytest.raises(DataError, match="row 3: the matrix is not a rotation"):
        rot.check_rotations(scaled)
    with pytest.raises(DataError, match="'zzx'"):
        rot.check_sequence("zzx")


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-5, 0.7, 3.0, np.pi - 1e-9])
def test_the_angle_between_rotations_is_accurate_everywhere(angle):
    axis = np.array([0.48, -0.6, 0.64])
    q1 = rot.quaternion_from_rotation_vector([0.3, -1.1, 0.7])
    q2 = rot.quaternion_product(q1, rot.quaternion_from_rotation_vector(angle * axis))
    assert rot.angle_between(q1, -2.5 * q2) == pytest.approx(angle, abs=1e-15, rel=1e-9)
    R = [rot.rotation_from_quaternion(q) for q in (q1, q2)]
    assert rot.angle_between_rotations(*R) == pytest.approx(
        angle, abs=1e-15, rel=1e-3 if angle < 1e-9 else 1e-9
    )
