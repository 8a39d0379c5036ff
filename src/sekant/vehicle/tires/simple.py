"""Simple tires: linear, Fiala and brush, with the same vertical spring and relaxation lengths."""

from __future__ import annotations

from typing import ClassVar, Self

import casadi as ca
from pydantic import model_validator

from sekant.geometry.spatial import scalar
from sekant.model.examples import Stage
from sekant.model.forces.base import register
from sekant.model.quantities import Damping, Dimensionless, Force, Length, Stiffness, is_known
from sekant.vehicle.tires.element import Tire, pressed
from sekant.vehicle.tires.slip import SX, Slip, TireForces

TINY = 1e-12  # keeps roots and quotients finite at zero slip and zero load


class SimpleTire(Tire):
    """Base of the simple tires."""

    radius: Length
    """unloaded radius"""
    vertical_stiffness: Stiffness
    """load divided by deflection"""
    vertical_damping: Damping = 0.0
    """load divided by the rate of deflection"""
    bottoming_deflection: Length = 0.0
    """deflection at which the tire bottoms out on the rim, if there is a `bottoming_stiffness`"""
    bottoming_stiffness: Stiffness = 0.0
    """additional stiffness beyond the bottoming deflection; by default the tire does not bottom out"""
    rolling_resistance: Dimensionless = 0.0
    """moment of the rolling resistance divided by the product of load and radius"""
    longitudinal_relaxation: Length = 0.0
    """relaxation length of the longitudinal slip; with 0, the force follows the slip without delay (except at
    standstill, where this slip is undefined)"""
    lateral_relaxation: Length = 0.0
    """relaxation length of the slip angle; with 0, the force follows the slip angle without delay"""
    patch_damping: Damping = 0.0
    """damping of the contact patch at standstill, for a tire whose slip stiffness is ten times its load; for other
    tires, it changes in proportion to the slip stiffness"""

    @model_validator(mode="after")
    def _sensible(self):
        for name in type(self).model_fields:
            value = getattr(self, name)
            if isinstance(value, float) and value < 0:
                raise ValueError(f"{name} must not be negative (got {value:g})")
        for name in ("radius", "vertical_stiffness"):
            if getattr(self, name) == 0.0:
                raise ValueError(f"{name} must be positive (got 0)")
        if (self.longitudinal_relaxation == 0.0) != (self.lateral_relaxation == 0.0):
            raise ValueError("give both longitudinal_relaxation and lateral_relaxation, or neither")
        return self

    @property
    def unloaded_radius(self) -> SX:
        return scalar(self.radius)

    def load(self, deflection: SX, rate: SX, spin: SX) -> SX:
        Fz = pressed(scalar(self.vertical_stiffness), scalar(self.vertical_damping), deflection, rate)
        if is_known(self.bottoming_stiffness, 0.0):
            return Fz
        beyond = ca.fmax(deflection - scalar(self.bottoming_deflection), 0)
        return Fz + scalar(self.bottoming_stiffness) * beyond

    def rolling_radius(self, load: SX, spin: SX) -> SX:
        """R - deflection / 3, a common estimate for radial tires, with the static deflection under the load."""
        return scalar(self.radius) - load / scalar(self.vertical_stiffness) / 3

    def relaxation_lengths(self, load: SX, gamma: SX) -> tuple[SX, SX] | None:
        if is_known(self.longitudinal_relaxation, 0.0):
            return None
        return scalar(self.longitudinal_relaxation), scalar(self.lateral_relaxation)

    def low_speed_damping(self) -> SX:
        return scalar(self.patch_damping)

    def _rolling(self, slip: Slip) -> SX:
        return -scalar(self.rolling_resistance) * slip.Fz * scalar(self.radius) * slip.forward


@register
class LinearTire(SimpleTire):
    """Fx = C_kappa kappa, Fy = -C_alpha tan(alpha) - C_gamma gamma, Mz = trail C_alpha tan(alpha).

    The longitudinal slip is kappa, the slip angle alpha and the camber angle gamma; the forces have no upper limit.
    With `nominal_load`, the forces and the moment are multiplied by Fz / nominal_load if Fz < nominal_load.
    """

    type: ClassVar[str] = "linear_tire"
    summary: ClassVar[str] = "forces that are proportional to slip and have no upper limit"
    lets_go: ClassVar[bool] = False

    slip_stiffness: Force
    """C_kappa, N per unit of slip"""
    cornering_stiffness: Force
    """C_alpha, N/rad"""
    camber_stiffness: Force = 0.0
    """C_gamma, N/rad"""
    trail: Length = 0.0
    """pneumatic trail behind the center of the contact patch: lever arm of the aligning moment"""
    nominal_load: Force | None = None
    """load below which the stiffnesses decrease in proportion to the load; by default they are constant"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        spring = {"radius": 3.7, "vertical_stiffness": 41.0, "vertical_damping": 0.3}
        return cls(wheel=stage.frame(), slip_stiffness=23.0, cornering_stiffness=17.0, trail=0.04, **spring)

    def forces(self, slip: Slip) -> TireForces:
        share = 1.0 if self.nominal_load is None else ca.fmin(slip.Fz / scalar(self.nominal_load), 1.0)
        side = scalar(self.cornering_stiffness) * slip.tan_alpha * share
        Fx = scalar(self.slip_stiffness) * slip.kappa * share
        Fy = -side - scalar(self.camber_stiffness) * slip.gamma * share
        return TireForces(Fx, Fy, 0.0, self._rolling(slip), scalar(self.trail) * side * slip.forward)


@register
class FialaTire(SimpleTire):
    """Fiala's tire: parabolic pressure, friction that decreases with slip, and no effect of camber.

    The comprehensive slip is S = sqrt(kappa^2 + tan(alpha)^2), at most 1, with the longitudinal slip kappa and the
    slip angle alpha. With mu = mu_0 - (mu_0 - mu_1) S and N = mu Fz, the forces at positive kappa and alpha are

        Fx = C_kappa kappa   up to N / 2 ,      Fx = N - N^2 / (4 C_kappa kappa)   beyond it,
        Fy = -N (1 - H^3) ,   Mz = N width (1 - H) H^3 ,   H = max(1 - C_alpha tan(alpha) / (3 N), 0) .

    If kappa is negative, Fx changes its sign; if alpha is negative, Fy and Mz change their signs.
    """

    type: ClassVar[str] = "fiala_tire"
    summary: ClassVar[str] = "Fiala's tire: two slip stiffnesses, and friction that decreases with slip"

    slip_stiffness: Force
    """C_kappa, N per unit of slip"""
    cornering_stiffness: Force
    """C_alpha, N/rad"""
    friction: Dimensionless = 0.9
    """mu_0, coefficient of friction without slip"""
    sliding_friction: Dimensionless | None = None
    """mu_1, coefficient of friction at full slip; by default equal to mu_0"""
    width: Length = 0.15
    """width of the tread, which is the lever arm of the aligning moment"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        spring = {"radius": 3.7, "vertical_stiffness": 41.0, "vertical_damping": 0.3}
        lengths = {"longitudinal_relaxation": 0.4, "lateral_relaxation": 0.7}
        stiffness = {"slip_stiffness": 23.0, "cornering_stiffness": 17.0}
        return cls(wheel=stage.frame(), friction=0.8, **stiffness, **spring, **lengths)

    def forces(self, slip: Slip) -> TireForces:
        mu0 = scalar(self.friction)
        mu1 = mu0 if self.sliding_friction is None else scalar(self.sliding_friction)
        tan_alpha = slip.tan_alpha
        S = ca.fmin(ca.sqrt(slip.kappa**2 + tan_alpha**2 + TINY), 1.0)
        N = (mu0 - (mu0 - mu1) * S) * slip.Fz * slip.mu_y + TINY
        C = scalar(self.slip_stiffness)
        # both laws are a slope times the slip, without a switch at zero slip, the state of a car that runs straight
        # ahead: C kappa up to N / 2, and beyond it C kappa (1 - 1 / (4 x)) / x with x = C |kappa| / N
        x = ca.sqrt(ca.fmax((C * slip.kappa / N) ** 2, 0.25))
        Fx = C * slip.kappa * (1 - 1 / (4 * x)) / x
        # 1 - H^3 = (1 - H)(1 + H + H^2) with H = 1 - s, and H = 0 where the tire slides
        K = scalar(self.cornering_stiffness) / 3
        side = K * tan_alpha
        s = K / N * ca.sqrt(tan_alpha**2 + TINY**2)
        H = 1 - ca.fmin(s, 1)
        Fy = -side * (1 + H + H**2) / ca.fmax(s, 1)
        Mz = side * scalar(self.width) * H**3 * slip.forward
        return TireForces(Fx, Fy, 0.0, self._rolling(slip), Mz)


@register
class BrushTire(SimpleTire):
    """Brush tire with one coefficient of friction and parabolic pressure (Pacejka, Tire and Vehicle Dynamics, 3.2).

    The longitudinal slip is kappa and the slip angle alpha. With sigma = (kappa, tan alpha) / (1 + kappa),
    theta = C / (3 mu Fz) and s = theta |sigma|, the force is mu Fz s (3 - 3 s + s^2) opposite to the slip velocity,
    or mu Fz if s > 1. The trail is a/3 (1 - s)^3 / (1 - s + s^2/3), or zero if s > 1.
    """

    type: ClassVar[str] = "brush_tire"
    summary: ClassVar[str] = (
        "brush tire with one slip stiffness, one coefficient of friction and a contact patch of given length"
    )

    tread_stiffness: Force
    """C = 2 c_p a^2: slope of the longitudinal and the lateral force with respect to slip"""
    friction: Dimensionless = 0.9
    """mu, coefficient of friction"""
    half_length: Length = 0.06
    """a, half the length of the contact patch"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        spring = {"radius": 3.7, "vertical_stiffness": 41.0, "vertical_damping": 0.3}
        return cls(wheel=stage.frame(), tread_stiffness=310.0, friction=0.8, half_length=0.3, **spring)

    def forces(self, slip: Slip) -> TireForces:
        kappa, tan_alpha = slip.kappa, slip.tan_alpha
        spin = ca.fmax(1 + kappa * slip.forward, 1e-3)  # speed of the tread relative to free rolling
        x, y = kappa / spin, tan_alpha / spin
        size = ca.sqrt(x**2 + y**2 + TINY**2)
        N = scalar(self.friction) * slip.Fz * slip.mu_y + TINY
        s = ca.fmin(scalar(self.tread_stiffness) / (3 * N) * size, 1.0)
        F = N * s * (3 - 3 * s + s**2)
        trail = scalar(self.half_length) / 3 * (1 - s) ** 3 / (1 - s + s**2 / 3)
        Fy = -F * y / size
        return TireForces(F * x / size, Fy, 0.0, self._rolling(slip), -trail * Fy * slip.forward)
