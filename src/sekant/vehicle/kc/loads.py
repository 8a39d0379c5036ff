"""Loads on the members and pick-up points of an axle in load cases of contact loads or accelerations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.statics.equilibrium import Equilibrium
from sekant.errors import AnalysisWarning, ModelError, SolverError, warning_lines
from sekant.files import write_lines
from sekant.geometry.spatial import SX
from sekant.model.explain import read_as
from sekant.model.forces import Bushing
from sekant.model.model import Model
from sekant.model.resolve import resolve
from sekant.progress_bar import through
from sekant.vehicle.curves.frames import frame_pose
from sekant.vehicle.hardpoints.components import AxleLoadCase
from sekant.vehicle.hardpoints.description import GivenPoints, hard_points
from sekant.vehicle.kc.contact_loads import ContactLoads
from sekant.vehicle.kc.part_loads import BODY, PartLoads, RestLoads
from sekant.vehicle.kc.rig import Rig, Support, loaded_rig
from sekant.vehicle.kc.roles import AxleRoles, axle_of

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LoadTable:
    """Forces (3,) N at the points of members in each case, in the vehicle's axes.

    At a point such as ``left.tie_rod_outer``, it is the force that the joint exerts on its second part; at a point of
    the vehicle's body (``on body``), it is the force on the body. `axial` contains the forces along rods, springs and
    links, N, positive in tension.
    """

    name: str
    cases: tuple[str, ...]
    forces: dict[str, Vector]
    """point -> forces (cases, 3)"""
    axial: dict[str, Vector]
    """member -> axial forces (cases,)"""
    applied: dict[str, dict[str, float]]
    """case -> applied loads by name"""
    places: dict[str, Vector] = field(default_factory=dict)
    """point -> position as drawn (3,) m"""
    model: Model | None = field(default=None, repr=False)
    warnings: tuple[AnalysisWarning, ...] = ()
    """warnings about assumptions"""
    loads: dict[str, RestLoads] = field(default_factory=dict, repr=False)
    """case -> loads on all parts at all points"""

    def envelope(self) -> dict[str, tuple[float, str]]:
        """Point or member -> largest force (N), and the case in which it occurs."""
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
        """Write a CSV file with one row for each part, point and case."""
        return write_loads({"": self}, path)

    def summary(self) -> str:
        lines = [f"{self.name}, loads on members: largest forces over the cases {', '.join(self.cases)}"]
        lines += warning_lines(self.warnings)
        lines += [f"  {name:<32}{force:12.1f} N  {case}" for name, (force, case) in self.envelope().items()]
        return "\n".join(lines)


COLUMNS = (
    *("case", "axle", "part", "point", "x [mm]", "y [mm]", "z [mm]"),
    *("Fx [N]", "Fy [N]", "Fz [N]", "Mx [N*m]", "My [N*m]", "Mz [N*m]"),
    *("own Fx [N]", "own Fy [N]", "own Fz [N]", "own Mx [N*m]", "own My [N*m]", "own Mz [N*m]"),
    "axial [N]",
)
"""Columns of the CSV file: force and moment on the part in vehicle axes and in the part's axes. Rows whose point is
`axial` contain axial forces of members, positive in tension."""


def write_loads(tables: Mapping[str, LoadTable], path: str | Path) -> Path:
    """Write a CSV file of the loads of axles, given by name, with one row for each part, point and case."""
    lines = [",".join(COLUMNS)]
    for axle, table in tables.items():
        for case, found in table.loads.items():
            for load in found.points:
                numbers = (1e3 * load.place, load.force, load.moment, load.own_force, load.own_moment)
                text = ",".join(f"{x:.12g}" for part in numbers for x in part)
                lines.append(f"{case},{axle},{load.part},{load.point},{text},")
            empty = "," * (len(COLUMNS) - 4)
            lines += [f"{case},{axle},{name},axial{empty}{x:.12g}" for name, x in found.axial.items()]
    return write_lines(path, lines)


def write_envelope(tables: Mapping[str, LoadTable], path: str | Path) -> Path:
    """Write a CSV file of the largest force at every point and member over all cases."""
    lines = ["axle,point or member,force [N],case"]
    for axle, table in tables.items():
        lines += [f"{axle},{name},{force:.12g},{case}" for name, (force, case) in table.envelope().items()]
    return write_lines(path, lines)


def member_loads(
    given: Model | GivenPoints,
    cases: Mapping[str, AxleLoadCase | dict[str, Any]] | None = None,
    roles: AxleRoles | None = None,
    *,
    wheel_load: float | None = None,
) -> LoadTable:
    """Forces in all joints, springs, links and bushings in each load case, at the equilibrium of the suspension.

    By default, `cases` are the load cases of the hard points. ``hold: springs`` in a case locks the springs at their
    length as drawn, as for an axle without springs. `wheel_load` (N) is the load of a wheel at rest, by default
    `load` of the hard points.
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
    return axle_loads_of(model, roles, wheel_load, cases)


def axle_loads_of(
    model: Model,
    roles: AxleRoles,
    wheel_load: float | None,
    cases: Mapping[str, AxleLoadCase | dict[str, Any]],
) -> LoadTable:
    """The table of `member_loads` for a model."""
    rigs = LoadedRigs(model, roles)
    contacts = ContactLoads(roles, wheel_load, rigs.track)
    found: dict[str, RestLoads] = {}
    applied: dict[str, dict[str, float]] = {}
    warnings: list[AnalysisWarning] = []
    for name, raw in through(cases.items()):
        case = read_as(AxleLoadCase, raw, ("load_cases", name))
        applied[name] = contacts.values(name, case)
        warnings += contacts.warnings(name, case)
        found[name] = rigs.loads(name, applied[name], case.hold)
    return load_table(model, roles, found, applied, tuple(warnings))


class LoadedRigs:
    """The axle on a rig with free springs and on a rig with locked springs. A rig is built when a case requires
    it."""

    def __init__(self, model: Model, roles: AxleRoles):
        self.model, self.roles = model, roles
        self._made: dict[Support, tuple[Rig, PartLoads]] = {}
        self._last: dict[Support, Equilibrium] = {}

    def _rig(self, hold: str | None) -> tuple[Support, Rig, PartLoads]:
        springs = all(role.spring in self.model.forces for _, role in self.roles.sides)
        support: Support = "free" if hold is None and springs else "spring"
        if support not in self._made:
            rig = loaded_rig(self.model, self.roles, support)
            self._made[support] = (rig, PartLoads(rig, self.model))
        return support, *self._made[support]

    @cached_property
    def track(self) -> float:
        """Track as drawn, m."""
        _, rig, _ = self._rig("springs")
        (_, left), (_, right) = rig.wheels(rig.settle()).values()
        return abs(float(left[1] - right[1]))

    def contacts(self) -> tuple[Vector, Vector]:
        """Contact points (3,) m of the left and the right wheel as drawn."""
        _, rig, _ = self._rig("springs")
        rest = rig.settle()
        left, right = (rig.point(rest, role.contact) for _, role in self.roles.sides)
        return left, right

    def rest(self, name: str, values: Mapping[str, float], hold: str | None) -> Equilibrium:
        """The rest position in a case."""
        support, rig, _ = self._rig(hold)
        try:
            rest = rig.settle(values, self._last.get(support))
        except SolverError as error:
            if support != "free":
                raise
            raise SolverError(
                f"load case '{name}': the axle has no equilibrium under the loads ({error.message}); check the "
                "stops, and the stiffness and preload of the springs, or set hold: springs, which locks the "
                "springs as drawn"
            ) from None
        # every case starts from the first rest position, because the result depends on the start
        self._last.setdefault(support, rest)
        return rest

    def heights(self, rest: Equilibrium, hold: str | None) -> dict[str, float]:
        """Heights (m) of the wheels' centers by side."""
        _, rig, _ = self._rig(hold)
        return {side: float(p[2]) for side, (_, p) in rig.wheels(rest).items()}

    def loads(self, name: str, values: dict[str, float], hold: str | None) -> RestLoads:
        """The loads of all parts in a case."""
        rest = self.rest(name, values, hold)
        return self._rig(hold)[2].at(rest, values)


def load_table(
    model: Model,
    roles: AxleRoles,
    found: Mapping[str, RestLoads],
    applied: dict[str, dict[str, float]],
    warnings: tuple[AnalysisWarning, ...] = (),
) -> LoadTable:
    """The table of an axle from its loads by case."""
    forces: dict[str, list[Vector]] = {}
    axial: dict[str, list[float]] = {}
    for loads in found.values():
        for key, force in _by_point(model, roles, loads).items():
            forces.setdefault(key, []).append(force)
        for key, pull in loads.axial.items():
            axial.setdefault(key, []).append(pull)
    return LoadTable(
        model.name,
        tuple(found),
        {key: np.array(rows) for key, rows in forces.items()},
        {key: np.array(rows) for key, rows in axial.items()},
        applied,
        {key: _place(model, key) for key in forces},
        model,
        warnings,
        dict(found),
    )


def _by_point(model: Model, roles: AxleRoles, loads: RestLoads) -> dict[str, Vector]:
    """One force (3,) per point: on the vehicle's body at points of the body, otherwise on the second part of the
    joint."""
    # inside a steering box, the gear takes the force on the rack
    inside_box = roles.left.rack if "pitman" in model.joints else None
    found: dict[str, Vector] = {}
    for load in loads.points:
        joined = load.point in model.joints or isinstance(model.forces.get(load.point), Bushing)
        if load.point in roles.hubs or load.point == inside_box:
            continue
        if load.part == BODY:
            found.pop(load.point, None)
            found[f"{load.point} on body"] = load.force
        elif joined and f"{load.point} on body" not in found:
            found.setdefault(load.point, load.force)
    return found


def _place(model: Model, key: str) -> Vector:
    """Position of a point of the table as drawn, in vehicle axes."""
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
    return ca.evalf(frame_pose(resolved, str(frame)).point(p)).full().ravel()
