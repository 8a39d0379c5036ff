"""The Magic Formula 6.1/6.2 in steady state: forces and moments of a tire from its slips.

H. B. Pacejka, Tire and Vehicle Dynamics, 3rd ed. 2012, equations 4.E1 to 4.E78, whose numbers are next to the code.
Turn slip is neglected, so its factors zeta are one. Axes: ISO W, x forward, y to the left, z up. A positive slip
angle gives a negative lateral force, and a positive slip kappa gives a driving force.

Where public codes deviate from the published equations, the code follows the equations: tan(alpha) in all slips
(4.E3), curvature factors of at most one (4.E14, 24, 44, 56, 64), the sign of the shifted slip (4.E24), LMUY' in
vertical shifts (4.E8), and camber in the residual torque (4.E38, 45). Two equations are ambiguous: the code squares
the arc tangent in 4.E69, and in 4.E74 it weights the lateral force of the trail at zero camber.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca

from sekant.vehicle.tires.slip import SX, Slip, TireForces

DIGRESSIVE = 10.0  # A of 4.E8
TINY = 1e-20  # keeps quotients finite where a stiffness or a load vanishes, relative to the nominal load


class Coefficients:
    """Coefficients by their names in property files, by default 1 for scale factors and 0 for other coefficients."""

    def __init__(self, values: Mapping[str, Any]):
        self._values = dict(values)

    def __getattr__(self, name: str) -> float:
        if name.startswith("_"):
            raise AttributeError(name)
        default = 1.0 if name.startswith("L") else _DEFAULTS.get(name, 0.0)
        return self._values.get(name, default)

    def __getitem__(self, name: str) -> float:
        return getattr(self, name)


_DEFAULTS = {"PKY4": 2.0, "LMUV": 0.0, "LONGVL": 16.7}


@dataclass(frozen=True)
class MagicShape:
    """D sin(C atan(Bx - E(Bx - atan Bx))) with the factors of stiffness B, shape C, peak D and curvature E."""

    B: SX
    C: SX
    D: SX
    E: SX

    def angle(self, x: SX) -> SX:
        bx = self.B * x
        return self.C * ca.atan(bx - self.E * (bx - ca.atan(bx)))

    def sine(self, x: SX) -> SX:
        return self.D * ca.sin(self.angle(x))

    def cosine(self, x: SX) -> SX:
        return self.D * ca.cos(self.angle(x))


@dataclass(frozen=True)
class MagicFormula61:
    """The equations at one operating point. Quantities are computed on first use."""

    c: Coefficients
    at: Slip
    camber: SX = field(default=None)
    """Camber (rad) in the equations, by default that of `at`. The trail requires forces at zero camber."""

    # -- load, pressure, camber (4.E1 to 4.E8) --------------------------------------------------------------

    @cached_property
    def gamma(self) -> SX:
        return self.at.gamma if self.camber is None else self.camber

    @cached_property
    def g(self) -> SX:
        """gamma* (4.E4)."""
        return ca.sin(self.gamma)

    @cached_property
    def Fz0(self) -> float:
        return self.c.LFZO * self.c.FNOMIN

    @cached_property
    def dfz(self) -> SX:
        return (self.at.Fz - self.Fz0) / self.Fz0

    @cached_property
    def dpi(self) -> SX:
        nominal = self.c.NOMPRES
        return 0.0 if nominal == 0.0 else (self.at.pressure - nominal) / nominal

    @cached_property
    def a(self) -> SX:
        """alpha* (4.E3)."""
        return self.at.tan_alpha

    @cached_property
    def mu_scale_x(self) -> SX:
        return self.c.LMUX * self.at.mu_x

    @cached_property
    def mu_scale_y(self) -> SX:
        return self.c.LMUY * self.at.mu_y

    @staticmethod
    def _digressive(scale: SX) -> SX:
        return DIGRESSIVE * scale / (1.0 + (DIGRESSIVE - 1.0) * scale)

    # -- longitudinal force, pure slip (4.E9 to 4.E18) ------------------------------------------------------

    @cached_property
    def mu_x(self) -> SX:
        c, p = self.c, self.dpi
        return (
            (c.PDX1 + c.PDX2 * self.dfz)
            * (1 + c.PPX3 * p + c.PPX4 * p * p)
            * (1 - c.PDX3 * self.gamma**2)
            * self.mu_scale_x
        )

    @cached_property
    def K_x(self) -> SX:
        c, p = self.c, self.dpi
        stiffness = (c.PKX1 + c.PKX2 * self.dfz) * ca.exp(c.PKX3 * self.dfz)
        return self.at.Fz * stiffness * (1 + c.PPX1 * p + c.PPX2 * p * p) * c.LKX

    @cached_property
    def Fx_pure(self) -> SX:
        c, Fz, dfz = self.c, self.at.Fz, self.dfz
        x = self.at.kappa + (c.PHX1 + c.PHX2 * dfz) * c.LHX
        C, D = c.PCX1 * c.LCX, self.mu_x * Fz
        E = at_most_one((c.PEX1 + c.PEX2 * dfz + c.PEX3 * dfz**2) * (1 - c.PEX4 * ca.sign(x)) * c.LEX)
        shift = Fz * (c.PVX1 + c.PVX2 * dfz) * c.LVX * self._digressive(self.mu_scale_x)
        return MagicShape(self.K_x / (C * D + TINY * self.Fz0), C, D, E).sine(x) + shift

    # -- lateral force, pure slip (4.E19 to 4.E30) ----------------------------------------------------------

    @cached_property
    def K_y(self) -> SX:
        """Cornering stiffness (N/rad), negative."""
        c, g2 = self.c, self.g**2
        load = self.at.Fz / self.Fz0 / ((c.PKY2 + c.PKY5 * g2) * (1 + c.PPY2 * self.dpi))
        peak = c.PKY1 * self.Fz0 * (1 + c.PPY1 * self.dpi) * (1 - c.PKY3 * ca.fabs(self.g))
        # most files have PKY4 = 2, with which sin(2 atan x) needs neither function
        bend = 2 * load / (1 + load**2) if c.PKY4 == 2.0 else ca.sin(c.PKY4 * ca.atan(load))
        return peak * bend * c.LKY

    @cached_property
    def K_y_safe(self) -> SX:
        return self.K_y - TINY * self.Fz0

    @cached_property
    def _camber_shift(self) -> SX:
        c = self.c
        return self.at.Fz * (c.PVY3 + c.PVY4 * self.dfz) * self.g * c.LKYC * self._digressive(self.mu_scale_y)

    @cached_property
    def S_Vy(self) -> SX:
        c = self.c
        plain = self.at.Fz * (c.PVY1 + c.PVY2 * self.dfz) * c.LVY * self._digressive(self.mu_scale_y)
        return plain + self._camber_shift

    @cached_property
    def S_Hy(self) -> SX:
        c = self.c
        K_camber = self.at.Fz * (c.PKY6 + c.PKY7 * self.dfz) * (1 + c.PPY5 * self.dpi) * c.LKYC
        return (c.PHY1 + c.PHY2 * self.dfz) * c.LHY + (K_camber * self.g - self._camber_shift) / self.K_y_safe

    @cached_property
    def mu_y(self) -> SX:
        c, p = self.c, self.dpi
        return (
            (c.PDY1 + c.PDY2 * self.dfz)
            * (1 + c.PPY3 * p + c.PPY4 * p * p)
            * (1 - c.PDY3 * self.g**2)
            * self.mu_scale_y
        )

    @cached_property
    def _lateral(self) -> MagicShape:
        c = self.c
        C, D = c.PCY1 * c.LCY, self.mu_y * self.at.Fz
        side = ca.sign(self.a + self.S_Hy)
        curvature = 1 + c.PEY5 * self.g**2 - (c.PEY3 + c.PEY4 * self.g) * side
        E = at_most_one((c.PEY1 + c.PEY2 * self.dfz) * curvature * c.LEY)
        return MagicShape(self.K_y / (C * D + TINY * self.Fz0), C, D, E)

    @cached_property
    def Fy_pure(self) -> SX:
        return self._lateral.sine(self.a + self.S_Hy) + self.S_Vy

    # -- combined slip (4.E50 to 4.E67) ---------------------------------------------------------------------

    @cached_property
    def Fx(self) -> SX:
        c = self.c
        B = (c.RBX1 + c.RBX3 * self.g**2) * cos_atan(c.RBX2 * self.at.kappa) * c.LXAL
        weight = MagicShape(B, c.RCX1, 1.0, at_most_one(c.REX1 + c.REX2 * self.dfz))
        return self.Fx_pure * weight.cosine(self.a + c.RHX1) / weight.cosine(c.RHX1)

    @cached_property
    def lateral_weight(self) -> SX:
        """G_yk (4.E59)."""
        c = self.c
        B = (c.RBY1 + c.RBY4 * self.g**2) * cos_atan(c.RBY2 * (self.a - c.RBY3)) * c.LYKA
        weight = MagicShape(B, c.RCY1, 1.0, at_most_one(c.REY1 + c.REY2 * self.dfz))
        shift = c.RHY1 + c.RHY2 * self.dfz
        return weight.cosine(self.at.kappa + shift) / weight.cosine(shift)

    @cached_property
    def ply(self) -> SX:
        """S_Vyk (4.E66): lateral force due to longitudinal slip."""
        c = self.c
        peak = self.mu_y * self.at.Fz * (c.RVY1 + c.RVY2 * self.dfz + c.RVY3 * self.g)
        peak = peak * cos_atan(c.RVY4 * self.a)
        return peak * ca.sin(c.RVY5 * ca.atan(c.RVY6 * self.at.kappa)) * c.LVYKA

    @cached_property
    def Fy(self) -> SX:
        return self.lateral_weight * self.Fy_pure + self.ply

    # -- moments (4.E31 to 4.E49, 4.E69 to 4.E78) -----------------------------------------------------------

    @cached_property
    def _cos_alpha(self) -> SX:
        return cos_atan(self.at.tan_alpha)

    def _equivalent(self, slip: SX) -> SX:
        """Magnitude of the slip with the contribution of longitudinal slip (4.E77, 4.E78).

        Its sign is omitted: trail and residual torque are even functions of it. Slopes at zero slip are finite.
        """
        ratio = self.K_x / self.K_y_safe * self.at.kappa
        return ca.sqrt(slip**2 + ratio**2 + TINY)

    @cached_property
    def trail(self) -> SX:
        """Pneumatic trail (m)."""
        c, dfz, g = self.c, self.dfz, self.g
        slip = self.a + c.QHZ1 + c.QHZ2 * dfz + (c.QHZ3 + c.QHZ4 * dfz) * g
        slope = (c.QBZ1 + c.QBZ2 * dfz + c.QBZ3 * dfz**2) * (1 + c.QBZ4 * g + c.QBZ5 * ca.fabs(g))
        B, C = slope * c.LKY / self.mu_scale_y, c.QCZ1
        peak = self.at.Fz * c.UNLOADED_RADIUS / self.Fz0 * (c.QDZ1 + c.QDZ2 * dfz) * (1 - c.PPZ1 * self.dpi)
        D = peak * (1 + c.QDZ3 * ca.fabs(g) + c.QDZ4 * g**2) * c.LTR * self.at.forward
        bend = (c.QEZ4 + c.QEZ5 * g) * (2 / ca.pi) * ca.atan(B * C * slip)
        E = at_most_one((c.QEZ1 + c.QEZ2 * dfz + c.QEZ3 * dfz**2) * (1 + bend))
        return MagicShape(B, C, D, E).cosine(self._equivalent(slip)) * self._cos_alpha

    @cached_property
    def residual_torque(self) -> SX:
        c, dfz, g = self.c, self.dfz, self.g
        B = c.QBZ9 * c.LKY / self.mu_scale_y + c.QBZ10 * self._lateral.B * self._lateral.C
        tilt = (c.QDZ8 + c.QDZ9 * dfz) * (1 + c.PPZ2 * self.dpi) + (c.QDZ10 + c.QDZ11 * dfz) * ca.fabs(g)
        lever = (c.QDZ6 + c.QDZ7 * dfz) * c.LRES + tilt * g * c.LKZC
        D = self.at.Fz * c.UNLOADED_RADIUS * lever * self.mu_scale_y * self.at.forward * self._cos_alpha
        slip = self.a + self.S_Hy + self.S_Vy / self.K_y_safe
        # cos(alpha) is in D by 4.E47, and here by 4.E75
        return D * cos_atan(B * self._equivalent(slip)) * self._cos_alpha

    @cached_property
    def Mz(self) -> SX:
        c = self.c
        upright = MagicFormula61(c, self.at, camber=0.0)
        lateral = upright.lateral_weight * upright.Fy_pure
        lever = c.SSZ1 + c.SSZ2 * self.Fy / self.Fz0 + (c.SSZ3 + c.SSZ4 * self.dfz) * self.g
        return -self.trail * lateral + self.residual_torque + lever * c.UNLOADED_RADIUS * c.LS * self.Fx

    @cached_property
    def Mx(self) -> SX:
        c, Fz0, gamma = self.c, self.c.FNOMIN, self.gamma
        load, side = self.at.Fz / Fz0, self.Fy / Fz0
        wave = ca.cos(c.QSX5 * ca.atan(c.QSX6 * load) ** 2) * ca.sin(
            c.QSX7 * gamma + c.QSX8 * ca.atan(c.QSX9 * side)
        )
        sum_ = (
            c.QSX1 * c.LVMX
            - c.QSX2 * gamma * (1 + c.PPMX1 * self.dpi)
            + c.QSX3 * side
            + c.QSX4 * wave
            + c.QSX10 * ca.atan(c.QSX11 * load) * gamma
        )
        return c.UNLOADED_RADIUS * self.at.Fz * sum_ * c.LMX

    @cached_property
    def My(self) -> SX:
        c, Fz0 = self.c, self.c.FNOMIN
        v, load = self.at.Vx / c.LONGVL, self.at.Fz / Fz0
        pressure = self.at.pressure / c.NOMPRES if c.NOMPRES else 1.0
        resistance = (
            c.QSY1
            + c.QSY2 * self.Fx / Fz0
            + c.QSY3 * ca.fabs(v)
            + c.QSY4 * v**4
            + (c.QSY5 + c.QSY6 * load) * self.gamma**2
        )
        scale = load**c.QSY7 * pressure**c.QSY8 if c.QSY7 or c.QSY8 else 1.0
        return -c.UNLOADED_RADIUS * self.at.Fz * resistance * scale * c.LMY * self.at.forward

    @property
    def forces(self) -> TireForces:
        return TireForces(self.Fx, self.Fy, self.Mx, self.My, self.Mz)


def cos_atan(x: SX) -> SX:
    """cos(atan(x)), computed with a square root."""
    return 1 / ca.sqrt(1 + x**2)


def at_most_one(E: SX) -> SX:
    return ca.fmin(E, 1.0)
