"""Runs of implicit integrators: stops, chunks, failures, wrong input."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from dae_systems import NONE, SX, DaeExpressions, first_order, lagrange, pendulum, top
from sekant.engine.functions.dae import build_dae
from sekant.errors import SolverError
from sekant.solvers.dae import METHODS, DaeProblem, integrate_dae

BOTH = [{"rtol": 1e-9, "atol": 1e-9}, {"method": "generalized_alpha", "step": 0.02}]


def sled(force) -> DaeProblem:
    """A mass of 2 on the line y = 0.5 x, pulled along x by force(t)."""
    t, q, v = SX.sym("t"), SX.sym("q", 2), SX.sym("v", 2)
    e = lagrange(q, v, ca.dot(v, v) + force(t) * q[0], q[1] - 0.5 * q[0], t=t)
    return DaeProblem(build_dae("sled", e))


@pytest.mark.parametrize("options", BOTH)
@pytest.mark.parametrize("belongs_left", [True, False])
def test_a_jump_at_a_stop_is_seen_from_one_side_only(options, belongs_left):
    before, after, jump = 3.0, -7.0, 0.7
    condition = (lambda t: t <= jump) if belongs_left else (lambda t: t < jump)
    problem = sled(lambda t: ca.if_else(condition(t), before, after))
    t = np.linspace(0.0, 2.0, 42)
    outcome = integrate_dae(problem, t, [0.0, 0.0], [1.0, 0.5], stops=[jump], **options)
    a1, a2 = before / 2.5, after / 2.5
    x = np.where(t <= jump, t + a1 * t**2 / 2, 0.0)
    x1, v1, late = jump + a1 * jump**2 / 2, 1.0 + a1 * jump, t - jump
    x = np.where(t <= jump, x, x1 + v1 * late + a2 * late**2 / 2)
    assert outcome.stats["restarts"] == 1
    assert np.abs(outcome.x[:, 0] - x).max() < 1e-11
    assert np.abs(outcome.a[:, 0] - np.where(t <= jump, a1, a2)).max() < 1e-9
    assert np.abs(outcome.lam[:, 0] + 2.0 * 0.5 * np.where(t <= jump, a1, a2)).max() < 1e-9


@pytest.mark.parametrize("options", BOTH)
def test_chunks_do_not_change_the_result(options):
    system, t = pendulum(damping=0.3), np.linspace(0.0, 1.0, 37)
    whole = integrate_dae(system.problem, t, system.q0, system.v0, stops=[0.4], **options)
    rows = []
    pieces = integrate_dae(
        system.problem,
        t,
        system.q0,
        system.v0,
        stops=[0.4],
        chunk_steps=1,
        on_chunk=lambda t_rows, x_rows, progress: rows.append((t_rows.copy(), x_rows.copy(), progress)),
        **options,
    )
    assert np.array_equal(whole.x, pieces.x)
    assert np.array_equal(whole.lam, pieces.lam)
    assert whole.stats == pieces.stats
    assert np.array_equal(np.concatenate([r[0] for r in rows]), t)
    assert np.array_equal(np.concatenate([r[1] for r in rows]), whole.x)
    assert rows[-1][2] == 1.0


@pytest.mark.parametrize("options", BOTH)
def test_an_interrupt_keeps_what_there_is(options):
    def stop(t_rows, x_rows, progress):
        if progress > 0.3:
            raise KeyboardInterrupt

    system = pendulum()
    outcome = integrate_dae(
        system.problem,
        np.linspace(0.0, 2.0, 101),
        system.q0,
        system.v0,
        chunk_steps=3,
        on_chunk=stop,
        **options,
    )
    assert outcome.status == "interrupted"
    assert 30 <= outcome.t.size < 60
    assert outcome.x.shape == (outcome.t.size, 5)
    assert "interrupted at t = " in outcome.describe()


def test_an_inconsistent_start_is_mended_and_reported():
    system = pendulum(length=0.8)
    outcome = integrate_dae(system.problem, [0.0, 0.1], 1.01 * system.q0, [0.3, 0.2])
    assert outcome.start_moved[0] == pytest.approx(0.01 * np.abs(system.q0).max(), rel=1e-2)
    assert outcome.start_moved[1] > 0.05
    assert np.sum(outcome.x[0, :2] ** 2) == pytest.approx(0.64, abs=1e-12)
    assert outcome.x[0, :2] @ outcome.x[0, 2:4] == pytest.approx(0.0, abs=1e-12)


def test_a_single_time_gives_the_start():
    system = pendulum()
    outcome = integrate_dae(system.problem, [0.5], system.q0, system.v0)
    assert outcome.status == "finished"
    assert outcome.x.shape == (1, 5)
    assert np.all(np.isfinite(outcome.lam))


@pytest.mark.parametrize("options", BOTH)
def test_equations_that_leave_their_range(options):
    problem = sled(lambda t: ca.sqrt(1.0 - t))
    outcome = integrate_dae(problem, np.linspace(0.0, 2.0, 21), [0.0, 0.0], [1.0, 0.5], **options)
    assert outcome.status == "not_finite"
    assert 0.97 < outcome.t_last <= 1.0
    assert outcome.t[-1] <= outcome.t_last
    assert np.all(np.isfinite(outcome.x))
    assert "is not finite beyond t = " in outcome.describe()


@pytest.mark.parametrize("options", BOTH)
def test_a_mechanism_that_cannot_go_on(options):
    """A point on the unit circle, driven along x beyond it; nothing is left to move freely."""
    t, q, v = SX.sym("t"), SX.sym("q", 2), SX.sym("v", 2)
    Phi = ca.vertcat(ca.dot(q, q) - 1.0, q[0] - 0.5 - 0.3 * t)
    problem = DaeProblem(build_dae("driven", lagrange(q, v, 0.6 * ca.dot(v, v), Phi, t=t)))
    outcome = integrate_dae(problem, np.linspace(0.0, 3.0, 31), [0.5, np.sqrt(0.75)], [0.3, 0.0], **options)
    assert outcome.status in ("no_convergence", "constraints", "step_too_small")
    assert 1.6 < outcome.t_last < 1.67
    assert np.abs(outcome.x[:, 0] - 0.5 - 0.3 * outcome.t).max() < 1e-10
    text = outcome.describe(["x", "y", "vx", "vy"], ["circle", "motion"])
    assert "t = 1.6" in text
    assert any(name in text for name in ("'x'", "'y'", "'vx'", "'vy'", "'circle'", "'motion'"))


@pytest.mark.parametrize("options", BOTH)
def test_contradicting_constraints_are_named(options):
    q, v = SX.sym("q", 2), SX.sym("v", 2)
    Phi = ca.vertcat(q[0] - q[1], ca.dot(q, q) - 1.0, q[0] - q[1] - 0.2)
    problem = DaeProblem(build_dae("contradiction", lagrange(q, v, 0.6 * ca.dot(v, v), Phi)))
    outcome = integrate_dae(problem, [0.0, 1.0], [0.7, 0.7], [0.0, 0.0], **options)
    assert outcome.status == "constraints"
    assert outcome.which in (0, 2)
    assert outcome.t.size == 0
    assert "cannot be satisfied" in outcome.describe(rows=["a", "b", "c"])


def test_growth_without_bound():
    outcome = integrate_dae(first_order(1, lambda t, x: [x[0] ** 2]), [0.0, 2.0], [], [1.0])
    assert outcome.status in ("step_too_small", "not_finite", "no_convergence")
    assert outcome.t_last == pytest.approx(1.0, abs=1e-6)


def test_too_many_steps():
    system = pendulum()
    outcome = integrate_dae(system.problem, [0.0, 100.0], system.q0, system.v0, max_steps=50)
    assert outcome.status == "too_many_steps"
    assert outcome.stats["steps"] + outcome.stats["rejected"] == 50
    assert "raise max_steps" in outcome.describe()


def test_first_and_longest_step_are_respected():
    system = pendulum()
    outcome = integrate_dae(
        system.problem, [0.0, 1.0], system.q0, system.v0, first_step=1e-3, max_step=1e-3, rtol=1e-3, atol=1e-3
    )
    assert outcome.stats["steps"] == 1000


def test_a_driver_moves_what_it_drives():
    """x = 0.3 sin 2t by a constraint that depends on time; its multiplier is the force that moves it."""
    t, q, v = SX.sym("t"), SX.sym("q", 2), SX.sym("v", 2)
    L = 0.5 * 1.7 * ca.dot(v, v) - 0.5 * 40.0 * (q[1] - q[0]) ** 2
    problem = DaeProblem(build_dae("motion", lagrange(q, v, L, q[0] - 0.3 * ca.sin(2 * t), t=t)))
    times = np.linspace(0.0, 3.0, 31)
    outcome = integrate_dae(problem, times, [0.0, 0.0], [0.6, 0.0], rtol=1e-10, atol=1e-10)
    w, forced = np.sqrt(40.0 / 1.7), 0.3 * 40.0 / 1.7 / (40.0 / 1.7 - 4.0)
    y = forced * (np.sin(2 * times) - 2 / w * np.sin(w * times))
    assert np.abs(outcome.x[:, 0] - 0.3 * np.sin(2 * times)).max() < 1e-12
    assert np.abs(outcome.x[:, 1] - y).max() < 1e-8
    force = 40.0 * (outcome.x[:, 1] - outcome.x[:, 0]) + 1.7 * 4 * 0.3 * np.sin(2 * times)
    assert np.abs(outcome.lam[:, 0] - force).max() < 1e-7


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "radau"}, "unknown method 'radau'; did you mean 'radau5'"),
        ({"method": "generalized_alpha"}, "needs a step"),
        ({"method": "generalized_alpha", "step": -1.0}, r"got -1.0"),
        ({"step": 0.1}, "chooses its own steps"),
        (
            {"method": "generalized_alpha", "step": 0.1, "spectral_radius": 1.2},
            r"between 0 and 1 \(got 1.2\)",
        ),
        ({"t_eval": [0.0, 1.0, 0.5]}, r"t_eval\[1\] = 1.0 is followed by 0.5"),
        ({"q0": [0.1]}, "q0 has shape"),
        ({"v0": [0.1, np.nan]}, r"v0\[1\] = nan"),
        ({"w0": [1.0, 2.0]}, "w0 has shape"),
        ({"atol": [1e-3, 1e-3]}, "one for each of 5 states"),
        ({"rtol": 0.0, "atol": 0.0}, "both be zero"),
        ({"stops": [np.nan]}, "stops must be finite"),
        ({"max_step": 0.0}, "max_step must be positive"),
        ({"first_step": 0.0}, "first_step must be positive"),
        ({"max_steps": 0}, "max_steps must be at least 1"),
        ({"chunk_steps": 0}, "chunk_steps must be at least 1"),
    ],
)
def test_wrong_input_is_named(changes, message):
    system = pendulum()
    arguments = {"t_eval": [0.0, 1.0], "q0": system.q0, "v0": system.v0, **changes}
    with pytest.raises(SolverError, match=message):
        integrate_dae(system.problem, **arguments)


def test_a_quaternion_of_zeros_is_named():
    with pytest.raises(SolverError, match=r"q0\[0:4\] is zero"):
        integrate_dae(top().problem, [0.0, 1.0], np.zeros(4), np.zeros(3))


def test_a_system_without_velocities_is_named():
    t = SX.sym("t")
    nothing = DaeExpressions(t=t, q=NONE, v=NONE, a=NONE, lam=NONE, qdot=NONE, R=NONE)
    with pytest.raises(SolverError, match="no velocities"):
        DaeProblem(build_dae("nothing", nothing))


def test_every_method_says_what_it_is():
    for name, method in METHODS.items():
        assert method.name == name
        assert method.order >= 2
        assert len(method.description) > 10
