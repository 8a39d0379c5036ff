"""Kinks of forces at the operating point: the slopes on both sides of it differ, so no linear model describes both
sides."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.assembly.tangent_space import TangentSpace
from sekant.analyses.linear.operating_point import OperatingPoint
from sekant.engine.functions.linear import EquationTangent, LinearFunctions
from sekant.errors import AnalysisWarning

Array = NDArray[np.float64]
STEPS = 1e-6, 1e-7
"""Displacements (m or rad) and velocities (m/s or rad/s) to either side."""
DIFFERENT = 0.01
"""Smallest relative difference of the slopes on both sides that counts as a kink, if it also occurs with the smaller
step."""
NOISE = 1e3 * np.finfo(float).eps
"""Round-off of a force, relative to the largest force in the equations."""


def kinks(
    functions: LinearFunctions, where: OperatingPoint, tangent: EquationTangent
) -> tuple[AnalysisWarning, ...]:
    """A warning for the displacement, and one for the velocity, with the largest kink of the forces along the free
    motions."""
    Z = TangentSpace.of(tangent.G).Z
    if not functions.has_switches or not Z.size:
        return ()
    names, point = functions.system.start_facts.coordinate_of, where.point
    rates = functions.system.state_names[functions.system.nq :]
    sizes = [
        tangent.R_s,
        10.0 * tangent.M,
        point.lam,
    ]  # of forces: at a meter or radian, of weights, of reactions
    least = NOISE * max(float(np.max(np.abs(x), initial=0.0)) for x in sizes) / STEPS[1]
    found = []
    for labels, slopes in zip((names, rates), _slopes(functions, where, Z), strict=True):
        (behind, ahead), (before, after) = slopes
        jump = np.abs(after - before)
        size = np.maximum(np.abs(after), np.abs(before))
        kinked = (jump > np.maximum(DIFFERENT * size, least)) & (jump > 0.5 * np.abs(ahead - behind))
        if kinked.any():
            k, i = np.unravel_index(np.argmax(jump * kinked), jump.shape)
            name = labels[int(np.argmax(np.abs(Z[:, k])))]
            found.append(_warning(name, float(before[k, i]), float(after[k, i])))
    return tuple(found)


def _slopes(functions: LinearFunctions, where: OperatingPoint, Z: Array) -> list[list[tuple[Array, Array]]]:
    """For displacements and velocities, for both steps: slopes (free motions, free motions) behind and ahead."""
    native, retract = functions.differences
    point, f = where.point, Z.shape[1]
    t = np.array([[point.t]])
    q, v, a, lam, p = (x[None, :] for x in (point.q, point.v, point.a, point.lam, point.p))
    found = []
    for displaced in (True, False):
        sides = []
        for step in STEPS:
            changes = step * np.vstack([np.zeros((1, Z.shape[0])), -Z.T, Z.T])
            places = retract.map(q, changes)[0].reshape(len(changes), -1) if displaced else q
            forces = native.map(t, places, v if displaced else v + changes, a, lam, p)[0] @ Z
            here, back, on = forces[0], forces[1 : f + 1], forces[f + 1 :]
            sides.append(((here - back) / step, (on - here) / step))
        found.append(sides)
    return found


def _warning(name: str, below: float, above: float) -> AnalysisWarning:
    return AnalysisWarning(
        "kink",
        name,
        "operating point",
        f"forces have a kink here: their slope is {below:.4g} on one side and {above:.4g} on the other (SI units); "
        "the linear model may have one of these slopes or neither",
        "linearize about a nearby point, or give the law a smooth table (kind 'pchip' or 'cubic')",
    )
