"""Frames, energies, joints and bad input of mechanisms in natural coordinates."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sekant as sk
from sekant.errors import ModelError, SolverError
from sekant.formulations.natural.build import MechanismSums
from sekant.geometry.rotations import rotation_from_vector
from sekant.model.points.composition import Composition, composed
from sekant.model.resolve import resolve


def composition(m) -> Composition:
    return composed(resolve(m.model))


def numeric(m, expression, y, y_rate):
    """Value of an expression at all components y and rates."""
    return np.array(ca.Function("f", [m.y, m.y_rate], [ca.SX(expression)])(y, y_rate))


KINDS = st.lists(st.sampled_from(["point", "vector"]), min_size=2, max_size=2)
NUMBERS = st.lists(st.floats(-1, 1), min_size=12, max_size=12)


@settings(max_examples=25)
@given(kinds=KINDS, numbers=NUMBERS)
def test_spatial_frame_of_any_mix_gives_turn_spin_and_energy(kinds, numbers):
    """x = O + Q rho of any frame carries the body as a rigid motion does; T = m v_C^2/2 + w I w/2 (DERA 2.4)."""
    places = [np.array([0.3, -0.2, 0.5]), np.array([1.1, 0.4, 0.2]), np.array([-0.3, 0.9, 0.7])]
    m = sk.natural.Mechanism(dim=3)
    items = [m.point("O", places[0])]
    for name, kind, place in zip("AB", kinds, places[1:], strict=True):
        items.append(m.point(name, place) if kind == "point" else m.vector(name, place))
    I, com, mass = (
        np.array([[0.5, 0.02, -0.03], [0.02, 0.7, 0.04], [-0.03, 0.04, 0.9]]),
        (0.2, -0.1, 0.3),
        1.7,
    )
    m.body("b", items, mass=mass, com=com, inertia=I)
    m = composition(m)
    body = m.body("b")
    turn, shift, w, v = (np.array(numbers[3 * i : 3 * i + 3]) for i in range(4))
    R = rotation_from_vector(turn)
    at, moving = {}, {}
    for item, place in zip(items, places, strict=True):
        new = R @ place + shift if item.is_point else R @ place
        at[item.name] = new
        moving[item.name] = np.cross(w, new) + v if item.is_point else np.cross(w, new)
    owners = [c.name.split(".") for c in m.coordinates]
    y, rates = (np.array([x[name]["xyz".index(k)] for name, k in owners]) for x in (at, moving))
    Q0 = m.at_start(body.Q)
    Q = numeric(m, body.Q, y, rates)
    assert np.allclose(Q0.T @ Q0, np.eye(3), atol=1e-12)
    assert np.allclose(Q, R @ Q0, atol=1e-12)
    assert np.allclose(numeric(m, body.angular_velocity, y, rates).ravel(), w, atol=1e-11)
    center = at["O"] + Q @ com
    v_C = v + np.cross(w, center)
    expected = 0.5 * mass * v_C @ v_C + 0.5 * w @ (Q @ I @ Q.T) @ w
    T = numeric(m, MechanismSums(m).T, y, rates).item()
    assert pytest.approx(expected, abs=1e-11) == T
    constraint = numeric(m, ca.vertcat(*[row.expression for row in m.positions.values()]), y, rates)
    assert np.abs(constraint).max() < 1e-12


@pytest.mark.parametrize("kind", ["point", "vector"])
def test_planar_frame(kind):
    """The matrix S of the plane is [-alpha; 1]."""
    m = sk.natural.Mechanism(dim=2)
    O = m.point("O", (0.2, 0.7))
    A = m.point("A", (0.5, 1.1)) if kind == "point" else m.vector("A", (0.3, 0.4))
    m.body("b", [O, A], mass=1.3, com=(0.2, -0.1), inertia=0.17)
    m = composition(m)
    body = m.body("b")
    Q = m.at_start(body.Q)
    assert np.allclose(Q, [[0.6, -0.8], [0.8, 0.6]])
    w, v = 1.7, np.array([0.4, -0.3])
    y = np.array([c.start for c in m.coordinates])
    turned = lambda p: w * np.array([-p[1], p[0]])  # noqa: E731
    rates = np.concatenate([v + turned(y[:2]), (v if kind == "point" else 0) + turned(y[2:])])
    v_C = v + turned(y[:2] + Q @ [0.2, -0.1])
    T = numeric(m, MechanismSums(m).T, y, rates).item()
    assert pytest.approx(0.5 * 1.3 * v_C @ v_C + 0.5 * 0.17 * w**2) == T
    assert numeric(m, body.angular_velocity, y, rates).item() == pytest.approx(w)


def test_expressions_know_points_from_vectors():
    m = sk.natural.Mechanism(dim=2)
    A, B = m.point("A", (1, 2)), m.point("B", (4, 6))
    assert (B - A).is_vector
    assert (A + 0.3 * (B - A)).is_point
    assert ((A + B) / 2).is_point
    names = [A.x, A.y, B.x, B.y]
    values = ca.Function("f", names, [ca.vertcat((B - A).length, (B - A).unit().value)])(1, 2, 4, 6)
    assert np.array(values).ravel() == pytest.approx([5.0, 0.6, 0.8])
    with pytest.raises(ModelError, match="neither a point nor a vector"):
        m.assign("sum", A + B)


def two_bodies(dim):
    m = sk.natural.Mechanism(dim=dim, gravity=(0.3, -9.1) if dim == 2 else (0.3, -0.2, -9.1))
    bodies = []
    for k in range(2):
        O = m.point(f"O{k}", (0.1 + k, 0.3 * k, 0.2)[:dim], velocity=(0.2, 0.1 - k, 0.3)[:dim])
        frame = [O, m.vector(f"x{k}", (1.0, 0.1 * k, 0.2)[:dim])]
        if dim == 3:
            frame.append(m.vector(f"y{k}", (0.0, 1.0, 0.3 * k)))
        inertia = 0.2 + 0.1 * k if dim == 2 else (0.3, 0.5 + 0.1 * k, 0.6)
        com = (0.1, 0.2, -0.05)[:dim]
        bodies.append(m.body(f"b{k}", frame, mass=1.1 + k, com=com, inertia=inertia))
    return m, bodies


JOINTS_3D = {
    "revolute": (5, {"axis": (0.3, 1.0, 0.2)}),
    "spherical": (3, {}),
    "cylindrical": (4, {"axis": (0.3, 1.0, 0.2)}),
    "prismatic": (5, {"axis": (0.3, 1.0, 0.2)}),
    "universal": (4, {"axis": (0.3, 1.0, 0.2), "other": (1.0, -0.3, 0.0)}),
}


@pytest.mark.parametrize("kind", list(JOINTS_3D))
def test_joints_in_space_remove_their_freedoms_and_do_no_work(kind):
    rows, options = JOINTS_3D[kind]
    m, (first, second) = two_bodies(3)
    getattr(m, kind)(first, second, at=(0.6, 0.2, 0.4), name="joint", **options)
    system = m.compile()
    assert sk.assemble(system).report.degrees_of_freedom == 12 - rows
    result = sk.simulate(system, until=0.7, rtol=1e-10, atol=1e-10, method="taylor")
    assert result.ok, result.message
    assert np.abs(result["energy.balance"]).max() < 1e-8
    assert np.ptp(result["energy.kinetic"]) > 0.5


@pytest.mark.parametrize(("kind", "rows"), [("revolute", 2), ("prismatic", 2)])
def test_joints_in_the_plane(kind, rows):
    m, (first, second) = two_bodies(2)
    options = {"axis": (1.0, 0.4)} if kind == "prismatic" else {}
    getattr(m, kind)(first, second, at=(0.6, 0.2), name="joint", **options)
    m.revolute(None, first, at=(0.0, 0.1), name="pin")
    system = m.compile()
    assert sk.assemble(system).report.degrees_of_freedom == 6 - rows - 2
    result = sk.simulate(system, until=0.5, rtol=1e-10, atol=1e-10, method="taylor")
    assert np.abs(result["energy.balance"]).max() < 1e-8


def test_hinge_by_sharing_equals_hinge_by_equations():
    """A pendulum of two bodies: shared point, or two points held together."""
    ends = []
    for shared in (True, False):
        m = sk.natural.Mechanism(dim=2)
        O, A = m.ground("O", (0, 0)), m.point("A", (0.6, -0.3))
        upper = m.body("upper", [O, A], mass=1.2, com=(0.3, 0.05), inertia=0.07)
        if shared:
            B = m.point("B", (1.0, 0.1))
            m.body("lower", [A, B], mass=0.8, com=(0.2, -0.04), inertia=0.03)
        else:
            C, B = m.point("C", (0.6, -0.3)), m.point("B", (1.0, 0.1))
            lower = m.body("lower", [C, B], mass=0.8, com=(0.2, -0.04), inertia=0.03)
            m.revolute(upper, lower, at=(0.6, -0.3))
        result = sk.simulate(m, until=1.5, rtol=1e-11, atol=1e-11, method="taylor")
        ends.append(result["B.position"][-1])
    assert np.allclose(*ends, atol=1e-9)


class TestBadInput:
    def test_collinear_frame(self):
        m = sk.natural.Mechanism(dim=3)
        points = [m.point(n, (k, 2 * k, 3 * k)) for k, n in enumerate("OAB")]
        m.body("b", points, mass=1)
        with pytest.raises(ModelError, match=r"body 'b'.*collinear"):
            m.compile()

    def test_planar_vector_in_space(self):
        with pytest.raises(ModelError, match=r"'A' has 2 components, but the mechanism is spatial; give 3"):
            sk.natural.Mechanism(dim=3).point("A", (1, 2))

    def test_unknown_symbol_in_lagrangian(self):
        q, v, k = ca.SX.sym("x"), ca.SX.sym("vx"), ca.SX.sym("stiffness")
        with pytest.raises(ModelError, match=r"the Lagrangian contains the unknown symbol 'stiffness'"):
            sk.natural.lagrange(q, v, v**2 / 2 - k * q**2, q0=[1.0])

    def test_no_inertia(self):
        m = sk.natural.Mechanism(dim=2)
        m.mass(m.point("A", (0, 0)), 1.0)
        m.point("loose", (1, 1))
        with pytest.raises(SolverError, match=r"'loose\.[xy]' can move but has no inertia"):
            sk.simulate(m, until=1.0)

    def test_beyond_repair(self):
        m = sk.natural.Mechanism(dim=2)
        O, P, A = m.ground("O", (0, 0)), m.ground("P", (5, 0)), m.point("A", (1, 1))
        m.rod(O, A, mass=1, length=1.0)
        m.rod(A, P, mass=1, length=2.0)
        with pytest.raises(SolverError, match=r"cannot be assembled(.|\n)*'OA': violated by(.|\n)*'AP'"):
            sk.simulate(m, until=1.0)

    def test_function_without_a_series(self):
        """It is named, with a method that can do it; that method runs."""
        q, v = ca.SX.sym("x"), ca.SX.sym("vx")
        system = sk.natural.lagrange(q, v, v**2 / 2 - q**2, forces={"odd": ca.erfinv(0.3 * q)}, q0=[1.0])
        with pytest.raises(SolverError, match=r"no series for the operation 'erfinv'; use .*'dop853'"):
            sk.simulate(system, until=1.0, method="taylor")
        assert sk.simulate(system, until=1.0, method="dop853").ok

    def test_not_quadratic(self):
        q, v = ca.SX.sym("x"), ca.SX.sym("vx")
        with pytest.raises(ModelError, match="not quadratic in the velocities"):
            sk.natural.lagrange(q, v, v**4, q0=[1.0])

    def test_velocity_equation_not_linear(self):
        q, v = ca.SX.sym("x", 2), ca.SX.sym("v", 2)
        with pytest.raises(ModelError, match="'fast' is not linear"):
            sk.natural.lagrange(q, v, ca.sumsqr(v), {"fast": ca.sumsqr(v) - 1}, q0=[0, 0])

    def test_impossible_inertia(self):
        m = sk.natural.Mechanism(dim=3)
        frame = [m.point("O", (0, 0, 0)), m.vector("x", (1, 0, 0)), m.vector("y", (0, 1, 0))]
        m.body("b", frame, mass=1, inertia=(0.1, 0.2, 0.5))
        with pytest.raises(ModelError, match="body 'b': no body has the principal moments"):
            m.compile()

    @pytest.mark.parametrize(
        ("build", "message"),
        [
            (lambda m, A: m.point("A", (0, 0)), "already in use"),
            (lambda m, A: m.rod(A, A - A, mass=1), "is a vector"),
            (lambda m, A: m.mass(A, -2.5), r"must not be negative \(got -2.5\)"),
            (lambda m, A: m["B"], "no point or vector 'B'"),
            (lambda m, A: m.point("C", (0, 0), free="z"), "free='z'"),
            (lambda m, A: m.force(A, (1, 2, 3)), "must have 2 components"),
            (lambda m, A: m.prescribe(A, x=A.y), "may depend only on time"),
            (lambda m, A: m.body("b", [A], mass=1), "must consist of 2 points or vectors"),
            (lambda m, A: A.z, "has no z"),
            (lambda m, A: m.cylindrical(None, None, (0, 0), (1, 0)), "requires a spatial mechanism"),
            (lambda m, A: m.mass(A, "3 mm"), "mass 'mass_A': mass: '3 mm' is a length"),
            (lambda m, A: m.point("C", ("12 kg", 0)), "point 'C': at: '12 kg' is a mass"),
            (lambda m, A: m.mass(A, "k*2"), "unknown name 'k' in 'k\\*2'"),
            (
                lambda m, A: m.mass(A, ca.SX.sym("stranger")),
                "'stranger', which is not part of this mechanism",
            ),
        ],
    )
    def test_messages(self, build, message):
        m = sk.natural.Mechanism(dim=2)
        A = m.point("A", (0, 0))
        with pytest.raises(ModelError, match=message):
            build(m, A)
            m.compile()

    def test_nothing_moves(self):
        m = sk.natural.Mechanism(dim=2)
        m.ground("O", (0, 0))
        with pytest.raises(ModelError, match="no point that moves"):
            m.compile()


def test_a_lagrangian_says_what_is_drawn():
    q, v = ca.SX.sym("q", 2), ca.SX.sym("v", 2)
    common: dict = {"q0": [0.6, -0.8], "engine": "casadi"}
    system = sk.natural.lagrange(
        q,
        v,
        ca.sumsqr(v) / 2 - 9.81 * q[1],
        {"rod": ca.sumsqr(q) - 1},
        points={"O": (0, 0), "bob": q, "middle": q / 2},
        lines=[("O", "bob"), ("O", "middle", "spring")],
        **common,
    )
    result = sk.simulate(system, until=0.1)
    assert np.array_equal(result["bob.position"], np.stack([result["q_0"], result["q_1"]], axis=1))
    assert np.allclose(2 * np.asarray(result["middle.position"]), result["bob.position"])
    scene = system.scene()
    assert [link["kind"] for link in scene["links"]] == ["rod", "spring"]
    assert {name: track["fixed"] for name, track in scene["tracks"].items()} == {
        "O": True,
        "bob": False,
        "middle": False,
    }
    for points, lines, message in (
        ({"bob": q, "O": (0, 0)}, [("O", "bop")], "unknown point 'bop'; did you mean 'bob'"),
        ({"bob": (1, 2, 3, 4)}, [], "point 'bob' must have 2 or 3 components"),
        ({"bob": q, "O": (0, 0)}, [("O", "bob", "sprung")], "'sprung' is not a kind of line"),
    ):
        with pytest.raises(ModelError, match=message):
            sk.natural.lagrange(q, v, ca.sumsqr(v) / 2, points=points, lines=lines, **common)
