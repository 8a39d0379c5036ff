"""Compiled systems: parameters, start values, names, what they answer and what they refuse."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant.engine import compile
from sekant.engine.functions.motion import time_stops
from sekant.engine.functions.outputs import all_outputs, output_function
from sekant.engine.reports import explain_failure
from sekant.errors import ModelError, SekantError
from sekant.model.body import Body
from sekant.model.forces import JointFriction, PointForce, SpringDamper
from sekant.model.joints import Cylindrical, Free, Prismatic, Revolute, Spherical
from sekant.model.model import Model
from sekant.model.placement import Orientation
from sekant.model.prescribed_motion import Motion


@pytest.fixture(scope="module")
def arm() -> Model:
    return Model(
        name="arm",
        parameters={"l": 0.4, "start": "l/2"},
        bodies={
            "upper": Body(mass=1.2, com=(0.1, 0.2, "-l"), inertia=(0.3, 0.7, 0.9)),
            "lower": Body(mass=0.8, inertia=(0.03, 0.07, 0.09)),
        },
        joints={
            "shoulder": Revolute(child="upper", axis=(0, 1, 0), q0="start", v0=0.7),
            "elbow": Cylindrical(parent="upper", child="lower", q0=(0.1, "l"), v0=("30 deg/s", 0.0)),
        },
        forces={"drag": JointFriction(joint="elbow", coordinate=1, damping=0.4)},
    )


def test_start_values_follow_the_parameters(arm):
    system = compile(arm, parameters=["l"], engine="casadi")
    state = system.initial_state()
    assert state.q == pytest.approx([0.2, 0.1, 0.4])
    assert state.v == pytest.approx([0.7, np.pi / 6, 0.0])
    assert system.initial_state({"l": 0.6}).q == pytest.approx([0.3, 0.1, 0.6])


def test_start_of_a_floating_body():
    """The velocity is given in the parent's frame, the angular velocity in the child's."""
    turn = Orientation(axis=(0, 0, 1), angle=np.pi / 2)
    free = Free(
        child="b", position=(1, 2, 3), orientation=turn, velocity=(5, 0, 0), angular_velocity=(0.1, 0.2, 0.3)
    )
    model = Model(bodies={"b": Body(mass=1.0, inertia=(0.3, 0.7, 0.9))}, joints={"j": free})
    system = compile(model, engine="casadi")
    state = system.initial_state()
    assert state.q == pytest.approx([1, 2, 3, np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
    assert state.v == pytest.approx([0.1, 0.2, 0.3, 0, -5, 0])
    function, _ = output_function(system, ["b.position", "b.velocity"])
    row = function([0.0], np.concatenate([state.q, state.v]), np.zeros(0))[0]
    assert row == pytest.approx([1, 2, 3, 5, 0, 0])


def test_names_of_the_state(arm):
    system = compile(arm, engine="casadi")
    assert system.state_names == (
        *("shoulder.angle", "elbow.angle", "elbow.displacement"),
        *("shoulder.rate", "elbow.rate", "elbow.sliding_rate", "drag.work"),
    )
    assert (system.nq, system.nv, system.work_names) == (3, 3, ("drag",))


def test_driven_coordinates_leave_the_state(arm):
    driven = arm.model_copy(
        update={"motions": {"motor": Motion(joint="elbow", coordinate=0, value="sin(t)")}}
    )
    system = compile(driven, engine="casadi")
    assert system.state_names[:4] == (
        "shoulder.angle",
        "elbow.displacement",
        "shoulder.rate",
        "elbow.sliding_rate",
    )
    assert set(system.work_names) == {"drag", "motor"}
    assert system.initial_state().q == pytest.approx([0.2, 0.4])


def test_parameter_vector(arm):
    system = compile(arm, parameters=["l", "upper.com", "drag.damping"], engine="casadi")
    assert system.parameter_vector() == pytest.approx([0.4, 0.1, 0.2, -0.4, 0.4])
    assert system.parameter_vector({"drag.damping": 2})[-1] == 2.0
    for values, message in (
        ({"upper.com": [1, 2]}, "'upper.com' needs 3 finite numbers"),
        ({"l": np.nan}, "'l' needs one finite number"),
        ({"drag.dampin": 1.0}, "did you mean 'drag.damping'"),
        ({"upper.mass": 1.0}, r"compile with parameters=\['upper.mass'\]"),
    ):
        with pytest.raises(ModelError, match=message):
            system.parameter_vector(values)


def test_unknown_choices_get_a_hint(arm):
    with pytest.raises(ModelError, match="formulation 'join'; did you mean 'joint'"):
        compile(arm, formulation="join")
    with pytest.raises(ModelError, match="engine 'gcc'; use 'llvm' or 'casadi'"):
        compile(arm, engine="gcc")  # pyright: ignore[reportArgumentType]
    with pytest.raises(SekantError, match=r"'upper\.positon'; did you mean 'upper\.position'"):
        output_function(compile(arm, engine="casadi"), ["upper.positon"])


def test_outputs_by_pattern(arm):
    system = compile(arm, engine="casadi")
    _, chosen = output_function(system, ["upper.*", "energy"])
    names = [output.name for output in chosen]
    assert names[-1] == "energy"
    parts = (
        "position",
        "orientation",
        "velocity",
        "angular_velocity",
        "acceleration",
        "angular_acceleration",
    )
    assert set(names[:-1]) == {f"upper.{part}" for part in parts}
    _, without = output_function(system, balance=False)
    left_out = {output.name for output in all_outputs(system)} - {output.name for output in without}
    assert left_out == {"energy.work", "energy.balance", "drag.work"}


def test_time_stops_follow_the_parameters():
    model = Model(
        bodies={"b": Body(mass=1.0)},
        joints={"j": Prismatic(child="b")},
        forces={"f": PointForce(frame="b", force=(0.0, "step(t - t0)", "pulse(t, 2*t0, 0.25)"))},
        parameters={"t0": 0.5},
    )
    system = compile(model, parameters=["t0"], engine="casadi")
    assert time_stops(system, 0, 10) == pytest.approx([0.5, 1.0, 1.25])
    assert time_stops(system, 0, 10, {"t0": 0.6}) == pytest.approx([0.6, 1.2, 1.45])
    assert time_stops(system, 0.55, 1.1) == pytest.approx([1.0])


def test_summary_and_totals(arm):
    text = compile(arm, engine="casadi").summary()
    assert "shoulder (revolute, 1 dof) → upper (1.2 kg)" in text
    assert "elbow (cylindrical, 2 dof) → lower (0.8 kg)" in text
    assert text.splitlines()[-1] == "2 bodies, 2 joints, 1 force, 0 motions; 3 degrees of freedom; 2 kg"


def test_the_hash_is_that_of_the_content(arm):
    same = Model.model_validate(
        arm.model_dump() | {"joints": arm.joints, "forces": arm.forces, "bodies": arm.bodies}
    )
    other = arm.model_copy(update={"gravity": (0.0, 0.0, -9.8)})
    hashes = [compile(model, engine="casadi").model_hash for model in (arm, same, other)]
    assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.parametrize(
    ("bodies", "joints", "blamed"),
    [
        ({"b": Body()}, {"slide": Prismatic(child="b")}, "slide.rate"),
        ({"b": Body(mass=1.0)}, {"hinge": Revolute(child="b")}, "hinge.rate"),
        (
            {"b": Body(mass=1.7, com=(0.2, -0.3, 0.5))},  # on the axis, but for round-off
            {"hinge": Revolute(child="b", axis=(0.2, -0.3, 0.5))},
            "hinge.rate",
        ),
        ({"b": Body(mass=1.0, com=(0.0, 0.0, 0.3))}, {"ball": Spherical(child="b")}, "ball.wz"),
        (
            {"a": Body(mass=2.0), "b": Body()},
            {"slide": Prismatic(child="a"), "turn": Revolute(parent="a", child="b")},
            "turn.rate",
        ),
    ],
)
def test_a_singular_mass_matrix_names_the_coordinate(bodies, joints, blamed):
    system = compile(Model(bodies=bodies, joints=joints), engine="casadi")
    state = system.initial_state()
    cause = explain_failure(system, 0.0, np.concatenate([state.q, state.v]))
    assert f"nothing resists '{blamed}'" in cause
    assert "give its body a mass" in cause


def test_a_state_outside_a_table_is_explained():
    from sekant.model.table import TableData

    model = Model(
        bodies={"b": Body(mass=1.0)},
        joints={"j": Prismatic(child="b")},
        forces={"s": SpringDamper(parent="ground", child="b", spring="rate")},
        tables={"rate": TableData(x=(0.1, 0.2), y=(0.0, 5.0), extrapolation="error")},
    )
    system = compile(model, engine="casadi")
    cause = explain_failure(system, 0.0, np.array([0.35, 0.0]))
    assert "table 'rate'" in cause
    assert "0.35 is outside its range [0.1, 0.2]" in cause
    assert explain_failure(system, 0.0, np.array([0.15, 0.0])) == ""


def test_many_states_are_asked_at_once():
    system = sk.compile(sk.load(Path(__file__).parents[2] / "examples" / "double_pendulum.yaml"))
    rng = np.random.default_rng(4)
    q, v, a = rng.normal(size=(3, 5, system.nv))
    forward = system.map("forward_dynamics", q, v)
    inverse = system.map("inverse_dynamics", q, v, a, t=np.linspace(0.0, 1.0, 5))
    masses, energies = system.map("mass_matrix", q), system.map("energy", q, v)
    for k in range(5):
        np.testing.assert_array_equal(forward[k], system.forward_dynamics(q[k], v[k]))
        np.testing.assert_array_equal(inverse[k], system.inverse_dynamics(q[k], v[k], a[k], t=0.25 * k))
        np.testing.assert_array_equal(masses[k], system.mass_matrix(q[k]))
        np.testing.assert_array_equal(energies[k], system.energy(q[k], v[k]))
    with pytest.raises(sk.SekantError, match="forward_dynamics"):
        system.map("forward", q, v)


def test_answers_for_one_freedom_keep_their_shapes():
    body = sk.Body(mass=1.3, com=(0.2, 0.1, -0.4), inertia=(0.3, 0.7, 0.9))
    joints = {"hinge": sk.joints.Revolute(child="arm", axis=(0, 1, 0))}
    q, v = ca.SX.sym("q"), ca.SX.sym("v")
    inertia = 0.7 + 1.3 * (0.2**2 + 0.4**2)  # about y through the hinge
    systems = (
        compile(sk.Model(bodies={"arm": body}, joints=joints), engine="casadi"),
        sk.natural.lagrange(q, v, inertia * v**2 / 2 + 3 * ca.cos(q), q0=[0.4], engine="casadi"),
    )
    for system in systems:
        assert (system.nq, system.nv) == (1, 1)
        for given in (0.4, [0.4], np.array([0.4])):
            assert system.mass_matrix(given).shape == (1, 1)
            assert system.forward_dynamics(given, given).shape == (1,)
            assert system.inverse_dynamics(given, given, given).shape == (1,)
        assert system.mass_matrix(0.4)[0, 0] == pytest.approx(inertia, rel=1e-14)
        assert system.map("mass_matrix", [[0.4], [0.7], [-0.2]]).shape == (3, 1, 1)
        assert system.map("forward_dynamics", [[0.4], [0.7], [-0.2]]).shape == (3, 1)
        linear = sk.linearize(system)
        assert [matrix.shape for matrix in (linear.M, linear.C, linear.K, linear.A)] == [(1, 1)] * 3 + [
            (2, 2)
        ]


def test_a_model_without_bodies_compiles():
    assert sk.compile(sk.Model(name="empty"), engine="casadi").nv == 0
