"""What is reported is consistent: velocities are rates of positions, accelerations rates of velocities."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from mechanisms import (
    ALL_JOINTS,
    FORCE_TYPES,
    equations_of,
    random_model,
    random_state,
    time_derivative,
    values,
)
from sekant.formulations.outputs import model_outputs as outputs
from sekant.geometry.spatial import SX
from sekant.model.sensors import SENSORS

BETWEEN = {"frame": "b3.tip", "relative_to": "b5.hub"}


@pytest.fixture(scope="module")
def loaded():
    """Equations, state and outputs by name of a model with everything in it."""
    model = random_model(9, ALL_JOINTS, FORCE_TYPES, motions=2)
    sensors = {
        "place": SENSORS["position"](**BETWEEN),
        "speed": SENSORS["velocity"](**BETWEEN),
        "spin": SENSORS["angular_velocity"](**BETWEEN),
        "angles": SENSORS["angles"](**BETWEEN),
        "gap": SENSORS["distance"](parent="b5.hub", child="b3.tip"),
        "mix": SENSORS["expression"](value="gap^2 + sin(t)*place.y", unit="m^2"),
    }
    assert {sensor.type for sensor in sensors.values()} == set(SENSORS)
    eq = equations_of(model.model_copy(update={"sensors": sensors}))
    work = SX.sym("w", len(eq.energies.powers))
    return eq, random_state(eq, 9), {output.name: output for output in outputs(eq, work)}


def rate_and(loaded, position: str, velocity: str):
    eq, state, found = loaded
    expressions = time_derivative(eq, found[position].expression), found[velocity].expression
    return values(eq, state, *expressions)


def test_names_are_unique_and_complete(loaded):
    eq, _, found = loaded
    model = eq.model
    for body in model.bodies:
        parts = ("position", "orientation", "velocity", "angular_velocity", "acceleration")
        assert {f"{body}.{part}" for part in parts} <= set(found)
    for name, joint in model.joints.items():
        assert {f"{name}.reaction", f"{name}.reaction_local"} <= set(found)
        assert (joint.nv > 0) == (f"{name}.q" in found)
    for name in model.sensors:
        assert name in found
    for name in model.motions:
        assert {f"{name}.force", f"{name}.power", f"{name}.work"} <= set(found)
    assert {"energy", "energy.kinetic", "energy.potential", "energy.work", "energy.balance"} <= set(found)


def test_shapes_and_units_fit(loaded):
    eq, _, found = loaded
    for output in found.values():
        width = output.expression.numel()
        assert len(output.components) == (width if width > 1 else 0), output.name
        if isinstance(output.unit, tuple):
            assert len(output.unit) == width
        assert output.description
    assert found["j0.q"].expression.numel() == eq.model.joints["j0"].nq


def test_velocities_and_accelerations_of_bodies_are_rates(loaded):
    for body in loaded[0].model.bodies:
        for position, velocity in (
            ("position", "velocity"),
            ("velocity", "acceleration"),
            ("angular_velocity", "angular_acceleration"),
        ):
            rate, given = rate_and(loaded, f"{body}.{position}", f"{body}.{velocity}")
            assert given == pytest.approx(rate, rel=1e-10, abs=1e-10 * np.max(np.abs(rate)))


def test_angular_velocities_turn_the_orientations(loaded):
    """e' = (0, w_W) e / 2 in quaternion multiplication."""
    eq, state, found = loaded
    for body in eq.model.bodies:
        rate, w = rate_and(loaded, f"{body}.orientation", f"{body}.angular_velocity")
        (e,) = values(eq, state, found[f"{body}.orientation"].expression)
        e, w = e.ravel(), w.ravel()
        assert np.linalg.norm(e) == pytest.approx(1.0, abs=1e-12)
        expected = 0.5 * np.array([-w @ e[1:], *(e[0] * w + np.cross(w, e[1:]))])
        assert rate.ravel() == pytest.approx(expected, abs=1e-11)


def test_joint_velocities_and_accelerations_are_rates(loaded):
    for name, joint in loaded[0].model.joints.items():
        if joint.nv:
            rate, given = rate_and(loaded, f"{name}.v", f"{name}.a")
            assert given == pytest.approx(rate, rel=1e-10, abs=1e-12)
        if joint.nv and joint.unit_quaternion is None:
            rate, given = rate_and(loaded, f"{name}.q", f"{name}.v")
            assert given == pytest.approx(rate, rel=1e-12)


def test_sensors_between_moving_frames(loaded):
    eq, state, found = loaded
    rate, given = rate_and(loaded, "place", "speed")
    assert given == pytest.approx(rate, rel=1e-11)
    rate, _ = rate_and(loaded, "gap", "gap")
    place, speed, gap, mix = values(
        eq, state, *[found[n].expression for n in ("place", "speed", "gap", "mix")]
    )
    assert gap.item() == pytest.approx(np.linalg.norm(place), rel=1e-14)
    assert rate.item() == pytest.approx(place.ravel() @ speed.ravel() / gap.item(), rel=1e-10)
    assert mix.item() == pytest.approx(gap.item() ** 2 + np.sin(state[0]) * place[1].item(), rel=1e-13)


def test_yaw_pitch_and_roll_turn_with_the_angular_velocity(loaded):
    """In the frame looked from, w = z yaw' + y(yaw) pitch' + x(yaw, pitch) roll'."""
    eq, state, found = loaded
    rate, w = rate_and(loaded, "angles", "spin")
    yaw, pitch, _ = values(eq, state, found["angles"].expression)[0].ravel()
    cy, sy, cp, sp = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch)
    columns = np.array([[0, 0, 1], [-sy, cy, 0], [cy * cp, sy * cp, -sp]]).T
    assert columns @ rate.ravel() == pytest.approx(w.ravel(), rel=1e-10)


def test_reactions_are_the_same_wrench_in_both_frames(loaded):
    eq, state, found = loaded
    for i, link in enumerate(eq.motion.links):
        R = eq.motion.X_WM[i].R
        both = ca.diagcat(R, R) @ found[f"{link.joint_name}.reaction_local"].expression
        world, turned = values(eq, state, found[f"{link.joint_name}.reaction"].expression, both)
        assert world == pytest.approx(turned, rel=1e-12, abs=1e-9)


def test_every_output_has_a_finite_value(loaded):
    eq, state, found = loaded
    plain = [o for o in found.values() if not o.name.endswith((".work", "energy.balance"))]
    for output, value in zip(plain, values(eq, state, *[o.expression for o in plain]), strict=True):
        assert np.all(np.isfinite(value)), output.name
