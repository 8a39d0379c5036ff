"""The order of rows that a fit finds is right, or it is told that it may not be.

Exact points of random curves, well sampled and far too coarsely, with jitter along the path; rows as they come, two
of them swapped, or all of them shuffled. Told is by `rows_reordered`, `order_uncertain`, `outliers` or an error:
where the data have no order, or another one than the chosen is clearly smoother, the rows are refused.

One kind of case cannot be told: rows that in their given order are a smooth path through points near each other, and
yet stand in another order on a curve that turns back between two of them (`test_what_points_cannot_tell`).
"""

import numpy as np
import pytest
from scipy.spatial import cKDTree
from test_fit_properties import random_case

from sekant.errors import DataError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.fit.ambiguity import doubt
from sekant.geometry.fit.order import out_of_order
from sekant.geometry.fit.polyline import chord_length, project

TOLD = {"rows_reordered", "order_uncertain", "outliers"}


def outcome(seed, most, mess, coarse):
    """("right", "wrong", "untellable" or "refused", whether told); None for points with noise. Untellable: the rows
    as they are given are a smooth path, and no other order of them is."""
    case, measured = random_case(seed, most, mess, coarse)
    if case.sigma > 0.0:
        return None
    rows = case.rows(np.argsort(measured))
    try:
        curve = PoseCurve.fit(case.points[rows])
    except DataError:
        return "refused", True
    found = curve.report.residuals
    places = cKDTree(case.points).query(found["position"][np.argsort(found["u"], kind="stable")])[1]
    step = np.diff(places)
    told = any(w.code in TOLD for w in curve.report.warnings)
    if np.all(step >= 0) or np.all(step <= 0):
        return "right", told
    given = case.points[rows]
    kept = np.argsort(rows, kind="stable")[np.searchsorted(np.sort(rows), places)]
    same = np.all(np.diff(kept) == 1) or np.all(np.diff(kept) == -1)
    return "untellable" if same and doubt(given) is None else "wrong", told


def outcomes(seeds, most, mess, coarse):
    found = [outcome(seed, most, mess, coarse) for seed in seeds]
    found = [each for each in found if each is not None]
    assert len(found) > 0.3 * len(seeds)
    return found


@pytest.mark.parametrize(
    ("seeds", "most"),
    [(range(2, 8), 60), pytest.param(range(700, 1000), 200, marks=pytest.mark.long)],
)
@pytest.mark.parametrize("mess", ["adjacent", "far", "all"])
def test_no_wrong_order_is_silent(seeds, most, mess):
    coarse = outcomes(seeds, most, mess, coarse=True)
    assert ("wrong", False) not in coarse
    assert sum(kind == "untellable" for kind, _ in coarse) <= 0.03 * len(coarse)
    assert len(coarse) < 20 or sum(kind == "right" for kind, _ in coarse) > 0.5 * len(coarse)


@pytest.mark.parametrize(
    ("seeds", "most"),
    [(range(2, 8), 60), pytest.param(range(700, 1000), 200, marks=pytest.mark.long)],
)
def test_well_sampled_paths_give_no_false_alarm(seeds, most):
    """At most 0.7 rad from point to point on average: none where the rows are in order; with jitter, which opens wide
    gaps, in few cases."""
    alarms = []
    for seed in seeds:
        case, measured = random_case(seed, most, "none", coarse=False)
        try:
            curve = PoseCurve.fit(case.points[np.argsort(measured)])
        except DataError:
            continue
        alarm = "order_uncertain" in [w.code for w in curve.report.warnings]
        assert not alarm or np.any(np.diff(measured) < 0), seed
        alarms.append(alarm)
    assert np.mean(alarms) <= (0.2 if len(alarms) < 20 else 0.05)


@pytest.mark.parametrize("seed", range(3))
def test_nearest_points_of_long_polygons(seed):
    """Sought among the segments whose middles are near, they are those of all segments; steps of all lengths."""
    rng = np.random.default_rng(seed)
    line = np.cumsum(np.exp(rng.normal(size=(200, 1)) * seed) * rng.normal(size=(200, 3)), axis=0)
    r = np.concatenate([line[::2] + 2.0 * rng.normal(size=(100, 3)), line[:1] - 5.0, line[-1:] + 7.0])
    for found, expected in zip(project(r, line), project(r, line, np.zeros(102, int), 200), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_rows_outside_the_longest_increasing_run():
    way = np.array([0, 1, 7, 2, 3, 5, 4, 6, 8])
    assert out_of_order(way).tolist() in ([7, 5], [7, 4])
    assert out_of_order(np.arange(100_000)).size == 0  # a second where it took minutes


def arc(n, turn):
    """Points (n, 3) on a circle that turns by `turn` [rad] from one to the next."""
    angle = turn * np.arange(n)
    return np.stack([np.sin(angle), 1.0 - np.cos(angle), 0.05 * angle], axis=1)


@pytest.mark.parametrize("swap", [(0, 1), (3, 4), (2, 6)])
def test_a_change_of_two_rows_turns_by_nearly_two_or_more(swap):
    """What the margin of 0.6 rests on: for points on an arc of 0.7 rad a step a change costs three times as much."""
    p = arc(9, 0.7)
    q = p.copy()
    q[list(swap)] = q[list(swap[::-1])]

    def turning(r):
        d = np.diff(r, axis=0)
        d /= np.linalg.norm(d, axis=1, keepdims=True)
        return np.sum(1.0 - np.sum(d[1:] * d[:-1], axis=1))

    assert turning(q) - turning(p) > 1.75
    assert doubt(p) is None


def test_an_uncertain_order_names_rows_and_remedy():
    """Eleven points of a curve that turns by 50 deg from one to the next, in their true order."""
    p = random_case(874, 200, "none", coarse=True)[0].points
    curve = PoseCurve.fit(p, name="coil")
    (warning,) = [w for w in curve.report.warnings if w.code == "order_uncertain"]
    assert warning.item == "curve 'coil'"
    assert warning.place.startswith("rows ")
    assert "deg from one row to the next" in warning.cause
    assert "time column" in warning.remedy
    timed = PoseCurve.fit({"position": p, "time": np.arange(11.0)})
    assert timed.length == pytest.approx(curve.length, rel=1e-12)
    assert not timed.report.warnings


def test_an_order_that_is_open_is_refused():
    """Without an order in the data: points that have another one as smooth, and a ring that opens where two neighbors
    are farther apart than its ends."""
    shuffled = np.random.default_rng(3).permutation
    p = random_case(874, 200, "none", coarse=True)[0].points
    with pytest.raises(DataError, match=r"do not determine (their order|it)"):
        PoseCurve.fit(shuffled(p))
    ring = arc(60, 0.1)[5:]
    apart = np.delete(ring, range(20, 30), axis=0)
    with pytest.raises(DataError, match="ends are nearer to each other than row"):
        PoseCurve.fit(shuffled(apart), allow_gaps=True)
    assert PoseCurve.fit(shuffled(ring)).length == pytest.approx(chord_length(ring)[-1], rel=1e-2)


def test_what_points_cannot_tell():
    """Two orders of the same points, each a smooth path: whoever has the points alone cannot know which is meant.

    The true curve passes the second point first, turns back sharply and goes on: any file of nine points on a line
    may come from such a curve, so that without a false alarm for all of them none can be told.
    """
    straight = np.stack([np.arange(9.0), 0.02 * np.arange(9.0) ** 2, np.zeros(9)], axis=1)
    hooked = straight[
        [1, 0, *range(2, 9)]
    ]  # the order on a curve with a turn of nearly a half circle at its start
    assert doubt(straight) is None
    assert PoseCurve.fit(hooked).length == pytest.approx(PoseCurve.fit(straight).length, rel=1e-9)
