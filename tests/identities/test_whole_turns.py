"""Half and whole turns of every joint, force, sensor and signal: all coordinates and methods see the same motion.

Each type stands on a hinge of its own that turns a few times, so that one model holds them all.
"""

from __future__ import annotations

from math import pi, tau

import numpy as np
import pytest

import sekant as sk
from loops import four_bar
from mechanisms import body, joint, placement
from sekant.model.examples import Stage
from sekant.model.forces.base import FORCES
from sekant.model.joints import JOINTS, Joint, Revolute
from sekant.model.model import Ground
from sekant.model.parse import model_from_dict
from sekant.model.sensors import SENSORS
from sekant.model.signals.base import SIGNALS

FORMULATIONS, METHODS = ("joint", "cartesian", "natural"), ("dop853", "taylor", "radau5")
WAYS = [(f, m) for f in FORMULATIONS for m in METHODS]
SHORT = [("joint", "taylor"), ("cartesian", "dop853"), ("cartesian", "taylor"), ("natural", "taylor")]
LONG = [pytest.param(f, m, marks=() if (f, m) in SHORT else pytest.mark.long) for f, m in WAYS[1:]]
UNTIL, RTOL = 1.0, 1e-9
SPIN = 7.3  # rad/s: more than a turn


def agree(found: sk.Result, expected: sk.Result, model: sk.Model) -> None:
    """All that is measured, within some hundred times the tolerance; angles of joints up to whole turns, which
    coordinates of bodies count only where something goes by them."""
    owners = (*model.bodies, *model.joints, *model.forces, *model.sensors, *model.signals)
    for name in filter(found.channels.__contains__, expected.channels.names):
        owner, _, part = name.rpartition(".")
        if part in ("orientation", "reaction", "reaction_local") or not {owner, name} & set(owners):
            continue
        off = found[name] - expected[name]
        if part == "q" and owner in model.joints:
            off = (off + pi) % tau - pi
        assert np.abs(off).max() <= 1e-6 * max(1.0, np.abs(expected[name]).max()), name


def run(model: sk.Model, formulation: str, method: str, **options) -> sk.Result:
    system = sk.compile(model, formulation=formulation)
    result = sk.simulate(system, UNTIL, method=method, rtol=RTOL, output_step=0.05, **options)
    assert result.status == "finished", result.message
    return result


# -- joints -----------------------------------------------------------------------------------------------


def turns(item: Joint) -> bool:
    """Whether a joint goes round: an angle without an end, or an orientation."""
    return item.unit_quaternion is not None or any(
        c.unit == "rad" and getattr(item, "curve", None) is None for c in item.coordinates
    )


def turning_joints() -> sk.Model:
    """A body on every type of joint that turns freely, at velocities that take it round more than once."""
    rng = np.random.default_rng(4)
    joints, bodies = {}, {}
    for kind in JOINTS:
        item = joint(kind, rng, "ground", f"{kind}_body")
        if not turns(item):
            continue
        if item.unit_quaternion is None:
            rates = [SPIN if c.unit == "rad" else 0.4 for c in item.coordinates]
            item = item.model_copy(update={"v0": tuple(rates), "q0": tuple(0.9 * pi for _ in rates)})
        else:
            item = item.model_copy(update={"angular_velocity": (1.1, 0.6, SPIN)})
        joints[kind], bodies[f"{kind}_body"] = item, body(rng)
    assert {"revolute", "cylindrical", "planar", "universal", "screw", "spherical", "free"} <= joints.keys()
    return sk.Model(name="joints", gravity=(0.3, -0.2, -0.5), bodies=bodies, joints=joints)


@pytest.fixture(scope="module")
def joints_turned() -> sk.Result:
    found = run(turning_joints(), *WAYS[0])
    for name in ("revolute", "cylindrical", "screw"):
        assert np.ptp(np.reshape(found[f"{name}.q"], (found.time.size, -1))[:, 0]) > tau
    return found


@pytest.mark.parametrize(("formulation", "method"), LONG)
def test_every_joint_turns_on(joints_turned, formulation, method):
    model = turning_joints()
    agree(run(model, formulation, method), joints_turned, model)


# -- forces, sensors, signals -----------------------------------------------------------------------------

SMOOTH_FORCES = tuple(
    name for name in FORCES if name not in ("joint_friction", "joint_limit") and not name.endswith("_tire")
)


def hinge(child: str, rng: np.random.Generator) -> Revolute:
    return Revolute(
        child=child,
        axis=(0.2, -0.1, 1.0),
        parent_pose=placement(rng),
        child_pose=placement(rng),
        q0=(2.1,),
        v0=(SPIN,),
    )


def turning_forces() -> sk.Model:
    """Every type of force on a body and a hinge of its own."""
    rng = np.random.default_rng(11)
    bodies, joints, forces, tables = {}, {}, {}, {}
    for kind in SMOOTH_FORCES:
        name = f"{kind}_body"
        stage = Stage(rng, (name,), ((f"{kind}_hinge", 0),))
        stage.tables = tables
        bodies[name], joints[f"{kind}_hinge"] = body(rng), hinge(name, rng)
        forces[kind] = FORCES[kind].example(stage)
    ground = Ground(frames={"hub": placement(rng), "tip": placement(rng)})
    return sk.Model(
        name="forces",
        gravity=(0.3, -0.2, -0.5),
        ground=ground,
        bodies=bodies,
        joints=joints,
        forces=forces,
        tables=tables,
    )


def turning_signals() -> sk.Model:
    """Every type of sensor and signal, which see one body that turns."""
    rng = np.random.default_rng(12)
    stage = Stage(rng, ("wheel",), (("axle", 0),))
    sensors = {f"{kind}_sensor": SENSORS[kind].example(stage) for kind in SENSORS}
    signals = {f"{kind}_signal": SIGNALS[kind].example(stage) for kind in SIGNALS}
    return sk.Model(
        name="signals",
        gravity=(0.3, -0.2, -0.5),
        ground=Ground(frames={"hub": placement(rng), "tip": placement(rng)}),
        bodies={"wheel": body(rng)},
        joints={"axle": hinge("wheel", rng)},
        sensors=sensors,
        signals=signals,
        tables=stage.tables,
    )


@pytest.fixture(scope="module")
def forces_turned() -> sk.Result:
    found = run(turning_forces(), *WAYS[0])
    assert [(w.code, w.item) for w in found.warnings] == [("half_turn", "bushing")]
    return found


@pytest.mark.parametrize(("formulation", "method"), LONG)
def test_every_force_turns_on(forces_turned, formulation, method):
    model = turning_forces()
    agree(run(model, formulation, method), forces_turned, model)


@pytest.fixture(scope="module")
def signals_turned() -> sk.Result:
    found = run(turning_signals(), *WAYS[0])
    assert np.ptp(found["axle.q"]) > tau
    return found


@pytest.mark.parametrize(("formulation", "method"), LONG)
def test_every_sensor_and_signal_turns_on(signals_turned, formulation, method):
    model = turning_signals()
    agree(run(model, formulation, method), signals_turned, model)


# -- closed solutions -------------------------------------------------------------------------------------

WHEEL = {"mass": 1, "inertia": [0.3, 0.4, 0.5]}
SHORT_WAYS = [
    pytest.param(f, m, marks=() if f == "joint" or m == "taylor" else pytest.mark.long) for f, m in WAYS
]


def wheel(joints: dict, **more) -> sk.Model:
    return model_from_dict(
        {"name": "wheel", "gravity": [0, 0, 0], "bodies": {"wheel": WHEEL}, "joints": joints, **more}
    )


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize(("formulation", "method"), SHORT_WAYS)
def test_a_screw_advances_on_beyond_half_a_turn(formulation, method, cut):
    """z = pitch (q0 + v0 t) / 2 pi, also where the screw closes a loop with a cylindrical joint."""
    advance, q0, v0 = 0.4 / tau, 2.9, 4.0
    joints = {"screw": {"type": "screw", "child": "wheel", "pitch": 0.4, "q0": q0, "v0": v0, "cut": cut}}
    if cut:
        start = {"q0": [q0, advance * q0], "v0": [v0, advance * v0]}
        joints["sleeve"] = {"type": "cylindrical", "child": "wheel", **start}
    result = sk.simulate(sk.compile(wheel(joints), formulation=formulation), 0.5, method=method, rtol=RTOL)
    np.testing.assert_allclose(result["wheel.position.z"], advance * (q0 + v0 * result.time), atol=1e-8)
    np.testing.assert_allclose(result["screw.q"], q0 + v0 * result.time, atol=1e-7)


SPRINGS = {
    "bushing": {"type": "bushing", "rotational_stiffness": [0, 0, 2]},
    "spring": {"type": "rotational_spring_damper", "stiffness": 2},
}


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("kind", SPRINGS)
@pytest.mark.parametrize(("formulation", "method"), SHORT_WAYS)
def test_an_elastic_mount_between_frames_pushes_on_after_half_a_turn(formulation, method, kind, way):
    """A spring on the angle in (-pi, pi]: w^2 = k / J, and the torque changes its sign where the angle jumps."""
    q0, v0, w = 1.4, 7.0, 2.0
    mount = {**SPRINGS[kind], "parent": "ground", "child": "wheel"}
    hinge = {"type": "revolute", "child": "wheel", "q0": way * q0, "v0": way * v0}
    system = sk.compile(wheel({"hinge": hinge}, forces={"mount": mount}), formulation=formulation)
    result = sk.simulate(system, 1.0, method=method, rtol=RTOL)
    phase, size = np.arctan2(v0 / w, q0), np.hypot(q0, v0 / w)  # q = size cos(w t - phase)
    at_jump = (phase - np.arccos(pi / size)) / w
    rate = w * np.sqrt(size**2 - pi**2)  # at the jump, from where it goes on at -pi with the same rate
    later = w * (result.time - at_jump)
    angle = np.where(
        result.time < at_jump,
        size * np.cos(w * result.time - phase),
        -pi * np.cos(later) + rate / w * np.sin(later) + tau,
    )
    turned = way * result["hinge.q"]
    assert np.abs((turned - angle + pi) % tau - pi).max() < 1e-6
    assert angle[-1] > 1.5 * pi
    assert [(warning.code, warning.item) for warning in result.warnings] == [("half_turn", "mount")]


def test_a_bushing_ends_a_motion_by_its_name_where_its_angles_are_not_unique():
    hinge = {"type": "revolute", "child": "wheel", "axis": [0, 1, 0], "q0": 1, "v0": 9}
    mount = {"type": "bushing", "parent": "ground", "child": "wheel", "rotational_stiffness": [0, 2, 0]}
    result = sk.simulate(wheel({"hinge": hinge}, forces={"mount": mount}), 0.3, method="taylor")
    assert result.status != "finished"
    assert "'mount': it has turned by 90 deg about y" in result.message


@pytest.mark.parametrize("method", METHODS)
def test_an_expression_with_atan2_jumps_where_it_jumps(method):
    """The integral of the angle of a pointer, and of one that time alone turns."""
    hinge = {"type": "revolute", "child": "wheel", "q0": 1, "v0": 9}
    signals = {
        "pointer": {"type": "integral", "input": "atan2(sin(hinge.q), cos(hinge.q))"},
        "back": {"type": "integral", "input": "atan2(-sin(hinge.q), cos(hinge.q))"},
        "clock": {"type": "integral", "input": "atan2(t - 0.4, -1)"},
    }
    result = sk.simulate(wheel({"hinge": hinge}, signals=signals), 1.0, method=method, rtol=RTOL)
    turned = 1 + 9 * result.time
    wrapped = (turned + pi) % tau - pi
    # in every turn the angle comes back to -pi, so that its integral over the angle is that of a parabola
    np.testing.assert_allclose(result["pointer"], (wrapped**2 - 1) / 18, atol=1e-6)
    np.testing.assert_allclose(result["back"], -result["pointer"], atol=1e-6)
    x = result.time - 0.4
    clock = np.where(x < 0, -pi, pi) * x - x * np.arctan(x) + np.log1p(x**2) / 2
    np.testing.assert_allclose(result["clock"], clock - clock[0], atol=1e-6)


def test_a_search_adds_no_turns_to_a_joint_that_counts():
    """The rough start of a four-bar lies far off; the joint that closes it has a spring on its angle."""
    rng = np.random.default_rng(0)
    for _ in range(12):
        model = four_bar(forces={"spring": sk.forces.RotationalSpringDamper(joint="C", stiffness=3.0)})
        start = {name: (float(rng.uniform(-3, 3)),) for name in "ABD"}
        joints = {
            name: j.model_copy(update={"q0": start.get(name, j.q0)}) for name, j in model.joints.items()
        }
        system = sk.compile(model.model_copy(update={"joints": joints}), engine="casadi")
        found = sk.assemble(system)
        assert abs(found.q[system.state_names.index("C.angle")]) <= pi
