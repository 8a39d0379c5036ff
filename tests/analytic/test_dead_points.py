"""Runs into a dead point, and springs without a line: the message names the item, the place and the remedy."""

from __future__ import annotations

import re

import pytest

import sekant as sk

CRANK, COUPLER, BEGIN, SPEED = 0.3, 0.9, 1.0, 0.5
DEAD = (CRANK + COUPLER - BEGIN) / SPEED
"""s: crank and coupler are in line."""


def pushed_slider() -> sk.Model:
    """A slider-crank whose slider is driven out, past the place where its links are stretched."""
    Y = (0, 1, 0)

    def rod(length: float) -> sk.Body:
        J = length**2 / 12
        frames = {"end": sk.Frame(position=(length, 0, 0))}
        return sk.Body(mass=1.0, com=(length / 2, 0, 0), inertia=(1e-3, J, J), frames=frames)

    return sk.Model(
        bodies={
            "crank": rod(CRANK),
            "coupler": rod(COUPLER),
            "slider": sk.Body(mass=0.5, inertia=(1e-3, 1e-3, 1e-3)),
        },
        joints={
            "A": sk.joints.Revolute(child="crank", axis=Y, q0=-0.8),
            "B": sk.joints.Revolute(parent="crank.end", child="coupler", axis=Y, q0=1.0),
            "D": sk.joints.Prismatic(child="slider", axis=(1, 0, 0), q0=BEGIN),
            "C": sk.joints.Revolute(parent="coupler.end", child="slider", axis=Y, q0=-0.2),
        },
        motions={"push": sk.Motion(joint="D", value=f"{BEGIN} + {SPEED}*t")},
    )


@pytest.mark.parametrize("formulation", ["joint", "natural"])
@pytest.mark.parametrize("method", ["taylor", "dop853", "radau5"])
def test_a_drive_past_a_dead_point_names_it(formulation, method):
    result = sk.simulate(sk.compile(pushed_slider(), formulation=formulation), 2.0, method=method)
    assert not result.ok
    assert result.final_state.t == pytest.approx(DEAD, abs=1e-5)
    assert result.stats["steps"] + result.stats["rejected"] < 3000  # not until the tolerance is met
    assert "at a dead point (links stretched or folded)" in result.message
    assert "motion 'push' prescribes D.displacement = 1.2 m" in result.message
    assert "end the travel before this point" in result.message
    assert "loosen" not in result.message


@pytest.mark.parametrize("method", ["taylor", "dop853", "rk4"])
def test_a_constraint_that_cannot_be_satisfied_is_named(method):
    options = {"step": 1e-3} if method == "rk4" else {}
    result = sk.simulate(pushed_slider(), 2.0, method=method, **options)
    assert result.message.startswith("'C' cannot be satisfied beyond t = ")


def test_a_stepper_names_the_constraint_and_the_dead_point():
    run = sk.Simulation(sk.compile(pushed_slider()))
    with pytest.raises(sk.SekantError, match=r"'C' cannot be satisfied.*motion 'push' prescribes D\.displ"):
        for _ in range(100):
            run.step(0.01)


def coincident(add) -> sk.System:
    m = sk.natural.Mechanism(dim=2)
    O, A = m.ground("O", (0.2, 0.1)), m.point("A", (0.2, 0.1))
    m.mass(A, 1.3)
    add(m, O, A)
    return m.compile()


@pytest.mark.parametrize(
    ("kind", "add"),
    [
        ("spring", lambda m, O, A: m.spring_damper(O, A, 10, 1, length=0.1, name="it")),
        ("spring", lambda m, O, A: m.spring_damper(O, A, 10, 1, name="it")),
        ("spring", lambda m, O, A: m.spring(O, A, 10, 0.1, name="it")),
        ("damper", lambda m, O, A: m.damper(O, A, 10, name="it")),
        ("actuator", lambda m, O, A: m.force_between(O, A, 10, name="it")),
    ],
)
def test_an_element_whose_ends_coincide_is_named(kind, add):
    message = re.escape(f"the ends 'O' and 'A' of {kind} 'it' coincide")
    with pytest.raises(sk.SekantError, match=message):
        sk.simulate(coincident(add), 0.1)


@pytest.mark.parametrize(
    "add",
    [
        lambda m, O, A: m.spring(O, A, 10, 0.0, name="it"),
        lambda m, O, A: m.damper(O, A, 10, name="it", isotropic=True),
    ],
)
def test_what_needs_no_line_runs_from_coincident_ends(add):
    assert sk.simulate(coincident(add), 0.1).ok
