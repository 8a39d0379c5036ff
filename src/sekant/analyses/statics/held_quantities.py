"""Equilibria with held quantities, which temporary constraints keep at their values in the guess, as in `kinematics`.

``body.frame.z`` becomes a driven point, ``spring.length`` and ``distance(a, b)`` a distance constraint, a coordinate
a coupling of ratio zero. The holding force along the quantity is minus the multiplier of the constraint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sekant.analyses.kinematics.quantities import scalar
from sekant.engine.state import State
from sekant.engine.system import System
from sekant.errors import SolverError, suggest
from sekant.formulations.outputs import XYZ
from sekant.model.constraints import Constraint, Coupling, Distance, DrivePoint
from sekant.model.forces import SpringDamper

_DISTANCE = re.compile(r"distance\(\s*([\w.]+)\s*,\s*([\w.]+)\s*\)")


def is_quantity(system: System, name: str) -> bool:
    """Whether `name` is a coordinate of a point, or a length; a constraint can hold these."""
    return _ends(system, name) is not None


def held_system(
    system: System,
    names: Sequence[str],
    at: State,
    t: float,
    parameters: Mapping[str, ArrayLike] | None,
) -> tuple[System, dict[str, str]]:
    """The system with constraints that keep `names` at their values in the state `at`; also constraint -> name."""
    eq, model = system.equations, system.model
    constraints: dict[str, Constraint] = dict(model.constraints)
    rows = {}
    for k, name in enumerate(names):
        if _ends(system, name) is None and name not in system.start_facts.coordinate_of:
            hint = suggest(name, system.start_facts.coordinate_of, "coordinates")
            raise SolverError(f"equilibrium: cannot hold '{name}'; {hint}")
        function = eq.lookups.oracle("held", [eq.t, eq.q, eq.p], [scalar(system, name).expression])
        value = float(np.array(function(t, at.q, system.parameter_vector(parameters, at.held))).ravel()[0])
        key = f"held_{k}"
        constraints[key] = _constraint(system, name, value)
        rows[key] = name
    held = model.changed(constraints=constraints)
    return system.recompiled(held, [parameter.name for parameter in eq.resolved.parameters]), rows


def _ends(system: System, name: str) -> Any:
    """(frame, axis) for a coordinate of a point, (frame, frame) for a length; None for anything else."""
    match, frames = _DISTANCE.fullmatch(name), set(system.model.frame_names())
    if match is not None:
        return match.groups() if set(match.groups()) <= frames else None
    owner, _, part = name.rpartition(".")
    if part in XYZ and owner in frames:
        return owner, part
    force = system.model.forces.get(owner)
    if part == "length" and isinstance(force, SpringDamper):
        return force.parent, force.child
    return None


def _constraint(system: System, name: str, value: float) -> Constraint:
    ends = _ends(system, name)
    if ends is None:
        joint, _, coordinate = name.rpartition(".")
        i = [one.name for one in system.model.joints[joint].coordinates].index(coordinate)
        return Coupling(joint=joint, coordinate=i, driven=joint, driven_coordinate=i, ratio=0.0, offset=value)
    first, second = ends
    if second in XYZ:
        return DrivePoint(frame=first, **{second: value})
    return Distance(parent=first, child=second, length=value)
