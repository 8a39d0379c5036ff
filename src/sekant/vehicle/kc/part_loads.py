"""Forces on every part of an axle at every point at which it is connected or loaded, in one position of rest.

The wrench of a joint and the forces of a bushing and of a link act on two parts with opposite signs. The load on the
hinge of an arm with the frames `front` and `rear` is divided between these two ends. All loads on a part are in
equilibrium with its weight and inertia force; `imbalance` is the residual.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.statics.equilibrium import Equilibrium
from sekant.model.constraints import DrivePoint
from sekant.model.forces import Bushing, SpringDamper
from sekant.model.joints import Revolute
from sekant.model.model import Model
from sekant.model.resolve import resolve
from sekant.vehicle.kc.rig import Rig

Vector = NDArray[np.float64]
GROUND = "ground"
FREE = 1e-6
"""Moments below this fraction of the force count as zero, as at a ball joint."""
BODY = "body"
"""Name of the vehicle's body in tables."""


@dataclass(frozen=True, eq=False)
class PointLoad:
    """Load on a part at a point: `force` (3,) N and `moment` (3,) N m about `place` (3,) m, in the vehicle's axes.

    `own_force` and `own_moment` are the same vectors in the axes of the part, which coincide with the vehicle's axes
    in the position as drawn.
    """

    part: str
    point: str
    place: Vector
    force: Vector
    moment: Vector
    own_force: Vector
    own_moment: Vector


@dataclass(frozen=True, eq=False)
class RestLoads:
    """All loads in one position of rest.

    `axial` contains the forces (N) along springs, links, rods and legs of arms, positive in tension. `imbalance`
    contains the residuals of forces (N) and moments (N m) of each part, including weight and inertia.
    """

    points: tuple[PointLoad, ...]
    axial: dict[str, float]
    imbalance: dict[str, tuple[float, float]]


class PartLoads:
    """Computes the loads of parts from a rig at rest."""

    def __init__(self, rig: Rig, model: Model):
        self._rig, self._model = rig, resolve(model).model
        self._frames = set(model.frame_names())

    def at(self, rest: Equilibrium, values: dict[str, float]) -> RestLoads:
        """The loads at `rest`, the position of rest for the `values` of the rig's parameters (``left.fz`` ...)."""
        self._rest, self._outputs = rest, rest.outputs
        self._axes = {body: self._rig.frame(rest, body) for body in self._model.bodies}
        self._found: list[PointLoad] = []
        axial = self._elements()
        self._joints()
        self._road(values)
        axial |= self._rods() | self._legs()
        return RestLoads(tuple(self._found), axial, self._imbalance(values))

    # -- loads of elements -------------------------------------------------------------------------------

    def _joints(self) -> None:
        for name, joint in self._model.joints.items():
            if joint.type == "free":
                continue
            wrench = np.asarray(self._outputs[f"{name}.reaction"])
            ends = (self._body(joint.parent), self._body(joint.child))
            arm = joint.child
            if isinstance(joint, Revolute) and {f"{arm}.front", f"{arm}.rear"} <= self._frames:
                A, B = (self._rig.point(self._rest, f"{arm}.{end}") for end in ("front", "rear"))
                for end, place, force in zip(
                    ("front", "rear"), (A, B), hinge_ends(A, B, wrench), strict=True
                ):
                    self._pair(f"{arm}.{end}", ends, place, force)
                continue
            R, p = self._rig.frame(self._rest, joint.child)
            local = ca.evalf(joint.frame_poses()[1].p).full().ravel()
            self._pair(name, ends, p + R @ local, wrench[:3], wrench[3:])

    def _elements(self) -> dict[str, float]:
        """Add the loads of springs, bushings, links, and points that the vehicle's body holds; return the axial
        forces of elements with two ends."""
        outputs, rest, rig = self._outputs, self._rest, self._rig
        axial: dict[str, float] = {}
        for name, force in self._model.forces.items():
            if isinstance(force, SpringDamper):
                axial[name] = float(outputs[f"{name}.force"])
            elif isinstance(force, Bushing):
                R, p = rig.frame(rest, force.parent)[0], rig.point(rest, force.child)
                parts = [R @ np.asarray(outputs[f"{name}.{what}"]) for what in ("force", "moment")]
                self._pair(name, (self._body(force.parent), self._body(force.child)), p, *parts)
        links: dict[str, Any] = {}
        for name, item in rig.system.model.constraints.items():
            if item.type != "distance" or name not in rest.multipliers:
                continue
            role = dict(rig.roles.sides).get(name.removeprefix("rig.").removesuffix("_lock"))
            force = float(rest.multipliers[name][0])
            if role is not None and role.spring is not None:
                axial[role.spring] += force
            else:
                axial[name], links[name] = force, item
        for name in axial:
            item: Any = links.get(name) or self._model.forces[name]
            ends = [rig.point(rest, frame) for frame in (item.parent, item.child)]
            d = ends[1] - ends[0]
            pull = axial[name] * d / np.linalg.norm(d)
            for frame, place, force in zip((item.parent, item.child), ends, (pull, -pull), strict=True):
                self._add(self._body(frame), name, place, force)
        for name, item in self._model.constraints.items():
            if isinstance(item, DrivePoint) and item.relative_to == GROUND:
                lam = iter(rest.multipliers[name])
                held = [0.0 if part is None else float(next(lam)) for part in (item.x, item.y, item.z)]
                ends = (GROUND, self._body(item.frame))
                self._pair(name, ends, rig.point(rest, item.frame), -np.array(held))
        return axial

    def _road(self, values: dict[str, float]) -> None:
        """Add the loads at contacts and wheel centers, and the forces that hold heights in place of springs."""
        for side, role in self._rig.roles.sides:
            force = np.array([values.get(f"{side}.{key}", 0.0) for key in ("fx", "fy", "fz")])
            moment = np.array([0.0, 0.0, values.get(f"{side}.mz", 0.0)])
            place = self._rig.point(self._rest, role.contact)
            self._add(self._body(role.contact), f"{side}.contact", place, force, moment)
            center = self._rig.point(self._rest, role.wheel_center)
            shaft = np.array([values.get(f"{side}.dx", 0.0), 0.0, 0.0])
            height = self._rest.multipliers.get(f"rig.{side}_height")
            if height is not None:
                shaft[2] += float(height[0])
            if shaft.any():
                self._add(self._body(role.wheel_center), f"{side}.wheel_center", center, shaft)

    def _pair(
        self, name: str, ends: tuple[str, str], place: Vector, force: Vector, moment: Vector | None = None
    ) -> None:
        """Add a force and a moment on the second of two parts, and the opposite load on the first."""
        moment = np.zeros(3) if moment is None else moment
        self._add(ends[1], name, place, force, moment)
        self._add(ends[0], name, place, -force, -moment)

    def _add(self, part: str, name: str, place: Vector, force: Vector, moment: Vector | None = None) -> None:
        moment = np.zeros(3) if moment is None else moment
        R = np.eye(3) if part == GROUND else self._axes[part][0]
        own = BODY if part == GROUND else part
        self._found.append(PointLoad(own, name, place, force, moment, R.T @ force, R.T @ moment))

    # -- loads that follow from others -------------------------------------------------------------------

    def _of(self, part: str) -> list[PointLoad]:
        return [load for load in self._found if load.part == part]

    def _rods(self) -> dict[str, float]:
        """Axial forces of parts that are held at two points: the mean of both ends, along the line between them."""
        found = {}
        for part in self._model.bodies:
            loads = self._of(part)
            if len(loads) != 2 or part in self._held_otherwise():
                continue
            d = loads[1].place - loads[0].place
            size = float(np.linalg.norm(d))
            twisted = [np.abs(load.moment).max() > FREE * (1 + np.abs(load.force).max()) for load in loads]
            if size > 0 and not any(twisted):
                found[part] = float((loads[1].force - loads[0].force) @ d / (2 * size))
        return found

    def _body(self, frame: str) -> str:
        return self._model.split_reference(frame)[0]

    def _held_otherwise(self) -> set[str]:
        """Wheels, which are connected only to their hubs."""
        return {self._body(self._model.joints[hub].child) for hub in self._rig.roles.hubs}

    def _legs(self) -> dict[str, float]:
        """Axial forces of the legs of arms: the force at the ball joint, along the lines to `front` and `rear`.

        The component perpendicular to the plane of the three points, for example due to a spring, bends the arm.
        """
        found = {}
        uprights = [self._body(role.wheel_center) for _, role in self._rig.roles.sides]
        for part in self._model.bodies:
            ends = [f"{part}.front", f"{part}.rear"]
            balls = [
                name
                for name, joint in self._model.joints.items()
                if joint.type == "spherical"
                and {self._body(joint.parent), self._body(joint.child)}
                in [{part, upright} for upright in uprights]
            ]
            if not set(ends) <= self._frames or len(balls) != 1:
                continue
            tip = next(load for load in self._of(part) if load.point == balls[0])
            lines = [self._rig.point(self._rest, end) - tip.place for end in ends]
            E = np.column_stack([line / np.linalg.norm(line) for line in lines])
            pulls = -np.linalg.lstsq(E, tip.force, rcond=None)[0]
            found |= {f"{part}.{end} leg": float(x) for end, x in zip(("front", "rear"), pulls, strict=True)}
        return found

    def _imbalance(self, values: dict[str, float]) -> dict[str, tuple[float, float]]:
        start = self._rig.start
        g = np.array([values.get(key, start[f"rig.{key}"]) for key in ("gx", "gy", "gz")])
        found = {}
        for name, body in self._model.bodies.items():
            R, p = self._axes[name]
            com = p + R @ np.array([float(x) for x in body.com])  # type: ignore[arg-type]
            forces, moments = [-float(body.mass) * g], []  # type: ignore[arg-type]
            for load in self._of(name):
                forces.append(load.force)
                moments.append(load.moment + np.cross(load.place - com, load.force))
            sizes = (np.abs(np.sum(rows, axis=0)).max() if rows else 0.0 for rows in (forces, moments))
            found[name] = tuple(float(size) for size in sizes)
        return found  # type: ignore[return-value]


def hinge_ends(A: Vector, B: Vector, wrench: Vector) -> tuple[Vector, Vector]:
    """The force (3,) N at each end of a hinge, from its wrench (6,) about the front end A.

    Each end carries half of the component along the hinge. With the unit vector u toward the rear end B at the
    distance d, the components perpendicular to the hinge are f_B = n x u / d and f_A = f - f_B.
    """
    f, n = wrench[:3], wrench[3:]
    d = float(np.linalg.norm(B - A))
    u = (B - A) / d
    along = (f @ u) * u
    rear = np.cross(n, u) / d
    return f - along - rear + along / 2, rear + along / 2
