"""Lanes: code for several instances at once gives each what the code for one gives."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant import studies
from sekant.analyses.simulation.ensemble import fits_lanes, run_lanes
from sekant.engine.codegen import lanes as lane_code
from sekant.engine.codegen.build import build
from sekant.errors import SekantError
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table

ULPS = 8 * np.finfo(float).eps  # the vector library promises 4 units in the last place


def expressions():
    t, x, p = ca.SX.sym("t"), ca.SX.sym("x", 3), ca.SX.sym("p", 2)
    y = ca.vertcat(
        ca.sin(x[0]) * p[0] + ca.atan2(x[1], x[2]) + t,
        ca.if_else(x[0] > 0, x[1] ** 3, ca.exp(x[2])),
        ca.fabs(x[0]) * 2.5 + ca.sqrt(p[1]) + ca.fmax(x[1], x[2]) - ca.fmin(x[0], x[2]),
        ca.floor(x[0] * 3) + ca.sign(x[1]) + p[1] ** x[0],
        ca.tanh(x[1]) / x[2] + ca.fmod(x[0], 0.7) + ca.erfinv(0.1 * ca.sin(x[0])),
        ca.logic_and(x[0] > 0, x[1] > 0) + ca.logic_not(x[2]),
        p[0],
        t,
    )
    return [t, x, p], y


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("library", [True, False])
def test_every_lane_has_the_value_of_its_own_instance(lanes, library, monkeypatch):
    if not library:
        monkeypatch.setattr(lane_code, "vector_symbols", dict)
    inputs, y = expressions()
    one = build("one", inputs, [y], cache=False)
    many = build("many", inputs, [y], cache=False, lanes=lanes, shared={0}, chunk=7)
    rng = np.random.default_rng(lanes)
    for _ in range(20):
        X, P = rng.normal(size=(3, lanes)), rng.uniform(0.5, 2.0, size=(2, lanes))
        found = many([0.3], X.ravel(), P.ravel())[0].reshape(-1, lanes)
        expected = np.column_stack([one([0.3], X[:, k], P[:, k])[0] for k in range(lanes)])
        np.testing.assert_allclose(found, expected, rtol=ULPS, atol=ULPS)


def test_tables_are_looked_up_in_each_lane():
    lookups = Lookups()
    x = ca.SX.sym("x")
    rng = np.random.default_rng(1)
    breaks = np.array([-1.0, -0.3, 0.2, 0.5, 1.7])
    single = Table(breaks, rng.normal(size=(4, 1, 4)), "periodic", increment=0.7)
    several = Table(breaks, rng.normal(size=(4, 3, 4)), "linear")
    y = ca.vertcat(*[lookups(table, x, order=order) for table in (single, several) for order in (0, 1)])
    many = build("many", [x], [y], lookups, cache=False, lanes=4)
    for values in rng.uniform(-4, 4, size=(30, 4)):
        found = many(values)[0].reshape(-1, 4)
        for k, value in enumerate(values):
            expected = np.concatenate(
                [table(value, order) for table in (single, several) for order in (0, 1)]
            )
            np.testing.assert_allclose(found[:, k], expected, rtol=1e-13, atol=1e-13)


def test_not_a_number_stays_in_its_lane():
    x = ca.SX.sym("x")
    many = build("many", [x], [ca.sin(x) + ca.sqrt(x)], cache=False, lanes=4)
    found = many(np.array([1.0, np.nan, 4.0, -1.0]))[0]
    assert np.isnan(found).tolist() == [False, True, False, True]


def test_other_numbers_of_lanes_are_refused():
    x = ca.SX.sym("x")
    with pytest.raises(SekantError, match="2, 4, 8 lanes"):
        build("f", [x], [x * x], cache=False, lanes=3)


def spinning() -> sk.Model:
    """A body that tumbles freely, with a pendulum on it: quaternions, sines, a spring with a table."""
    return sk.Model(
        name="tumbler",
        bodies={
            "hull": sk.Body(mass=2.0, com=(0.01, 0.02, 0.0), inertia=(0.3, 0.7, 0.9)),
            "arm": sk.Body(mass=0.5, com=(0, 0, -0.3), inertia=(0.02, 0.03, 0.01)),
        },
        joints={
            "float": sk.joints.Free(child="hull", velocity=(0.1, 0.0, 0.3), angular_velocity=(1.0, 2.0, 0.5)),
            "hinge": sk.joints.Revolute(parent="hull", child="arm", axis=(0, 1, 0), q0=0.4),
        },
    )


@pytest.fixture(scope="module")
def system():
    return sk.compile(spinning(), parameters=["arm.mass"])


MASSES = [0.3, 0.5, 0.9, 1.4]


@pytest.mark.parametrize("method", ["rk4", "euler", "semi_implicit_euler"])
def test_fixed_steps_in_lanes_are_those_of_single_runs(system, method):
    times = np.linspace(0, 0.5, 6)
    rows = [{"arm.mass": m} for m in MASSES]
    runs = run_lanes(system, [system.initial_state(r) for r in rows], rows, times, method=method, step=1e-3)
    for row, run in zip(rows, runs, strict=True):
        single = sk.simulate(
            system, method=method, step=1e-3, output_times=times, parameters=row, balance=False
        )
        end = single.final_state
        np.testing.assert_allclose(run.x[-1], np.concatenate([end.q, end.v]), rtol=1e-11, atol=1e-11)


def test_dop853_in_lanes_keeps_the_tolerance_in_every_lane(system):
    times = np.linspace(0, 2.0, 5)
    rows = [{"arm.mass": m} for m in MASSES]
    assert fits_lanes(system, "dop853")
    runs = run_lanes(
        system, [system.initial_state(r) for r in rows], rows, times, method="dop853", rtol=1e-8, atol=1e-10
    )
    for row, run in zip(rows, runs, strict=True):
        exact = sk.simulate(
            system, method="taylor", rtol=1e-12, atol=1e-12, output_times=times, parameters=row, balance=False
        ).final_state
        gap = np.abs(run.x[-1] - np.concatenate([exact.q, exact.v]))
        assert gap.max() < 10 * 1e-8 * np.abs(np.concatenate([exact.q, exact.v])).max()


def test_a_lane_that_blows_up_leaves_the_others_alone():
    model = sk.Model(
        gravity=(0, 0, 0),
        parameters={"k": 40.0},
        bodies={"mass": sk.Body(mass=1.6)},
        joints={"slide": sk.joints.Prismatic(child="mass", axis=(0, 0, 1), q0=0.3)},
        forces={
            "spring": sk.forces.SpringDamper(parent="ground", child="mass", stiffness="k", free_length=0.0)
        },
    )
    samples = studies.rows({"k": [40.0, -1e12, 90.0, 10.0, 20.0]})
    asked = {"measures": ["final(slide.q)"], "until": 2.0, "method": "rk4", "step": 1e-3}
    lanes = studies.sweep(model, samples, **asked)
    single = studies.sweep(model, samples, lanes=1, **asked)
    assert lanes.ok.tolist() == single.ok.tolist() == [True, False, True, True, True]
    assert "not finite" in lanes.messages[1]
    np.testing.assert_allclose(lanes.measures[lanes.ok], single.measures[lanes.ok], rtol=1e-12)
