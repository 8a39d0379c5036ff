"""Vehicles: suspensions from hard points, their curves, and cars. Modules are imported on first use."""

from typing import TYPE_CHECKING

from sekant.extensions import imported_later, names_of

if TYPE_CHECKING:
    from sekant.vehicle.car import Car as Car
    from sekant.vehicle.car import Commands as Commands
    from sekant.vehicle.car import car_model as car_model
    from sekant.vehicle.car import load_car as load_car
    from sekant.vehicle.curves.corner_curves import suspension_curves as suspension_curves
    from sekant.vehicle.curves.table import SuspensionCurves as SuspensionCurves
    from sekant.vehicle.driving import drive as drive
    from sekant.vehicle.driving import steady_turns as steady_turns
    from sekant.vehicle.hardpoints.description import HardPoints as HardPoints
    from sekant.vehicle.hardpoints.files import load_axle as load_axle
    from sekant.vehicle.hardpoints.files import load_suspension as load_suspension
    from sekant.vehicle.hardpoints.suspension import Suspension as Suspension
    from sekant.vehicle.kc import AxleCurves as AxleCurves
    from sekant.vehicle.kc import AxleRoles as AxleRoles
    from sekant.vehicle.kc import ComplianceTable as ComplianceTable
    from sekant.vehicle.kc import LoadTable as LoadTable
    from sekant.vehicle.kc import axle_compliance as axle_compliance
    from sekant.vehicle.kc import axle_curves as axle_curves
    from sekant.vehicle.kc import member_loads as member_loads
    from sekant.vehicle.kc import standing as standing
    from sekant.vehicle.kc.designs import AxleDesigns as AxleDesigns
    from sekant.vehicle.kc.fitting import curve_sensitivities as curve_sensitivities
    from sekant.vehicle.kc.fitting import fit_points as fit_points
    from sekant.vehicle.measured.corner import corner_of_curves as corner_of_curves
    from sekant.vehicle.measured.curves import read_measured as read_measured
    from sekant.vehicle.measured.rates import MeasuredCompliance as MeasuredCompliance
    from sekant.vehicle.measured.rates import read_compliance as read_compliance
    from sekant.vehicle.suspension.build import axle as axle
    from sekant.vehicle.suspension.build import corner as corner
    from sekant.vehicle.suspension.build import double_wishbone as double_wishbone
    from sekant.vehicle.suspension.build import five_link as five_link
    from sekant.vehicle.suspension.build import formula_student as formula_student
    from sekant.vehicle.suspension.build import mcpherson as mcpherson

__all__ = names_of(__name__)  # pyright: ignore[reportUnsupportedDunderAll]
__getattr__ = imported_later(__name__)


def __dir__() -> list[str]:
    return __all__
