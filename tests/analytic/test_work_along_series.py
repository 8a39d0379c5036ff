"""The work of elements is one more series of each Taylor step: as accurate as the motion, at any rows, in one run."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant.engine.functions.taylor_tape import taylor_tape
from sekant.model.parse import model_from_dict
from sekant.solvers.taylor import TaylorProblem, integrate
from sekant.solvers.taylor.run import TaylorRun

NATURAL = Path(__file__).parents[2] / "examples" / "natural"


def test_work_of_a_closed_solution_with_two_rows():
    """v' = -v, power -v^2 and the power of lam that holds a second mass on sin t: closed integrals."""
    q, v, a, lam, t = (ca.SX.sym(name, size) for name, size in zip("qvalt", (2, 2, 2, 1, 1), strict=True))
    tape = taylor_tape(
        q=q,
        v=v,
        a=a,
        t=t,
        lam=lam,
        residual=ca.vertcat(a[0] + v[0], 3.0 * a[1]),
        positions=q[1] - ca.sin(t),
        powers=ca.vertcat(-(v[0] ** 2), lam * -ca.cos(t), 2.5),
    )
    done = integrate(
        TaylorProblem(tape), [0.0, 2.0], [0.0, 0.0], [1.7, 1.0], rtol=1e-11, atol=1e-11, work=[0.3, 0.0, 0.0]
    )
    lost = 0.3 + 1.7**2 * (np.exp(-4.0) - 1.0) / 2
    kinetic = 1.5 * (np.cos(2.0) ** 2 - 1.0)  # of the driven mass, which the drive pays for
    assert done.x[0, 4:].tolist() == [0.3, 0.0, 0.0]
    np.testing.assert_allclose(done.x[1, 4:], [lost, kinetic, 5.0], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(done.x_last[4:], done.x[1, 4:])


def test_a_power_that_is_steeper_than_the_motion_shortens_steps():
    """A power with poles near the real axis, which the motion does not have."""
    v, a, t = (ca.SX.sym(name) for name in "vat")
    tape = taylor_tape(v=v, a=a, t=t, residual=a - 1.0, powers=1.0 / (0.01 + (v - 0.5) ** 2))
    done = integrate(TaylorProblem(tape), [0.0, 1.0], [], [0.0], rtol=1e-10, atol=1e-10)
    exact = 2.0 * np.arctan(5.0) / 0.1
    assert abs(done.x[1, 1] - exact) < 1e-9 * exact
    assert done.stats["steps"] > 10


@pytest.mark.parametrize("rows", [2, 40])
def test_a_run_with_balance_is_one_run_with_the_rows_asked_for(rows, monkeypatch):
    system = sk.compile(sk.load(NATURAL / "mcpherson_strut.yaml"))
    laid_out = []

    class Counted(TaylorRun):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            laid_out.append(len(self.x_rows))

    monkeypatch.setattr(import_module("sekant.solvers.taylor.run"), "TaylorRun", Counted)
    times = np.linspace(0.0, 2.0, rows)
    given = {"output_times": times, "method": "taylor", "rtol": 1e-10, "atol": 1e-10}
    result = sk.simulate(system, **given)
    assert laid_out == [rows]
    energy = np.max(result["energy.kinetic"]) + np.ptp(result["energy.potential"])
    assert np.max(np.abs(result["energy.balance"])) < 1e-9 * energy
    alone = sk.simulate(system, balance=False, **given)
    assert result.stats["steps"] <= 1.1 * alone.stats["steps"]
    again = sk.simulate(system, **given)
    np.testing.assert_array_equal(result["energy.balance"], again["energy.balance"])


def test_work_goes_on_through_events_and_switches():
    """A block that bounces off a stop and rubs: what it has lost is the work of both, by another method too."""
    model = model_from_dict(
        {
            "bodies": {"ball": {"mass": 1.3}},
            "joints": {"rail": {"type": "prismatic", "axis": [0, 0, 1], "child": "ball", "q0": 0.7}},
            "forces": {
                "stop": {
                    "type": "joint_limit",
                    "joint": "rail",
                    "lower": 0.1,
                    "stiffness": 4e3,
                    "damping": 7.0,
                    "ramp": 0.01,
                },
                "rub": {"type": "joint_friction", "joint": "rail", "level": 1.9},
            },
        }
    )
    by_series = sk.simulate(model, 1.5, method="taylor", rtol=1e-10, atol=1e-10, output_step=0.3)
    by_stages = sk.simulate(model, 1.5, method="dop853", rtol=1e-11, atol=1e-11, output_step=0.3)
    assert by_series.ok
    assert by_stages.ok
    for name in ("stop.work", "rub.work"):
        np.testing.assert_allclose(by_series[name], by_stages[name], rtol=0, atol=1e-8)
    assert np.max(np.abs(by_series["energy.balance"])) < 1e-9
