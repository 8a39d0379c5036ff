"""Twists of pose curves: exact against differences, and the symbolic version against the numeric one."""

import casadi as ca
import numpy as np
import pytest

from sekant.errors import DataError
from sekant.geometry import pose_kinematics
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.pose_symbolic import motion_from_components, surface_motion_from_components
from sekant.geometry.rotations import rotation_from_vector
from sekant.tables.table import Table

TAGS = ["none", "quaternion", "euler:zyx", "euler:zxz", "euler:y", "euler:xz"]


def random_curve(tag, seed=3):
    """Polynomial components with nothing special: quaternions are far from unit length."""
    rng = np.random.default_rng(seed)
    m = pose_kinematics.component_count(tag)
    c = rng.normal(size=(2, m, 6)) * np.array([1.0, 0.8, 0.5, 0.3, 0.2, 0.1])
    h = 0.7
    for j in range(6):  # the second piece continues the first: C5
        c[1, :, j] = sum(c[0, :, i] * h ** (i - j) * float(ca.DM(_binomial(i, j))) for i in range(j, 6))
    R0 = rotation_from_vector(np.array([0.4, -1.2, 0.5]))
    return PoseCurve(Table(np.array([-0.2, 0.5, 1.3]), c), tag, R0 if tag == "none" else np.eye(3))


def _binomial(n, k):
    from math import comb

    return comb(n, k)


def difference(f, u, h=1e-4):
    """Fourth-order central difference."""
    return (8.0 * (f(u + h) - f(u - h)) - (f(u + 2 * h) - f(u - 2 * h))) / (12.0 * h)


@pytest.mark.parametrize("tag", TAGS)
def test_twist_is_the_derivative_of_the_pose(tag):
    curve = random_curve(tag)
    u = np.array([-0.1, 0.31, 0.77, 1.2])
    R, _ = curve.pose(u)
    dR = difference(lambda x: curve.pose(x)[0], u)
    W = np.swapaxes(R, -1, -2) @ dR
    V = curve.twist(u)
    np.testing.assert_allclose(np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], -1), V[:, :3], atol=1e-8)
    v_F = difference(lambda x: curve.pose(x)[1], u)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", R, V[:, 3:]), v_F, atol=1e-8)
    V_F = curve.twist(u, "F")
    np.testing.assert_allclose(V_F[:, :3], np.einsum("nij,nj->ni", R, V[:, :3]), atol=1e-12)
    np.testing.assert_allclose(V_F[:, 3:], v_F, atol=1e-8)


@pytest.mark.parametrize("frame", ["M", "F"])
@pytest.mark.parametrize("tag", TAGS)
def test_rates_are_derivatives_of_the_twist(tag, frame):
    curve = random_curve(tag, seed=5)
    u = np.array([-0.05, 0.23, 0.9])
    np.testing.assert_allclose(
        curve.twist_rate(u, frame), difference(lambda x: curve.twist(x, frame), u), atol=1e-6, rtol=1e-7
    )
    np.testing.assert_allclose(
        curve.twist_jerk(u, frame), difference(lambda x: curve.twist_rate(x, frame), u), atol=1e-5, rtol=1e-6
    )


@pytest.mark.parametrize("tag", TAGS)
def test_symbolic_equals_numeric(tag):
    curve = random_curve(tag, seed=8)
    m = pose_kinematics.component_count(tag)
    y, y1, y2 = (ca.SX.sym(n, m) for n in ("y", "y1", "y2"))
    motion = motion_from_components(y, y1, y2, tag, curve.R_constant)
    f = ca.Function("f", [y, y1, y2], [motion.R_FM, motion.p_FM, motion.S, motion.dS])
    for u in (-0.11, 0.42, 1.05):
        R, p, S, dS = (a.full().squeeze() for a in f(*curve.jet(u, 2)))
        np.testing.assert_allclose(R, curve.pose(u)[0], atol=1e-14)
        np.testing.assert_allclose(p, curve.pose(u)[1], atol=1e-15)
        np.testing.assert_allclose(S, curve.twist(u), atol=1e-12)
        np.testing.assert_allclose(dS, curve.twist_rate(u), atol=1e-11)


@pytest.mark.parametrize("tag", TAGS)
def test_surface_motion_is_consistent_with_curves_on_it(tag):
    """Along u1 = a + s, u2 = b + c s the surface's S times (1, c) is the curve's twist, and likewise its
    rate."""
    rng = np.random.default_rng(11)
    m = pose_kinematics.component_count(tag)
    u1, u2, s = ca.SX.sym("u1"), ca.SX.sym("u2"), ca.SX.sym("s")
    coefficients = rng.normal(size=(m, 4, 4)) * 0.5
    y = ca.vertcat(
        *[sum(coefficients[k, i, j] * u1**i * u2**j for i in range(4) for j in range(4)) for k in range(m)]
    )
    d = [ca.jacobian(y, u1), ca.jacobian(y, u2)]
    motion = surface_motion_from_components(
        y, d[0], d[1], ca.jacobian(d[0], u1), ca.jacobian(d[0], u2), ca.jacobian(d[1], u2), tag
    )
    slope = np.array([1.0, -0.6])
    along = ca.substitute(y, ca.vertcat(u1, u2), ca.vertcat(0.2 + s, -0.3 - 0.6 * s))
    y1 = ca.jacobian(along, s)
    curve = motion_from_components(along, y1, ca.jacobian(y1, s), tag)
    rate = sum(slope[j] * (motion.dS[j] @ slope) for j in range(2))
    f = ca.Function("f", [u1, u2], [motion.S @ slope, rate, motion.dS[0][:, 1], motion.dS[1][:, 0], motion.S])
    g = ca.Function("g", [s], [curve.S, curve.dS])
    S, dS, mixed1, mixed2, columns = (a.full() for a in f(0.65, -0.57))
    Sc, dSc = (a.full() for a in g(0.45))
    np.testing.assert_allclose(S, Sc, atol=1e-12)
    np.testing.assert_allclose(dS, dSc, atol=1e-11)
    # Integrability on SE(3): dV_2/du1 - dV_1/du2 = -V_1 x V_2 (components in the moving frame).
    w1, v1, w2, v2 = columns[:3, 0], columns[3:, 0], columns[:3, 1], columns[3:, 1]
    bracket = np.concatenate([np.cross(w1, w2), np.cross(w1, v2) + np.cross(v1, w2)])
    np.testing.assert_allclose((mixed1 - mixed2).ravel(), -bracket, atol=1e-11)


def test_scaling_a_quaternion_changes_nothing():
    curve = random_curve("quaternion")
    c = curve.table.coefficients.copy()
    c[:, 3:] *= -2.5
    other = PoseCurve(Table(curve.table.breaks, c), "quaternion")
    u = np.linspace(-0.2, 1.3, 9)
    np.testing.assert_allclose(other.pose(u)[0], curve.pose(u)[0], atol=1e-14)
    np.testing.assert_allclose(other.twist_jerk(u), curve.twist_jerk(u), atol=1e-11)


def test_wrong_tags_and_ranges_are_refused():
    with pytest.raises(DataError, match="'quaternions' is unknown"):
        pose_kinematics.component_count("quaternions")
    with pytest.raises(DataError, match=r"requires a table with 7 components \(got 3\)"):
        PoseCurve(Table(np.array([0.0, 1.0]), np.ones((1, 3, 2))), "quaternion")
    with pytest.raises(DataError, match=r"u = 1.4 .*outside its range \[-0.2, 1.3\]"):
        random_curve("none").pose(1.4)
