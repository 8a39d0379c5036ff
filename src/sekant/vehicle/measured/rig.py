"""An axle with measured curves on the rig: curves and rates of its model, compared with the measured ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from sekant.errors import ModelError, check_known
from sekant.vehicle.curves.table import DRIVES, SuspensionCurves
from sekant.vehicle.hardpoints.components import WheelData
from sekant.vehicle.kc.compliance import axle_compliance
from sekant.vehicle.kc.curves import AxleCurves, axle_curves
from sekant.vehicle.measured.curves import deviations
from sekant.vehicle.measured.description import MeasuredSuspension
from sekant.vehicle.measured.files import MeasuredAxle, load_measured_axle

if TYPE_CHECKING:
    from sekant.vehicle.car.description import Car

GIVEN_BACK = ("camber", "toe", "steer_angle", "track_change", "wheelbase_change", "spring_load")
"""Measured curves that the poses of the wheel contain. From caster, they contain only the rotation of the upright
along the travel."""
OF_STEERING = ("caster", "kingpin_inclination", "scrub_radius", "mechanical_trail")
OF_BRAKING = ("braking_support_angle", "side_view_center_x", "side_view_center_z", "side_view_swing_arm")


@dataclass(frozen=True, eq=False)
class RigCurves:
    """Curves of the model of an axle, the measured curves (None for measured poses), and lines of the report."""

    curves: AxleCurves
    measured: SuspensionCurves | None
    texts: list[str]


def measured_axles(path: str | PathLike[str]) -> dict[str, MeasuredAxle]:
    """The axle of a file, or the axles with measured curves of a car's file, by name."""
    from sekant.vehicle.car import is_car_file, load_car

    if not is_car_file(path):
        return {"axle": load_measured_axle(path)}
    return axles_of_car(load_car(path))


def axles_of_car(car: Car) -> dict[str, MeasuredAxle]:
    """The axles of a car that have measured curves."""
    from sekant.vehicle.car.build import standing_loads

    loads, found = standing_loads(car), {}
    for name, axle in car.axles.items():
        if isinstance(axle.suspension, MeasuredSuspension):
            radius = float(axle.tire.unloaded_radius)  # type: ignore[arg-type]
            wheel = WheelData(radius=radius, mass=axle.wheel.mass, inertia=axle.wheel.inertia)
            found[name] = MeasuredAxle(
                name=f"{car.name}_{name}",
                suspension=axle.suspension,
                wheel=wheel,
                anti_roll_bar=axle.anti_roll_bar,
                load=loads[name],
            )
    return found


def one_axle(axles: dict[str, MeasuredAxle], name: str | None) -> MeasuredAxle:
    """The axle called `name`, or the only one."""
    if name is None and len(axles) == 1:
        return next(iter(axles.values()))
    if not axles:
        raise ModelError(
            "describes a car without measured curves; give the file of one of its suspensions instead"
        )
    if name is None:
        raise ModelError(
            f"describes a car with several measured axles ({', '.join(axles)}); select one of them with --of"
        )
    check_known(name, axles, f"has no axle '{name}' with measured curves", "axles")
    return axles[name]


def rig_curves(
    axle: MeasuredAxle,
    *,
    travel: ArrayLike | None = None,
    steering: ArrayLike | None = None,
    motion: str = "parallel",
) -> RigCurves:
    """The curves of the axle's model, by default at the measured positions, and their deviations from the
    measurement.

    The deviation is the error of the fit, because the wheel follows splines through the measurements.
    """
    measured, model = axle.measured(), axle.model(compliant=False)
    left = measured.poses["left"]
    curves = axle_curves(
        model,
        axle.roles(model),
        motion=motion,
        travel=left.travel if travel is None else travel,
        steering=steering if steering is not None or not measured.steered else left.rack,
    )
    texts = []
    if measured.curves:
        curves, texts = _without_the_unknown(curves, measured.curves)
    if measured.hysteresis:
        texts.append("hysteresis (largest gap between up and down strokes; the model uses their mean)")
        texts += [f"  {name:<28}{gap:12.4f}  {unit}" for name, (unit, gap) in measured.hysteresis.items()]
    if motion == "parallel":
        for side, own in measured.curves.items():
            kept = {name: own.data[name] for name in own.names if name in (*DRIVES, *GIVEN_BACK)}
            gaps = deviations(curves, replace(own, data=kept), side)
            lines = [f"  {side + '.' + name:<28}{gap:12.4f}  {unit}" for name, (unit, gap) in gaps.items()]
            texts += [f"deviation of the {side} wheel from the measured curves (root mean square)", *lines]
    if measured.compliance:
        compliant = axle.model()
        texts.append(axle_compliance(compliant, axle.roles(compliant)).summary())
    rig = measured.curves.get("left")
    return RigCurves(curves, None if rig is None else replace(rig, name="the rig"), texts)


def _without_the_unknown(
    curves: AxleCurves, measured: dict[str, SuspensionCurves]
) -> tuple[AxleCurves, list[str]]:
    """The curves without quantities that depend on the rotation of the upright about the wheel's axis.

    Measured curves do not contain this rotation, because camber and toe determine only the axis. For a steered
    wheel, the rotation is unknown, and therefore the steering axis. Along the travel, a column `caster` determines
    it; without this column, anti-dive and related quantities of braking are also unknown.
    """
    unknown = list(OF_STEERING) if any(one.steering.size > 1 for one in measured.values()) else []
    braked = not all("caster" in one.names for one in measured.values())
    if braked:
        front = any(name.endswith("anti_dive") for name in curves.names)
        unknown += [*OF_BRAKING, "anti_dive" if front else "anti_lift"]
    kept = {
        name: column
        for name, column in curves.data.items()
        if name.rpartition(".")[2].removesuffix("_on_road") not in unknown
    }
    left = dict.fromkeys(name.rpartition(".")[2] for name in curves.data if name not in kept)
    if not left:
        return curves, []
    remedy = "measure full poses of the wheel to obtain them" + (
        ", or add a column caster to obtain the quantities of braking" if braked else ""
    )
    lost = ", ".join(name.replace("_", " ") for name in left)
    return replace(curves, data=kept), [
        f"not computed: {lost}; they depend on the rotation of the upright about the wheel's axis, which the curves "
        f"do not contain; {remedy}"
    ]
