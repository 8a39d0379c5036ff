"""Input that is possible but hardly meant: angles in degrees without a unit, dissipation that drives."""

import casadi as ca
import pytest

import sekant as sk
from sekant.errors import ModelError
from sekant.model.large_angles import large_angles
from sekant.model.parse import model_from_dict

HINGE = {
    "bodies": {"arm": {"mass": 1, "inertia": [0.3, 0.7, 0.9], "com": [0.2, 0, 0]}},
    "joints": {"hinge": {"type": "revolute", "child": "arm", "axis": [0, 1, 0]}},
}


def hinge(kind="revolute", **joint):
    return model_from_dict(HINGE | {"joints": {"hinge": HINGE["joints"]["hinge"] | {"type": kind} | joint}})


@pytest.mark.parametrize("q0", [30, -45, 90.0, 12.5, 5])
def test_a_start_angle_like_degrees_is_asked_about(q0):
    result = sk.simulate(hinge(q0=q0), 0.01)
    (warning,) = [w for w in result.warnings if w.code == "angle_in_radians"]
    assert f"write '{q0:g} deg'" in str(warning)
    assert "joint 'hinge'" in str(warning)


@pytest.mark.parametrize(
    "joint", [{"q0": "30 deg"}, {"q0": "3 rev"}, {"q0": 3}, {"q0": 2.9}, {"q0": 30, "kind": "prismatic"}]
)
def test_other_start_values_are_taken_as_they_are(joint):
    assert large_angles(hinge(**joint)) == ()


def test_angles_of_frames_are_looked_at_too():
    turned = {"orientation": {"axis": [0, 0, 1], "angle": 90}}
    (warning,) = large_angles(hinge(parent_pose=turned))
    assert warning.code == "angle_in_radians"
    assert "parent_pose" in str(warning)


def test_a_run_asks_about_them_too():
    result = sk.simulate(hinge(parent_pose={"orientation": {"zyx": [90, 0, 0]}}), 0.01)
    (warning,) = result.warnings
    assert (warning.code, warning.place) == ("angle_in_radians", "parent_pose.orientation.angles")


@pytest.mark.parametrize("formulation", ["joint", "cartesian", "natural"])
@pytest.mark.parametrize(
    ("start", "told"),
    [
        ({"q0": 0.3, "v0": 2}, "hinge.angle 0.3 -> 0.2, hinge.rate 2 -> 0.5"),
        ({"v0": 2}, "hinge.rate 2 -> 0.5"),
        ({"q0": 0.2, "v0": 0.5}, ""),
        ({}, ""),
    ],
)
def test_start_values_that_a_motion_overrides_are_named(formulation, start, told):
    motion = sk.Motion(joint="hinge", value="0.2 + 0.5*t + t^2")
    model = hinge(**start).changed(motions={"motor": motion})
    result = sk.simulate(sk.compile(model, formulation=formulation), 0.01)
    assert [w.code for w in result.warnings] == (["start_contradicted"] if told else [])
    assert told in result.summary()


def test_a_motion_along_a_path_overrides_its_start(tmp_path):
    (tmp_path / "model.yaml").write_text(
        """bodies: {arm: {mass: 1, inertia: [1, 1, 1]}}
curves: {line: {position: [u, u^2, 0], range: [-1, 1]}}
joints: {rail: {type: path, child: arm, curve: line, q0: 0.2}}
motions: {pull: {joint: rail, value: 0.1 + 0.3*t}}
"""
    )
    (warning,) = sk.simulate(sk.load(tmp_path / "model.yaml"), 0.01).warnings
    assert warning.code == "start_contradicted"
    assert "0.2 -> 0.1" in warning.cause


def test_start_values_at_run_time_cannot_be_compared():
    joints = {"hinge": HINGE["joints"]["hinge"] | {"q0": "a"}}
    motions = {"motor": {"joint": "hinge", "value": "t"}}
    model = model_from_dict(HINGE | {"parameters": {"a": 0.3}, "joints": joints, "motions": motions})
    assert sk.simulate(sk.compile(model, parameters=["a"]), 0.01).warnings == ()


def test_check_prints_it(tmp_path):
    from sekant.views.commands.check import _answer

    path = tmp_path / "arm.yaml"
    path.write_text(
        "bodies: {arm: {mass: 1, inertia: [1, 1, 1]}}\njoints: {hinge: {type: revolute, child: arm, q0: 30}}\n"
    )
    answer = _answer(path, {})
    assert "angle_in_radians" in str(answer)


q, v = ca.SX.sym("q", 2), ca.SX.sym("v", 2)
L = 0.5 * ca.sumsqr(v) - 5.0 * ca.sumsqr(q)


@pytest.mark.parametrize(
    "D",
    [
        0.1 * ca.sumsqr(v),
        0.3 * ca.fabs(v[0]),
        0.5 * (v[0] - v[1]) ** 2,
        0.5 * (1 + q[0] ** 2) * v[0] ** 2,
        -0.1 * v[0] ** 2 + 0.3 * v[0] ** 4,  # van der Pol: drives slow motions only
        ca.SX(0),
    ],
    ids=str,
)
def test_dissipation_that_damps_is_taken(D):
    sk.natural.lagrange(q, v, L, rayleigh=D, q0=[1.0, 0.2])


@pytest.mark.parametrize(
    "D", [-0.1 * ca.sumsqr(v), 0.1 * v[0] ** 2 - 0.2 * v[1] ** 2, -ca.fabs(v[1])], ids=str
)
def test_dissipation_that_drives_is_refused(D):
    with pytest.raises(ModelError, match=r"dissipation 'rayleigh' drives the motion.*change the sign"):
        sk.natural.lagrange(q, v, L, rayleigh=D, q0=[1.0, 0.2])


@pytest.mark.parametrize("D", [q[0] ** 2, ca.SX(3)], ids=str)
def test_dissipation_without_velocities_is_refused(D):
    with pytest.raises(ModelError, match="does not depend on the velocities"):
        sk.natural.lagrange(q, v, L, rayleigh={"loss": D}, q0=[1.0, 0.2])


@pytest.mark.parametrize(
    ("value", "message"),
    [("0.5*A.x^2", "does not depend on the velocities"), ("-0.5*A.vx^2", "drives the motion")],
)
def test_dissipations_of_points(tmp_path, value, message):
    path = tmp_path / "points.yaml"
    mechanism = (
        "  dim: 2\n  ground: {O: [0, 0]}\n  points: {A: {at: [1, 0]}}\n  rods: {r: {ends: [O, A], mass: 2}}\n"
    )
    path.write_text(f"natural:\n{mechanism}  dissipations: {{loss: '{value}'}}\n")
    with pytest.raises(ModelError, match=message):
        sk.compile(sk.load(path))
