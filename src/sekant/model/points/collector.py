"""A mechanism modeled with points, built call by call: a collector of the items of `sekant.model.points`.

Each method adds one item. Points, vectors and bodies come back as handles whose components are symbols named
as in files (`A.x`, `A.vx`, `arm.w`), so that Python expressions and texts mean the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.model.explain import read_as
from sekant.model.points import constraints, joints, loads, masses, motions, places
from sekant.model.points.geometric import Geometric
from sekant.model.points.item_collector import BodyHandle, ItemCollector, Place, Value


class Collector(ItemCollector):
    """Items by section and name. `gravity`: (dim,) m/s^2 in W. Numbers without a unit are in SI units.

    Bodies that share a point are connected there by a ball joint, or in the plane by a hinge. In space, bodies that
    share a point and a vector are connected by a hinge. Parameters made by `parameter` can be set for each run.
    """

    # -- points and vectors ----------------------------------------------------------------------------

    def point(
        self,
        name: str,
        position: Place,
        free: str | None = None,
        velocity: Place | None = None,
        weight: float = 1.0,
    ) -> Geometric:
        """A moving point with its approximate position (m) and velocity (m/s) at the start; see `places.Point`."""
        at = self._components(name, position)
        self.add(name, places.Point, at=at, free=free, velocity=velocity, weight=weight)
        return self._handle(name, 1.0)

    def vector(
        self, name: str, value: Place, free: str | None = None, rate: Place | None = None, weight: float = 1.0
    ) -> Geometric:
        """A vector that may rotate, with its components and their rates (1/s) at the start."""
        self.add(
            name, places.FreeVector, value=self._components(name, value), free=free, rate=rate, weight=weight
        )
        return self._handle(name, 0.0)

    def prescribe(self, point: Geometric, **components: Value) -> None:
        """Prescribe components of a basic point or vector as functions of time, e.g. ``y="0.01*sin(t)"``."""
        name = self._name(point)
        old = self.items.setdefault("prescribed", {}).get(name)
        fields = {} if old is None else dict(old.components)  # type: ignore[attr-defined]
        path = ("natural", "prescribed", name)
        self.items["prescribed"][name] = read_as(places.Prescribed, fields | components, path)

    def track(self, name: str, rate: Value, start: Value = 0.0) -> SX:
        """A quantity that is integrated from its rate (DERA 3.2.2); `start`: a number or an expression of the
        coordinates."""
        self.add(name, motions.Tracked, rate=rate, start=start)
        return self._scalar(name)

    def angle(self, name: str, of: BodyHandle | Geometric, start: Value | None = None) -> SX:
        """In the plane, the angle (rad) from the x axis of W to a body's x axis or to a vector; full turns count."""
        self.add(name, motions.Angle, of=self._name(of), start=start)
        return self._scalar(name)

    # -- parts with mass -------------------------------------------------------------------------------

    def mass(self, point: Geometric, mass: Value, name: str | None = None) -> masses.PointMass:
        """A point mass (kg)."""
        at = self._name(point, True)
        return self.add(
            self.named(name, f"mass_{at}" if point.name else "mass"), masses.PointMass, at=at, mass=mass
        )

    def rod(
        self,
        A: Geometric,
        B: Geometric,
        mass: Value = 0.0,
        length: Value | None = None,
        inertia: Value | None = None,
        name: str | None = None,
        rigid: bool = True,
    ) -> masses.Rod:
        """A straight rod between two points; see `masses.Rod`."""
        name, ends = self._between(A, B, name, "rod")
        return self.add(name, masses.Rod, ends=ends, mass=mass, length=length, inertia=inertia, rigid=rigid)

    def body(
        self,
        name: str,
        frame: Sequence[Geometric],
        mass: Value = 0.0,
        com: Place | None = None,
        inertia: Any = 0.0,
        rigid: bool = True,
        lengths: Place | None = None,
    ) -> BodyHandle:
        """A rigid body in a local frame of points; see `masses.PointBody`."""
        if len(frame) != self.dim:
            raise ModelError(
                f"body '{name}': the frame must consist of {self.dim} points or vectors (got {len(frame)})"
            )
        names = tuple(self._name(entry) for entry in frame)
        fields = {"mass": mass, "com": com, "inertia": inertia, "rigid": rigid, "lengths": lengths}
        self.add(name, masses.PointBody, frame=names, **fields)
        return BodyHandle(self, name)

    def _between(
        self, A: Geometric, B: Geometric, name: str | None, stem: str, both: bool = True
    ) -> tuple[str, tuple]:
        ends = self._name(A, True), self._name(B, True)
        return self.named(name, f"{A.name}{B.name}" if both and A.name and B.name else stem), ends

    # -- equations -------------------------------------------------------------------------------------

    def distance(
        self, A: Geometric, B: Geometric, length: Value | None = None, name: str | None = None
    ) -> None:
        """A distance between two points: a rod without mass."""
        name, ends = self._between(A, B, name, "distance")
        self.add(name, masses.PointDistance, ends=ends, length=length)

    def constrain(self, name: str, expression: Value, text: str = "", unit: str = "J") -> None:
        """Any equation expression = 0 of coordinates and time."""
        self.add(name, constraints.Equation, value=expression, text=text, unit=unit)

    def constrain_velocity(self, name: str, expression: Value, text: str = "") -> None:
        """Any equation expression = 0 that is linear in the velocities (non-holonomic)."""
        self.add(name, constraints.VelocityEquation, value=expression, text=text)

    def perpendicular(self, u: Geometric, w: Geometric, name: str | None = None) -> None:
        """Keeps two vectors perpendicular."""
        stem = f"{u.name}_{w.name}" if u.name and w.name else "perpendicular"
        self.add(self.named(name, stem), constraints.Perpendicular, vectors=(self._name(u), self._name(w)))

    def on_line(
        self, point: Geometric, through: Geometric, along: Geometric, name: str | None = None
    ) -> None:
        """A point that slides along the line through another point with the direction of the vector `along`."""
        names = self._name(point, True), self._name(through, True), self._name(along, False)
        fields = dict(zip(("point", "through", "along"), names, strict=True))
        self.add(
            self.named(name, f"{point.name}_line" if point.name else "line"), constraints.OnLine, **fields
        )

    def revolute(
        self, first: Any, second: Any, at: Place, axis: Place | None = None, name: str | None = None
    ):
        """A hinge at a position in W, in space about an axis."""
        self._joint(joints.PlacedRevolute, name, first, second, at=at, axis=axis)

    def spherical(self, first: Any, second: Any, at: Place, name: str | None = None) -> None:
        """A ball joint at a position in W."""
        self._joint(joints.PlacedSpherical, name, first, second, at=at)

    def cylindrical(self, first: Any, second: Any, at: Place, axis: Place, name: str | None = None) -> None:
        """A joint that slides along and turns about an axis (space only)."""
        self._joint(joints.PlacedCylindrical, name, first, second, at=at, axis=axis)

    def prismatic(self, first: Any, second: Any, at: Place, axis: Place, name: str | None = None) -> None:
        """A joint that slides along an axis without turning."""
        self._joint(joints.PlacedPrismatic, name, first, second, at=at, axis=axis)

    def universal(
        self, first: Any, second: Any, at: Place, axis: Place, other: Place, name: str | None = None
    ) -> None:
        """A universal joint: `axis` on the first body stays perpendicular to `other` on the second body."""
        self._joint(joints.PlacedUniversal, name, first, second, at=at, axis=axis, other=other)

    def _joint(
        self, cls: type[joints.PlacedJoint], name: str | None, first: Any, second: Any, **places: Any
    ) -> None:
        ends = ["ground" if body is None else self._name(body) for body in (first, second)]
        if self.dim not in cls.dims:
            raise ModelError(f"a {cls.type} joint requires a spatial mechanism (dim=3)")
        self.add(self.named(name, f"{ends[0]}_{ends[1]}"), cls, first=ends[0], second=ends[1], **places)

    def rolling(
        self,
        body: BodyHandle,
        center: Geometric,
        radius: Value,
        axis: Geometric | None = None,
        plane: Place | None = None,
        normal: Place | None = None,
        name: str | None = None,
    ) -> None:
        """A disc or ball that rolls on a fixed plane without slip; see `constraints.RollingDisc`."""
        fields = {
            "radius": radius,
            "axis": None if axis is None else self._name(axis),
            "plane": plane,
            "normal": normal,
        }
        name = self.named(name, f"{body.name}_rolls")
        self.add(name, constraints.RollingDisc, body=body.name, center=self._name(center, True), **fields)

    def no_slip(self, point: Geometric, across: Geometric, name: str | None = None) -> None:
        """A knife edge, whose point does not move along the vector `across`."""
        name = self.named(name, f"{point.name}_edge" if point.name else "edge")
        self.add(name, constraints.Edge, point=self._name(point, True), across=self._name(across, False))

    def drive(self, name: str, quantity: Value, value: Value) -> None:
        """Prescribe any quantity of the coordinates as a function of time; the multiplier gives the force needed."""
        self.add(name, motions.Drive, quantity=quantity, value=value)

    def motor(self, name: str, body: BodyHandle | Geometric, angle: Value, axis: Place | None = None) -> None:
        """Turn a body's x axis, or a vector, by an angle (rad, of time) from its direction at the start."""
        self.add(name, motions.Motor, turn=self._name(body), angle=angle, axis=axis)

    # -- forces and outputs -------------------------------------------------------------------

    def spring(
        self,
        A: Geometric,
        B: Geometric,
        stiffness: Value,
        length: Value | None = None,
        name: str | None = None,
    ) -> None:
        """A linear spring, `stiffness` N/m, with the free `length` in m (by default its length at the start)."""
        name, ends = self._between(A, B, name, "spring", both=False)
        self.add(name, loads.PointSpring, ends=ends, stiffness=stiffness, length=length)

    def spring_damper(
        self,
        A: Geometric,
        B: Geometric,
        stiffness: Value,
        damping: Value,
        length: Value | None = None,
        name=None,
    ) -> None:
        """A spring and a damper between the same points; the damper is named `name`.damper."""
        name, ends = self._between(A, B, name, "strut", both=False)
        self.add(name, loads.PointSpring, ends=ends, stiffness=stiffness, length=length, damping=damping)

    def damper(
        self, A: Geometric, B: Geometric, damping: Value, name: str | None = None, isotropic: bool = False
    ) -> None:
        """A linear damper, `damping` N s/m, along the line between its ends, or isotropic."""
        name, ends = self._between(A, B, name, "damper", both=False)
        self.add(name, loads.PointDamper, ends=ends, damping=damping, isotropic=isotropic)

    def angular_damper(
        self, body: BodyHandle, damping: Value, against: BodyHandle | None = None, name: str | None = None
    ) -> None:
        """A damper on the angular velocity of a body relative to another one or the ground, N m s/rad."""
        fields = {"body": body.name, "damping": damping, "against": against.name if against else None}
        self.add(self.named(name, "angular_damper"), loads.AngularDamper, **fields)

    def angular_spring(
        self, angle: Value, stiffness: Value, rest: Value = 0.0, name: str | None = None
    ) -> None:
        """A spring on an angle (rad) that is tracked or computed; `stiffness` in N m/rad."""
        self.add(
            self.named(name, "angular_spring"),
            loads.AngularSpring,
            angle=angle,
            stiffness=stiffness,
            rest=rest,
        )

    def force(self, point: Geometric, force: Sequence[Value] | SX, name: str | None = None) -> None:
        """A force (dim,) N in W at a point: numbers or expressions of time, coordinates and velocities."""
        self.add(self.named(name, "force"), loads.ForceAtPoint, at=self._name(point, True), force=force)

    def force_between(self, A: Geometric, B: Geometric, force: Value, name: str | None = None) -> None:
        """A force along the line between two points that pulls them together where positive (N)."""
        name, ends = self._between(A, B, name, "actuator", both=False)
        self.add(name, loads.ForceBetween, ends=ends, force=force)

    def torque(
        self, body: BodyHandle, torque: Any, against: BodyHandle | None = None, name: str | None = None
    ) -> None:
        """A torque on a body, N m: a number in the plane, (3,) in W in space; the reaction acts on `against`."""
        fields = {"body": body.name, "torque": torque, "against": against.name if against else None}
        self.add(self.named(name, "torque"), loads.BodyTorque, **fields)

    def work(self, name: str, rate: Value, force: Value) -> None:
        """A generalized force that acts on a quantity with the given rate. The power is `rate` times `force`."""
        self.add(name, loads.Work, rate=rate, force=force)

    def potential(self, name: str, energy: Value) -> None:
        """Potential energy (J), any expression of coordinates, time and tables."""
        self.add(name, loads.Potential, value=energy)

    def dissipation(self, name: str, function: Value) -> None:
        """A dissipation function D (W): the forces are -dD/dv."""
        self.add(name, loads.Dissipation, value=function)

    def output(self, name: str, expression: Value, unit: str = "", derivatives: int = 0) -> None:
        """A quantity to report, with its time derivatives ``name.rate``, ``name.rate2``, ... up to an order."""
        self.add(name, loads.ReportedOutput, value=expression, unit=unit, derivatives=derivatives)

    def tables(self, tables: Mapping[str, Any]) -> None:
        """Tables (`sekant.model.table.TableData`) that expressions may call by name."""
        self._tables |= tables
