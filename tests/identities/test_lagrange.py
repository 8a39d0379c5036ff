"""A route that shares no code with the formulation: Lagrange's equations from the energies alone.

Poses are 4 x 4 matrices written here from the description of each joint (with Rodrigues' formula, not with
the frames turned along the axis), velocities their derivatives, energies sums over the bodies, and

    d/dt dT/dz' - dT/dz + dV/dz = Q,   Q = sum (dp/dz)^T f + (dphi/dz)^T n .

Joints with quaternions get a local chart z at the present orientation: R = R_0 R_x(z1) R_y(z2) R_z(z3), taken at
z = 0, where z' are the velocities and their rates follow from z'' by differentiating the body twist.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from mechanisms import JOINT_TYPES, body, equations_of, joint, random_model, random_state, values
from sekant.model.forces import JointFriction, PointForce, SpringDamper, Torque
from sekant.model.joints import JOINTS
from sekant.model.model import Model
from sekant.model.placement import Placement
from sekant.model.prescribed_motion import Motion

SX = ca.SX


def homogeneous(R, p) -> SX:
    return ca.vertcat(ca.horzcat(SX(R), SX(p)), SX(ca.DM([[0, 0, 0, 1]])))


def inverse(X: SX) -> SX:
    return homogeneous(X[:3, :3].T, -(X[:3, :3].T @ X[:3, 3]))


def about(axis, angle) -> SX:
    """Rodrigues: R = cos 1 + sin [n] + (1 - cos) n n^T."""
    n = np.asarray(axis, float) / np.linalg.norm(axis)
    K = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    return ca.cos(angle) * np.eye(3) + ca.sin(angle) * K + (1 - ca.cos(angle)) * np.outer(n, n)


def from_quaternion(e) -> np.ndarray:
    w, u = e[0], np.asarray(e[1:], float)
    K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return (w * w - u @ u) * np.eye(3) + 2 * np.outer(u, u) + 2 * w * K


def placed(place: Placement) -> SX:
    e = place.orientation.quaternion
    return homogeneous(np.eye(3) if e is None else from_quaternion(e), np.array(place.position))


def z_to(axis) -> np.ndarray:
    """The smallest rotation from z to the axis."""
    n = np.asarray(axis, float) / np.linalg.norm(axis)
    return np.array(ca.evalf(about(np.cross([0, 0, 1.0], n), np.arccos(n[2]))))


def unit(axis) -> np.ndarray:
    return np.asarray(axis, float) / np.linalg.norm(axis)


def chart(z) -> SX:
    return about((1, 0, 0), z[0]) @ about((0, 1, 0), z[1]) @ about((0, 0, 1), z[2])


def planar(item, z, q0):
    A = z_to(item.axis)
    return homogeneous(A @ about((0, 0, 1), z[2]) @ A.T, A @ ca.vertcat(z[0], z[1], 0))


MATRICES = {
    "fixed": lambda j, z, q0: homogeneous(np.eye(3), np.zeros(3)),
    "revolute": lambda j, z, q0: homogeneous(about(j.axis, z[0]), np.zeros(3)),
    "prismatic": lambda j, z, q0: homogeneous(np.eye(3), unit(j.axis) * z[0]),
    "screw": lambda j, z, q0: homogeneous(about(j.axis, z[0]), unit(j.axis) * (j.pitch * z[0] / (2 * np.pi))),
    "cylindrical": lambda j, z, q0: homogeneous(about(j.axis, z[0]), unit(j.axis) * z[1]),
    "universal": lambda j, z, q0: homogeneous(about((1, 0, 0), z[0]) @ about((0, 1, 0), z[1]), np.zeros(3)),
    "planar": planar,
    "spherical": lambda j, z, q0: homogeneous(from_quaternion(q0) @ chart(z), np.zeros(3)),
    "free": lambda j, z, q0: homogeneous(
        from_quaternion(q0[3:]) @ chart(z), q0[:3] + from_quaternion(q0[3:]) @ z[3:]
    ),
}
"""The child's motion in the parent before the placements, as a function of the chart's coordinates."""


class Lagrangian:
    """Accelerations of a model at one state, by Lagrange's equations."""

    def __init__(self, model: Model, order: list[str], state):
        self.model = model
        _, q, v = state
        n = v.size
        self.z, self.dz, self.ddz = (SX.sym(name, n) for name in ("z", "dz", "ddz"))
        self.now = [np.zeros(n), v]
        self.X = {"ground": ca.SX.eye(4)}
        self.twists: list[SX] = []
        at_q = at_v = 0
        pending = list(order)
        for name in pending:
            item = model.joints[name]
            z, q0 = self.z[at_v : at_v + item.nv], q[at_q : at_q + item.nq]
            if item.nq == item.nv:
                self.now[0][at_v : at_v + item.nv] = q0
            self._add(item, z, self.dz[at_v : at_v + item.nv], q0)
            at_q, at_v = at_q + item.nq, at_v + item.nv

    def _add(self, item, z, dz, q0):
        J = MATRICES[item.type](item, z, q0)
        parent, child = self._frame_pose(item.parent), self._local(item.child)
        if item.at is not None:
            before = after = homogeneous(np.eye(3), np.array(item.at))
        else:
            before, after = placed(item.parent_pose), placed(item.child_pose)
        body_name = item.child.split(".")[0]
        self.X[body_name] = parent @ before @ J @ inverse(after) @ inverse(child)
        if item.nq == item.nv:
            self.twists.append(dz)
        else:
            W = inverse(J) @ self._rate(J)
            self.twists.append(ca.vertcat(W[2, 1], W[0, 2], W[1, 0], W[:3, 3])[: item.nv])

    def _local(self, reference):
        owner, _, frame = reference.partition(".")
        frames = self.model.ground.frames if owner == "ground" else self.model.bodies[owner].frames
        return placed(frames[frame]) if frame else SX.eye(4)

    def _frame_pose(self, reference):
        return self.X[reference.partition(".")[0]] @ self._local(reference)

    def _rate(self, E):
        return ca.reshape(ca.jtimes(ca.vec(E), self.z, self.dz), *E.shape)

    def point(self, reference) -> SX:
        return self._frame_pose(reference)[:3, 3]

    def spin(self, name) -> SX:
        """Angular velocity in W."""
        R = self.X[name][:3, :3]
        W = self._rate(R) @ R.T
        return ca.vertcat(W[2, 1], W[0, 2], W[1, 0])

    def energies(self) -> tuple[SX, SX]:
        T, V = SX(0), SX(0)
        for name, item in self.model.bodies.items():
            com = (self.X[name] @ ca.vertcat(*item.com, 1))[:3]
            velocity, R = self._rate(com), self.X[name][:3, :3]
            xx, yy, zz, xy, xz, yz = item.inertia
            J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            w = R.T @ self.spin(name)
            T += 0.5 * item.mass * ca.dot(velocity, velocity) + 0.5 * ca.dot(w, J @ w)
            V -= item.mass * ca.dot(SX(ca.DM(self.model.gravity)), com)
        return T, V

    def accelerations(self, potential=0.0, forces=0.0) -> np.ndarray:
        """Rates of the model's velocities; `forces`: generalized, in the chart."""
        T, V = self.energies()
        z, dz = self.z, self.dz
        p = ca.jacobian(T, dz).T
        M = ca.jacobian(p, dz)
        rest = ca.jacobian(p, z) @ dz - ca.jacobian(T, z).T + ca.jacobian(V + potential, z).T - forces
        v = ca.vertcat(*self.twists)
        B, bias = ca.jacobian(v, dz), ca.jtimes(v, z, dz)
        f = ca.Function("lagrange", [z, dz], [M, rest, B, bias])
        M, rest, B, bias = (np.array(x) for x in f(*self.now))
        return (B @ np.linalg.solve(M, -rest) + bias).ravel()


def compare(model, state, eq, **loads):
    order = [link.joint_name for link in eq.motion.links]
    lagrange = Lagrangian(model, order, state)
    expected = lagrange.accelerations(**{key: make(lagrange) for key, make in loads.items()})
    found = values(eq, state, eq.a)[0].ravel()
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.max(np.abs(expected)))
    assert np.max(np.abs(expected)) > 0.5


@pytest.mark.parametrize("kind", MATRICES)
def test_each_joint_between_two_moving_bodies(kind):
    """A hinge, the joint under test, and a ball joint in a row."""
    rng = np.random.default_rng(17)
    model = Model(
        gravity=(1.3, -2.1, -9.4),
        bodies={name: body(rng) for name in ("a", "b", "c")},
        joints={
            "first": joint("revolute", rng, "ground", "a.tip"),
            "second": joint(kind, rng, "a.hub", "b"),
            "third": joint("spherical", rng, "b.tip", "c"),
        },
    )
    eq = equations_of(model)
    compare(model, random_state(eq, 17), eq)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_trees_of_all_joints(seed):
    model = random_model(seed, joints=[kind for kind in JOINT_TYPES if kind in MATRICES])
    eq = equations_of(model)
    assert {item.type for item in model.joints.values()} == set(MATRICES) & set(JOINTS)
    compare(model, random_state(eq, seed), eq)


@pytest.mark.parametrize("seed", [4, 5])
def test_loads_by_their_potentials_and_virtual_work(seed):
    """A spring by its potential, damper, point force and torque by virtual work, friction by itself."""
    base = random_model(seed, joints=["revolute", "spherical", "free", "screw"])
    hinge = next(name for name, item in base.joints.items() if item.type == "revolute")
    k, c, l0, friction = 31.0, 2.7, 0.35, 0.9
    model = base.model_copy(
        update={
            "forces": {
                "strut": SpringDamper(
                    parent="ground.tip", child="b3.hub", stiffness=k, damping=c, free_length=l0
                ),
                "push": PointForce(frame="b1.tip", force=(3.0, -1.0, 2.0), resolved_in="frame"),
                "twist": Torque(frame="b2", torque=(0.4, 1.7, -0.8), reaction="b0"),
                "drag": JointFriction(joint=hinge, damping=friction),
            }
        }
    )
    eq = equations_of(model)
    order = [link.joint_name for link in eq.motion.links]
    row = eq.motion.v_names.index((hinge, 0))

    def potential(lagrange):
        d = lagrange.point("b3.hub") - lagrange.point("ground.tip")
        return 0.5 * k * (ca.norm_2(d) - l0) ** 2

    def forces(lagrange):
        z, dz = lagrange.z, lagrange.dz
        d = lagrange.point("b3.hub") - lagrange.point("ground.tip")
        length = ca.norm_2(d)
        Q = -c * ca.jacobian(length, z).T * ca.jtimes(length, z, dz)
        push = lagrange._frame_pose("b1.tip")[:3, :3] @ ca.DM([3.0, -1.0, 2.0])
        Q += ca.jacobian(lagrange.point("b1.tip"), z).T @ push
        relative = lagrange.spin("b2") - lagrange.spin("b0")
        Q += ca.jacobian(relative, dz).T @ ca.DM([0.4, 1.7, -0.8])
        drag = SX.zeros(z.numel())
        drag[row] = -friction * dz[row]
        return Q + drag

    assert len(order) == 4
    compare(model, random_state(eq, seed), eq, potential=potential, forces=forces)


def test_a_driven_joint_is_a_rheonomic_constraint():
    """Lagrange's equations with z1 = f(t) put in before differentiating, against our prescribed motion."""
    rng = np.random.default_rng(23)
    model = Model(
        gravity=(1.3, -2.1, -9.4),
        bodies={name: body(rng) for name in ("a", "b")},
        joints={"first": joint("universal", rng, "ground", "a"), "second": joint("planar", rng, "a", "b")},
        motions={
            "drive": Motion(joint="first", coordinate=1, value="0.4*sin(2.3*t) + 0.2*t^2"),
            "push": Motion(joint="second", coordinate=0, value="0.1*t^3"),
        },
    )
    eq = equations_of(model)
    t, q, v = random_state(eq, 23)
    f = (0.4 * np.sin(2.3 * t) + 0.2 * t**2, 0.1 * t**3)
    df = (0.92 * np.cos(2.3 * t) + 0.4 * t, 0.3 * t**2)
    ddf = (-2.116 * np.sin(2.3 * t) + 0.4, 0.6 * t)
    full = model.model_copy(update={"motions": {}})
    q_all = np.array([q[0], f[0], f[1], q[1], q[2]])
    v_all = np.array([v[0], df[0], df[1], v[1], v[2]])
    lagrange = Lagrangian(full, ["first", "second"], (t, q_all, v_all))
    T, V = lagrange.energies()
    z, dz = lagrange.z, lagrange.dz
    p = ca.jacobian(T, dz).T
    parts = [ca.jacobian(p, dz), ca.jacobian(p, z) @ dz - ca.jacobian(T, z).T + ca.jacobian(V, z).T]
    M, rest = (np.array(x) for x in ca.Function("f", [z, dz], parts)(*lagrange.now))
    free, driven = [0, 3, 4], [1, 2]
    known = rest.ravel()[free] + M[np.ix_(free, driven)] @ ddf
    expected = np.linalg.solve(M[np.ix_(free, free)], -known)
    a_all = np.zeros(5)
    a_all[free], a_all[driven] = expected, ddf
    needed = (M @ a_all + rest.ravel())[driven]
    drive, push = (eq.motion_forces[name][0] for name in ("drive", "push"))
    found, forces = values(eq, (t, q, v), eq.a, ca.vertcat(drive, push))
    assert found.ravel() == pytest.approx(expected, rel=1e-10)
    assert forces.ravel() == pytest.approx(needed, rel=1e-10)
