"""Reports of a model with bodies and joints: outputs, contents, drawing, why a motion cannot continue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.errors import counted
from sekant.formulations.contract import Inventory, RangeExit
from sekant.formulations.outputs import Output, model_outputs
from sekant.formulations.scene import model_scene
from sekant.geometry.spatial import SX
from sekant.model.resolve import BodyCheck
from sekant.model.scene import Scene
from sekant.tables.bound_oracle import BoundOracle

if TYPE_CHECKING:
    from sekant.formulations.equations import Equations

Vector = NDArray[np.float64]
SMALLEST = 1e-14
"""Smallest eigenvalue of the mass matrix, relative to the largest inertia, that counts as inertia."""

NARROW = 1e-4
"""Margin of a force law below which the end of a motion is attributed to it."""


@dataclass(frozen=True, eq=False)
class TreeSingularity:
    """The coordinate of a tree that nothing resists. `names`: of the velocities; `inertias`: (t, q, v, p) ->
    margin that is positive only if nothing is singular, mass matrix and largest moment of inertia of a link;
    None if there are no velocities."""

    names: tuple[str, ...]
    inertias: BoundOracle | None

    def __call__(self, t: float, q: Vector, v: Vector, p: Vector) -> str:
        if self.inertias is None:
            return ""
        margin, M, largest = self.inertias(t, q, v, p)
        if margin[0] > 0.0:
            return ""
        M, largest = M.reshape(v.size, v.size), float(largest[0])
        if not np.isfinite(M).all():
            return ""
        sizes = np.linalg.eigvalsh(M)
        if sizes[0] > SMALLEST * max(sizes[-1], largest):
            return ""
        vectors = np.linalg.eigh(M)[1]
        worst = int(np.argmax(np.abs(vectors[:, 0])))
        return (
            f"the mass matrix is singular: nothing resists '{self.names[worst]}' "
            f"(eigenvalues from {sizes[0]:.1e} to {sizes[-1]:.1e}); give its body a mass, or an inertia about "
            "that axis"
        )


class ModelReports:
    """Reports of a model with bodies and joints."""

    def __init__(self, eq: Equations):
        self._eq = eq

    def outputs(self, work: SX) -> tuple[Output, ...]:
        return model_outputs(self._eq, work)

    def quantities(self) -> Mapping[str, tuple[str | tuple[str, ...], tuple[str, ...], SX]]:
        """No further quantities: all belong to joints, frames, sensors and forces."""
        return {}

    @property
    def check(self) -> BodyCheck:
        return self._eq.stated_model.check

    def scene(self, p: Vector) -> Scene:
        stated = self._eq.stated_model
        return model_scene(stated.model, stated.p, np.asarray(p, float)[: stated.p.numel()])

    def left_range(self, t: float, q: Vector, v: Vector, z: Vector, p: Vector) -> RangeExit | None:
        """The joint that is beyond its range, by a coordinate of the tree or its own state, or the table."""
        eq = self._eq
        inputs, given = [eq.t, eq.q, eq.v, eq.z, eq.p], [t, q, v, z, p]
        motion = eq.motion
        coordinates = np.array(eq.lookups.oracle("q_all", inputs, [motion.q_all])(*given)).ravel()
        for link in motion.links:
            fault = link.joint.out_of_range([float(x) for x in coordinates[link.q]])
            if fault:
                return RangeExit.of(f"joint '{link.joint_name}': {fault}")
        places = {eq.q[i].name(): i for i in range(q.size)}
        for name, joint in eq.model.joints.items():
            own = [f"{name}.q{k}" for k in range(joint.nq)]
            fault = (
                joint.out_of_range([float(q[places[x]]) for x in own]) if places.keys() >= set(own) else ""
            )
            if fault:
                return RangeExit.of(f"joint '{name}': {fault}")
        _ = eq.elements.actions  # from here on the tables of all forces are known
        outside = eq.lookups.range_error(inputs, given)
        return None if outside is None else RangeExit.of(str(outside))

    def failure(self, t: float, q: Vector, v: Vector, z: Vector, p: Vector) -> str:
        """The joint or table beyond its range, the law without a margin left, or the coordinate without inertia."""
        eq = self._eq
        inputs, given = [eq.t, eq.q, eq.v, eq.z, eq.p], [t, q, v, z, p]
        left = self.left_range(*given) or eq.lookups.failed_function(inputs, given)
        if left is not None:
            return str(left)
        for name, action in eq.elements.actions.items():
            for text, margin in action.margins.items():
                if abs(float(eq.lookups.oracle("margin", inputs, [margin])(*given))) < NARROW:
                    return f"'{name}': {text}"
        return self.singularity(t, q, v, p)

    @cached_property
    def singularity(self) -> TreeSingularity:
        eq = self._eq
        if eq.constraints or not eq.nv:
            return TreeSingularity((), None)
        M = ca.densify(eq.mass_matrix)
        largest = ca.mmax(ca.fabs(ca.vertcat(*[ca.vec(link.inertia.J) for link in eq.motion.links])))
        # by Gershgorin's circles no eigenvalue is below the first of these, and none beyond the second
        rows = ca.sum2(ca.fabs(M))
        least, most = ca.mmin(2 * ca.diag(M) - rows), ca.mmax(rows)
        margin = least - SMALLEST * ca.fmax(most, largest)
        inertias = eq.lookups.bound([eq.t, eq.q, eq.v, eq.p], [margin, M, largest])
        return TreeSingularity(tuple(eq.motion.state_names()[1]), inertias)

    def inventory(self, p: Vector) -> Inventory:
        """The tree of bodies with joints, degrees of freedom and masses."""
        eq = self._eq
        model, motion = eq.model, eq.motion
        counts = ", ".join(
            counted(len(getattr(model, key)), key) for key in ("bodies", "joints", "forces", "motions")
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
        lists = {key: list(getattr(model, key)) for key in ("forces", "motions", "sensors", "parameters")}
        total = sum((link.inertia.m for link in motion.links), SX(0))
        mass = float(ca.Function("m", [eq.p], [total])(p))
        blocks = [f"{block.name} ({block.kind}: {block.rows} equations)" for block in eq.constraints]
        lines = (f"model '{model.name}'", *motion.described(p[: motion.p.numel()]), *blocks)
        return Inventory(lines, counts, {"bodies": bodies, **lists}, mass)
