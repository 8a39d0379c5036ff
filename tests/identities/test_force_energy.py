"""Every force element accounts for all of its work: stored energy and power together, exactly."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from mechanisms import (
    ALL_JOINTS,
    FORCE_TYPES,
    MOVING_JOINTS,
    WITH_STATES,
    equations_of,
    random_model,
    random_state,
    time_derivative,
    values,
)
from sekant.geometry.spatial import SX
from sekant.model import sensors
from sekant.model.body import Body
from sekant.model.forces import Actuator, Bushing, JointLimit, RotationalSpringDamper, SpringDamper
from sekant.model.joints import Prismatic, Revolute
from sekant.model.model import Model
from sekant.model.table import TableData

SEEDS = (1, 2, 5)


def balance(eq, state):
    """(rate of kinetic and potential energy, supplied power, largest single contribution)."""
    power = sum(eq.energies.powers.values(), SX(0))
    rate = time_derivative(eq, eq.energies.kinetic + eq.energies.potential)
    kinetic = time_derivative(eq, eq.energies.kinetic)
    rate, power, kinetic = (x.item() for x in values(eq, state, rate, power, kinetic))
    return rate, power, max(abs(kinetic), abs(power))


@pytest.mark.parametrize("kind", [*FORCE_TYPES, *WITH_STATES])
@pytest.mark.parametrize("seed", SEEDS)
def test_energy_changes_by_the_power_of_the_element(kind, seed):
    eq = equations_of(random_model(seed, forces=[kind]))
    rate, power, scale = balance(eq, random_state(eq, seed))
    assert rate == pytest.approx(power, abs=1e-11 * scale)
    assert set(eq.energies.powers) <= set(eq.model.forces)


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_balance_with_all_forces_and_motions(seed):
    eq = equations_of(random_model(seed, ALL_JOINTS, FORCE_TYPES, motions=3))
    rate, power, scale = balance(eq, random_state(eq, seed))
    assert rate == pytest.approx(power, abs=1e-11 * scale)
    assert {"drive0", "drive1", "drive2"} <= set(eq.energies.powers)
    assert abs(power) > 1e-3 * scale


def conservative(kind: str, model: Model):
    """The element of a random model without its dampers and signals."""
    (name,) = model.forces
    force = model.forces[name]
    gone = {"damping": 0.0, "rotational_damping": (0.0,) * 3, "damper": None, "force": 0.0, "torque": 0.0}
    if isinstance(force, Bushing):
        gone["damping"] = (0.0,) * 3
    update = {key: value for key, value in gone.items() if key in type(force).model_fields}
    return model.model_copy(update={"forces": {name: force.model_copy(update=update)}})


@pytest.mark.parametrize("kind", ["spring_damper", "rotational_spring_damper", "bushing", "joint_limit"])
@pytest.mark.parametrize("seed", SEEDS)
def test_conservative_forces_are_gradients_of_their_potential(kind, seed):
    loaded = conservative(kind, random_model(seed, joints=MOVING_JOINTS, forces=[kind]))
    with_force, without = equations_of(loaded), equations_of(loaded.model_copy(update={"forces": {}}))
    state = random_state(with_force, seed)
    (name,) = loaded.forces
    potential = SX(with_force.elements.actions[name].potential)
    rest = SX.zeros(with_force.nv)
    gradient = with_force.lookups.gradient(potential, with_force.q)
    gradient, needed = values(with_force, state, gradient, with_force.inverse_dynamics(rest))
    (free,) = values(without, state, without.inverse_dynamics(rest))
    assert needed - free == pytest.approx(gradient, abs=1e-11 * np.max(np.abs(needed)))
    assert np.max(np.abs(gradient)) > 0.05
    power = with_force.energies.powers.get(name)
    assert power is None or values(with_force, state, power)[0] == 0.0


def test_a_joint_limit_starts_smoothly_and_ends_linearly():
    """Zero inside; twice differentiable; past the ramp the stiffness is the full one."""
    limit = JointLimit(joint="hinge", upper=0.2, stiffness=50.0, damping=3.0, ramp=0.1)
    d, rate = SX.sym("d"), SX.sym("rate")
    push, spring, energy = limit._contact(d, rate)
    slope = ca.jacobian(spring, d)
    drag = ca.substitute(ca.jacobian(push, rate), rate, 1.0)
    f = ca.Function("f", [d], [spring, slope, 50.0 * ca.jacobian(energy, d), drag])
    for x in (-0.3, -1e-9, 0.0, 0.03, 0.0999, 0.1, 0.1001, 0.7):
        spring_force, stiffness, energy_d, damping = (float(y) for y in f(x))
        assert energy_d == pytest.approx(spring_force, abs=1e-14)
        assert damping / 3.0 == pytest.approx(stiffness / 50.0, abs=1e-12)
        assert (spring_force == 0.0) == (x <= 0)
        if x > 0.1:
            assert spring_force == pytest.approx(50.0 * (x - 0.05))
            assert damping == pytest.approx(3.0)
    second = ca.Function("g", [d], [ca.jacobian(slope, d)])
    for x in (0.0, 0.1):
        assert float(second(x - 1e-9)) == pytest.approx(float(second(x + 1e-9)), abs=1e-3)


def test_a_joint_limit_has_derivatives_everywhere_and_never_pulls():
    """Also outside, at rest and at the limit itself, where spring and damper vanish together."""
    limit = JointLimit(joint="hinge", upper=0.2, stiffness=50.0, damping=3.0, ramp=0.1)
    d, rate = SX.sym("d"), SX.sym("rate")
    push = limit._contact(d, rate)[0]
    both = ca.vertcat(d, rate)
    f = ca.Function("f", [d, rate], [push, ca.jacobian(push, both), ca.hessian(push, both)[0]])
    for x in (-0.3, -1e-300, 0.0, 1e-300, 1e-12, 0.02, 0.1, 0.3):
        for v in (-1e6, -3.0, -1e-12, 0.0, 1e-12, 2.0):
            force, slopes, curvatures = (np.array(y) for y in f(x, v))
            assert float(force.item()) >= 0.0
            assert np.all(np.isfinite(slopes))
            assert np.all(np.isfinite(curvatures))


def hinge_with(force, tables=None) -> Model:
    """A skew body on a skew hinge, with the hinge's frames as named frames on both sides."""
    base = random_model(11, joints=["revolute"])
    body, joint = base.bodies["b0"], base.joints["j0"]
    frames = {**body.frames, "pivot": joint.child_pose}
    ground = base.ground.model_copy(update={"frames": {**base.ground.frames, "pivot": joint.parent_pose}})
    hinge = Revolute(parent="ground.pivot", child="b0.pivot", axis=joint.axis)
    return Model(
        ground=ground,
        bodies={"b0": body.model_copy(update={"frames": frames})},
        joints={"j0": hinge},
        forces={"twist": force(hinge.axis)},
        tables=tables or {},
    )


@pytest.mark.parametrize("angle", [-2.9, -0.4, 1.3])
def test_a_torsion_spring_between_frames_equals_one_on_the_joint(angle):
    law = {"stiffness": 8.3, "damping": 0.7, "free_angle": 0.25, "torque": "0.3*angle - 0.2*rate + t"}
    x = np.linspace(-4, 4, 9)
    tables = {"curve": TableData(x=tuple(x), y=tuple(x**3), kind="cubic", extrapolation="linear")}
    law["spring"] = "curve"
    models = [
        hinge_with(lambda axis: RotationalSpringDamper(joint="j0", **law), tables),
        hinge_with(
            lambda axis: RotationalSpringDamper(parent="ground.pivot", child="b0.pivot", axis=axis, **law),
            tables,
        ),
    ]
    found = []
    for model in models:
        eq = equations_of(model)
        outputs = [value for _, value in eq.elements.actions["twist"].outputs.values()]
        state = (0.7, np.array([angle]), np.array([1.9]))
        found.append(np.ravel(values(eq, state, ca.vertcat(eq.a, eq.energies.potential, *outputs))[0]))
        rate, power, scale = balance(eq, state)
        assert rate == pytest.approx(power, abs=1e-11 * scale)
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_internal_forces_have_no_resultant():
    """The wrenches of an element between two bodies cancel: force and moment about any point."""
    for kind in ("spring_damper", "bushing", "torque"):
        eq = equations_of(random_model(4, forces=[kind]))
        (action,) = eq.elements.actions.values()
        total = sum((ca.vertcat(w.n + ca.cross(w.p, w.f), w.f) for w in action.wrenches), SX.zeros(6))
        first = action.wrenches[0]
        total, size = values(eq, random_state(eq, 4), total, ca.vertcat(first.n, first.f))
        assert np.max(np.abs(total)) < 1e-13 * max(np.max(np.abs(size)), 1)
        assert np.max(np.abs(size)) > 0.1


def test_a_spring_table_equals_the_linear_spring():
    frames = {"parent": "ground.tip", "child": "b0.hub", "free_length": 0.3}
    x = np.linspace(-2.0, 2.0, 5)
    tables = {
        "k": TableData(x=tuple(x), y=tuple(37.0 * x), extrapolation="linear"),
        "c": TableData(x=tuple(x), y=tuple(4.1 * x), extrapolation="linear"),
    }
    base = random_model(6, joints=["spherical"]).model_copy(update={"tables": tables})
    state, found = None, []
    for law in ({"stiffness": 37.0, "damping": 4.1}, {"spring": "k", "damper": "c"}):
        eq = equations_of(base.model_copy(update={"forces": {"s": SpringDamper(**frames, **law)}}))
        state = state or random_state(eq, 6, speed=4.0)
        found.append(values(eq, state, ca.vertcat(eq.a, eq.energies.potential, eq.energies.powers["s"]))[0])
    assert found[0] == pytest.approx(found[1], rel=1e-12)


@pytest.mark.parametrize("extrapolation", ["constant", "linear", "error"])
def test_a_spring_table_that_starts_beyond_zero_has_a_potential(extrapolation):
    """A stop that is tabulated from 0.1 m on: the energy is finite, and zero where the table begins."""
    table = TableData(x=(0.1, 0.2, 0.4), y=(0.0, 30.0, 200.0), extrapolation=extrapolation)
    model = Model(
        gravity=(0.0, 0.0, 0.0),
        bodies={"b": Body(mass=1.7)},
        joints={"slider": Prismatic(child="b", axis=(0.3, -0.5, 0.8))},
        forces={"s": SpringDamper(parent="ground", child="b", free_length=0.2, spring="stop")},
        tables={"stop": table},
    )
    eq = equations_of(model)
    for x in (0.01, 0.09, 0.11, 0.29):
        state = (0.0, np.array([0.3 + x]), np.array([1.3]))
        energy = 150 * x**2 if x < 0.1 else 1.5 + 30 * (x - 0.1) + 425 * (x - 0.1) ** 2
        if extrapolation == "linear":  # the first line goes on below the table, to the datum at zero
            energy -= 150 * 0.1**2
        assert values(eq, state, eq.energies.potential)[0].item() == pytest.approx(energy, rel=1e-9)
        rate, power, scale = balance(eq, state)
        assert rate == pytest.approx(power, abs=1e-11 * max(scale, 1))


def test_forces_may_depend_on_coordinates_and_sensors():
    """A controller written with sensors and coordinates of joints equals the one written with local names."""
    base = random_model(12, joints=["cylindrical", "revolute"])
    hinge = next(name for name, item in base.joints.items() if item.type == "revolute")
    post = next(name for name, item in base.joints.items() if item.type == "cylindrical")
    measured = {
        "tip": sensors.Position(frame="b1.tip"),
        "error": sensors.Expression(value=f"2*{hinge}.q - tip.z + {post}.q1*{post}.v0"),
    }
    by_sensor = Actuator(joint=hinge, force=f"-3*error - {hinge}.v")
    eq = equations_of(base.model_copy(update={"sensors": measured, "forces": {"f": by_sensor}}))
    state = random_state(eq, 12)
    q, v = (dict(zip(eq.motion.q_names, x, strict=True)) for x in state[1:])
    (height,) = values(eq, state, eq.motion.frame("b1.tip").p[2])
    error = 2 * q[hinge, 0] - height.item() + q[post, 1] * v[post, 0]
    (force,) = values(eq, state, eq.elements.actions["f"].outputs["force"][1])
    assert force.item() == pytest.approx(-3 * error - v[hinge, 0], rel=1e-13)
    rate, power, scale = balance(eq, state)
    assert rate == pytest.approx(power, abs=1e-11 * scale)
