"""Forces that reverse where a velocity crosses zero, without a sign(...): v/abs(v), if_else(v > 0, ...),
tanh(1e6*v).

They are detected by their effect: where the argument of an absolute value, a comparison or a saturating function is
zero at rest, the force is evaluated slightly on both sides. A force that acts like dry friction has opposite
directions on the two sides, however close they are, and wherever the argument is zero. Laws that only
change their size there, such as an efficiency that differs between driving and braking, do not count, nor do those
that jump only at rest, such as a slip angle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from sekant.geometry.spatial import SX
from sekant.tables.operations import recomputed

if TYPE_CHECKING:
    from sekant.formulations.equations import Equations

JUMPING = {ca.OP_FABS: "abs", ca.OP_LT: "a comparison", ca.OP_LE: "a comparison"}
STEEP = {ca.OP_TANH: "tanh", ca.OP_ATAN: "atan", ca.OP_ERF: "erf"}
NEAR = 1e-7
"""Velocity (m/s or rad/s) on both sides of a jump."""
STEEPEST = 1e-6
"""The same for saturating functions; a function that reverses over a wider range can be integrated."""
BESIDE = 1e3
"""Other velocities, relative to the distance from the jump, at which a law must also jump."""
LEAST = 1e-9
"""Smallest force (N or N m) that counts."""


def turning(forces: SX, eq: Equations) -> tuple[str, float] | None:
    """The function that makes the forces (n,) reverse at rest, and their jump there; None if there is none."""
    inputs = ca.symvar(forces)
    if not inputs or not eq.nv:
        return None
    found = _arguments(forces, eq.v)
    if not found:
        return None
    moving = {x.element_hash() for x in ca.vertsplit(eq.v)}
    others = ca.vertcat(SX.zeros(0, 1), *[x for x in inputs if x.element_hash() not in moving])
    arguments = ca.vertcat(*[argument for argument, _ in found])
    at = ca.Function("at", [eq.v, others], [forces, arguments, ca.jacobian(arguments, eq.v)])
    rest = np.zeros(eq.nv)
    for shift in (0.0, 0.6):
        given = 0.37 + 0.21 * np.arange(others.numel()) + shift
        _, values, slopes = (np.array(x) for x in at(rest, given))
        for k, (_, op) in enumerate(found):
            slope = slopes[k]
            if values[k, 0] != 0.0 or not np.isfinite(slope).all() or not slope.any():
                continue
            along = slope / np.linalg.norm(slope)
            distance = NEAR if op in JUMPING else STEEPEST

            def force(v: np.ndarray, given: np.ndarray = given) -> np.ndarray:
                return np.array(at(v, given)[0]).ravel()

            jump = _turn(force, along, distance)
            if jump and _jumps_beside(force, along, distance, 0.5 * jump):
                return {**JUMPING, **STEEP}[op], jump
    return None


def _turn(force: Callable[[np.ndarray], np.ndarray], along: np.ndarray, distance: float) -> float:
    """Change of a force between velocities at `distance` on both sides of rest, if it reverses and changes
    nearly as much within a tenth of it; else 0."""
    jumps = []
    for d in (distance, 0.1 * distance) if distance == NEAR else (10 * distance, distance):
        above, below = force(d * along), force(-d * along)
        if not np.isfinite([above, below]).all() or float(above @ below) >= 0.0:
            return 0.0
        jumps.append(float(np.linalg.norm(above - below)))
    return jumps[1] if jumps[1] > max(LEAST, 0.5 * jumps[0]) else 0.0


def _jumps_beside(
    force: Callable[[np.ndarray], np.ndarray], along: np.ndarray, distance: float, least: float
) -> bool:
    """Whether a force jumps across the surface on which its argument is zero where other velocities are not zero."""
    others = np.cos(1.0 + 2.0 * np.arange(along.size))
    others -= (others @ along) * along
    if np.linalg.norm(others) < 1e-9:  # there are none
        return True
    for beside in (BESIDE * distance * others, -BESIDE * distance * others):
        if float(np.linalg.norm(force(beside + distance * along) - force(beside - distance * along))) < least:
            return False
    return True


def _arguments(forces: SX, v: SX) -> list[tuple[SX, int]]:
    """Arguments of comparisons, saturating functions and absolute values that depend on velocities."""
    found: list[tuple[SX, int]] = []

    def visit(op: int, operands: list[SX]) -> None:
        argument = operands[0] if len(operands) == 1 else operands[1] - operands[0]
        if ca.depends_on(argument, v):
            found.append((argument, op))

    recomputed(forces, {**JUMPING, **STEEP}, visit)
    return found
