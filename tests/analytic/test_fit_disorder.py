"""Fits of few, jittering, swapped, shuffled, repeated and wrong rows: fitted well and reported, or refused."""

import numpy as np
import pytest

from sekant.errors import DataError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.fit.knots import fit_to_tolerance
from sekant.geometry.fit.outliers import unlikely


def parabola(n, a=-2.0, b=2.0):
    x = np.linspace(a, b, n)
    return np.stack([x, x**2, 0.0 * x], axis=1)


def eight(n):
    t = np.linspace(0.0, 2.0 * np.pi, n)
    return np.stack([np.sin(t), np.sin(t) * np.cos(t), 0.0 * t], axis=1)


PARABOLA = 2.0 * (np.sqrt(17.0) * 4.0 + np.arcsinh(4.0)) / 4.0  # m, its length from -2 to 2
PLAY = np.array([0.0, 0.0, 0.004])  # m, between strokes
EIGHT = 6.0972235  # m, by quadrature


def codes(curve):
    return [warning.code for warning in curve.report.warnings]


@pytest.mark.parametrize("n", [7, 8, 10, 12, 15])
def test_few_points_of_a_parabola(n):
    curve = PoseCurve.fit(parabola(n, -1.0, 1.0))
    exact = np.sqrt(5.0) + np.arcsinh(2.0) / 2.0
    assert curve.length == pytest.approx(exact, rel=3e-3)
    assert curve.report.position_max < 1e-8


def test_few_points_of_a_figure_eight():
    with pytest.raises(DataError, match="m long, but the polygon through its points is"):
        PoseCurve.fit(eight(8))
    assert PoseCurve.fit(eight(12)).length == pytest.approx(EIGHT, rel=0.02)
    assert PoseCurve.fit(eight(24)).length == pytest.approx(EIGHT, rel=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_jitter_along_the_path(seed):
    """Points at 1 mm with 0.5 mm along and 20 um across: their order along the path is not that of the rows."""
    rng = np.random.default_rng(seed)
    x = np.linspace(-0.07, 0.07, 161)
    along = np.stack([np.ones(161), 16.0 * x, np.zeros(161)], axis=1)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    r = np.stack([x, 8.0 * x**2, 0.0 * x], axis=1) + 5e-4 * along * rng.normal(size=(161, 1))
    curve = PoseCurve.fit(r + 2e-5 * rng.normal(size=(161, 3)))
    p = curve.position(curve.sample(500))
    foot = p[:, 0].copy()
    for _ in range(40):
        foot -= ((foot - p[:, 0]) + 16.0 * foot * (8.0 * foot**2 - p[:, 1])) / (1.0 + 256.0 * foot**2)
    off = np.hypot(np.hypot(foot - p[:, 0], 8.0 * foot**2 - p[:, 1]), p[:, 2])
    assert np.sqrt(np.mean(off**2)) < 0.7 * 2e-5
    assert "back and forth" in curve.report.notes[0]


def turning(rng):
    """A curve in space that bends but does not come near itself."""
    a, b = rng.normal(size=(2, 2, 3)) / np.array([[[1.0], [4.0]]])
    drift = np.array([3.0, -1.3, 0.7])

    def curve(t):
        phase = np.outer(t, [3.7, 7.4])
        return np.cos(phase) @ a + np.sin(phase) @ b + np.outer(t, drift)

    return curve


@pytest.mark.parametrize("jitter", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_few_exact_points_with_jitter_and_a_far_swap(seed, jitter):
    """33 points, moved along the path by some steps, two of them swapped: the fit follows the curve."""
    rng = np.random.default_rng([seed, int(10 * jitter)])
    curve = turning(rng)
    t = np.clip(np.linspace(0.0, 1.0, 33) + jitter / 33 * rng.normal(size=33), 0.0, 1.0)
    rows = np.arange(33)
    i, j = rng.choice(33, 2, replace=False)
    rows[[i, j]] = rows[[j, i]]
    fit = PoseCurve.fit(curve(t)[rows])
    near = curve(np.linspace(t.min(), t.max(), 4001))
    exact = np.sum(np.linalg.norm(np.diff(near, axis=0), axis=1))
    assert fit.length == pytest.approx(exact, rel=0.01)
    off = np.linalg.norm(fit.position(fit.sample(100))[:, None] - near, axis=2).min(axis=1)
    assert np.max(off) < 0.02 * exact


def test_three_rows_the_wrong_way_round():
    """Steps go back twice, but never twice in a row."""
    r = parabola(46)
    r[[26, 28]] = r[[28, 26]]
    assert PoseCurve.fit(r).length == pytest.approx(PARABOLA, abs=1e-4)


def test_a_bend_that_least_squares_miss_is_no_row_of_outliers():
    """Residuals that stand out one beside the other are those of a shape; single ones are outliers."""
    miss = 1e-6 * np.random.default_rng(2).normal(size=(142, 3))
    miss[40] += [3e-5, 0.0, -2e-5]
    miss[131:141] += 4e-5 * np.array([1, -1, 1, -1, 1, -1, 1, -1, 1, -1])[:, None] * [0.3, 1.0, 0.2]
    assert np.flatnonzero(unlikely(miss)).tolist() == [40]


def test_swapped_rows_are_put_back_and_named():
    r = parabola(161)
    r[[30, 120]] = r[[120, 30]]
    curve = PoseCurve.fit(r)
    assert curve.length == pytest.approx(PARABOLA, abs=1e-6)
    assert codes(curve) == ["rows_reordered"]
    assert curve.report.warnings[0].place == "rows 31, 121"
    r = parabola(161)
    r[[30, 31]] = r[[31, 30]]
    assert PoseCurve.fit(r).length == pytest.approx(PARABOLA, abs=1e-6)


@pytest.mark.parametrize(("sigma", "off"), [(0.0, 1.0), (0.0, 0.003), (1e-3, 0.03)])
def test_outliers_are_left_out_and_listed(sigma, off):
    r = parabola(161) + sigma * np.random.default_rng(1).normal(size=(161, 3))
    r[[50, 90]] += [[0.0, off, 0.7 * off], [0.0, -off, off]]
    curve = PoseCurve.fit(r)
    assert codes(curve) == ["outliers"]
    assert curve.report.warnings[0].place == "rows 51, 91"
    assert curve.length == pytest.approx(PARABOLA, abs=1e-6 + 3.0 * sigma)
    assert curve.report.points == 159


def test_a_time_column_fixes_the_order():
    rng = np.random.default_rng(4)
    rows = rng.permutation(161)
    curve = PoseCurve.fit({"position": eight(161)[rows], "time": np.linspace(0.0, 4.0, 161)[rows]})
    assert curve.length == pytest.approx(EIGHT, abs=1e-6)
    assert any("sorted by the column 'time'" in note for note in curve.report.notes)
    r = parabola(161)
    r[[30, 120]] = r[[120, 30]]  # in time these were there: outliers, not rows out of order
    assert codes(PoseCurve.fit({"position": r, "t": np.arange(161.0)})) == ["outliers"]


@pytest.mark.parametrize(("n", "sigma"), [(12, 0.0), (161, 0.0), (161, 1e-3)])
def test_shuffled_rows_are_ordered_and_reported(n, sigma):
    rng = np.random.default_rng(3)
    r = parabola(n) + sigma * rng.normal(size=(n, 3))
    curve = PoseCurve.fit(r[rng.permutation(n)])
    assert curve.length == pytest.approx(PARABOLA, abs=1e-6 + 3.0 * sigma, rel=2e-3 if n < 20 else 1e-9)
    assert codes(curve) == ["rows_reordered"]


@pytest.mark.parametrize("n", [60, 200, 260])
def test_shuffled_rows_of_a_path_that_crosses_itself_are_refused(n):
    with pytest.raises(DataError, match=r"not in order along the path.*sort the rows, or add a time column"):
        PoseCurve.fit(eight(n)[np.random.default_rng(3).permutation(n)])


@pytest.mark.parametrize("sigma", [0.0, 1e-3])
def test_strokes_over_one_travel_are_merged(sigma):
    rng = np.random.default_rng(7)
    up = parabola(161)
    down = parabola(140, -1.8, 2.0)[::-1] + PLAY
    r = np.concatenate([up, down])
    curve = PoseCurve.fit(r + sigma * rng.normal(size=r.shape))
    assert curve.length == pytest.approx(PARABOLA, abs=5e-3)
    assert any("2 strokes over the same travel were merged" in note for note in curve.report.notes)
    height = curve.position(curve.sample(400))[60:, 2]  # where both passed, the fit lies between them
    assert np.sqrt(np.mean((height - 0.002) ** 2)) < 1e-3


def test_a_refit_that_does_not_follow_is_refused(monkeypatch):
    from sekant.geometry.fit import path

    def off(*data, **knots):
        spline, miss = fit_to_tolerance(*data, **knots)
        return spline, miss + 0.1

    monkeypatch.setattr(path, "fit_to_tolerance", off)
    with pytest.raises(DataError, match=r"follows the path \(the best one misses it by 0.1 m\)"):
        PoseCurve.fit(parabola(12))


@pytest.mark.parametrize("step", [1, -1])
def test_merged_strokes_begin_where_the_data_do(step):
    """Up and down, or down and up."""
    up = parabola(81)[::step]
    curve = PoseCurve.fit(np.concatenate([up, up[::-1] + PLAY]))
    np.testing.assert_allclose(curve.position(curve.range[0]), up[0] + 0.5 * PLAY, atol=0.02)


def test_strokes_over_a_column_are_merged_and_its_outliers_listed():
    r = np.concatenate([parabola(161), parabola(161)[::-1] + PLAY])
    curve = PoseCurve.fit({"position": r, "travel": r[:, 0]}, "travel")
    np.testing.assert_allclose(
        curve.position(np.array([-1.3, 0.4])), [[-1.3, 1.69, 0.002], [0.4, 0.16, 0.002]], atol=1e-9
    )
    assert "2 strokes over 'travel' were merged" in curve.report.notes
    one = parabola(161)
    one[40, 1] += 0.02
    curve = PoseCurve.fit({"position": one, "travel": one[:, 0]}, "travel")
    assert (codes(curve), curve.report.warnings[0].place) == (["outliers"], "row 41")


def test_a_column_that_does_not_determine_the_path_is_refused():
    x = np.linspace(0.0, 1.0, 24)
    jump = np.stack([x, np.sign(x - 0.5), 0.0 * x], axis=1)
    with pytest.raises(
        DataError, match="24 points do not determine the path: a fit of some of the points misses"
    ):
        PoseCurve.fit({"position": jump, "travel": x}, "travel")
    assert (
        PoseCurve.fit({"position": jump, "travel": x}, "travel", method="interpolation").report.points == 24
    )


@pytest.mark.parametrize("seed", [0, 3, 8])
def test_smooth_noisy_curves_get_no_kinks(seed):
    rng = np.random.default_rng(seed)
    curve = PoseCurve.fit(eight(300) + 2e-3 * rng.normal(size=(300, 3)))
    assert not curve.report.warnings
    assert curve.continuity.order == 4


@pytest.mark.parametrize("gap", [1e-9, 1e-11, 3e-13])
def test_rows_that_nearly_repeat_others_are_fitted_or_refused(gap):
    r = parabola(24)
    rng = np.random.default_rng(5)
    close = r[[3, 9, 9, 15]] + gap * rng.normal(size=(4, 3))
    try:
        curve = PoseCurve.fit(np.insert(r, [4, 10, 10, 16], close, axis=0))
    except DataError:
        return
    assert curve.length == pytest.approx(PARABOLA, rel=1e-3)


def test_repeated_rows_are_dropped():
    curve = PoseCurve.fit(np.repeat(parabola(40), 2, axis=0))
    assert curve.report.points == 40
    assert "40 repeated rows" in curve.report.notes[0]


def test_warnings_survive_saving(tmp_path):
    r = parabola(161)
    r[50] += [0.0, 0.5, 0.0]
    curve = PoseCurve.fit(r, name="rail")
    curve.save(tmp_path / "c.json")
    back = PoseCurve.load(tmp_path / "c.json").report.warnings
    assert back == curve.report.warnings
    assert str(back[0]).startswith("curve 'rail', row 51: outlier")
