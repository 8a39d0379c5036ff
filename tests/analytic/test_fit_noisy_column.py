"""Paths over a column that was measured with noise, and orientations that a fit does not follow."""

import numpy as np
import pytest

from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.rotations import angle_between, quaternion_from_euler

ANGLE_NOISE = np.radians(0.3)


def knee(angle):
    """Positions (n, 3) [m] and Euler angles zxy (n, 3) of a shank over the flexion angle."""
    p = [0.02 * np.sin(angle) - 0.004 * angle**2, 0.015 * np.cos(1.2 * angle) + 0.003 * angle, 0.004 * angle]
    turns = [-angle, 0.08 * np.sin(angle), 0.26 * (1.0 - np.exp(-2.0 * angle))]
    return np.stack(p, axis=-1), np.stack(turns, axis=-1)


def measured(count, seed, of_flexion, of_position=1e-4):
    rng = np.random.default_rng(seed)
    angle = np.linspace(np.radians(2.0), np.radians(110.0), count)
    p, turns = knee(angle)
    return {
        "position": p + of_position * rng.normal(size=p.shape),
        "euler": turns + ANGLE_NOISE * rng.normal(size=turns.shape),
        "flexion": angle + of_flexion * rng.normal(size=count),
    }


def fit(data, parameter):
    return PoseCurve.fit(data, parameter, sequence="zxy", units={"flexion": "rad"})


def codes(curve):
    return {warning.code for warning in curve.report.warnings}


@pytest.mark.parametrize(
    ("count", "degrees", "back"), [(60, 1.0, False), (60, 3.0, True), (200, 1.0, True), (200, 3.0, False)]
)
def test_the_noise_of_the_column_does_not_enter_the_poses(count, degrees, back):
    """Off by the standard error of the smoothed angle (some 5 coefficients); sorting by it is off by all of it."""
    noise = np.radians(degrees)
    data = measured(count, 1, noise)
    if back:
        data = {name: values[::-1] for name, values in data.items()}
    curve = fit(data, "flexion")
    u = np.linspace(*curve.range, 50)[3:-3]
    p, turns = knee(u)
    off = angle_between(curve.quaternion(u), quaternion_from_euler(turns, "zxy"))
    assert np.sqrt(np.mean(off**2)) < 3.0 * np.sqrt(5.0 / count) * np.hypot(noise, ANGLE_NOISE)
    assert np.abs(curve.position(u) - p).max() < 0.03 * 3.0 * np.sqrt(5.0 / count) * noise + 3e-4
    assert curve.report.orientation_rms < 2.2 * ANGLE_NOISE
    assert any("was smoothed along the rows" in note for note in curve.report.notes)


def test_several_strokes_are_merged_as_before():
    there, back = measured(150, 1, 0.0), measured(150, 2, 0.0)
    data = {name: np.concatenate([there[name], back[name][::-1]]) for name in there}
    curve = fit(data, "flexion")
    assert any("strokes" in note for note in curve.report.notes)
    assert not any("smoothed" in note for note in curve.report.notes)


def test_rows_in_disorder_are_not_smoothed():
    data = measured(200, 3, np.radians(0.2))
    shuffle = np.random.default_rng(4).permutation(200)
    curve = fit({name: values[shuffle] for name, values in data.items()}, "flexion")
    assert any("sorted by 'flexion'" in note for note in curve.report.notes)


def test_orientations_that_a_path_misses_are_reported():
    """Positions whose noise is a tenth of their travel do not tell the order of the rows; the angle does."""
    curve = fit(measured(200, 1, np.radians(1.0), of_position=2e-3), "chord")
    assert curve.report.orientation_rms > 10.0 * ANGLE_NOISE
    found = next(w for w in curve.report.warnings if w.code == "fit_residual")
    assert "orientation residual" in found.cause


def test_orientations_that_are_followed_are_not_reported():
    for parameter in ("flexion", "arc_length"):
        assert "fit_residual" not in codes(fit(measured(100, 1, 0.0), parameter))
