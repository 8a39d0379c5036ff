"""Warnings about springs that are probably mistakes: springs past a dead point, with a negative rate, or compressed
far too much."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sekant.errors import AnalysisWarning
from sekant.model.forces import SpringDamper
from sekant.model.model import Model
from sekant.model.resolve import resolve

Vector = NDArray[np.float64]
PRESSED = 4.0  # free length over length: a coil spring is solid long before this
SOFT = 1000.0  # N/m: a softer spring of a car's wheel is probably given in N/mm without its unit


def rate_warnings(
    model: Model, springs: Mapping[str, str | None], travel: Vector, columns: Mapping[str, tuple[str, Vector]]
) -> tuple[AnalysisWarning, ...]:
    """Warnings about the springs.

    `springs`: prefix of the columns of a wheel ("", "left.") -> its spring; `columns` over travel and rack.
    """
    found, forces = [], resolve(model).model.forces
    for prefix, name in springs.items():
        if name is None or f"{prefix}motion_ratio" not in columns:
            continue
        spring, ratio = forces.get(name), columns[f"{prefix}motion_ratio"][1]
        length = columns[f"{prefix}spring_length"][1]
        rate = columns.get(f"{prefix}wheel_rate", ("N/m", np.ones_like(ratio)))[1]
        if np.any(ratio <= 0):
            worst = float(np.nanmin(ratio))
            found.append(
                AnalysisWarning(
                    "negative_motion_ratio",
                    f"spring '{name}'",
                    _where(travel, ratio <= 0),
                    f"its motion ratio drops to {worst:.3g}, because the linkage passes its dead point, beyond "
                    "which the spring extends in bump",
                    "move the points of the push rod, rocker and spring, or limit the travel",
                )
            )
        elif _too_soft(spring, length):
            assert isinstance(spring, SpringDamper)
            found.append(
                AnalysisWarning(
                    "spring_pressed_far",
                    f"spring '{name}'",
                    "as drawn",
                    f"with a stiffness of {spring.stiffness:g} N/m, it is compressed from a free length of "
                    f"{spring.free_length:.4g} m to {float(np.nanmean(length)):.3g} m, and the wheel rate is only "
                    f"{1e-3 * float(np.nanmin(rate)):.3g} N/mm",
                    _remedy(spring),
                )
            )
        elif np.any(rate < 0):
            found.append(
                AnalysisWarning(
                    "negative_wheel_rate",
                    f"spring '{name}'",
                    _where(travel, rate < 0),
                    f"the wheel rate drops to {1e-3 * float(np.nanmin(rate)):.3g} N/mm, so the wheel load "
                    "decreases in bump",
                    _remedy(spring),
                )
            )
    return tuple(found)


def _too_soft(spring: object, length: Vector) -> bool:
    if not isinstance(spring, SpringDamper) or not isinstance(spring.free_length, float):
        return False
    return isinstance(spring.stiffness, float) and spring.free_length > PRESSED * float(np.nanmean(length))


def _remedy(spring: object) -> str:
    k = getattr(spring, "stiffness", None)
    if isinstance(k, float) and 0 < k < SOFT:
        return (
            f"a stiffness without a unit is in N/m, whatever the unit of the points; if it is in N/mm, write "
            f"{k:g} N/mm"
        )
    return "check the stiffness and preload of the spring, and the points of its linkage"


def _where(travel: Vector, chosen: NDArray[np.bool_]) -> str:
    rows = travel[chosen.any(axis=1)]
    if rows.size == 1:
        return f"travel {1e3 * rows[0]:.4g} mm"
    return f"travel {1e3 * rows.min():.4g} to {1e3 * rows.max():.4g} mm"
