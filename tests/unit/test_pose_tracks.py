"""Composite tracks: shapes in closed form, checked joints, closed laps, banked loops."""

import casadi as ca
import numpy as np
import pytest
from scipy.special import fresnel

from sekant.errors import DataError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.curves.track_segments import Arc, Clothoid, Fitted, Helix, Straight
from sekant.geometry.curves.tracks import composite


def bend(radius, angle, transition, roll=0.0, smooth=False):
    k = np.sign(angle) / radius
    rest = angle - k * transition
    return [
        Clothoid(transition, 0.0, k, roll, smooth=smooth),
        Arc(radius, rest, roll),
        Clothoid(transition, k, 0.0, roll, smooth=smooth),
    ]


def oval(smooth=False):
    return [Straight(30.0), *bend(20.0, np.pi, 8.0, 0.0, smooth)] * 2


def test_clothoid_is_fresnels():
    a = 0.3
    curve = composite([Clothoid(5.0, 0.0, 5.0 * a)], frame=None)
    s = curve.sample(101)
    scale = np.sqrt(np.pi / a)
    S, C = fresnel(s / scale)
    np.testing.assert_allclose(curve.position(s), np.stack([scale * C, scale * S, 0 * s], axis=1), atol=2e-10)


def test_arc_and_helix_in_closed_form():
    arc = composite([Arc(3.0, -1.2, roll=np.pi / 2)], start=((1.0, 2.0, 3.0), (0.0, 1.0, 0.0)), frame=None)
    end = arc.position(arc.length)
    np.testing.assert_allclose(
        end, [1.0, 2.0 + 3.0 * np.sin(1.2), 3.0 - 3.0 * (1.0 - np.cos(1.2))], atol=1e-9
    )
    helix = composite([Helix(3.0, 1.2, 5.0)], frame="frenet")
    climb = np.arctan(1.2 / (6.0 * np.pi))
    V = helix.twist(helix.sample(20))
    np.testing.assert_allclose(V[:, 2], np.cos(climb) ** 2 / 3.0, atol=1e-8)
    np.testing.assert_allclose(V[:, 0], np.cos(climb) * np.sin(climb) / 3.0, atol=1e-8)


def test_axis_and_roll_are_two_ways_to_say_one_thing():
    by_axis = composite([Straight(2.0), Arc(3.0, 1.0, axis=(0.0, -1.0, 0.0))], frame=None)
    by_roll = composite([Straight(2.0), Arc(3.0, 1.0, roll=np.pi / 2)], frame=None)
    s = by_axis.sample(30)
    np.testing.assert_allclose(by_axis.position(s), by_roll.position(s), atol=1e-12)
    assert by_axis.position(s)[-1, 2] == pytest.approx(3.0 * (1.0 - np.cos(1.0)))


@pytest.mark.parametrize(("smooth", "orientation"), [(False, 1), (True, 2)])
def test_closed_oval(smooth, orientation):
    track = composite(oval(smooth), closed=True, frame="rmf")
    assert track.closed
    assert track.report.unit_speed_error < 1e-8
    assert track.continuity.position >= 2
    assert track.continuity.orientation == orientation
    assert not track.report.warnings
    np.testing.assert_allclose(track.position(track.length + 1.0), track.position(1.0), atol=1e-12)
    s = track.sample(4001)
    area = 0.5 * np.trapezoid(np.cross(track.position(s), track.position(s, 1))[:, 2], s)
    assert area == pytest.approx(38.0 * 40.0 + np.pi * 20.0**2, rel=0.01)  # half a transition longer
    R, _ = track.pose(s)
    np.testing.assert_allclose(R[:, 2, 2], 1.0, atol=1e-9)


def test_vertical_loop_with_a_transported_frame():
    """The frame goes through the loop upside down and comes out upright: a frame from `up` could not."""
    track = composite([Straight(20.0), *bend(6.0, 2 * np.pi, 4.0, np.pi / 2), Straight(10.0)])
    R, p = track.pose(np.array([1.0, 20.0 + 0.5 * (track.length - 30.0), track.length]))
    np.testing.assert_allclose(R[0], np.eye(3), atol=1e-9)
    np.testing.assert_allclose(R[1][:, 2], [0.0, 0.0, -1.0], atol=1e-6)
    np.testing.assert_allclose(R[2], np.eye(3), atol=1e-9)
    assert p[1, 2] > 11.0
    np.testing.assert_allclose(track.position(track.length)[1:], 0.0, atol=1e-9)


def test_line_and_arc_is_reported_as_c1():
    track = composite([Straight(3.0), Arc(2.0, 1.0)])
    assert track.continuity.position == 1
    [warning] = track.report.warnings
    assert (warning.code, warning.place) == ("curvature_jump", "s = 3 m")
    assert "jumps by 0.5 1/m between segment 1 (straight) and segment 2 (arc), so" in warning.cause
    with pytest.raises(DataError, match=r"curvature jumps by 0.5 1/m .* put a clothoid between the segments"):
        composite([Straight(3.0), Arc(2.0, 1.0)], require="curvature")


BAD = [
    (
        [Straight(3.0), Arc(2.0, 1.0, at=((3.0, 0.1, 0.0), (1.0, 0.0, 0.0)))],
        {},
        "gap of 0.1 m between segment 1",
    ),
    (
        [Straight(3.0), Arc(2.0, 1.0, at=((3, 0, 0), (1.0, 0.02, 0.0)))],
        {},
        "tangent turns by 1.146 deg between segment 1",
    ),
    ([Straight(3.0), Arc(2.0, 0.0)], {}, r"segment 2 \(arc\): its length is 0 m"),
    ([Straight(-1.0)], {}, r"segment 1 \(straight\): its length is -1 m"),
    ([Arc(2.0, 1.0, axis=(1.0, 0.0, 1.0))], {}, "is inclined by 45 deg from the plane perpendicular"),
    ([Straight(3.0), Arc(2.0, 1.0)], {"closed": True}, "gap of 4.772 m between segment 2"),
    ([], {}, "at least one segment"),
    (
        [Straight(3.0), Arc(2.0, 1.0), Helix(3.0, 1.0, 4.0, roll=0.3)],
        {"frame": "frenet"},
        "frame jumps by about .* deg at",
    ),
]


@pytest.mark.parametrize(("segments", "options", "message"), BAD, ids=[b[2][:30] for b in BAD])
def test_bad_tracks_say_where_and_by_how_much(segments, options, message):
    with pytest.raises(DataError, match=message):
        composite(segments, **options)


def test_fitted_segments_join_the_track():
    x = np.linspace(0.0, 2.0, 200)
    fitted = PoseCurve.fit(np.stack([x, 0.1 * x**4, 0.0 * x], axis=1))
    track = composite(
        [Straight(4.0), Fitted(fitted, joined=True)], start=((5.0, 0.0, 1.0), (0.0, 1.0, 0.0)), turn=1e-4
    )
    end = track.position(track.length)
    np.testing.assert_allclose(end, [5.0 - 1.6, 6.0, 1.0], atol=1e-5)
    assert track.continuity.position >= 1
    placed = composite(
        [Straight(4.0, at=((-4.0, 0.0, 0.0), (1.0, 0.0, 0.0))), Fitted(fitted)], turn=1e-4, frame=None
    )
    np.testing.assert_allclose(placed.position(placed.length), [2.0, 1.6, 0.0], atol=1e-6)


def test_frenet_over_straights_and_bank_on_a_closed_track():
    track = composite(oval(True), closed=True, frame="frenet")
    s = track.sample(500)
    np.testing.assert_allclose(
        np.abs(track.pose(s)[0][:, 2, 2]), 1.0, atol=1e-9
    )  # a left-turning oval: z up always
    L = track.length
    banked = composite(
        oval(True), closed=True, frame="upright", bank=lambda u: 0.3 * ca.sin(2 * np.pi * u / L) ** 2
    )
    assert banked.continuity.orientation >= 2
    np.testing.assert_allclose(banked.twist(L - 1e-7), banked.twist(1e-7), atol=1e-5)


@pytest.mark.parametrize("length", [1e300, 1e7])
def test_a_clothoid_without_an_end_is_refused_in_bounded_time(length):
    with pytest.raises(DataError, match=r"not finite|turns too often"):
        composite([Straight(8.0), Clothoid(length, 0.0, 1 / 3, axis=(0, -1, 0))], frame=None)
