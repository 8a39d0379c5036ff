"""Loads on the parts of both axles of a car in load cases, with complete load transfer and free springs and bars.

With the car's mass M, its center of mass at x_c and the height h above the road, axles at x_f and x_r with
L = x_f - x_r, a = x_f - x_c, b = x_c - x_r, accelerations a_x, a_y (g), the lift a_z (g, 1 at rest), the yaw
acceleration w', drag D at the height h_d and downforces A_f, A_r at their points, the road gives

    F_x = M g a_x + D ,     F_z,r L = M g (a_z a + a_x h) + D h_d + A_f (x_f - x_Af) + A_r (x_f - x_Ar) ,
    F_z,f = M g a_z + A_f + A_r - F_z,r ,     a F_y,f - b F_y,r + N_x = I w' ,     F_y,f + F_y,r = M g a_y ,

where N_x is the yaw moment of unequal forces along x. The roll moment M g a_y h is distributed such that the four
contacts stay in one plane, so springs, bars, stops and tires determine its distribution.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import Field

from sekant.errors import ModelError, SolverError
from sekant.model.explain import read_as
from sekant.model.quantities import Description
from sekant.progress_bar import through
from sekant.solvers.newton.bracketed import bracketed_zero
from sekant.vehicle.car.axle_data import AxleData, axle_data, mass_properties
from sekant.vehicle.car.axle_parts import points_with_wheels
from sekant.vehicle.car.description import Car, car_description
from sekant.vehicle.car.statics import pressed_by
from sekant.vehicle.hardpoints.description import HardPoints
from sekant.vehicle.kc.loads import LoadedRigs, LoadTable, load_table
from sekant.vehicle.kc.part_loads import RestLoads
from sekant.vehicle.kc.roles import SIDES, axle_of
from sekant.vehicle.quantities import GRAVITY, Meters, MetersPerSecond, NewtonMeters, Plain

AIR = 1.2  # kg/m^3
STEADY = 1e-9
"""Tolerance of the fractions of the roll moment."""


class CarLoadCase(Description):
    """Accelerations of a car and its inputs, from which the loads of all four wheels follow."""

    ax: Plain | None = None
    """acceleration forward, in g; negative in braking; by default the acceleration due to `drive_torque`, or 0"""
    ay: Plain = 0.0
    """acceleration to the left, in g"""
    az: Plain = 1.0
    """vertical acceleration with gravity, in g: 1 on a level road, 2 in a 2 g bump"""
    yaw_acceleration: Plain = 0.0
    """yaw acceleration to the left, in rad/s^2"""
    speed: MetersPerSecond = 0.0
    """speed, for drag and downforce"""
    drive_torque: NewtonMeters | None = None
    """torque at the driven axle, on both wheels together"""
    brake_share: Plain | None = Field(default=None, ge=0, le=1)
    """fraction of the braking force at the front axle; by default front_share of the car's brakes"""
    rack: Meters = 0.0
    """displacement of the rack to the left"""
    hold: Literal["springs"] | None = None
    """`springs` locks the springs at their length as drawn; the axles then take the roll moment in proportion to
    their loads"""


@dataclass(frozen=True, eq=False)
class CarLoads:
    """Loads of both axles by name, and the loads of each wheel in each case, ``front.left.fz`` ..., in N."""

    name: str
    axles: dict[str, LoadTable]
    wheels: dict[str, dict[str, float]]

    def summary(self) -> str:
        lines = [f"{self.name}: loads of the wheels (N)"]
        places = [f"{axle}.{side}" for axle in self.axles for side in SIDES]
        for case, values in self.wheels.items():
            lines.append(f"  {case}")
            for place in places:
                fx = values.get(f"{place}.fx", 0.0) + values.get(f"{place}.dx", 0.0)
                force = (fx, values[f"{place}.fy"], values[f"{place}.fz"])
                lines.append(
                    f"    {place:<14}"
                    + "".join(f"{k:>4}{x:10.1f}" for k, x in zip("xyz", force, strict=True))
                )
        return "\n\n".join(["\n".join(lines), *(table.summary() for table in self.axles.values())])


@dataclass(frozen=True, eq=False)
class _Axle:
    """An axle on its rigs; `x`, height `road` and `track` (m) of its contacts are in the car's axes."""

    name: str
    rigs: LoadedRigs
    tire: Any
    x: float
    road: float
    track: float
    radius: float
    steered: bool


def car_loads(car: Car | dict[str, Any], cases: Mapping[str, CarLoadCase | dict[str, Any]]) -> CarLoads:
    """Loads on every part of both axles of a car with hard points, in each of the `cases`."""
    car = car_description(car)
    if len(car.axles) != 2:
        raise ModelError(
            f"loads can be computed only for cars with two axles, but this car has {len(car.axles)}",
            path=("axles",),
        )
    if not cases:
        raise ModelError("car_loads: give at least one case, such as {'braking': {'ax': -1.2}}")
    data = {name: axle_data(axle) for name, axle in car.axles.items()}
    front, rear = sorted((_made(car, name, data[name]) for name in car.axles), key=lambda axle: -axle.x)
    statics = _Statics(car, list(data.values()), front, rear)
    found: dict[str, dict[str, RestLoads]] = {front.name: {}, rear.name: {}}
    applied: dict[str, dict[str, dict[str, float]]] = {front.name: {}, rear.name: {}}
    wheels: dict[str, dict[str, float]] = {}
    for name, raw in through(cases.items()):
        case = read_as(CarLoadCase, raw, ("load_cases", name))
        values = statics.loads(name, case)
        wheels[name] = {}
        for axle in (front, rear):
            own = values[axle.name]
            applied[axle.name][name] = own
            found[axle.name][name] = axle.rigs.loads(name, own, case.hold)
            wheels[name] |= {f"{axle.name}.{key}": x for key, x in own.items() if "." in key}
    tables = {
        axle.name: load_table(axle.rigs.model, axle.rigs.roles, found[axle.name], applied[axle.name])
        for axle in (front, rear)
    }
    return CarLoads(car.name, tables, wheels)


def _made(car: Car, name: str, data: AxleData) -> _Axle:
    axle = car.axles[name]
    if not isinstance(axle.suspension, (str, HardPoints)):
        raise ModelError(
            "has no hard points, which are needed to compute the loads on parts; give a suspension with hard "
            "points",
            path=("axles", name, "suspension"),
        )
    model, roles = axle_of(points_with_wheels(axle, axle.suspension), None, compliant=True)
    rigs = LoadedRigs(model, roles)
    places = rigs.contacts()
    radius = float(data.center[2] - axle.at[2] - places[0][2])
    x = float(places[0][0]) + axle.at[0]
    steered = roles.left.rack is not None and axle.steering is not None
    return _Axle(
        name,
        rigs,
        axle.tire,
        x,
        float(places[0][2]) + axle.at[2],
        abs(float(places[0][1] - places[1][1])),
        radius,
        steered,
    )


class _Statics:
    """Forces of the road on a car along x, y and z, and the distribution of the roll moment between its axles."""

    def __init__(self, car: Car, data: list[AxleData], front: _Axle, rear: _Axle):
        self.car, self.front, self.rear = car, front, rear
        self.mass, self.com, self.yaw_inertia = mass_properties(car, data)
        self.height = float(self.com[2] - (front.road + rear.road) / 2)
        self.base = front.x - rear.x

    def air(self, speed: float) -> tuple[float, float, list[tuple[float, float]]]:
        """Drag (N), the height (m) at which it acts, and downforces (N) with their positions x (m)."""
        air = self.car.air
        if air is None or not speed:
            return 0.0, 0.0, []
        try:
            areas = [float(area) for area in (air.front_area, air.rear_area)]  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise ModelError(
                "load cases with a speed require constant downforce areas, but these depend on the ride height; "
                "give numbers for front_area and rear_area, or remove the speed from the load cases",
                path=("air",),
            ) from None
        ends = (air.front or (self.front.x, 0.0, 0.0), air.rear or (self.rear.x, 0.0, 0.0))
        pressure = AIR / 2 * speed**2
        road = (self.front.road + self.rear.road) / 2
        height = sum(end[2] for end in ends) / 2 - road
        return (
            pressure * air.drag_area,
            height,
            [(pressure * A, end[0]) for A, end in zip(areas, ends, strict=True)],
        )

    def loads(self, name: str, case: CarLoadCase) -> dict[str, dict[str, float]]:
        """The loads that the rig of each axle applies in a case."""
        weight = self.mass * GRAVITY
        drag, drag_height, down = self.air(case.speed)
        driven, radius = self._driven()
        ax = case.ax
        if ax is None:
            ax = 0.0
            if case.drive_torque is not None:
                if not driven:
                    raise ModelError(
                        f"load case '{name}' has a drive_torque, but the car has no drive; remove drive_torque, or "
                        "add a drive to the car"
                    )
                ax = (case.drive_torque / radius - drag) / weight
        along = weight * ax + drag
        if (
            case.drive_torque is not None
            and case.ax is not None
            and abs(case.drive_torque / radius - along) > 1e-6 * weight
        ):
            raise ModelError(
                f"load case '{name}': a drive_torque of {case.drive_torque:.6g} N m gives a force of "
                f"{case.drive_torque / radius:.6g} N, but ax and drag require {along:.6g} N; remove ax or "
                "drive_torque"
            )
        a = self.front.x - self.com[0]
        behind = weight * (case.az * a + ax * self.height) + drag * drag_height
        behind = (behind + sum(force * (self.front.x - x) for force, x in down)) / self.base
        total = weight * case.az + sum(force for force, _ in down)
        axle_z = {self.rear.name: behind, self.front.name: total - behind}
        for axle, load in axle_z.items():
            if load < 0:
                raise SolverError(
                    f"load case '{name}': the {axle} axle lifts off, because its load would be {load:.6g} N; "
                    "choose an ax closer to zero, or a larger az"
                )
        roll = weight * case.ay * self.height
        share = self._share_along(case, along, driven)
        shift = self._shared_roll(name, case, axle_z, roll, along, share, ax)
        return self._values(case, axle_z, shift, along, share, ax)

    def _driven(self) -> tuple[str | None, float]:
        drive = self.car.drive
        if drive is None:
            return None, 1.0
        axle = next((x for x in (self.front, self.rear) if x.name == drive.axle), self.rear)
        return axle.name, axle.radius

    def _share_along(self, case: CarLoadCase, along: float, driven: str | None) -> dict[str, float]:
        """Fractions of the force along x at the axles: braking by the brake balance, driving at the driven axle."""
        if along > 0:
            return {axle.name: float(axle.name == driven) for axle in (self.front, self.rear)}
        share = case.brake_share
        if share is None:
            share = 0.62 if self.car.brakes is None else self.car.brakes.front_share
        return {self.front.name: share, self.rear.name: 1.0 - share}

    def _values(
        self,
        case: CarLoadCase,
        axle_z: Mapping[str, float],
        shift: Mapping[str, float],
        along: float,
        share: Mapping[str, float],
        ax: float,
    ) -> dict[str, dict[str, float]]:
        """Loads of all wheels. `shift` is the load (N) that each axle transfers to its right wheel."""
        upright: dict[str, dict[str, float]] = {}
        turning = 0.0
        key = "dx" if along > 0 else "fx"
        for axle in (self.front, self.rear):
            z = axle_z[axle.name]
            fz = {"left": z / 2 - shift[axle.name], "right": z / 2 + shift[axle.name]}
            own = {f"{side}.fz": force for side, force in fz.items()}
            for side, y in (("left", axle.track / 2), ("right", -axle.track / 2)):
                force = along * share[axle.name] * (fz[side] / z if z > 0 else 0.5)
                own[f"{side}.{key}"] = force
                turning -= y * force
            upright[axle.name] = own
        weight = self.mass * GRAVITY
        a, b = self.front.x - self.com[0], self.com[0] - self.rear.x
        moment = self.yaw_inertia * case.yaw_acceleration - turning
        across = {
            self.front.name: (weight * case.ay * b + moment) / self.base,
            self.rear.name: (weight * case.ay * a - moment) / self.base,
        }
        for axle in (self.front, self.rear):
            own, z = upright[axle.name], axle_z[axle.name]
            for side in SIDES:
                own[f"{side}.fy"] = across[axle.name] * (own[f"{side}.fz"] / z if z > 0 else 0.5)
            sideways = GRAVITY * case.ay + case.yaw_acceleration * (axle.x - self.com[0])
            own |= {"gx": GRAVITY * ax, "gy": sideways, "gz": GRAVITY * case.az}
            if axle.steered:
                own["rack"] = case.rack
        return upright

    def _shared_roll(
        self, name, case, axle_z, roll: float, along: float, share, ax: float
    ) -> dict[str, float]:
        """The load (N) that each axle transfers to its right wheel; at most the load of its left one."""
        front, rear = self.front, self.rear
        most = {axle.name: axle_z[axle.name] / 2 for axle in (front, rear)}
        if abs(roll) >= sum(most[axle.name] * axle.track for axle in (front, rear)):
            raise SolverError(
                f"load case '{name}': the car tips over at ay = {case.ay:g} g; choose an ay closer to zero"
            )

        def shifts(part: float) -> dict[str, float]:
            wanted = {front.name: part * roll / front.track, rear.name: (1 - part) * roll / rear.track}
            for one, other in ((front, rear), (rear, front)):
                if abs(wanted[one.name]) > most[one.name]:
                    held = np.sign(roll) * most[one.name]
                    wanted = {one.name: held, other.name: (roll - held * one.track) / other.track}
            return wanted

        by_load = axle_z[front.name] * front.track / sum(axle_z[x.name] * x.track for x in (front, rear))
        if not roll or case.hold is not None:
            return shifts(by_load if roll else 0.5)

        def warp(part: float) -> float:
            """Angle (rad) between the contacts of the two axles, which is zero if all four are in one plane."""
            values = self._values(case, axle_z, shifts(part), along, share, ax)
            return self._roll(name, front, values[front.name], case) - self._roll(
                name, rear, values[rear.name], case
            )

        ends, found = [by_load, by_load], [warp(by_load)] * 2
        for step in (0.06, 0.12, 0.25, 0.5, 1.0):
            k = int(found[0] * np.sign(roll) > 0)  # the axle whose body rolls more carries too much
            ends[k] = float(np.clip(by_load + (step if k else -step), 0.0, 1.0))
            found[k] = warp(ends[k])
            if found[0] * found[1] <= 0:
                return shifts(bracketed_zero(warp, ends[0], ends[1], within=STEADY))
        raise SolverError(
            f"load case '{name}': no distribution of the roll moment between the axles keeps all wheels on a flat "
            "road; choose an ay closer to zero, or set hold: springs, which distributes the moment in proportion "
            "to the axle loads"
        )

    def _roll(self, name: str, axle: _Axle, values: dict[str, float], case: CarLoadCase) -> float:
        """The roll angle (rad) of the body relative to the road at an axle, with deflected springs, bars and
        tires."""
        rest = axle.rigs.rest(name, values, case.hold)
        heights = axle.rigs.heights(rest, case.hold)
        for side in SIDES:
            load = max(values[f"{side}.fz"], 0.0)
            heights[side] += pressed_by(axle.tire, load) if load else 0.0
        return (heights["left"] - heights["right"]) / axle.track
