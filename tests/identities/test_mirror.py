"""A mirrored mechanism moves as the mirror image: accelerations and energies of random trees and their images."""

import numpy as np
import pytest

import sekant as sk
from mechanisms import JOINT_TYPES, random_model, random_state
from sekant.model.joints import JOINTS
from sekant.model.mirror import AXES, mirrored
from sekant.model.quantities import mirror_sign

BETWEEN_FRAMES = ("spring_damper", "bushing", "point_force", "torque")
UNCHANGED = tuple(
    name
    for name in JOINT_TYPES
    if JOINTS[name].unit_quaternion is None and all(c.mirror == "same" for c in JOINTS[name].coordinates)
)
TWIST = (*(f"axial {axis}" for axis in AXES), *(f"polar {axis}" for axis in AXES))


def joint_signs(joint, plane):
    """Signs of the coordinates (nq,) and velocities (nv,) of one joint."""
    if joint.unit_quaternion is None:
        own = [coordinate.sign(plane) for coordinate in joint.coordinates]
        return own, own
    turn = [mirror_sign(behavior, plane) for behavior in TWIST]
    if joint.unit_quaternion == 0:
        return [1.0, *turn[:3]], turn[:3]
    return [*turn[3:], 1.0, *turn[:3]], turn


def signs(system, plane):
    """Signs of all coordinates (nq,) and velocities (nv,) of a system."""
    own = {name: joint_signs(joint, plane) for name, joint in system.model.joints.items()}
    motion = system.equations.motion
    return np.array([own[j][0][i] for j, i in motion.q_names]), np.array(
        [own[j][1][i] for j, i in motion.v_names]
    )


def compare(model, plane, seed):
    image = mirrored(model, plane)
    one, other = (sk.compile(part, engine="casadi") for part in (model, image))
    t, q, v = random_state(one.equations, seed)
    sign_q, sign_v = signs(one, plane)
    a = one.forward_dynamics(q, v, t)
    a_image = other.forward_dynamics(sign_q * q, sign_v * v, t)
    np.testing.assert_allclose(a_image, sign_v * a, rtol=1e-9, atol=1e-9 * np.abs(a).max())
    np.testing.assert_allclose(other.energy(sign_q * q, sign_v * v, t), one.energy(q, v, t), rtol=1e-10)


@pytest.mark.parametrize("plane", AXES)
@pytest.mark.parametrize("kind", JOINT_TYPES)
def test_every_joint(kind, plane):
    compare(random_model(hash_of(kind), joints=("revolute", kind), forces=BETWEEN_FRAMES), plane, seed=5)


@pytest.mark.parametrize("plane", AXES)
def test_a_tree_of_all_joints(plane):
    compare(random_model(11, forces=BETWEEN_FRAMES), plane, seed=12)


@pytest.mark.parametrize("plane", AXES)
def test_forces_on_coordinates_that_stay_the_same(plane):
    forces = ("rotational_spring_damper", "joint_limit", "joint_friction", "actuator")
    compare(random_model(21, joints=UNCHANGED, forces=forces), plane, seed=22)


def hash_of(text):
    return sum(ord(letter) * (i + 1) for i, letter in enumerate(text))
