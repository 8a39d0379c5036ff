"""Preloads for given wheel loads: settings of the spring perches with which an axle stands at a given height."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sekant.errors import ModelError, SolverError
from sekant.solvers.newton import FullSteps, FunctionProblem, Rows, newton
from sekant.vehicle.curves.ranges import quantity
from sekant.vehicle.hardpoints.description import GivenPoints, HardPoints, hard_points
from sekant.vehicle.kc.rig import loaded_rig
from sekant.vehicle.kc.roles import SIDES, axle_of

STEP = 1e-3  # m, of the perches
MOST = 20
ACCURACY = 1e-9  # of the loads


def standing(
    given: GivenPoints,
    loads: Mapping[str, float | str] | float | str,
    *,
    travel: float | str = 0.0,
) -> HardPoints:
    """The axle with its spring perches (`left.spring_perch` and `right.spring_perch` of `set_up`) adjusted so that it
    carries the given wheel loads.

    `loads` (N) are vertical forces of the road at the contacts, one for both sides or one for each side; unequal
    loads correspond to corner weights with a cross weight. Under these loads and their weight, the wheels rest
    `travel` m above the drawing, with the forces that springs, stops, bar and bushings exert there.
    """
    points = hard_points(given)
    by_side = loads if isinstance(loads, Mapping) else dict.fromkeys(SIDES, loads)
    if set(by_side) != set(SIDES):
        raise ModelError(
            "standing: give one load for both wheels, or the loads of 'left' and 'right' (got "
            f"{', '.join(by_side) or 'none'})"
        )
    wanted = {side: quantity(by_side[side], "N", f"standing: load of '{side}'") for side in SIDES}
    height = quantity(travel, "m", "standing: travel")
    model, roles = axle_of(points, None, compliant=True)
    names = [f"{side}.spring_perch" for side in SIDES]
    if not all(name in model.parameters for name in names):
        raise ModelError(
            f"standing: a {points.type} without springs cannot be adjusted to wheel loads; give the points "
            "spring_top and spring_bottom"
        )
    rig = loaded_rig(model, roles, "height", symbolic=names)
    base = {f"{side}.fz": wanted[side] for side in SIDES}
    base |= {f"{side}.z": rig.start[f"rig.{side}.z"] + height for side in SIDES}
    perch, rest = (
        np.array([float(points.set_up.get(n, points.set_up.get("spring_perch", 0.0))) for n in names]),
        None,
    )
    size = max(abs(load) for load in wanted.values()) or 1.0

    def residual(x: np.ndarray) -> np.ndarray:
        """Forces (N) that hold the heights in addition to the springs; zero if the springs carry the load."""
        nonlocal rest
        rest = rig.settle(base, rest, dict(zip(names, x.tolist(), strict=True)))
        return np.array([float(rest.multipliers[f"rig.{side}_height"][0]) for side in SIDES])

    def at(x: np.ndarray) -> Rows:
        left = residual(x)

        def slopes() -> np.ndarray:
            found = np.column_stack([(residual(x + STEP * step) - left) / STEP for step in np.eye(2)])
            if np.linalg.matrix_rank(found) < 2:
                raise SolverError(
                    "standing: the springs carry no load, so the positions of the spring perches have no effect; "
                    "check the stiffness of the springs"
                )
            return found

        return Rows(left, slopes)

    problem = FunctionProblem(at, lambda x, step: x + step)
    result = newton(problem, perch, FullSteps(), ACCURACY * size, most=MOST)
    if result.converged:
        found = dict(zip(names, result.point.tolist(), strict=True))
        kept = {name: value for name, value in points.set_up.items() if not name.endswith("spring_perch")}
        return points.model_copy(update={"set_up": {**kept, **found}})
    raise SolverError(
        f"standing: after {MOST} iterations, the wheel loads still differ by {result.error:.3g} N from the given "
        "loads; check that the springs and stops can carry the given loads"
    )
