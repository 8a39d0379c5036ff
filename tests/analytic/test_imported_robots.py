"""Accelerations of imported robots against Pinocchio's and MuJoCo's, on models of packages."""

import re
import site
from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from sekant.engine.functions.motion import right_hand_side

pytestmark = pytest.mark.long  # make test-long installs the peers and the robots
PACKAGES = Path(site.getsitepackages()[0])
ROBOTS = PACKAGES / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
ARMS = [  # fixed to the ground: every joint is a hinge or a slider
    "ur_description/urdf/ur5_robot.urdf",
    "xarm_description/urdf/xarm7.urdf",
    "talos_data/robots/talos_left_arm.urdf",
    "kinova_description/robots/kinova.urdf",
    "ur_description/urdf/ur10_robot.urdf",
    "double_pendulum_description/urdf/double_pendulum.urdf",
]


def accelerations(system: sk.System, q: dict[str, float], v: dict[str, float]) -> dict[str, float]:
    """By joint, of a system whose joints have one coordinate each."""
    names = [name.rpartition(".")[0] for name in system.state_names]
    nq, nv = system.nq, system.nv
    x = np.array([q[name] for name in names[:nq]] + [v[name] for name in names[nq : nq + nv]])
    rates = right_hand_side(system, False)(np.zeros(1), x, system.parameter_vector())[0].ravel()
    return dict(zip(names[nq : nq + nv], rates[nq : nq + nv], strict=True))


@pytest.mark.parametrize("robot", ARMS)
def test_arms_accelerate_as_in_pinocchio(robot, tmp_path):
    import pinocchio

    file = ROBOTS / robot
    assert file.exists(), "make test-long installs example-robot-data"
    text = re.sub(
        r"<dynamics[^>]*/>", "", file.read_text()
    )  # Pinocchio leaves damping and friction to its user
    (tmp_path / "arm.urdf").write_text(text)
    model = pinocchio.buildModelFromXML(text)
    data = model.createData()
    with pytest.warns() if "mesh" in text else np.errstate():
        system = sk.compile(sk.load(tmp_path / "arm.urdf"))
    rng = np.random.default_rng(7)
    worst = 0.0
    for _ in range(5):
        v = rng.normal(size=model.nv)
        q = pinocchio.neutral(model)
        values, speeds = {}, {}
        for j in range(1, model.njoints):
            joint, name = model.joints[j], model.names[j]
            low, high = model.lowerPositionLimit[joint.idx_q], model.upperPositionLimit[joint.idx_q]
            if joint.nq == 2:  # a hinge without limits: cosine and sine
                angle = rng.uniform(-1.0, 1.0)
                q[joint.idx_q : joint.idx_q + 2] = np.cos(angle), np.sin(angle)
            else:
                angle = rng.uniform(0.6 * low + 0.4 * high, 0.4 * low + 0.6 * high)
                q[joint.idx_q] = angle
            values[name], speeds[name] = angle, v[joint.idx_v]
        expected = pinocchio.aba(model, data, q, v, np.zeros(model.nv))
        found = accelerations(system, values, speeds)
        for j in range(1, model.njoints):
            gap = abs(found[model.names[j]] - expected[model.joints[j].idx_v])
            worst = max(worst, gap / max(1.0, np.abs(expected).max()))
    assert worst < 1e-10


@pytest.mark.parametrize(
    "name", ["inverted_pendulum", "inverted_double_pendulum", "half_cheetah", "hopper", "walker2d", "reacher"]
)
def test_walkers_accelerate_as_in_mujoco(name):
    """Hinges and sliders with springs and damping, off the ground and within their limits."""
    import mujoco

    file = PACKAGES / "gymnasium" / "envs" / "mujoco" / "assets" / f"{name}.xml"
    assert file.exists(), "make test-long installs gymnasium"
    model = mujoco.MjModel.from_xml_path(str(file))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    model.dof_armature[:] = 0.0  # the import lists it as left out
    data = mujoco.MjData(model)
    with pytest.warns():
        system = sk.compile(sk.load(file))
    rng = np.random.default_rng(3)
    known = {state.rpartition(".")[0] for state in system.state_names}
    joints = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j) for j in range(model.njnt)]
    joints = [name if name in known else f"{name}_joint" for name in joints]  # where a body has that name too
    for _ in range(5):
        for j in range(model.njnt):
            low, high = model.jnt_range[j] if model.jnt_limited[j] else (-0.5, 0.5)
            data.qpos[model.jnt_qposadr[j]] = rng.uniform(0.6 * low + 0.4 * high, 0.4 * low + 0.6 * high)
        data.qvel[:] = 0.3 * rng.normal(size=model.nv)
        mujoco.mj_forward(model, data)
        q = {joint: data.qpos[model.jnt_qposadr[j]] for j, joint in enumerate(joints)}
        v = {joint: data.qvel[model.jnt_dofadr[j]] for j, joint in enumerate(joints)}
        found = accelerations(system, q, v)
        expected = {joint: data.qacc[model.jnt_dofadr[j]] for j, joint in enumerate(joints)}
        size = max(1.0, np.abs(data.qacc).max())
        assert max(abs(found[joint] - expected[joint]) for joint in joints) < 1e-10 * size
