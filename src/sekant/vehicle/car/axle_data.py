"""Data of an axle for statics and the linear model: masses and their positions, wheels, steering ratio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi

import numpy as np
from numpy.typing import NDArray

from sekant.cache.content import Recent
from sekant.errors import ModelError
from sekant.model.resolve import resolve
from sekant.vehicle.car.axle_parts import hard_point_axle, measured_part, points_of, rack_mass
from sekant.vehicle.car.description import Axle, Car, SimpleSuspension
from sekant.vehicle.hardpoints.description import HardPoints
from sekant.vehicle.measured.axle import measured_of
from sekant.vehicle.measured.description import MeasuredSuspension

Floats = NDArray[np.float64]
LEAST_STEER = 0.1  # rad/m, steer angle of the wheels per rack travel: less counts as no steering


@dataclass(frozen=True)
class AxleData:
    """Masses (n,) kg at positions (n, 3) m in chassis axes, with inertias (n,) kg m^2 about z.

    `center` (3,) m is the center of the left wheel as drawn. `arm` (m/rad) is the travel of the rack per steer angle,
    which is negative if the rack is behind the wheels. `drawn` says whether heights are those of a drawing; otherwise
    the tires determine the height of the car.
    """

    masses: Floats
    places: Floats
    inertias: Floats
    center: Floats
    arm: float
    drawn: bool

    @property
    def x(self) -> float:
        return float(self.center[0])


def axle_data(axle: Axle) -> AxleData:
    """Masses, positions and steering ratio of an axle of a car."""
    data = axle.suspension
    if isinstance(data, SimpleSuspension):
        return _simple(axle, data)
    if isinstance(data, MeasuredSuspension):
        return _measured(axle, data)
    if axle.anti_roll_bar:
        raise ModelError(
            "anti_roll_bar belongs in the file of hard points; move it there, under 'axle'", path=("axles",)
        )
    points = points_of(data)
    key = f"{axle.model_dump_json()} {points.model_dump_json()}"
    return _DRAWN.answer(key, lambda: _drawn(axle, data, points.on("left")))


def mass_properties(car: Car, data: Sequence[AxleData]) -> tuple[float, Floats, float]:
    """Mass (kg), center of mass (3,) m in chassis axes, and yaw inertia (kg m^2) about it of a car with its axles."""
    masses = np.concatenate([[car.chassis.mass], *(part.masses for part in data)])
    places = np.vstack([[car.chassis.com], *(part.places for part in data)])
    inertias = np.concatenate([[car.chassis.inertia[2]], *(part.inertias for part in data)])
    mass = float(masses.sum())
    com = masses @ places / mass
    away = np.sum((places - com)[:, :2] ** 2, axis=1)
    return mass, com, float(inertias.sum() + masses @ away)


def rack_travel(axle: Axle) -> float:
    """Displacement of the rack (m) per radian of the steering wheel."""
    assert axle.steering is not None
    travel = axle.steering.rack_per_turn / (2 * pi)
    return travel if axle_data(axle).arm > 0 else -travel


def _simple(axle: Axle, data: SimpleSuspension) -> AxleData:
    x, half = axle.at[0], data.track / 2
    rack = 0.0 if axle.steering is None else axle.steering.rack_mass
    own, turn = data.mass + axle.wheel.mass, data.inertia[2] + axle.wheel.inertia[2]
    return AxleData(
        np.array([own, own, rack]),
        np.array([[x, half, 0.0], [x, -half, 0.0], [x, 0.0, 0.0]]),
        np.array([turn, turn, 0.0]),
        np.array([x, half, 0.0]),
        1.0 if axle.steering is None else axle.steering.arm,
        False,
    )


def _measured(axle: Axle, data: MeasuredSuspension) -> AxleData:
    shift, center = np.array(axle.at), np.array(data.wheel_center)
    steered = axle.steering is not None
    rack = rack_mass(axle, data) if steered else 0.0
    own, turn = data.masses.upright + axle.wheel.mass, data.masses.inertia[2] + axle.wheel.inertia[2]
    places = np.array([center, center * [1.0, -1.0, 1.0], [center[0], 0.0, center[2]]]) + shift
    arm = 1.0
    if steered:
        measured_part(axle, data, 0.0)  # reports errors in the curves of a steered wheel
        slope = measured_of(data, float(axle.tire.unloaded_radius))[0].poses["left"].steer_slope()  # type: ignore[arg-type]
        if abs(slope) < LEAST_STEER:
            raise ModelError(
                f"the wheels turn by only {slope:.3g} rad per meter of rack travel; check that toe was measured at "
                "all rack positions"
            )
        arm = 1.0 / slope
    return AxleData(
        np.array([own, own, rack]), places, np.array([turn, turn, 0.0]), center + shift, arm, True
    )


_DRAWN = Recent()


def _drawn(axle: Axle, file: str | HardPoints, points: HardPoints) -> AxleData:
    """Data of an axle with hard points. Its bodies have vehicle axes, but the origin of a wheel is its center."""
    shift = np.array(axle.at)
    center = points.point("wheel_center")
    model = resolve(hard_point_axle(axle, file)).model
    masses, places, inertias = [], [], []
    for name, body in model.bodies.items():
        side = np.array([1.0, -1.0 if name.startswith("right") else 1.0, 1.0])
        at = center * side if name.endswith(".wheel") else np.array([float(c) for c in body.com])  # type: ignore[arg-type]
        masses.append(float(body.mass))  # type: ignore[arg-type]
        places.append(at + shift)
        inertias.append(float(body.inertia[2]))  # type: ignore[arg-type]
    outer = next(
        (name for name in ("tie_rod_outer", f"link{points.tie_rod}_outer") if name in points.points), None
    )
    arm = 1.0 if outer is None else float(points.point(outer)[0] - center[0])
    return AxleData(np.array(masses), np.array(places), np.array(inertias), center + shift, arm, True)
