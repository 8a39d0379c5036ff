"""Orientations in every notation against SciPy's rotations, and the turn that takes z to an axis."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sekant.errors import ModelError
from sekant.model.joints import Spherical
from sekant.model.placement import Orientation, Placement, aligning_rotation


def matrix(orientation: Orientation) -> np.ndarray:
    return np.array(ca.evalf(orientation.rotation()))


@pytest.mark.parametrize("sequence", ["zyx", "xyz", "zxz", "yzx", "xzx"])
def test_euler_angles_are_intrinsic(sequence):
    angles = (0.4, -0.7, 1.1)
    expected = Rotation.from_euler(sequence.upper(), angles).as_matrix()
    orientation = Orientation.model_validate({sequence: angles})
    assert matrix(orientation) == pytest.approx(expected, abs=1e-15)
    e = np.array([float(ca.evalf(x)) for x in orientation.quaternion_values()])
    assert Rotation.from_quat(e, scalar_first=True).as_matrix() == pytest.approx(expected, abs=1e-15)
    assert e[0] > 0


def test_axis_and_angle_and_quaternion():
    axis, angle = np.array([1.0, -2.0, 0.5]), "130 deg"
    expected = Rotation.from_rotvec(np.deg2rad(130) * axis / np.linalg.norm(axis))
    assert matrix(Orientation(axis=tuple(axis), angle=angle)) == pytest.approx(
        expected.as_matrix(), abs=1e-15
    )
    e = expected.as_quat(scalar_first=True)
    assert matrix(Orientation(quaternion=tuple(e))) == pytest.approx(expected.as_matrix(), abs=1e-15)
    pose = Placement(position=(1, 2, 3), orientation=Orientation(quaternion=tuple(e))).pose()
    moved = np.array(ca.evalf(pose.point(ca.SX([0.1, 0.2, 0.3])))).ravel()
    assert moved == pytest.approx(expected.apply([0.1, 0.2, 0.3]) + np.array([1, 2, 3]))


@pytest.mark.parametrize("turn", [np.pi, np.pi - 1e-9, 2.5])
def test_a_quaternion_of_half_a_turn(turn):
    """The pivot with the largest entry is taken, so that nothing cancels near half a turn."""
    for axis in np.eye(3):
        orientation = Orientation(axis=tuple(axis), angle=turn)
        e = np.array([float(ca.evalf(x)) for x in orientation.quaternion_values()])
        assert Rotation.from_quat(e, scalar_first=True).as_matrix() == pytest.approx(
            matrix(orientation), abs=1e-15
        )


@pytest.mark.parametrize(
    "axis",
    [
        (0, 0, 1),
        (0, 0, -1),
        (1, 0, 0),
        (0, -1, 0),
        (0.3, -0.5, -0.81),
        (1e-5, 0, -1),
        (-1e-7, 2e-7, -3),
        (0, 0, -7),
    ],
)
def test_the_smallest_turn_that_takes_z_to_an_axis(axis):
    unit = np.array(axis) / np.linalg.norm(axis)
    symbol = ca.SX.sym("axis", 3)
    general = ca.Function("turn", [symbol], [aligning_rotation(tuple(ca.vertsplit(symbol)))])
    found = [np.array(ca.evalf(aligning_rotation(axis)))]
    if unit[2] > -1:  # a symbolic axis cannot be exactly opposite to z
        found.append(np.array(general(axis)))
    for R in found:
        assert R[:, 2] == pytest.approx(unit, abs=1e-14)
        assert pytest.approx(np.eye(3), abs=1e-14) == R @ R.T
        assert np.linalg.det(R) == pytest.approx(1.0, abs=1e-14)
        assert np.trace(R) == pytest.approx(1 + 2 * unit[2], abs=1e-14)


def test_an_orientation_of_another_kind_is_shown_by_example():
    with pytest.raises(ModelError, match=r"such as \{zyx: \[30 deg, 0, -5 deg\]\}, not a list of length 4"):
        Spherical(child="bob", orientation=[1, 0, 0, 0])
