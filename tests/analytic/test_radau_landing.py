"""Radau where tables have breaks and switches flip: it lands, sees one side only, and names what chatters."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
import pytest

from sekant.engine.functions.dae import DaeExpressions, build_dae
from sekant.solvers.common.modes import Switching
from sekant.solvers.dae import DaeProblem, integrate_dae
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table

SX = ca.SX


def problem(law: Any, guided: bool, lookups: Lookups | None = None, held: bool = True) -> DaeProblem:
    """A mass of 0.7 kg with the acceleration ``law(x, v)`` along x; `guided`: in the plane, on the line y = x."""
    n = 2 if guided else 1
    t, q, v, a, lam = SX.sym("t"), SX.sym("q", n), SX.sym("v", n), SX.sym("a", n), SX.sym("lam", n - 1)
    lookups = lookups or Lookups()
    mass = 0.7
    R = mass * (a - ca.vertcat(*[law(q[0], v[0])] * n))
    Phi = q[1] - q[0] if guided else SX.zeros(0, 1)
    if guided:
        R = R + ca.vertcat(-lam, lam)
    expressions = DaeExpressions(t=t, q=q, v=v, a=a, lam=lam, qdot=v, R=R, Phi=Phi, lookups=lookups)
    functions = build_dae("point", expressions)
    sites = functions.residual.sites
    switching = Switching(functions.residual.guards, sites, lookups.tables) if held and sites else None
    return DaeProblem(functions, switching=switching)


def run(given: DaeProblem, until: float, x: float, v: float, rtol: float, rows: int = 41):
    n = given.functions.nq
    return integrate_dae(given, np.linspace(0, until, rows), [x] * n, [v] * n, rtol=rtol, atol=1e-2 * rtol)


def kinked(x: Any, v: Any) -> Any:
    return -4.0 * ca.fmin(x, 0) - 25.0 * ca.fmax(x, 0)


def bilinear(time: np.ndarray, soft: float, hard: float, speed: float) -> np.ndarray:
    """Position on a spring of squared frequency `soft` where x < 0 and `hard` where x > 0, from 0 with a speed."""
    w, W = np.sqrt(soft), np.sqrt(hard)
    local = time % (np.pi / w + np.pi / W)
    late = local - np.pi / W
    return np.where(late < 0, speed / W * np.sin(W * local), -speed / w * np.sin(w * late))


@pytest.mark.parametrize("guided", [False, True])
def test_a_spring_with_a_kink_in_closed_form(guided):
    """The error falls with every decade, and is a fraction of what stepping over the kinks leaves."""
    given = problem(kinked, guided)
    errors = []
    for rtol in 10.0 ** -np.arange(5, 12):
        outcome = run(given, 10.0, 0.0, 1.5, rtol)
        assert outcome.status == "finished"
        assert outcome.stats["landings"] >= 10
        errors.append(np.max(np.abs(outcome.x[:, 0] - bilinear(outcome.t, 4.0, 25.0, 1.5))))
    assert all(after < max(before, 2e-12) for before, after in pairwise(errors)), errors  # down to round-off
    assert errors[-1] < 3e-10
    over = run(problem(kinked, guided, held=False), 10.0, 0.0, 1.5, 1e-9)
    held = run(given, 10.0, 0.0, 1.5, 1e-9)
    assert held.stats["evaluations"] < over.stats["evaluations"]


def test_a_table_that_jumps():
    """A force that jumps by 8 m/s^2 at x = 0.3: two parabolas in closed form."""
    lookups = Lookups()
    table = Table.linear([0.0, 0.3, 0.3 + 1e-9, 1.0], [3.0, 3.0, -5.0, -5.0])
    given = problem(lambda x, v: lookups(table, x), True, lookups)
    outcome = run(given, 0.6, 0.0, 1.0, 1e-10)
    crossing = (np.sqrt(1.0 + 2 * 3.0 * 0.3) - 1.0) / 3.0
    late = np.maximum(outcome.t - crossing, 0.0)
    early = np.minimum(outcome.t, crossing)
    truth = early + 1.5 * early**2 + (1.0 + 3.0 * crossing) * late - 2.5 * late**2
    assert outcome.status == "finished"
    assert np.max(np.abs(outcome.x[:, 0] - truth)) < 1e-8


@pytest.mark.parametrize("guided", [False, True])
def test_sticking_by_a_sign_is_called_chattering(guided):
    """It comes to rest by v = 0 at t = 0.5, where both signs push back."""
    outcome = run(problem(lambda x, v: -4.0 * ca.sign(v), guided), 2.0, 0.0, 2.0, 1e-8)
    assert outcome.status == "chattering"
    assert outcome.t_last == pytest.approx(0.5, abs=1e-3)
    assert outcome.stats["steps"] + outcome.stats["rejected"] < 10_000
    assert "switches back and forth" in outcome.describe()
    assert "sign" in outcome.describe()
