"""Lengths and frames of mechanisms modeled with points: solved for from rough starts, never dropped,
contradictions named."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.engine.functions.outputs import all_outputs
from sekant.errors import ModelError

EXACT = (0.6, -0.8)


def pendulum(start, rigid=True, stated="rod", **options):
    """A body in the frame O, A whose length of 1 m another item states."""
    m = sk.natural.Mechanism(dim=2, name="pendulum")
    O, A = m.ground("O", (0, 0)), m.point("A", start)
    m.body("arm", [O, A], mass=1.3, com=(0.5, 0.1), inertia=0.2, rigid=rigid, **options)
    if stated == "rod":
        m.rod(O, A, mass=0.4, length=1.0, name="brace")
    elif stated == "distance":
        m.distance(O, A, 1.0, name="brace")
    return m


@pytest.mark.parametrize("rigid", [True, False])
@pytest.mark.parametrize("stated", ["rod", "distance"])
def test_frames_take_their_scale_from_what_is_stated(rigid, stated):
    """A start that is 20 % too short gives the same equations as an exact one."""
    systems = [
        pendulum(start, rigid, stated).compile(engine="casadi")
        for start in (EXACT, (0.8 * EXACT[0], 0.8 * EXACT[1]))
    ]
    exact, rough = systems
    assert [block.name for block in rough.equations.constraints] == ["brace"]
    q, v = np.array(EXACT), np.array([0.8, 0.6])
    assert rough.energy(q, v) == pytest.approx(exact.energy(q, v), rel=1e-12)
    assert np.allclose(rough.forward_dynamics(q, v), exact.forward_dynamics(q, v), rtol=1e-9)
    found = sk.assemble(rough)
    assert np.hypot(*found.q) == pytest.approx(1.0, abs=1e-12)
    assert {moved.name for moved in found.report.moved} == {"A.x", "A.y"}


def test_a_frame_in_space_from_a_rough_start():
    """Lengths and angle of a body of three points, stated by distances that do not fit the start."""
    m = sk.natural.Mechanism(dim=3)
    O, A, B = m.ground("O", (0, 0, 0)), m.point("A", (1.1, 0.1, 0)), m.point("B", (0.1, 0.7, 0.2))
    m.body("plate", [O, A, B], mass=1, inertia=(0.2, 0.3, 0.4))
    for name, ends, length in (("a", (O, A), 1.0), ("b", (O, B), 0.8), ("c", (A, B), 1.2)):
        m.distance(*ends, length, name=name)
    system = m.compile(engine="casadi")
    q = sk.assemble(system).q
    sides = [np.linalg.norm(q[:3]), np.linalg.norm(q[3:]), np.linalg.norm(q[:3] - q[3:])]
    assert sides == pytest.approx([1.0, 0.8, 1.2], abs=1e-12)
    Q = system.equations.lookups.oracle(
        "Q", [system.equations.q], [dict(_outputs(system))["plate.center"]]
    )  # the center is the origin
    assert np.allclose(np.array(Q(q)), 0.0)
    U = np.array(system.scene()["tracks"]["plate"]["U"])
    axes = np.column_stack([np.zeros(3), q[:3], q[3:]]) @ U
    assert np.allclose(axes.T @ axes, np.eye(2), atol=1e-10)


def _outputs(system):
    return [(output.name, output.expression) for output in all_outputs(system)]


def test_a_length_on_a_frame_is_not_dropped():
    m = sk.natural.Mechanism(dim=2)
    O, A = m.ground("O", (0, 0)), m.point("A", (0.31, 0.05))
    m.body("arm", [O, A], mass=1.0, inertia=0.1)
    m.distance(O, A, 0.3, name="length")
    result = sk.simulate(m.compile(engine="casadi"), until=0.02, method="rk4", step=0.01)
    assert np.hypot(*result["A.position"].T) == pytest.approx(0.3, abs=1e-9)


def test_contradictions_name_both_items():
    m = pendulum(EXACT, lengths=[1.1])
    with pytest.raises(
        ModelError,
        match=r"rod 'brace': rod 'brace' and body 'arm' contradict each other: the distance between A and O is 1 m "
        r"in the first and 1.1 m in the second",
    ):
        m.compile()
    m = pendulum(EXACT)
    m.distance(m["A"], m["O"], 0.9, name="other")
    with pytest.raises(ModelError, match=r"distance 'other' and rod 'brace' contradict.*0.9 m.*1 m"):
        m.compile()
    m = pendulum(EXACT)
    m.distance(m["A"], m["O"], 1.0, name="other")
    assert [block.name for block in m.compile(engine="casadi").equations.constraints] == ["brace"]


def test_lengths_between_points_that_do_not_move():
    m = sk.natural.Mechanism(dim=2)
    O, P, A = m.ground("O", (0, 0)), m.ground("P", (1, 0)), m.point("A", (0, 1))
    m.mass(A, 1.0)
    m.rod(O, P, length=1.2, name="base")
    with pytest.raises(
        ModelError, match=r"rod 'base' requires a distance of 1.2 m .* are fixed and 1 m apart"
    ):
        m.compile()


def test_a_frame_whose_length_varies_is_refused():
    m = sk.natural.Mechanism(dim=2)
    O, A = m.ground("O", (0, 0)), m.point("A", EXACT)
    m.body("arm", [O, A], mass=1.3, inertia=0.2, rigid=False)
    m.distance(O, A, m.parameter("l", 1.0), name="brace")
    with pytest.raises(ModelError, match=r"length l of distance 'brace' varies .* the frame of body 'arm'"):
        m.compile()


def test_what_cannot_be_assembled_stays_rough_and_says_so():
    m = pendulum(EXACT, stated="none")
    P = m.ground("P", (5, 0))
    m.distance(m["A"], P, 1.0, name="far")
    m.distance(m["A"], m["O"], 1.0, name="near")
    with pytest.raises(sk.SekantError, match=r"cannot be assembled(.|\n)*'far': violated by(.|\n)*'near'"):
        sk.simulate(m.compile(engine="casadi"), until=1.0)


def two_hinged_rods(axis):
    """Rods OA and AB, hinged at A about an axis that rod OA carries; `axis` makes it."""
    m = sk.natural.Mechanism(dim=3, gravity=(0, -9.81, 0))
    O, a0 = m.ground("O", (0, 0, 0)), m.ground_vector("a0", (0, 1, 0))
    A, B = m.point("A", (1, 0, 0)), m.point("B", (1, -0.7, 0), velocity=(0.3, 0, 0))
    first = m.body("first", [O, A, a0], mass=1.1, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    second = m.body("second", [A, B, axis(m, first, A - O, a0)], mass=0.8, com=(0.3, 0, 0), inertia=0.05)
    return m, second


@pytest.mark.parametrize(
    "axis",
    [
        lambda m, first, u, a0: first.vector("a1", (0, 0, 1)),
        lambda m, first, u, a0: first.vector("a1", (0, 0, 0.7)),
        lambda m, first, u, a0: m.assign("a1", first.vector("u", (1, 0, 0)).cross(a0)),
        lambda m, first, u, a0: m.assign(
            "a1", 0.6 * first.vector("e", (0, 0, 1)) + 0.8 * first.vector("f", (0, 0, 1))
        ),
    ],
    ids=["unit", "shorter", "product", "sum"],
)
def test_what_a_body_carries_is_not_made_rigid_again(axis):
    """Two hinges: the length of their second axis is no equation, and no row is redundant."""
    m, _ = two_hinged_rods(axis)
    system = m.compile(engine="casadi")
    names = [block.name for block in system.equations.constraints]
    assert names == ["first.length1", "first.angle", "second.length1", "second.angle"]
    structure = sk.analyses.structural_analysis(system)
    assert (structure.degrees_of_freedom, structure.rank) == (2, 4)
    result = sk.simulate(system, 0.3, rtol=1e-10, atol=1e-10)
    length = np.linalg.norm(result["a1.value"], axis=1)
    assert np.ptp(length) < 1e-9
    assert abs(result["energy.balance"][-1]) < 1e-7


def test_a_second_body_in_what_the_first_carries_adds_nothing():
    """Points and angles of a frame that another body carries: no further equations."""
    m = sk.natural.Mechanism(dim=3)
    O, A, B = m.ground("O", (0, 0, 0)), m.point("A", (1, 0, 0)), m.point("B", (0.1, 0.8, 0))
    plate = m.body("plate", [O, A, B], mass=1, inertia=(0.2, 0.3, 0.4))
    C, D = plate.point("C", (0.4, 0.5, 0.2)), plate.point("D", (0.3, 0.1, 0.6))
    m.body("box", [A, C, D], mass=0.3, inertia=0.02)
    system = m.compile(engine="casadi")
    assert [block.name for block in system.equations.constraints] == [
        "plate.length1",
        "plate.length2",
        "plate.angle",
    ]
    assert sk.analyses.structural_analysis(system).degrees_of_freedom == 3


def test_lengths_that_contradict_what_a_body_carries_are_refused():
    m = sk.natural.Mechanism(dim=3)
    O, A, a0 = m.ground("O", (0, 0, 0)), m.point("A", (1, 0, 0)), m.ground_vector("a0", (0, 1, 0))
    B = m.point("B", (1, -0.7, 0))
    a1 = m.body("first", [O, A, a0], mass=1.1).vector("a1", (0, 0, 0.7))
    m.body("second", [A, B, a1], mass=0.8, lengths=[0.7, 1.0, 0])
    with pytest.raises(
        ModelError, match=r"body 'second' and body 'first' contradict each other: a1 is fixed in.*0\.7 m"
    ):
        m.compile(engine="casadi")


def test_a_right_angle_that_fixed_components_hold_is_no_equation():
    """An arm that moves in a horizontal plane only is square to the vertical by itself."""
    m = sk.natural.Mechanism(dim=3)
    O, up = m.ground("O", (0, 0, 0)), m.ground_vector("up", (0, 0, 1))
    A = m.point("A", (0.7, 0, 0), free="xy")
    m.body("arm", [O, A, up], mass=1.2, inertia=(0.02, 0.03, 0.04))
    assert [block.name for block in m.compile(engine="casadi").equations.constraints] == ["arm.length1"]
