"""The linear single-track model of a car, from its masses and the slopes of its tires at rest.

With the cornering stiffnesses C_1, C_2 (N/rad) of the axles at x_1, x_2 ahead of the center of mass, sideslip
velocity v, yaw rate r, speed V and steer angle delta of the wheels of the first axle (Riekert and Schunck, 1940):

    m (v' + V r) = -sum C_i (v + x_i r) / V + C_1 delta ,
    J r'         = -sum C_i x_i (v + x_i r) / V + C_1 x_1 delta .

The gains of drivers follow from this model, and searches for steady turns start from it. It neglects roll, springs
and steering compliance.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan, pi, sqrt

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.geometry.spatial import SX
from sekant.vehicle.car.axle_data import axle_data, mass_properties
from sekant.vehicle.car.description import Car
from sekant.vehicle.tires.element import Tire
from sekant.vehicle.tires.slip import Slip

Floats = NDArray[np.float64]


def cornering_stiffness(tire: Tire, load: float, speed: float) -> float:
    """-dFy/d(tan alpha) (N/rad) of one tire at zero slip."""
    a = SX.sym("a")
    force = SX(tire.forces(Slip(SX(0), a, SX(0), SX(load), 0.0, SX(max(speed, 1.0)))).Fy)
    return -float(ca.Function("slope", [a], [ca.jacobian(force, a)])(0.0))


@dataclass(frozen=True)
class SingleTrack:
    """Linear single-track model of a car.

    It contains mass (kg), yaw inertia (kg m^2), positions (n,) m of the axles ahead of the center of mass, and
    cornering stiffnesses (n,) N/rad of whole axles. `steered` (n,) is 1 for a steered axle and otherwise 0, and
    `ratio` is the steering wheel angle divided by the steer angle.
    """

    mass: float
    inertia: float
    places: Floats
    stiffnesses: Floats
    steered: Floats
    ratio: float

    @property
    def wheelbase(self) -> float:
        return float(self.places.max() - self.places.min())

    def matrices(self, speed: float) -> tuple[Floats, Floats]:
        """A (2, 2), B (2,) of (v, r)' = A (v, r) + B delta."""
        x, C = self.places, self.stiffnesses
        m, J = self.mass, self.inertia
        A = np.array(
            [
                [-C.sum() / (m * speed), -(C @ x) / (m * speed) - speed],
                [-(C @ x) / (J * speed), -(C @ x**2) / (J * speed)],
            ]
        )
        return A, np.array([(C * self.steered).sum() / m, (C * self.steered * x).sum() / J])

    def steady(self, speed: float) -> Floats:
        """Steady (v, r) per rad of steer angle of the wheels."""
        A, B = self.matrices(speed)
        return np.asarray(-np.linalg.solve(A, B), float)

    def yaw_gain(self, speed: float) -> float:
        """Steady yaw rate per steering wheel angle, 1/s."""
        return float(self.steady(speed)[1]) / self.ratio

    @property
    def understeer_gradient(self) -> float:
        """d delta / d a_y - L d(1/R) / d a_y of the wheels, rad s^2/m, positive for understeer."""
        speed = 20.0
        gain = float(self.steady(speed)[1])
        return (1 / gain - self.wheelbase / speed) / speed

    @property
    def characteristic_speed(self) -> float:
        """Speed (m/s) of the greatest yaw gain of a car that understeers, sqrt(L / K); NaN for other cars."""
        K = self.understeer_gradient
        return sqrt(self.wheelbase / K) if K > 0 else nan

    @property
    def critical_speed(self) -> float:
        """Speed (m/s) beyond which a car that oversteers is unstable, sqrt(-L / K); infinite for other cars."""
        K = self.understeer_gradient
        return sqrt(-self.wheelbase / K) if K < 0 else inf

    def eigenvalues(self, speed: float) -> NDArray[np.complex128]:
        return np.linalg.eigvals(self.matrices(speed)[0]).astype(complex)


def single_track(car: Car, wheel_loads: dict[str, float], speed: float) -> SingleTrack:
    """The single-track model of a car whose wheels carry `wheel_loads` (N, by axle)."""
    axles = car.axles
    data = {name: axle_data(axle) for name, axle in axles.items()}
    m, center, J = mass_properties(car, [*data.values()])
    C = [2 * cornering_stiffness(axle.tire, wheel_loads[name], speed) for name, axle in axles.items()]
    steering = None if car.steered is None else axles[car.steered].steering
    ratio = 1.0
    if car.steered is not None and steering is not None:
        ratio = 2 * pi * abs(data[car.steered].arm) / steering.rack_per_turn
    return SingleTrack(
        m,
        J,
        np.array([d.x - center[0] for d in data.values()]),
        np.array(C),
        np.array([1.0 if name == car.steered else 0.0 for name in axles]),
        ratio,
    )
