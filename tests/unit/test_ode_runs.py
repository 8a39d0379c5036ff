"""How runs proceed and end: chunks, interruption, failures, statistics."""

from __future__ import annotations

import signal
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ode_right_hand_sides import (
    free_rigid_body,
    harmless_and_square,
    harmless_and_stiff,
    pendulum,
    pendulum_kinematics,
    pendulum_with_quadrature,
    table_end,
)
from sekant.loops.store import objects
from sekant.loops.store.objects import source_stamp
from sekant.loops.store.prebuilt import LOOPS, SOLVERS
from sekant.solvers.common import chunks
from sekant.solvers.common.checks import check_options
from sekant.solvers.common.outcome import FINISHED, MORE
from sekant.solvers.ode import METHODS, OdeProblem, RunPool, integrate

PENDULUM = OdeProblem(pendulum, 2, np.array([9.7]), nq=1, nv=1, kinematics=pendulum_kinematics)
START = [1.1, -0.4]
OPTIONS = {name: {} if method.adaptive else {"step": 1.7e-3} for name, method in METHODS.items()}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("chunk_steps", [1, 7, 500])
def test_chunks_leave_no_trace(method, chunk_steps):
    times = np.sort(np.concatenate([np.linspace(0.0, 1.0, 41), [0.31, 0.3101, 0.3102]]))
    options = {"method": method, "stops": [0.2345, 0.5], **OPTIONS[method]}
    whole = integrate(PENDULUM, times, START, **options)
    pieces = integrate(PENDULUM, times, START, chunk_steps=chunk_steps, **options)
    assert whole.status == pieces.status == "finished"
    assert np.array_equal(whole.x, pieces.x)
    assert whole.stats == pieces.stats


@pytest.mark.parametrize("method", METHODS)
def test_outputs_come_in_order_and_complete(method):
    times = np.array([0.25, 0.3, 0.77, 0.9, 1.234])
    seen_t, seen_x, progress = [], [], []

    def on_chunk(t_rows, x_rows, fraction):
        seen_t.extend(t_rows)
        seen_x.extend(x_rows.copy())
        progress.append(fraction)

    outcome = integrate(
        PENDULUM, times, START, method=method, on_chunk=on_chunk, chunk_steps=3, **OPTIONS[method]
    )
    assert np.array_equal(seen_t, times)
    assert np.array_equal(seen_x, outcome.x)
    assert np.array_equal(outcome.x[0], START)
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    assert np.array_equal(outcome.x_last, outcome.x[-1])
    assert outcome.t_last == 1.234
    assert outcome.component == -1
    assert np.isnan(outcome.t_failed)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("method", METHODS)
def test_interruption_returns_what_was_computed(method):
    times = np.linspace(0.0, 2.0, 201)
    whole = integrate(PENDULUM, times, START, method=method, **OPTIONS[method])

    def on_chunk(t_rows, x_rows, fraction):
        if fraction > 0.4:
            signal.raise_signal(signal.SIGINT)

    outcome = integrate(
        PENDULUM, times, START, method=method, on_chunk=on_chunk, chunk_steps=5, **OPTIONS[method]
    )
    assert outcome.status == "interrupted"
    assert 0.8 < outcome.t_last < 1.2
    assert 70 < len(outcome.t) < 125
    assert np.array_equal(outcome.x, whole.x[: len(outcome.t)])


@pytest.mark.parametrize("method", METHODS)
def test_long_way_between_two_outputs_can_be_interrupted(method):
    calls = []

    def on_chunk(t_rows, x_rows, fraction):
        calls.append(len(t_rows))
        if len(calls) == 3:
            raise KeyboardInterrupt

    outcome = integrate(
        PENDULUM, [0.0, 1e5], START, method=method, on_chunk=on_chunk, chunk_steps=100, **OPTIONS[method]
    )
    assert outcome.status == "interrupted"
    assert calls == [1, 0, 0]
    assert outcome.x.shape == (1, 2)
    assert outcome.stats["steps"] + outcome.stats["rejected"] == 300
    assert 0.0 < outcome.t_last < 1e3


def test_rows_waiting_at_an_interruption_are_delivered_once():
    rows = []

    def on_chunk(t_rows, x_rows, fraction):
        rows.extend(t_rows)
        if len(rows) > 10:
            raise KeyboardInterrupt

    outcome = integrate(
        PENDULUM,
        np.linspace(0.0, 1.0, 101),
        START,
        method="rk4",
        step=1e-3,
        on_chunk=on_chunk,
        chunk_steps=25,
    )
    assert np.array_equal(rows, outcome.t)


@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_blow_up_with_fixed_steps(method):
    problem = OdeProblem(harmless_and_square, 2)
    outcome = integrate(problem, np.linspace(0.0, 1.0, 11), [3.0, 1.9], method=method, step=1e-3)
    assert outcome.status == "not_finite"
    assert outcome.component == 1
    assert 1.0 / 1.9 < outcome.t_last < 0.56
    assert outcome.t_failed == pytest.approx(outcome.t_last + 1e-3)
    assert np.all(np.isfinite(outcome.x_last))
    assert np.array_equal(outcome.t, np.linspace(0.0, 1.0, 11)[:6])
    assert "'speed' is not finite" in outcome.describe(["place", "speed"])


def test_blow_up_with_error_control():
    problem = OdeProblem(harmless_and_square, 2)
    outcome = integrate(problem, np.linspace(0.0, 1.0, 11), [3.0, 1.9])
    assert outcome.status == "step_too_small"
    assert outcome.component == 1
    assert outcome.t_last == pytest.approx(1.0 / 1.9, abs=1e-8)
    assert len(outcome.t) == 6
    assert "state 1" in outcome.describe()


def test_a_step_into_the_undefined_is_shortened():
    """The motion settles at 0.99, the first trial step jumps far beyond the end of the table at 1."""
    problem = OdeProblem(table_end, 2, np.array([50.0, 0.99]))
    outcome = integrate(problem, [0.0, 0.03, 2.0], [0.7, 0.2], first_step=1.0)
    assert outcome.status == "finished"
    assert outcome.stats["rejected"] > 0
    assert outcome.x[1, 1] == pytest.approx(0.99 - 0.79 * np.exp(-1.5), abs=1e-8)
    assert outcome.x[2] == pytest.approx([0.7 * np.exp(-0.2), 0.99], abs=1e-8)


def test_the_end_of_a_table_is_approached_and_named():
    problem = OdeProblem(table_end, 2, np.array([1.3, 2.5]))
    crossing = np.log(2.3 / 1.5) / 1.3
    outcome = integrate(problem, np.linspace(0.0, 1.0, 101), [0.7, 0.2])
    assert outcome.status == "not_finite"
    assert outcome.component == 1
    assert outcome.t_last == pytest.approx(crossing, abs=1e-8)
    assert 1.0 - 1e-12 < outcome.x_last[1] <= 1.0
    assert outcome.t_failed > outcome.t_last
    assert outcome.t[-1] <= crossing < outcome.t[-1] + 0.01
    assert np.all(np.isfinite(outcome.x))


@pytest.mark.parametrize("method", ["euler", "rk4", "dop853"])
def test_undefined_from_the_start(method):
    problem = OdeProblem(table_end, 2, np.array([1.3, 2.5]))
    outcome = integrate(problem, [0.0, 1.0], [0.7, 1.2], method=method, **OPTIONS[method])
    assert outcome.status == "not_finite"
    assert outcome.component == 1
    assert outcome.t_last == 0.0
    assert np.array_equal(outcome.x, [[0.7, 1.2]])
    assert np.array_equal(outcome.x_last, [0.7, 1.2])


def test_stiffness_beyond_the_resolution_of_time():
    problem = OdeProblem(harmless_and_stiff, 2, np.array([1e18]))
    outcome = integrate(problem, [1.0, 2.0], [0.5, 2.0])
    assert outcome.status == "step_too_small"
    assert outcome.component == 1
    assert outcome.t_last == pytest.approx(1.0, abs=1e-12)


def test_too_many_steps():
    for method in ("rk4", "dop853"):
        outcome = integrate(PENDULUM, [0.0, 100.0], START, method=method, max_steps=57, **OPTIONS[method])
        assert outcome.status == "too_many_steps"
        assert outcome.stats["steps"] + outcome.stats["rejected"] == 57
        assert 0.0 < outcome.t_last < 50.0


def test_exactly_enough_steps():
    outcome = integrate(PENDULUM, [0.0, 0.5], START, method="euler", step=0.01, max_steps=50)
    assert outcome.status == "finished"


def test_unit_blocks_stay_unit_and_momentum_is_kept():
    inertia = np.array([0.3, 0.7, 0.9])
    problem = OdeProblem(free_rigid_body, 7, inertia, nq=4, nv=3, unit_blocks=np.array([[0, 4]]))
    loose = OdeProblem(free_rigid_body, 7, inertia, nq=4, nv=3)
    start = np.array([0.5, -0.1, 0.7, np.sqrt(0.25), 1.1, -2.3, 0.4])
    times = np.linspace(0.0, 40.0, 173)

    def momentum(x):
        e0, e, body = x[0], x[1:4], inertia * x[4:]
        return body + 2.0 * np.cross(e, np.cross(e, body) + e0 * body)

    for options in ({"rtol": 1e-6, "atol": 1e-8}, {"method": "rk4", "step": 0.05}):
        outcome = integrate(problem, times, start, **options)
        drifting = integrate(loose, times, start, **options)
        norms = np.linalg.norm(outcome.x[:, :4], axis=1)
        assert np.max(np.abs(norms - 1.0)) < 1e-15 * 4
        assert np.max(np.abs(np.linalg.norm(drifting.x[:, :4], axis=1) - 1.0)) > 1e-9
        error = [np.linalg.norm(momentum(x) - momentum(start)) for x in outcome.x]
        assert max(error) < 5e-3
    fine = integrate(problem, times, start, rtol=1e-11, atol=1e-13)
    assert max(np.linalg.norm(momentum(x) - momentum(start)) for x in fine.x) < 1e-8


def test_quadratures_are_as_accurate_as_the_motion():
    alone = integrate(PENDULUM, [0.0, 3.0], START)
    wild = OdeProblem(pendulum_with_quadrature, 3, np.array([9.7, 300.0]), nq=1, nv=1)
    accompanied = integrate(wild, [0.0, 3.0], [*START, 0.0])
    assert accompanied.stats["steps"] > 3 * alone.stats["steps"]
    fine = integrate(wild, [0.0, 3.0], [*START, 0.0], rtol=1e-12, atol=1e-14)
    assert accompanied.x[-1, 2] == pytest.approx(fine.x[-1, 2], abs=1e-7)
    calm = OdeProblem(pendulum_with_quadrature, 3, np.array([9.7, 1.0]), nq=1, nv=1)
    assert integrate(calm, [0.0, 3.0], [*START, 0.0]).stats["steps"] <= 1.3 * alone.stats["steps"]


def test_kinematics_replaces_the_second_evaluation():
    without = OdeProblem(pendulum, 2, PENDULUM.p, nq=1, nv=1)
    options = {"method": "semi_implicit_euler", "step": 0.01}
    first = integrate(PENDULUM, [0.0, 1.0], START, **options)
    second = integrate(without, [0.0, 1.0], START, **options)
    assert np.array_equal(first.x, second.x)
    q, v = START
    for _ in range(100):
        v = v - 0.01 * 9.7 * np.sin(q)
        q = q + 0.01 * v
    assert first.x[-1] == pytest.approx([q, v], abs=1e-12)


def test_a_single_output_time():
    outcome = integrate(PENDULUM, [0.7], START)
    assert outcome.status == "finished"
    assert np.array_equal(outcome.x, [START])
    assert outcome.stats["steps"] == 0


def test_evaluations_are_counted():
    outcome = integrate(PENDULUM, [0.0, 1.0], START, method="rk4", step=0.01)
    assert outcome.stats["evaluations"] == 400
    steps_only = integrate(PENDULUM, [0.0, 1.0], START, first_step=0.01)
    stats = steps_only.stats
    accepted_after_trial = 11 * (stats["steps"] + stats["rejected"]) + stats["steps"]
    assert stats["evaluations"] == accepted_after_trial + 1
    dense = integrate(PENDULUM, [0.0, 1e-9, 1e-8, 1.0], START, first_step=0.01)
    assert dense.stats["evaluations"] == stats["evaluations"] + 3


def test_code_of_loops_depends_on_all_sources_that_their_package_imports():
    assert objects._needed_by("dae") == {"dae", "linear", "common"}
    assert "dae" not in objects._needed_by("ode")
    assert source_stamp(frozenset(["ode"])) != source_stamp(frozenset(["dae"]))


def test_solvers_import_each_other_in_the_form_that_the_stamps_look_for():
    sources = [*LOOPS.rglob("*.py"), *SOLVERS.rglob("*.py")]
    assert len(sources) > 20
    for source in sources:
        assert "from sekant.solvers import" not in source.read_text()
        assert "from ." not in source.read_text()


def test_many_rows_come_in_small_portions(monkeypatch):
    """The time of a chunk includes what is made of its rows: Ctrl-C is heard soon although a step gives many rows."""
    now, sizes, run = [0.0], [], SimpleNamespace(t=0.0, row=0)
    times = np.linspace(0.0, 1.0, 668_524)
    monkeypatch.setattr(chunks, "perf_counter", lambda: now[0])

    def advance(steps):
        run.row = min(run.row + 5_000 * steps, times.size)
        run.t = times[run.row - 1]
        return FINISHED if run.row == times.size else MORE

    def on_chunk(t, x, progress):
        assert progress == t[-1]
        np.testing.assert_array_equal(t, -x)
        sizes.append(t.size)
        now[0] += 1e-5 * t.size

    assert chunks.advance_in_chunks(advance, run, times, [-times], on_chunk, 512, None) == FINISHED
    assert sum(sizes) == times.size
    assert max(sizes) * 1e-5 < 2 * chunks.CHUNK_SECONDS


def test_runs_share_memory_through_a_pool_and_stay_the_same():
    """Runs that alternate between options, parameters and an array of tolerances equal those in new memory."""
    pool, often, seldom = RunPool(), np.linspace(0.0, 1.3, 14), np.linspace(0.0, 0.7, 3)
    often.flags.writeable = seldom.flags.writeable = (
        False  # so that the options of the last run can serve again
    )
    other = PENDULUM.at(np.array([3.1]))
    plans = [
        (PENDULUM, often, 1e-9),
        (other, often, 1e-9),
        (PENDULUM, seldom, np.array([1e-6, 1e-7])),
        (PENDULUM, often, 1e-9),
        (other, seldom, 1e-9),
    ]
    for problem, times, atol in plans:
        shared = integrate(problem, times, [0.7, -0.2], atol=atol, pool=pool)
        alone = integrate(problem, times, [0.7, -0.2], atol=atol)
        assert np.array_equal(shared.x, alone.x)
        assert shared.stats == alone.stats
    start, options = np.array([0.7, -0.2]), check_options(seldom, (), 2, 1e-8, 1e-9, None, np.inf, None, None)
    first = pool.take(PENDULUM, start, options)
    assert pool.take(PENDULUM, start, options) is not first  # two runs at a time never share
    pool.put_back(first)
    assert pool.take(other, start, options) is first
    pool.put_back(first)
    assert (
        pool.take(replace(PENDULUM, kinematics=PENDULUM.rhs), start, options) is not first
    )  # other functions


def test_a_problem_holds_nothing_that_a_run_changes():
    assert not [name for name, value in vars(PENDULUM).items() if isinstance(value, (list, dict, set))]
