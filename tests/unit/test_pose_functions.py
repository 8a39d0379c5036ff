"""Pose curves from formulas: exact where they must be, refined elsewhere, saved bit by bit."""

import casadi as ca
import numpy as np
import pytest

from sekant.errors import DataError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.spatial import rotation_x, rotation_y, rotation_z


def wobble(u):
    p = ca.vertcat(ca.cos(u), 2 * ca.sin(u), 0.3 * u)
    return p, rotation_z(0.3 * u + 0.2 * ca.sin(u)) @ rotation_y(0.5 * ca.cos(0.7 * u)) @ rotation_x(
        0.4 * u**2
    )


def angles(u):
    return wobble(u)[0], ca.vertcat(0.3 * u + 0.2 * ca.sin(u), 0.5 * ca.cos(0.7 * u), 0.4 * u**2)


def test_matrix_and_euler_sources_give_one_curve():
    a = PoseCurve.from_function(wobble, (-1.0, 5.0))
    b = PoseCurve.from_function(angles, (-1.0, 5.0), orientation="euler:zyx")
    assert (a.orientation, b.orientation) == ("quaternion", "euler:zyx")
    u = np.linspace(-1.0, 5.0, 401)
    np.testing.assert_allclose(a.pose(u)[0], b.pose(u)[0], atol=3e-10)
    np.testing.assert_allclose(a.twist(u), b.twist(u), atol=1e-8)
    np.testing.assert_allclose(a.twist_rate(u), b.twist_rate(u), atol=1e-6)
    assert a.continuity.order >= 3
    np.testing.assert_allclose(a.euler(u), b.components(u)[:, 3:], atol=1e-9)


def test_report_states_the_errors_of_pose_twist_and_its_rate():
    """Without rotation the twist in M is p', and its rate p''."""
    tolerance = 1e-7
    curve = PoseCurve.from_function(
        lambda u: ca.vertcat(ca.sin(3 * u), u, ca.exp(-u)), (0.0, 4.0), tolerance=tolerance
    )
    u = np.linspace(0.0, 4.0, 5001)
    one, zero = np.ones_like(u), np.zeros_like(u)
    truth = [
        np.stack([np.sin(3 * u), u, np.exp(-u)], axis=1),
        np.stack([3 * np.cos(3 * u), one, -np.exp(-u)], axis=1),
        np.stack([-9 * np.sin(3 * u), zero, np.exp(-u)], axis=1),
    ]
    position, rotation, angular, linear, angular_rate, linear_rate = curve.report.between_nodes
    assert rotation == angular == angular_rate == 0.0
    for order, (told, exact) in enumerate(zip((position, linear, linear_rate), truth, strict=True)):
        error = np.linalg.norm(curve.position(u, order) - exact, axis=1).max()
        share = error / np.linalg.norm(exact, axis=1).max() if order else error
        assert share <= 1.5 * told <= 1.5 * tolerance
        assert told <= 1.5 * share
    assert linear_rate > 1e-3 * tolerance  # the tolerance governs the number of pieces


@pytest.mark.parametrize(("tolerance", "reached"), [(1e-10, True), (1e-13, False)])
def test_a_tolerance_below_round_off_is_told(tolerance, reached):
    """The frame of a trefoil comes from its formula; its twist's rate cannot be better than 1e-11."""
    curve = PoseCurve.from_function(
        lambda u: ca.vertcat(ca.sin(u) + 2 * ca.sin(2 * u), ca.cos(u) - 2 * ca.cos(2 * u), -ca.sin(3 * u)),
        (0.0, 2.0 * np.pi),
        frame="frenet",
        tolerance=tolerance,
        extrapolation="periodic",
    )
    assert max(curve.report.between_nodes[:4]) < 1e-12
    assert max(curve.report.between_nodes[4:]) < 1e-10
    assert ("tolerance not reached" not in str(curve.report)) == reached


def test_quintic_is_c2_and_septic_is_c3():
    def f(u):
        return ca.vertcat(ca.sin(7 * u), ca.cos(5 * u), u)

    for degree, order in ((5, 2), (7, 3)):
        curve = PoseCurve.from_function(f, (0.0, 3.0), degree=degree, tolerance=1e-4)
        assert curve.continuity.order == order, curve.continuity


def test_many_turns_keep_one_sign():
    curve = PoseCurve.from_function(
        lambda u: (ca.vertcat(u, 0, 0), rotation_x(40 * u) @ rotation_z(0.3)), (0.0, 5.0)
    )
    u = np.linspace(0.0, 5.0, 2000)
    np.testing.assert_allclose(
        curve.twist(u)[:, :3],
        np.broadcast_to([40 * np.cos(0.3), -40 * np.sin(0.3), 0.0], (2000, 3)),
        atol=1e-6,
    )
    assert curve.continuity.order >= 3


def test_kink_at_a_given_break_is_kept_and_reported():
    def f(u):
        return ca.vertcat(u, ca.if_else(u < 1.0, 0.0, (u - 1.0) ** 2), 0.0)

    curve = PoseCurve.from_function(f, (0.0, 3.0), breaks=[1.0])
    assert curve.continuity.order == 1
    assert curve.continuity.where == pytest.approx(1.0)
    np.testing.assert_allclose(curve.position(np.array([0.4, 2.0, 2.7]))[:, 1], [0.0, 1.0, 2.89], atol=1e-12)


def test_control_points_open_and_closed():
    t = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    P = np.stack([np.cos(t), 1.5 * np.sin(t), 0.2 * np.cos(2 * t)], axis=1)
    open_curve = PoseCurve.from_control_points(P)
    np.testing.assert_allclose(open_curve.position([0.0, 1.0]), P[[0, -1]], atol=1e-14)
    assert open_curve.continuity.order >= 4
    loop = PoseCurve.from_control_points(P, closed=True)
    np.testing.assert_allclose(loop.position(0.3), loop.position(5.3), atol=1e-12)
    assert loop.continuity.order >= 4
    with pytest.raises(DataError, match="4 control points are too few"):
        PoseCurve.from_control_points(P[:4])


def test_range_behaviors():
    def circle(u):
        return ca.vertcat(2 * ca.cos(u), 2 * ca.sin(u), 0.0), rotation_z(u)

    turn = 2 * np.pi
    closed = PoseCurve.from_function(circle, (0.0, turn), extrapolation="periodic")
    np.testing.assert_allclose(closed.pose(0.5 + 3 * turn)[0], closed.pose(0.5)[0], atol=1e-10)
    assert closed.continuity.order >= 3
    line = PoseCurve.from_function(circle, (0.0, 1.0), extrapolation="linear")
    end, slope = line.position(1.0), line.position(1.0, 1)
    np.testing.assert_allclose(line.position(1.75), end + 0.75 * slope, atol=1e-12)
    with pytest.raises(DataError, match="does not close"):
        PoseCurve.from_function(circle, (0.0, 5.0), extrapolation="periodic")


def test_save_and_load_are_exact(tmp_path):
    curve = PoseCurve.from_function(wobble, (-1.0, 5.0), name="wobble", parameter="angle", unit="rad")
    curve.save(tmp_path / "w.json")
    back = PoseCurve.load(tmp_path / "w.json")
    assert np.array_equal(back.table.coefficients, curve.table.coefficients)
    assert np.array_equal(back.table.breaks, curve.table.breaks)
    assert (back.orientation, back.parameter, back.unit, back.name) == (
        "quaternion",
        "angle",
        "rad",
        "wobble",
    )
    assert str(back.report) == str(curve.report)


def test_bad_files_are_named(tmp_path):
    bad = tmp_path / "bad.json"
    with pytest.raises(DataError, match=r"bad.json: cannot be read"):
        PoseCurve.load(bad)
    bad.write_text("{\n 'x'")
    with pytest.raises(DataError, match=r"bad.json:2: is not valid JSON"):
        PoseCurve.load(bad)
    bad.write_text('{"format": "something"}')
    with pytest.raises(DataError, match="is not a sekant pose curve"):
        PoseCurve.load(bad)
    bad.write_text('{"format": "sekant pose curve", "version": 1, "breaks": [0, 1]}')
    with pytest.raises(DataError, match="'coefficients' is missing"):
        PoseCurve.load(bad)


def test_bad_functions_are_named():
    with pytest.raises(DataError, match="not finite at 0"):
        PoseCurve.from_function(lambda u: ca.vertcat(1 / u, 0, 0), (-1.0, 1.0))
    with pytest.raises(DataError, match="depends on k"):
        PoseCurve.from_function(lambda u: ca.vertcat(u, ca.SX.sym("k"), 0), (0.0, 1.0))
    with pytest.raises(DataError, match=r"three components \(the function gives 2"):
        PoseCurve.from_function(lambda u: ca.vertcat(u, u), (0.0, 1.0))
    with pytest.raises(DataError, match="empty"):
        PoseCurve.from_function(lambda u: ca.vertcat(u, u, u), (1.0, 1.0))
    with pytest.raises(DataError, match="rotation has 2 components"):
        PoseCurve.from_function(lambda u: (ca.vertcat(u, u, u), ca.vertcat(u, u)), (0.0, 1.0))
