"""Bodies on paths with pieces, dampers with corners, rough roads: the promise of the tolerances is kept."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import sekant as sk
from paths import STADIUM, on_path
from sekant.analyses.simulation import runs
from sekant.engine.functions.motion import time_stops
from sekant.solvers.ode import integrate

EXAMPLES = Path(__file__).parents[2] / "examples"
LAPS = 11 * 143.0 / 12.0


def loaded(text: str, folder: Path) -> sk.System:
    file = folder / "model.yaml"
    file.write_text(text)
    return sk.compile(sk.load(file))


@pytest.fixture(scope="module")
def stadium(tmp_path_factory) -> sk.System:
    return loaded(STADIUM, tmp_path_factory.mktemp("stadium"))


@pytest.fixture(scope="module")
def coaster() -> sk.System:
    return sk.compile(sk.load(EXAMPLES / "roller_coaster.yaml"), parameters=["v0"])


@pytest.fixture(scope="module")
def quarter_car() -> sk.System:
    return sk.compile(sk.load(EXAMPLES / "quarter_car.yaml"))


ADAPTIVE = ("dop853", "radau5", "taylor")


@pytest.mark.parametrize("rtol", [1e-8, 1e-11])
@pytest.mark.parametrize("method", ADAPTIVE)
def test_eleven_laps_of_a_stadium_keep_their_energy(stadium, method, rtol):
    result = sk.simulate(stadium, until=LAPS, method=method, rtol=rtol, atol=1e-2 * rtol)
    assert result.status == "finished"
    assert not result.warnings
    assert result["rail.q"][-1] > 11 * 132.8
    assert np.max(np.abs(result["energy.balance"])) < 10 * rtol * np.max(result["energy.kinetic"])
    if method == "dop853":
        assert result.stats["rejected"] < 0.1 * result.stats["steps"]


@pytest.mark.parametrize("rtol", [1e-8, 1e-11])
@pytest.mark.parametrize("method", ADAPTIVE)
def test_two_laps_of_a_roller_coaster_keep_their_energy(coaster, method, rtol):
    result = sk.simulate(coaster, until=62.0, method=method, rtol=rtol, atol=rtol)
    exchanged = np.ptp(result["energy.kinetic"])
    assert np.max(np.abs(result["energy.balance"])) < 10 * rtol * exchanged
    assert result.stats["rejected"] < 0.35 * result.stats["steps"]
    assert not result.warnings


@pytest.mark.parametrize(
    ("method", "rtol", "runs", "most"),
    [("dop853", 1e-12, 601, 500), ("taylor", 1e-12, 61, 250), ("radau5", 1e-8, 7, 1400)],
)
def test_no_method_stalls_on_straight_track(coaster, method, rtol, runs, most):
    """All slopes of a step are equal there: what estimates of its error leave is round-off, which differs from run to
    run. In the median runs take 419, 183 and 1,150 steps."""
    options = {"method": method, "rtol": rtol, "atol": rtol, "output_step": 1.0, "balance": False}
    for v0 in np.linspace(1.0, 4.0, runs):
        result = sk.simulate(coaster, 30.0, parameters={"v0": v0}, max_steps=2 * most, **options)
        assert result.status == "finished", f"v0 = {v0}"
        assert result.stats["steps"] < most


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("track", ["stadium", "coaster"])
def test_the_error_on_a_path_falls_with_every_decade(track, method, request):
    """What exceeds a tenth of rtol falls with every decade, and nothing exceeds rtol.

    Below that the error is not rtol's where breaks are nearer than the steps (where they are not, see the next test):
    loose runs take the steps that lie between breaks, of a few per mille of rtol whatever it is (dop853 needs 70
    steps on the coaster at 1e-5 and 73 at 1e-6), tight ones are at round-off.
    The reference comes by another route: series on every piece.
    """
    system, times = request.getfixturevalue(track), np.linspace(0.0, 20.0, 81)
    fine = sk.simulate(system, output_times=times, method="taylor", rtol=1e-14, atol=1e-14)["rail.q"]
    left = []
    for rtol in 10.0 ** -np.arange(5, 12):
        rough = sk.simulate(system, output_times=times, method=method, rtol=rtol, atol=rtol)
        error = np.max(np.abs(rough["rail.q"] - fine)) / np.max(fine)
        assert error < rtol
        left.append(max(error, 0.1 * rtol))
    assert all(after < before for before, after in pairwise(left)), left


@pytest.fixture(scope="module")
def loop() -> sk.System:
    """A loaded body on a closed curve of five pieces, each many steps long."""
    curve = sk.PoseCurve.from_function(
        lambda u: ca.vertcat(3.0 * ca.cos(u), 2.0 * ca.sin(u), 0.4 * ca.sin(2.0 * u)),
        (0.0, 2.0 * np.pi),
        orientation="none",
        extrapolation="periodic",
    )
    return sk.compile(on_path(curve, q0=0.3, v0=1.1))


@pytest.mark.parametrize("method", ADAPTIVE)
def test_where_steps_follow_the_tolerance_so_does_the_error(loop, method):
    """Each decade from 1e-5 to 1e-11 at least halves it; the reference comes by another route."""
    times, other = np.linspace(0.0, 10.0, 81), "dop853" if method == "taylor" else "taylor"
    fine = sk.simulate(loop, output_times=times, method="taylor", rtol=1e-14, atol=1e-14)["joint.q"]
    check = sk.simulate(loop, output_times=times, method=other, rtol=1e-13, atol=1e-13)["joint.q"]
    assert np.max(np.abs(check - fine)) < 1e-11 * np.max(fine)
    errors = []
    for rtol in 10.0 ** -np.arange(5, 12):
        rough = sk.simulate(loop, output_times=times, method=method, rtol=rtol, atol=rtol)
        errors.append(np.max(np.abs(rough["joint.q"] - fine)) / np.max(fine))
        assert errors[-1] < 10 * rtol
    assert all(after < 0.5 * before for before, after in pairwise(errors)), errors


def test_landing_costs_less_than_separate_runs_over_every_piece(stadium):
    problem = runs.explicit_problem(stadium, None, False, "dop853")
    start = np.concatenate([stadium.initial_state().q, stadium.initial_state().v])
    times = np.linspace(0.0, 12.5, 20001)
    rows = integrate(problem, times, start, rtol=1e-12, atol=1e-12).x
    breaks = stadium.equations.lookups.tables[0].breaks
    ends = [0.0, *CubicSpline(rows[:, 0], times)(breaks[1:]).tolist()]
    options: Any = {"rtol": 1e-8, "atol": 1e-8}
    joined = integrate(problem, [0.0, ends[-1]], start, **options)
    free, apart = replace(problem, switching=None), 0
    for low, high in pairwise(ends):
        state = [float(np.interp(low, times, rows[:, j])) for j in range(2)]
        apart += integrate(free, [low + 1e-9, high - 1e-9], state, **options).stats["evaluations"]
    assert joined.stats["evaluations"] < 1.5 * apart


def test_a_balance_that_does_not_fit_is_told_with_the_table(stadium, monkeypatch):
    """Without landing, dop853 loses energy at the breaks; that the result says so is what is tested."""
    original = runs.explicit_problem
    monkeypatch.setattr(
        runs, "explicit_problem", lambda *given: replace(original(*given), switching=None), raising=True
    )
    result = sk.simulate(stadium, until=30.0, method="dop853", rtol=1e-6, atol=1e-8)
    (warning,) = result.warnings
    assert warning.code == "energy_drift"
    assert warning.item == "table 'stadium'"
    assert "rtol" in warning.cause


CORNERS = """
name: corners
tables:
  law: {{x: [-1, 0, 1], y: {values}, extrapolation: linear}}
bodies: {{ball: {{mass: 1 kg}}}}
gravity: [0, 0, 0]
joints: {{rail: {{type: prismatic, child: ball, axis: [1, 0, 0], v0: 1 m/s}}}}
forces: {{spring: {{type: actuator, joint: rail, force: -law(q)}}}}
"""


def test_fixed_steps_tell_the_breaks_that_they_went_over(tmp_path):
    system = loaded(CORNERS.format(values="[-10, 0, 4000]"), tmp_path)
    result = sk.simulate(system, until=5.0, method="rk4", step=0.01)
    (warning,) = [w for w in result.warnings if w.code == "breaks_crossed"]
    assert warning.item == "table 'law'"
    assert warning.place == "at 0"
    assert not sk.simulate(system, until=5.0, method="rk4", step=1e-5).warnings
    assert not sk.simulate(system, until=5.0, method="dop853").warnings


@pytest.mark.parametrize("method", ["euler", "semi_implicit_euler", "rk4", "generalized_alpha"])
def test_every_fixed_step_tells_the_breaks_of_a_path(stadium, method):
    result = sk.simulate(stadium, until=12.0, method=method, step=0.05)
    (warning,) = result.warnings
    assert (warning.code, warning.item) == ("breaks_crossed", "table 'stadium'")
    assert warning.place.startswith("at 20, 25, 38.208, ")
    assert "the rate of 'rail.u_rate' differs by" in warning.cause
    assert "adaptive method" in warning.remedy


def test_an_engine_that_steps_over_breaks_says_so(tmp_path):
    file = tmp_path / "model.yaml"
    file.write_text(CORNERS.format(values="[-10, 0, 4000]"))
    system = sk.compile(sk.load(file), engine="casadi")
    for method in ("dop853", "radau5"):
        (warning,) = sk.simulate(system, until=0.1, method=method).warnings
        assert (warning.code, warning.item) == ("breaks_stepped_over", "table 'law'")
    assert not sk.simulate(system, until=0.1, method="taylor").warnings


def test_a_table_whose_pieces_agree_is_not_reported(tmp_path):
    system = loaded(CORNERS.format(values="[-10, 0, 10]"), tmp_path)
    assert not sk.simulate(system, until=5.0, method="rk4", step=0.01).warnings


def test_corners_of_a_damper_cost_few_trials(quarter_car):
    problem = runs.explicit_problem(quarter_car, None, False, "dop853")
    start, stops = quarter_car.initial_state(), time_stops(quarter_car, 0.0, 5.0)
    landing, over = (
        integrate(given, [0.0, 5.0], np.concatenate([start.q, start.v]), stops=stops)
        for given in (problem, replace(problem, switching=None))
    )
    assert landing.stats["rejected"] < 0.25 * landing.stats["steps"]
    assert landing.stats["rejected"] < 0.5 * over.stats["rejected"]
    assert landing.stats["evaluations"] < 0.8 * over.stats["evaluations"]


@pytest.mark.parametrize("rtol", [1e-8, 1e-11])
def test_series_sum_up_the_work_of_a_damper_over_its_corners(quarter_car, rtol):
    """Its power bends within the stretches of the quadrature; the motion alone is right to 1e-12."""
    result = sk.simulate(quarter_car, method="taylor", rtol=rtol, atol=rtol)
    assert not result.warnings
    exchanged = np.max(np.abs(result["energy.work"])) + np.max(result["energy.kinetic"])
    assert np.max(np.abs(result["energy.balance"])) < 10 * rtol * exchanged
    coarse = sk.simulate(quarter_car, method="taylor", rtol=rtol, atol=rtol, output_step=0.5)
    assert coarse["strut.work"][-1] == pytest.approx(result["strut.work"][-1], rel=10 * rtol)


def test_the_work_of_a_motion_is_as_accurate_as_the_motion(tmp_path):
    """A rough road, C2 only: the work of the motion that lifts the wheel against a run with a tight tolerance."""
    rng = np.random.default_rng(5)
    t = np.linspace(0.0, 5.0, 101).tolist()
    road = (0.01 * rng.standard_normal(101)).tolist()
    text = (EXAMPLES / "quarter_car.yaml").read_text()
    begin, end = text.index("    value: step5"), text.index("shapes:")
    text = text[:begin] + "    value: profile(t)\n" + text[end:]
    text = text.replace("tables:\n", f"tables:\n  profile: {{x: {t}, y: {road}, kind: cubic}}\n")
    system = loaded(text, tmp_path)
    works = {
        rtol: sk.simulate(system, method="dop853", rtol=rtol, atol=1e-2 * rtol)["bump.work"][-1]
        for rtol in (1e-6, 1e-11)
    }
    assert works[1e-6] == pytest.approx(works[1e-11], rel=2e-5)
    series = sk.simulate(system, method="taylor", rtol=1e-11)
    assert works[1e-11] == pytest.approx(series["bump.work"][-1], rel=1e-8)
    assert np.max(np.abs(series["energy.balance"])) < 10 * 1e-11 * np.max(np.abs(series["bump.work"]))
