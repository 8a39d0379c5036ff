"""A driver who follows a path y(x) by looking ahead, with gains that follow from the linearized car.

The car is linearized about straight running at its speed V (`LateralModel`: sideslip velocity v, yaw rate r, roll
angle and rate), and the hands follow the wanted angle u with a lag T. Together, x = (v, r, ..., y, psi, h) obeys x'
= A x + B u. The steering minimizes the integral of (y - y_path)^2 / Y^2 + u^2 / U^2. For a path that is known ahead,
the optimum is (Sharp and Valtetsiotis, Optimal preview car steering control, Vehicle System Dynamics 35, 2001; here
in continuous time)

    u = -K x + int_0^inf w(s) y_path(x + V s) ds ,   w(s) = (U^2 / Y^2) B^T exp((A - B K)^T s) C^T ,

with K from the Riccati equation. For a constant y_path, the weights must add up to K_y. The integral is a sum over
points ahead. U is the steering wheel angle of a lateral acceleration of `EFFORT`, and Y is `CLOSE`.

Unlike tires, a linear car has no limit of grip. The front wheels move in the direction phi = atan((v + a r) / V),
with the distance a from the center of mass to their axle. The driver turns them to either side of phi by not more
than the slip angle of the largest force, because the lateral force decreases beyond this angle. A car that cannot
follow its path therefore understeers, with its front wheels at their limit. If the rear tires exceed their slip
angle of the largest force, the driver lets the front wheels slip less to that side. At twice that angle they do not
slip but roll in the direction of their motion, which is countersteering. `steering_wish` is the angle without these
limits, and `steering_beyond_grip` is the part that they remove.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sekant.cache.files import cached_of_files
from sekant.errors import ModelError
from sekant.model.signals.base import Signal
from sekant.model.signals.expression import ExpressionSignal
from sekant.model.signals.lowpass import Lowpass
from sekant.model.table import TableData
from sekant.solvers.linear.small_matrices import exponential, riccati
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.grip import Grip

Floats = NDArray[np.float64]
CLOSE = 0.1  # m
EFFORT = 2.0  # m/s^2
LAG = 0.05  # s, time constant of the hands
POINTS = 24  # preview points
HORIZON = 2.0  # s
MOST = 9.0  # rad of the steering wheel
SLOW = 1.0  # m/s: lower limit of the speed in the direction of the front wheels
WISH = "steering_wish"
BEYOND = "steering_beyond_grip"
ROLL_RATE = "(turn.x*cos(angles.yaw) + turn.y*sin(angles.yaw))"
FELT = {
    "lateral_velocity": "lateral_velocity",
    "yaw_rate": "yaw_rate",
    "angles.roll": "angles.roll",
    "turn.x": ROLL_RATE,
}
"""Outputs of the linear model, and their names in a car that has turned away from x."""
PLACED = ("position.y", "angles.yaw", "hands")
GAINS = {name: f"path_gain_{k}" for k, name in enumerate((*FELT.values(), *PLACED))}
WEIGHTS = tuple(f"path_weight_{k}" for k in range(POINTS))
"""Names of the parameters of a driver: gains by the signals that they multiply, and weights of the path ahead."""
TIMES = np.array([(k + 0.5) * (HORIZON / POINTS) for k in range(POINTS)])


@dataclass(frozen=True, eq=False)
class LateralModel:
    """x' = A x + B u with the steering wheel angle u (rad), A (n, n) and B (n,).

    The n states `felt` are expressions of signals that every car measures. The first two are the sideslip velocity
    (m/s) and the yaw rate (rad/s).
    """

    A: Floats
    B: Floats
    felt: tuple[str, ...] = ("lateral_velocity", "yaw_rate")

    @property
    def yaw_gain(self) -> float:
        """Steady yaw rate divided by the steering wheel angle, 1/s."""
        return float(-np.linalg.solve(self.A, self.B)[1])

    @property
    def stable(self) -> bool:
        return bool(np.linalg.eigvals(self.A).real.max() < 0.0)


def preview_gains(lateral: LateralModel, speed: float) -> tuple[Floats, Floats, Floats]:
    """K (n + 3,) for (felt, y, psi, h), times ahead (n,) s, and the weights (n,) of the path there."""
    asked = repr((lateral.A.tolist(), lateral.B.tolist(), float(speed)))
    return cached_of_files(["preview gains", asked], lambda: _preview_gains(lateral, speed), lambda _: True)


def _preview_gains(lateral: LateralModel, speed: float) -> tuple[Floats, Floats, Floats]:
    n = lateral.B.size
    y, psi, h = n, n + 1, n + 2
    A = np.zeros((n + 3, n + 3))
    A[:n, :n], A[:n, h] = lateral.A, lateral.B
    A[y, 0], A[y, psi], A[psi, 1], A[h, h] = 1.0, speed, 1.0, -1 / LAG
    B = np.zeros(n + 3)
    B[h] = 1 / LAG
    effort = EFFORT / (speed * lateral.yaw_gain)
    Q = np.zeros((n + 3, n + 3))
    Q[y, y] = 1 / CLOSE**2
    R = 1 / effort**2
    P = riccati(A, B[:, None], Q, np.array([[R]]))
    K = B @ P / R
    closed = A - np.outer(B, K)
    ds = HORIZON / POINTS
    per = 20
    step = exponential(closed.T * ds / per)
    g = Q[:, y].copy()
    weights = []
    for _ in range(POINTS):  # weights of the trapezoidal rule
        total = np.zeros(n + 3)
        for _ in range(per):
            after = step @ g
            total += (g + after) / 2 * ds / per
            g = after
        weights.append(float(B @ total / R))
    weights = np.array(weights, dtype=float)
    weights[-1] += K[y] - weights.sum()  # the part beyond the horizon
    return K, TIMES, weights


def within_grip(wish: str, grip: Grip) -> str:
    """The steering wheel angle nearest to the wanted angle `wish` (rad, an expression) within the grip of the
    tires."""
    pace = f"max(speed, {SLOW})"
    ahead = f"atan2(lateral_velocity + {grip.front_place!r}*yaw_rate, {pace})"
    tail = f"atan2(lateral_velocity + {grip.rear_place!r}*yaw_rate, {pace})/{grip.rear_angle!r}"
    left, right = (f"max(0, min(1, 2 {way} {tail}))" for way in "+-")
    low, high = (
        f"{grip.ratio!r}*({ahead} {way} {grip.front_angle!r}*{share})"
        for way, share in (("-", right), ("+", left))
    )
    return f"max(-{MOST}, min({MOST}, max({low}, min({high}, {wish}))))"


def hands_of(wish: str, grip: Grip) -> dict[str, Signal]:
    """The steering of a driver's hands, which follow the wanted angle `wish` (rad) within the grip of the tires."""
    steer = within_grip(WISH, grip)
    return {
        WISH: ExpressionSignal(value=wish, unit="rad"),
        BEYOND: ExpressionSignal(value=f"{WISH} - ({steer})", unit="rad"),
        "hands": Lowpass(input=steer, time_constant=LAG, unit="rad"),
    }


def follow_path(
    commands: Commands,
    x: Sequence[float] | Floats,
    y: Sequence[float] | Floats,
    *,
    speed: float,
    grip: Grip,
) -> Commands:
    """The `commands` with a steering that follows the path through the points x, y (n,) m at `speed` (m/s).

    The path is smooth between the points (pchip) and straight beyond them; steep paths are refused. The gains are
    parameters, for which `Commands.gains` gives values. It refuses speeds above the critical speed of a car that
    oversteers.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    if x.size < 4 or np.any(np.diff(x) <= 0):
        raise ModelError("a path needs at least four points with increasing x")
    steepest = float(np.max(np.abs(np.diff(y) / np.diff(x))))
    if steepest > 1.0:
        raise ModelError(
            f"the path is inclined by up to {np.degrees(np.arctan(steepest)):.0f} deg to the x axis, but the "
            "driver can follow paths y(x) only up to 45 deg; align the path with the x axis"
        )
    table = TableData(x=tuple(x), y=tuple(y), kind="pchip", extrapolation="constant")
    seen = " + ".join(
        f"path_weight_{k}*path(position.x + {speed * s!r})" for k, s in enumerate(TIMES.tolist())
    )
    own = " + ".join(f"{gain}*{name}" for name, gain in GAINS.items())
    return replace(
        commands,
        steer="hands",
        signals={**commands.signals, **hands_of(f"{seen} - ({own})", grip)},
        tables={**commands.tables, "path": table},
        parameters={**commands.parameters, **dict.fromkeys((*WEIGHTS, *GAINS.values()), 0.0)},
        gains=partial(_numbers, speed),
    )


def _numbers(speed: float, lateral: LateralModel) -> dict[str, float]:
    """Values of the parameters of `follow_path`."""
    if speed <= 0 or lateral.yaw_gain <= 0 or not lateral.stable:
        raise ModelError(
            f"the car cannot follow a path at {speed:g} m/s (yaw gain {lateral.yaw_gain:.3g}/s); choose a positive "
            "speed that is below the critical speed if the car oversteers"
        )
    K, _, weights = preview_gains(lateral, speed)
    seen = (*lateral.felt, *PLACED)
    return {
        **dict.fromkeys(GAINS.values(), 0.0),  # gains of signals that are not states of the linear car
        **dict(zip(WEIGHTS, weights.tolist(), strict=True)),
        **{GAINS[name]: gain for name, gain in zip(seen, K.tolist(), strict=True)},
    }
