"""Identities of the equations of motion over random trees of all joint types."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from mechanisms import (
    ALL_JOINTS,
    COORDINATE_JOINTS,
    FOLLOWERS,
    FORCE_TYPES,
    JOINT_TYPES,
    equations_of,
    floating_model,
    random_model,
    random_state,
    time_derivative,
    values,
)
from sekant.geometry.spatial import SX, Wrench

SEEDS = range(4)


def loaded(seed: int, algorithm="auto"):
    return equations_of(random_model(seed, ALL_JOINTS, FORCE_TYPES, motions=2), algorithm=algorithm)


def close(a, b, tolerance=1e-10):
    """Relative to the largest entry."""
    return np.max(np.abs(a - b), initial=0.0) <= tolerance * max(np.max(np.abs(b), initial=0.0), 1.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_is_symmetric_positive_definite_and_the_hessian_of_the_kinetic_energy(seed):
    eq = equations_of(random_model(seed, ALL_JOINTS))
    state = random_state(eq, seed)
    hessian = ca.hessian(eq.energies.kinetic, eq.v)[0]
    M, H = values(eq, state, eq.mass_matrix, hessian)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 1e-4
    assert close(M, H, 1e-13)


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_and_inverse_dynamics_invert_each_other(seed):
    eq = loaded(seed)
    state = random_state(eq, seed)
    a = SX.sym("a", eq.nv)
    (forward,) = values(eq, state, eq.a)
    (rest,) = values(eq, state, eq.inverse_dynamics(a), extra=[(a, forward)])
    M, scale = values(eq, state, eq.mass_matrix, eq.inverse_dynamics(SX.zeros(eq.nv)))
    assert np.max(np.abs(rest)) < 1e-10 * np.max(np.abs(scale))
    wanted = np.random.default_rng(seed).normal(size=(eq.nv, 1))
    (tau,) = values(eq, state, eq.inverse_dynamics(a), extra=[(a, wanted)])
    assert close(np.linalg.solve(M, tau), wanted - forward)


@pytest.mark.parametrize("seed", SEEDS)
def test_articulated_bodies_equal_composite_bodies(seed):
    eq = loaded(seed)
    state = random_state(eq, seed)
    sides = []
    for algorithm in ("articulated", "composite"):
        found = eq.forward_by(algorithm)
        sides.append(
            [ca.vertcat(*found.a), *[F.column() for F in found.F_joint], *[A.column() for A in found.A]]
        )
    for one, other in zip(*(values(eq, state, *side) for side in sides), strict=True):
        assert close(one, other)


@pytest.mark.parametrize("seed", SEEDS)
def test_bias_forces_are_those_of_christoffel_and_mdot_minus_2c_is_skew(seed):
    """On coordinate joints: C v with C_ij = sum_k (M_ij,k + M_ik,j - M_jk,i) v_k / 2 is the whole bias."""
    eq = equations_of(random_model(seed, (*COORDINATE_JOINTS, *FOLLOWERS), gravity=(0.0, 0.0, 0.0)))
    state = random_state(eq, seed)
    n, M = eq.nv, eq.mass_matrix
    gradient = eq.lookups.jacobian(ca.vec(M), eq.q)
    dM, bias = values(eq, state, gradient, eq.inverse_dynamics(SX.zeros(n)))
    dM = dM.reshape(n, n, n, order="F")  # dM[i, j, k] = dM_ij / dq_k
    v = state[2]
    C = 0.5 * np.einsum("ijk,k->ij", dM + dM.swapaxes(1, 2) - dM.transpose(2, 1, 0), v)
    assert close(C @ v, bias.ravel())
    Mdot = np.einsum("ijk,k->ij", dM, v)
    skew = Mdot - 2 * C
    assert close(skew + skew.T, np.zeros_like(skew), 1e-12)
    assert np.max(np.abs(skew)) > 0.01


@pytest.mark.parametrize("seed", SEEDS)
def test_bias_forces_do_the_work_of_half_mdot(seed):
    """v.h = v.Mdot v / 2 holds for quasi-velocities too: inertia neither makes nor loses energy."""
    eq = equations_of(random_model(seed, ALL_JOINTS, gravity=(0.0, 0.0, 0.0)))
    state = random_state(eq, seed)
    Mdot = ca.reshape(eq.lookups.jtimes(ca.vec(eq.mass_matrix), eq.q, eq.qdot), eq.nv, eq.nv)
    Mdot, h = values(eq, state, Mdot, eq.inverse_dynamics(SX.zeros(eq.nv)))
    v = state[2]
    assert v @ h.ravel() == pytest.approx(0.5 * v @ Mdot @ v, rel=1e-11)
    assert abs(v @ h.ravel()) > 0.1


@pytest.mark.parametrize("algorithm", ["articulated", "composite"])
@pytest.mark.parametrize("seed", SEEDS)
def test_reactions_do_no_work_on_the_joint_motion(seed, algorithm):
    """S^T F of the transmitted wrench is exactly the joint's own generalized force and its prescribed motions'."""
    eq = loaded(seed, algorithm)
    state = random_state(eq, seed)
    checks = []
    for i, link in enumerate(eq.motion.links):
        for k in range(link.joint.nv):
            f = eq.forward.F_joint[i].column()
            name = eq.motion.driven.get(link.v.start + k)
            drive = SX(0) if name is None else eq.motion_forces[name][0]
            checks += [ca.dot(eq.motion.S[i][:, k], f), eq.joint_forces[i][k] + drive]
    wrenches = ca.vertcat(*[F.column() for F in eq.forward.F_joint])
    found, wrench = values(eq, state, ca.vertcat(*checks), wrenches)
    found = found.reshape(-1, 2)
    scale = np.max(np.abs(wrench))
    assert np.max(np.abs(found[:, 0] - found[:, 1])) < 1e-11 * scale
    assert np.max(np.abs(found)) > 0.1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_reaction_is_the_rate_of_momentum_of_all_that_hangs_on_it(seed):
    """d/dt (momentum of the subtree) = reaction + weight + applied wrenches, all about W's origin."""
    eq = loaded(seed)
    state = random_state(eq, seed)
    motion, links = eq.motion, eq.motion.links
    momentum = [
        X.wrench_to_parent(l.inertia * V) for X, l, V in zip(motion.X_WM, links, motion.V, strict=True)
    ]
    applied = [Wrench.zero() for _ in links]
    for action in eq.elements.actions.values():
        for w in action.wrenches:
            if w.body != "ground":
                i = motion.link_index[w.body]
                applied[i] = applied[i] + Wrench(w.n + ca.cross(w.p, w.f), w.f)
    for i, (link, X) in enumerate(zip(links, motion.X_WM, strict=True)):
        weight = link.inertia.m * eq.gravity
        arm = ca.cross(link.inertia.m * X.p + X.R @ link.inertia.h, eq.gravity)
        applied[i] = applied[i] + Wrench(arm, weight)
    for i in reversed(range(len(links))):
        if links[i].parent >= 0:
            parent = links[i].parent
            momentum[parent] = momentum[parent] + momentum[i]
            applied[parent] = applied[parent] + applied[i]
    outputs = []
    for i, X in enumerate(motion.X_WM):
        reaction = X.wrench_to_parent(eq.forward.F_joint[i])
        outputs += [(reaction + applied[i]).column(), time_derivative(eq, momentum[i].column())]
    found = values(eq, state, *outputs)
    for sum_of_forces, rate in zip(found[::2], found[1::2], strict=True):
        assert close(sum_of_forces, rate)


@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_of_a_floating_tree_changes_by_its_weight_only(seed):
    joints = [kind for kind in JOINT_TYPES if kind not in ("free", "fixed")]
    eq = equations_of(floating_model(seed, joints, gravity=(0.7, -1.9, 3.1)))
    state = random_state(eq, seed)
    linear, angular = eq.momentum
    mass, moment = SX(0), SX.zeros(3)
    for link, X in zip(eq.motion.links, eq.motion.X_WM, strict=True):
        mass += link.inertia.m
        moment += link.inertia.m * X.p + X.R @ link.inertia.h
    expected = ca.vertcat(mass * eq.gravity, ca.cross(moment, eq.gravity))
    rate = time_derivative(eq, ca.vertcat(linear, angular))
    rate, expected, size = values(eq, state, rate, expected, ca.vertcat(linear, angular))
    assert close(rate, expected)
    assert np.min(np.abs(size)) > 1e-3


def test_a_body_on_a_free_joint_falls_as_gravity_says_wherever_its_frame_sits():
    eq = equations_of(floating_model(5, [], gravity=(0.7, -1.9, 3.1)))
    linear, _ = eq.momentum
    state = random_state(eq, 5)
    rate, mass = values(eq, state, time_derivative(eq, linear), eq.motion.links[0].inertia.m)
    assert rate.ravel() / mass.item() == pytest.approx([0.7, -1.9, 3.1], rel=1e-12)
