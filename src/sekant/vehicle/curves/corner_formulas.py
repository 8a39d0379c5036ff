"""The columns of a suspension corner as formulas: wheel, steering axis, spring and anti-dive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sekant.geometry.pose_motion import PoseMotion
from sekant.vehicle.curves import wheel
from sekant.vehicle.curves.arrays import cross, dot, norm
from sekant.vehicle.hardpoints.suspension import Suspension

Columns = dict[str, tuple[str, Any]]


class CornerQuantities:
    """All columns of the corner on one `side`.

    `poses` of a few frames have derivatives with respect to travel and, if there are two drives, with respect to the
    rack; second derivatives are only with respect to travel. Arrays contain expressions and have the leading axes
    (1, 1) of a grid of one point. `start`: center (3,) m and spin axis (3,) of the wheel at the start, and its radius
    (1,) m. `springs`: role -> frames at the ends. `tension`: tension (1, 1) N of the spring and its stops, and its
    derivative (1, 1) N/m with respect to travel.
    """

    def __init__(
        self,
        roles: Suspension,
        poses: Mapping[str, PoseMotion],
        start: tuple[Any, Any, Any],
        springs: Mapping[str, Sequence[str]],
        side: str,
        tension: tuple[Any, Any] | None = None,
    ):
        self.roles, self.poses, self.side, self.tension = roles, poses, side, tension
        self.center = poses[roles.wheel_center]
        self.steered = self.center.angular.shape[2] == 2
        center, e_start, self.radius = start
        self.s = 1.0 if self.side == "left" else -1.0
        self.e = self.center.rotation[..., :, 1]
        self.e_u = cross(self.center.angular, self.e[..., None, :])
        self.touch = wheel.contact(self.center.position, self.e, self.radius)
        self.touch_start = wheel.contact(center[None], e_start[None], self.radius)[0]
        self.touch_z = wheel.contact_rate(
            self.center.velocity[..., 0, :], self.e, self.e_u[..., 0, :], self.radius
        )
        self.lengths = {name: self._length(*ends) for name, ends in springs.items()}

    def _length(self, a: str, b: str) -> tuple[Any, Any, Any]:
        """Length l (n, m), its first derivatives (n, m, d), and the second derivative with respect to travel
        (n, m)."""
        parent, child = self.poses[a], self.poses[b]
        d, d_u = child.position - parent.position, child.velocity - parent.velocity
        d_zz = (child.acceleration - parent.acceleration)[..., 0, 0, :]
        length = norm(d)
        rates = dot(d[..., None, :], d_u) / length[..., None]
        d_z = d_u[..., 0, :]
        return length, rates, (dot(d_z, d_z) + dot(d, d_zz) - rates[..., 0] ** 2) / length

    def quantities(self) -> Columns:
        """The columns of the quantities, by name."""
        s, e, roles = self.s, self.e, self.roles
        found: Columns = {}
        found["camber"] = ("rad", wheel.camber(e, s))
        found["toe"] = ("rad", -s * wheel.steer_angle(e))
        if self.steered:
            found["steer_angle"] = ("rad", wheel.steer_angle(e))
        found |= self._steering_axis()
        moved = self.touch - self.touch_start
        front = 1.0 if roles.axle == "front" else -1.0
        found["track_change"] = ("m", s * moved[..., 1])
        found["wheelbase_change"] = ("m", front * moved[..., 0])
        found["roll_center_height"] = ("m", self.touch[..., 1] * self.touch_z[..., 1] / self.touch_z[..., 2])
        for name, (length, rates, _) in self.lengths.items():
            found[f"{name}_length"] = ("m", length)
            found["motion_ratio" if name == "spring" else f"{name}_motion_ratio"] = ("1", -rates[..., 0])
        found |= self._wheel_rate()
        found["camber_gradient"] = ("rad/m", wheel.camber_rate(e, self.e_u[..., 0, :], s))
        found["toe_gradient"] = ("rad/m", -s * wheel.steer_angle_rate(e, self.e_u[..., 0, :]))
        return found | self._support(front)

    def _wheel_rate(self) -> Columns:
        """d(T dl/dz)/dz of the tension T and the length l of the spring."""
        if self.tension is None:
            return {}
        (T, T_z), (_, rates, bend) = self.tension, self.lengths["spring"]
        return {"wheel_rate": ("N/m", T_z * rates[..., 0] + T * bend)}

    def _steering_axis(self) -> Columns:
        axis = self.axis()
        if axis is None:
            return {}
        point, k = axis
        scrub, trail = wheel.ground_offsets(point, k, self.touch, self.e, self.s)
        return {
            "caster": ("rad", wheel.caster(k)),
            "kingpin_inclination": ("rad", wheel.kingpin_inclination(k, self.s)),
            "scrub_radius": ("m", scrub),
            "mechanical_trail": ("m", trail),
        }

    def axis(self) -> tuple[Any, Any] | None:
        """Point and direction of the steering axis."""
        if self.roles.steer_axis is not None:
            lower, upper = (self.poses[name].position for name in self.roles.steer_axis)
            d = upper - lower
            return lower, d / norm(d)[..., None]
        if not self.steered:
            return None
        if "spring" in self.lengths:
            rates = self.lengths["spring"][1]
            w, v = (wheel.at_fixed_length(a, rates) for a in (self.center.angular, self.center.velocity))
        else:
            w, v = self.center.angular[..., 1, :], self.center.velocity[..., 1, :]
        return wheel.screw_axis(w, v, self.center.position)

    def _support(self, front: float) -> Columns:
        """Anti-dive and related quantities: the fraction of the load transfer that bypasses the spring."""
        roles = self.roles
        w, v = self.center.angular[..., 0, :], self.center.velocity[..., 0, :]
        braked = v + cross(w, self.touch - self.center.position)  # the brake locks the wheel to the upright
        slope_braking = braked[..., 0] / braked[..., 2]
        slope_driving = v[..., 0] / v[..., 2]
        found = {
            "braking_support_angle": ("rad", np.arctan(front * slope_braking)),
            "driving_support_angle": ("rad", np.arctan(front * slope_driving)),
        }
        if roles.wheelbase is not None and roles.cg_height is not None:
            reach = roles.wheelbase / roles.cg_height
            braking, driving = ("anti_dive", "anti_lift") if front > 0 else ("anti_lift", "anti_squat")
            brake, drive = (
                1.0 if share is None else share for share in (roles.brake_share, roles.drive_share)
            )
            found[braking] = ("1", front * brake * slope_braking * reach)
            found[driving] = ("1", front * drive * slope_driving * reach)
        return found
