"""The equations of the Magic Formula 5.2 (also called PAC2002) that differ from 6.1.

The equations contain the camber angle, scaled by LGAX, LGAY and LGAZ, and slip angles in radians instead of their
tangents. They do not depend on pressure, and camber shifts the lateral force by PHY3, PVY3 and PVY4. Source: H. B.
Pacejka, Tire and Vehicle Dynamics, 2nd ed. 2006, equations 4.E1 to 4.E78, as public codes transcribe them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from sekant.vehicle.tires.magic_formula import MagicFormula61, MagicShape, at_most_one
from sekant.vehicle.tires.slip import SX


@dataclass(frozen=True)
class MagicFormula52(MagicFormula61):
    """The equations at one operating point."""

    @cached_property
    def g(self) -> SX:
        return self.gamma * self.c.LGAY

    @cached_property
    def g_z(self) -> SX:
        return self.gamma * self.c.LGAZ

    @cached_property
    def a(self) -> SX:
        return ca.atan(self.at.tan_alpha)

    @cached_property
    def dpi(self) -> SX:
        return 0.0

    @cached_property
    def mu_x(self) -> SX:
        c = self.c
        return (c.PDX1 + c.PDX2 * self.dfz) * (1 - c.PDX3 * (self.gamma * c.LGAX) ** 2) * self.mu_scale_x

    @staticmethod
    def _digressive(scale: SX) -> SX:
        return scale

    @cached_property
    def K_y(self) -> SX:
        c = self.c
        load = self.at.Fz / (c.PKY2 * self.Fz0)
        return c.PKY1 * self.Fz0 * ca.sin(2 * ca.atan(load)) * (1 - c.PKY3 * ca.fabs(self.g)) * c.LKY

    @cached_property
    def S_Vy(self) -> SX:
        c = self.c
        camber = (c.PVY3 + c.PVY4 * self.dfz) * self.g
        return self.at.Fz * ((c.PVY1 + c.PVY2 * self.dfz) * c.LVY + camber) * self.mu_scale_y

    @cached_property
    def S_Hy(self) -> SX:
        c = self.c
        return (c.PHY1 + c.PHY2 * self.dfz) * c.LHY + c.PHY3 * self.g

    @cached_property
    def trail(self) -> SX:
        c, dfz, g = self.c, self.dfz, self.g_z
        slip = self.a + c.QHZ1 + c.QHZ2 * dfz + (c.QHZ3 + c.QHZ4 * dfz) * g
        slope = (c.QBZ1 + c.QBZ2 * dfz + c.QBZ3 * dfz**2) * (1 + c.QBZ4 * g + c.QBZ5 * ca.fabs(g))
        B, C = slope * c.LKY / self.mu_scale_y, c.QCZ1
        peak = self.at.Fz * c.UNLOADED_RADIUS / c.FNOMIN * (c.QDZ1 + c.QDZ2 * dfz)
        D = peak * (1 + c.QDZ3 * g + c.QDZ4 * g**2) * c.LTR * self.at.forward
        bend = (c.QEZ4 + c.QEZ5 * g) * (2 / ca.pi) * ca.atan(B * C * slip)
        E = at_most_one((c.QEZ1 + c.QEZ2 * dfz + c.QEZ3 * dfz**2) * (1 + bend))
        return MagicShape(B, C, D, E).cosine(self._equivalent(slip)) * self._cos_alpha

    @cached_property
    def residual_torque(self) -> SX:
        c, dfz, g = self.c, self.dfz, self.g_z
        B = c.QBZ9 * c.LKY / self.mu_scale_y + c.QBZ10 * self._lateral.B * self._lateral.C
        lever = (c.QDZ6 + c.QDZ7 * dfz) * c.LRES + (c.QDZ8 + c.QDZ9 * dfz) * g
        D = self.at.Fz * c.UNLOADED_RADIUS * lever * self.mu_scale_y * self.at.forward
        slip = self.a + self.S_Hy + self.S_Vy / self.K_y_safe
        return D * ca.cos(ca.atan(B * self._equivalent(slip))) * self._cos_alpha

    @cached_property
    def Mz(self) -> SX:
        c = self.c
        lever = c.SSZ1 + c.SSZ2 * self.Fy / c.FNOMIN + (c.SSZ3 + c.SSZ4 * self.dfz) * self.gamma
        return (
            -self.trail * (self.Fy - self.ply)
            + self.residual_torque
            + lever * c.UNLOADED_RADIUS * c.LS * self.Fx
        )

    @cached_property
    def Mx(self) -> SX:
        c = self.c
        sum_ = c.QSX1 * c.LVMX - c.QSX2 * self.gamma + c.QSX3 * self.Fy / c.FNOMIN
        return c.UNLOADED_RADIUS * self.at.Fz * sum_ * c.LMX
