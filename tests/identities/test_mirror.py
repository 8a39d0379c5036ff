"""A mirrored mechanism moves as the mirror image: accelerations and energies of random trees and their images."""

import numpy as np
import pytest

import sekant as sk
from mechanisms import JOINT_TYPES, random_model, random_state
from sekant.model.examples import Stage
from sekant.model.joints import JOINTS
from sekant.model.joints.compliance import PathCompliance, Spring, SurfaceCompliance
from sekant.model.mirror import AXES, mirrored
from sekant.model.quantities import Expression, mirror_sign
from sekant.tables.table import Table

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


@pytest.mark.parametrize("plane", AXES)
@pytest.mark.parametrize("orientation", ["quaternion", "euler:zyx", "none"])
def test_path_joints(plane, orientation):
    rng = np.random.default_rng(31)
    rest = {"quaternion": 4, "euler:zyx": 3, "none": 0}[orientation]
    c = rng.uniform(-0.4, 0.4, (2, 3 + rest, 4))
    c[1, :, 0] = (c[0] * 2.0 ** np.arange(4)).sum(axis=1)
    c[:, 3:4, 0] += 3.0 if orientation == "quaternion" else 0.0
    turn = (
        np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]) if orientation == "none" else np.eye(3)
    )
    curve = sk.PoseCurve(Table([-2.0, 0.0, 2.0], c, "linear"), orientation, turn)
    model = random_model(41, joints=("revolute", "revolute"), forces=BETWEEN_FRAMES)
    last = list(model.joints)[-1]
    old = model.joints[last]
    path = sk.joints.Path(
        parent=old.parent,
        child=old.child,
        parent_pose=old.parent_pose,
        child_pose=old.child_pose,
        curve=curve,
    )
    compare(model.model_copy(update={"joints": {**model.joints, last: path}}), plane, seed=6)
    # by name, as in files, the image is taken when the curve is bound to the joint
    named = path.model_copy(update={"curve": "way"})
    whole = model.model_copy(update={"curves": {"way": curve}, "joints": {**model.joints, last: named}})
    assert mirrored(named, plane).mirror == plane
    assert mirrored(mirrored(named, plane), plane) == named
    compare(whole, plane, seed=7)


def follower(field, geometry, **options):
    """A tree whose last joint follows a curve or surface, given as such and by name."""
    model = random_model(41, joints=("revolute", "revolute"), forces=BETWEEN_FRAMES)
    last = list(model.joints)[-1]
    old = model.joints[last]
    kind = sk.joints.Path if field == "curve" else sk.joints.Surface
    places = {key: getattr(old, key) for key in ("parent", "child", "parent_pose", "child_pose")}
    for given in (geometry, "way"):
        joint = kind(**{field: given}, **places, **options)
        curves = {"way": geometry} if given == "way" else {}
        yield joint, model.model_copy(update={"curves": curves, "joints": {**model.joints, last: joint}})


def springs(names):
    """Different ones in all directions, with forces, that vary along the path; u, or u1 of a surface."""
    u = "u1" if len(names) == 4 else "u"
    return {
        name: Spring(
            stiffness=Expression(f"{30 + 7 * i} + {u}"),
            damping=1.0 + i,
            force=Expression(f"{2 - i} + 0.3*{u}"),
        )
        for i, name in enumerate(names)
    }


@pytest.mark.parametrize("plane", AXES)
def test_surface_joints(plane):
    geometry = Stage(np.random.default_rng(8)).surface().extended("linear")
    for options in ({}, {"compliance": SurfaceCompliance(**springs(SurfaceCompliance.directions))}):
        for joint, model in follower("surface", geometry, **options):
            compare(model, plane, seed=9)
            if isinstance(joint.surface, str):
                assert mirrored(joint, plane).mirror == plane
                assert mirrored(mirrored(joint, plane), plane).mirror is None


@pytest.mark.parametrize("plane", AXES)
@pytest.mark.parametrize("normal", [None, (0.3, 0.5, -0.8), "frenet"])
@pytest.mark.parametrize("tangent", range(3))
def test_compliant_paths(plane, normal, tangent):
    """Paths nearly along x, y and z: along y the default normal is another one."""
    rng = np.random.default_rng(51)
    c = rng.uniform(-0.1, 0.1, (1, 7, 4))
    c[0, tangent, 1] += 2.0
    c[0, 3, 0] += 3.0
    c[0, 3:, 1:] = 0.0
    curve = sk.PoseCurve(Table([-2.0, 2.0], c, "linear"), "quaternion")
    compliance = PathCompliance(**springs(PathCompliance.directions))
    for _, model in follower("curve", curve, compliance=compliance, normal_direction=normal):
        compare(model, plane, seed=10)


def test_a_spring_that_depends_on_its_deflection_is_refused():
    own = springs(PathCompliance.directions)
    own["binormal"] = own["binormal"].model_copy(update={"stiffness": Expression("20 + x")})
    joint = sk.joints.Path(child="a", curve="way", compliance=PathCompliance(**own))
    with pytest.raises(sk.SekantError, match="'binormal' depends on its deflection"):
        mirrored(joint, "y")
    named = sk.joints.Surface(child="a", surface="way", mirror="x")
    with pytest.raises(sk.SekantError, match="already mirrored about x"):
        mirrored(named, "y")


def hash_of(text):
    return sum(ord(letter) * (i + 1) for i, letter in enumerate(text))
