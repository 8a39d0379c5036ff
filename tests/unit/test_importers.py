"""URDF and MJCF against models built by hand, and against closed formulas for inertias."""

import re
import warnings

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.geometry.rotations import rotation_from_quaternion
from sekant.io.importers import LeftOut, import_model
from sekant.io.importers.mjcf_geometry import _capsule
from sekant.model.placement import Orientation, Placement


def rpy(roll, pitch, yaw):
    """Turns about the fixed axes x, y, z are intrinsic turns about z, y, x."""
    return Orientation(sequence="zyx", angles=(yaw, pitch, roll))


def text(*values):
    return " ".join(repr(float(v)) for v in values)


def random_body(rng):
    points = rng.normal(size=(5, 3)) * 0.3
    masses = rng.uniform(0.1, 0.9, 5)
    com = masses @ points / masses.sum()
    J = sum(
        m * (np.dot(d, d) * np.eye(3) - np.outer(d, d)) for m, d in zip(masses, points - com, strict=True)
    )
    return masses.sum(), com, J


def random_robot(rng, count=6):
    """A URDF with joints of all kinds, and the same robot as a Model written by hand."""
    kinds = ["revolute", "continuous", "prismatic", "fixed", "floating", "revolute"][:count]
    lines, bodies, joints = ['<robot name="r"><link name="base"/>'], {}, {}
    for i, kind in enumerate(kinds):
        mass, com, J = random_body(rng)
        turn, at, angles = rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)
        axis = rng.normal(size=3)
        own = Placement(orientation=rpy(*turn)).pose().R
        R = np.array(sk_value(own))
        Ji = R.T @ J @ R  # the file gives the inertia in the axes of <inertial>
        inertia = dict(zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), Ji[np.triu_indices(3)], strict=True))
        parts = " ".join(f'{key}="{float(value)!r}"' for key, value in inertia.items())
        parent = "base" if i == 0 else f"l{rng.integers(0, i)}"
        lines.append(
            f'<link name="l{i}"><inertial><origin xyz="{text(*com)}" rpy="{text(*turn)}"/>'
            f'<mass value="{float(mass)!r}"/><inertia {parts}/></inertial></link>'
            f'<joint name="j{i}" type="{kind}"><parent link="{parent}"/><child link="l{i}"/>'
            f'<origin xyz="{text(*at)}" rpy="{text(*angles)}"/><axis xyz="{text(*axis)}"/>'
            '<limit lower="-3" upper="3" effort="10" velocity="1"/></joint>'
        )
        bodies[f"l{i}"] = sk.Body(
            mass=mass, com=tuple(com), inertia=(J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
        )
        common = {
            "parent": "ground" if parent == "base" else parent,
            "child": f"l{i}",
            "parent_pose": Placement(position=tuple(at), orientation=rpy(*angles)),
        }
        cls = {"prismatic": sk.joints.Prismatic, "fixed": sk.joints.Fixed, "floating": sk.joints.Free}.get(
            kind, sk.joints.Revolute
        )
        joints[f"j{i}"] = cls(**common, **({} if kind in ("fixed", "floating") else {"axis": tuple(axis)}))
    return "\n".join([*lines, "</robot>"]), sk.Model(bodies=bodies, joints=joints)


def sk_value(expression):
    import casadi as ca

    return ca.DM(expression).full()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_urdf_moves_as_the_model_by_hand(seed, tmp_path):
    rng = np.random.default_rng(seed)
    file, expected = random_robot(rng)
    (tmp_path / "r.urdf").write_text(file)
    imported = import_model(tmp_path / "r.urdf")
    found = sk.compile(imported.model, engine="casadi")
    system = sk.compile(expected, engine="casadi")
    assert found.state_names[: found.nq] == system.state_names[: system.nq]
    q, v = rng.uniform(-1, 1, system.nq), rng.normal(size=system.nv)
    for first, length in system.equations.motion.unit_blocks:
        q[first : first + length] /= np.linalg.norm(q[first : first + length])
    a, b = found.forward_dynamics(q, v), system.forward_dynamics(q, v)
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * np.abs(b).max())
    assert [w.code for w in imported.warnings] == ["limits"]


ARM = """<robot name="two arms">
  <material name="steel"><color rgba="0.5 0.25 1 1"/></material>
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 -0.2"/><mass value="1.2"/><inertia ixx="0.02" iyy="0.03" izz="0.015"/></inertial>
    <visual><geometry><box size="0.1 0.2 0.3"/></geometry><material name="steel"/></visual>
    <visual><geometry><mesh filename="package://arm/gone.stl"/></geometry></visual>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <link name="lower">
    <inertial><origin xyz="0 0 -0.1"/><mass value="0.7"/><inertia ixx="0.01" iyy="0.012" izz="0.005"/></inertial>
  </link>
  <joint name="upper" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="0.2" upper="1.5" effort="20" velocity="3"/><dynamics damping="0.4" friction="0.1"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 -0.4"/>
    <axis xyz="0 1 0"/><mimic joint="upper" multiplier="-2" offset="0.1"/></joint>
  <transmission name="t"/>
</robot>"""


def test_urdf_parts(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    with pytest.warns(LeftOut) as told:
        model = sk.load(tmp_path / "arm.urdf")
    assert {str(w.message).split(":")[0].split(",")[0] for w in told} == {
        "upper_joint",
        "package",
        "<transmission>",
        "upper",
    }
    assert list(model.joints) == ["upper_joint", "elbow"]  # the link has the name already
    assert model.joints["upper_joint"].q0 == (0.2,)
    rub = model.forces["upper_joint_damping"]
    assert (rub.damping, rub.level) == (0.4, 0.1)
    limit = model.forces["upper_joint_stop"]
    assert (limit.lower, limit.upper) == (0.2, 1.5)
    gear = model.constraints["elbow_mimic"]
    assert (gear.joint, gear.driven, gear.ratio, gear.offset) == ("upper_joint", "elbow", -2.0, 0.1)
    assert model.shapes["upper_visual"].color == "#8040ff"
    codes = {w.code for w in import_model(tmp_path / "arm.urdf").warnings}
    assert codes == {"limits", "start", "mesh_missing", "collision", "no_counterpart"}
    assert "left out" in model.description
    result = sk.simulate(model, 0.2)
    np.testing.assert_allclose(result["elbow.q"], 0.1 - 2 * result["upper_joint.q"], atol=1e-9)
    with pytest.raises(SekantError, match=r"overridden only in Sekant model files \(got k\)"):
        sk.load(tmp_path / "arm.urdf", set={"k": 1})


MJCF = """<mujoco model="leg">
  <compiler angle="degree" eulerseq="zyx"/>
  <option gravity="0.3 0 -9.7"/>
  <default><joint damping="0.2"/><default class="thin"><geom type="capsule" density="700"/></default></default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="hip" pos="0.1 0.2 1" euler="30 10 -20">
      <joint name="swing" axis="0 1 0" pos="0 0 0.05" range="-50 60"/>
      <joint name="turn" axis="1 0 0.5" stiffness="3" springref="10"/>
      <geom class="thin" fromto="0 0 0 0.1 0 -0.4" size="0.05"/>
      <geom type="box" pos="0 0.1 0" size="0.1 0.02 0.05" axisangle="0 0 1 25" mass="0.4"/>
      <body name="foot" pos="0.1 0 -0.4" quat="0.9 0.1 0.2 0.3" childclass="thin">
        <joint name="slide" type="slide" axis="0 0 1" damping="0" stiffness="50"/>
        <inertial pos="0.01 0.02 -0.1" mass="0.5" quat="0.8 0 0.6 0" diaginertia="0.003 0.004 0.002"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="swing"/></actuator>
</mujoco>"""


def test_mjcf_moves_as_the_model_by_hand(tmp_path):
    (tmp_path / "leg.xml").write_text(MJCF)
    imported = import_model(tmp_path / "leg.xml")
    model = imported.model
    assert {w.code for w in imported.warnings} == {"collision", "shape", "no_counterpart"}
    assert model.gravity == (0.3, 0.0, -9.7)
    # by hand: inertias from the formulas of a capsule and a box, poses from Euler angles
    along = np.array([0.1, 0, -0.4])
    half = np.linalg.norm(along) / 2
    volume = np.pi * 0.05**2 * 2 * half + 4 / 3 * np.pi * 0.05**3
    m1, m2 = 700 * volume, 0.4
    moments = m1 * np.array(_capsule(0.05, half)[1])
    z = along / np.linalg.norm(along)
    J1 = moments[0] * (np.eye(3) - np.outer(z, z)) + moments[2] * np.outer(z, z)
    c, s = np.cos(np.deg2rad(25)), np.sin(np.deg2rad(25))
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    edges = 2 * np.array([0.1, 0.02, 0.05])
    square = edges**2
    J2 = R @ np.diag(m2 / 12 * (square.sum() - square)) @ R.T
    centers, masses = [along / 2, np.array([0, 0.1, 0])], [m1, m2]
    com = (m1 * centers[0] + m2 * centers[1]) / (m1 + m2)
    J = J1 + J2
    for m, p in zip(masses, centers, strict=True):
        d = p - com
        J = J + m * (np.dot(d, d) * np.eye(3) - np.outer(d, d))
    Q = rotation_from_quaternion([0.8, 0, 0.6, 0])
    Jf = Q @ np.diag([0.003, 0.004, 0.002]) @ Q.T
    degree = np.pi / 180
    hip = Orientation(sequence="zyx", angles=(30 * degree, 10 * degree, -20 * degree))
    R_hip = sk_value(hip.rotation())
    quaternion = np.array([0.9, 0.1, 0.2, 0.3])
    expected = sk.Model(
        gravity=(0.3, 0, -9.7),
        bodies={
            "middle": sk.Body(),
            "hip": sk.Body(
                mass=m1 + m2, com=tuple(com), inertia=tuple(J[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
            ),
            "foot": sk.Body(
                mass=0.5, com=(0.01, 0.02, -0.1), inertia=tuple(Jf[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
            ),
        },
        joints={
            "swing": sk.joints.Revolute(
                child="middle",
                axis=(0, 1, 0),
                parent_pose=Placement(
                    position=tuple(np.array([0.1, 0.2, 1]) + R_hip @ [0, 0, 0.05]), orientation=hip
                ),
                child_pose=Placement(position=(0, 0, 0.05)),
            ),
            "turn": sk.joints.Revolute(parent="middle", child="hip", axis=(1, 0, 0.5)),
            "slide": sk.joints.Prismatic(
                parent="hip",
                child="foot",
                parent_pose=Placement(
                    position=(0.1, 0, -0.4),
                    orientation=Orientation(quaternion=tuple(quaternion / np.linalg.norm(quaternion))),
                ),
            ),
        },
        forces={
            "d1": sk.forces.JointFriction(joint="swing", damping=0.2),
            "d2": sk.forces.JointFriction(joint="turn", damping=0.2),
            "k": sk.forces.Actuator(joint="turn", force=f"-3*(q - {10 * degree})"),
            "s": sk.forces.Actuator(joint="slide", force="-50*q"),
        },
    )
    found, system = sk.compile(model, engine="casadi"), sk.compile(expected, engine="casadi")
    assert found.state_names[:3] == system.state_names[:3]
    rng = np.random.default_rng(8)
    for _ in range(3):
        q, v = rng.uniform(-0.5, 0.5, 3), rng.normal(size=3)
        a, b = found.forward_dynamics(q, v), system.forward_dynamics(q, v)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * np.abs(b).max())
    stop = model.forces["swing_stop"]
    assert (stop.lower, stop.upper) == pytest.approx((-50 * degree, 60 * degree))


def test_capsule_by_integration():
    """Moments of a capsule against sums over thin discs."""
    r, h = 0.3, 0.7
    z = np.linspace(-h - r, h + r, 200_001)
    radius2 = np.where(np.abs(z) < h, r * r, r * r - np.clip(np.abs(z) - h, 0, r) ** 2)
    area = np.pi * radius2
    volume, (across, _, along) = _capsule(r, h)
    assert volume == pytest.approx(np.trapezoid(area, z), rel=1e-8)
    assert along == pytest.approx(np.trapezoid(area * radius2 / 2, z) / volume, rel=1e-8)
    assert across == pytest.approx(np.trapezoid(area * (radius2 / 4 + z * z), z) / volume, rel=1e-8)


def test_mjcf_loops_gears_and_total_mass(tmp_path):
    """A closed four-bar by <connect>, a coupling, and masses scaled to a total."""
    file = tmp_path / "bars.xml"
    file.write_text(
        """<mujoco><compiler settotalmass="6"/><worldbody>
        <body name="a"><joint name="ja" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 1" size="0.03"/>
          <body name="b" pos="0 0 1"><joint name="jb" axis="0 1 0"/>
            <geom type="capsule" fromto="0 0 0 1 0 0" size="0.03"/></body></body>
        <body name="c" pos="1 0 0"><joint name="jc" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0 0 1" size="0.03"/></body>
        <body name="d" pos="3 0 0"><joint name="jd" axis="0 1 0"/><geom size="0.1" pos="0 0 0.2"/></body>
        </worldbody><equality><connect body1="b" body2="c" anchor="1 0 0"/>
        <joint joint1="jd" joint2="ja" polycoef="0 3 0 0 0"/></equality></mujoco>"""
    )
    imported = import_model(file)
    system = sk.compile(imported.model)
    assert sum(body.mass for body in imported.model.bodies.values()) == pytest.approx(6.0)
    start = system.initial_state()
    result = sk.simulate(system, 0.3, initial=sk.State(start.q, np.array([0.4, 0, 0, 0])), method="dop853")
    np.testing.assert_allclose(result["jc.q"], result["ja.q"], atol=1e-8)  # a parallelogram
    np.testing.assert_allclose(result["jd.q"], 3 * result["ja.q"], atol=1e-8)
    assert np.ptp(result["ja.q"]) > 0.01
    assert "soft" in {w.code for w in imported.warnings}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.urdf", "<robot name='x'><link name='a'></robot>", r"a.urdf:1: is damaged: mismatched tag"),
        ("a.urdf", "<model/>", r"a.urdf:1: is neither URDF nor MJCF: it begins with <model>"),
        ("a.urdf", "<robot name='x'/>", r"robot 'x': has no link"),
        (
            "a.xml",
            "<mujoco><worldbody><body name='a'>\n<geom size='-1'/></body></worldbody></mujoco>",
            r"a.xml:2: <geom>: the sizes of the sphere must be positive \(got -1\)",
        ),
        (
            "a.urdf",
            ARM.replace('value="1.2"', 'value="heavy"'),
            r'a.urdf:5: <mass>: value="heavy" is not a list',
        ),
        (
            "a.urdf",
            ARM.replace('value="1.2"', 'value="-1.2"'),
            r"a.urdf:5: <inertial>: mass must not be negative",
        ),
        (
            "a.urdf",
            ARM.replace('parent link="upper"', 'parent link="uper"'),
            r"no link 'uper'; did you mean 'upper'",
        ),
        (
            "a.urdf",
            ARM.replace('type="continuous"', 'type="hinge"'),
            r"a.urdf:15: joint 'elbow': unknown type 'hinge'",
        ),
        ("a.urdf", ARM.replace('mimic joint="upper"', 'mimic joint="x"'), r"no joint 'x'"),
        (
            "a.urdf",
            ARM.replace('ixx="0.02"', 'ixx="9"'),
            r"a.urdf:5: <inertial>: inertia violates the triangle",
        ),
        ("a.urdf", ARM.replace('<link name="base"/>', ""), r"no link 'base'"),
        ("a.urdf", ARM.replace('lower="0.2"', 'lower="2.2"'), r"lower \(2.2\) is above upper \(1.5\)"),
        ("a.xml", "<mujoco/>", r"has no <worldbody>"),
        (
            "a.xml",
            MJCF.replace('quat="0.9 0.1 0.2 0.3"', 'quat="0 0 0 0"'),
            r"body 'foot': quat=.* is not an orientation",
        ),
        (
            "a.xml",
            MJCF.replace('type="slide"', 'type="sled"'),
            r"joint 'slide': unknown type 'sled'; did you mean 'slide'",
        ),
        (
            "a.xml",
            MJCF.replace('class="thin" fromto', 'class="thn" fromto'),
            r"there is no default class 'thn'",
        ),
        ("a.xml", MJCF.replace('range="-50 60"', 'range="60 -50"'), r"must increase"),
        ("a.xml", MJCF.replace("<worldbody>", '<include file="gone.xml"/><worldbody>'), r"there is no file"),
        ("a.xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><mujoco/>", r"declares entities"),
        ("missing.urdf", None, r"missing.urdf: cannot be read"),
    ],
)
def test_damaged_files_are_named_with_the_line(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_text(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOut)
        with pytest.raises(SekantError) as told:
            sk.load(tmp_path / name)
    assert re.search(message, str(told.value)), str(told.value)
    assert name in str(told.value)
