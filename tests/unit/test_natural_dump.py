"""Mechanisms built in Python, written to a file and read again: the same items, the same motion."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.io import model_text
from sekant.tables.table import Table

STUDIES = sorted((Path(__file__).parents[2] / "examples" / "natural").glob("*.yaml"))


def planar():
    """Rods, a body, springs, dampers, torques, prescribed points, parameters, points without a name."""
    m = sk.natural.Mechanism(dim=2, gravity=(0.1, -9.7), name="planar", until=0.4, rtol=1e-10)
    m.parameter("k", 40.0)
    m.parameter("l", 0.5)
    u = m.vector("u", (0, 1), weight=3.0)
    O, P = m.ground("O", (0, 0)), m.point("P", (1.5, 0.2))
    A, B = m.point("A", (0.3, 0.4), velocity=(0.4, -0.3)), m.point("B", (1.0, 0.5))
    S = m.point("S", (2.0, 0.1), free="x")
    m.prescribe(P, x="1.5 + 0.1*sin(3*t)", y="if_else(t > 0.2, 0.2, 0.2 + 0.1*(t - 0.2)^3)")
    m.rod(O, A, mass=1.2, length="l")
    m.rod(A, B, mass=0.7, inertia=0.05, rigid=False, name="loose")
    body = m.body("plate", [B, u], mass="2*l", com=(0.1, 0.05), inertia=0.03, lengths=[1.1])
    tip = body.point("tip", at=(1.2, 0.9))
    body.vector("side", (0.2, -1))
    m.distance(A, B, name="link")
    m.mass((A + B) / 2, 0.4)
    m.spring(tip, P, stiffness="k*(1 + 0.1*cos(t))")
    m.spring_damper(A + 0.2 * (B - A) + (0.1, 0), S, 30.0, 0.5, length=0.9, name="strut")
    m.mass(S, 0.3)
    m.damper(O, B, 0.3, isotropic=True)
    m.angular_damper(body, 0.05)
    m.angle("turn", body)
    m.angular_spring("turn", 2.0, rest="pi/2")
    m.track("heat", "A.y*A.vx + 0.1", start="abs(A.x)")
    m.torque(body, "-0.2*tanh(turn) + 0.01*heat - 0.01*plate.w")
    m.force(tip, ("-0.1*sign(tip.vx)", "0.3*max(t, 0.1)"))
    m.force_between(O, S, "0.2*exp(-t)", name="pull")
    m.work("push", "S.vx", 0.3)
    m.potential("well", "0.2*sqrt(1 + A.x^2)")
    m.dissipation("air", "0.01*(B.vx^2 + B.vy^2)")
    m.output("reach", "hypot(tip.x, tip.y)", "m", derivatives=2)
    m.output("both", ["A.x", "B.vy"])
    return m


def spatial():
    m = sk.natural.Mechanism(dim=3, name="spatial", until=0.3)
    O, z = m.ground("O", (0, 0, 0)), m.ground_vector("z", (0, 0, 1))
    A, B = m.point("A", (0.2, 0.1, 1)), m.point("B", (1, 0, 0.9), velocity=(0, 0.5, 0))
    x, y = m.vector("x", (1, 0, 0)), m.vector("y", (0, 1, 0))
    u, w = m.vector("u", (0.6, 0.8, 0)), m.vector("w", (-0.8, 0.6, 0))
    base = m.body("base", [A, x, y], 2.0, (0.1, 0, 0), (0.3, 0.4, 0.5))
    arm = m.body("arm", [B, u, w], 1.0, None, [[0.2, 0.01, 0], [0.01, 0.3, 0], [0, 0, 0.35]])
    end = arm.point("end", (0.2, 0, 0.1))
    m.assign("normal", x.cross(y))
    m.revolute(None, base, at=(0, 0, 0), axis=(0, 0, 1))
    m.universal(base, arm, at=(0.7, 0, 0.9), axis=(1, 0, 0), other=(0, 1, 0))
    m.torque(arm, ("0.1*cos(t)", 0, 0), against=base)
    m.spring(end, O, 20.0, 1.0)
    m.perpendicular(m["normal"], z - m["normal"], "level")
    return m


def rolling():
    m = sk.natural.Mechanism(dim=3, name="disc", until=0.3)
    C = m.point("C", (0, 0, 0.3), velocity=(0.5, 0, 0))
    a, b = m.vector("a", (0, 1, 0)), m.vector("b", (1, 0, 0))
    disc = m.body("disc", [C, a, b], 1.0, None, (0.04, 0.02, 0.02))
    m.rolling(disc, C, 0.3, axis=a)
    m.constrain_velocity("steady", "C.vx - 0.5", "no slower")
    return m


def driven():
    m = sk.natural.Mechanism(dim=2, name="driven", until=0.3)
    O, A = m.ground("O", (0, 0)), m.point("A", (0.4, 0))
    B, C = m.point("B", (1.2, 0.1)), m.point("C", (0.1, 0.8))
    m.rod(O, A, mass=1.0)
    m.rod(A, B, mass=1.0)
    m.motor("crank", A - O, "2*t + t^2")
    m.on_line(B, O, m.constant_vector((1.2, 0.1)), name="rail")
    m.mass(C, 1.0)
    m.drive("lift", "C.y", "0.8 + 0.1*t^2")
    m.no_slip(C, B - A, "edge")
    return m


def reread(tmp_path, m):
    path = tmp_path / "again.yaml"
    path.write_text(model_text(m))
    return sk.load(path)


@pytest.mark.parametrize("build", [planar, spatial, rolling, driven])
def test_what_python_builds_is_written_and_read_again(tmp_path, build):
    m = build()
    again = reread(tmp_path, m)
    assert again == m.model
    assert model_text(again) == model_text(m)
    assert model_text(sk.natural.Mechanism.of(again)) == model_text(m)


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_case_studies_are_written_and_read_again(tmp_path, path):
    m = sk.load(path)
    assert reread(tmp_path, m) == m


def test_motion_after_writing(tmp_path):
    m = planar()
    again = reread(tmp_path, m)
    systems = m.compile(), sk.compile(again, parameters=["k"])
    first, second = (sk.simulate(system) for system in systems)
    for name in ("A.position", "turn", "heat", "reach.rate2"):
        assert np.allclose(first[name], second[name], rtol=1e-7, atol=1e-7)
    softer = [sk.simulate(system, parameters={"k": 10.0})["A.x"][-1] for system in systems]
    assert softer[0] == pytest.approx(softer[1], abs=1e-7)
    assert abs(softer[0] - first["A.x"][-1]) > 1e-3


def test_texts_and_casadi_expressions_mean_the_same():
    ends = []
    for text in (True, False):
        m = sk.natural.Mechanism(dim=2)
        O, A = m.ground("O", (0, 0)), m.point("A", (0.6, -0.8), velocity=(0.2, 0.1))
        u = m.vector("u", (1, 0), rate=(0, 0.3))
        body = m.body("plate", [A, u], mass=0.4, com=(0.1, 0.02), inertia=0.03)
        k = m.parameter("k", 12.0)
        heat = m.track("heat", "A.vx*A.y" if text else A.velocity[0] * A.y)
        tip = body.point("tip", (0.3, 0.1))
        wind = (
            ("-k*A.x + heat", "sin(3*t)*tip.vx")
            if text
            else (-k * A.x + heat, ca.sin(3 * m.t) * tip.velocity[0])
        )
        m.force(A, wind)
        m.torque(body, "-0.1*plate.w" if text else -0.1 * body.angular_velocity)
        m.spring(O, (A + tip) / 2, 20.0, 0.5)
        m.output("far", "hypot(tip.x, tip.y)" if text else ca.norm_2(tip.value))
        system = m.compile(engine="casadi")
        state = system.initial_state()
        ends.append(system.forward_dynamics(state.q + 0.01, state.v, 0.7, {"k": 9.0}))
    assert np.allclose(*ends, rtol=1e-13)


def test_a_file_that_python_adds_to(tmp_path):
    model = sk.load(STUDIES[0])
    m = sk.natural.Mechanism.of(model)
    m.spring(m["P1"], m["P2"], 3.0, 0.1, name="added")
    assert "added" not in model_text(model)
    again = reread(tmp_path, m)
    assert again.natural is not None
    assert again.natural.items["springs"]["added"].ends == ("P1", "P2")
    with pytest.raises(ModelError, match="has no section 'natural'"):
        sk.natural.Mechanism.of(sk.Model())


def test_points_without_a_name_are_sums_where_they_can_be():
    m = planar()
    A, B, u = (m[name] for name in "ABu")
    assert m.combination((A + B) / 2) == {"A": 0.5, "B": 0.5}
    assert m.combination(A + 0.3 * (B - A) - u) == pytest.approx({"A": 0.7, "B": 0.3, "u": -1.0})
    assert m.combination(A - (0.1, 0.0)) is None
    assert m.combination(A + m.parameter("s", 0.2) * (B - A)) is None
    assert m.combination(m.expressed(ca.vertcat(A.x, 2 * A.y), 1.0)) is None
    assert m.combination(m.expressed(A.value + ca.vertcat(m.t, 0), 1.0)) is None


def test_what_has_no_form_in_a_file_is_named():
    m = planar()
    m.force(m["A"], (ca.erf(m["A"].x), 0), "odd")
    with pytest.raises(ModelError, match=r"force 'odd': contains the CasADi expression erf\(A.x\).*use text"):
        model_text(m)
    m = planar()
    m.potential("field", m.table(Table.cubic(np.linspace(-3, 3, 5), np.ones(5)), m["A"].y))
    with pytest.raises(ModelError, match="potential 'field': contains the CasADi expression"):
        model_text(m)
    with pytest.raises(ModelError, match="only models and mechanisms"):
        model_text(m.compile(engine="casadi"))  # type: ignore[arg-type]
    q, v = SX.sym("q"), SX.sym("v")
    bare = sk.natural.lagrange(q, v, v**2 - q**2, q0=[0.1], engine="casadi")
    with pytest.raises(ModelError, match="a bare Lagrangian in CasADi symbols cannot be written to a file"):
        model_text(bare.model)
