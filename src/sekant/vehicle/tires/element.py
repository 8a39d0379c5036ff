"""Tires as force elements: the contact point with the road, the slip there, and the forces of the road on the tire.

The wheel's frame has its spin axis along y (to the left) and its center at its origin. One contact point S: the
road near it is the plane through the point of the road below the center, with the road's normal n. With e_y the
spin axis,

    sin(gamma) = e_y . n ,   e_x = e_y x n / |...| ,   e_l = n x e_x ,   e_r = (n - sin(gamma) e_y) / cos(gamma) ,

S is at the distance r (the loaded radius) from the center in the direction -e_r, and the deflection is R - r. With
the velocity (V_x, V_sy) of the wheel's carrier at S along e_x and e_l, the slip velocity is V_sx = V_x - Omega R_e
along e_x and V_sy along e_l. The slips are kappa = -V_sx / |V_x| and tan(alpha) = V_sy / |V_x| or, with relaxation
lengths, they follow from the deflections u, w of the contact patch:

    u' = -V_sx - |V_x| u / sigma_x ,   kappa = u / sigma_x ,
    w' =  V_sy - |V_x| w / sigma_y ,   tan(alpha) = w / sigma_y ,

These equations have no singularity at standstill, where the patch is a spring, with a damper below the speed `SLOW`
if the tire has one. Beyond the slip `LARGEST`, the patch slides: |V_x| grows by ((kappa / LARGEST)^2 - 1)^2 times
the slip velocity. The slip of a wheel that spins at standstill therefore stays below 1.25 `LARGEST`, and all terms
are continuous.
"""

from __future__ import annotations

from typing import Any, ClassVar

import casadi as ca

from sekant.geometry.spatial import SX as Matrix
from sekant.geometry.spatial import direction
from sekant.model.forces.base import Force
from sekant.model.motion import Action, ElementKinematics, PointWrench
from sekant.model.quantities import FrameName
from sekant.vehicle.roads import AnyRoad, Plane
from sekant.vehicle.tires.slip import SX, Slip, TireForces

SLOW = 1.0  # m/s: below this speed the contact patch is damped, and slips without relaxation use this speed
LEAST = 1e-3  # N: lower limit of the load in slip forces, which keeps quotients finite when a wheel lifts off
LARGEST = 3.0  # slip beyond which the patch slides as a whole and its deflection hardly grows


class Tire(Force):
    """A tire between a wheel and the road. Subclasses compute its forces."""

    frame_fields: ClassVar = ("wheel",)
    signals: ClassVar = ("road",)
    local_names: ClassVar = ("x", "y")
    picture: ClassVar = "force"
    traces: ClassVar = "contact"
    trace_width: ClassVar = 0.5
    lets_go: ClassVar[bool] = True
    """whether all forces vanish with the load"""

    wheel: FrameName
    """body or frame of the wheel, with y along the spin axis, pointing left"""
    road: AnyRoad = Plane()
    """road on which the wheel rolls, such as {type: sine, ...}, or its height as an expression of x and y"""

    @property
    def unloaded_radius(self) -> SX:
        """Unloaded radius, m."""
        raise NotImplementedError(f"tire type '{self.type}' must define unloaded_radius")

    def load(self, deflection: SX, rate: SX, spin: SX) -> SX:
        """Vertical force (N), never negative, at a deflection (m), its rate (m/s) and the wheel's spin (rad/s)."""
        raise NotImplementedError(f"tire type '{self.type}' must define load")

    def rolling_radius(self, load: SX, spin: SX) -> SX:
        """Effective radius (m): forward speed over spin in free rolling."""
        raise NotImplementedError(f"tire type '{self.type}' must define rolling_radius")

    def relaxation_lengths(self, load: SX, gamma: SX) -> tuple[SX, SX] | None:
        """(longitudinal, lateral) relaxation length, m; None if slip acts immediately."""
        return None

    def low_speed_damping(self) -> SX:
        """Damping of the contact patch at standstill, N s/m."""
        return 0.0

    def forces(self, slip: Slip) -> TireForces:
        """Forces and moments at the contact point, in W axes."""
        raise NotImplementedError(f"tire type '{self.type}' must define forces")

    def action(self, motion: ElementKinematics) -> Action:
        wheel = motion.frame(self.wheel)
        e_y, center = wheel.R[:, 1], wheel.p
        below, normal, rising = self._road(motion, center)
        sine = ca.dot(e_y, normal)
        gamma = ca.asin(ca.fmax(-1, ca.fmin(1, sine)))
        forward = ca.cross(e_y, normal)
        e_x = direction(forward)
        e_l = ca.cross(normal, e_x)
        upward = normal - sine * e_y
        e_r = direction(upward)
        slant = 1 / ca.dot(e_r, normal)
        radius = ca.dot(center - below, normal) * slant
        contact = center - radius * e_r
        spin = ca.dot(wheel.w_WF, e_y)
        carried = wheel.v_WF + ca.cross(wheel.w_WF - spin * e_y, contact - center)
        V_x, V_sy = ca.dot(carried, e_x), ca.dot(carried, e_l)
        deflection = self.unloaded_radius - radius
        Fz = self.load(deflection, (rising * normal[2] - ca.dot(carried, normal)) * slant, spin)
        effective = self.rolling_radius(Fz, spin)
        V_sx = V_x - spin * effective
        kappa, tan_alpha, rates = self._slips(motion, Fz, gamma, V_x, V_sx, V_sy)
        rolling = V_x / at_least(V_x, 0.1 * SLOW)  # sign of the speed, smooth through zero
        grip = self.road.grip(motion, contact[0], contact[1])
        borne = ca.sqrt(Fz**2 + LEAST**2)
        found = self.forces(Slip(kappa, tan_alpha, gamma, borne, 0.0, V_x, rolling, grip, grip))
        if self.lets_go:  # a lifted wheel has no forces, in spite of the lower limit of the load
            found = found.times(Fz / borne)
        f_W = found.Fx * e_x + found.Fy * e_l + Fz * normal
        n_W = found.Mx * e_x + found.My * e_l + found.Mz * normal
        material = wheel.v_WF + ca.cross(wheel.w_WF, contact - center)
        power = ca.dot(f_W, material) + ca.dot(n_W, wheel.w_WF)
        stored = self.load(deflection, 0.0, spin) * ca.dot(material, normal)
        return Action(
            wrenches=(PointWrench(wheel.body, contact, f_W, n_W),),
            power=power,
            rests=True,
            outputs={
                "load": ("N", Fz),
                "kappa": ("1", Matrix(kappa)),
                "alpha": ("rad", ca.atan(tan_alpha)),
                "camber": ("rad", gamma),
                "Fx": ("N", Matrix(found.Fx)),
                "Fy": ("N", Matrix(found.Fy)),
                "Mx": ("N*m", Matrix(found.Mx)),
                "My": ("N*m", Matrix(found.My)),
                "Mz": ("N*m", Matrix(found.Mz)),
                "force": ("N", f_W),
                "deflection": ("m", deflection),
                "loaded_radius": ("m", radius),
                "effective_radius": ("m", Matrix(effective)),
                "contact": ("m", contact),
                "V_sx": ("m/s", V_sx),
                "V_sy": ("m/s", V_sy),
                "dissipation": ("W", stored - power),
            },
            rates=rates,
        )

    def _road(self, motion: ElementKinematics, center: Any) -> tuple[Any, Any, Any]:
        """The point (3,) of the road below the wheel's center, the road's normal (3,) there, both in W, and the
        vertical velocity (m/s) of the road."""
        x, y = Matrix.sym("x"), Matrix.sym("y")
        height = Matrix(self.road.elevation(motion, x, y))
        slope = motion.lookups.jacobian(height, ca.vertcat(x, y))
        rate = motion.lookups.jacobian(height, motion.t)
        here = ca.vertcat(center[0], center[1])
        both = motion.lookups.substitute(ca.vertcat(height, slope.T, rate), ca.vertcat(x, y), here)
        normal = ca.vertcat(-both[1], -both[2], 1)
        return ca.vertcat(here, both[0]), direction(normal), both[3]

    def mirror_changes(self, plane: str) -> dict[str, Any]:
        """A road is fixed in the world and the same for every wheel."""
        return {"road": self.road}

    def _slips(
        self, motion: ElementKinematics, Fz: Any, gamma: Any, V_x: Any, V_sx: Any, V_sy: Any
    ) -> tuple[SX, SX, dict[str, Any]]:
        """kappa, tan(alpha), and the rates of the deflections of the patch, if the tire has relaxation lengths."""
        lengths = self.relaxation_lengths(Fz, gamma)
        if lengths is None:
            pace = 1 / at_least(V_x, SLOW)
            return -V_sx * pace, V_sy * pace, {}
        speed = ca.fabs(V_x)
        slow = ca.fmax(0, 1 - speed / SLOW) ** 2 * self.low_speed_damping()
        found, rates = [], {}
        for part, length, slide in (("u", lengths[0], -V_sx), ("w", lengths[1], V_sy)):
            patch = motion.state(self.owner(motion), part, 0.0, "m")
            beyond = ca.fmax(0, (patch / (LARGEST * length)) ** 2 - 1)
            rates[part] = slide - (speed + beyond**2 * ca.sqrt(slide**2 + SLOW**2)) * patch / length
            # stiffness of the patch (N/m) of a tire whose forces rise by ten times the load per unit of slip, as for
            # many tires; such a tire has the given damping, other tires a damping in proportion to their stiffness
            stiffness = 10 * ca.fmax(Fz, 1.0) / length
            found.append((patch + slow / stiffness * rates[part]) / length)
        return found[0], found[1], rates


def at_least(speed: SX, least: float) -> SX:
    """|speed| (m/s) above `least`, and (speed^2 / least + least) / 2 below it; the slope is continuous."""
    size = ca.fabs(speed)
    return ca.if_else(size > least, size, (speed**2 / least + least) / 2)


def pressed(stiffness: SX, damping: SX, deflection: SX, rate: SX) -> SX:
    """Force (N) of a spring and damper that can only push."""
    return ca.if_else(deflection > 0, ca.fmax(stiffness * deflection + damping * rate, 0), 0)
