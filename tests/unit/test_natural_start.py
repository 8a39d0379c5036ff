"""Start values of mechanisms modeled with points and bare Lagrangians: what is kept, contradicted, or free."""

from __future__ import annotations

import json

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant.errors import ModelError
from sekant.io import model_text


def codes(found) -> list[str]:
    return [warning.code for warning in found.warnings]


# -- contradicted values -------------------------------------------------------------------------------


def crank(at=(0.18, 0.24), velocity=None):
    """A rod of 0.3 m about O."""
    m = sk.natural.Mechanism(dim=2, gravity=(0, -9.81))
    m.rod(m.ground("O", (0, 0)), m.point("A", at, velocity=velocity), mass=1.3, length=0.3)
    return m


def test_places_that_the_lengths_contradict_are_named_with_their_numbers():
    [warning] = sk.simulate(crank(at=(1.0, 1.0)), 0.01, output_step=0.01).warnings
    assert warning.code == "start_contradicted"
    assert warning.item == "A.x, A.y"
    assert "A.x 1 -> 0.212132" in warning.cause


@pytest.mark.parametrize("scale", [1.0, 1.004])
def test_rough_places_and_right_ones_are_no_contradiction(scale):
    assert codes(sk.assemble(crank(at=(0.18 * scale, 0.24 * scale)))) == []


def test_a_velocity_along_a_rod_is_named():
    [warning] = sk.assemble(crank(velocity=(0.6, 0.8))).warnings  # along the rod: nothing is left of it
    assert (warning.code, warning.item) == ("start_contradicted", "A.vx, A.vy")
    assert "A.vy 0.8 -> " in warning.cause
    assert codes(sk.assemble(crank(velocity=(0.8, -0.6)))) == []


def test_a_velocity_of_a_component_that_is_not_free_is_refused():
    m = sk.natural.Mechanism(dim=2)
    m.mass(m.point("B", (1.2, 0), free="x", velocity=(-4, 0.7)), 1.1)
    with pytest.raises(
        ModelError, match=r"velocity of 'B' has the component 0.7 along y, but it can move only along x"
    ):
        m.compile()


def test_start_values_of_prescribed_components_are_compared_with_the_functions():
    def pushed(at, velocity):
        m = sk.natural.Mechanism(dim=2, gravity=(0, 0))
        P, A = m.point("P", at, velocity=velocity), m.point("A", (0.5, 0.7))
        m.prescribe(P, x="0.3 + 0.2*t", y="0.1*t")
        m.rod(P, A, mass=1.0)
        return sk.assemble(m)

    assert codes(pushed((0.3, 0.0), (0.2, 0.1))) == ["start_undetermined"]
    wrong = pushed((0.4, 0.0), (0.2, -0.1)).warnings[0]
    assert wrong.code == "start_contradicted"
    assert "P.x 0.4 -> 0.3" in wrong.cause
    assert "P.vy -0.1 -> 0.1" in wrong.cause


def lagrangian(constraint, q0, v0):
    q, v = ca.SX.sym("q", 3), ca.SX.sym("v", 3)
    L = (2.0 * v[0] ** 2 + 3.0 * v[1] ** 2 + 5.0 * v[2] ** 2) / 2
    return sk.natural.lagrange(q, v, L, constraints={"c": constraint(q, v)}, q0=q0, v0=v0)


def skate(q, v):
    return v[0] * ca.sin(q[2]) - v[1] * ca.cos(q[2])


def sphere(q, v):
    return ca.sumsqr(q) - 1


@pytest.mark.parametrize(
    ("constraint", "q0", "v0", "item", "change"),
    [(skate, [0, 0, 0], [0, 1, 1], "v_1", "v_1 1 -> 0"), (sphere, [2, 0, 0], [0, 0, 0], "q_0", "q_0 2 -> 1")],
)
def test_start_values_of_a_bare_lagrangian_that_its_constraints_contradict(constraint, q0, v0, item, change):
    [warning] = sk.simulate(lagrangian(constraint, q0, v0), 0.01, output_step=0.01).warnings
    assert (warning.code, warning.item) == ("start_contradicted", item)
    assert change in warning.cause


# -- the sign of multipliers ---------------------------------------------------------------------------


def test_the_force_of_a_constraint_is_minus_its_gradient_times_the_multiplier():
    """A bob that hangs at rest on |q|^2 = 1: 0 = -m g e - 2 q lam at q = -e, so lam = m g/2; written the other way
    round, 1 - |q|^2 = 0, the sign changes."""
    q, v, g, mass = ca.SX.sym("q", 2), ca.SX.sym("v", 2), 9.81, 0.7
    for sign in (1.0, -1.0):
        system = sk.natural.lagrange(
            q,
            v,
            mass * ca.sumsqr(v) / 2 - mass * g * q[1],
            constraints={"rod": sign * (ca.sumsqr(q) - 1)},
            q0=[0, -1],
            v0=[0, 0],
        )
        result = sk.simulate(system, 0.01, output_step=0.01)
        assert result["rod.multiplier"][0] == pytest.approx(sign * mass * g / 2, rel=1e-12)


def test_the_multiplier_of_a_rod_and_its_force_in_points():
    """A massless rod of length l = 0.5 carries m g: tension 2 l lam, and the ground pulls upward."""
    m = sk.natural.Mechanism(dim=2, gravity=(0, -9.81))
    O, A = m.ground("O", (0, 0)), m.point("A", (0, -0.5))
    m.rod(O, A, length=0.5, name="rod")
    m.mass(A, 0.7)
    result = sk.simulate(m, 0.01, output_step=0.01)
    lam = result["rod.multiplier"][0]
    assert lam == pytest.approx(0.7 * 9.81 / (2 * 0.5), rel=1e-12)
    assert result["rod.force"][0] == pytest.approx(2 * 0.5 * lam, rel=1e-12)
    assert result["O.reaction"][0] == pytest.approx([0, 0.7 * 9.81], abs=1e-12)


# -- velocities that nothing determines ----------------------------------------------------------------


def top(B, velocity=None):
    """A symmetric top about O, whose axis is at A; B completes its frame."""
    m = sk.natural.Mechanism(dim=3, gravity=(0, 0, -9.81))
    O, A = m.ground("O", (0, 0, 0)), m.point("A", (0.6, 0, 0.8), velocity=(0, 1.2, 0))
    m.body(
        "top", [O, A, m.point("B", B, velocity=velocity)], mass=2.0, com=(0.5, 0, 0), inertia=(0.01, 0.6, 0.6)
    )
    return m


@pytest.mark.parametrize("B", [(0.8, 0, -0.6), (0.3, 1, 0.4), (0.9, 0.3, 0.1)])
def test_a_top_starts_without_twist_whichever_point_completes_its_frame(B):
    """w = a x a' of the axis a: of all spins about a, none has the least energy."""
    result = sk.simulate(top(B), 0.01, output_step=0.01)
    a, rate = np.array([0.6, 0, 0.8]), np.array([0, 1.2, 0])
    assert np.allclose(result["top.angular_velocity"][0], np.cross(a, rate), atol=1e-13)
    [warning] = result.warnings
    assert warning.code == "start_undetermined"
    assert warning.item.startswith("B.v")
    assert "least kinetic energy" in result.summary()


def test_a_stated_twist_is_kept():
    w = np.cross([0.6, 0, 0.8], [0, 1.2, 0]) + 7.0 * np.array([0.6, 0, 0.8])
    B = np.array([0.8, 0, -0.6])
    found = sk.simulate(top(B, np.cross(w, B)), 0.01, output_step=0.01)
    assert np.allclose(found["top.angular_velocity"][0], w, atol=1e-12)
    assert codes(found) == []


@pytest.mark.parametrize("second", [0.4, 1.7])
def test_a_collar_on_a_turning_rod_does_not_slide(second):
    """The collar's place on the rod is free; the point S that gives the rod its direction does not matter."""
    m = sk.natural.Mechanism(dim=2, gravity=(0, 0))
    along = np.array([0.8, 0.6])
    O, S = m.ground("O", (0, 0)), m.point("S", second * along, velocity=second * 0.9 * np.array([-0.6, 0.8]))
    m.body("rod", [O, S], mass=1.0, inertia=0.3)
    C = m.point("C", 0.5 * along)
    m.mass(C, 2.0)
    m.on_line(C, O, m.assign("u", S - O))
    found = sk.assemble(m)
    names = sk.compile(m).state_names
    v = found.v[[names.index(f"C.v{k}") - len(found.q) for k in "xy"]]
    assert np.allclose(v, 0.5 * 0.9 * np.array([-0.6, 0.8]), atol=1e-13)
    assert codes(found) == ["start_undetermined"]
    assert len(found.report.free) == 1


def test_what_starts_at_rest_and_what_is_apart_gives_no_warning():
    m = crank(velocity=(0.8, -0.6))
    m.rod(m.ground("O2", (1, 0)), m.point("A2", (1, 0.5)), mass=1.0)
    report = sk.assemble(m).report
    assert [one.name for one in report.free] == ["A2.vx"]
    assert report.free[0].value == 0.0
    assert report.warnings == ()


def test_a_bare_lagrangian_fills_rates_that_are_not_given():
    """v_0 = v_1 on the diagonal with one given; v_2 apart stays at rest."""
    system = lagrangian(lambda q, v: v[0] - 2 * v[1] + v[2], [0, 0, 0], [1.0, None, None])
    found = sk.assemble(system)
    # least 3 v1^2 + 5 v2^2 with 2 v1 - v2 = 1: v1 = 10/23, v2 = -3/23
    assert np.allclose(found.v, [1, 10 / 23, -3 / 23], atol=1e-14)
    assert codes(found) == ["start_undetermined"]


def test_check_lists_free_velocities_and_warnings(tmp_path):
    from typer.testing import CliRunner

    from sekant.views.cli import app

    file = tmp_path / "top.yaml"
    file.write_text(model_text(top((0.3, 1, 0.4)).model))
    text = CliRunner().invoke(app, ["check", str(file)]).output
    assert "undetermined velocities at the start, chosen for the least kinetic energy: B.v" in text
    assert "warning: B.v" in text
    told = json.loads(CliRunner().invoke(app, ["check", "--json", str(file)]).output)
    assert len(told["free_velocities"]) == 1
    assert [w["code"] for w in told["warnings"]] == ["start_undetermined"]
