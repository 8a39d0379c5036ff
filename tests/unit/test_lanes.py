"""Lanes: code for several instances at once gives each what the code for one gives."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant import studies
from sekant.analyses.simulation import ensemble
from sekant.analyses.simulation.ensemble import fits_lanes, lanes_of, run_lanes
from sekant.engine.codegen import lanes as lane_code
from sekant.engine.codegen.build import build
from sekant.errors import SekantError
from sekant.tables.lookups import Lookups
from sekant.tables.table import Table, Table2

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


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_tables_are_looked_up_in_each_lane(lanes):
    """Breaks that crowd: lanes need different numbers of comparisons; all kinds of continuation; no numbers."""
    lookups = Lookups()
    x = ca.SX.sym("x")
    rng = np.random.default_rng(lanes)
    breaks = np.concatenate([[-1.0, -0.3, 0.2], 0.5 + np.geomspace(1e-7, 1e-3, 20), [1.7]])
    n = breaks.size - 1
    tables = (
        Table(breaks, rng.normal(size=(n, 1, 4)), "periodic", increment=0.7),
        Table(breaks, rng.normal(size=(n, 3, 4)), "linear"),
        Table(breaks, rng.normal(size=(n, 1, 3)), "error"),
        Table(breaks, rng.normal(size=(n, 2, 2)), "periodic", increment=[0.2, -0.4]),
    )
    patch = Table2(breaks, breaks[:4], rng.normal(size=(n, 3, 2, 3, 2)), ("linear", "constant"))
    asked = [(table, order) for table in tables for order in (0, 1)]
    second = 0.4 * x - 0.1
    y = ca.vertcat(*[lookups(t, x, order=k) for t, k in asked], lookups(patch, x, second))
    many = build("many", [x], [y], lookups, cache=False, lanes=lanes)
    near = 0.5 + np.geomspace(5e-8, 2e-3, 40)
    for _ in range(30):
        values = np.where(rng.random(lanes) < 0.6, rng.choice(near, lanes), rng.uniform(-4, 4, lanes))
        values[rng.integers(lanes)] = rng.choice([np.nan, breaks[3], 0.1])
        if rng.random() < 0.5:  # all on one piece, or on its ends
            piece = rng.integers(n)
            values = breaks[piece] + rng.random(lanes) * (breaks[piece + 1] - breaks[piece])
            values[rng.integers(lanes)] = breaks[piece + rng.integers(2)]
        found = many(values)[0].reshape(-1, lanes)
        for k, value in enumerate(values):
            parts = [np.ravel(table(value, order)) for table, order in asked]
            expected = np.concatenate([*parts, np.ravel(patch(value, 0.4 * value - 0.1))])
            np.testing.assert_allclose(found[:, k], expected, rtol=1e-11, atol=1e-11)


def test_short_functions_take_two_registers_a_value(system, monkeypatch):
    monkeypatch.setattr(ensemble, "has_long_registers", lambda: False)
    assert lanes_of(system, "rk4") == 8
    assert lanes_of(system, "dop853") == 4
    monkeypatch.setattr(ensemble, "SHORT", 10)
    assert lanes_of(system, "rk4") == 4
    monkeypatch.setattr(ensemble, "has_long_registers", lambda: True)
    assert lanes_of(system, "rk4") == 8


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
    stiffness = [40.0, -1e12, 90.0, 10.0, 20.0, 25.0, 30.0, 35.0, 15.0, 17.0]
    samples = studies.rows({"k": stiffness})  # eight rows at once, and two with lanes left over
    asked = {"measures": ["final(slide.q)"], "until": 2.0, "method": "rk4", "step": 1e-3}
    lanes = studies.sweep(model, samples, **asked)
    single = studies.sweep(model, samples, lanes=1, **asked)
    assert lanes.ok.tolist() == single.ok.tolist() == [k > 0 for k in stiffness]
    assert "not finite" in lanes.messages[1]
    np.testing.assert_allclose(lanes.measures[lanes.ok], single.measures[lanes.ok], rtol=1e-12)


def crank() -> sk.Model:
    """A crank that drives a slider over a rod: a closed loop, which is put back after every step."""
    return sk.load("examples/slider_crank.yaml")


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
def test_closed_loops_in_lanes_are_those_of_single_runs(method):
    model = crank()
    name = next(iter(model.bodies))
    samples = studies.rows({f"{name}.mass": [0.7, 1.0, 1.9, 4.0]})
    channel = next(f"{joint}.q" for joint in model.joints)
    asked = {"measures": {"end": f"final({channel})"}, "until": 0.4, "method": method, "step": 1e-3}
    system = sk.compile(model)
    assert system.equations.constraints
    assert fits_lanes(system, method)
    together = studies.sweep(model, samples, lanes=4, **asked)
    alone = studies.sweep(model, samples, lanes=1, **asked)
    assert together.ok.all()
    np.testing.assert_allclose(together["end"], alone["end"], rtol=1e-9)  # both on the constraints to 1e-11
    assert np.ptp(alone["end"]) > 1e-4


def test_a_loop_that_cannot_close_is_one_row():
    """A driven crank, whose rod is too short to go round in one row: that fails, the others are as run alone."""
    crank = sk.Body(mass=1.0, inertia=(0.01, 0.02, 0.02), frames={"pin": {"position": (0.2, 0, 0)}})
    model = sk.Model(
        gravity=(0, 0, 0),
        parameters={"long": 0.5},
        bodies={"crank": crank, "block": sk.Body(mass=0.6), "weight": sk.Body(mass=0.3)},
        joints={
            "turn": sk.joints.Revolute(child="crank", axis=(0, 0, 1)),
            "slide": sk.joints.Prismatic(child="block", axis=(1, 0, 0), q0=0.6),
            "hang": sk.joints.Prismatic(parent="block", child="weight", axis=(1, 0, 0), q0=0.1),
        },
        motions={"motor": sk.Motion(joint="turn", value="0.3 + 9*t")},
        constraints={"rod": sk.constraints.Distance(parent="crank.pin", child="block", length="long")},
        forces={"spring": sk.forces.Actuator(joint="hang", force="-50*hang.q")},
    )
    samples = studies.rows({"long": [0.5, 0.19, 0.45, 0.6]})
    asked = {"measures": ["final(hang.q)"], "until": 0.5, "method": "rk4", "step": 1e-3}
    together = studies.sweep(model, samples, lanes=4, **asked)
    alone = studies.sweep(model, samples, lanes=1, **asked)
    assert together.ok.tolist() == alone.ok.tolist() == [True, False, True, True]
    np.testing.assert_allclose(together.measures[together.ok], alone.measures[alone.ok], rtol=1e-9)
