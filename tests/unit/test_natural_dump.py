"""Mechanisms built in Python, written to a file and read again: the same equations and the same motion."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant.errors import ModelError
from sekant.formulations.natural.combination import combination
from sekant.geometry.spatial import SX
from sekant.io.natural.comparison import first_difference
from sekant.io.natural.expression_text import expression_text
from sekant.io.natural.writer import written
from sekant.io.yaml import yaml_text
from sekant.model.expressions.expression import Expression
from sekant.tables.table import Table

STUDIES = sorted((Path(__file__).parents[2] / "examples" / "natural").glob("*.yaml"))


def planar():
    """Rods, a body, springs, dampers, torques, prescribed points, parameters, points without a name."""
    m = sk.natural.Mechanism(dim=2, gravity=(0.1, -9.7), name="planar", until=0.4, rtol=1e-10)
    k, l = m.parameter("k", 40.0), m.parameter("l", 0.5)
    u = m.vector("u", (0, 1), weight=3.0)
    O, P = m.ground("O", (0, 0)), m.point("P", (1.5, 0.2))
    A, B = m.point("A", (0.3, 0.4), velocity=(0.4, -0.3)), m.point("B", (1.0, 0.5))
    S = m.point("S", (2.0, 0.1), free="x")
    m.prescribe(P, x=1.5 + 0.1 * ca.sin(3 * m.t), y=ca.if_else(m.t > 0.2, 0.2, 0.2 + 0.1 * (m.t - 0.2) ** 3))
    m.rod(O, A, mass=1.2, length=l)
    m.rod(A, B, mass=0.7, inertia=0.05, rigid=False, name="loose")
    body = m.body("plate", [B, u], mass=2 * l, com=(0.1, 0.05), inertia=0.03, lengths=[1.1])
    tip = body.point("tip", at=(1.2, 0.9))
    body.vector("side", (0.2, -1))
    m.distance(A, B)
    m.mass((A + B) / 2, 0.4)
    m.spring(tip, P, stiffness=k * (1 + 0.1 * ca.cos(m.t)))
    m.spring_damper(A + 0.2 * (B - A) + (0.1, 0), S, 30.0, 0.5, length=0.9, name="strut")
    m.mass(S, 0.3)
    m.damper(O, B, 0.3, isotropic=True)
    m.angular_damper(body, 0.05)
    turn = m.angle("turn", body)
    m.angular_spring(turn, 2.0, rest=ca.pi / 2)
    heat = m.track("heat", A.y * A.velocity[0] + 0.1, start=ca.fabs(A.x))
    m.torque(body, -0.2 * ca.tanh(turn) + 0.01 * heat)
    m.force(tip, (-0.1 * ca.sign(tip.velocity[0]), 0.3 * ca.fmax(m.t, 0.1)))
    m.force_between(O, S, 0.2 * ca.exp(-m.t), name="pull")
    m.work("push", S.velocity[0], 0.3)
    m.potential("well", 0.2 * ca.sqrt(1 + A.x**2))
    m.dissipation("air", 0.01 * ca.sumsqr(B.velocity))
    m.output("reach", ca.norm_2(tip.value), "m", derivatives=2)
    m.output("both", ca.vertcat(A.x, B.velocity[1]))
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
    m.torque(arm, (0.1 * ca.cos(m.t), 0, 0), against=base)
    m.spring(end, O, 20.0, 1.0)
    m.perpendicular(m["normal"], z - m["normal"], "level")
    return m


def rolling():
    m = sk.natural.Mechanism(dim=3, name="disc", until=0.3)
    C = m.point("C", (0, 0, 0.3), velocity=(0.5, 0, 0))
    a, b = m.vector("a", (0, 1, 0)), m.vector("b", (1, 0, 0))
    disc = m.body("disc", [C, a, b], 1.0, None, (0.04, 0.02, 0.02))
    m.rolling(disc, C, 0.3, axis=a)
    m.constrain_velocity("steady", C.velocity[0] - 0.5, "no slower")
    return m


def driven():
    m = sk.natural.Mechanism(dim=2, name="driven", until=0.3)
    O, A = m.ground("O", (0, 0)), m.point("A", (0.4, 0))
    B, C = m.point("B", (1.2, 0.1)), m.point("C", (0.1, 0.8))
    m.rod(O, A, mass=1.0)
    m.rod(A, B, mass=1.0)
    m.motor("crank", A - O, 2 * m.t + m.t**2)
    m.on_line(B, O, m.constant_vector((1.2, 0.1)), name="rail")
    m.mass(C, 1.0)
    m.drive("lift", C.y, 0.8 + 0.1 * m.t**2)
    m.no_slip(C, B - A, "edge")
    return m


def reread(tmp_path, m, text=None):
    path = tmp_path / "again.yaml"
    path.write_text(sk.dump(m) if text is None else text)
    return sk.load(path)


@pytest.mark.parametrize("build", [planar, spatial, rolling, driven])
def test_what_python_builds_is_written_and_read_again(tmp_path, build):
    m = build()
    again = reread(tmp_path, m)
    again = again.with_inputs(list(m.parameters))
    assert first_difference(m, again) == ""
    assert again.simulation == m.simulation
    held = [{c.name: (c.weight, c.rate_weight) for c in mechanism.coordinates} for mechanism in (m, again)]
    assert held[0] == held[1]
    assert sk.dump(again) == sk.dump(m)


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_case_studies_are_written_from_what_was_built(tmp_path, path):
    m = sk.load(path)
    again = reread(tmp_path, m, yaml_text(written(m)))
    assert first_difference(m, again) == ""
    assert again.outputs.keys() == m.outputs.keys()
    assert [row.name for row in again.positions.values()] == [row.name for row in m.positions.values()]


def test_motion_after_writing(tmp_path):
    m = planar()
    again = reread(tmp_path, m)
    systems = m.compile(), again.compile(parameters=["k"])
    first, second = (sk.simulate(system) for system in systems)
    for name in ("A.position", "turn", "heat", "reach.rate2"):
        assert np.allclose(first[name], second[name], rtol=1e-7, atol=1e-7)
    softer = [sk.simulate(system, parameters={"k": 10.0})["A.x"][-1] for system in systems]
    assert softer[0] == pytest.approx(softer[1], abs=1e-7)
    assert abs(softer[0] - first["A.x"][-1]) > 1e-3


def test_a_file_that_python_adds_to_is_written_anew(tmp_path):
    m = sk.load(STUDIES[0])
    before = sk.dump(m)
    first, second = list(m.geometry)[:2]
    m.spring(m[first], m[second], 3.0, 0.1, name="added")
    assert "added" not in before
    assert "added" in reread(tmp_path, m).potentials


def test_points_without_a_name_are_sums_where_they_can_be():
    m = planar()
    A, B, u = (m[name] for name in "ABu")
    assert combination((A + B) / 2) == {"A": 0.5, "B": 0.5}
    assert combination(A + 0.3 * (B - A) - u) == pytest.approx({"A": 0.7, "B": 0.3, "u": -1.0})
    assert combination(A - (0.1, 0.0)) is None
    assert combination(A + m.parameter("s", 0.2) * (B - A)) is None
    assert combination(m.expressed(ca.vertcat(A.x, 2 * A.y), 1.0)) is None
    assert combination(m.expressed(A.value + ca.vertcat(m.t, 0), 1.0)) is None


def test_differences_are_seen():
    same = planar()
    assert first_difference(same, planar()) == ""
    for change, found in (
        (lambda m: m.force(m["A"], (1e-3, 0), "extra"), "force 'extra'"),
        (lambda m: m.constrain("extra", m["A"].x), "a position equation"),
        (lambda m: m.mass(m["A"], 1e-4), "its Lagrangian"),
        (lambda m: m.point("Z", (0, 0)), "the set of its coordinates"),
    ):
        other = planar()
        change(other)
        assert first_difference(same, other) == found


def test_what_has_no_text_is_named():
    m = planar()
    m.force(m["A"], (ca.erf(m["A"].x), 0), "odd")
    with pytest.raises(ModelError, match=r"forces 'odd': force: it contains erf\(x\)"):
        sk.dump(m)
    m = planar()
    m.force(m["A"], (SX.sym("stranger"), 0), "odd")
    with pytest.raises(ModelError, match="forces 'odd': force: it contains 'stranger'"):
        sk.dump(m)
    m = planar()
    m.point("a b", (0, 0))
    m.mass(m["a b"], 1.0)
    m.force(m["a b"], (m["a b"].x, 0), "odd")
    with pytest.raises(ModelError, match=r"'a b\.x' cannot stand in an expression"):
        sk.dump(m)
    m = planar()
    m.output("long", sum((ca.sin((j + 0.123) * m["A"].x) for j in range(300)), SX(0)))
    with pytest.raises(ModelError, match="outputs 'long': value: its text would be longer"):
        sk.dump(m)
    m = planar()
    m.potential("field", m.table(Table.cubic(np.linspace(-3, 3, 5), np.ones(5)), m["A"].y))
    with pytest.raises(ModelError, match="potentials 'field': value: it contains"):
        sk.dump(m)
    with pytest.raises(ModelError, match="only models and mechanisms"):
        sk.dump(m.compile())  # type: ignore[arg-type]


def test_text_of_expressions():
    x, y = SX.sym("x"), SX.sym("y")
    names = {x.element_hash(): "x", y.element_hash(): "y.a"}
    for expression in (
        x - (y - x) - -y * (x + y),
        x / (y / x) / (x * y),
        (x**2) ** y + (-x) ** 2 - x**-1.5 + 2 ** (x * y),
        -(x**2) + (-2.5) * x + 1e-7 * y - 3e20,
        ca.if_else(ca.logic_and(x > 0.5, y <= 2), ca.sin(x), ca.logic_not(x == y) * y),
        ca.fmin(ca.atan2(x, y), ca.fabs(ca.floor(x) - ca.ceil(y))) + ca.sign(x - y) + ca.hypot(x, y),
        ca.log1p(x * y) + ca.expm1(x) * 2 - ca.log10(1 + x) + 1 / (1 + x) + 2 * (x - y),
        ca.logic_or(x < y, x != 0.7) + ca.sqrt(x) * ca.tanh(ca.exp(-y)),
    ):
        text = expression_text(expression, names)
        assert isinstance(text, str)
        for values in ((0.7, 0.3), (0.2, 1.9), (1.4, 2.6)):
            known = dict(zip(("x", "y.a"), values, strict=True))
            expected = float(ca.Function("f", [x, y], [expression])(*values))
            assert Expression(text).evaluate(known.__getitem__) == pytest.approx(
                expected, rel=1e-13, abs=1e-13
            )
    assert expression_text(SX(2.5), names) == 2.5
