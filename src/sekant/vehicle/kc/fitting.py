"""Derivatives of the curves of an axle with respect to its hard points, and fits of hard points to targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import ModelError, SolverError, check_known
from sekant.progress_bar import counting
from sekant.vehicle.hardpoints.coordinates import coordinates, moved
from sekant.vehicle.hardpoints.description import GivenPoints, HardPoints, hard_points
from sekant.vehicle.kc.curves import AxleCurves
from sekant.vehicle.kc.designs import AxleDesigns
from sekant.vehicle.kc.sensitivity import Sensitivities

Vector = NDArray[np.float64]


def curve_sensitivities(
    given: GivenPoints,
    curves: Sequence[str] | None = None,
    *,
    points: Sequence[str] | None = None,
    travel: ArrayLike = (-0.03, 0.0, 0.03),
    motion: str | Sequence[float] = "parallel",
    steered: bool = True,
) -> Sensitivities:
    """Exact derivatives of `curves` with respect to the coordinates x, y, z of `points` (by default all hard points),
    at travel (n,) m.

    `curves` contains names of the axle's curves, such as ``left.toe``; ``toe`` refers to the left wheel. A point
    moves together with its mirror image on the other side. The rack is at its position as drawn.
    """
    made = AxleDesigns(given, points=points, motion=motion, travel=travel, steered=steered)
    return made.sensitivities(curves=curves)


def fit_points(
    given: GivenPoints,
    targets: Mapping[str, ArrayLike],
    bounds: Mapping[str, tuple[float, float]],
    *,
    travel: ArrayLike,
    weights: Mapping[str, float] | None = None,
    tolerances: Mapping[str, float] | None = None,
    motion: str | Sequence[float] = "parallel",
    steered: bool = True,
) -> tuple[HardPoints, AxleCurves]:
    """Hard points whose curves are closest to `targets` (name -> values (n,) against travel, SI), and the curves of
    these hard points.

    `bounds` limits the changes of coordinates from the drawing, in m: ``{"tie_rod_inner.z": (-0.01, 0.01)}``. A curve
    is free where its target is NaN. Deviations are divided by the tolerance of their curve (`tolerances`, SI), or
    without one by its largest target, and multiplied by its weight. The method is least squares (SciPy, trust region)
    with exact derivatives. For other objectives and for constraints, `AxleDesigns` provides functions for
    `sk.studies.optimize`.
    """
    from scipy.optimize import least_squares

    names = list(bounds)
    if not names or not targets:
        raise ModelError(
            "fit_points: give bounds for at least one coordinate and a target for at least one curve"
        )
    low, high = np.array([bounds[name] for name in names], float).T
    if np.any(low >= high):
        raise ModelError("fit_points: each lower bound must be less than its upper bound")
    known = coordinates(hard_points(given))
    for name in names:
        check_known(name, known, f"there is no coordinate '{name}'", "coordinates")
    made = AxleDesigns(
        given,
        points=list(dict.fromkeys(name.rpartition(".")[0] for name in names)),
        motion=motion,
        travel=travel,
        steered=steered,
    )
    gaps = made.residuals(targets, weights, tolerances)
    drawn = np.array([made.drawn[name] for name in names])

    count = counting("designs")

    def design(x: Vector) -> dict[str, float]:
        count()
        return dict(zip(names, (drawn + x).tolist(), strict=True))

    found = least_squares(
        lambda x: gaps(design(x))[0],
        np.clip(np.zeros(len(names)), low, high),
        jac=lambda x: gaps(design(x))[1],  # pyright: ignore[reportArgumentType]
        bounds=(low, high),
        x_scale=high - low,
        xtol=1e-12,
        ftol=1e-14,
    )
    if found.status <= 0:
        raise SolverError(f"fit_points: {found.message}")
    best = moved(made.given, dict(zip(names, found.x.tolist(), strict=True)))
    return best, made.curves(design(found.x))
