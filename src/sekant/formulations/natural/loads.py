"""Springs, dampers, forces, torques (DERA 2.4, 2.6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from sekant.errors import ModelError
from sekant.formulations.natural.elements import Body
from sekant.formulations.natural.joints import JointedMechanism
from sekant.formulations.natural.point_mechanism import Value
from sekant.formulations.natural.points import Geometric
from sekant.geometry.spatial import SX


class LoadedMechanism(JointedMechanism):
    """Points, bodies, joints and forces."""

    def spring(
        self,
        A: Geometric,
        B: Geometric,
        stiffness: Value,
        length: Value | None = None,
        name: str | None = None,
    ) -> None:
        """A linear spring, `stiffness` N/m, unstretched `length` m (by default that at the start)."""
        self._points(A, B)
        name = self.named(name, self.potentials, "spring")
        self.lines[name] = ("spring", A, B)
        if length is None:
            length = float(np.linalg.norm(self.at_start((B - A).value)))
        arm = B - A
        still = not isinstance(length, ca.SX) and float(length) == 0.0
        square = arm.dot(arm) if still else (arm.length - length) ** 2
        with self.noted("springs", name, ends=[A, B], stiffness=stiffness, length=length):
            self.potential(name, stiffness * square / 2)
        self.outputs[f"{name}.length"] = (arm.length, "m")
        self.outputs[f"{name}.force"] = (stiffness * (arm.length - length), "N")

    def damper(
        self, A: Geometric, B: Geometric, damping: Value, name: str | None = None, isotropic: bool = False
    ) -> None:
        """A linear damper, `damping` N s/m, through Rayleigh's function: along the line between its ends, or, if
        isotropic, against every relative velocity of them."""
        self._points(A, B)
        name = self.named(name, self.rayleigh, "damper")
        self.lines.setdefault(name, ("damper", A, B))
        arm = B - A
        speed = ca.dot(arm.velocity, arm.value) / arm.length
        with self.noted("dampers", name, ends=[A, B], damping=damping, isotropic=isotropic):
            self.dissipation(name, damping * (ca.sumsqr(arm.velocity) if isotropic else speed**2) / 2)
        self.outputs[f"{name}.force"] = (damping * speed, "N")

    def spring_damper(
        self,
        A: Geometric,
        B: Geometric,
        stiffness: Value,
        damping: Value,
        length=None,
        name: str | None = None,
    ) -> None:
        """Both between the same points; called `name` and `name`.damper."""
        name = self.named(name, {**self.potentials, **self.rayleigh}, "strut")
        if length is None:
            length = float(np.linalg.norm(self.at_start((B - A).value)))
        fields = {"stiffness": stiffness, "length": length, "damping": damping}
        with self.noted("springs", name, ends=[A, B], **fields):
            self.spring(A, B, stiffness, length, name)
            self.damper(A, B, damping, f"{name}.damper")

    def angular_damper(
        self, body: Body, damping: Value, against: Body | None = None, name: str | None = None
    ) -> None:
        """A damper on the angular velocity of a body against another one or the ground, N m s/rad."""
        name = self.named(name, self.rayleigh, "angular_damper")
        w = body.angular_velocity - (against.angular_velocity if against else 0)
        with self.noted("angular_dampers", name, body=body, damping=damping, against=against):
            self.dissipation(name, damping * ca.sumsqr(w) / 2)

    def angular_spring(
        self, angle: Value, stiffness: Value, rest: Value = 0.0, name: str | None = None
    ) -> None:
        """A spring on an angle (rad), tracked or computed, N m/rad."""
        name = self.named(name, self.potentials, "angular_spring")
        with self.noted("angular_springs", name, angle=angle, stiffness=stiffness, rest=rest):
            self.potential(name, stiffness * (SX(angle) - rest) ** 2 / 2)

    def angle(self, name: str, of: Body | Geometric, start: Value | None = None) -> SX:
        """The angle (rad) of a body's x axis or a vector from the x axis of W, in the plane, turns counted.

        It is integrated from its rate (DERA 3.2.2, 5.3.1); at the start it is in (-pi, pi], or as given.
        """
        if self.dim != 2:
            raise ModelError(
                f"angle '{name}': in space track a quantity by its rate: track(name, rate, start)"
            )
        x = of.Q[:, 0] if isinstance(of, Body) else of.value
        dx = self.rate(x)
        rate = (x[0] * dx[1] - x[1] * dx[0]) / ca.sumsqr(x)
        with self.noted("angles", name, of=of, start=start):
            return self.track(name, rate, ca.atan2(x[1], x[0]) if start is None else start)

    def force(self, point: Geometric, force: Sequence[Value] | SX, name: str | None = None) -> None:
        """A force (dim,) N in W at a point: numbers or expressions of time, coordinates and velocities."""
        self._points(point)
        name = self.named(name, self.works, "force")
        column = _column(force, self.dim, f"force '{name}'")
        self.works[name] = [(point.velocity, column)]
        self.note("forces", name, at=point, force=list(ca.vertsplit(column)))

    def force_between(self, A: Geometric, B: Geometric, force: Value, name: str | None = None) -> None:
        """A force along the line between two points that pulls them together where positive (N)."""
        self._points(A, B)
        name = self.named(name, self.works, "actuator")
        arm = B - A
        speed = ca.dot(arm.velocity, arm.value) / arm.length
        self.works[name] = [(speed, -SX(force))]
        self.note("actuators", name, ends=[A, B], force=force)

    def torque(self, body: Body, torque: Any, against: Body | None = None, name: str | None = None) -> None:
        """A torque on a body, N m: a number in the plane, (3,) in W in space; the reaction acts on `against`."""
        name = self.named(name, self.works, "torque")
        column = _column(torque, 1 if self.dim == 2 else 3, f"torque '{name}'")
        w = body.angular_velocity - (against.angular_velocity if against else 0)
        self.works[name] = [(w, column)]
        self.note("torques", name, body=body, torque=column, against=against)

    def work(self, name: str, rate: Value, force: Value) -> None:
        """A generalized force on any quantity, by its rate: the power is rate * force."""
        name = self.named(name, self.works, "work")
        self.works[name] = [(SX(rate), SX(force))]
        self.note("works", name, rate=SX(rate), force=SX(force))

    def potential(self, name: str, energy: Value) -> None:
        """Potential energy (J), any expression of coordinates, time and tables."""
        self._new(name, self.potentials, "potential")
        self.potentials[name] = SX(energy)
        self.note("potentials", name, value=SX(energy))

    def dissipation(self, name: str, function: Value) -> None:
        """A dissipation function D (W): the forces are -dD/dv."""
        self._new(name, self.rayleigh, "dissipation")
        self.rayleigh[name] = SX(function)
        self.note("dissipations", name, value=SX(function))


def _column(values: Any, size: int, what: str) -> SX:
    column = ca.vec(values) if isinstance(values, ca.SX) else None
    if column is None:
        entries = values if isinstance(values, (list, tuple, np.ndarray)) else [values]
        column = ca.vertcat(*[SX(entry) for entry in entries])
    if column.numel() != size:
        raise ModelError(f"{what} takes {size} component{'s' if size > 1 else ''} (got {column.numel()})")
    return column
