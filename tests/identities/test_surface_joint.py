"""The surface joint against what it must equal: planar and universal joints, its constraints, both engines."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from paths import GRAVITY, OTHER, PLACE, SKEW, alone, outputs
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.body import Body
from sekant.model.joints import Free, Planar, Surface, Universal
from sekant.model.prescribed_motion import Motion
from sekant.model.quantities import Expression

STATES = [((0.4, -0.3), (0.0, 0.0)), ((-0.7, 0.6), (2.3, -1.1)), ((0.8, 0.9), (-1.9, 0.7))]
NAMES = ("body.position", "body.acceleration", "joint.reaction")


@cache
def wavy(extrapolation="error") -> PoseSurface:
    return PoseSurface.from_function(
        lambda a, b: (
            ca.vertcat(a + 0.2 * b**2, 1.4 * b - 0.3 * a, 0.5 * ca.sin(a) * ca.cos(b)),
            ca.vertcat(0.4 * a * b, 0.3 * a - 0.2 * b, 0.6 * b),
        ),
        ((-1.5, 1.5), (-1.2, 1.3)),
        orientation="euler:zyx",
        tolerance=1e-11,
        extrapolation=extrapolation,
    )


def on(surface: PoseSurface, **options) -> sk.Model:
    return alone(
        {"joint": Surface(child="body", surface=surface, parent_pose=PLACE, child_pose=OTHER, **options)}
    )


def compare(surface: sk.System, plain: sk.System, states=STATES) -> None:
    for q, v in states:
        assert surface.forward_dynamics(q, v) == pytest.approx(plain.forward_dynamics(q, v), rel=1e-7)
        for ours, theirs in zip(outputs(surface, q, v, *NAMES), outputs(plain, q, v, *NAMES), strict=True):
            assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-6)


def test_a_flat_surface_is_a_planar_joint_that_does_not_turn():
    flat = PoseSurface.from_function(lambda a, b: ca.vertcat(a, b, 0), ((-1, 1), (-1, 1)))
    joint = Planar(child="body", parent_pose=PLACE, child_pose=OTHER)
    plain = alone({"joint": joint}).model_copy(
        update={"motions": {"hold": Motion(joint="joint", coordinate=2, value=0.0)}}
    )
    compare(sk.compile(on(flat)), sk.compile(plain))


@pytest.mark.parametrize("orientation", ["euler:xy", "quaternion"])
def test_a_surface_of_rotations_is_a_universal_joint(orientation):
    """R_x(a) R_y(b) as angles and as a quaternion; positions stand still."""

    def pose(a, b):
        ca_, sa, cb, sb = ca.cos(a / 2), ca.sin(a / 2), ca.cos(b / 2), ca.sin(b / 2)
        turn = (
            ca.vertcat(a, b)
            if orientation == "euler:xy"
            else ca.vertcat(ca_ * cb, sa * cb, ca_ * sb, sa * sb)
        )
        return ca.vertcat(0 * a, 0, 0), turn

    turning = PoseSurface.from_function(pose, ((-1, 1), (-1, 1)), orientation=orientation, tolerance=1e-11)
    plain = alone({"joint": Universal(child="body", parent_pose=PLACE, child_pose=OTHER)})
    compare(sk.compile(on(turning)), sk.compile(plain))


def test_curvilinear_coordinates_do_not_matter():
    """The same surface over stretched and sheared coordinates; S^T F takes care of tangents of any length (3.109)."""
    straight, oblique = sk.compile(on(wavy())), sk.compile(
        on(
            PoseSurface.from_function(
                lambda c, d: wavy_formula(2.0 * c - 0.3 * d, 0.5 * d + 0.4 * c),
                ((-0.5, 0.5), (-1.0, 1.0)),
                orientation="euler:zyx",
                tolerance=1e-11,
            )
        )
    )  # fmt: skip
    A = np.array([[2.0, -0.3], [0.4, 0.5]])
    for (c, d), rates in [((0.2, -0.3), (0.7, 1.1)), ((-0.3, 0.5), (-0.4, 0.9))]:
        u, v = A @ [c, d], A @ np.array(rates)
        a = A @ oblique.forward_dynamics([c, d], rates)
        assert a == pytest.approx(straight.forward_dynamics(u, v), rel=1e-7)


def wavy_formula(a, b):
    return (
        ca.vertcat(a + 0.2 * b**2, 1.4 * b - 0.3 * a, 0.5 * ca.sin(a) * ca.cos(b)),
        ca.vertcat(0.4 * a * b, 0.3 * a - 0.2 * b, 0.6 * b),
    )


def test_reactions_do_no_work_on_either_coordinate():
    surface = wavy()
    system = sk.compile(on(surface))
    for q, v in STATES:
        (local,) = outputs(system, q, v, "joint.reaction_local")
        S = surface.twists(*q)
        power = S[:3].T @ local[3:] + S[3:].T @ local[:3]
        assert power == pytest.approx(np.zeros(2), abs=1e-9 * np.abs(local).max())


def test_as_constraints_it_gives_the_same_accelerations():
    """A free body, six equations, both coordinates as unknowns of their own."""
    surface = wavy()
    ode = sk.compile(on(surface))
    joint = Surface(child="body", surface=surface, parent_pose=PLACE, child_pose=OTHER, cut=True)
    dae = sk.compile(alone({"float": Free(child="body"), "joint": joint}))
    assert dae.nv == 8
    for q, v in STATES:
        p, (w, x, y, z), spin, speed = outputs(
            ode, q, v, "body.position", "body.orientation", "body.angular_velocity", "body.velocity"
        )
        R = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        state = [*p, w, x, y, z, *q], [*(R.T @ spin), *(R.T @ speed), *v]
        assert dae.forward_dynamics(*state)[-2:] == pytest.approx(ode.forward_dynamics(q, v), rel=1e-6)


def test_energy_is_kept_and_a_coordinate_can_be_driven():
    body = {"body": SKEW}
    joint = Surface(child="body", surface=wavy(), q0=(0.3, -0.2), v0=(0.4, 0.5), parent_pose=PLACE)
    free = sk.simulate(
        sk.Model(gravity=GRAVITY, bodies=body, joints={"joint": joint}), 0.4, rtol=1e-11, atol=1e-12
    )
    assert free.status == "finished"
    assert np.abs(free["energy.balance"]).max() < 1e-8
    steer = {"steer": Motion(joint="joint", coordinate=1, value=Expression("0.3*sin(4*t)"))}
    driven = sk.Model(gravity=GRAVITY, bodies=body, joints={"joint": joint}, motions=steer)
    result = sk.simulate(driven, 0.4, rtol=1e-11, atol=1e-12)
    assert result["joint.q"][:, 1] == pytest.approx(0.3 * np.sin(4 * result.time), abs=1e-12)
    assert np.abs(result["energy.balance"]).max() < 1e-8


def test_native_code_equals_the_interpreter():
    model = on(wavy())
    native, oracle = sk.compile(model), sk.compile(model, engine="casadi")
    rng = np.random.default_rng(8)
    for q in rng.uniform(-1.1, 1.1, (8, 2)):
        v = rng.uniform(-1, 1, 2)
        assert native.forward_dynamics(q, v) == pytest.approx(oracle.forward_dynamics(q, v), rel=1e-12)


def test_leaving_the_surface_names_the_coordinate():
    result = sk.simulate(on(wavy(), q0=(0.2, 0.9), v0=(0.0, 2.0)), 3.0)
    assert result.status == "out_of_range"
    for part in ("joint 'joint'", "leaves its surface [-1.2, 1.3]", "u2 = 1.3", "t = "):
        assert part in result.message


def test_a_particle_on_a_sphere_is_a_spherical_pendulum():
    """theta'' = phi'^2 sin cos - g/R sin, phi'' = -2 theta' phi' cot, theta from the downward vertical."""
    R, g = 1.7, 9.81
    ball = PoseSurface.from_function(
        lambda th, ph: R * ca.vertcat(ca.sin(th) * ca.cos(ph), ca.sin(th) * ca.sin(ph), -ca.cos(th)),
        ((0.2, 2.9), (-2.0, 2.0)),
        tolerance=1e-11,
    )
    model = sk.Model(bodies={"body": Body(mass=2.3)}, joints={"joint": Surface(child="body", surface=ball)})
    system = sk.compile(model)
    for (th, ph), (dth, dph) in [((0.7, 0.3), (0.9, -1.3)), ((2.1, -1.1), (-0.4, 2.2))]:
        expected = [dph**2 * np.sin(th) * np.cos(th) - g / R * np.sin(th), -2 * dth * dph / np.tan(th)]
        assert system.forward_dynamics([th, ph], [dth, dph]) == pytest.approx(expected, rel=1e-6)
