"""Checks of a fitted surface against its points: planes through their neighbors, their noise, and the
uncertainty far from points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import AnalysisWarning
from sekant.geometry.fit.data import PoseData
from sekant.geometry.fit.surface_models import PatchModel

if TYPE_CHECKING:
    from sekant.geometry.fit.smoothing import Pairs

Array = NDArray[np.float64]
_GRID = 41  # places in each direction at which the surface is checked
_WORSE = 1.05  # allowed error at left-out points relative to that of planes
_UNKNOWN = 0.1  # standard deviation, relative to the range of a component, above which it is reported
_REFUSED = 0.5  # and above which the fit is refused
_BEYOND = 0.5  # share of its range by which a component may exceed it
_GAP, _WIDER = (
    0.05,
    8.0,
)  # distance to the nearest point that is reported: relative to the range, and to the median distance
_REMEDY = "add points there or fit over a smaller range"
_NOISE_LEVELS = 3.0  # larger residuals are not noise
_SHAPE = 1e-3  # residuals below this share of a component's range are not reported


def check_surface(
    poses: PoseData,
    rows: NDArray[np.int64],
    u: Array,
    y: Array,
    model: PatchModel,
    names: tuple[str, ...],
    *,
    forced: bool,
    allow_gaps: bool,
    item: str,
) -> list[AnalysisWarning]:
    """Warnings about a fit to the `rows` (n,) of the data, y (n, m) over u (n, 2); `names` (m,) of the components.

    DataError if left-out points are predicted worse than by planes through their neighbors, unless the caller
    chose the kind of surface (`forced`), or if the points do not determine it, unless `allow_gaps`.
    """
    if model.left_out is None or model.values is None or model.spread is None:
        return []
    if not forced:
        _check_prediction(poses, rows, u, y, model.left_out)
    found = _residual_warning(u, y, model, names, item)
    low, high = u.min(axis=0), u.max(axis=0)
    axes = [np.linspace(low[k], high[k], _GRID) for k in (0, 1)]
    at = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
    found += _gap_warning(u, at, item)
    size = _sizes(y)
    values, spread = model.values(at), model.spread(at)
    beyond = np.maximum(values - y.max(axis=0), y.min(axis=0) - values) / size
    open_ = spread / size
    if beyond.max() <= _BEYOND and open_.max() <= _UNKNOWN:
        return found
    far = beyond.max() > _BEYOND
    place, j = np.unravel_index(int(np.argmax(beyond if far else open_)), open_.shape)
    where = f"near ({at[place, 0]:.4g}, {at[place, 1]:.4g})"
    unit = " m" if j < 3 else ""
    known = f"at the points, {names[j]} ranges from {y[:, j].min():.4g} to {y[:, j].max():.4g}{unit}"
    if far:
        cause = f"the surface would have {names[j]} = {values[place, j]:.4g}{unit} there; {known}"
    else:
        width = f"{spread[place, j]:.3g}{unit} (standard deviation)"
        cause = f"the points determine {names[j]} only to within {width} there; {known}"
    if not allow_gaps and (far or open_.max() > _REFUSED):
        raise poses.error(f"{where} {cause}; {_REMEDY}, or pass allow_gaps=True (--allow-gaps)")
    return [*found, AnalysisWarning("surface_open", item, where, cause, _REMEDY)]


def _gap_warning(u: Array, at: Array, item: str) -> list[AnalysisWarning]:
    """A warning about a part of the rectangle without points that is much larger than the usual gaps; `at`
    (k, 2): places all over the rectangle."""
    from scipy.spatial import KDTree

    size = np.ptp(u, axis=0)
    distance = np.asarray(KDTree(u / size).query(at / size)[0])
    k = int(np.argmax(distance))
    if distance[k] <= max(_GAP, _WIDER * float(np.median(distance))):
        return []
    where = f"near ({at[k, 0]:.4g}, {at[k, 1]:.4g})"
    away = f"{100.0 * distance[k]:.0f} % of the range"
    cause = f"the nearest point is {away} away, and the surface bridges this gap smoothly"
    return [AnalysisWarning("surface_open", item, where, cause, _REMEDY)]


def _sizes(y: Array) -> Array:
    """Ranges (m,) of the components; a component that hardly varies gets a thousandth of the range of the
    others of its kind."""
    size = np.ptp(y, axis=0)
    least = np.full(len(size), 1e-3)
    least[:3] = 1e-3 * max(float(np.linalg.norm(size[:3])), 1e-9)
    return np.maximum(size, least)


def _check_prediction(poses: PoseData, rows: NDArray[np.int64], u: Array, y: Array, left_out: Array) -> None:
    from sekant.geometry.fit.smoothing import neighbors

    planes, inner = _from_planes(u, y, neighbors(u))
    for what, part, unit in (("positions", slice(0, 3), " m"), ("orientations", slice(3, None), "")):
        ours, theirs = (np.linalg.norm(x[inner, part], axis=1) for x in (left_out, planes))
        if not ours.size or not theirs.size:
            continue
        missed, plane = (float(np.sqrt(np.mean(x**2))) for x in (ours, theirs))
        rounding = 1e-10 * float(np.linalg.norm(np.ptp(y[:, part], axis=0))) + 1e-12
        if missed > _WORSE * plane + rounding:
            worst = int(rows[np.flatnonzero(inner)[int(np.argmax(ours))]])
            raise poses.error(
                f"{len(u)} points do not determine the surface: a fit of some of the points misses the "
                f"{what} of the other points by {missed:.3g}{unit} (rms), more than planes through their "
                f"neighbors would ({plane:.3g}{unit}); give more points, check for outliers (the worst is "
                f"{poses.row(worst)}), or choose kind='polynomial'"
            )


def _from_planes(u: Array, y: Array, pairs: Pairs) -> tuple[Array, NDArray[np.bool_]]:
    """Distances of points (n, m) from the planes through their neighbors, and which points have neighbors on
    all sides."""
    n = len(u)
    x = (u - u.min(axis=0)) / np.ptp(u, axis=0)
    i = np.concatenate([pairs[:, 0], pairs[:, 1]])
    j = np.concatenate([pairs[:, 1], pairs[:, 0]])
    rows = np.concatenate([np.ones((len(i), 1)), x[j] - x[i]], axis=1)
    normal, rhs = np.zeros((n, 3, 3)), np.zeros((n, 3, y.shape[1]))
    np.add.at(normal, i, rows[:, :, None] * rows[:, None, :])
    np.add.at(rhs, i, rows[:, :, None] * (y[j] - y[i])[:, None, :])
    normal += 1e-9 * np.trace(normal, axis1=1, axis2=2)[:, None, None] * np.diag([0.0, 1.0, 1.0])
    miss = -np.linalg.solve(normal, rhs)[:, 0]
    angle = np.arctan2(rows[:, 2], rows[:, 1])
    order = np.lexsort((angle, i))
    first = np.flatnonzero(np.diff(i[order], prepend=-1))
    last = np.append(first[1:], len(order)) - 1
    widest = angle[order][first] + 2.0 * np.pi - angle[order][last]
    step = np.where(np.diff(i[order]) == 0, np.diff(angle[order]), 0.0)
    np.maximum.at(widest, i[order][1:], step)
    return miss, widest < np.pi


def scattered_noise(u: Array, y: Array) -> Array:
    """Standard deviations (m,) of the noise of the components, from predictions of each point by a plane and
    by a quadratic through its neighbors: the smaller one is used, because errors that shrink with the degree
    are not noise."""
    from scipy.spatial import KDTree

    x = (u - u.min(axis=0)) / np.ptp(u, axis=0)
    found = []
    for count, terms in ((6, 3), (14, 6)):
        if len(u) < 3 * count:
            continue
        near: Any = KDTree(x).query(x, count + 1)[1]
        d = x[near[:, 1:]] - x[:, None]
        d /= np.abs(d).max(axis=(1, 2), keepdims=True) + 1e-300
        a, b = d[..., 0], d[..., 1]
        rows = np.stack([np.ones_like(a), a, b, a * a, a * b, b * b][:terms], axis=-1)
        weights = np.linalg.pinv(rows, rcond=1e-6)[:, 0]
        miss = y - np.einsum("nk,nkm->nm", weights, y[near[:, 1:]])
        miss /= np.sqrt(1.0 + np.sum(weights**2, axis=1))[:, None]
        found.append(np.median(np.abs(miss), axis=0) / 0.6745)
    return np.min(found, axis=0) if found else np.zeros(y.shape[1])


def _residual_warning(
    u: Array, y: Array, model: PatchModel, names: tuple[str, ...], item: str
) -> list[AnalysisWarning]:
    """A warning about a component whose residuals are far above its noise."""
    assert model.values is not None
    rms = np.sqrt(np.mean((y - model.values(u)) ** 2, axis=0))
    noise = scattered_noise(u, y)
    share = np.where(rms > _SHAPE * _sizes(y), rms / np.maximum(noise, 1e-300), 0.0)
    j = int(np.argmax(share))
    if not noise.any() or share[j] <= _NOISE_LEVELS:
        return []
    unit = " m" if j < 3 else ""
    cause = (
        f"the residual of {names[j]} ({rms[j]:.3g}{unit} rms) is well above the noise estimate "
        f"({noise[j]:.3g}{unit}): the surface has detail that the fit does not follow"
    )
    remedy = "fit a spline, or a polynomial of higher degree; give more points where it varies"
    return [AnalysisWarning("fit_residual", item, "", cause, remedy)]
