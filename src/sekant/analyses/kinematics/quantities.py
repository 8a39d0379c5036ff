"""Quantities of the position of a mechanism by name, as drives and as results.

Names: ``joint.angle`` or ``joint.q`` (coordinates of joints), ``body.z`` and ``body.frame.z`` (points, in the world),
``body.position``, ``sensor`` and ``sensor.x``, ``spring.length`` and other outputs of force elements at rest,
``distance(body.frame, ground.other)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca

from sekant.engine.system import System
from sekant.errors import ModelError, SekantError, suggest
from sekant.formulations.outputs import XYZ
from sekant.geometry.spatial import SX

_DISTANCE = re.compile(r"\s*distance\s*\(\s*([^,\s]+)\s*,\s*([^,\s]+)\s*\)\s*")


@dataclass(frozen=True)
class SweepQuantity:
    """A quantity of the position. `components`: names of its components, empty for a scalar.

    `periodic`: whether it is a measured angle, which is known only up to full turns.
    """

    name: str
    unit: str
    components: tuple[str, ...]
    periodic: bool

    @property
    def labels(self) -> list[str]:
        """Names of the columns."""
        return [f"{self.name}.{c}" for c in self.components] if self.components else [self.name]


@dataclass(frozen=True)
class Expressed(SweepQuantity):
    """A quantity with its `expression` (k,) in t, q, p."""

    expression: SX

    @property
    def described(self) -> SweepQuantity:
        """The quantity without its expression."""
        return SweepQuantity(self.name, self.unit, self.components, self.periodic)


def find(system: System, name: str) -> Expressed:
    """The quantity `name`; raises a `ModelError` if there is none, or if it depends on more than the position."""
    quantity = _find(system, name)
    if quantity is None:
        hint = suggest(name, list(dict.fromkeys(known_names(system))), "known")
        raise ModelError(f"kinematics: there is no quantity '{name}'; {hint}")
    eq = system.equations
    slope = eq.lookups.jacobian(quantity.expression, eq.v)
    if not ca.sparsify(slope).nnz() == 0:
        raise ModelError(
            f"kinematics: '{name}' depends on velocities, but a sweep computes positions only; for ratios of "
            "velocities, use derivatives with respect to the drive"
        )
    return quantity


def scalar(system: System, name: str) -> Expressed:
    """The scalar quantity `name`; raises a `ModelError` like `find`, and for a quantity with components."""
    quantity = find(system, name)
    if quantity.expression.numel() != 1:
        parts = ", ".join(quantity.labels)
        raise ModelError(f"kinematics: '{name}' has {len(quantity.labels)} components; drive one of {parts}")
    return quantity


def known_names(system: System) -> Iterator[str]:
    """All names except distances."""
    yield from system.equations.reports.quantities()
    model = system.model
    for name, joint in model.joints.items():
        if joint.nv:
            yield from (f"{name}.{c.name}" for c in joint.coordinates)
    for name in model.frame_names():
        if not name.startswith("ground"):
            yield from (f"{name}.{part}" for part in (*XYZ, "position"))
    for name, sensor in model.sensors.items():
        yield name
        yield from (f"{name}.{part}" for part in sensor.components)
    for name, action in system.equations.elements.actions.items():
        yield from (f"{name}.{key}" for key in action.outputs)


def _find(system: System, name: str) -> Expressed | None:
    if name in system.model.sensors:
        sensor = system.model.sensors[name]
        unit, value = system.equations.motion.sensed(name)
        return Expressed(name, unit, sensor.components, unit == "rad", ca.vec(value))
    match = _DISTANCE.fullmatch(name)
    if match:
        p = [_frame(system, reference, name).p for reference in match.groups()]
        return Expressed(name, "m", (), False, ca.norm_2(p[1] - p[0]))
    owner, _, part = name.rpartition(".")
    return (
        _of_joint(system, owner, part, name)
        or _of_frame(system, owner, part, name)
        or _of_force(system, owner, part, name)
        or _named(system, name)
        or _component(system, owner, part, name)
    )


def _frame(system: System, reference: str, name: str):
    try:
        return system.equations.motion.frame(reference)
    except SekantError:
        hint = suggest(reference, system.model.frame_names(), "frames")
        raise ModelError(f"kinematics: '{name}': unknown frame '{reference}'; {hint}") from None


def _of_joint(system: System, owner: str, part: str, name: str) -> Expressed | None:
    joint, motion = system.equations.resolved.model.joints.get(owner), system.equations.motion
    if joint is None:
        return None
    names = [c.name for c in joint.coordinates]
    if part == "q" and "q" not in names:
        chosen = list(range(joint.nq))
    elif part in names:
        chosen = [names.index(part)]
    elif re.fullmatch(r"q\d+", part) and int(part[1:]) < joint.nq:
        chosen = [int(part[1:])]
    else:
        return None
    in_tree = owner in motion.joint_index and owner not in motion.cuts
    if in_tree:
        first = motion.links[motion.joint_index[owner]].q.start
        values = [motion.q_all[first + i] for i in chosen]
    else:
        values = [motion.coordinate(owner, i)[0] for i in chosen]
    units = {joint.coordinates[i].unit for i in chosen}
    components = tuple(names[i] for i in chosen) if len(chosen) > 1 else ()
    unit = units.pop() if len(units) == 1 else ""
    measured = not in_tree and owner not in motion.auxiliary
    return Expressed(name, unit, components, measured and unit == "rad", ca.vertcat(*values))


def _of_frame(system: System, owner: str, part: str, name: str) -> Expressed | None:
    if part not in (*XYZ, "position") or owner not in system.model.frame_names():
        return None
    p = system.equations.motion.frame(owner).p
    if part == "position":
        return Expressed(name, "m", XYZ, False, p)
    return Expressed(name, "m", (), False, p[XYZ.index(part)])


def _of_force(system: System, owner: str, part: str, name: str) -> Expressed | None:
    """Outputs of force elements, with all velocities zero."""
    eq = system.equations
    action = eq.elements.actions.get(owner) if owner in (*system.model.forces, *system.model.joints) else None
    if action is None or part not in action.outputs:
        return None
    unit, value = action.outputs[part]
    still = eq.lookups.substitute(ca.vec(SX(value)), eq.v, SX.zeros(system.nv))
    return Expressed(name, unit, XYZ if still.numel() == 3 else (), False, still)


def _component(system: System, owner: str, part: str, name: str) -> Expressed | None:
    whole = _find(system, owner) if owner else None
    if whole is None or part not in whole.components:
        return None
    value = whole.expression[whole.components.index(part)]
    return Expressed(name, whole.unit, (), whole.periodic, value)


def _named(system: System, name: str) -> Expressed | None:
    """Further quantities of the formulation: coordinates and outputs of mechanisms modeled with points."""
    found = system.equations.reports.quantities().get(name)
    if found is None:
        return None
    unit, components, value = found
    return Expressed(name, unit if isinstance(unit, str) else "", components, False, value)
