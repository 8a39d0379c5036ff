"""Kinematic curves of an axle: those of both wheels, and what belongs to the axle as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import ModelError, suggest
from sekant.model.forces import RotationalSpringDamper, SpringDamper
from sekant.model.model import Model
from sekant.vehicle.curves import CornerQuantities
from sekant.vehicle.hardpoints import HardPoints
from sekant.vehicle.kc.instant_centers import instant_centers, roll_center
from sekant.vehicle.kc.motion import AxleMotion, axle_motion, moved_on
from sekant.vehicle.kc.roles import SIDES, AxleRoles, axle_of
from sekant.vehicle.kc.steering import steering_columns
from sekant.vehicle.ranges import given_range, through_zero
from sekant.vehicle.table import DRIVES, SuspensionCurves

Vector = NDArray[np.float64]
Columns = dict[str, tuple[str, Vector]]
STEP = 1e-4  # m, of gradients
MOTIONS = {"parallel": (1.0, 1.0), "roll": (1.0, -1.0)}
"""how far the left and the right wheel go for one unit of travel"""


@dataclass(frozen=True, eq=False)
class AxleCurves(SuspensionCurves):
    """Curves of an axle over travel (n,) m of its wheels and the rack (m,) m; names are ``left.camber`` and so on."""

    motion: str = "parallel"
    moved: AxleMotion | None = field(default=None, repr=False)
    """the motion itself, for pictures and whatever else is asked of it"""

    @property
    def title(self) -> str:
        return f"{self.name}, axle in {self.motion} travel"

    def gradients(self, by: str = "travel") -> dict[str, tuple[str, Vector]]:
        """Derivatives of every curve by the travel or by the rack: name -> (unit, values (n, m)), SI.

        Central differences of the exact curves over 0.2 mm; `camber_gradient` and its like are exact themselves.
        """
        if self.moved is None or by not in ("travel", "rack") or (by == "rack" and not self.moved.steered):
            raise ModelError(
                f"gradients are by 'travel', or by 'rack' of an axle that is steered (got '{by}')"
            )
        moved = self.moved
        found = []
        for sign in (1.0, -1.0):
            shift = sign * STEP * np.array([by == "travel", by == "rack"], float)
            z, y = self.travel + shift[0], self.steering + shift[1]
            again = moved_on(moved.system, moved.model, moved.roles, moved.ways, z, y)
            found.append(columns_of(moved.model, moved.roles, again, z, y))
        high, low = found
        return {
            name: (f"{unit}/m" if unit != "1" else "1/m", (high[name][1] - low[name][1]) / (2 * STEP))
            for name, (unit, _) in self.data.items()
            if name.rpartition(".")[2] not in DRIVES
        }

    @property
    def told(self) -> list[str]:
        """Those of the left wheel and of the axle that have values there; the right wheel is in the columns."""
        j = self.design()[1]
        names = [n for n in self.names if n.rpartition(".")[2] not in DRIVES and not n.startswith("right.")]
        return [name for name in names if np.isfinite(self[name][:, j]).any()]


def axle_curves(
    given: Model | HardPoints | dict[str, Any],
    roles: AxleRoles | None = None,
    *,
    motion: str | Sequence[float] = "parallel",
    travel: ArrayLike | None = None,
    steering: ArrayLike | None = None,
) -> AxleCurves:
    """All curves of both wheels and of the axle over a grid of travel and rack.

    `given` is a description by hard points (joints are then rigid), or a model of an axle. In `motion` "parallel"
    both wheels rise by `travel` (n,) m, in "roll" the left one rises and the right one falls as much; a pair (left,
    right) says otherwise. `steering` (m,) m are displacements of the rack. Derivatives are exact. Where the
    mechanism cannot go, values are NaN and `limits` says why.
    """
    model, roles = axle_of(given, roles, compliant=False)
    ways, label = _ways(motion)
    heights = _values(travel, through_zero(*given_range(None, roles.left.travel, "travel"), 41), "travel")
    moves = _values(steering, np.zeros(1), "steering")
    if steering is not None and roles.left.rack is None:
        raise ModelError(f"model '{model.name}' has no rack to steer with; leave out steering")
    moved = axle_motion(model, roles, ways, heights, moves)
    columns = columns_of(model, roles, moved, heights, moves)
    return AxleCurves(
        model.name, "axle", heights, moves, columns, moved.limits, moved.warnings, motion=label, moved=moved
    )


def columns_of(model: Model, roles: AxleRoles, moved: AxleMotion, heights: Vector, moves: Vector) -> Columns:
    """Name -> (unit, values (n, m)), SI."""
    shape = moved.shape
    found: Columns = {"travel": ("m", np.broadcast_to(heights[:, None], shape))}
    if moved.steered:
        found["rack"] = ("m", np.broadcast_to(moves, shape))
    made: dict[str, CornerQuantities] = {}
    for k, (side, role) in enumerate(roles.sides):
        if not moved.ways[k]:
            continue
        springs = _springs(model, role.spring)
        ends = [end for pair in springs.values() for end in pair]
        poses = moved.poses([role.wheel_center, role.contact, *ends], k)
        made[side] = CornerQuantities(model, role, poses, springs)
        own = made[side].columns(heights * moved.ways[k], moves)
        own |= instant_centers(made[side])
        own.pop("rack", None)
        if side == "right":
            own.pop("steering_wheel", None)
        elif "steering_wheel" in own:
            found["steering_wheel"] = own.pop("steering_wheel")
        found |= {f"{side}.{name}": column for name, column in own.items()}
    if len(made) == 2:
        left, right = (made[side] for side in SIDES)
        found["track"] = ("m", np.abs(left.touch[..., 1] - right.touch[..., 1]))
        found |= roll_center(left, right)
        found |= steering_columns(left, right, roles) if moved.steered else {}
    found |= _rates(model, roles, moved)
    return found | _angles(model, moved)


def _springs(model: Model, name: str | None) -> dict[str, tuple[str, str]]:
    force = model.forces.get(name or "")
    return {"spring": (force.parent, force.child)} if isinstance(force, SpringDamper) else {}


def _rates(model: Model, roles: AxleRoles, moved: AxleMotion) -> Columns:
    """Loads and rates at the wheels by all springs: F_i = sum T l_i, K_ij = sum (T_j l_i + T l_ij), exact.

    T is the tension of a spring and l its length, or a torque and its angle; i, j the heights of the wheels.
    """
    elastic = [
        (name, "force", "length") for name, force in model.forces.items() if isinstance(force, SpringDamper)
    ]
    elastic += [
        (name, "torque", "angle")
        for name, force in model.forces.items()
        if isinstance(force, RotationalSpringDamper)
    ]
    if not elastic:
        return {}
    F, K = np.zeros((*moved.shape, 2)), np.zeros((*moved.shape, 2, 2))
    for name, force, length in elastic:
        T, T_j = moved.quantity(f"{name}.{force}"), moved.slopes(f"{name}.{force}")[..., :2]
        l_i, l_ij = moved.slopes(f"{name}.{length}")[..., :2], moved.bends(f"{name}.{length}")[..., :2, :2]
        F += T[..., None] * l_i
        K += l_i[..., :, None] * T_j[..., None, :] + T[..., None, None] * l_ij
    centers = [
        moved.grid([row.body(role.wheel_center).position for row in moved.rows]) for _, role in roles.sides
    ]
    track = np.abs(centers[0][..., 1] - centers[1][..., 1])
    across = K[..., 0, 0] + K[..., 1, 1] - K[..., 0, 1] - K[..., 1, 0]
    return {
        "left.spring_load": ("N", F[..., 0]),
        "right.spring_load": ("N", F[..., 1]),
        "left.wheel_rate": ("N/m", K[..., 0, 0]),
        "right.wheel_rate": ("N/m", K[..., 1, 1]),
        "ride_rate": ("N/m", K.sum(axis=(-2, -1)) / 2),
        "roll_stiffness": ("N*m/rad", across * track**2 / 4),
    }


def _angles(model: Model, moved: AxleMotion) -> Columns:
    """Angles of rockers and the twist of the bar, against the start."""
    found: Columns = {}
    names = {f"{side}.rocker_angle": f"{side}.rocker_hinge" for side in SIDES} | {"bar_twist": "bar_twist"}
    for name, joint in names.items():
        if joint in model.joints:
            found[name] = ("rad", moved.quantity(f"{joint}.angle"))
    return found


def _ways(motion: Any) -> tuple[tuple[float, float], str]:
    if isinstance(motion, str):
        if motion not in MOTIONS:
            raise ModelError(
                f"unknown motion '{motion}' of an axle; {suggest(motion, list(MOTIONS), 'motions')}"
            )
        return MOTIONS[motion], motion
    ways = np.asarray(motion, float)
    if ways.shape != (2,) or not np.all(np.isfinite(ways)) or not ways.any():
        raise ModelError(
            f"motion is 'parallel', 'roll' or a pair of numbers, left and right (got {motion!r})"
        )
    return (float(ways[0]), float(ways[1])), f"({ways[0]:g}, {ways[1]:g})"


def _values(given: ArrayLike | None, default: Vector, what: str) -> Vector:
    if given is None:
        return default
    values = np.atleast_1d(np.asarray(given, float))
    if values.ndim != 1 or not values.size or not np.all(np.isfinite(values)) or np.any(np.diff(values) <= 0):
        raise ModelError(f"{what} must be finite numbers that rise (got {given})")
    return values
