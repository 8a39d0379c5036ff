"""Bodies in space with known motion: projectile, torque-free bodies, heavy top, screw."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipj

from mechanisms import floating_model
from sekant.analyses.simulation.simulate import simulate
from sekant.engine import compile
from sekant.model.body import Body
from sekant.model.forces import PointForce, Torque
from sekant.model.joints import Free, Screw, Spherical
from sekant.model.model import Model
from sekant.model.placement import Orientation, Placement

TIGHT = {"rtol": 1e-12, "atol": 1e-13}
SKEW = Orientation(quaternion=(0.5, -0.5, 0.1, 0.7))


def rotations(e: np.ndarray) -> np.ndarray:
    """(n, 3, 3) of unit quaternions (n, 4)."""
    w, u = e[:, 0], e[:, 1:]
    K = np.zeros((len(e), 3, 3))
    K[:, 0, 1], K[:, 0, 2], K[:, 1, 2] = -u[:, 2], u[:, 1], -u[:, 0]
    K -= K.swapaxes(1, 2)
    return np.eye(3) + 2 * w[:, None, None] * K + 2 * K @ K


def test_a_projectile():
    """The center of mass flies a parabola while the body spins about it."""
    c, v0, w, g = np.array([0.2, -0.3, 0.1]), np.array([3.0, 1.0, 7.0]), np.array([0.5, 2.0, -1.0]), 9.81
    free = Free(child="stone", position=(1.0, 2.0, 3.0), velocity=tuple(v0), angular_velocity=tuple(w))
    stone = Body(mass=1.3, com=tuple(c), inertia=(0.3, 0.7, 0.9, 0.05, -0.04, 0.02))
    result = simulate(Model(bodies={"stone": stone}, joints={"flight": free}), until=1.5, **TIGHT)
    R = rotations(result["stone.orientation"])
    t = result.time[:, None]
    com = result["stone.position"] + R @ c
    start = np.array([1.0, 2.0, 3.0]) + c
    expected = start + (v0 + np.cross(w, c)) * t + 0.5 * np.array([0, 0, -g]) * t**2
    assert com == pytest.approx(expected, abs=1e-10)
    assert np.max(np.abs(result["energy.balance"])) < 1e-10


def test_a_torque_free_body_follows_jacobis_solution():
    """Landau and Lifshitz, Mechanics, section 37, for M^2 > 2 E I2 and w2(0) = 0; the frame sits off center."""
    I = np.array([0.3, 0.7, 0.9])
    w0 = np.array([0.9, 0.0, 2.1])
    free = Free(child="top", angular_velocity=tuple(w0), velocity=(0.3, -0.2, 0.1), orientation=SKEW)
    body = Body(mass=1.7, com=(0.2, -0.3, 0.1), inertia=tuple(I))
    model = Model(gravity=(0, 0, 0), bodies={"top": body}, joints={"flight": free})
    result = simulate(model, until=20.0, **TIGHT)
    E2, L2 = np.sum(I * w0**2), np.sum((I * w0) ** 2)
    assert E2 * I[1] < L2
    m = (I[1] - I[0]) * (E2 * I[2] - L2) / ((I[2] - I[1]) * (L2 - E2 * I[0]))
    sn, cn, dn, _ = ellipj(result.time * np.sqrt((I[2] - I[1]) * (L2 - E2 * I[0]) / np.prod(I)), m)
    expected = np.stack(
        [
            np.sqrt((E2 * I[2] - L2) / (I[0] * (I[2] - I[0]))) * cn,
            np.sqrt((E2 * I[2] - L2) / (I[1] * (I[2] - I[1]))) * sn,
            np.sqrt((L2 - E2 * I[0]) / (I[2] * (I[2] - I[0]))) * dn,
        ],
        axis=1,
    )
    w = result["flight.v"][:, :3]
    assert w == pytest.approx(expected, abs=1e-9)
    L = np.einsum("nij,nj->ni", rotations(result["top.orientation"]), w * I)
    assert pytest.approx(np.broadcast_to(L[0], L.shape), abs=1e-10) == L
    assert np.linalg.norm(result["flight.q"][:, 3:], axis=1) == pytest.approx(np.ones(len(L)), abs=1e-14)
    assert np.max(np.abs(result["energy.balance"])) < 1e-10


def test_an_axisymmetric_body_precesses_about_its_angular_momentum():
    """The figure axis turns about L with |L| / I1; in the body, w turns with (I3 - I1) w3 / I1."""
    I1, I3, w0 = 0.4, 0.7, np.array([0.8, 0.0, 2.2])
    free = Free(child="disc", angular_velocity=tuple(w0))
    model = Model(
        gravity=(0, 0, 0),
        bodies={"disc": Body(mass=1.1, inertia=(I1, I1, I3))},
        joints={"flight": free},
    )
    result = simulate(model, until=5.0, **TIGHT)
    t, w = result.time, result["flight.v"][:, :3]
    rate = (I3 - I1) / I1 * w0[2]
    assert w[:, 0] == pytest.approx(w0[0] * np.cos(rate * t), abs=1e-10)
    assert w[:, 1] == pytest.approx(w0[0] * np.sin(rate * t), abs=1e-10)
    L = np.array([I1, I1, I3]) * w0
    along = L / np.linalg.norm(L)
    axis = rotations(result["disc.orientation"])[:, :, 2]
    across = axis[0] - (axis[0] @ along) * along
    third = np.cross(along, across)
    turn = np.linalg.norm(L) / I1 * t[:, None]
    expected = (axis[0] @ along) * along + np.cos(turn) * across + np.sin(turn) * third
    assert axis == pytest.approx(expected, abs=1e-10)


def test_a_heavy_top_in_steady_precession():
    """I1 W^2 cos a - I3 w3 W + m g l = 0, moments about the point it stands on."""
    m, g, l, I1, I3, tilt, W = 1.4, 9.81, 0.3, 0.09, 0.06, 0.6, 1.9
    at_tip = I1 + m * l**2
    w3 = (m * g * l + at_tip * W**2 * np.cos(tilt)) / (I3 * W)
    ball = Spherical(
        child="top",
        orientation=Orientation(axis=(0, 1, 0), angle=tilt),
        angular_velocity=(-W * np.sin(tilt), 0.0, w3),
    )
    model = Model(
        bodies={
            "top": Body(
                mass=m, com=(0, 0, l), inertia=(I1, I1, I3), frames={"c": Placement(position=(0, 0, l))}
            )
        },
        joints={"ball": ball},
    )
    result = simulate(model, until=4.0, **TIGHT)
    t = result.time
    axis = rotations(result["top.orientation"])[:, :, 2]
    expected = np.stack(
        [np.sin(tilt) * np.cos(W * t), np.sin(tilt) * np.sin(W * t), 0 * t + np.cos(tilt)], axis=1
    )
    assert axis == pytest.approx(expected, abs=1e-9)
    pull = m * l * np.sin(tilt) * W**2  # the tip carries the weight and holds the center on its circle
    force = np.stack([-pull * np.cos(W * t), -pull * np.sin(W * t), 0 * t + m * g], axis=1)
    assert result["ball.reaction"][:, :3] == pytest.approx(force, abs=1e-7)
    assert np.max(np.abs(result["ball.reaction"][:, 3:])) < 1e-9


@pytest.mark.parametrize("pitch", [1.0, 0.3, -0.45])
def test_a_screw(pitch):
    """m s'' + I (2 pi / pitch)^2 s'' = F + 2 pi M / pitch along the axis; HALL table 3.4 has pitch 1 m, m = I = 1."""
    for m, I, F, M in ((1.0, 1.0, 1.0, 1.0), (1.7, 0.3, -2.3, 0.9)):
        axis = np.array([2.0, -1.0, 2.0]) / 3
        model = Model(
            gravity=(0, 0, 0),
            bodies={"nut": Body(mass=m, inertia=(I, I, I))},
            joints={"screw": Screw(child="nut", axis=tuple(axis), pitch=pitch, q0=0.4)},
            forces={
                "push": PointForce(frame="nut", force=tuple(F * axis)),
                "turn": Torque(frame="nut", torque=tuple(M * axis)),
            },
        )
        system = compile(model, engine="casadi")
        sdd = (F + 2 * np.pi * M / pitch) / (m + 4 * np.pi**2 * I / pitch**2)
        angular = system.forward_dynamics([0.4], [1.1])
        assert angular * pitch / (2 * np.pi) == pytest.approx([sdd], rel=1e-13)
        if pitch == m == 1.0:
            assert sdd == pytest.approx((1 + 2 * np.pi) / (1 + 4 * np.pi**2))


def test_momentum_and_energy_of_a_floating_tree_over_time():
    """A spacecraft with arms on every kind of joint tumbles; 5 s at tight tolerances."""
    kinds = ["revolute", "spherical", "universal", "screw", "planar"]
    model = floating_model(12, kinds)
    rng = np.random.default_rng(12)
    system = compile(model)
    start = system.initial_state()
    start.v[:] = rng.uniform(-0.8, 0.8, system.nv)
    result = simulate(system, until=5.0, initial=start, output_step=0.05, **TIGHT)
    assert result.ok
    linear, angular = np.zeros((len(result), 3)), np.zeros((len(result), 3))
    for name, item in model.bodies.items():
        R = rotations(result[f"{name}.orientation"])
        arm = R @ np.array(item.com)
        w = result[f"{name}.angular_velocity"]
        com, velocity = result[f"{name}.position"] + arm, result[f"{name}.velocity"] + np.cross(w, arm)
        xx, yy, zz, xy, xz, yz = item.inertia
        J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.swapaxes(1, 2)
        linear += item.mass * velocity
        angular += item.mass * np.cross(com, velocity) + np.einsum("nij,nj->ni", J, w)
    for momentum in (linear, angular):
        assert momentum == pytest.approx(np.broadcast_to(momentum[0], momentum.shape), abs=2e-9)
    assert np.max(np.abs(result["energy.balance"])) < 1e-9
    assert result["energy.kinetic"][0] > 0.5
