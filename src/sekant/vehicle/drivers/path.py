"""A driver who follows a path y(x) by looking ahead, with gains that follow from the linear car.

The linear car at its speed V, with hands that follow with a lag T, x = (v, r, y, psi, h), x' = A x + B u, is to be
steered so that the integral of (y - y_path)^2 / Y^2 + u^2 / U^2 is least. For a path that is known ahead the optimum
is (Sharp and Valtetsiotis, Optimal preview car steering control, Vehicle System Dynamics 35, 2001; here in continuous
time)

    u = -K x + int_0^inf w(s) y_path(x + V s) ds ,   w(s) = (U^2 / Y^2) B^T exp((A - B K)^T s) C^T ,

with K from the Riccati equation. Since y_path = const is a path too, the weights add up to K_y. They are summed at
points ahead; U is the steering wheel angle of a lateral acceleration of `EFFORT`, Y is `CLOSE`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError
from sekant.model.signals.lowpass import Lowpass
from sekant.model.table import TableData
from sekant.vehicle.car.commands import Commands
from sekant.vehicle.car.single_track import SingleTrack

Floats = NDArray[np.float64]
CLOSE = 0.1  # m
EFFORT = 2.0  # m/s^2
LAG = 0.05  # s, of the hands
POINTS = 24  # ahead
HORIZON = 2.0  # s
MOST = 9.0  # rad of the steering wheel


def preview_gains(linear: SingleTrack, speed: float) -> tuple[Floats, Floats, Floats]:
    """K (5,) for (v, r, y, psi, h), times ahead (n,) s, and the weights (n,) of the path there."""
    from scipy.linalg import expm, solve_continuous_are

    own, steer = linear.matrices(speed)
    A = np.zeros((5, 5))
    A[:2, :2], A[:2, 4] = own, steer / linear.ratio
    A[2, 0], A[2, 3], A[3, 1], A[4, 4] = 1.0, speed, 1.0, -1 / LAG
    B = np.array([0.0, 0.0, 0.0, 0.0, 1 / LAG])
    effort = EFFORT / (speed * linear.yaw_gain(speed))
    Q = np.diag([0.0, 0.0, 1 / CLOSE**2, 0.0, 0.0])
    R = 1 / effort**2
    P = solve_continuous_are(A, B[:, None], Q, [[R]])
    K = B @ P / R
    closed = A - np.outer(B, K)
    ds = HORIZON / POINTS
    per = 20
    step = expm(closed.T * ds / per)
    g = Q[:, 2].copy()
    times, weights = [], []
    for k in range(POINTS):  # each point stands for its share of the integral
        total = np.zeros(5)
        for _ in range(per):
            after = step @ g
            total += (g + after) / 2 * ds / per
            g = after
        times.append((k + 0.5) * ds)
        weights.append(float(B @ total / R))
    weights = np.array(weights)
    weights[-1] += K[2] - weights.sum()  # what lies beyond the horizon
    return K, np.array(times), weights


def follow_path(
    commands: Commands,
    x: Sequence[float] | Floats,
    y: Sequence[float] | Floats,
    *,
    speed: float,
    linear: SingleTrack,
) -> Commands:
    """The `commands` with a steering that follows the path through the points x, y (n,) m at `speed` (m/s).

    Between the points the path is smooth (pchip), beyond them straight on. It runs along x: steep pieces, and speeds
    beyond the critical one of a car that oversteers, are refused.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    if x.size < 4 or np.any(np.diff(x) <= 0):
        raise ModelError("a path needs at least 4 points with increasing x")
    if speed <= 0 or linear.yaw_gain(speed) <= 0:
        raise ModelError(
            f"a path cannot be followed at {speed:g} m/s: the car must move forward, below the critical speed of a "
            f"car that oversteers (its understeer gradient is {linear.understeer_gradient:.3g} rad s^2/m)"
        )
    steepest = float(np.max(np.abs(np.diff(y) / np.diff(x))))
    if steepest > 1.0:
        raise ModelError(
            f"the path turns away by {np.degrees(np.arctan(steepest)):.0f} deg from x, more than a driver can follow "
            "as y over x; let it run along x"
        )
    table = TableData(x=tuple(x), y=tuple(y), kind="pchip", extrapolation="constant")
    K, times, weights = preview_gains(linear, speed)
    seen = " + ".join(
        f"{w!r}*path(position.x + {speed * s!r})"
        for w, s in zip(weights.tolist(), times.tolist(), strict=True)
    )
    felt = ("lateral_velocity", "yaw_rate", "position.y", "angles.yaw", "hands")
    own = " + ".join(f"{gain!r}*{name}" for gain, name in zip(K.tolist(), felt, strict=True))
    steer = f"max(-{MOST}, min({MOST}, {seen} - ({own})))"
    hands = Lowpass(input=steer, time_constant=LAG, unit="rad")
    return replace(
        commands,
        steer="hands",
        signals={**commands.signals, "hands": hands},
        tables={**commands.tables, "path": table},
    )
