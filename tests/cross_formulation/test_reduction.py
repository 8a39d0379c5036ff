"""Reduced models against the mechanisms that they stand for: the same motion, with heavy links too."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from loops import GRAVITY, Y, at, four_bar, rod
from sekant.model.joints import Free, Joint, Revolute
from sekant.model.placement import Orientation
from suspensions import EXAMPLES

HUB = "upright.wheel_center"
TRAVEL = f"{HUB}.z"


@pytest.mark.parametrize(
    ("load", "method"),
    [({}, "table"), ({}, "path"), ({"sweep": 0.0, "jump": 1.0}, "table")],
    ids=["swept sine", "swept sine, path", "step"],
)
def test_rigid_quarter_car_of_hall(load, method):
    """Hall, 4.1.1, links of next to no mass; his limit is 0.05 % (3.5), twice that for accelerations."""
    model = sk.load(EXAMPLES / "quarter_car_geometric.yaml", set={"link": 1e-4, **load})
    found = sk.reduce(
        model, "upright", TRAVEL, (-0.12, 0.12), method=method, inertia="ignore", tolerance=1e-7
    )
    assert list(found.model.bodies) == ["upright"]
    seen = found.compare(10.0, [HUB], rtol=1e-8, atol=1e-10, output_step=0.01)
    assert np.ptp(seen.expected["probe_0.position"][:, 2]) > 0.01
    assert seen.largest(f"{HUB}.position").max() < 0.05
    assert seen.largest(f"{HUB}.acceleration").max() < 0.1


def test_heavy_links_keep_their_kinetic_energy_and_weight():
    """Links of 8 kg beside an upright of 50 kg; ignoring them is visibly wrong, exact inertia is exact."""
    model = sk.load(EXAMPLES / "quarter_car_geometric.yaml", set={"link": 8.0})
    exact = sk.reduce(model, "upright", TRAVEL, (-0.12, 0.12), tolerance=1e-11)
    assert set(exact.followers) == {"tie_rod", "strut_rod", "lower_arm"}
    gap = exact.compare(2.0, [HUB], rtol=1e-11, atol=1e-13).difference(f"{HUB}.position")
    assert np.abs(gap).max() < 1e-8
    ignored = sk.reduce(model, "upright", TRAVEL, (-0.12, 0.12), inertia="ignore")
    assert np.abs(ignored.compare(2.0, [HUB]).difference(f"{HUB}.position")).max() > 1e-3


def test_formula_student_corner_falls_with_rocker_and_spring():
    """PILS chapter 5: let go at z = 0.1 m; the spring acts on the rocker, which follows poses of its own.

    Under its load on the ground, without which a spring of 3500 N/m lets it fall into the dead point of the push rod.
    """
    model = sk.load(EXAMPLES / "formula_student.yaml", set={"bump": 0.0})
    found = sk.reduce(model, "upright", TRAVEL, (0.09, 0.25), tolerance=1e-9)
    assert found.carried == ("rocker",)
    system = sk.compile(model)
    start = sk.kinematics(system, TRAVEL, values=[0.1])
    full = sk.simulate(system, 1.0, initial=sk.State(start.q[0], np.zeros(system.nv)), rtol=1e-10, atol=1e-12)
    lifted = found.model.joints[found.joint].model_copy(update={"q0": 0.1})
    joints = {**found.model.joints, found.joint: lifted}
    reduced = sk.simulate(found.model.model_copy(update={"joints": joints}), 1.0, rtol=1e-10, atol=1e-12)
    assert (full.status, reduced.status) == ("finished", "finished")
    assert np.ptp(full["spring.length"]) > 0.005
    for name in ("upright.position", "rocker.position", "spring.length"):
        np.testing.assert_allclose(reduced[name], full[name], rtol=0, atol=1e-7)


@pytest.mark.parametrize(("method", "tolerance"), [("table", 1e-7), ("path", 1e-4)])
def test_steered_corner_becomes_a_surface_whose_second_coordinate_is_driven(method, tolerance):
    """Hall, 4.1.3: all six coordinates of the hub while the steering turns from -300 to 300 deg; "path" is his
    polynomial of degree 5 x 5."""
    model = sk.load(EXAMPLES / "quarter_car_steered.yaml", set={"link": 1e-4})
    found = sk.reduce(
        model,
        "upright",
        [TRAVEL, "steering_column.angle"],
        [(-0.06, 0.06), ("-310 deg", "310 deg")],
        method=method,
        tolerance=tolerance,
        inertia="ignore",
    )
    prescribed = found.model.motions["hand"]
    assert (prescribed.joint, prescribed.coordinate) == (found.joint, 1)
    assert sk.compile(found.model).nv == 1
    seen = found.compare(10.0, [HUB], rtol=1e-8, atol=1e-10, output_step=0.01)
    assert np.all(np.ptp(seen.expected["probe_0.position"], axis=0) > 0.005)
    assert seen.largest(f"{HUB}.position").max() < 0.05
    assert seen.largest(f"{HUB}.acceleration").max() < 0.1
    assert seen.turn(HUB).max() < 2e-4


@pytest.mark.long
def test_heavy_links_over_two_coordinates():
    """A planar five-bar: two freedoms, four moving bodies that all weigh; each follows a surface of its own."""
    joints = {
        "A": Revolute(child="left", axis=Y, q0=(-2.0,), v0=(1.1,)),
        "B": Revolute(parent="left.end", child="upper", axis=Y, q0=(1.1,)),
        "C": Revolute(parent="upper.end", child="lower.end", axis=Y),
        "D": Revolute(child="right", axis=Y, parent_pose=at(0.5, 0.0, 0.1), q0=(-1.1,), v0=(-0.7,)),
        "E": Revolute(parent="right.end", child="lower", axis=Y, q0=(-1.2,)),
    }
    bodies = {"left": rod(1.1, 0.4), "upper": rod(1.9, 0.6), "right": rod(1.5, 0.45), "lower": rod(0.8, 0.55)}
    model = sk.Model(name="five_bar", gravity=GRAVITY, bodies=bodies, joints=joints)
    found = sk.reduce(model, "upper", ["A.angle", "D.angle"], [(-2.2, -1.8), (-1.4, -0.8)], tolerance=1e-9)
    seen = found.compare(0.24, rtol=1e-11, atol=1e-13)
    assert np.ptp(seen.expected["probe_0.position"], axis=0).max() > 0.01
    assert np.abs(seen.difference("upper.position")).max() < 1e-8


@pytest.mark.parametrize(
    ("coordinate", "span"),
    [pytest.param("A.angle", (-2.2, -0.5), marks=pytest.mark.long), ("coupler.spot.x", (-0.32, 0.22))],
)
def test_on_a_body_that_moves_itself(coordinate, span):
    """A four-bar on a free body that moves and lies askew: points are seen from it, friction stays on the coordinate
    that stays, and what hangs on a kept body hangs on."""
    bar = four_bar()
    joints: dict[str, Joint] = dict(bar.joints)
    joints["A"] = joints["A"].model_copy(update={"parent": "frame"})
    joints["D"] = joints["D"].model_copy(update={"parent": "frame"})
    askew = Orientation(angles=(0.4, -0.2, 0.3))
    joints["float"] = Free(
        child="frame", position=(0.4, -0.3, 0.2), orientation=askew, velocity=(0.1, 0.2, 0.3)
    )
    joints["spin"] = Revolute(parent="coupler.end", child="rotor", axis=Y, v0=(3.0,))
    frame = sk.Body(mass=7.0, com=(0.1, 0.02, 0.03), inertia=(0.3, 0.7, 0.9))
    spots = {**bar.bodies["coupler"].frames, "spot": at(0.2, 0.1, 0.3)}
    coupler = bar.bodies["coupler"].model_copy(update={"frames": spots})
    forces = {
        "spring": sk.forces.SpringDamper(parent="frame", child="rocker.end", stiffness=300.0, free_length=0.5)
    }
    if coordinate == "A.angle":
        forces["friction"] = sk.forces.JointFriction(joint="A", damping=0.4)
    model = sk.Model(
        name="bar on a frame",
        gravity=GRAVITY,
        bodies={**bar.bodies, "coupler": coupler, "frame": frame, "rotor": rod(0.6, 0.2, 0.03)},
        joints=joints,
        forces=forces,
    )
    found = sk.reduce(model, ["coupler"], coordinate, span, relative_to="frame", tolerance=1e-11)
    if "friction" in forces:
        assert found.model.forces["friction"].joint == found.joint
    assert found.carried == ("rocker",)
    assert "spin" in found.model.joints
    assert "rotor" in found.model.bodies
    seen = found.compare(0.1, ["coupler", "frame", "rotor"], rtol=1e-11, atol=1e-13)
    for body in ("coupler", "frame", "rotor"):
        assert np.abs(seen.difference(f"{body}.position")).max() < 1e-8


def test_split_masses_add_up_and_sit_at_the_joints():
    model = sk.load(EXAMPLES / "formula_student.yaml")
    found = sk.reduce(model, ["upright", "rocker"], TRAVEL, (0.12, 0.22), inertia="split", tolerance=1e-6)
    for name in found.dropped:
        shares = [lump.mass for lump in found.lumps if lump.source == name]
        assert sum(shares) == pytest.approx(model.bodies[name].mass)
    rod_shares = {lump.body: lump.mass for lump in found.lumps if lump.source == "tie_rod"}
    assert rod_shares == {"upright": pytest.approx(0.1), "ground": pytest.approx(0.1)}
    upright = found.model.bodies["upright"]
    lumps = [(lump.mass, np.array(lump.position)) for lump in found.lumps if lump.body == "upright"]
    assert upright.mass == pytest.approx(10 + sum(m for m, _ in lumps))
    moment = 10 * np.array(model.bodies["upright"].com) + sum(m * p for m, p in lumps)
    np.testing.assert_allclose(upright.mass * np.array(upright.com), moment, rtol=1e-12)
