"""Understeer gradients: fitted where the handling diagram is straight, also beside a kink."""

import re

import numpy as np
import pytest
from test_slow_and_spinning_cars import FIALA, light_car

from sedans import sedan
from sekant.vehicle.driving import drive
from sekant.vehicle.maneuvers.straight_part import straight_part
from sekant.views.drive_report import write_report


def test_a_straight_curve_is_fitted_as_a_whole():
    x = np.linspace(0.5, 4.0, 300)
    found = straight_part(x, 0.3 - 0.02 * x, 1e-6, 0.8)
    assert (found.low, found.high) == pytest.approx((0.5, 4.0))
    assert found.slope == pytest.approx(-0.02, rel=1e-9)
    assert found.at_low == pytest.approx(0.29, rel=1e-9)
    assert found.residual < 1e-12


@pytest.mark.parametrize("kink", [1.4, 3.1])
def test_beside_a_kink_the_wider_side_is_fitted(kink):
    """Slopes 0.05 and 0.01 on both sides: across the kink a line has a slope between them."""
    x = np.linspace(0.5, 4.0, 400)
    y = np.where(x < kink, 0.05 * (x - kink), 0.01 * (x - kink))
    found = straight_part(x[::-1], y[::-1], 2e-4, 0.8)
    wide = 0.01 if kink < 2.25 else 0.05
    assert found.slope == pytest.approx(wide, rel=0.02)
    assert found.residual <= 2e-4
    assert 1.6 < found.high - found.low < 2.9


def test_nothing_straight_is_told_by_the_residual():
    x = np.linspace(0.5, 4.0, 300)
    found = straight_part(x, x**3, 1e-9, 0.8)
    assert found.high - found.low == pytest.approx(0.8, abs=0.1)
    assert found.residual > 1e-9
    assert straight_part(x, x**3, 1e-9, 4.0) is None


def test_a_preloaded_differential_has_its_gradient_beyond_the_kink():
    """The differential slips from some 1.2 m/s^2 on: the slope is that of the diagram beyond."""
    drives = {"axle": "rear", "differential": "limited_slip", "preload": 40.0}
    run = drive(light_car(FIALA, drive=drives), "steady-circle", speed=12.0, duration=10.0)
    found = {m.name: m.value for m in run.measures}
    (low, high), _ = run.maneuver.diagram(run).line
    diagram = run.maneuver.diagram(run)
    x, y = diagram.x, diagram.curves["steer angle - L/R"]
    before = (np.interp(1.0, x, y) - np.interp(0.7, x, y)) / 0.3
    beyond = (np.interp(2.4, x, y) - np.interp(1.6, x, y)) / 0.8
    assert before > 5 * beyond
    assert found["understeer gradient"] == pytest.approx(
        beyond, rel=0.12
    )  # it rises slowly with the acceleration
    assert low > 1.1
    assert high - low > 0.8
    assert found["residual of the fit"] < 2e-3


def test_a_steady_circle_tells_where_it_was_fitted(tmp_path):
    run = drive(sedan(), "steady-circle", speed=22.0, duration=8.0)
    found = {m.name: m.value for m in run.measures}
    assert found["straight to"] - found["straight from"] > 0.8
    assert 0 <= found["residual of the fit"] < 0.01
    # the car rolls and moves load: more understeer than the single-track model without either
    linear = np.degrees(run.linear.understeer_gradient)
    assert 0.5 * linear < found["understeer gradient"] < 6 * linear
    diagram = run.maneuver.diagram(run)
    assert set(diagram.curves) == {"steer angle", "steer angle - L/R"}
    (x0, x1), (y0, y1) = diagram.line
    assert (y1 - y0) / (x1 - x0) == pytest.approx(found["understeer gradient"], rel=1e-9)
    page = tmp_path / "report.html"
    write_report([run], page)
    assert re.search("straight from", page.read_text())
