"""dop853 where tables have breaks and switches flip: it lands, sees one side only, and goes on in the next mode."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
import pytest

from sekant.engine.codegen.build import build
from sekant.solvers.common.modes import Switching
from sekant.solvers.common.outcome import Outcome
from sekant.solvers.ode import OdeProblem, integrate
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table

t, x = ca.SX.sym("t"), ca.SX.sym("x", 2)
p = ca.SX.sym("p", 0)
TIGHT: Any = {"rtol": 1e-10, "atol": 1e-12}


def problem(acceleration: Any, lookups: Lookups | None = None, held: bool = True) -> OdeProblem:
    """A point (position x[0], speed x[1]) with the given acceleration."""
    lookups = lookups or Lookups()
    rhs = build("point", [t, x, p], [ca.vertcat(x[1], acceleration)], lookups)
    switching = Switching(rhs.guards, rhs.sites, lookups.tables) if held else None
    return OdeProblem(rhs, 2, tables=rhs.tables, nq=1, nv=1, switching=switching)


def run(
    acceleration: Any, until: float, start: Any, lookups: Lookups | None = None, **options: Any
) -> Outcome:
    return integrate(
        problem(acceleration, lookups), np.linspace(0.0, until, 11), start, **{**TIGHT, **options}
    )


def bilinear(time: np.ndarray, soft: float, hard: float, speed: float) -> np.ndarray:
    """Position on a spring of squared frequency `soft` where x < 0 and `hard` where x > 0, from 0 with a speed."""
    w, W = np.sqrt(soft), np.sqrt(hard)
    local = time % (np.pi / w + np.pi / W)
    late = local - np.pi / W
    return np.where(late < 0, speed / W * np.sin(W * local), -speed / w * np.sin(w * late))


def test_a_spring_with_a_kink_in_closed_form_and_the_error_falls_with_every_decade():
    law = -4.0 * ca.fmin(x[0], 0) - 25.0 * ca.fmax(x[0], 0)
    errors = []
    for rtol in 10.0 ** -np.arange(5, 12):
        outcome = run(law, 20.0, [0.0, 1.5], rtol=rtol, atol=1e-2 * rtol)
        assert outcome.status == "finished"
        assert outcome.stats["landings"] > 5
        errors.append(np.max(np.abs(outcome.x[:, 0] - bilinear(outcome.t, 4.0, 25.0, 1.5))))
    assert all(after < before for before, after in pairwise(errors)), errors
    assert errors[-1] < 3e-10


def test_landing_costs_no_more_than_separate_runs_over_each_side():
    law = -4.0 * ca.fmin(x[0], 0) - 25.0 * ca.fmax(x[0], 0)
    ends = np.concatenate([[0.0], np.cumsum(np.tile([np.pi / 5, np.pi / 2], 9))])
    joined = integrate(problem(law), [0.0, ends[-1]], [0.0, 1.5], **TIGHT)
    apart, start = 0, [0.0, 1.5]
    for k, (low, high) in enumerate(pairwise(ends)):
        side = problem(-25.0 * x[0] if k % 2 == 0 else -4.0 * x[0], held=False)
        one = integrate(side, [low, high], start, **TIGHT)
        apart, start = apart + one.stats["evaluations"], one.x_last
    assert joined.stats["evaluations"] < 1.5 * apart


def test_a_break_that_matters_less_than_the_tolerance_is_stepped_over():
    table = Table.linear([-5.0, 0.3, 5.0], [-5.3, 0.0, 4.7 + 1e-9])
    lookups = Lookups()
    outcome = run(-lookups(table, x[0]), 3.0, [0.0, 1.0], lookups, rtol=1e-6, atol=1e-8)
    assert outcome.status == "finished"
    assert outcome.stats["landings"] == 0
    assert outcome.stats["rejected"] == 0


@pytest.mark.parametrize("speed", [1.0, -1.0])
@pytest.mark.parametrize("extrapolation", ["constant", "linear", "polynomial"])
def test_leaving_the_range_of_a_table(extrapolation, speed):
    """The force 0 between the ends, then that of the continuation: nothing, a line, a parabola about the end."""
    powers = {"constant": 0.0, "linear": 2.0, "polynomial": 2.0}
    curve = [[[0.5, 2.0, 0.0]], [[2.5, 2.0, 0.0]]] if extrapolation != "constant" else [[[0.5]], [[0.5]]]
    table = Table(np.array([-1.0, 0.0, 1.0]), np.array(curve), extrapolation)
    lookups = Lookups()
    outcome = run(lookups(table, x[0]), 2.0, [0.0, 3 * speed], lookups)
    assert outcome.status == "finished"
    slope = powers[extrapolation]
    if extrapolation == "constant":
        expected = 3 * speed * outcome.t + 0.25 * outcome.t**2
    else:  # x'' = 2.5 + 2 x everywhere
        w = np.sqrt(slope)
        expected = (1.25) * (np.cosh(w * outcome.t) - 1) + 3 * speed / w * np.sinh(w * outcome.t)
    np.testing.assert_allclose(outcome.x[:, 0], expected, rtol=1e-8, atol=1e-9)


def test_beyond_a_range_that_is_an_error_the_run_ends_on_it():
    lookups = Lookups()
    table = Table.linear([-1.0, 1.0], [0.0, 0.0])
    outcome = run(lookups(table, x[0]), 2.0, [0.0, 1.0], lookups)
    assert outcome.status == "not_finite"
    assert outcome.t_last == pytest.approx(1.0, abs=1e-8)
    assert outcome.t[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("speed", [2.0, -2.0])
def test_laps_of_a_periodic_table(speed):
    """A saw tooth force: within each lap the motion is that of x'' = 1 + (x - lap) against a potential."""
    lookups = Lookups()
    table = Table(np.array([0.0, 0.5, 1.0]), np.array([[[1.0, 1.0]], [[-1.5, 1.0]]]), "periodic")
    outcome = run(lookups(table, x[0]), 3.0, [0.1, speed], lookups)
    assert outcome.status == "finished"
    assert abs(outcome.x_last[0]) > 5
    assert outcome.stats["landings"] >= 2 * abs(outcome.x_last[0]) - 3

    def potential(at: np.ndarray) -> np.ndarray:
        lap, local = np.floor(at), at % 1.0
        low, high = np.minimum(local, 0.5), np.maximum(local - 0.5, 0.0)
        return lap * (0.625 - 0.625) + low + low**2 / 2 + (-1.5 * high + high**2 / 2)

    energy = outcome.x[:, 1] ** 2 / 2 - potential(outcome.x[:, 0])
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e-13, -1e-13])
def test_turning_around_on_a_break(offset):
    """Thrown upwards, the point turns where the table has its kink."""
    lookups = Lookups()
    table = Table.linear([-10.0, 0.5 + offset, 10.0], [-1.0, -1.0, -3.0])
    outcome = run(lookups(table, x[0]), 2.0, [0.0, 1.0], lookups)
    assert outcome.status == "finished"
    np.testing.assert_allclose(outcome.x[:, 0], outcome.t - outcome.t**2 / 2, atol=1e-9)


@pytest.mark.parametrize("push", [3.0, -3.0])
def test_starting_on_a_break_in_either_direction(push):
    lookups = Lookups()
    table = Table(np.array([-9.0, 0.0, 9.0]), np.array([[[1.0]], [[2.0]]]))
    outcome = run(push * lookups(table, x[0]), 1.0, [0.0, 0.0], lookups)
    factor = 2.0 if push > 0 else 1.0
    np.testing.assert_allclose(outcome.x[:, 0], 0.5 * push * factor * outcome.t**2, atol=1e-9)


def test_two_switches_at_one_moment():
    law = -ca.sign(x[0]) - 2.0 * ca.sign(3.0 * x[0])
    outcome = run(law, 4.0, [0.0, 1.5], rtol=1e-9)
    period = 2.0
    local = outcome.t % period
    expected = np.where(
        local < 1, 1.5 * local - 1.5 * local**2, -(1.5 * (local - 1) - 1.5 * (local - 1) ** 2)
    )
    np.testing.assert_allclose(outcome.x[:, 0], expected, atol=1e-8)


def test_floor_in_closed_form():
    """Each unit of the way is passed with a constant acceleration of its own."""
    outcome = run(1.0 + ca.floor(x[0]), 2.5, [0.0, 1.0])
    speed, at, now = 1.0, 0.0, 0.0
    while True:
        a = 1.0 + at
        passing = (-speed + np.sqrt(speed**2 + 2 * a)) / a
        if now + passing > 2.5:
            break
        now, at, speed = now + passing, at + 1.0, speed + a * passing
    rest = 2.5 - now
    assert outcome.x_last[0] == pytest.approx(at + speed * rest + 0.5 * (1 + at) * rest**2, rel=1e-9)


def test_friction_that_stops_the_motion_lets_it_rest():
    outcome = run(-2.0 * ca.sign(x[1]), 3.0, [0.0, 3.0])
    assert outcome.status == "finished"
    assert outcome.x_last == pytest.approx([2.25, 0.0], abs=1e-8)


def test_a_motion_that_would_have_to_stay_on_a_switch_is_told_at_once():
    outcome = run(1.0 - 2.0 * ca.sign(x[1]), 30.0, [0.0, 3.0])
    assert outcome.status == "chattering"
    assert outcome.t_last == pytest.approx(3.0, abs=1e-8)
    assert outcome.stats["steps"] + outcome.stats["rejected"] < 100
    assert "sign" in outcome.describe()


def test_a_table_in_a_table():
    """The argument of the outer table jumps in slope where the inner one has a break."""
    lookups = Lookups()
    inner = Table.linear([-9.0, 0.4, 9.0], [-9.4, 0.0, 17.2])
    outer = Table.linear([-99.0, 0.5, 99.0], [99.5, 0.0, -197.0])
    depth = lookups(inner, x[0])
    outcome = run(lookups(outer, depth), 6.0, [0.0, 2.0], lookups)
    free = integrate(
        problem(lookups(outer, depth), lookups, held=False), outcome.t, [0.0, 2.0], rtol=1e-13, atol=1e-14
    )
    np.testing.assert_allclose(outcome.x, free.x, atol=2e-8)
    assert outcome.stats["rejected"] < 0.2 * outcome.stats["steps"]
    assert outcome.stats["evaluations"] < 0.5 * free.stats["evaluations"]


def test_pieces_of_a_run_are_bit_for_bit_the_run():
    law = -4.0 * ca.fmin(x[0], 0) - 25.0 * ca.fmax(x[0], 0)
    whole = run(law, 5.0, [0.0, 1.5])
    cut = run(law, 5.0, [0.0, 1.5], chunk_steps=1)
    np.testing.assert_array_equal(whole.x, cut.x)
    assert whole.stats == cut.stats
