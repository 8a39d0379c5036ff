"""Magic Formula tires from property files: vertical force, radius, relaxation and slip forces."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import casadi as ca
from pydantic import Field, model_validator

from sekant.errors import DataError
from sekant.model.examples import Stage
from sekant.model.forces.base import register
from sekant.model.quantities import AnyQuantity
from sekant.vehicle.tires.element import Tire, pressed
from sekant.vehicle.tires.magic_formula import Coefficients, MagicFormula61
from sekant.vehicle.tires.magic_formula_52 import MagicFormula52
from sekant.vehicle.tires.property_file import read_tir
from sekant.vehicle.tires.slip import SX, Slip, TireForces


@register
class MagicFormulaTire(Tire):
    """Magic Formula 5.2, 6.1 or 6.2 with the coefficients of a property file (``file: sport.tir``).

    The file is read when the tire is created; the tire then contains the coefficients.
    """

    type: ClassVar[str] = "magic_formula_tire"
    summary: ClassVar[str] = "Magic Formula 5.2, 6.1 or 6.2 from a property file"

    file: str | None = None
    """path of the property file, relative to the model file; the tire stores the contents, not the path"""
    version: Literal["5.2", "6.1", "6.2"] = "6.1"
    """version of the formula; if `file` is given, the default is the version stated in the file"""
    measured_side: Literal["left", "right"] = "left"
    """side on which the tire was measured; if `file` is given, the default is the side stated in the file"""
    coefficients: dict[str, AnyQuantity] = Field(default_factory=dict)
    """coefficients in SI units, each under its key in property files"""
    side: Literal["left", "right"] | None = None
    """side on which the tire is mounted; the tire is mirrored if it was measured on the other side"""
    pressure: AnyQuantity | None = None
    """inflation pressure in Pa; by default the pressure in the property file"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        spring = {"UNLOADED_RADIUS": 3.7, "FNOMIN": 90.0, "VERTICAL_STIFFNESS": 41.0, "LONGVL": 10.0}
        along = {"PCX1": 1.6, "PDX1": 1.1, "PKX1": 21.0}
        across = {"PCY1": 1.3, "PDY1": 0.9, "PKY1": -14.0, "PKY2": 1.7, "PKY4": 2.0}
        return cls(wheel=stage.frame(), coefficients={**spring, **along, **across})

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not data.get("file"):
            return data
        try:
            found = read_tir(data["file"])
        except DataError as error:
            raise ValueError(f"file {error}") from None
        given = {key: value for key, value in data.items() if key != "file"}
        return {
            "version": found.version,
            "measured_side": found.side,
            **given,
            "coefficients": {**found.numbers, **given.get("coefficients", {})},
        }

    @model_validator(mode="after")
    def _complete(self):
        if not self.coefficients.get("UNLOADED_RADIUS") or not self.coefficients.get("FNOMIN"):
            raise ValueError(
                "a Magic Formula tire needs a property file (file), or coefficients that include UNLOADED_RADIUS "
                "and FNOMIN"
            )
        return self

    def mirror_changes(self, plane: str) -> dict[str, Any]:
        """On the other side of the vehicle, the tire is mounted the other way around."""
        own = self.side or self.measured_side
        other = {"side": {"left": "right", "right": "left"}[own]} if plane == "y" else {}
        return super().mirror_changes(plane) | other

    @cached_property
    def _c(self) -> Coefficients:
        return Coefficients(self.coefficients)

    @property
    def unloaded_radius(self) -> SX:
        return self._c.UNLOADED_RADIUS

    @property
    def _pressure(self) -> float:
        c = self._c
        if self.pressure is not None:
            return float(self.pressure)  # type: ignore[arg-type]
        return c.INFLPRES or c.IP or c.NOMPRES or c.IP_NOM

    @cached_property
    def stiffness(self) -> float:
        """Vertical stiffness (N/m) at zero deflection and the inflation pressure."""
        c = self._c
        plain = c.VERTICAL_STIFFNESS or 200e3
        slope = (c.QFZ1 or c.Q_FZ1) * c.FNOMIN / c.UNLOADED_RADIUS or plain
        nominal = c.NOMPRES or c.IP_NOM
        return slope * (1 + c.PFZ1 * ((self._pressure - nominal) / nominal if nominal else 0.0))

    def load(self, deflection: SX, rate: SX, spin: SX) -> SX:
        """Equation 4.E68 without the terms of Fx and Fy, and a second spring (BOTTOM_OFFST, BOTTOM_STIFF) at the
        rim."""
        c = self._c
        R = c.UNLOADED_RADIUS
        square = (c.QFZ2 or c.Q_FZ2) * c.FNOMIN / R**2
        growth = 1 + (c.QV2 or c.Q_V2) * ca.fabs(spin) * R / c.LONGVL
        Fz = pressed((self.stiffness + square * deflection) * growth, c.VERTICAL_DAMPING, deflection, rate)
        if c.BOTTOM_STIFF > 0 and c.RIM_RADIUS > 0:
            room = R - c.RIM_RADIUS - c.BOTTOM_OFFST
            Fz = Fz + ca.fmax(deflection - room, 0) * c.BOTTOM_STIFF
        return Fz

    def rolling_radius(self, load: SX, spin: SX) -> SX:
        c = self._c
        F = load / c.FNOMIN
        free = c.UNLOADED_RADIUS * (
            (c.QRE0 or c.Q_RE0 or 1.0) + c.Q_V1 * (spin * c.UNLOADED_RADIUS / c.LONGVL) ** 2
        )
        sag = c.FNOMIN / self.stiffness * (c.DREFF * ca.atan(c.BREFF * F) + c.FREFF * F)
        return free - sag

    def relaxation_lengths(self, load: SX, gamma: SX) -> tuple[SX, SX] | None:
        """Slip stiffness divided by carcass stiffness (6.1) or, without the latter, by PTX and PTY (5.2).

        They are not less than a tenth of the radius.
        """
        c, R = self._c, self._c.UNLOADED_RADIUS
        Fz0 = c.LFZO * c.FNOMIN
        dfz = (load - Fz0) / Fz0
        at = Slip(0.0, 0.0, 0.0, load, self._pressure, c.LONGVL)
        rules = self._equations(at)
        if c.LONGITUDINAL_STIFFNESS > 0 and c.LATERAL_STIFFNESS > 0:
            x = rules.K_x / c.LONGITUDINAL_STIFFNESS
            y = -rules.K_y / c.LATERAL_STIFFNESS
        elif c.PTX1 and c.PTY1 and c.PTY2:
            x = load * (c.PTX1 + c.PTX2 * dfz) * ca.exp(-c.PTX3 * dfz) * R / c.FNOMIN * c.LSGKP
            y = c.PTY1 * ca.sin(2 * ca.atan(load / (c.PTY2 * Fz0))) * (1 - c.PKY3 * ca.fabs(gamma))
            y = y * R * c.LFZO * c.LSGAL
        else:
            return None
        return ca.fmax(x, R / 10), ca.fmax(y, R / 10)

    def low_speed_damping(self) -> SX:
        return self._c.DAMP_VLOW

    def _equations(self, slip: Slip) -> MagicFormula61:
        rules = MagicFormula52 if self.version == "5.2" else MagicFormula61
        return rules(self._c, slip)

    def forces(self, slip: Slip) -> TireForces:
        mirror = self.side is not None and self.side != self.measured_side
        sign = -1.0 if mirror else 1.0
        turned = {"tan_alpha": sign * slip.tan_alpha, "gamma": sign * slip.gamma}
        found = self._equations(replace(slip, pressure=self._pressure, **turned)).forces
        return TireForces(found.Fx, sign * found.Fy, sign * found.Mx, found.My, sign * found.Mz)
