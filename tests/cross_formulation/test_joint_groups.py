"""Bodies that each follow a pose table over one drive: one coordinate, no constraint, the mechanism's dynamics."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from loops import wishbones
from mechanisms import body
from paths import outputs
from sekant.geometry import PoseTable
from sekant.model.joints import Path, Revolute
from sekant.model.prescribed_motion import Motion
from sekant.model.quantities import Expression

BODIES = ("upright", "lower", "upper")


def grouped(table: PoseTable, **options) -> sk.Model:
    """The bodies, forces and ground of the wishbones, without its joints: each body on its own table."""
    model = wishbones()
    joints = {f"on_{b}": Path(child=b, curve=table.curve(b), coordinate_of="on_upright") for b in BODIES[1:]}
    leader = Path(child="upright", curve=table.curve("upright"), q0=0.15, v0=0.8)
    changes = {
        "joints": {"on_lower": joints["on_lower"], "on_upright": leader, "on_upper": joints["on_upper"]}
    }
    return sk.Model.model_validate(dict(model) | changes | {"constraints": {}} | options)


@pytest.fixture(scope="module")
def mechanism():
    return sk.compile(wishbones())


@pytest.fixture(scope="module")
def table(mechanism):
    return sk.kinematics(mechanism, "upright.z", range=(0.08, 0.22, 57)).pose_table(BODIES)


def test_a_group_is_an_ordinary_differential_equation(table):
    system = sk.compile(grouped(table))
    assert (system.nq, system.nv) == (1, 1)
    assert not system.equations.constraints
    assert system.state_names[:2] == ("on_upright.u", "on_upright.u_rate")


def test_accelerations_forces_and_energy_are_those_of_the_mechanism(mechanism, table):
    system = sk.compile(grouped(table))
    for z, rate in ((0.11, -0.7), (0.1537, 1.1), (0.2, 0.4)):
        sweep = sk.kinematics(mechanism, "upright.z", values=[z])
        q, v = sweep.q[0], rate * sweep.w[0, 0]
        names = [f"{b}.acceleration" for b in BODIES] + ["spring.force", "energy"]
        full = outputs(mechanism, q, v, *names)
        reduced = outputs(system, [z], [rate], *names)
        scale = max(np.abs(x).max() for x in full[:3])
        for name, a, b in zip(names, full, reduced, strict=True):
            allowed = 1e-6 * scale if "acceleration" in name else 1e-6 * np.abs(a).max()
            np.testing.assert_allclose(b, a, atol=allowed, err_msg=name)


def test_mass_matrix_is_that_of_the_kinetic_energy(mechanism, table):
    system = sk.compile(grouped(table))
    for z in (0.1, 0.16):
        kinetic, _ = system.energy([z], [1.0])
        np.testing.assert_allclose(system.mass_matrix([z]), [[2 * kinetic]], rtol=1e-12)
        sweep = sk.kinematics(mechanism, "upright.z", values=[z])
        w = sweep.w[0, 0]
        np.testing.assert_allclose(w @ mechanism.mass_matrix(sweep.q[0]) @ w, 2 * kinetic, rtol=1e-8)


def test_inverse_and_forward_dynamics_agree(table):
    system = sk.compile(grouped(table))
    a = system.forward_dynamics([0.14], [0.6])
    np.testing.assert_allclose(system.inverse_dynamics([0.14], [0.6], a), 0.0, atol=1e-9)
    extra = system.inverse_dynamics([0.14], [0.6], a + 1.0)
    np.testing.assert_allclose(extra, system.mass_matrix([0.14]).item(), rtol=1e-10)


def test_motion_keeps_the_energy_balance(mechanism, table):
    start = sk.kinematics(mechanism, "upright.z", values=[0.15])
    state = sk.State(start.q[0], 0.8 * start.w[0, 0])
    full = sk.simulate(mechanism, until=0.02, initial=state, rtol=1e-9, atol=1e-11, output_step=0.005)
    reduced = sk.simulate(grouped(table), until=0.02, rtol=1e-9, atol=1e-11, output_step=0.005)
    assert reduced.ok
    assert np.abs(reduced["energy.balance"] - reduced["energy.balance"][0]).max() < 1e-6
    np.testing.assert_allclose(reduced["upright.position"], full["upright.position"], atol=1e-6)


def test_the_motion_of_a_group_moves_all_of_it(mechanism, table):
    """Its force is that which the mechanism needs at the same motion: power per rate."""
    drive = {"motor": Motion(joint="on_upright", value=Expression("0.15 + 0.3*t + 2*t^2"))}
    system = sk.compile(grouped(table, motions=drive))
    assert system.nv == 0
    force, place = outputs(system, [], [], "motor.force", "lower.position", t=0.02)
    z, rate, acceleration = 0.15 + 0.006 + 0.0008, 0.38, 4.0
    free = sk.compile(grouped(table))
    needed = free.inverse_dynamics([z], [rate], [acceleration])
    np.testing.assert_allclose(force, needed, rtol=1e-9)
    np.testing.assert_allclose(place, table.motion("lower", z).position[0], atol=1e-12)


def test_a_group_within_a_tree_and_a_loop(table):
    """A follower may carry further joints, and a loop may close over the group."""
    rng = np.random.default_rng(4)
    model = grouped(table)
    extra = {
        "arm": Revolute(parent="lower.end", child="pendulum", axis=(1.0, 0.2, 0.1), q0=(0.3,), v0=(0.5,)),
    }
    hung = sk.Model.model_validate(
        dict(model) | {"bodies": {**model.bodies, "pendulum": body(rng)}, "joints": {**model.joints, **extra}}
    )
    system = sk.compile(hung)
    assert system.nv == 2
    q, v = np.array([0.15, 0.3]), np.array([0.6, -0.4])
    a = system.forward_dynamics(q, v)
    np.testing.assert_allclose(system.inverse_dynamics(q, v, a), 0.0, atol=1e-8)
    M = system.mass_matrix(q)
    np.testing.assert_allclose(M, M.T, atol=1e-12)
    kinetic, _ = system.energy(q, v)
    np.testing.assert_allclose(0.5 * v @ M @ v, kinetic, rtol=1e-12)
    # the same with the freedom of the pendulum coupled to the group by a constraint
    coupled = sk.Model.model_validate(
        dict(hung)
        | {
            "constraints": {
                "gear": sk.constraints.Coupling(joint="on_upright", driven="arm", ratio=2.0, offset=0.0)
            }
        }
    )
    joined = sk.compile(coupled)
    a = joined.forward_dynamics([0.15, 0.3], [0.6, 1.2])
    np.testing.assert_allclose(a[1], 2.0 * a[0], rtol=1e-9)
    T = np.array([1.0, 2.0])
    alone = system.inverse_dynamics([0.15, 0.3], [0.6, 1.2], a)
    np.testing.assert_allclose(T @ alone, 0.0, atol=1e-7)


@pytest.mark.parametrize(
    ("formulation", "each"), [("cartesian", 6), pytest.param("natural", 9, marks=pytest.mark.long)]
)
def test_a_group_in_coordinates_of_its_bodies_moves_as_in_its_own(table, formulation, each):
    """Every body is free there, and its path joint six equations with the one parameter of the group."""
    system = sk.compile(grouped(table), formulation=formulation)
    assert system.nv == each * len(BODIES) + 1
    report = sk.assemble(system).report
    assert (report.degrees_of_freedom, report.redundant) == (1, ())
    options = {"until": 0.02, "rtol": 1e-10, "atol": 1e-11, "output_step": 0.005}
    here, there = sk.simulate(grouped(table), **options), sk.simulate(system, **options)
    for name in BODIES:
        np.testing.assert_allclose(there[f"{name}.position"], here[f"{name}.position"], atol=1e-8)
    for joint in ("on_upright", "on_lower"):
        np.testing.assert_allclose(there[f"{joint}.q"], here[f"{joint}.q"], atol=1e-8)
        wrenches = [result[f"{joint}.reaction"] for result in (here, there)]
        np.testing.assert_allclose(wrenches[1], wrenches[0], atol=1e-5 * np.abs(wrenches[0]).max())


@pytest.mark.long
def test_a_driven_group_in_cartesian_coordinates(table):
    whole = grouped(table)
    pair = ("upright", "lower")
    joints = {f"on_{b}": whole.joints[f"on_{b}"] for b in pair}
    drive = {"motor": Motion(joint="on_upright", value=Expression("0.15 + 0.3*t + 2*t^2"))}
    model = sk.Model(bodies={b: whole.bodies[b] for b in pair}, joints=joints, motions=drive)
    options = {"until": 0.02, "output_step": 0.01, "rtol": 1e-10, "atol": 1e-11}
    here = sk.simulate(model, **options)
    there = sk.simulate(sk.compile(model, formulation="cartesian"), **options)
    np.testing.assert_allclose(there["lower.position"], here["lower.position"], atol=1e-8)
    np.testing.assert_allclose(there["motor.force"], here["motor.force"], rtol=1e-6)


@pytest.mark.long
def test_a_hinge_may_lead_in_natural_coordinates(mechanism):
    """The hinge is not a part of a tree there and only measures the angle that the others follow."""
    sweep = sk.kinematics(mechanism, "low.angle", range=(-0.2, 0.2, 33))
    table, model = sweep.pose_table(["upright"]), wishbones()
    hinge = model.joints["low"].model_copy(update={"q0": (0.05,), "v0": (0.7,)})
    joints = {"low": hinge, "on": Path(child="upright", curve=table.curve("upright"), coordinate_of="low")}
    bodies = {name: model.bodies[name] for name in ("lower", "upright")}
    led = sk.Model(gravity=model.gravity, ground=model.ground, bodies=bodies, joints=joints)
    options = {"until": 0.05, "rtol": 1e-10, "atol": 1e-11, "output_step": 0.01}
    here = sk.simulate(led, **options)
    there = sk.simulate(sk.compile(led, formulation="natural"), **options)
    assert np.ptp(here["upright.position"][:, 2]) > 0.005
    np.testing.assert_allclose(there["upright.position"], here["upright.position"], atol=1e-8)


def test_a_joint_of_a_group_may_close_a_loop(table):
    """A body on a free joint besides its path: the path joint is cut, and still has the group's coordinate."""
    model = grouped(table)
    cut = model.joints["on_lower"].model_copy(update={"cut": True})
    joints = {**model.joints, "on_lower": cut, "loose": sk.joints.Free(child="lower")}
    looped = sk.compile(sk.Model.model_validate(dict(model) | {"joints": joints}))
    assert looped.equations.motion.cuts == ("on_lower",)
    options = {"until": 0.02, "rtol": 1e-10, "atol": 1e-11, "output_step": 0.005}
    start = sk.assemble(looped, hold=("on_upright.u", "on_upright.u_rate"))
    here, there = sk.simulate(model, **options), sk.simulate(looped, initial=start, **options)
    np.testing.assert_allclose(there["lower.position"], here["lower.position"], atol=1e-8)


def test_bad_groups_are_named(table):
    def joints(**changes):
        own = grouped(table).joints
        return {name: joint.model_copy(update=changes.get(name, {})) for name, joint in own.items()}

    for changes, said in (
        ({"on_lower": {"coordinate_of": "on_uprigth"}}, "did you mean 'on_upright'"),
        ({"on_lower": {"coordinate_of": "on_upper"}}, "shares the coordinate of another joint"),
    ):
        with pytest.raises(sk.SekantError, match=said):
            sk.Model.model_validate(dict(grouped(table)) | {"joints": joints(**changes)})
    with pytest.raises(
        Exception, match=r"this joint starts at the coordinate of joint '[^']+'; give q0 there"
    ):
        Path(child="lower", curve=table.curve("lower"), coordinate_of="a", q0=0.1)
    with pytest.raises(sk.SekantError, match="prescribe the motion of"):
        grouped(table, motions={"motor": Motion(joint="on_lower", value=0.1)})


def test_any_joint_with_one_coordinate_may_lead(mechanism):
    """The upright over the angle of the lower arm, which turns in its own hinge."""
    sweep = sk.kinematics(mechanism, "low.angle", range=(-0.2, 0.2, 33))
    table = sweep.pose_table(["upright", "upper"])
    model = wishbones()
    joints = {"low": model.joints["low"]}
    joints |= {
        f"on_{b}": Path(child=b, curve=table.curve(b), coordinate_of="low") for b in ("upright", "upper")
    }
    led = sk.compile(sk.Model.model_validate(dict(model) | {"joints": joints, "constraints": {}}))
    angle, rate = 0.07, -1.3
    point = sk.kinematics(mechanism, "low.angle", values=[angle])
    full = outputs(mechanism, point.q[0], rate * point.w[0, 0], "low.a", "upright.acceleration")
    found = outputs(led, [angle], [rate], "low.a", "upright.acceleration")
    np.testing.assert_allclose(found[0], full[0], rtol=1e-6)
    np.testing.assert_allclose(found[1], full[1], atol=1e-6 * np.abs(full[1]).max())
