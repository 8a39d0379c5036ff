"""Loads at the contacts of an axle from accelerations of the vehicle: static loads and load transfer.

The vehicle has the mass M, its center of mass at the height h, the wheelbase L and the track t; W is the static load
of one wheel, and a_x, a_y, a_z are accelerations in g. Together the two wheels of an axle carry

    F_z = 2 W a_z - s M g a_x h / L ,   s = 1 in front, -1 behind ,

but not less than zero. The load 2 W a_y h / t moves from the inner to the outer wheel, but not more than the load of
the inner wheel. Along x the axle takes a fraction of M g a_x: `brake_share` in braking, `drive_share` in driving, by
default its fraction of the vehicle's load. The two wheels share forces along x and y in proportion to their loads.
Brakes are outboard, and their torque acts on the upright, so the braking force acts at the contact. Driven wheels
have shafts, whose torque acts on the vehicle's body, so the driving force acts at the wheel's center.
"""

from __future__ import annotations

from dataclasses import dataclass

from sekant.errors import AnalysisWarning, ModelError
from sekant.vehicle.hardpoints.components import AxleLoadCase
from sekant.vehicle.hardpoints.suspension import Suspension
from sekant.vehicle.kc.roles import SIDES, AxleRoles
from sekant.vehicle.quantities import GRAVITY


@dataclass(frozen=True)
class ContactLoads:
    """Loads of an axle. `roles` contain the data of the vehicle, `load` (N) is the static load of a wheel, and
    `track` is in m."""

    roles: AxleRoles
    load: float | None
    track: float

    @property
    def _vehicle(self) -> Suspension:
        return self.roles.left

    def values(self, name: str, case: AxleLoadCase) -> dict[str, float]:
        """Loads of the rig by name (``left.fz``, N; ``rack``, m; ``gx``, m/s^2) in a case."""
        values: dict[str, float] = {"rack": case.rack} if self._vehicle.rack is not None else {}
        for side in SIDES:
            for key, force in getattr(case, side).items():
                values[f"{side}.{key}"] = force
        if not (case.ax or case.ay or case.az is not None):
            return values
        for key, force in self._accelerated(name, case).items():
            values[key] = values.get(key, 0.0) + force
        lift = 1.0 if case.az is None else case.az
        return values | {"gx": GRAVITY * case.ax, "gy": GRAVITY * case.ay, "gz": GRAVITY * lift}

    def warnings(self, name: str, case: AxleLoadCase) -> tuple[AnalysisWarning, ...]:
        """Warnings about assumptions in a case."""
        if not case.ax or self._vehicle.vehicle_mass is not None:
            return ()
        return (
            AnalysisWarning(
                "vehicle_mass_assumed",
                f"load case '{name}'",
                "",
                "the load transfer under ax depends on the mass of the vehicle, which is assumed to be "
                f"{self._mass:.4g} kg, as if both axles carried equal loads",
                "give vehicle_mass under 'suspension'",
            ),
        )

    @property
    def _mass(self) -> float:
        """Mass of the whole vehicle, kg; by default both axles carry the same load."""
        assert self.load is not None
        return self._vehicle.vehicle_mass or 4 * self.load / GRAVITY

    def _accelerated(self, name: str, case: AxleLoadCase) -> dict[str, float]:
        load, vehicle = self.load, self._vehicle
        if load is None:
            raise ModelError(
                f"load case '{name}' contains accelerations, which require the static load of a wheel; give "
                "wheel_load"
            )
        for key, needed, way in (
            ("ay", ("cg_height",), "across"),
            ("ax", ("cg_height", "wheelbase"), "along"),
        ):
            missing = [field for field in needed if getattr(vehicle, field) is None]
            if getattr(case, key) and missing:
                raise ModelError(
                    f"load case '{name}': the load transfer {way} the car under {key} cannot be computed; give "
                    f"{' and '.join(missing)} under 'suspension'"
                )
        weight, height = self._mass * GRAVITY, vehicle.cg_height or 0.0
        lift = 1.0 if case.az is None else case.az
        front = 1.0 if vehicle.axle == "front" else -1.0
        along = weight * case.ax * height / vehicle.wheelbase if vehicle.wheelbase else 0.0
        total = max(2 * load * lift - front * along, 0.0)
        moved = 2 * load * case.ay * height / self.track  # to the outer wheel: the right one in a left turn
        right = min(max(total / 2 + moved, 0.0), total)
        share = vehicle.brake_share if case.ax < 0 else vehicle.drive_share
        if share is None:
            share = total / (weight * lift) if lift > 0 else 0.5
        found = {}
        for side, fz in (("left", total - right), ("right", right)):
            part = fz / total if total > 0 else 0.5
            found[f"{side}.fz"] = fz
            # shafts transmit the torque of driving wheels to the body
            along_x = "fx" if case.ax < 0 else "dx"
            found[f"{side}.{along_x}"] = weight * case.ax * share * part
            found[f"{side}.fy"] = 2 * load * case.ay * part
        return found
