"""Given motions of mechanisms modeled with points that jump: refused where masses would have to follow."""

from __future__ import annotations

import casadi as ca
import pytest

import sekant as sk
from sekant.engine.reports import motion_jump


def bump(m, height):
    """A ramp that ends at t = 0.5 s, or a step there."""
    return {"ramp": height * ca.fmin(m.t, 0.5), "step": ca.if_else(m.t < 0.5, 0.0, height)}


def tied(kind: str) -> sk.natural.Mechanism:
    m = sk.natural.Mechanism(dim=2)
    P, A = m.point("P", (0, 0)), m.point("A", (0.6, -0.8))
    m.prescribe(P, x=bump(m, 0.3)[kind], y=0.0)
    m.rod(P, A, mass=1.0)
    return m


def hung(kind: str) -> sk.natural.Mechanism:
    """Nothing but a spring and the weight of the point itself on what moves."""
    m = sk.natural.Mechanism(dim=2)
    P, A = m.point("P", (0, 0)), m.point("A", (0.6, -0.8))
    m.prescribe(P, x=bump(m, 0.3)[kind], y=0.0)
    m.mass(P, 2.0)
    m.mass(A, 1.0)
    m.spring_damper(P, A, 50.0, 1.0)
    return m


def motor(kind: str) -> sk.natural.Mechanism:
    m = sk.natural.Mechanism(dim=2)
    O, A = m.ground("O", (0, 0)), m.point("A", (1.0, 0.0))
    m.rod(O, A, mass=1.0)
    m.motor("crank", A - O, bump(m, 0.3)[kind])
    return m


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (tied, "ramp", "'P.x', which is prescribed: its velocity jumps from 0.3 to 0 at t = 0.5 s"),
        (tied, "step", "'P.x', which is prescribed: its position jumps from 0 to 0.3 at t = 0.5 s"),
        (hung, "ramp", None),
        (motor, "ramp", "motion 'crank': its velocity jumps from 0.3 to 0 at t = 0.5 s"),
        (motor, "step", "motion 'crank': its position jumps from 0 to 0.3 at t = 0.5 s"),
    ],
)
def test_jumps(build, kind, message):
    system = build(kind).compile(engine="casadi")
    assert motion_jump(system, 0.0, 1.0) == message
    assert motion_jump(system, 0.0, 0.4) is None
