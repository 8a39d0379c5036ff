"""Statics of a car at rest: loads of its axles, and deflections of its tires."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.solvers.newton.bracketed import bracketed_zero
from sekant.vehicle.tires.element import Tire

Floats = NDArray[np.float64]


def axle_loads(
    masses: Sequence[float], places: Sequence[float], axles: Sequence[float], gravity: float
) -> Floats:
    """Loads (n,) N of axles at x = `axles` (n,) m under masses (m,) kg at x = `places` (m,) m.

    With more than two axles, they are least-squares loads, as with springs of equal stiffness.
    """
    A = np.vstack([np.ones(len(axles)), axles])
    with np.errstate(over="ignore", invalid="ignore"):
        b = gravity * np.array([np.sum(masses), np.dot(masses, places)])
        found = np.linalg.lstsq(A, b, rcond=None)[0] if np.all(np.isfinite(b)) else b
    if not np.all(np.isfinite(found)):
        raise ModelError(
            f"axle loads cannot be computed for masses up to {max(masses):.4g} kg and positions up to "
            f"{np.max(np.abs([*places, *axles])):.4g} m; check the masses and positions"
        )
    if np.any(found <= 0):
        raise ModelError(
            "the center of mass of the car is not between its axles, so one axle would carry a load of "
            f"{found.min():.4g} N; check com and the positions of the axles (x points forward)",
            path=("chassis", "com"),
        )
    return np.asarray(found, float)


def pressed_by(tire: Tire, load: float, spin: float = 0.0) -> float:
    """Deflection (m) of a tire that carries `load` (N) at a spin (rad/s)."""
    d = SX.sym("deflection")
    force = ca.Function("load", [d], [SX(tire.load(d, SX(0), SX(spin)))])
    most = float(ca.DM(SX(tire.unloaded_radius)))
    if not float(force(most)) >= load:
        raise ModelError(
            f"a tire cannot carry {load:.4g} N, because it carries only {float(force(most)):.4g} N when compressed "
            "by its full radius; increase its vertical stiffness"
        )
    return bracketed_zero(lambda x: float(force(x)) - load, 0.0, most, within=1e-14)


def rolling_radius(tire: Tire, load: float, spin: float) -> float:
    """Effective rolling radius (m) of a tire under `load` (N) at a spin (rad/s)."""
    return float(ca.DM(SX(tire.rolling_radius(SX(load), SX(spin)))))


def spin_at(tire: Tire, load: float, speed: float) -> float:
    """Spin (rad/s) of a wheel that rolls freely at `speed` (m/s)."""
    spin = speed / float(ca.DM(SX(tire.unloaded_radius)))
    for _ in range(50):
        spin, before = speed / rolling_radius(tire, load, spin), spin
        if abs(spin - before) <= 1e-15 * abs(spin):
            break
    return spin
