"""Inputs and outputs of tire models: the operating point of a tire, and the forces of the road on it.

Axes: ISO W, x forward, y to the left, z up, at the contact point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SX = Any  # a CasADi expression or a number


@dataclass(frozen=True)
class Slip:
    """The operating point of a tire.

    `kappa` is the longitudinal slip, -V_sx / |V_x|, `tan_alpha` the tangent of the slip angle, V_sy / |V_x|, `gamma`
    the camber (rad), `Fz` the load (N), which is positive, `pressure` the inflation pressure (Pa), and `Vx` the
    forward speed (m/s) of the contact point. `forward` is 1 if the wheel rolls forward and -1 if it rolls backward,
    with a smooth transition. `mu_x`, `mu_y` are the friction of the road as factors on LMUX and LMUY.
    """

    kappa: SX
    tan_alpha: SX
    gamma: SX
    Fz: SX
    pressure: SX
    Vx: SX
    forward: SX = 1.0
    mu_x: SX = 1.0
    mu_y: SX = 1.0


@dataclass(frozen=True)
class TireForces:
    """Forces (N) and moments (N m) of the road on the tire at the contact point, in W axes."""

    Fx: SX
    Fy: SX
    Mx: SX
    My: SX
    Mz: SX

    def times(self, factor: SX) -> TireForces:
        """All forces and moments, multiplied by a factor."""
        return TireForces(*(factor * part for part in (self.Fx, self.Fy, self.Mx, self.My, self.Mz)))
