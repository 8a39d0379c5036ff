"""Closed paths over a column: the seam is as smooth as any other place, with clean and with noisy data."""

from __future__ import annotations

import numpy as np
import pytest

from sekant.errors import DataError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.tables.continuity import break_jumps

COUNT = 181
PHI = np.linspace(0.0, 2.0 * np.pi, COUNT)


def exact(phi):
    return np.stack([np.cos(phi), 1.5 * np.sin(phi), 0.2 * np.cos(2 * phi)], axis=1)


def rows(sigma: float, same: bool = False, **more) -> dict:
    r = exact(PHI) + sigma * np.random.default_rng(4).normal(size=(COUNT, 3))
    if same:
        r[-1] = r[0]
    return {"x": r[:, 0], "y": r[:, 1], "z": r[:, 2], "phi": PHI, **more}


def seam(curve: PoseCurve) -> list[float]:
    """Jumps of the components and of their first three derivatives over the seam."""
    t = curve.table
    return [np.abs(break_jumps(t.breaks, t.coefficients, k, t.increment))[-1].max() for k in range(4)]


@pytest.mark.parametrize("method", ["auto", "interpolation"])
@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("sigma", [0.0, 1e-4, 2e-3])
def test_positions(sigma, same, method):
    curve = PoseCurve.fit(rows(sigma, same), "phi", extrapolation="periodic", method=method)
    assert curve.continuity.order >= 4
    assert np.all(np.array(seam(curve)) < 1e-8)
    fine = np.linspace(0.0, 2.0 * np.pi, 1001)
    error = np.sqrt(np.mean(np.sum((curve.position(fine) - exact(fine)) ** 2, axis=1)))
    largest = {"auto": 0.7 * sigma + 1e-6, "interpolation": 2.0 * sigma + 1e-6}[method]
    assert error < largest
    assert curve.report.warnings == ()


@pytest.mark.parametrize("orientation", ["quaternion", "euler:zy"])
def test_orientations_that_turn_once_in_a_lap(orientation):
    """Yaw grows by a turn in a lap: a quaternion comes back with the other sign, an angle 2 pi larger."""
    rng = np.random.default_rng(7)
    noise = 2e-4
    yaw, pitch = PHI + 0.1 * np.sin(PHI), 0.3 * np.cos(PHI)
    angles = np.stack([yaw, pitch, 0.0 * PHI], axis=1)[:, :2] + noise * rng.normal(size=(COUNT, 2))
    data = rows(1e-4, yaw=angles[:, 0], pitch=angles[:, 1])
    curve = PoseCurve.fit(
        data,
        "phi",
        columns={"angles": ["yaw", "pitch"]},
        sequence="zy",
        orientation=orientation,
        extrapolation="periodic",
    )
    assert curve.continuity.orientation >= 4
    assert np.all(np.array(seam(curve)) < 1e-8)
    fine = np.linspace(0.05, 6.2, 200)
    one, two = curve.pose(fine)[0], curve.pose(fine + 4.0 * np.pi)[0]
    np.testing.assert_allclose(one, two, atol=1e-12)
    found = curve.euler(fine, "zyx")
    assert np.abs(np.angle(np.exp(1j * (found[:, 0] - fine - 0.1 * np.sin(fine))))).max() < 4.0 * noise
    assert np.abs(found[:, 1] - 0.3 * np.cos(fine)).max() < 4.0 * noise


def test_a_column_without_the_last_row_has_no_period():
    data = {key: values[:-1] for key, values in rows(1e-4).items()}
    with pytest.raises(
        DataError,
        match="the last row must have the pose of the first row, and the difference of their column values",
    ):
        PoseCurve.fit(data, "phi", extrapolation="periodic")
