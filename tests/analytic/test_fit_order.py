"""The order of rows that a fit finds is right, or it is told that it may not be.

Exact points of random curves, well sampled and far too coarsely, with jitter along the path; rows as they come, two
of them swapped, or all of them shuffled. Told is by `rows_reordered`, `order_uncertain`, `outliers` or an error.

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


def arc(n, turn):
    """Points (n, 3) on a circle that turns by `turn` [rad] from one to the next."""
    angle = turn * np.arange(n)
    return np.stack([np.sin(angle), 1.0 - np.cos(angle), 0.05 * angle], axis=1)


@pytest.mark.parametrize("swap", [(0, 1), (3, 4), (2, 6)])
def test_a_change_of_two_rows_turns_by_nearly_two_or_more(swap):
    """What the margin of 1.5 rests on: for points on an arc of 0.7 rad a step."""
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
    """A coil that turns by 80 deg from point to point."""
    p = arc(9, 1.4) + np.outer(1.4 * np.arange(9.0), [0.0, 0.0, 0.55])
    curve = PoseCurve.fit(p, name="coil")
    (warning,) = [w for w in curve.report.warnings if w.code == "order_uncertain"]
    assert warning.item == "curve 'coil'"
    assert warning.place.startswith("rows ")
    assert "deg from one row to the next" in warning.cause
    assert "time column" in warning.remedy
    timed = PoseCurve.fit({"position": p, "time": np.arange(9.0)})
    assert timed.length == pytest.approx(curve.length, rel=1e-12)
    assert not timed.report.warnings


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
