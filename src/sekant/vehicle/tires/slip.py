"""Input and output of every tire model: the operating point of a tire, and the forces of the road on it.

Axes: ISO W, x forward, y to the left, z up, at the contact point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SX = Any  # a CasADi expression or a number


@dataclass(frozen=True)
class Slip:
    """The operating point of a tire. `kappa`: longitudinal slip, -V_sx / |V_x|; `tan_alpha`: V_sy / |V_x|, tangent
    of the slip angle; `gamma`: camber (rad); `Fz`: load (N), positive; `pressure` (Pa); `Vx`: forward speed of the
    contact point (m/s); `forward`: 1 rolling forward, -1 backward, between them a smooth transition; `mu_x`,
    `mu_y`: friction of the road as factors on LMUX and LMUY."""

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
