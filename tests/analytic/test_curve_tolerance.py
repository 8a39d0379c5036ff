"""Tolerances of curves from formulas: a tighter one is never worse, whatever rounding allows."""

import casadi as ca
import pytest

import sekant as sk


def trefoil(tolerance: float) -> sk.PoseCurve:
    return sk.PoseCurve.from_function(
        lambda u: ca.vertcat(ca.sin(u) + 2 * ca.sin(2 * u), ca.cos(u) - 2 * ca.cos(2 * u), -ca.sin(3 * u)),
        (-1, 34),
        frame="rmf",
        tolerance=tolerance,
    )


def test_a_tighter_tolerance_is_never_worse():
    """Largest errors of pose, twist and rate between the nodes, as the report states them."""
    reached = [max(trefoil(tolerance).report.between_nodes) for tolerance in (1e-9, 1e-10, 3e-11, 1e-12)]
    assert reached == sorted(reached, reverse=True)
    assert reached[1] < 1e-10


def test_the_report_says_what_was_reached():
    report = trefoil(1e-12).report
    assert report.tolerance == 1e-12
    assert max(report.between_nodes) == pytest.approx(5e-11, rel=0.5)
    assert "tolerance not reached" in str(report)
