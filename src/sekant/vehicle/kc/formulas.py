"""The curves of an axle as formulas: curves of its two wheels, and curves of the axle as a whole.

Ackermann and the turning circle: with the steer angles d_o and d_i of the outer and the inner wheel, wheelbase l
and track t (of the contact points), both wheels roll about one point of the rear axle's line if
cot d_o - cot d_i = t / l.

The road of an axle in roll is the plane along x that touches both wheels: its normal is (0, -sin phi, cos phi), where
phi is the angle of the line between the lowest points of the wheels along that normal. It is found by iteration,
starting from the line between the centers; the heights of the contact points hardly depend on it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sekant.model.forces import Actuator, RotationalSpringDamper, SpringDamper
from sekant.model.model import Model
from sekant.vehicle.curves import wheel
from sekant.vehicle.curves.arrays import angle, beyond, dot, norm
from sekant.vehicle.curves.corner_formulas import CornerQuantities
from sekant.vehicle.kc.expressions import AxleExpressions
from sekant.vehicle.kc.instant_centers import instant_centers, roll_center
from sekant.vehicle.kc.roles import SIDES, AxleRoles

Columns = dict[str, tuple[str, np.ndarray]]
Vector = NDArray[np.float64]
STRAIGHT = 1e-4  # rad: smaller steer angles do not determine a turn
REPEATS = 4  # of the iteration for the road


def columns_of(model: Model, roles: AxleRoles, moved: AxleExpressions) -> Columns:
    """The columns: name -> (unit, expression (1, 1)), SI."""
    found: Columns = {}
    made: dict[str, CornerQuantities] = {}
    for k, (side, role) in enumerate(roles.sides):
        if side not in moved.moving:
            continue
        springs = _springs(model, role.spring)
        ends = [end for pair in springs.values() for end in pair]
        poses = moved.poses([role.wheel_center, *ends, *(role.steer_axis or ())], k)
        made[side] = CornerQuantities(role, poses, moved.start_of(role), springs, side)
        own = made[side].quantities() | instant_centers(made[side])
        found |= {f"{side}.{name}": column for name, column in own.items()}
    road = None
    if len(made) == 2:
        left, right = (made[side] for side in SIDES)
        found["track"] = ("m", np.abs(left.touch[..., 1] - right.touch[..., 1]))
        found |= roll_center(left, right, moved)
        columns, up = tilted_road(left, right)
        found |= columns
        derived = [moved.distance(role.wheel_center, made[side].radius, up) for side, role in roles.sides]
        road = tuple(np.stack(part, axis=2) for part in zip(*derived, strict=True))
        found |= steering_columns(left, right, roles) if moved.steered else {}
    found |= _rates(model, roles, moved, road, found)
    return found | _angles(model, moved)


def _springs(model: Model, name: str | None) -> dict[str, tuple[str, str]]:
    force = model.forces.get(name or "")
    return {"spring": (force.parent, force.child)} if isinstance(force, SpringDamper) else {}


def _rates(
    model: Model,
    roles: AxleRoles,
    moved: AxleExpressions,
    road: tuple[np.ndarray, ...] | None,
    known: Columns,
) -> Columns:
    """Exact loads and rates at the wheels from all springs: F_i = sum T l_i, K_ij = sum (T_j l_i + T l_ij).

    T is the tension of a spring and l its length, or T is a torque and l its angle. The indices i, j denote
    derivatives with respect to the heights of the wheels. `road` contains the derivatives of the positions of both
    contacts along the road's normal, from which loads and rates on the road follow.
    """
    elastic = [
        (f"{name}.force", f"{name}.length", 1.0)
        for name, force in model.forces.items()
        if isinstance(force, SpringDamper)
    ]
    elastic += [
        (f"{name}.torque", f"{name}.angle", 1.0)
        for name, force in model.forces.items()
        if isinstance(force, RotationalSpringDamper)
    ]
    elastic += _along_travel(model)
    if not elastic:
        return {}
    F, K = np.zeros(2, dtype=object), np.zeros((2, 2), dtype=object)
    for force, length, sign in elastic:
        T, T_j = sign * moved.quantity(force), sign * moved.slopes(force)[..., :2]
        l_i, l_ij = moved.slopes(length)[..., :2], moved.bends(length)[..., :2, :2]
        F = F + T[..., None] * l_i
        K = K + l_i[..., :, None] * T_j[..., None, :] + T[..., None, None] * l_ij
    left, right = (moved.quantity(f"{role.wheel_center}.y") for _, role in roles.sides)
    track = np.abs(left - right)
    across = K[..., 0, 0] + K[..., 1, 1] - K[..., 0, 1] - K[..., 1, 0]
    found: Columns = {}
    if road is not None:
        _, K_N = rates_on_road(F, K, *road)
        turned = K_N[..., 0, 0] + K_N[..., 1, 1] - K_N[..., 0, 1] - K_N[..., 1, 0]
        found = {
            "left.wheel_rate_on_road": ("N/m", K_N[..., 0, 0]),
            "right.wheel_rate_on_road": ("N/m", K_N[..., 1, 1]),
            "roll_stiffness_on_road": ("N*m/rad", turned * known["track_on_road"][1] ** 2 / 4),
        }
    return found | {
        "left.spring_load": ("N", F[..., 0]),
        "right.spring_load": ("N", F[..., 1]),
        "left.wheel_rate": ("N/m", K[..., 0, 0]),
        "right.wheel_rate": ("N/m", K[..., 1, 1]),
        "ride_rate": ("N/m", K.sum(axis=(-2, -1)) / 2),
        "roll_stiffness": ("N*m/rad", across * track**2 / 4),
    }


def _along_travel(model: Model) -> list[tuple[str, str, float]]:
    """Forces on the joint `travel` of a wheel, whose sign is opposite to that of springs."""
    return [
        (f"{name}.force", f"{force.joint}.{model.joints[force.joint].coordinates[0].name}", -1.0)
        for name, force in model.forces.items()
        if isinstance(force, Actuator) and force.joint in {f"{side}.travel" for side in SIDES}
    ]


def _angles(model: Model, moved: AxleExpressions) -> Columns:
    """Angles of rockers and the twist of the bar, relative to the start."""
    found: Columns = {}
    names = {f"{side}.rocker_angle": f"{side}.rocker_hinge" for side in SIDES} | {"bar_twist": "bar_twist"}
    for name, joint in names.items():
        if joint in model.joints:
            found[name] = ("rad", moved.quantity(f"{joint}.angle"))
    return found


def steering_columns(
    left: CornerQuantities, right: CornerQuantities, roles: AxleRoles
) -> dict[str, tuple[str, Vector]]:
    """Ackermann error (rad), Ackermann fraction (1) and turning circle (m); empty without a wheelbase."""
    base = roles.left.wheelbase
    if base is None:
        return {}
    a, b = wheel.steer_angle(left.e), wheel.steer_angle(right.e)
    turn = np.abs(beyond((a + b) / 2, STRAIGHT))
    outer, inner = turn + (b - a) / 2, turn + (a - b) / 2  # in a left turn b and a, in a right one -a and -b
    track = np.abs(left.touch[..., 1] - right.touch[..., 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        ideal = angle(np.sin(outer), np.cos(outer) - np.sin(outer) * track / base)
        error, share = inner - ideal, (inner - outer) / (ideal - outer)
        circle = 2 * base / np.sin(outer)
    return {
        "ackermann_error": ("rad", error),
        "ackermann_share": ("1", share),
        "turning_circle": ("m", circle),
    }


def tilted_road(
    left: CornerQuantities, right: CornerQuantities
) -> tuple[dict[str, tuple[str, np.ndarray]], np.ndarray]:
    """Columns of the axle on the road that touches both wheels, and the normal (..., 3) of this road.

    The columns are the angle of the road (rad), the camber of both wheels relative to it (rad), and the track, the
    scrub radius and the trail on it (m).
    """
    d = left.center.position - right.center.position
    phi = angle(d[..., 2], d[..., 1])
    touch, up = [left.touch, right.touch], np.zeros(0)
    for _ in range(REPEATS):
        zero = np.zeros(phi.shape, dtype=phi.dtype)
        up = np.stack([zero, -np.sin(phi), np.cos(phi)], axis=-1)
        touch = [wheel.contact(made.center.position, made.e, made.radius, up) for made in (left, right)]
        d = touch[0] - touch[1]
        phi = angle(d[..., 2], d[..., 1])
    found = {"road_angle": ("rad", phi), "track_on_road": ("m", norm(d[..., 1:]))}
    for made, at in zip((left, right), touch, strict=True):
        found[f"{made.side}.camber_to_road"] = ("rad", np.arcsin(-made.s * dot(made.e, up)))
        axis = made.axis()
        if axis is not None:
            scrub, trail = wheel.ground_offsets(*axis, at, made.e, made.s, up)
            found[f"{made.side}.scrub_radius_on_road"] = ("m", scrub)
            found[f"{made.side}.mechanical_trail_on_road"] = ("m", trail)
    return found, up


def rates_on_road(
    F: np.ndarray, K: np.ndarray, H: np.ndarray, bends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Loads N (..., 2) normal to the road, and their derivatives (..., 2, 2) with respect to the approach of the
    wheels.

    F (..., 2) and K (..., 2, 2) are loads and rates with respect to the heights z of the centers; H (..., 2, 2) and
    `bends` (..., 2, 2, 2) are first and second derivatives of the distances h(z) of the contacts:
    F = H^T N, K = H^T K_N H + sum N_k h_k,ij.
    """
    a, b, c, d = H[..., 0, 0], H[..., 0, 1], H[..., 1, 0], H[..., 1, 1]
    inverse = np.stack([np.stack([d, -b], -1), np.stack([-c, a], -1)], -2) / (a * d - b * c)[..., None, None]
    N = np.stack([dot(inverse[..., :, k], F) for k in range(2)], -1)
    rest = K - N[..., 0, None, None] * bends[..., 0, :, :] - N[..., 1, None, None] * bends[..., 1, :, :]
    rates = [[_form(inverse[..., :, i], rest, inverse[..., :, j]) for j in range(2)] for i in range(2)]
    return N, np.stack([np.stack(row, -1) for row in rates], -2)


def _form(x: np.ndarray, A: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x^T A y of vectors (..., 2)."""
    return sum((x[..., i] * A[..., i, j] * y[..., j] for i in range(2) for j in range(2)), np.zeros(()))
