"""Surfaces through scattered points with noise: as good as the noise allows, and refused or reported where the points
say nothing."""

import numpy as np
import pytest

from sekant.errors import DataError
from sekant.geometry.fit.surface_models import fit_polynomial
from sekant.geometry.surfaces.pose_surface import PoseSurface

NOISE = 1e-3


def bump(x, y):
    return 0.1 * np.exp(-((x - 0.2) ** 2 + (y + 0.1) ** 2) / 0.03)


def wave(x, y):
    return 0.3 * np.sin(1.3 * x + 0.2) * np.cos(y) + 0.1 * x * y


def cliff(x, y):
    return 0.1 * (x + 0.3 * y > 0.1)


def poses(height, count, seed, where=lambda x, y: x < np.inf, noise=NOISE):
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-1.0, 1.0, (2, count))
    x, y = x[where(x, y)], y[where(x, y)]
    z = height(x, y) + noise * rng.normal(size=len(x))
    return {"x": x, "y": y, "z": z, "u1": x, "u2": y}


def errors(surface, height, edge=0.0):
    """Off the truth over the whole rectangle of the points, or without a margin of the width `edge`."""
    places = (np.linspace(a + edge, b - edge, 61) for a, b in surface.range)
    x, y = (g.ravel() for g in np.meshgrid(*places))
    return surface.position(x, y)[:, 2] - height(x, y)


def codes(surface):
    return {warning.code for warning in surface.report.warnings}


@pytest.mark.parametrize("seed", [0, 2])
def test_a_bump_is_found_as_well_as_noise_allows(seed):
    """With the best choice of its smoothing, a thin-plate radial basis function is off by 0.55 mm (rms) and 2.7 to
    4 mm at most; along the edges, where points are on one side only, more."""
    surface = PoseSurface.fit(poses(bump, 1500, seed))
    off = errors(surface, bump)
    assert np.sqrt(np.mean(off**2)) < 0.65 * NOISE
    assert np.abs(off).max() < 8.0 * NOISE
    assert np.abs(errors(surface, bump, edge=0.05)).max() < 3.5 * NOISE
    assert surface.report.noise == pytest.approx(NOISE, rel=0.1)
    assert surface.report.held_out_position_rms == pytest.approx(NOISE, rel=0.2)
    assert not codes(surface)


def test_knots_are_where_the_data_need_them():
    """The bump takes a quarter of the range; as many knots again lie outside of it at most."""
    surface = PoseSurface.fit(poses(bump, 1500, 0))
    inner = surface.table.breaks1[1:-1]
    assert np.diff(inner[np.abs(inner - 0.2) < 0.3]).max() < 0.13
    smooth = PoseSurface.fit(poses(wave, 1500, 0))
    assert smooth.table.coefficients.shape[:2] == (1, 1)


@pytest.mark.parametrize(
    ("height", "count", "where"),
    [
        (bump, 500, lambda x, y: (x < 0.5) | (y < 0.5)),
        (bump, 500, lambda x, y: x + y < 0.3),
        (bump, 60, lambda x, y: x < np.inf),
        (wave, 150, lambda x, y: np.abs(x - y) < 0.3),
        (wave, 150, lambda x, y: x + y < 0.3),
    ],
)
def test_nothing_is_far_off_without_a_word(height, count, where):
    """Refused, reported, or within a tenth of what the height varies by."""
    for seed in range(3):
        try:
            surface = PoseSurface.fit(poses(height, count, seed, where))
        except DataError:
            continue
        data = surface.report.residuals["position"][:, 2]
        assert codes(surface) or np.abs(errors(surface, height)).max() < 0.1 * np.ptp(data)


def test_a_large_corner_without_points_is_refused():
    large = poses(bump, 500, 0, lambda x, y: x + y < 0.3)
    with pytest.raises(DataError, match=r"near \(0\.9.*at the points, z ranges from.*allow_gaps"):
        PoseSurface.fit(large)
    assert "surface_open" in codes(PoseSurface.fit(large, allow_gaps=True))


def test_a_hole_is_reported_even_if_the_surface_around_it_is_flat():
    hole = poses(bump, 1500, 0, lambda x, y: (x - 0.2) ** 2 + (y + 0.1) ** 2 > 0.3**2)
    found = [w for w in PoseSurface.fit(hole).report.warnings if w.code == "surface_open"]
    assert any(w.place.startswith("near (0.19") or w.place.startswith("near (0.2") for w in found)


def test_points_that_tell_less_than_their_neighbors_are_refused():
    with pytest.raises(DataError, match=r"do not determine the surface.*planes through their neighbors"):
        PoseSurface.fit(poses(bump, 60, 1))


def test_a_step_that_no_smooth_surface_follows_is_reported():
    assert "fit_residual" in codes(PoseSurface.fit(poses(cliff, 200, 0), allow_gaps=True))


def test_a_polynomial_that_misses_the_shape_is_reported():
    assert "fit_residual" in codes(PoseSurface.fit(poses(bump, 1500, 0), kind="polynomial"))
    assert not codes(PoseSurface.fit(poses(wave, 1500, 0), kind="polynomial"))


def test_left_out_points_are_those_of_fits_to_the_others():
    """The error of each point as if it had not been there follows from its leverage."""
    data = poses(wave, 60, 1)
    u, y = np.stack([data["u1"], data["u2"]], axis=1), data["z"][:, None]
    weights = np.random.default_rng(2).uniform(0.5, 2.0, len(u))
    missed = fit_polynomial(u, y, (3, 2), True, weights).left_out
    for i in range(0, len(u), 7):
        keep = np.arange(len(u)) != i
        other = fit_polynomial(u[keep], y[keep], (3, 2), True, weights[keep])
        np.testing.assert_allclose(y[i] - other.values(u[i : i + 1])[0], missed[i], rtol=1e-9)
