"""The compiled first variation against central differences of the compiled residual, on random mechanisms."""

import numpy as np
import pytest

import sekant as sk
from loops import five_link, four_bar
from mechanisms import FORCE_TYPES, random_model, random_state
from sekant.engine.functions.linear import MotionPoint, linear_functions

H = 3e-6  # central differences then err by about 1e-10 of the third derivative

TREES = {
    "hinges and slides": (("revolute", "prismatic", "screw"), FORCE_TYPES, "joint"),
    "quaternions": (("free", "spherical", "universal"), ("bushing", "spring_damper"), "joint"),
    "path and surface": (("path", "surface"), ("bushing", "joint_limit"), "joint"),
    "floating bodies": (("spherical", "path"), ("bushing",), "cartesian"),
}


def moved(system, q, s):
    """q displaced by s (nv,), to second order without normalization."""
    return linear_functions(system).differences[1](q, s)[0].ravel()


def check(system, point):
    functions = linear_functions(system)
    tangent = functions.tangent(point)
    t, q, v, a, lam, p = point.t, point.q, point.v, point.a, point.lam, point.p

    def differences(change):
        columns = []
        for k in range(system.nv):
            e = np.zeros(system.nv)
            e[k] = H
            ahead, behind = functions.residual(change(e)), functions.residual(change(-e))
            columns.append([(x - y) / (2 * H) for x, y in zip(ahead, behind, strict=True)])
        return [np.array([column[i] for column in columns]).T for i in range(4)]

    by_s = differences(lambda e: MotionPoint(t, moved(system, q, e), v, a, lam, p))
    by_v = differences(lambda e: MotionPoint(t, q, v + e, a, lam, p))
    by_a = differences(lambda e: MotionPoint(t, q, v, a + e, lam, p))
    pairs = [(tangent.R_s, by_s[0]), (tangent.R_v, by_v[0]), (tangent.M, by_a[0])]
    if functions.m:
        h = functions.holonomic
        pairs += [(tangent.G[h], by_s[1][h]), (tangent.G, by_v[2]), (tangent.H, by_s[2])]
        pairs += [(tangent.acc_s, by_s[3]), (tangent.acc_v, by_v[3]), (tangent.G, by_a[3])]
    for exact, numeric in pairs:
        assert np.abs(exact - numeric).max() < 1e-7 * max(1.0, np.abs(exact).max())

    at_rest = MotionPoint(t, q, 0 * v, 0 * a, lam, p)
    short, full = functions.rest_tangent(at_rest), functions.tangent(at_rest)
    for name in ("M", "R_v", "R_s", "G", "H", "acc_v", "acc_s"):
        exact = getattr(full, name)
        assert np.abs(getattr(short, name) - exact).max(initial=0.0) < 1e-11 * max(
            1.0, np.abs(exact).max(initial=0.0)
        )


def point_at(system, q, seed, t=0.3):
    rng = np.random.default_rng(seed)
    m = linear_functions(system).m
    v, a = rng.normal(size=(2, system.nv))
    return MotionPoint(t, q, v, a, rng.normal(size=m), system.parameter_vector())


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] * (name == "floating bodies")) for name in TREES],
)
def test_tangent_of_random_trees_is_the_derivative_of_the_residual(name):
    joints, forces, formulation = TREES[name]
    system = sk.compile(random_model(7, joints, forces), formulation=formulation)
    _, q, _ = random_state(system.equations, 3)  # off the constraints too: derivatives hold everywhere
    check(system, point_at(system, q, 5))


def test_tangent_of_a_loop_with_moving_constraint_is_the_derivative_of_the_residual():
    drive = {"drive": sk.Motion(joint="C", value="0.2*sin(3*t) + 0.1")}
    system = sk.compile(four_bar(motions=drive))
    q = system.initial_state().q
    check(system, point_at(system, q, 6))


def test_velocities_of_quaternions_turn_the_displacements():
    """s' = w + X s with X s = -v x s for the angular velocity v in the body, for the spherical joint."""
    system = sk.compile(random_model(2, ("spherical",)))
    _, q, v = random_state(system.equations, 4)
    point = point_at(system, q, 1)
    point = MotionPoint(point.t, q, v, point.a, point.lam, point.p)
    tangent = linear_functions(system).tangent(point)
    skew = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    assert np.abs(tangent.X + skew).max() < 1e-13
    a = point.a
    rate = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    assert np.abs(tangent.X_rate + rate).max() < 1e-12


def test_slopes_with_respect_to_parameters_are_derivatives():
    model = four_bar(motions={"drive": sk.Motion(joint="C", value="w*sin(3*t) + 0.1")}, parameters={"w": 0.2})
    system = sk.compile(model, parameters=["w", "rocker.mass", "crank.com"])
    functions = linear_functions(system)
    point = point_at(system, system.initial_state().q, 2)
    slopes = functions.slopes(point)
    for k in range(point.p.size):
        e = np.zeros(point.p.size)
        e[k] = H
        ends = [
            functions.residual(MotionPoint(point.t, point.q, point.v, point.a, point.lam, point.p + sign * e))
            for sign in (1, -1)
        ]
        for exact, x, y in zip(
            (slopes.R, slopes.Phi, slopes.rate, slopes.acceleration), ends[0], ends[1], strict=True
        ):
            assert np.abs(exact[:, k] - (x - y) / (2 * H)).max() < 1e-7 * max(1.0, np.abs(exact).max())


def test_derivatives_of_forward_dynamics_of_a_tree():
    system = sk.compile(
        random_model(5, ("free", "revolute", "path", "prismatic"), ("spring_damper", "bushing"))
    )
    _, q, v = random_state(system.equations, 8)
    a, a_s, a_v = system.forward_derivatives(q, v, t=0.3)
    bound = system.bound("forward_derivatives")
    bound.inputs["t"][:], bound.inputs["q"][:], bound.inputs["v"][:] = 0.3, q, v
    bound()
    many = system.map("forward_derivatives", np.tile(q, (3, 1)), v, t=0.3)
    for whole in (bound.outputs[0], *many):
        assert np.array_equal(whole, np.column_stack([a, a_s, a_v]))
    assert a == pytest.approx(system.forward_dynamics(q, v, t=0.3), rel=1e-10, abs=1e-10)
    for k in range(system.nv):
        e = np.zeros(system.nv)
        e[k] = H
        by_s = [system.forward_dynamics(moved(system, q, sign * e), v, t=0.3) for sign in (1, -1)]
        by_v = [system.forward_dynamics(q, v + sign * e, t=0.3) for sign in (1, -1)]
        for exact, (ahead, behind) in ((a_s[:, k], by_s), (a_v[:, k], by_v)):
            numeric = (ahead - behind) / (2 * H)
            assert np.abs(exact - numeric).max() < 1e-6 * max(1.0, np.abs(exact).max(), np.abs(a).max())


def test_exact_takes_a_third_of_the_operations_of_differences():
    """A floating body on five rods, whose rotations are differentiated as rotations: 2,600 operations to 10,400."""
    functions = linear_functions(sk.compile(five_link()))
    calls = 2 * functions.nv + 1
    assert 3 * functions.native_tangent.stats.operations < calls * functions.differences[0].stats.operations
