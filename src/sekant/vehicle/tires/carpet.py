"""Forces of a tire versus slip at several loads, for carpet plots and summaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.vehicle.tires.element import Tire
from sekant.vehicle.tires.slip import Slip

Floats = NDArray[np.float64]
OUTPUTS = ("Fx", "Fy", "Mx", "My", "Mz")


@dataclass(frozen=True)
class Carpet:
    """Data of carpet plots.

    `loads` (n,) N, `kappa` (m,) and `alpha` (m,) rad are the operating points. `driving` (n, m, 5) contains Fx, Fy,
    Mx, My, Mz versus kappa at alpha = 0, `cornering` (n, m, 5) versus alpha at kappa = 0, and `combined` (k, m, 5)
    versus kappa at the middle load for each of the slip angles `alphas` (k,) rad.
    """

    loads: Floats
    kappa: Floats
    alpha: Floats
    alphas: Floats
    driving: Floats
    cornering: Floats
    combined: Floats


def slip_function(tire: Tire) -> ca.Function:
    """Forces of a tire as a function (kappa, alpha, gamma, Fz, Vx) -> Fx, Fy, Mx, My, Mz."""
    x = ca.SX.sym("x", 5)
    found = tire.forces(Slip(x[0], ca.tan(x[1]), x[2], x[3], 0.0, x[4]))
    return ca.Function("tire", [x], [ca.vertcat(*[ca.SX(getattr(found, name)) for name in OUTPUTS])])


def carpet(
    tire: Tire, loads: Sequence[float], speed: float = 16.7, gamma: float = 0.0, points: int = 121
) -> Carpet:
    """Evaluate a tire at given loads (N), forward speed (m/s) and camber (rad)."""
    function = slip_function(tire)
    kappa = np.linspace(-0.3, 0.3, points)
    alpha = np.radians(np.linspace(-15, 15, points))
    alphas = np.radians([0.0, 2.0, 4.0, 8.0, 12.0])
    middle = float(np.median(loads))

    def rows(k: Floats, a: Floats, load: float) -> Floats:
        x = np.array(np.broadcast_arrays(k, a, gamma, load, speed))
        return np.array(function(x)).T

    zero = np.zeros(points)
    return Carpet(
        np.array(loads, float),
        kappa,
        alpha,
        alphas,
        np.array([rows(kappa, zero, load) for load in loads]),
        np.array([rows(zero, alpha, load) for load in loads]),
        np.array([rows(kappa, np.full(points, a), middle) for a in alphas]),
    )
