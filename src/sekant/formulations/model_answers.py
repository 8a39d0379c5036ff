"""What the formulations of bodies and joints answer besides their equations: start, switches, failures, contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.formulations.contract import STATED, Inventory
from sekant.formulations.driver_jumps import GivenMotion
from sekant.geometry.spatial import SX
from sekant.model.fields import expressions_of
from sekant.model.quantities import Description
from sekant.model.resolve import parameter_values
from sekant.tables.bound_oracle import BoundOracle

if TYPE_CHECKING:
    from sekant.formulations.equations import Equations

Vector = NDArray[np.float64]
POSITION_FIELDS = ("q0", "position", "orientation")
VELOCITY_FIELDS = ("v0", "velocity", "angular_velocity")
SMALLEST = 1e-14
"""Eigenvalue of the mass matrix, against the largest inertia, that still counts."""


def start_weight(eq: Equations, key: tuple[str, int], velocity: bool) -> float:
    joint = eq.model.joints.get(key[0])
    fields = VELOCITY_FIELDS if velocity else POSITION_FIELDS
    return STATED if joint is not None and set(fields) & joint.model_fields_set else 1.0


# -- switches in time ----------------------------------------------------------------------------------


def time_stops(eq: Equations, begin: float, end: float, values: Mapping[str, Any]) -> list[float]:
    """Of signals and tables of time in forces, drivers, sensors and signals."""
    return _switch_times(eq, eq.timed_items(), begin, end, values)


def _switch_times(
    eq: Equations, items: Sequence[Description], begin: float, end: float, values: Mapping[str, Any]
) -> list[float]:
    model = eq.model
    defaults = {parameter.name: parameter.default for parameter in eq.resolved.parameters}
    given = {
        name: float(np.asarray(value).ravel()[0])
        for name, value in {**defaults, **values}.items()
        if name in model.parameters
    }
    key = ("stops", tuple(map(id, items)), begin, end, *given.items())
    known = eq.recent.get(key)
    if known is not None:
        return known
    constants = parameter_values(model, given)
    stops: set[float] = set()

    def kinks(table: str) -> Sequence[float]:
        return model.tables[table].table(table).kinks.tolist()

    for item in items:
        for _, expression in expressions_of(item):
            for switch in expression.time_switches(constants.keys()):
                stops.update(switch.times(begin, end, constants.__getitem__, kinks))
    for table in eq.given_inputs.values():
        stops.update(x for x in table.kinks.tolist() if begin <= x <= end)
    return eq.recent.put(key, sorted(stops))


def driver_jump(eq: Equations, begin: float, end: float, values: Mapping[str, Any], p: Vector) -> str | None:
    for name, driver in eq.model.drivers.items():
        times = _switch_times(eq, [driver], begin, end, values)
        if not times:
            continue
        motion = eq.recent.once(
            ("driver", name),
            lambda driver=driver: GivenMotion(eq.motion.value(driver.value), eq.t, eq.p, eq.lookups),
        )
        key = ("jump", name, begin, end, *times, motion.concerns(p))
        found = eq.recent.get(key)
        if found is None:
            found = eq.recent.put(key, motion.jump_text(p, times, (begin, end)) or "")
        if found:
            return f"driver '{name}': {found}"
    return None


# -- failures ------------------------------------------------------------------------------------------


def failure(eq: Equations, t: float, q: Vector, v: Vector, z: Vector, p: Vector) -> str:
    """A joint or table beyond its range, or a coordinate without inertia."""
    inputs, given = [eq.t, eq.q, eq.v, eq.z, eq.p], [t, q, v, z, p]
    motion = eq.motion
    coordinates = np.array(eq.lookups.oracle("q_all", inputs, [motion.q_all])(*given)).ravel()
    for link in motion.links:
        fault = link.joint.out_of_range([float(x) for x in coordinates[link.q]])
        if fault:
            return f"joint '{link.joint_name}': {fault}"
    _ = eq.actions  # from here on the tables of all forces are known
    outside = eq.lookups.range_error(inputs, given)
    return str(outside) if outside is not None else singularity(eq, t, q, v, p)


def singularity(eq: Equations, t: float, q: Vector, v: Vector, p: Vector) -> str:
    """The coordinate of a tree that nothing resists."""
    if eq.constraints or not eq.nv:
        return ""
    inertias = eq.recent.once("inertias", lambda: _inertias(eq))
    M, J = inertias(t, q, v, p)
    M = M.reshape(eq.nv, eq.nv)
    if not np.all(np.isfinite(M)):
        return ""
    sizes, vectors = np.linalg.eigh(M)
    if sizes[0] > SMALLEST * max(sizes[-1], np.max(np.abs(J))):
        return ""
    worst = int(np.argmax(np.abs(vectors[:, 0])))
    return (
        f"the mass matrix is singular: nothing resists '{eq.state_names()[1][worst]}' "
        f"(eigenvalues from {sizes[0]:.1e} to {sizes[-1]:.1e}); give the body that it moves a mass, or an "
        "inertia about that axis"
    )


def _inertias(eq: Equations) -> BoundOracle:
    """(t, q, v, p) -> mass matrix, and moments of inertia of all links."""
    moments = ca.vertcat(*[ca.vec(link.inertia.J) for link in eq.motion.links])
    return BoundOracle(eq.lookups.oracle("inertias", [eq.t, eq.q, eq.v, eq.p], [eq.mass_matrix, moments]))


# -- contents ------------------------------------------------------------------------------------------


def inventory(eq: Equations, p: Vector) -> Inventory:
    """The tree of bodies with joints, degrees of freedom and masses."""
    model, motion = eq.model, eq.motion
    counts = ", ".join(
        f"{len(getattr(model, key))} {key}" for key in ("bodies", "joints", "forces", "drivers")
    )
    bodies = [
        {
            "name": link.body,
            "parent": motion.links[link.parent].body if link.parent >= 0 else "ground",
            "joint": link.joint_name,
            "joint_type": link.joint.type,
            "free": len(free),
            "driven": link.joint.nv - len(free),
        }
        for link, free in zip(motion.links, motion.free, strict=True)
    ]
    lists = {key: list(getattr(model, key)) for key in ("forces", "drivers", "sensors", "parameters")}
    total = sum((link.inertia.m for link in motion.links), SX(0))
    mass = float(ca.Function("m", [eq.p], [total])(p))
    blocks = [f"{block.name} ({block.kind}: {block.rows} equations)" for block in eq.constraints]
    lines = (f"model '{model.name}'", *motion.described(p[: motion.p.numel()]), *blocks)
    return Inventory(lines, counts, {"bodies": bodies, **lists}, mass)
