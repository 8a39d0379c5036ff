"""Kinematic curves of a suspension corner over travel and steering (the K of K&C)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.engine.system import System, compile
from sekant.errors import ModelError, suggest
from sekant.model.constraints import Coupling
from sekant.model.expressions.expression import Expression
from sekant.model.forces import SpringDamper
from sekant.model.joints import Prismatic
from sekant.model.model import Model
from sekant.model.resolve import resolve
from sekant.vehicle import wheel
from sekant.vehicle.arrays import cross, dot, norm, symbolic
from sekant.vehicle.ranges import given_range, grid_values, through_zero
from sekant.vehicle.suspension import Suspension
from sekant.vehicle.sweep import SweptFrame, sweep
from sekant.vehicle.table import SuspensionCurves

Vector = NDArray[np.float64]


def suspension_curves(
    model: Model | System,
    suspension: Suspension | None = None,
    *,
    travel: ArrayLike | None = None,
    steering: ArrayLike | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
) -> SuspensionCurves:
    """Camber, toe, steering axis, roll center, motion ratio and more over a grid of travel and steering.

    `travel` (n,) m is the height of the wheel's center against the model as drawn, by default 41 values over the
    range of `suspension`; `steering` (m,) m the displacement of the rack to the left, by default zero. Drivers of
    the rack are taken off. `parameters`: values of run-time parameters, such as the hard points of a system that was
    compiled with them; thousands of variants then take milliseconds each. Where the mechanism cannot go, values are
    NaN and `limits` says why. Definitions and signs: docs/suspensions.md.
    """
    given, model = model, model.model if isinstance(model, System) else model
    roles = suspension or Suspension()
    heights = grid_values(travel, through_zero(*given_range(None, roles.travel, "travel"), 41), "travel")
    moves = grid_values(steering, np.zeros(1), "steering")
    rack = _rack(model, roles, steering is not None)
    _check_frames(model, roles)
    springs = {name: _spring(model, name, role) for name, role in _springs(model, roles).items()}
    frames = [roles.wheel_center, roles.contact, *(roles.steer_axis or ())]
    frames += [end for ends in springs.values() for end in ends]
    free = _free_system(given, rack, parameters)
    parameters = free.checked(parameters)
    poses, limits, warnings = sweep(free, frames, roles.wheel_center, rack, heights, moves, parameters)
    made = CornerQuantities(_with_spring(model, roles, parameters), roles, poses, springs)
    columns = made.columns(heights, moves)
    return SuspensionCurves(model.name, made.side, heights, moves, columns, limits, warnings)


def _free_system(
    given: Model | System, rack: str | None, parameters: Mapping[str, ArrayLike] | None
) -> System:
    """The system without drivers of the steering; compiled once where a system is given."""
    if not isinstance(given, System):
        return compile(without_steering_drivers(given, rack), parameters=[*(parameters or {})])
    free = without_steering_drivers(given.model, rack)
    if free.drivers == given.model.drivers:
        return given
    names = [name for name in given.parameters if name not in given.inputs]
    return given.once(
        ("without steering drivers", rack),
        lambda: compile(free, formulation=given.facts.formulation, parameters=names, engine=given.engine),
    )


def _with_spring(model: Model, roles: Suspension, parameters: Mapping[str, ArrayLike] | None) -> Model:
    """The model with its named parameters, and the numbers of its spring, as `parameters` have them."""
    named = {
        name: float(np.asarray(value).ravel()[0])
        for name, value in (parameters or {}).items()
        if name in model.parameters
    }
    if named:
        model = model.model_copy(update={"parameters": {**model.parameters, **named}})
    found = {
        field: float(np.asarray(parameters[f"{roles.spring}.{field}"]).ravel()[0])
        for field in ("stiffness", "free_length")
        if parameters and f"{roles.spring}.{field}" in parameters
    }
    if not found:
        return model
    spring = model.forces[str(roles.spring)].model_copy(update=found)
    return model.model_copy(update={"forces": {**model.forces, str(roles.spring): spring}})


class CornerQuantities:
    """All columns from the poses of a few frames: numbers, or expressions if `side` says where the wheel is."""

    def __init__(
        self, model: Model, roles: Suspension, poses: dict[str, SweptFrame], springs, side: str = ""
    ):
        self.model, self.roles, self.poses = model, roles, poses
        drawn, self.center = poses[roles.wheel_center], poses[roles.wheel_center].motion
        self.steered = self.center.angular.shape[2] == 2
        center, e_start = drawn.p_start, drawn.R_start[:, 1]
        if not side and e_start[1] < 0:
            raise ModelError(
                f"frame '{roles.wheel_center}': its y axis must point to the left, along the spin axis; "
                f"it points along {np.round(e_start, 3).tolist()}"
            )
        self.side = side or ("left" if center[1] > 0 else "right")
        self.s = 1.0 if self.side == "left" else -1.0
        self.radius = norm(poses[roles.contact].p_start[None] - center)  # (1,)
        self.e = self.center.rotation[..., :, 1]
        self.e_u = cross(self.center.angular, self.e[..., None, :])
        self.touch = wheel.contact(self.center.position, self.e, self.radius)
        self.touch_start = wheel.contact(center[None], e_start[None], self.radius)[0]
        self.touch_z = wheel.contact_rate(
            self.center.velocity[..., 0, :], self.e, self.e_u[..., 0, :], self.radius
        )
        self.lengths = {name: self._length(*ends) for name, ends in springs.items()}

    def _length(self, a: str, b: str) -> tuple[Vector, Vector, Vector]:
        """Length l (n, m), its derivatives (n, m, d), and the second one by travel (n, m)."""
        parent, child = self.poses[a], self.poses[b]
        d, d_u = (
            child.motion.position - parent.motion.position,
            child.motion.velocity - parent.motion.velocity,
        )
        d_zz = child.bend - parent.bend
        length = norm(d)
        rates = dot(d[..., None, :], d_u) / length[..., None]
        d_z = d_u[..., 0, :]
        return length, rates, (dot(d_z, d_z) + dot(d, d_zz) - rates[..., 0] ** 2) / length

    def columns(self, heights: Vector, moves: Vector) -> dict[str, tuple[str, Vector]]:
        """Name -> (unit, values (n, m)); angles in rad, lengths in m."""
        return self.drives(heights, moves) | self.quantities()

    def drives(self, heights: Vector, moves: Vector) -> dict[str, tuple[str, Vector]]:
        """The columns that say where."""
        roles = self.roles
        found: dict[str, tuple[str, Vector]] = {}
        shape = (heights.size, moves.size)
        found["travel"] = ("m", np.broadcast_to(heights[:, None], shape))
        if self.steered:
            found["rack"] = ("m", np.broadcast_to(moves, shape))
            if roles.rack_per_turn is not None:
                turn = 2 * np.pi / roles.rack_per_turn
                found["steering_wheel"] = ("rad", found["rack"][1] * turn)
        return found

    def quantities(self) -> dict[str, tuple[str, Vector]]:
        """The columns that say what."""
        s, e, roles = self.s, self.e, self.roles
        found: dict[str, tuple[str, Vector]] = {}
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

    def _wheel_rate(self) -> dict[str, tuple[str, Vector]]:
        """d(push x ratio)/dz = k ratio^2 + push d(ratio)/dz of a linear spring."""
        force = self.model.forces.get(self.roles.spring or "")
        if "spring" not in self.lengths or not isinstance(force, SpringDamper) or force.spring is not None:
            return {}
        if symbolic(self.touch):  # of an axle, where all springs count
            return {}
        if isinstance(force.stiffness, Expression) or isinstance(force.free_length, Expression):
            force = resolve(self.model).model.forces[str(self.roles.spring)]
            assert isinstance(force, SpringDamper)
        k, free = force.stiffness, force.free_length
        if not (isinstance(k, float) and isinstance(free, float) and k > 0):
            return {}
        length, rates, bend = self.lengths["spring"]
        return {"wheel_rate": ("N/m", k * rates[..., 0] ** 2 - k * (free - length) * bend)}

    def _steering_axis(self) -> dict[str, tuple[str, Vector]]:
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

    def axis(self) -> tuple[Vector, Vector] | None:
        """Point and direction of the steering axis."""
        if self.roles.steer_axis is not None:
            lower, upper = (self.poses[name].motion.position for name in self.roles.steer_axis)
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

    def _support(self, front: float) -> dict[str, tuple[str, Vector]]:
        """Anti-dive and its kin: how much of the load transfer goes past the spring."""
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
            found[braking] = ("1", front * roles.brake_share * slope_braking * reach)
            found[driving] = ("1", front * roles.drive_share * slope_driving * reach)
        return found


def _rack(model: Model, roles: Suspension, wanted: bool) -> str | None:
    """The joint of the rack; None if the model has none and the curves need none."""
    if roles.rack in model.joints:
        if not isinstance(model.joints[roles.rack], Prismatic):
            raise ModelError(f"joint '{roles.rack}' is to be the rack, but it is not prismatic")
        return roles.rack
    if wanted:
        hint = suggest(str(roles.rack), list(model.joints), "joints")
        raise ModelError(f"model '{model.name}' has no joint '{roles.rack}' to steer with; {hint}")
    return None


def without_steering_drivers(model: Model, rack: str | None) -> Model:
    """The model without drivers on the rack, and on what a coupling ties to it, such as a steering wheel."""
    ties = [c for c in model.constraints.values() if isinstance(c, Coupling)]
    steering = (
        {rack} | {c.joint for c in ties if c.driven == rack} | {c.driven for c in ties if c.joint == rack}
    )
    kept = {name: driver for name, driver in model.drivers.items() if driver.joint not in steering}
    return model.model_copy(update={"drivers": kept})


def _check_frames(model: Model, roles: Suspension) -> None:
    known = model.frame_names()
    for frame in (roles.wheel_center, roles.contact, *(roles.steer_axis or ())):
        if frame not in known:
            raise ModelError(
                f"model '{model.name}' has no frame '{frame}', which curves need: name it in the model, "
                f"or describe what is what; {suggest(frame, known, 'frames')}"
            )


def _springs(model: Model, roles: Suspension) -> dict[str, str]:
    """Role -> force element; a spring of the default name may be missing."""
    found = {}
    default = Suspension.model_fields["spring"].default
    for role, name in (("spring", roles.spring), ("damper", roles.damper)):
        if name is not None and not (name == default and name not in model.forces):
            found[role] = name
    return found


def _spring(model: Model, role: str, name: str) -> Sequence[str]:
    force = model.forces.get(name)
    if not isinstance(force, SpringDamper):
        hint = suggest(
            name, [key for key, f in model.forces.items() if isinstance(f, SpringDamper)], "springs"
        )
        raise ModelError(f"model '{model.name}' has no spring_damper '{name}' for the {role}; {hint}")
    return force.parent, force.child
