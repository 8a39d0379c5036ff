"""Motion, forces and energies of mechanisms in natural coordinates against closed solutions and other routes."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant.model.constraints import Rolling
from sekant.model.joints import Free
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table

TIGHT = {"rtol": 1e-12, "atol": 1e-12, "method": "taylor"}


def slider_crank(**B):
    m = sk.natural.Mechanism(dim=2, gravity=(0, -9.81))
    O, A = m.ground("O", (0, 0)), m.point("A", (0.28, 0.28))
    B = m.point("B", (1.24, 0), free="x", velocity=(-4, 0), **B)
    m.rod(O, A, mass=1, length=0.4)
    m.rod(A, B, mass=1, length=1)
    return m


def test_rough_start_is_assembled_and_stated_velocities_stay():
    state = sk.assemble(slider_crank().compile())
    A, B, v = state.q[:2], state.q[2], state.v
    assert np.hypot(*A) == pytest.approx(0.4, abs=1e-13)
    assert np.hypot(A[0] - B, A[1]) == pytest.approx(1.0, abs=1e-13)
    assert v[2] == pytest.approx(-4.0, abs=1e-12)
    assert abs(A @ v[:2]) < 1e-12
    held = sk.assemble(slider_crank(weight=1e6).compile())
    assert abs(held.q[2] - 1.24) < 1e-8 < abs(B - 1.24)


def test_rod_equals_the_pendulum_in_its_angle():
    m = sk.natural.Mechanism(dim=2)
    m.rod(m.ground("O", (0, 0)), m.point("A", (0.6, -0.8)), mass=1.3)
    swing = sk.simulate(m, until=4.0, **TIGHT)
    angle, rate = ca.SX.sym("angle"), ca.SX.sym("rate")
    L = 1.3 / 6 * rate**2 + 1.3 * 9.81 / 2 * ca.cos(angle)
    bare = sk.simulate(sk.natural.lagrange(angle, rate, L, q0=[np.arctan2(0.6, 0.8)]), until=4.0, **TIGHT)
    assert np.allclose(swing["A.x"], np.sin(bare["angle"]), atol=1e-10)
    assert np.abs(swing["energy.balance"]).max() < 1e-11
    # force in the hinge from Newton's law of the rod's center
    theta, w = bare["angle"], bare["rate"]
    alpha = -1.5 * 9.81 * np.sin(theta)
    a_x = 0.5 * (alpha * np.cos(theta) - w**2 * np.sin(theta))
    a_y = 0.5 * (alpha * np.sin(theta) + w**2 * np.cos(theta))
    expected = np.column_stack([1.3 * a_x, 1.3 * (a_y + 9.81)])
    assert np.allclose(swing["O.reaction"], expected, atol=1e-8)
    assert np.allclose(swing["OA.force_at.O"], expected, atol=1e-8)
    assert np.allclose(swing["OA.force_at.A"], 0, atol=1e-8)


def test_forces_at_shared_points_balance():
    result = sk.simulate(slider_crank(), until=0.5, **TIGHT)
    assert np.allclose(result["OA.force_at.A"], -result["AB.force_at.A"], atol=1e-9)
    assert np.allclose(result["AB.force_at.B"][:, 1], result["B.reaction.y"], atol=1e-9)
    total = result["O.reaction"] + np.column_stack([0 * result.time, result["B.reaction.y"]])
    middles = result["A.acceleration"] + result["B.acceleration"] / 2
    assert np.allclose(total - [0, 2 * 9.81], middles, atol=1e-8)


def test_body_in_space_equals_a_free_joint():
    """An unsymmetric body thrown and spun, against the joint formulation with quaternions."""
    w, v0 = np.array([0.7, 3.0, -0.4]), np.array([0.3, 0.2, 2.0])
    m = sk.natural.Mechanism(dim=3)
    O = m.point("O", (0.1, 0.2, 0.3), velocity=tuple(v0))
    x = m.vector("x", (1, 0, 0), rate=tuple(np.cross(w, [1, 0, 0])))
    y = m.vector("y", (0, 1, 0), rate=tuple(np.cross(w, [0, 1, 0])))
    com, inertia = (0.1, -0.05, 0.2), (0.3, 0.7, 0.9)
    body = m.body("b", [O, x, y], mass=1.6, com=com, inertia=inertia)
    body.point("tip", (0.5, 0.2, -0.3))
    mine = sk.simulate(m, until=1.0, **TIGHT)
    model = sk.Model(
        bodies={"b": sk.Body(mass=1.6, com=com, inertia=(*inertia, 0.0, 0.0, 0.0))},
        joints={
            "free": Free(child="b", position=(0.1, 0.2, 0.3), velocity=tuple(v0), angular_velocity=tuple(w))
        },
    )
    theirs = sk.simulate(model, until=1.0, rtol=1e-12, atol=1e-12)
    assert np.allclose(mine["O.position"], theirs["b.position"], atol=1e-9)
    assert np.allclose(mine["b.angular_velocity"], theirs["b.angular_velocity"], atol=1e-9)


def test_motor_torque_is_that_of_inverse_dynamics():
    m = sk.natural.Mechanism(dim=2)
    O, A = m.ground("O", (0, 0)), m.point("A", (0.8, 0))
    arm = m.body("arm", [O, A], mass=1.4, com=(0.3, 0), inertia=0.21)
    angle = 0.6 * ca.sin(2.1 * m.t) ** 2
    m.motor("motor", arm, angle)
    result = sk.simulate(m, until=2.0, **TIGHT)
    t = result.time
    alpha, dd = 0.6 * np.sin(2.1 * t) ** 2, 0.6 * 2 * 2.1**2 * np.cos(4.2 * t)
    torque = (0.21 + 1.4 * 0.09) * dd + 1.4 * 9.81 * 0.3 * np.cos(alpha)
    assert np.allclose(result["arm.angle"], alpha, atol=1e-11)
    assert np.allclose(result["motor.force"], torque, atol=1e-9)
    assert np.abs(result["energy.balance"]).max() < 1e-9


def test_prescribed_point_needs_force_and_supplies_work():
    """A pendulum whose support is shaken; its horizontal support force from momentum."""
    m = sk.natural.Mechanism(dim=2)
    S, A = m.point("S", (0, 0), free="x"), m.point("A", (0.3, -0.9))
    m.rod(S, A, mass=0.7)
    m.prescribe(S, x=0.1 * ca.sin(5 * m.t))
    result = sk.simulate(m, until=2.0, **TIGHT)
    assert np.abs(result["energy.balance"]).max() < 1e-9
    assert np.ptp(result["S.work"]) > 0.01
    assert np.allclose(result["S.x"], 0.1 * np.sin(5 * result.time), atol=1e-14)
    middle = (result["S.acceleration"] + result["A.acceleration"]) / 2
    expected = 0.7 * (middle + np.array([0, 9.81]))
    assert np.allclose(result["S.reaction"], expected, atol=1e-9)


def test_tracked_angle_counts_turns_and_carries_springs():
    m = sk.natural.Mechanism(dim=2, gravity=(0, 0))
    O, A = m.ground("O", (0, 0)), m.point("A", (0.5, 0), velocity=(0, 6.0))
    wheel = m.body("wheel", [O, A], inertia=0.4)
    angle = m.angle("turns", wheel)
    m.angular_spring(angle, 2.5)
    result = sk.simulate(m, until=5.0, **TIGHT)
    w = np.sqrt(2.5 / 0.4)
    assert np.abs(result["turns"]).max() > np.pi
    assert np.allclose(result["turns"], 12 / w * np.sin(w * result.time), atol=1e-9)
    assert np.abs(result["energy.balance"]).max() < 1e-10


def test_forces_of_time_place_and_velocity_balance():
    m = sk.natural.Mechanism(dim=2)
    O, A = m.ground("O", (0, 0)), m.point("A", (0.7, 0.4))
    B = m.point("B", (1.3, 0.1), velocity=(0.4, 1.0))
    upper = m.body("upper", [O, A], mass=1.2, com=(0.3, 0.02), inertia=0.05)
    lower = m.body("lower", [A, B], mass=0.6, com=(0.2, 0.0), inertia=0.02)
    m.force(B, (1.5 * ca.sin(3 * m.t) - 0.2 * B.velocity[0], 0.4 * A.x), name="push")
    m.torque(upper, 0.3 * m.t, against=lower, name="twist")
    m.damper(B, O, 0.4, name="damper")
    m.angular_damper(upper, 0.05, lower, name="hinge")
    m.spring(B, m.ground("S", (0.5, 2.0)), 8.0, length=1.1, name="spring")
    table = Table.cubic(np.linspace(-3, 3, 25), np.sin(np.linspace(-3, 3, 25)))
    m.potential("field", m.table(table, A.y) * 0.7)
    result = sk.simulate(m, until=2.0, **TIGHT)
    assert result.ok
    assert np.abs(result["energy.balance"]).max() < 1e-8
    for name in ("push", "twist", "damper", "hinge"):
        assert np.ptp(result[f"{name}.work"]) > 1e-3
    assert np.all(np.diff(result["damper.work"]) <= 1e-12)


def test_parameters_of_a_run():
    m = sk.natural.Mechanism(dim=2, gravity=(0, 0))
    k = m.parameter("k", 3.0)
    A = m.point("A", (1.2, 0), free="x")
    m.mass(A, 0.75)
    m.spring(m.ground("O", (0, 0)), A, k, length=1.0)
    system = m.compile()
    for value in (3.0, 12.0):
        result = sk.simulate(system, until=1.0, parameters={"k": value}, **TIGHT)
        assert np.allclose(result["A.x"], 1 + 0.2 * np.cos(np.sqrt(value / 0.75) * result.time), atol=1e-10)


def test_one_sided_spring_switches_and_keeps_energy():
    """A ball on a floor that only pushes: the series are restarted where contact begins and ends."""
    m = sk.natural.Mechanism(dim=2)
    A = m.point("A", (0, 0.5), velocity=(0.4, 0))
    m.mass(A, 0.3)
    depth = ca.fmax(0, -A.y)
    m.force(A, (0, 900 * depth), name="floor")
    m.output("push", 900 * depth, "N")
    result = sk.simulate(m, until=2.0, **TIGHT)
    y, v = result["A.y"], result["A.velocity"][:, 1]
    energy = 0.15 * v**2 + 0.3 * 9.81 * y + 450 * np.minimum(y, 0) ** 2
    assert result.stats["restarts"] >= 4
    assert np.ptp(energy) < 1e-9
    assert result["push"].max() > 30


def test_forces_on_bodies_and_derivatives_of_outputs():
    """All forces on a body and its weight accelerate its center; output derivatives against those of points."""
    m = sk.natural.Mechanism(dim=2)
    O, A = m.ground("O", (0, 0)), m.point("A", (0.6, -0.3))
    B = m.point("B", (1.0, 0.1), velocity=(0.3, 0.9))
    m.body("upper", [O, A], mass=1.2, com=(0.3, 0.05), inertia=0.07)
    lower = m.body("lower", [A, B], mass=0.8, com=(0.2, -0.04), inertia=0.03)
    C = lower.point("C", (0.2, -0.04))
    m.output("square", C.dot(C), "m^2", derivatives=2)
    result = sk.simulate(m, until=1.0, **TIGHT)
    total = result["lower.force_at.A"] + result["lower.force_at.B"] + 0.8 * np.array([0, -9.81])
    assert np.allclose(total, 0.8 * result["C.acceleration"], atol=1e-9)
    assert np.allclose(result["lower.force_at.B"], 0, atol=1e-9)
    assert np.allclose(result["lower.force_at.A"], -result["upper.force_at.A"], atol=1e-9)
    p, v, a = (result[f"C.{kind}"] for kind in ("position", "velocity", "acceleration"))
    assert np.allclose(result["square.rate"], 2 * np.sum(p * v, axis=1), atol=1e-10)
    assert np.allclose(result["square.rate2"], 2 * np.sum(v * v + p * a, axis=1), atol=1e-9)


# -- non-holonomic ----------------------------------------------------------------------------------------


def test_knife_edge_on_a_slope():
    """Cycloid: the blade turns uniformly and slides along itself, x = g/(2 w^2) sin^2(w t)."""
    m = sk.natural.Mechanism(dim=2, gravity=(2.0, 0))
    w = 0.7
    C = m.point("C", (0, 0), velocity=(0, 0))
    blade = m.vector("blade", (1, 0), rate=(0, w))
    body = m.body("sled", [C, blade], mass=1.3, inertia=0.4)
    m.no_slip(C, body.vector("across", (0, 1)), "edge")
    result = sk.simulate(m, until=5.0, **TIGHT)
    t = result.time
    assert np.allclose(result["C.x"], 1 / w**2 * np.sin(w * t) ** 2, atol=1e-10)
    assert np.allclose(result["C.y"], 1 / w**2 * (w * t - 0.5 * np.sin(2 * w * t)), atol=1e-10)


def test_disc_rolls_down_a_slope_in_the_plane():
    m = sk.natural.Mechanism(dim=2, gravity=(1.7, -9.0))
    C = m.point("C", (0, 0.3))
    body = m.body("disc", [C, m.vector("spoke", (1, 0))], mass=2.1, inertia=0.08)
    m.rolling(body, C, 0.3, name="contact")
    result = sk.simulate(m, until=2.0, **TIGHT)
    a = 1.7 / (1 + 0.08 / (2.1 * 0.09))
    assert np.allclose(result["C.x"], a * result.time**2 / 2, atol=1e-10)
    assert np.allclose(result["disc.angular_velocity"], -a * result.time / 0.3, atol=1e-10)
    assert np.allclose(result["contact.height.force"], 2.1 * 9.0, atol=1e-9)


def test_disc_rolls_in_space_as_in_the_joint_formulation():
    r, mass, inertia = 0.25, 1.4, (0.02, 0.037, 0.02)
    tilt, spin = 0.3, np.array([0.4, 9.0, 1.1])
    axle = np.array([0, np.cos(tilt), np.sin(tilt)])
    up = np.array([0, -np.sin(tilt), np.cos(tilt)])
    w = spin[0] * np.array([1.0, 0, 0]) + spin[1] * axle + spin[2] * up
    center = np.array([0, r * np.sin(tilt), r * np.cos(tilt)])
    v = np.cross(w, r * up)
    m = sk.natural.Mechanism(dim=3)
    C = m.point("C", tuple(center), velocity=tuple(v))
    x = m.vector("x", (1, 0, 0), rate=tuple(np.cross(w, [1, 0, 0])))
    y = m.vector("y", tuple(axle), rate=tuple(np.cross(w, axle)))
    body = m.body("disc", [C, x, y], mass=mass, inertia=inertia)
    m.rolling(body, C, r, axis=y, name="contact")
    mine = sk.simulate(m, until=1.0, **TIGHT)
    model = sk.Model(
        bodies={"disc": sk.Body(mass=mass, inertia=(*inertia, 0.0, 0.0, 0.0))},
        joints={
            "free": Free(
                child="disc",
                position=tuple(center),
                orientation={"xyz": [tilt, 0, 0]},
                velocity=tuple(v),
                angular_velocity=tuple(spin),
            )
        },
        constraints={"roll": Rolling(frame="disc", radius=r)},
    )
    theirs = sk.simulate(model, until=1.0, **TIGHT)
    assert mine.ok
    assert theirs.ok
    assert np.abs(mine["energy.balance"]).max() < 1e-9
    assert np.ptp(mine["C.position"], axis=0).min() > 0.01
    assert np.allclose(mine["C.position"], theirs["disc.position"], atol=1e-8)


# -- bare Lagrangians -------------------------------------------------------------------------------------


def test_lagrangian_with_everything():
    """Bead on a turning parabola with friction: constraint, explicit time, dissipation, force, extra quantity."""
    q, v, t = ca.SX.sym("q", 3), ca.SX.sym("v", 3), ca.SX.sym("t")
    s = ca.SX.sym("path")
    L = 0.4 * ca.sumsqr(v) - 0.8 * 9.81 * q[2] - 0.3 * q[0] * ca.sin(2 * t)
    constraints = {"bowl": q[2] - q[0] ** 2 - 0.5 * q[1] ** 2}
    system = sk.natural.lagrange(
        q,
        v,
        L,
        constraints,
        rayleigh={"air": 0.1 * ca.sumsqr(v)},
        forces={"wind": ca.vertcat(0.2 * v[1], -0.2 * v[0], 0) + ca.vertcat(0, 0.1, 0)},
        extra=[(s, ca.dot(q, v) * 2, 0.25)],
        q0=[0.5, 0.2, 0.3],
        v0=[0.1, 1.0, 0.0],
        t=t,
    )
    result = sk.simulate(system, until=2.0, **TIGHT)
    assert result.ok
    assert np.abs(result["energy.balance"]).max() < 1e-9
    x = np.column_stack([result[f"q_{i}"] for i in range(3)])
    square = np.sum(x**2, axis=1)
    assert np.allclose(result["path"] - square, 0.25 - square[0], atol=1e-10)
    assert np.abs(result["constraints.position"]).max() < 1e-12


def test_lagrangian_with_a_table():
    """A spring given by points of its potential; the hash of the system tells one table from another."""
    x = np.linspace(-2, 2, 41)
    hashes, ends = [], []
    for k in (3.0, 5.0):
        q, v, lookups = ca.SX.sym("q"), ca.SX.sym("v"), Lookups()
        V = lookups(Table.cubic(x, k * x**2 / 2, name="spring"), q)
        system = sk.natural.lagrange(q, v, 0.75 * v**2 / 2 - V, q0=[0.9], lookups=lookups)
        result = sk.simulate(system, until=1.0, rtol=1e-10, atol=1e-10)
        hashes.append(system.model_hash)
        ends.append(result["q"][-1] - 0.9 * np.cos(np.sqrt(k / 0.75)))
    assert np.abs(ends).max() < 1e-8
    assert hashes[0] != hashes[1]


def test_table_of_freedom_and_structure():
    m = slider_crank()
    table = m.freedom()
    assert [(row.part, row.bring_in, row.equations) for row in table.rows] == [
        ("OA", ("A.x", "A.y"), 1),
        ("AB", ("B.x",), 1),
    ]
    assert (table.coordinates, table.equations, table.freedom) == (3, 2, 1)
    assert "|A - O|^2 = 0.4^2" in str(table)
    assert "2 - 1 = 1" in table.markdown()
    structure = sk.analyses.structural_analysis(m.compile())
    assert structure.index == 3
    assert structure.degrees_of_freedom == 1
    position, velocity = structure.free_initial_values
    assert position in ("A.x", "A.y", "B.x")
    assert velocity == "B.vx"  # the one that the mechanism states
    assert f"chosen freely: {position}, B.vx" in str(structure)


def test_engines_agree():
    ends = []
    for engine in ("llvm", "casadi"):
        system = slider_crank().compile(engine=engine)
        q, v = np.array([0.24, 0.32, 1.18742]), np.array([-3.2, 2.4, -4.0])
        ends.append(system.forward_dynamics(q, v))
    assert np.allclose(*ends, rtol=1e-12)
