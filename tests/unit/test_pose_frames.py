"""Frames along curves: Serret and Frenet's equations, no twist for the transported frame, blends without flips."""

import casadi as ca
import numpy as np
import pytest

from sekant.errors import DataError
from sekant.geometry.curves.arc_length import along_arc_length
from sekant.geometry.curves.frames import with_frame
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.tables.table import Table


def helix(u):
    return ca.vertcat(2 * ca.cos(u), 2 * ca.sin(u), 0.5 * u)


def knot(t):
    return ca.vertcat(ca.sin(t) + 2 * ca.sin(2 * t), ca.cos(t) - 2 * ca.cos(2 * t), -ca.sin(3 * t))


TURN = 2.0 * np.pi


def test_frenet_frame_of_a_helix_has_constant_curvature_and_torsion():
    curve = with_frame(
        along_arc_length(PoseCurve.from_function(helix, (0.0, 12.0), tolerance=1e-12)), "frenet"
    )
    k, tau = 2.0 / 4.25, 0.5 / 4.25
    s = curve.sample(200)
    expected = np.broadcast_to([tau, 0.0, k, 1.0, 0.0, 0.0], (200, 6))
    np.testing.assert_allclose(curve.twist(s), expected, atol=1e-8)
    np.testing.assert_allclose(curve.twist_rate(s), 0.0, atol=1e-6)
    R, _ = curve.pose(s)
    assert np.abs(R[:, 2, 1]).max() < 1e-8  # the normal is horizontal and points to the axis


def test_transported_frame_does_not_turn_about_the_tangent():
    curve = with_frame(PoseCurve.from_function(knot, (0.3, 5.0)), "rmf", up=(0.2, -1.0, 0.4))
    V = curve.twist(curve.sample(300))
    assert np.abs(V[:, 0]).max() < 1e-7
    np.testing.assert_allclose(V[:, 4:], 0.0, atol=1e-7)


def test_closed_transported_frame_spreads_what_is_left():
    curve = with_frame(PoseCurve.from_function(knot, (0.0, TURN), extrapolation="periodic"), "rmf")
    wx = curve.twist(curve.sample(100))[:, 0]
    assert np.ptp(wx) < 1e-7
    assert abs(wx[0]) > 0.1
    np.testing.assert_allclose(curve.pose(TURN - 1e-12)[0], curve.pose(1e-12)[0], atol=1e-9)
    assert "127.5 deg" in curve.report.notes[0]


def test_bank_turns_about_the_tangent():
    plain = PoseCurve.from_function(helix, (0.0, 6.0))
    base = with_frame(plain, "upright")
    table = Table.cubic(np.linspace(0.0, 6.0, 13), 0.3 * np.sin(np.linspace(0.0, 6.0, 13)))
    u = np.linspace(0.0, 6.0, 41)
    for bank, angle in (
        (0.2, 0.2 + 0 * u),
        (lambda x: 0.08 * x**2, 0.08 * u**2),
        (table, table(u)[:, 0]),
    ):
        R = with_frame(plain, "upright", bank=bank).pose(u)[0]
        relative = np.swapaxes(base.pose(u)[0], 1, 2) @ R
        np.testing.assert_allclose(np.arctan2(relative[:, 2, 1], relative[:, 1, 1]), angle, atol=1e-9)
        np.testing.assert_allclose(relative[:, 0, 0], 1.0, atol=1e-12)


def test_upright_keeps_the_side_axis_level_and_refuses_a_vertical_path():
    R = with_frame(PoseCurve.from_function(helix, (0.0, 6.0)), "upright").pose(np.linspace(0.0, 6.0, 50))[0]
    assert np.abs(R[:, 2, 1]).max() < 1e-10
    assert R[:, 2, 2].min() > 0.9
    with pytest.raises(DataError, match=r"vertical near u = 1.5\d* .*use the frame 'rmf'"):
        with_frame(
            PoseCurve.from_function(lambda u: ca.vertcat(ca.sin(u), 0, -ca.cos(u)), (0.0, 3.0)), "upright"
        )


def s_curve(u):
    return ca.vertcat(u, u**3, 0.0)


def test_inflection_neither_flips_nor_divides_by_zero():
    curve = with_frame(PoseCurve.from_function(s_curve, (-1.0, 1.2)), "frenet")
    u = curve.sample(2001)
    R, _ = curve.pose(u)
    assert np.abs(R[:, 2, 2] - R[0, 2, 2]).max() < 1e-9  # a plane curve keeps its binormal
    assert np.isfinite(curve.twist_jerk(u)).all()
    assert curve.continuity.order >= 2
    turned = with_frame(PoseCurve.from_function(s_curve, (-1.0, 1.2)), "frenet", signed=False).pose(u)[0]
    assert turned[0, 2, 2] * turned[-1, 2, 2] < -0.99  # the true normal changes its side


def bridge(blend):
    """Circle in one plane, straight line, circle in a plane turned by 60 degrees about the line."""
    c, s = np.cos(np.pi / 3), np.sin(np.pi / 3)

    def path(u):
        v = ca.fmax(u - 3.0, 0.0)
        w = ca.fmax(1.0 - u, 0.0)
        x = ca.fmin(ca.fmax(u, 1.0), 3.0) + ca.sin(v) - ca.sin(w)
        h = 1 - ca.cos(v)
        return ca.vertcat(x, (1 - ca.cos(w)) + c * h, s * h)

    return with_frame(PoseCurve.from_function(path, (0.0, 4.0), breaks=[1.0, 3.0]), "frenet", blend=blend)


def test_normal_turns_over_a_straight_segment_as_hall_blends_it():
    curve = bridge("cubic")
    u = np.linspace(1.02, 2.98, 41)
    R, _ = curve.pose(u)
    delta = np.pi / 3
    assert "blended from u = 1 to 3" in curve.report.notes[0]
    x = 0.5 * (u - 1.0)
    hermite = delta * (3.0 * x**2 - 2.0 * x**3)  # (3.78)
    np.testing.assert_allclose(np.arctan2(R[:, 2, 1], R[:, 1, 1]), hermite, atol=1e-8)
    R1, R3 = curve.pose(1.0)[0], curve.pose(3.0)[0]
    np.testing.assert_allclose(R1[:, 1], [0.0, 1.0, 0.0], atol=1e-8)
    np.testing.assert_allclose(R3[:, 1], [0.0, 0.5, np.sqrt(0.75)], atol=1e-8)
    assert (
        bridge("quintic").continuity.orientation == 0
    )  # line and arc: the curvature jumps, and so does omega


def test_straight_and_standing_paths():
    line = with_frame(PoseCurve.from_function(lambda u: ca.vertcat(u, 2 * u, 0), (0.0, 1.0)), "frenet")
    assert np.abs(line.twist(line.sample(5))[:, :3]).max() < 1e-12
    with pytest.raises(DataError, match="no tangent at u = 0"):
        with_frame(
            PoseCurve.from_function(lambda u: ca.vertcat(u**3, u**2, 0), (-1.0, 1.0), breaks=[0.0]), "rmf"
        )
    with pytest.raises(DataError, match="unknown frame 'frenett'; did you mean 'frenet'"):
        with_frame(line, "frenett")


def test_arc_length_of_any_curve():
    curve = PoseCurve.from_function(
        lambda u: (ca.vertcat(u, u**2, 0), ca.vertcat(ca.cos(u), 0, 0, ca.sin(u))), (-1.5, 2.0)
    )
    over = along_arc_length(curve)
    length = [(2 * x * np.sqrt(1 + 4 * x * x) + np.arcsinh(2 * x)) / 4 for x in (-1.5, 2.0)]
    assert over.length == pytest.approx(length[1] - length[0], abs=1e-12)
    assert over.report.unit_speed_error < 1e-8
    x = np.linspace(-1.5, 2.0, 50)
    s = (2 * x * np.sqrt(1 + 4 * x * x) + np.arcsinh(2 * x)) / 4 - length[0]
    s = np.clip(s, *over.range)
    np.testing.assert_allclose(over.pose(s)[0], curve.pose(x)[0], atol=1e-9)
    np.testing.assert_allclose(over.position(s), curve.position(x), atol=1e-9)
    with pytest.raises(DataError, match="does not change at u = "):
        along_arc_length(PoseCurve.from_function(lambda u: ca.vertcat(u**2, 0, 0), (0.0, 1.0)))
