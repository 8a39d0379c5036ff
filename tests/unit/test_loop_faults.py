"""Mechanisms that cannot be assembled or cannot move: messages name items, numbers and remedies."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from loops import Y, at, four_bar, rod
from sekant.errors import ModelError, SolverError
from sekant.model.constraints import Coupling, Distance, DrivePoint
from sekant.model.joints import Free, Revolute, Spherical
from sekant.model.quantities import Expression
from states import system_of


def with_motions(**motions: tuple[str, str]) -> sk.Model:
    made = {name: sk.Motion(joint=joint, value=Expression(text)) for name, (joint, text) in motions.items()}
    return four_bar(motions=made)


def refusal(function, *arguments, kind=SolverError) -> str:
    with pytest.raises(kind) as caught:
        function(*arguments)
    return str(caught.value)


def test_a_link_too_long_names_joint_and_gap():
    model = four_bar()
    model = model.model_copy(update={"bodies": {**model.bodies, "coupler": rod(1.9, 3.0)}})
    text = refusal(sk.assemble, system_of(model))
    assert "model 'four_bar' cannot be assembled" in text
    assert "revolute joint 'C': 1.3" in text
    assert "m and 0 deg from closing" in text
    assert "Check lengths and start values" in text


def test_a_joint_that_cannot_align_tells_degrees():
    """A rigid bracket between two hinges whose axes cannot be brought in line."""
    joints = {
        "one": Revolute(child="arm", axis=(0.0, 0.0, 1.0)),
        "two": Revolute(
            child="arm",
            axis=(0.0, 0.0, 1.0),
            parent_pose={"position": (0.5, 0, 0), "orientation": {"axis": (1, 0, 0), "angle": 0.3}},
            child_pose={"position": (0.5, 0, 0)},
        ),
    }
    text = refusal(
        sk.assemble, system_of(sk.Model(name="bracket", bodies={"arm": rod(1.0, 0.5)}, joints=joints))
    )
    assert "revolute joint 'two'" in text
    assert "17.19 deg from closing" in text


def test_two_motions_on_one_coordinate_are_both_named():
    text = refusal(lambda: with_motions(m1=("A", "t"), m2=("A", "2*t")), kind=ModelError)
    assert "motion 'm2'" in text
    assert "already prescribed by motion 'm1'" in text


def test_motions_that_contradict_each_other_in_position():
    text = refusal(sk.assemble, system_of(with_motions(m1=("A", "-1.0 + t"), m2=("D", "-1.4 + 2*t"))))
    assert "motion 'm1' (A.angle)" in text
    assert "motion 'm2' (D.angle)" in text
    assert "revolute joint 'C'" in text


def test_motions_that_contradict_each_other_in_velocity():
    start = sk.assemble(system_of(four_bar()))
    a, d = (float(x) for x in start.q[:2])
    system = system_of(with_motions(m1=("A", f"{a} + t"), m2=("D", f"{d} + 2*t")))
    text = refusal(sk.assemble, system)
    assert "no velocities satisfy all constraints at t = 0 s" in text
    assert "'C' has the largest error" in text
    assert "motion 'm1' (A.angle), motion 'm2' (D.angle)" in text


def test_a_motion_into_a_dead_end_tells_time_and_coordinate():
    system = sk.compile(with_motions(motor=("D", "-1.4 - 2*t")))
    result = sk.simulate(system, until=3.0, output_step=0.05)
    assert result.status != "finished"
    assert 0.4 < result.time[-1] < 0.52  # what was computed is kept
    assert "0.5159" in result.message
    assert "motion 'motor' prescribes D.angle = -2.43" in result.message
    assert "end the travel before this point" in result.message


def test_a_structure_is_not_simulated():
    joints = {
        "A": Revolute(child="a", axis=Y, q0=(-1.0,)),
        "B": Revolute(parent="a.end", child="b.end", axis=Y),
        "C": Revolute(child="b", axis=Y, parent_pose=at(0.4, 0.0, 0.0), q0=(-1.9,)),
    }
    model = sk.Model(name="triangle", bodies={"a": rod(1.0, 0.5), "b": rod(1.2, 0.6)}, joints=joints)
    text = refusal(sk.simulate, system_of(model), 0.1)
    assert "model 'triangle' has no degree of freedom: the constraint equations of 'B'" in text
    assert "free a joint" in text


def test_a_driven_structure_is_simulated():
    result = sk.simulate(sk.compile(with_motions(motor=("A", "-0.6 + 0.4*sin(2*t)"))), 0.2, output_step=0.1)
    assert result.status == "finished"
    assert np.ptp(np.asarray(result["rocker.angular_velocity"])) > 0.01


def test_unknown_names_in_hold_and_weights():
    system = system_of(four_bar())
    assert "did you mean 'A.angle'" in refusal(lambda: sk.assemble(system, hold=["A.angl"]))
    text = refusal(lambda: sk.assemble(system, weights={"A.angle": -1.0}))
    assert "weight of 'A.angle' must be positive (got -1)" in text


def test_holding_too_much_says_what_is_held():
    text = refusal(lambda: sk.assemble(system_of(four_bar()), hold=["A.angle", "B.angle", "D.angle"]))
    assert "held 'A.angle', held 'B.angle', held 'D.angle'" in text


def test_a_distance_of_no_length():
    with pytest.raises(ModelError, match="to connect two points directly, use a spherical joint"):
        Distance(parent="ground", child="a", length=0.0)


def test_a_coupling_needs_a_ratio_or_a_table():
    with pytest.raises(ModelError, match="either 'ratio' or 'table'"):
        Coupling(joint="a", driven="b")


def test_a_coupling_of_quaternions_is_refused():
    body = rod(1.0, 0.4)
    joints = {"ball": Spherical(child="a"), "hinge": Revolute(child="b")}
    text = refusal(
        lambda: sk.Model(
            bodies={"a": body, "b": body},
            joints=joints,
            constraints={"gear": Coupling(joint="ball", driven="hinge", ratio=2.0)},
        ),
        kind=ModelError,
    )
    assert "constraint 'gear'" in text or "gear" in text
    assert "joint 'ball' has the type 'spherical'" in text


def test_a_signal_of_a_constraint_depends_on_time_only():
    text = refusal(
        lambda: four_bar(
            constraints={
                "rope": Distance(parent="ground", child="coupler", length=Expression("0.5 + 0.1*A.q"))
            }
        ),
        kind=ModelError,
    )
    assert "'A.q' depends on the motion" in text
    assert "only the time t and parameters" in text


def test_a_driven_point_out_of_reach():
    pendulum = {"arm": rod(1.0, 0.5)}
    model = sk.Model(
        name="reach",
        bodies=pendulum,
        joints={"ball": Spherical(child="arm")},
        constraints={"pull": DrivePoint(frame="arm.end", x=0.9, y=0.1)},
    )
    text = refusal(sk.assemble, system_of(model))
    assert "drive_point 'pull': violated by" in text


def test_motions_of_a_free_body_by_number_are_refused():
    text = refusal(
        lambda: sk.Model(
            bodies={"a": rod(1.0, 0.4)},
            joints={"free": Free(child="a")},
            motions={"m": sk.Motion(joint="free", value=0.0)},
        ),
        kind=ModelError,
    )
    assert "joint 'free' has the type 'free'" in text
