"""Switches and events of the Taylor integrator against closed forms."""

from __future__ import annotations

from collections.abc import Callable
from math import asin, cos, exp, pi, sqrt

import casadi as ca
import numpy as np
import pytest

from sekant.engine.functions.taylor_tape import taylor_tape
from sekant.solvers.common.outcome import EventRecord, Outcome
from sekant.solvers.taylor import TaylorProblem, TaylorRun, integrate
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table

G = 9.81


def solve(f: Callable[[ca.SX, ca.SX], ca.SX], x0: list[float], times, events=None, **options) -> Outcome:
    """x' = f(x, t) with a tolerance of 1e-12."""
    x, a, t = ca.SX.sym("x", len(x0)), ca.SX.sym("a", len(x0)), ca.SX.sym("t")
    watched = None if events is None else events(x, t)
    problem = TaylorProblem(taylor_tape(v=x, a=a, t=t, residual=a - f(x, t), events=watched))
    return integrate(problem, times, [], x0, rtol=1e-12, **options)


def test_dry_friction_comes_to_rest() -> None:
    found = solve(lambda x, t: -0.8 * ca.sign(x), [1.0], [0.0, 0.5, 1.2, 1.3, 4.0])
    assert found.status == "finished"
    np.testing.assert_allclose(found.x[:, 0], [1.0, 0.6, 0.04, 0.0, 0.0], atol=1e-14)


def test_sliding_along_a_switch_is_reported() -> None:
    found = solve(lambda x, t: ca.if_else(x > 0.5, -1.0, 2.0), [1.0], [0.0, 2.0])
    assert found.status == "chattering"
    assert found.t_last == pytest.approx(0.5, abs=1e-13)
    assert "switches back and forth" in found.describe()


TWIST_END = sqrt(2.0) * (4 / 3) / (1 - sqrt(1 / 3))
"""x'' = -2 sign x - sign x' from (1, 0): each swing has a third of the last one's size, so all end at this time."""


def test_swings_that_end_in_finite_time_come_to_rest() -> None:
    twist = lambda x, t: ca.vertcat(x[1], -2 * ca.sign(x[0]) - ca.sign(x[1]))  # noqa: E731
    found = solve(twist, [1.0, 0.0], [0.0, TWIST_END, 9.0], max_steps=20_000)
    assert found.status == "finished"
    assert np.abs(found.x[1:]).max() < 1e-12
    assert found.stats["steps"] < 400


def test_switches_without_end_are_reported() -> None:
    """The same with switches that have no value of their own on the bound."""
    side = lambda x: ca.if_else(x > 0, 1.0, -1.0)  # noqa: E731
    twist = lambda x, t: ca.vertcat(x[1], -2 * side(x[0]) - side(x[1]))  # noqa: E731
    found = solve(twist, [1.0, 0.0], [0.0, 3.0, 9.0], max_steps=20_000)
    assert found.status == "chattering"
    assert found.t_last == pytest.approx(TWIST_END, abs=1e-6)
    assert found.stats["steps"] < 400


def test_let_go_at_rest_on_a_break_of_a_law() -> None:
    """x'' = -1 beyond 0.5, -2 below, from rest at 0.5: nothing moves within a moment, but the law is the lower one.

    The series of the law above, which is given up, counts as a step: a run that only changes laws ends as well.
    """
    law = lambda x, t: ca.vertcat(x[1], ca.if_else(x[0] >= 0.5, -1.0, -2.0))  # noqa: E731
    found = solve(law, [0.5, 0.0], [0.0, 0.3])
    assert found.status == "finished"
    np.testing.assert_allclose(found.x[-1], [0.5 - 0.3**2, -0.6], atol=1e-15)
    assert found.stats["rejected"] == 1
    found = solve(law, [0.5, 0.0], [0.0, 0.3], max_steps=1)
    assert (found.status, found.stats["steps"], found.t_last) == ("too_many_steps", 0, 0.0)


def test_oscillator_with_constant_force_towards_the_middle() -> None:
    times = np.linspace(0.0, 20.0, 57)
    found = solve(lambda x, t: ca.vertcat(x[1], -ca.sign(x[0])), [1.0, 0.0], times)
    quarter = sqrt(2.0)

    def exact(t: float) -> float:
        t = t % (4 * quarter)
        if t < quarter:
            return 1 - t**2 / 2
        return (t - 2 * quarter) ** 2 / 2 - 1 if t < 3 * quarter else 1 - (t - 4 * quarter) ** 2 / 2

    np.testing.assert_allclose(found.x[:, 0], [exact(t) for t in times], atol=1e-13)
    assert found.stats["restarts"] == 7


def test_oscillator_with_two_stiffnesses() -> None:
    """x'' = -x for x > 0 and -9 x for x < 0: half periods pi and pi/3."""
    period = pi + pi / 3
    times = np.array([0.0, 0.3, pi / 2, 2.0, period, 5 * period + 0.4])
    stiff = lambda x, t: ca.vertcat(x[1], ca.if_else(x[0] > 0, -x[0], -9 * x[0]))  # noqa: E731
    found = solve(stiff, [1.0, 0.0], times)
    depth = -np.sin(3 * (2.0 - pi / 2)) / 3
    expected = [1.0, cos(0.3), 0.0, depth, 1.0, cos(0.4)]
    np.testing.assert_allclose(found.x[:, 0], expected, atol=1e-12)


def test_law_that_changes_in_time() -> None:
    law = lambda x, t: ca.if_else(t < 1, 2 * t, ca.if_else(t < 2.5, -1.0, ca.exp(-t)))  # noqa: E731
    found = solve(law, [0.0], [0.0, 0.5, 1.0, 2.5, 4.0])
    np.testing.assert_allclose(
        found.x[:, 0], [0.0, 0.25, 1.0, -0.5, -0.5 + exp(-2.5) - exp(-4.0)], atol=1e-14
    )
    assert found.stats["restarts"] == 2


def test_staircase_sawtooth_and_limits() -> None:
    found = solve(lambda x, t: ca.vertcat(ca.floor(t), ca.fmod(t, 0.7)), [0.0, 0.0], [0.0, 3.5, 10.25])
    np.testing.assert_allclose(found.x[:, 0], [0.0, 4.5, 47.5], atol=1e-12)
    teeth = [0.7**2 / 2 * int(t / 0.7) + (t - 0.7 * int(t / 0.7)) ** 2 / 2 for t in (0.0, 3.5, 10.25)]
    np.testing.assert_allclose(found.x[:, 1], teeth, atol=1e-12)
    found = solve(lambda x, t: ca.fmax(ca.sin(t), 0.3) + ca.fmin(t, 2.0), [0.0], [0.0, 6.0])
    a = asin(0.3)
    exact = 0.3 * a + 2 * cos(a) + 0.3 * (6.0 - (pi - a)) + 2.0 + 2.0 * 4.0
    assert found.x[-1, 0] == pytest.approx(exact, abs=1e-12)


def test_knots_of_a_table_are_landed_on() -> None:
    points = np.array([0.0, 0.4, 0.5, 1.3, 2.0, 3.0])
    table = Table.linear(points, np.array([0.3, -1.0, 2.0, 0.1, 0.9, -0.4]), name="force")
    lookups = Lookups()
    t, v, a = ca.SX.sym("t"), ca.SX.sym("v"), ca.SX.sym("a")
    problem = TaylorProblem(taylor_tape(v=v, a=a, t=t, residual=a - lookups(table, t), lookups=lookups))
    times = [0.0, 0.45, 1.0, 2.9]
    found = integrate(problem, times, [], [0.0], rtol=1e-12)
    np.testing.assert_allclose(found.x, table.antiderivative()(np.array(times)), atol=1e-14)
    assert found.stats["restarts"] == 4
    beyond = integrate(problem, [0.0, 4.0], [], [0.0], rtol=1e-12)
    assert beyond.status == "not_finite"
    assert beyond.t_last == pytest.approx(3.0, abs=1e-8)
    assert "table 'force' is evaluated above 3" in beyond.describe()


def ball(events: bool = True) -> TaylorProblem:
    q, v, a = ca.SX.sym("q"), ca.SX.sym("v"), ca.SX.sym("a")
    return TaylorProblem(taylor_tape(q=q, v=v, a=a, residual=a + G, events=q if events else None))


def test_bouncing_ball_after_ten_impacts() -> None:
    e, height = 0.83, 1.7
    fall = sqrt(2 * height / G)
    impacts = [fall * (1 + 2 * sum(e**j for j in range(1, k + 1))) for k in range(10)]
    top = impacts[-1] + fall * e**10

    def hit(record: EventRecord):
        return np.zeros(1), -e * record.v

    found = integrate(ball(), [0.0, top], [height], [0.0], rtol=1e-12, directions=[-1], on_event=hit)
    assert found.status == "finished"
    np.testing.assert_allclose([record.t for record in found.events], impacts, atol=1e-12)
    np.testing.assert_allclose(found.x[-1], [height * e**20, 0.0], atol=1e-12)


def test_run_can_be_stopped_at_an_event_and_gone_on_with() -> None:
    found = integrate(ball(), [0.0, 2.0], [1.7], [0.3], rtol=1e-12)
    assert (found.status, found.which) == ("event", 0)
    assert found.x_last[0] == pytest.approx(0.0, abs=1e-13)
    again = integrate(
        ball(),
        [1.0],
        found.x_last[:1],
        -0.5 * found.x_last[1:],
        t_start=found.t_last,
        rtol=1e-12,
        directions=[1],
    )
    speed, rest = -0.5 * found.x_last[1], 1.0 - found.t_last
    assert rest < 2 * speed / G
    assert again.x[-1, 0] == pytest.approx(speed * rest - G * rest**2 / 2, abs=1e-12)


def test_events_of_an_oscillator_by_direction() -> None:
    swing = lambda x, t: ca.vertcat(x[1], -x[0])  # noqa: E731
    zero = lambda x, t: ca.vertcat(x[0], t - 7.3)  # noqa: E731
    for direction, first, step in ((0, pi / 2, pi), (1, 3 * pi / 2, 2 * pi), (-1, pi / 2, 2 * pi)):
        found = solve(
            swing, [1.0, 0.0], [0.0, 20.0], zero, directions=[direction, 1], on_event=lambda r: None
        )
        times = [r.t for r in found.events if r.number == 0]
        np.testing.assert_allclose(times, np.arange(first, 20.0, step), atol=1e-12)
        assert [r.t for r in found.events if r.number == 1] == pytest.approx([7.3], abs=1e-12)
        assert found.x[-1, 0] == pytest.approx(cos(20.0), abs=1e-12)


def test_event_that_is_touched_twice_within_a_step() -> None:
    """The parabola 1 - (t - 3)^2 crosses zero at 2 and at 4, both within one long step."""
    found = solve(
        lambda x, t: -2 * (t - 3),
        [-8.0],
        [0.0, 6.0],
        lambda x, t: x,
        on_event=lambda r: None,
    )
    np.testing.assert_allclose([r.t for r in found.events], [2.0, 4.0], atol=1e-13)


def test_event_callback_may_stop_the_run() -> None:
    run = solve(
        lambda x, t: ca.SX(1.0),
        [0.0],
        [0.0, 9.0],
        lambda x, t: ca.vertcat(x - 2.0, x - 5.0),
        on_event=lambda r: False if r.number == 1 else None,
    )
    assert (run.status, run.which, len(run.events)) == ("event", 1, 2)
    assert run.t_last == pytest.approx(5.0, abs=1e-14)


def test_state_machine_by_hand() -> None:
    run = TaylorRun(ball(), [0.0, 1.0, 2.0], [1.7], [0.0], rtol=1e-10)
    codes = [run.advance(100)]
    run.set_point([0.0], [4.0])
    codes.append(run.advance(100))
    assert codes[0] == codes[1] != 0
    assert len({run.last_event.t, run.t}) == 1
    assert run.t == pytest.approx(sqrt(3.4 / G) + 8.0 / G, abs=1e-12)
