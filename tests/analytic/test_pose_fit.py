"""Path generation against curves whose arc length is known in closed form."""

import numpy as np
import pytest

from sekant.geometry import rotations as rot
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.fit.bsplines import admissible, clamped_knots
from sekant.geometry.fit.knots import iterative_knots, tao_watson
from sekant.geometry.fit.noise import find_kinks, find_straights, noise_level


def parabola_length(x):
    """Arc length of y = x^2 from 0."""
    return (2.0 * x * np.sqrt(1.0 + 4.0 * x * x) + np.arcsinh(2.0 * x)) / 4.0


def parabola_at(s):
    x = np.sign(s) * np.sqrt(np.abs(s))
    for _ in range(60):
        x = x - (parabola_length(x) - s) / np.sqrt(1.0 + 4.0 * x * x)
    return np.stack([x, x * x, 0.0 * x], axis=-1)


def parabola(n, a=-2.279, b=1.9):
    x = np.linspace(a, b, n)
    return np.stack([x, x**2, 0.0 * x], axis=1)


@pytest.mark.parametrize("n", [150, 1000])
def test_clean_parabola_over_exact_arc_length(n):
    curve = PoseCurve.fit(parabola(n))
    assert curve.length == pytest.approx(parabola_length(1.9) - parabola_length(-2.279), abs=1e-9)
    s = np.linspace(*curve.range, 3001)
    assert np.abs(curve.position(s) - parabola_at(s + parabola_length(-2.279))).max() < 1e-8
    assert np.abs(np.linalg.norm(curve.position(s, 1), axis=1) - 1.0).max() < 1e-6
    assert curve.report.unit_speed_error < 1e-6
    assert curve.continuity.order == 4
    assert (curve.parameter, curve.unit) == ("s", "m")


def distance_to_parabola(p):
    x = p[:, 0].copy()
    for _ in range(60):
        slope = (x - p[:, 0]) + (x * x - p[:, 1]) * 2.0 * x
        x -= slope / np.maximum(1.0 + 6.0 * x * x - 2.0 * p[:, 1], 0.5)
    return np.sqrt((x - p[:, 0]) ** 2 + (x * x - p[:, 1]) ** 2 + p[:, 2] ** 2)


def test_noise_is_not_fitted():
    knots = []
    for seed, sigma in enumerate([1e-4, 1e-3, 1e-2]):
        noise = sigma * np.random.default_rng(seed).normal(size=(1000, 3))
        curve = PoseCurve.fit(parabola(1000) + noise)
        error = distance_to_parabola(curve.position(curve.sample(2000)))
        assert np.sqrt(np.mean(error**2)) < 0.5 * sigma
        assert curve.report.noise == pytest.approx(sigma, rel=0.4)
        assert curve.report.held_out_position_rms < 2.0 * sigma
        assert curve.report.unit_speed_error < 1e-6
        knots.append(curve.report.knots)
    assert knots[0] >= knots[1] >= knots[2]
    assert knots[0] < 30


def test_stated_noise_and_constant_govern_the_knots():
    r = parabola(400) + 1e-3 * np.random.default_rng(4).normal(size=(400, 3))
    coarse = PoseCurve.fit(r, C=0.999)
    fine = PoseCurve.fit(r, C=1.0 - 1e-7)
    assert coarse.report.knots < fine.report.knots


def test_uneven_clean_points_are_still_clean():
    x = np.sort(np.random.default_rng(3).uniform(-2.0, 2.0, 500))
    curve = PoseCurve.fit(np.stack([x, x**2, 0.3 * x], axis=1))
    assert "interpolation" in curve.report.method
    assert curve.report.held_out_position_max < 1e-5
    assert curve.report.unit_speed_error < 2e-6


def orientation(t):
    return np.stack([t + 0.5, 0.2 * np.sin(t), 0.3 * np.cos(2.0 * t)], axis=1)


def helix(n, turns=2.0):
    t = np.linspace(0.0, 2.0 * np.pi * turns, n)
    return t, np.stack([2.0 * np.cos(t), 2.0 * np.sin(t), 0.3 * t], axis=1)


@pytest.mark.parametrize("tag", ["quaternion", "euler:zyx", "euler:xyz"])
def test_orientation_follows_arc_length(tag):
    t, r = helix(600)
    angles = orientation(t)
    curve = PoseCurve.fit(
        {"position": r, "euler": np.angle(np.exp(1j * angles))}, sequence="zyx", orientation=tag
    )
    assert curve.orientation == tag
    speed = np.hypot(2.0, 0.3)
    mid = np.linspace(0.3, t[-1] - 0.3, 700)
    R = rot.rotation_from_euler(orientation(mid), "zyx")
    np.testing.assert_allclose(curve.pose(mid * speed)[0], R, atol=1e-8)
    assert curve.report.orientation_max < 1e-8


def test_parameter_may_be_any_monotone_column():
    t, r = helix(300, 0.8)
    flexion = 1.5 - 0.5 * t  # falls along the rows
    curve = PoseCurve.fit(
        {"position": r, "euler": orientation(t), "flexion": flexion}, "flexion", sequence="zyx"
    )
    assert curve.range == pytest.approx((flexion[-1], flexion[0]))
    np.testing.assert_allclose(curve.position(flexion), r, atol=1e-12)
    v = np.stack([-2.0 * np.sin(t), 2.0 * np.cos(t), np.full_like(t, 0.3)], axis=1) / -0.5
    np.testing.assert_allclose(curve.twist(flexion, "F")[:, 3:], v, atol=1e-6)


def test_chord_length_is_kept_when_asked_for():
    _, r = helix(200)
    curve = PoseCurve.fit(r, "chord")
    chord = np.linalg.norm(np.diff(r, axis=0), axis=1).sum()
    assert curve.length == pytest.approx(chord, rel=1e-12)
    assert curve.length < 4.0 * np.pi * np.hypot(2.0, 0.3)


def test_fit_of_quaternions_does_not_depend_on_the_frames():
    """Turning F and M by constant rotations commutes with the fit: it happens on the rotation group."""
    rng = np.random.default_rng(9)
    t, r = helix(300)
    q = rot.quaternion_from_euler(orientation(t), "zyx") + 1e-3 * rng.normal(size=(300, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    a, b = (
        rot.quaternion_from_rotation_vector([0.3, -1.1, 0.7]),
        rot.quaternion_from_rotation_vector([1.0, 0.2, -0.4]),
    )
    turned = rot.quaternion_product(rot.quaternion_product(a, q), b)
    one = PoseCurve.fit({"position": r, "quaternion": q, "t": t}, "t")
    two = PoseCurve.fit({"position": r, "quaternion": turned, "t": t}, "t")
    Ra, Rb = rot.rotation_from_quaternion(a), rot.rotation_from_quaternion(b)
    u = np.linspace(0.1, t[-1] - 0.1, 50)
    np.testing.assert_allclose(two.pose(u)[0], Ra @ one.pose(u)[0] @ Rb, atol=1e-9)


def trefoil(t):
    return np.stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)], axis=1)


@pytest.mark.parametrize(("rows", "sigma"), [(301, 0.0), (300, 0.0), (300, 1e-3)])
def test_closed_paths_close_smoothly(rows, sigma):
    t = np.linspace(0.0, 2.0 * np.pi, 301)
    r = trefoil(t)[:rows] + sigma * np.random.default_rng(2).normal(size=(rows, 3))
    angles = np.stack([t, 0.1 * np.sin(t), 0.2 * np.cos(t)], axis=1)[:rows]  # one turn: q comes back as -q
    curve = PoseCurve.fit({"position": r, "euler": angles}, sequence="zyx", extrapolation="periodic")
    fine = trefoil(np.linspace(0.0, 2.0 * np.pi, 20001))
    assert curve.length == pytest.approx(
        np.linalg.norm(np.diff(fine, axis=0), axis=1).sum(), abs=1e-5 + 3 * sigma
    )
    assert curve.continuity.order >= 2
    assert curve.report.unit_speed_error < 1e-7
    assert curve.report.position_max < 1e-7 + 5.0 * sigma
    L = curve.length
    for s in (-0.01, 0.0, 0.01):
        np.testing.assert_allclose(curve.pose(L + s)[0], curve.pose(s)[0], atol=1e-12)
        np.testing.assert_allclose(curve.twist_rate(L + s), curve.twist_rate(s), atol=1e-9)
    before, after = curve.twist_rate(L - 1e-9), curve.twist_rate(L + 1e-9)
    np.testing.assert_allclose(before, after, atol=1e-5)


def test_a_corner_and_a_bend_are_reported_and_kept():
    x = np.linspace(-1.0, 1.0, 201)
    corner = PoseCurve.fit(np.stack([x, 0.5 * np.abs(x), 0.0 * x], axis=1))
    assert corner.continuity.order == 0
    warning = corner.report.warnings[0]
    assert warning.code == "path_corner"
    assert warning.place.startswith("s = 1.118")
    assert corner.report.position_max < 1e-9
    s = np.linspace(0.0, 3.0, 301)
    turn = np.clip(s - 1.0, 0.0, None)
    line_arc = np.stack([np.minimum(s, 1.0) + np.sin(turn), 1.0 - np.cos(turn), 0.0 * s], axis=1)
    bend = PoseCurve.fit(line_arc)
    assert bend.continuity.order == 1
    assert bend.continuity.where == pytest.approx(1.0, abs=1e-6)
    assert (bend.report.warnings[0].code, bend.report.warnings[0].place) == ("curvature_jump", "s = 1 m")
    assert not PoseCurve.fit(parabola(300)).report.warnings
    assert find_straights(line_arc, 1e-8) == [(0, 100)]


def test_noise_estimate_and_kinks_of_random_curves():
    rng = np.random.default_rng(5)
    u = np.sort(rng.uniform(0.0, 5.0, 800))
    y = np.stack([np.sin(2 * u), np.cos(3 * u), u], axis=1)
    assert noise_level(u, y + 1e-3 * rng.normal(size=y.shape)) == pytest.approx(1e-3, rel=0.1)
    assert noise_level(u, y) < 1e-12
    assert find_kinks(u, y, 0.0) == []


def test_tao_watson_puts_knots_where_the_curve_bends():
    rng = np.random.default_rng(6)
    u = np.linspace(0.0, 1.0, 600)
    y = np.tanh(40.0 * (u - 0.3))[:, None] + 1e-3 * rng.normal(size=(600, 1))
    fit = tao_watson(u, y, noise=1e-3)
    assert fit.residual_variance == pytest.approx(1e-6, rel=0.3)
    assert np.mean(np.abs(fit.inner - 0.3) < 0.15) > 0.7
    flat = tao_watson(u, 1e-3 * rng.normal(size=(600, 1)), noise=1e-3)
    assert len(flat.inner) == 0


def test_iterative_search_splits_at_the_change_of_polynomial():
    u = np.linspace(0.0, 2.0, 2001)
    y = np.where(u < 0.8, u**5, u**5 + 50.0 * (np.maximum(u - 0.8, 0.0)) ** 3)[:, None]
    knots = iterative_knots(u, y, np.array([1e-9]))
    assert len(knots) <= 3
    assert np.abs(knots - 0.8).min() < 0.02


def test_admissible_knots_satisfy_schoenberg_and_whitney():
    rng = np.random.default_rng(1)
    u = np.sort(rng.uniform(0.0, 1.0, 40))
    knots = admissible(u, np.sort(rng.uniform(0.0, 0.2, 60)))
    t = clamped_knots(u[0], u[-1], knots)
    used = 0
    for j in range(len(t) - 6):
        inside = [i for i in range(used, len(u)) if (t[j] < u[i] < t[j + 6]) or u[i] in (u[0], u[-1])]
        assert inside
        used = inside[0] + 1


def test_report_prints_plots_and_is_saved(tmp_path):
    t, r = helix(200)
    curve = PoseCurve.fit({"position": r, "euler": orientation(t)}, sequence="zyx", name="helix")
    text = str(curve.report)
    for word in ("points", "held out", "position error", "noise estimate", "| |r'| - 1 |", "continuity"):
        assert word in text
    curve.report.plot(tmp_path / "fit.png")
    assert (tmp_path / "fit.png").stat().st_size > 10_000
    curve.save(tmp_path / "c.json")
    back = PoseCurve.load(tmp_path / "c.json")
    assert str(back.report) == text
    assert np.array_equal(back.table.coefficients, curve.table.coefficients)


@pytest.mark.parametrize("n", [7, 12, 20])
def test_few_clean_points_are_interpolated(n):
    curve = PoseCurve.fit(parabola(n, -1.0, 1.0))
    assert curve.report.position_max < 1e-8
    assert curve.report.unit_speed_error < 1e-6


def test_the_asked_method_is_used_throughout():
    r = parabola(200) + 1e-4 * np.random.default_rng(8).normal(size=(200, 3))
    forced = PoseCurve.fit(r, method="interpolation")
    assert forced.report.position_max < 1e-8
    assert "Tao-Watson" in PoseCurve.fit(parabola(200), method="tao-watson").report.method


def test_small_large_and_far_paths_are_alike():
    base = PoseCurve.fit(parabola(200))
    s = np.linspace(0.05, 0.95, 50)
    for scale, shift, tolerance in ((1e-6, 0.0, 1e-8), (1e5, 0.0, 1e-8), (1.0, 4e5, 1e-7)):
        other = PoseCurve.fit(scale * parabola(200) + shift)
        assert other.report.pieces < 400
        expected = scale * base.position(s * base.length) + shift
        np.testing.assert_allclose(other.position(s * other.length), expected, rtol=0, atol=tolerance * scale)


def test_a_closed_path_may_have_corners():
    side = np.linspace(0.0, 1.0, 50)[:-1]
    zero = np.zeros(49)
    square = np.concatenate(
        [
            np.stack([side, zero, zero], axis=1),
            np.stack([zero + 1, side, zero], axis=1),
            np.stack([1 - side, zero + 1, zero], axis=1),
            np.stack([zero, 1 - side, zero], axis=1),
        ]
    )
    curve = PoseCurve.fit(np.roll(square, 20, axis=0), extrapolation="periodic")
    assert curve.length == pytest.approx(4.0, abs=1e-6)
    assert curve.continuity.order == 0
    assert [w.code for w in curve.report.warnings] == ["path_corner"] * 4


def test_halls_knots_stand_where_one_quintic_ends():
    """A path of one quintic needs none; two quintics that meet with four equal derivatives one, where they meet."""
    x = np.linspace(-1.0, 1.0, 241)
    one = np.column_stack([x, x**2 - 0.3 * x**5, 0.1 * x**3])
    curve = PoseCurve.fit({"position": one, "x_place": x}, parameter="x_place", method="hall")
    assert "HALL" in curve.report.method
    assert curve.report.position_max < 1e-12
    assert len(curve.table.breaks) == 2
    two = one + np.column_stack([0 * x, 40.0 * np.maximum(x - 0.2, 0.0) ** 5, 0 * x])
    curve = PoseCurve.fit({"position": two, "x_place": x}, parameter="x_place", method="hall")
    inner = curve.table.breaks[1:-1]
    assert np.abs(inner - 0.2).min() < 0.15  # within a cell of twelve points
    assert len(inner) < 6
