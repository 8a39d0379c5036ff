"""Newton's method: order, searches, reasons for its end, least steps, continuation."""

from __future__ import annotations

import numpy as np
import pytest

from sekant.solvers.newton import (
    Damping,
    FullSteps,
    FunctionProblem,
    Reason,
    Rows,
    follow,
    newton,
)

SEARCHES = [FullSteps(), Damping()]


def problem_of(f, slopes, **options):
    return FunctionProblem(lambda x: Rows(f(x), slopes(x), **options), lambda x, step: x + step)


def circle_and_line():
    """x^2 + 3 y^2 = 7 and x = 2 y: x = 2, y = 1."""
    return problem_of(
        lambda x: np.array([x[0] ** 2 + 3 * x[1] ** 2 - 7.0, x[0] - 2 * x[1]]),
        lambda x: np.array([[2 * x[0], 6 * x[1]], [1.0, -2.0]]),
    )


@pytest.mark.parametrize("search", SEARCHES)
def test_solution_and_order(search) -> None:
    found = newton(circle_and_line(), np.array([3.0, 0.7]), search, 1e-13)
    assert found.reason is Reason.CONVERGED
    assert found.point == pytest.approx([2.0, 1.0], abs=1e-12)
    assert found.error <= 1e-13
    sizes = np.array(found.sizes)
    late = sizes[1:][sizes[1:] > 1e-9]
    assert np.all(late <= 2.0 * sizes[: late.size] ** 2)  # quadratic: each step the square of the one before


def test_least_step_of_too_few_rows_and_weights() -> None:
    """One row for three unknowns: the step is along the weighted gradient, and what has no scale does not move."""
    scale = np.array([1.0, 0.5, 0.0])
    row = np.array([[2.0, -1.0, 5.0]])
    step = Rows(np.array([0.7]), row, scale).step()
    assert (row @ step)[0] == pytest.approx(-0.7)
    assert step[2] == 0.0
    weighted = row[0] * scale**2
    assert step == pytest.approx(-0.7 * weighted / (row[0] @ weighted))


def test_rows_that_agree() -> None:
    """Three equations that agree at the solution, one of them doubled; two unknowns."""
    A = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, -1.0]])
    goal = np.array([0.3, -0.8])
    linear = problem_of(lambda x: A @ (x - goal), lambda x: A)
    found = newton(linear, np.zeros(2), FullSteps(), 1e-14)
    assert found.iterations == 1
    assert found.point == pytest.approx(goal)


def test_damping_is_marquardts() -> None:
    A, r = np.array([[3.0, 1.0], [0.2, 2.0], [1.0, 1.0]]), np.array([0.5, -1.0, 2.0])
    expected = -np.linalg.solve(A.T @ A + 0.3 * np.eye(2), A.T @ r)
    assert Rows(r, A).step(0.3) == pytest.approx(expected)


def test_damped_steps_reach_what_full_steps_miss() -> None:
    """arctan from afar: whole steps grow without end; damped ones arrive."""
    bent = problem_of(lambda x: np.arctan(x), lambda x: np.diag(1 / (1 + x**2)))
    assert newton(bent, np.array([3.0]), FullSteps(contraction=0.5), 1e-12).reason is Reason.DIVERGED
    found = newton(bent, np.array([3.0]), Damping(), 1e-12)
    assert found.converged
    assert abs(found.point[0]) < 1e-11


def test_reasons() -> None:
    above = problem_of(lambda x: x**2 + 1.0, lambda x: np.diag(2 * x))
    assert newton(above, np.array([1.3]), Damping(), 1e-12).reason is Reason.STALLED
    assert (
        newton(circle_and_line(), np.array([9.0, 9.0]), FullSteps(), 1e-13, most=2).reason is Reason.TOO_MANY
    )
    root = problem_of(lambda x: np.log(x), lambda x: np.diag(1 / x))
    with np.errstate(invalid="ignore"):
        assert (
            newton(root, np.array([4.0]), FullSteps(), 1e-12).reason is Reason.NOT_FINITE
        )  # to 4 - 4 log 4 < 0
    unknown = problem_of(lambda x: x - 1.0, lambda x: np.array([[np.nan]]))
    assert newton(unknown, np.zeros(1), FullSteps(), 1e-12).reason is Reason.DIVERGED
    far = newton(circle_and_line(), np.array([3.0, 0.7]), FullSteps(travel=1e-3), 1e-13)
    assert far.reason is Reason.DIVERGED
    assert far.iterations == 0


def test_further_steps_beside_a_double_solution() -> None:
    """x^2 = 0: each step halves x, so one further step halves the error at which the residual is small enough."""
    double = problem_of(lambda x: x**2, lambda x: np.diag(2 * x))
    plain = newton(double, np.array([1.0]), FullSteps(), 1e-6)
    more = newton(double, np.array([1.0]), FullSteps(), 1e-6, further=1)
    assert more.converged
    assert more.iterations == plain.iterations + 1
    assert more.point[0] == pytest.approx(plain.point[0] / 2)


def test_small_steps_end_it() -> None:
    """A residual that round-off keeps above any tolerance: the steps tell that nothing is left to do."""
    noisy = problem_of(lambda x: 1e9 * (x - 1 / 3), lambda x: np.array([[1e9]]))
    found = newton(noisy, np.array([0.9]), FullSteps(), 0.0, smallest_step=1e-12)
    assert found.converged
    assert found.point[0] == pytest.approx(1 / 3, abs=1e-15)


def test_continuation_shortens_and_lengthens() -> None:
    """x^3 - x = 6 s from x = 1: attempts that go too far fail, and the steps grow again."""
    asked: list[float] = []

    def attempt(x, share):
        asked.append(share)
        cubic = problem_of(lambda y: y**3 - y - 6 * share, lambda y: np.diag(3 * y**2 - 1))
        found = newton(cubic, x, FullSteps(longest=0.3), 1e-13)
        return found.point if found.converged else None

    found = follow(attempt, np.array([1.0]), first=0.7)
    assert found is not None
    assert found[0] == pytest.approx(2.0)
    steps = np.diff([0.0, *sorted({share for share in asked if share <= 1.0})])
    assert asked[0] > asked[1]  # the first was cut
    assert steps.max() > 1.5 * steps.min()
    assert follow(lambda x, share: x if share < 0.5 else None, 0.0) is None
