"""Gaps between joints that close loops and the poses that they allow, as numbers and as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.engine.codegen.native import NativeFunction
from sekant.engine.system import System
from sekant.geometry.spatial import SX, Pose, turn
from sekant.model.joints import leader_of
from sekant.tables.bound_oracle import BoundOracle

if TYPE_CHECKING:
    from sekant.formulations.constrained import ConstrainedEquations

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Gap:
    """Distance (m) and angle (rad) between a joint's child frame and the nearest pose that the joint allows."""

    joint: str
    distance: float
    angle: float

    def __str__(self) -> str:
        distance, degrees = (x if x > 1e-12 else 0.0 for x in (self.distance, float(np.degrees(self.angle))))
        return f"{distance:.4g} m and {degrees:.4g} deg from closing"


def misfit(eq: ConstrainedEquations, name: str) -> Pose:
    """Pose of a cut joint's frame M relative to the pose given by the joint's own coordinates.

    The equations that close a loop hold for some poses that the joint does not allow, such as a reversed
    axis; this gap is zero only if the joint is really closed.
    """
    from sekant.formulations.kinematics import relative_pose

    joint = eq.resolved.model.joints[name]
    X_FM = relative_pose(*eq.motion.joint_ends(name))
    if joint.unit_quaternion is not None:  # a ball allows any turn, a free joint any pose
        return Pose(Pose.identity().R, X_FM.p if joint.nv == 3 else SX.zeros(3))
    if name in eq.motion.auxiliary:
        q = eq.motion.auxiliary[name][0]
    elif leader_of(joint) is not None:
        q = ca.vertcat(*[eq.motion.coordinate(name, i)[0] for i in range(joint.nq)])
    else:
        q = joint.measure(X_FM)
    allowed = joint.pose(q, eq.lookups)
    return Pose(ca.densify(allowed.R), allowed.p).inverse() @ X_FM


def gap_function(system: System, interpreted: bool) -> NativeFunction:
    """(t, q, p) -> distance and angle (2 k,) of the gaps of all cut joints."""
    eq = system.equations
    found = [SX.zeros(0, 1)]
    for X in (misfit(eq, name) for name in eq.motion.cuts):
        sine = ca.norm_2(ca.vertcat(X.R[2, 1] - X.R[1, 2], X.R[0, 2] - X.R[2, 0], X.R[1, 0] - X.R[0, 1]))
        found += [ca.norm_2(X.p), ca.atan2(sine, ca.trace(X.R) - 1)]
    return system.function("gaps", [eq.t, eq.q, eq.p], [ca.vertcat(*found)], interpreted=interpreted)


def gap_slopes(system: System) -> BoundOracle:
    """(t, q, p) -> displacements and rotations (6 k,) of all cut joints, and their derivatives (6 k, nv)."""
    eq = system.equations
    found = [misfit(eq, name) for name in eq.motion.cuts]
    rows = ca.vertcat(SX.zeros(0, 1), *[ca.vertcat(X.p, turn(X.R)) for X in found])
    steps = ca.jacobian(eq.qdot, eq.v)  # displacement of the coordinates per unit of the velocities
    slopes = eq.lookups.jacobian(rows, eq.q) @ steps
    return eq.lookups.bound([eq.t, eq.q, eq.p], [rows, ca.densify(slopes)])
