"""Every registered joint is stated twice, as motion and as constraints, and the two agree."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from mechanisms import ALL_JOINTS, COORDINATE_JOINTS, JOINT_TYPES, joint
from sekant.errors import ModelError
from sekant.geometry.spatial import SX, Pose, skew
from sekant.model.joints import JOINTS, Joint
from sekant.tables.lookups import Lookups

PART_A = {
    *("fixed", "revolute", "prismatic", "screw", "cylindrical", "universal", "spherical", "planar", "free"),
}


def sample(kind: str, seed: int = 3):
    """(joint, q, v) with numbers."""
    rng = np.random.default_rng(seed)
    item = joint(kind, rng, "ground", "body")
    q = rng.uniform(-1.9, 1.9, item.nq)
    if item.unit_quaternion is not None:
        e = rng.normal(size=4)
        q[item.unit_quaternion : item.unit_quaternion + 4] = e / np.linalg.norm(e)
    return item, q, rng.uniform(-1.5, 1.5, item.nv)


def evaluate(item: Joint, q, v, make) -> list[np.ndarray]:
    """Numbers of ``make(q, v, lookups)``, expressions of symbols."""
    q_, v_, lookups = SX.sym("q", item.nq), SX.sym("v", item.nv), Lookups()
    outputs = [SX(y) for y in make(q_, v_, lookups)]
    found = lookups.oracle("f", [q_, v_], outputs).call([ca.DM(q), ca.DM(v)])
    return [np.array(y) for y in found]


def test_the_generator_covers_the_joints_of_open_chains():
    assert set(JOINT_TYPES) >= PART_A
    assert all(kind in JOINTS for kind in JOINT_TYPES)


@pytest.mark.parametrize("kind", JOINT_TYPES)
def test_frames_coincide_at_the_default_start(kind):
    item, _, v = sample(kind)
    q0 = np.array([float(x) for x in item.initial()[0]])
    turn, p = evaluate(item, q0, v, lambda q, v, lk: (item.pose(q, lk).R, item.pose(q, lk).p))
    assert turn == pytest.approx(np.eye(3), abs=1e-15)
    assert p == pytest.approx(np.zeros((3, 1)), abs=1e-15)


@pytest.mark.parametrize("kind", ALL_JOINTS)
def test_the_twist_is_the_derivative_of_the_pose(kind):
    """S v (with qdot from v) equals R^T dR/dt and R^T dp/dt, by differentiation of the pose."""
    item, q, v = sample(kind)

    def twists(q_, v_, lookups):
        motion = item.motion(q_, v_, lookups)
        W = motion.X_FM.R.T @ ca.reshape(lookups.jtimes(ca.vec(motion.X_FM.R), q_, motion.qdot), 3, 3)
        linear = motion.X_FM.R.T @ lookups.jtimes(motion.X_FM.p, q_, motion.qdot)
        return motion.S @ v_, ca.vertcat(W[2, 1], W[0, 2], W[1, 0], linear), W + W.T

    if item.nv == 0:
        return
    stated, differentiated, symmetric = evaluate(item, q, v, twists)
    assert stated == pytest.approx(differentiated, abs=1e-14)
    assert symmetric == pytest.approx(np.zeros((3, 3)), abs=1e-14)


@pytest.mark.parametrize("kind", COORDINATE_JOINTS)
def test_an_explicit_subspace_equals_the_default_one(kind):
    item, q, v = sample(kind)
    explicit, default = evaluate(
        item, q, v, lambda q, v, lk: (item.subspace(q, lk), Joint.subspace(item, q, lk))
    )
    assert explicit == pytest.approx(default, abs=1e-15)


@pytest.mark.parametrize("kind", ALL_JOINTS)
def test_the_bias_is_the_change_of_the_subspace(kind):
    item, q, v = sample(kind)

    def parts(q_, v_, lookups):
        motion = item.motion(q_, v_, lookups)
        return motion.S @ v_ if item.nv else SX.zeros(6), motion.c, motion.qdot

    _, bias, qdot = evaluate(item, q, v, parts)
    h = 1e-5
    ahead, behind = (evaluate(item, q + s * h * qdot.ravel(), v, parts)[0] for s in (1, -1))
    assert bias == pytest.approx((ahead - behind) / (2 * h), abs=1e-9)


@pytest.mark.parametrize("kind", JOINT_TYPES)
def test_constraints_forbid_exactly_what_the_subspace_does_not_allow(kind):
    """Phi vanishes on the joint's poses; its gradient against twists has rank 6 - nv and Phi_q S = 0."""
    item, q, v = sample(kind)
    move = SX.sym("move", 6)

    def parts(q_, v_, lookups):
        motion = item.motion(q_, v_, lookups)
        R, p = motion.X_FM.R, motion.X_FM.p
        moved = Pose(R + R @ skew(move[:3]), p + R @ move[3:])
        phi = item.constraints(moved)
        at_rest = ca.substitute(ca.densify(SX(phi)), move, SX.zeros(6))
        gradient = ca.substitute(ca.densify(ca.jacobian(phi, move)), move, SX.zeros(6))
        return at_rest, gradient, motion.S

    phi, gradient, S = evaluate(item, q, v, parts)
    assert phi.size == 6 - item.nv
    assert np.linalg.matrix_rank(S, tol=1e-8) == item.nv
    if phi.size:
        assert phi == pytest.approx(np.zeros_like(phi), abs=1e-14)
        assert np.linalg.svd(gradient, compute_uv=False).min() > 0.02
        assert gradient @ S == pytest.approx(np.zeros((6 - item.nv, item.nv)), abs=1e-14)


def test_a_screw_counts_its_turns():
    """Two turns on, the advance is two pitches, and the constraint still holds; half a pitch off it does not."""
    item = JOINTS["screw"](child="body", pitch=0.3)
    for angle, offset in ((0.4, 0.0), (0.4 + 4 * np.pi, 0.0), (-7.1, 0.0), (0.4, 0.05)):
        X = item.pose(SX(angle), Lookups())
        phi = np.array(ca.evalf(item.constraints(Pose(X.R, X.p + ca.vertcat(0, 0, offset)))))
        assert phi.ravel() == pytest.approx([0, 0, 0, 0, offset], abs=1e-14)


def test_a_screw_needs_a_pitch():
    with pytest.raises(ModelError, match="use a revolute joint"):
        JOINTS["screw"](child="body", pitch=0.0)
