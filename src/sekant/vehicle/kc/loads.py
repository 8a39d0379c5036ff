"""Loads on the members and pick-up points of an axle for named cases: contact loads, or accelerations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.errors import AnalysisWarning, ModelError, warning_lines
from sekant.files import replace_file
from sekant.geometry.spatial import SX, Pose
from sekant.model.constraints import DrivePoint
from sekant.model.explain import read_as
from sekant.model.forces import Bushing, SpringDamper
from sekant.model.joints import Revolute
from sekant.model.model import Model
from sekant.model.resolve import resolve
from sekant.vehicle.hardpoints.components import AxleLoadCase
from sekant.vehicle.hardpoints.description import GivenPoints, hard_points
from sekant.vehicle.kc.contact_loads import ContactLoads
from sekant.vehicle.kc.rig import Rig, loaded_rig
from sekant.vehicle.kc.roles import AxleRoles, axle_of

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LoadTable:
    """Force (3,) N on each member at each of its points, by case, in the vehicle's axes.

    ``left.tie_rod_outer`` and so on: the force that the joint puts on its second part; points of the vehicle's body
    (``on body``): what the body feels. `axial` are forces along rods, springs and links, N, tension positive.
    """

    name: str
    cases: tuple[str, ...]
    forces: dict[str, Vector]
    """point -> (cases, 3)"""
    axial: dict[str, Vector]
    """member -> (cases,)"""
    applied: dict[str, dict[str, float]]
    """case -> loads at the contacts"""
    places: dict[str, Vector] = field(default_factory=dict)
    """point -> where it is as drawn (3,) m"""
    model: Model | None = field(default=None, repr=False)
    warnings: tuple[AnalysisWarning, ...] = ()
    """what was assumed"""

    def envelope(self) -> dict[str, tuple[float, str]]:
        """Point or member -> largest force (N) and its case."""
        found = {}
        for name, values in self.forces.items():
            size = np.linalg.norm(values, axis=1)
            found[name] = (float(size.max()), self.cases[int(size.argmax())])
        for name, values in self.axial.items():
            k = int(np.abs(values).argmax())
            found[f"{name} axial"] = (float(values[k]), self.cases[k])
        return found

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        header = ["point", *(f"{case} {axis} [N]" for case in self.cases for axis in ("Fx", "Fy", "Fz"))]
        rows: list[list[Any]] = [[name, *v.ravel().tolist()] for name, v in self.forces.items()]
        return header, rows

    def to_csv(self, path: str | Path) -> Path:
        header, rows = self.rows()
        lines = [",".join(header)]
        lines += [",".join([row[0], *(f"{x:.9g}" for x in row[1:])]) for row in rows]
        lines += ["", ",".join(["axial, tension positive", *(f"{case} [N]" for case in self.cases)])]
        lines += [",".join([name, *(f"{x:.9g}" for x in v)]) for name, v in self.axial.items()]
        lines += ["", "envelope,force [N],case"]
        lines += [f"{name},{force:.9g},{case}" for name, (force, case) in self.envelope().items()]
        place = Path(path)
        replace_file(place, "\n".join(lines) + "\n")
        return place

    def summary(self) -> str:
        lines = [f"{self.name}, loads on members: largest over {', '.join(self.cases)}"]
        lines += warning_lines(self.warnings)
        lines += [f"  {name:<32}{force:12.1f} N  {case}" for name, (force, case) in self.envelope().items()]
        return "\n".join(lines)


def member_loads(
    given: Model | GivenPoints,
    cases: Mapping[str, AxleLoadCase | dict[str, Any]] | None = None,
    roles: AxleRoles | None = None,
    *,
    wheel_load: float | None = None,
) -> LoadTable:
    """Forces in all joints, springs and bushings under each case, springs locked at their length as drawn.

    `cases` are by default those of the hard points. `wheel_load` (N) is what a wheel carries when the vehicle stands;
    by default `load` of the hard points.
    """
    if cases is None and not isinstance(given, Model):
        given = hard_points(given)
        cases = given.load_cases
    if not cases:
        raise ModelError("member_loads: give at least one case, such as {'bump': {'az': 2.0}}")
    if not isinstance(given, Model):
        given = hard_points(given)
        wheel_load = wheel_load or given.load or None
    model, roles = axle_of(given, roles, compliant=True)
    rig = loaded_rig(model, roles, "spring")
    contacts = ContactLoads(roles, wheel_load, _track(rig))
    rest, forces, axial, applied = None, {}, {}, {}
    warnings: list[AnalysisWarning] = []
    for name, raw in cases.items():
        case = read_as(AxleLoadCase, raw, ("load_cases", name))
        values = contacts.values(name, case)
        applied[name] = values
        warnings += contacts.warnings(name, case)
        found = rig.settle(values, rest)
        rest = rest or found
        at, along = _found(rig, found, model)
        for key, force in at.items():
            forces.setdefault(key, []).append(force)
        for key, force in along.items():
            axial.setdefault(key, []).append(force)
    return LoadTable(
        model.name,
        tuple(cases),
        {key: np.array(rows) for key, rows in forces.items()},
        {key: np.array(rows) for key, rows in axial.items()},
        applied,
        {key: _place(model, key) for key in forces},
        model,
        tuple(warnings),
    )


def _place(model: Model, key: str) -> Vector:
    """Where a point of the table is as drawn, where all bodies but wheels have the vehicle's axes."""
    name = key.removesuffix(" on body")
    resolved = resolve(model).model
    frame = None
    if name in resolved.joints:
        joint = resolved.joints[name]
        p = joint.frame_poses()[1].p
        frame = joint.child
    elif name in resolved.constraints:
        p, frame = SX.zeros(3), getattr(resolved.constraints[name], "frame", None)
    elif name in resolved.forces:
        p, frame = SX.zeros(3), getattr(resolved.forces[name], "parent", None)
    else:
        p, frame = SX.zeros(3), name  # the end of a hinge, a frame of its arm
    body, own = resolved.split_reference(str(frame))
    frames = resolved.ground.frames if body == "ground" else resolved.bodies[body].frames
    X = frames[own].pose() if own else Pose.identity()
    return ca.evalf(X.point(p)).full().ravel()


def _track(rig: Rig) -> float:
    (_, left), (_, right) = rig.wheels(rig.settle()).values()
    return abs(float(left[1] - right[1]))


def _found(rig: Rig, rest: Any, model: Model) -> tuple[dict[str, Vector], dict[str, float]]:
    """Forces (3,) N by joint and pick-up point, and forces along springs, rods and links."""
    system, outputs = rig.system, rest.outputs
    known = set(model.frame_names())
    forces: dict[str, Vector] = {}
    axial: dict[str, float] = {}
    for name, joint in model.joints.items():
        inside_box = name == rig.roles.left.rack and "pitman" in model.joints  # what holds it, its gear takes
        if name in rig.roles.hubs or joint.type == "free" or inside_box:
            continue
        wrench = np.asarray(outputs[f"{name}.reaction"])
        body = joint.parent.partition(".")[0] == "ground"
        if body and isinstance(joint, Revolute) and f"{joint.child}.front" in known:
            forces |= _pick_ups(rig, rest, joint, wrench)
        else:
            forces[f"{name} on body" if body else name] = -wrench[:3] if body else wrench[:3]
    for name, force in model.forces.items():
        if isinstance(force, SpringDamper):
            axial[name] = float(outputs[f"{name}.force"])
        elif isinstance(force, Bushing):
            forces[f"{name} on body" if force.parent.startswith("ground.") else name] = rig.turned(
                rest, force.parent, -np.asarray(outputs[f"{name}.force"])
            )
    for name, item in system.model.constraints.items():
        if item.type != "distance" or name not in rest.multipliers:
            continue
        side = name.removeprefix("rig.").removesuffix("_lock")
        role = dict(rig.roles.sides).get(side)
        if role is not None and role.spring is not None:
            axial[role.spring] += float(rest.multipliers[name][0])
        else:
            axial[name] = float(rest.multipliers[name][0])
    for name, item in model.constraints.items():
        if isinstance(item, DrivePoint) and item.relative_to == "ground":
            lam = iter(rest.multipliers[name])
            held = [0.0 if part is None else float(next(lam)) for part in (item.x, item.y, item.z)]
            forces[f"{name} on body"] = np.array(held)
    for name, force in model.forces.items():
        if isinstance(force, SpringDamper) and force.parent.startswith("ground."):
            d = rig.point(rest, force.child) - rig.point(rest, force.parent)
            forces[f"{name} on body"] = axial[name] * d / np.linalg.norm(d)
    return forces, axial


def _pick_ups(rig: Rig, rest: Any, hinge: Revolute, wrench: Vector) -> dict[str, Vector]:
    """What the vehicle's body feels at the two ends of a hinge; the force along it is shared by halves.

    The wrench (f, n) is about the front point A; with u the unit vector to the rear point B, a distance d away,
    f_B = n x u / d and f_A = f - f_B across the hinge.
    """
    arm = hinge.child
    A, B = (rig.point(rest, f"{arm}.{end}") for end in ("front", "rear"))
    f, n = wrench[:3], wrench[3:]
    d = float(np.linalg.norm(B - A))
    u = (B - A) / d
    along = (f @ u) * u
    rear = np.cross(n, u) / d
    front = f - along - rear
    return {f"{arm}.front on body": -(front + along / 2), f"{arm}.rear on body": -(rear + along / 2)}
