"""Vehicles: suspensions from hard points, their curves, cars; each is imported when it is first asked for."""

from typing import TYPE_CHECKING

from sekant.extensions import imported_later

if TYPE_CHECKING:
    from sekant.vehicle.car import Car, Commands, car_model, load_car
    from sekant.vehicle.curves.corner_curves import suspension_curves
    from sekant.vehicle.curves.table import SuspensionCurves
    from sekant.vehicle.driving import drive, steady_turns
    from sekant.vehicle.hardpoints.description import HardPoints
    from sekant.vehicle.hardpoints.files import load_axle, load_suspension
    from sekant.vehicle.hardpoints.suspension import Suspension
    from sekant.vehicle.kc import (
        AxleCurves,
        AxleRoles,
        ComplianceTable,
        LoadTable,
        axle_compliance,
        axle_curves,
        member_loads,
        standing,
    )
    from sekant.vehicle.kc.designs import AxleDesigns
    from sekant.vehicle.kc.fitting import curve_sensitivities, fit_points
    from sekant.vehicle.measured.corner import corner_of_curves
    from sekant.vehicle.measured.curves import read_measured
    from sekant.vehicle.measured.rates import MeasuredCompliance, read_compliance
    from sekant.vehicle.suspension.build import (
        axle,
        corner,
        double_wishbone,
        five_link,
        formula_student,
        mcpherson,
    )

__all__ = [
    "AxleCurves",
    "AxleDesigns",
    "AxleRoles",
    "Car",
    "Commands",
    "ComplianceTable",
    "HardPoints",
    "LoadTable",
    "MeasuredCompliance",
    "Suspension",
    "SuspensionCurves",
    "axle",
    "axle_compliance",
    "axle_curves",
    "car_model",
    "corner",
    "corner_of_curves",
    "curve_sensitivities",
    "double_wishbone",
    "drive",
    "fit_points",
    "five_link",
    "formula_student",
    "load_axle",
    "load_car",
    "load_suspension",
    "mcpherson",
    "member_loads",
    "read_compliance",
    "read_measured",
    "standing",
    "steady_turns",
    "suspension_curves",
]
__getattr__ = imported_later(
    __name__,
    {
        "sekant.vehicle.suspension.build": (
            "axle",
            "corner",
            "double_wishbone",
            "five_link",
            "formula_student",
            "mcpherson",
        ),
        "sekant.vehicle.curves.corner_curves": ("suspension_curves",),
        "sekant.vehicle.hardpoints.files": ("load_axle", "load_suspension"),
        "sekant.vehicle.hardpoints.description": ("HardPoints",),
        "sekant.vehicle.hardpoints.suspension": ("Suspension",),
        "sekant.vehicle.curves.table": ("SuspensionCurves",),
        "sekant.vehicle.kc": (
            *("AxleCurves", "AxleRoles", "ComplianceTable", "LoadTable"),
            *("axle_compliance", "axle_curves", "member_loads", "standing"),
        ),
        "sekant.vehicle.car": ("Car", "Commands", "car_model", "load_car"),
        "sekant.vehicle.driving": ("drive", "steady_turns"),
        "sekant.vehicle.kc.designs": ("AxleDesigns",),
        "sekant.vehicle.kc.fitting": ("curve_sensitivities", "fit_points"),
        "sekant.vehicle.measured.corner": ("corner_of_curves",),
        "sekant.vehicle.measured.curves": ("read_measured",),
        "sekant.vehicle.measured.rates": ("MeasuredCompliance", "read_compliance"),
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
