"""Stored pieces against the formulas they follow: precision, number and degree."""

from __future__ import annotations

from itertools import product
from math import factorial
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant.errors import DataError
from sekant.geometry.curves.arc_length import along_arc_length
from sekant.geometry.curves.frames import with_frame
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.curves.track_segments import Arc, Clothoid, Helix, Straight
from sekant.geometry.curves.tracks import composite
from sekant.tables.hermite import inner_nodes, piece_coefficients
from sekant.tables.pieces import horner

EXAMPLES = Path(__file__).parents[2] / "examples"
TURN = 2.0 * np.pi


def knot(t):
    return ca.vertcat(ca.sin(t) + 2 * ca.sin(2 * t), ca.cos(t) - 2 * ca.cos(2 * t), -ca.sin(3 * t))


def frenet(path):
    """u (n,) -> rotation (n, 3, 3), twist (n, 6) in M and its rate (n, 6), straight from Serret and Frenet."""
    u = ca.SX.sym("u")  # type: ignore[call-arg]
    r = [path(u)]
    for _ in range(3):
        r.append(ca.jacobian(r[-1], u))
    normal = ca.cross(r[1], r[2])
    speed, bend = ca.norm_2(r[1]), ca.norm_2(normal)
    t, b = r[1] / speed, normal / bend
    V = ca.vertcat(ca.dot(normal, r[3]) / bend**2 * speed, 0, bend / speed**2, speed, 0, 0)
    f = ca.Function(
        "frenet", [u], [ca.densify(x) for x in (ca.horzcat(t, ca.cross(b, t), b), V, ca.jacobian(V, u))]
    )

    def evaluate(places):
        found = [[np.asarray(x) for x in f(p)] for p in places]
        R, V, dV = (np.stack([row[i] for row in found]) for i in range(3))
        return R, V[..., 0], dV[..., 0]

    return evaluate


@pytest.mark.parametrize("tolerance", [1e-7, 1e-10, 1e-13])
def test_frenet_frames_come_from_the_formula(tolerance):
    """At 1e-13 only rounding is left: of the second derivatives about 5e-11 of the largest."""
    plain = PoseCurve.from_function(knot, (0.0, TURN), tolerance=tolerance, extrapolation="periodic")
    curve = with_frame(plain, "frenet")
    assert curve.report.tolerance == tolerance
    u = np.linspace(0.0, TURN, 997)[1:-1]
    R, V, dV = frenet(knot)(u)
    found = curve.pose(u)[0]
    rotation = np.abs(
        found * np.sign(np.sum(found * R, axis=1, keepdims=True)) - R
    ).max()  # signed normal: either side
    twist = np.abs(np.abs(curve.twist(u)) - np.abs(V)).max() / np.abs(V).max()
    rate = np.abs(np.abs(curve.twist_rate(u)) - np.abs(dV)).max() / np.abs(dV).max()
    floor = 64.0 * np.finfo(float).eps
    assert rotation <= max(tolerance, floor)
    assert twist <= max(tolerance, 1e-12)
    assert rate <= max(tolerance, 1e-10)
    told = curve.report.between_nodes
    assert max(told[2:4]) >= 0.1 * twist
    assert max(told[4:]) >= 0.1 * rate * np.abs(dV).max() / max(np.abs(dV).max(), np.abs(V).max() ** 2)


def test_frames_over_arc_length_come_from_the_formula():
    """A helix over its length: curvature and torsion are constant to rounding, not to the tolerance of pieces."""
    curve = PoseCurve.from_function(
        lambda u: ca.vertcat(2 * ca.cos(u), 2 * ca.sin(u), 0.5 * u),
        (0.0, 12.0),
        frame="frenet",
        arc_length=True,
    )
    assert (curve.parameter, curve.unit) == ("s", "m")
    assert curve.length == pytest.approx(12.0 * np.sqrt(4.25), rel=1e-14)
    V = curve.twist(curve.sample(301))
    exact = [0.5 / 4.25, 0.0, 2.0 / 4.25, 1.0, 0.0, 0.0]
    assert np.abs(V - exact).max() < 1e-11
    assert np.abs(curve.twist_rate(curve.sample(301))).max() < 1e-10
    assert curve.report.unit_speed_error < 1e-11


def test_options_of_frames_in_from_function():
    u = np.linspace(0.0, TURN, 41)
    once = PoseCurve.from_function(knot, (0.0, TURN), frame="rmf", bank=lambda x: 0.1 * x, up=(1.0, 0.3, 0.2))
    twice = with_frame(
        PoseCurve.from_function(knot, (0.0, TURN)), "rmf", bank=lambda x: 0.1 * x, up=(1.0, 0.3, 0.2)
    )
    np.testing.assert_allclose(once.twist_rate(u), twice.twist_rate(u), atol=1e-9)
    with pytest.raises(DataError, match="unknown option 'fram' of a curve; did you mean 'frame'"):
        PoseCurve.from_function(knot, (0.0, 1.0), fram="rmf")
    with pytest.raises(DataError, match="orientation is given twice"):
        PoseCurve.from_function(lambda t: (knot(t), ca.vertcat(1, 0, 0, 0)), (0.0, 1.0), frame="rmf")
    with pytest.raises(DataError, match="a bank angle needs a frame"):
        PoseCurve.from_function(knot, (0.0, 1.0), bank=0.1)


def test_short_pieces_keep_their_digits():
    """Second derivatives between nodes 0.017 apart: rounding of the data alone leaves 20 eps |y| / h^2, about 2e-11;
    a completion by sums of all terms leaves a hundred times as much."""
    h = 0.017
    breaks = np.arange(0.0, 6.0, h)
    jet = np.stack([3.0 + np.sin(breaks), np.cos(breaks), -np.sin(breaks), -np.cos(breaks)])[:, :, None]
    c = piece_coefficients(np.diff(breaks), jet[:, :-1], jet[:, 1:])
    worst = 0.0
    for share in (0.2, 0.5, 0.7):
        u = breaks[:-1] + share * h
        worst = max(worst, np.abs(horner(c, np.full((len(u), 1), share * h), 2)[:, 0] + np.sin(u)).max())
    assert worst < 1e-10


@pytest.mark.parametrize(("s", "inner"), [(3, 0), (3, 3), (4, 2), (4, 6)])
def test_polynomials_of_the_degree_of_a_piece_are_kept(s, inner):
    rng = np.random.default_rng(3)
    degree = 2 * s + inner - 1
    exact = rng.normal(size=(5, 2, degree + 1)) / np.array([factorial(k) for k in range(degree + 1)])
    h = np.array([0.3, 0.7, 1.0, 1.4, 1.9])
    left, right = (np.stack([horner(exact, x, k) for k in range(s)]) for x in (np.zeros((5, 1)), h[:, None]))
    values = None
    if inner:
        values = np.stack([horner(exact, (x * h)[:, None], 0) for x in inner_nodes(s, inner)])
    found = piece_coefficients(h, left, right, values)
    for order, share in product((0, 1, 2), (0.1, 0.45, 0.8)):
        x = (share * h)[:, None]
        scale = np.abs(exact).sum(axis=2).max() / h[:, None] ** order
        assert np.all(np.abs(horner(found, x, order) - horner(exact, x, order)) < 1e-13 * scale)


def test_segments_need_few_pieces():
    """Straights are one piece each, exact; arcs of up to a radian or two as well."""
    coaster = sk.load(EXAMPLES / "roller_coaster.yaml").curves["coaster"]
    assert len(coaster.table.coefficients) <= 60  # of 33 segments, frame and bank included
    assert coaster.report.between_nodes[4] < 1e-10 > coaster.report.between_nodes[5]
    track = composite(
        [Straight(20.0), Clothoid(5.0, 0.0, 0.1), Arc(10.0, 1.3), Clothoid(5.0, 0.1, 0.0), Straight(7.0)]
    )
    pieces = np.histogram(track.table.breaks[:-1], [0.0, 20.0, 25.0, 38.0, 43.0, 50.0])[0]
    assert list(pieces) == [1, 1, 1, 1, 1]
    straight = track.table.coefficients[[0, -1]]
    assert np.all(straight[:, :, 2:] == 0.0)
    assert np.all(straight[:, 3:, 1] == 0.0)
    line = composite([Straight(3.0), Straight(4.0)], start=((1.0, 2.0, 3.0), (1.0, 2.0, 2.0)))
    assert line.table.powers == 2  # no power is stored that is not there


def test_degree_is_the_lowest_that_needs_no_more_pieces():
    def path(u):
        return ca.vertcat(ca.cos(u), ca.sin(u), 0.1 * u)

    chosen = PoseCurve.from_function(path, (0.0, 9.0))
    counts = {
        d: len(PoseCurve.from_function(path, (0.0, 9.0), degree=d).table.breaks) - 1
        for d in (5, 7, 9, 11, 13)
    }
    assert counts[5] > counts[7] > counts[9] > counts[11] > counts[13] == len(chosen.table.breaks) - 1
    assert counts[7] > 10 * counts[13]
    # multiplications of a look-up of value and two derivatives of m components: (3 k - 6) m. The pieces at whose ends
    # a step must stop become fewer faster than the powers become more
    assert (3 * 14 - 6) * counts[13] < (3 * 8 - 6) * counts[7]
    with pytest.raises(DataError, match="degree of the pieces must be from 5 to 13"):
        PoseCurve.from_function(path, (0.0, 9.0), degree=15)


def test_the_frame_that_a_track_carries_does_not_turn_about_the_tangent():
    """A helix of one turn, then an arc with a roll: the plane of the arc is that of the transported frame, which has
    turned by 2 pi sin(climb) about the tangent, seen from the helix' normal."""
    track = composite([Helix(3.0, 4.0, TURN), Arc(2.0, 0.5)], frame=None)
    climb = np.arctan(4.0 / (6.0 * np.pi))
    s = track.table.breaks
    at = float(s[np.argmin(np.abs(s - 6.0 * np.pi / np.cos(climb)))])
    t, bend = track.position(at + 1e-9, 1), track.position(at + 1e-6, 2)
    first = composite([Helix(3.0, 4.0, TURN)], frame=None).position(0.0, 2)
    normal = first / np.linalg.norm(first)  # after a whole turn the helix' normal is the first one again
    angle = np.arctan2(np.cross(normal, bend) @ t, normal @ bend)
    assert np.cos(angle + TURN * np.sin(climb)) == pytest.approx(1.0, abs=1e-9)


def test_arc_length_of_a_saved_curve_is_no_better_than_its_pieces(tmp_path):
    """Files keep no formula: what is made from them follows the pieces, to their last digit."""
    PoseCurve.from_function(knot, (0.0, TURN)).save(tmp_path / "knot.json")
    back = PoseCurve.load(tmp_path / "knot.json")
    assert back.formula is None
    over = along_arc_length(back)
    assert over.report.unit_speed_error < 1e-10
    framed = with_frame(back, "rmf")
    u = np.linspace(0.0, TURN, 101)
    assert np.abs(framed.position(u) - back.position(u)).max() < 1e-14
