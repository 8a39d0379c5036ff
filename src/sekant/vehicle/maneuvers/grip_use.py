"""The fraction of its grip that each tire uses in a run, and the tire that reaches its limit first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sekant.vehicle.courses.speed_profile import friction
from sekant.vehicle.maneuvers.base import DrivenManeuver, ManeuverMeasure
from sekant.vehicle.roads import road_values

Floats = NDArray[np.float64]
AT_LIMIT = 0.95
LEAST_LOAD = 20.0  # N: below this load a wheel counts as lifted
LOADS = 7
SMOOTH = 0.2  # s, time for which a tire must be at its limit


def grip_use(run: DrivenManeuver) -> dict[str, Floats]:
    """Grip use (n,) of each tire: its force in the road plane divided by the largest force at its load."""
    found = {}
    p = run["position"]
    factor = np.asarray(road_values(run.car.road, p[:, 0], p[:, 1])[1], float)
    for name, axle in run.car.axles.items():
        for side in ("left", "right"):
            tire = f"{name}.{side}.tire"
            load = run[f"{tire}.load"]
            at = np.linspace(
                max(LEAST_LOAD, float(load.min())), max(2 * LEAST_LOAD, float(load.max())), LOADS
            )
            mu = np.array([friction(axle.tire, one) for one in at.tolist()])
            along, across = (
                np.interp(load, at, mu[:, k]) * np.maximum(load, LEAST_LOAD) * factor for k in (0, 1)
            )
            found[f"{name}.{side}"] = np.hypot(run[f"{tire}.Fx"] / along, run[f"{tire}.Fy"] / across)
    return found


def grip_measures(run: DrivenManeuver) -> list[ManeuverMeasure]:
    """Measures: the largest grip use of each axle, the balance, and when the first tire reaches its limit."""
    use, t = grip_use(run), run.time
    axles = {name: np.maximum(use[f"{name}.left"], use[f"{name}.right"]) for name in run.car.axles}
    found = [
        ManeuverMeasure(
            f"largest use of grip, {name}", float(np.percentile(row, 99)), "1",
            "force in the road plane divided by the largest possible force at this load, for the more loaded tire "
            "of the axle, 99th percentile",
        )
        for name, row in axles.items()
    ]  # fmt: skip
    hard = np.abs(run.lateral_acceleration) > 0.7 * np.abs(run.lateral_acceleration).max()
    front, *_, rear = axles.values()
    if float(np.abs(run.lateral_acceleration).max()) > 1.0:
        found.append(
            ManeuverMeasure(
                "balance", float(np.mean(front[hard] - rear[hard])), "1",
                "use of grip in turns, front minus rear; positive: the front tires reach their limit first",
            )
        )  # fmt: skip
    width = max(1, int(SMOOTH / max(float(np.median(np.diff(t))), 1e-6)))
    held = {name: np.convolve(row, np.full(width, 1 / width), "valid") for name, row in use.items()}
    times = {name: t[width - 1 :][row > AT_LIMIT][0] for name, row in held.items() if (row > AT_LIMIT).any()}
    if times:
        first = min(times, key=lambda name: times[name])
        found.append(
            ManeuverMeasure(
                f"first tire at its limit, {first}", float(times[first]), "s",
                f"time at which a tire first uses more than {100 * AT_LIMIT:.0f} % of its grip",
            )
        )  # fmt: skip
    return found
