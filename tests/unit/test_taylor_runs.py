"""The Taylor integrator as a machine: chunks, outputs, failures, checks of what is given to it."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from point_mechanisms import double_pendulum, pendulum
from sekant.engine.functions.taylor_tape import taylor_tape
from sekant.errors import SolverError
from sekant.solvers.taylor import TaylorProblem, integrate, order_for


def growth(f=lambda x, p: x * x) -> TaylorProblem:
    x, a, p = ca.SX.sym("x"), ca.SX.sym("a"), ca.SX.sym("p")
    return TaylorProblem(taylor_tape(v=x, a=a, p=p, residual=a - f(x, p)))


def test_result_does_not_depend_on_chunks() -> None:
    m = double_pendulum()
    times = np.linspace(0.0, 1.3, 14)
    whole = integrate(m.problem(), times, m.q0, m.v0, rtol=1e-9)
    seen: list[float] = []
    progress: list[float] = []

    def on_chunk(t, x, fraction):
        seen.extend(t)
        progress.append(fraction)
        assert len(t) == len(x)

    pieces = integrate(m.problem(), times, m.q0, m.v0, rtol=1e-9, chunk_steps=2, on_chunk=on_chunk)
    np.testing.assert_array_equal(pieces.x, whole.x)
    assert pieces.stats == whole.stats
    assert seen == times.tolist()
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    assert len(progress) > 3


def test_interrupt_keeps_what_there_is() -> None:
    m = pendulum()

    def stop(t, x, fraction):
        if fraction > 0.4:
            raise KeyboardInterrupt

    found = integrate(m.problem(), np.linspace(0, 5, 51), m.q0, m.v0, chunk_steps=1, on_chunk=stop)
    assert found.status == "interrupted"
    assert 2.0 <= found.t_last < 4.5
    assert found.t[-1] <= found.t_last
    assert found.x.shape == (found.t.size, 4)


def test_blow_up_is_found_at_its_time() -> None:
    found = integrate(growth(), [0.0, 1.0, 5.0], [], [0.5], p=[0.0], rtol=1e-10)
    assert found.status in ("step_too_small", "not_finite")
    assert found.t_last == pytest.approx(2.0, abs=1e-6)
    assert found.component == 0
    assert "t = 2" in found.describe() or "t = 1.99999" in found.describe()
    np.testing.assert_allclose(found.x[:, 0], [0.5, 1.0], rtol=1e-9)


def test_square_root_of_a_negative_number_ends_the_run() -> None:
    found = integrate(growth(lambda x, p: ca.sqrt(x - p)), [0.0, 1.0], [], [1.0], p=[2.0])
    assert found.status == "not_finite"
    assert found.t_last == 0.0


def test_parameters_and_step_limits() -> None:
    problem = growth(lambda x, p: -p * x)
    for rate in (0.3, 1.9):
        found = integrate(problem, [0.0, 2.0], [], [1.5], p=[rate], rtol=1e-12)
        assert found.x[-1, 0] == pytest.approx(1.5 * np.exp(-2 * rate), rel=1e-12)
    short = integrate(problem, [0.0, 2.0], [], [1.5], p=[0.3], max_step=0.05)
    assert short.stats["steps"] >= 40
    few = integrate(problem, [0.0, 2.0], [], [1.5], p=[0.3], max_step=0.05, max_steps=7)
    assert (few.status, few.stats["steps"]) == ("too_many_steps", 7)
    assert few.t_last == pytest.approx(0.35)


def test_inconsistent_start_is_moved_onto_the_constraints() -> None:
    m = pendulum(length=1.3)
    found = integrate(m.problem(), [0.0, 0.1], 1.1 * m.q0, m.v0 + m.q0, rtol=1e-10)
    assert found.status == "finished"
    assert m.residuals(found.x[0])[0] < 1e-12
    assert m.residuals(found.x[0])[1] < 1e-12
    assert found.start_moved[0] == pytest.approx(0.1 * np.abs(m.q0).max(), rel=1e-6)


def test_constraints_that_contradict_each_other_are_reported() -> None:
    q, v, a = ca.SX.sym("q", 2), ca.SX.sym("v", 2), ca.SX.sym("a", 2)
    C = ca.vertcat(ca.dot(q, q) - 1.0, ca.dot(q, q) - 4.0)
    problem = TaylorProblem(taylor_tape(q=q, v=v, a=a, residual=a, positions=C))
    found = integrate(problem, [0.0, 1.0], [1.0, 0.3], [0.0, 0.0])
    assert found.status == "constraints"
    assert found.which in (0, 1)
    assert "cannot be satisfied" in found.describe(rows=["rod", "cable"])


def test_motion_into_a_singular_position_stops_there() -> None:
    """A point on the unit circle whose x is driven to 1.2: it cannot go beyond x = 1 at t = 1."""
    q, v, a, t = ca.SX.sym("q", 2), ca.SX.sym("v", 2), ca.SX.sym("a", 2), ca.SX.sym("t")
    C = ca.vertcat(ca.dot(q, q) - 1.0, q[0] - 0.2 - 0.8 * t)
    problem = TaylorProblem(taylor_tape(q=q, v=v, a=a, t=t, residual=a, positions=C))
    found = integrate(problem, [0.0, 0.5, 1.5], [0.2, np.sqrt(0.96)], [0.8, -0.16 / np.sqrt(0.96)], rtol=1e-9)
    assert found.status in ("constraints", "step_too_small", "not_finite")
    assert found.t_last == pytest.approx(1.0, abs=1e-3)
    np.testing.assert_allclose(found.x[1, :2], [0.6, 0.8], atol=1e-9)


def test_order_follows_the_tolerance() -> None:
    assert [order_for(tol) for tol in (1e-6, 1e-10, 1e-12)] == [11, 16, 19]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"t_eval": [0.0, 0.0]}, "must increase"),
        ({"t_eval": []}, "at least one time"),
        ({"q0": [1.0]}, "q0 has shape"),
        ({"v0": [np.nan, 0.0]}, r"v0\[0\] = nan"),
        ({"p": [1.0]}, "p has shape"),
        ({"rtol": 2.0}, "rtol"),
        ({"atol": -1.0}, "atol"),
        ({"order": 3}, "order must be"),
        ({"max_step": 0.0}, "max_step"),
        ({"max_steps": 0}, "max_steps"),
        ({"directions": [1]}, "directions"),
        ({"chunk_steps": 0}, "chunk_steps"),
        ({"t_start": 1.0}, "after the first output time"),
    ],
)
def test_bad_input_is_refused(options: dict, message: str) -> None:
    m = pendulum()
    given = {"t_eval": [0.0, 1.0], "q0": m.q0, "v0": m.v0, **options}
    with pytest.raises(SolverError, match=message):
        integrate(m.problem(), given.pop("t_eval"), given.pop("q0"), given.pop("v0"), **given)
