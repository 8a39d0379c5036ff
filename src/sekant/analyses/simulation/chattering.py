"""Finds the force element whose switch flips back and forth, for the message."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.engine.system import System
from sekant.formulations.natural.time_stops import switching_arguments
from sekant.formulations.sign_laws import forces_of

ON_SWITCH = 1e-6
"""Largest absolute argument of a sign, abs or comparison at which the state counts as being on the switch."""


def switching_elements(
    system: System,
    t: float,
    x: NDArray[np.float64],
    parameters: Mapping[str, ArrayLike] | None = None,
    near: float = ON_SWITCH,
) -> list[str]:
    """Names of the force elements that have a switch at its threshold at the state x = [q; v; ...], closest first.

    `near`: largest absolute value of a switch's argument that counts as at the threshold.
    """
    eq = system.equations
    found: list[tuple[float, str]] = []
    for name, action in eq.elements.actions.items():
        arguments = switching_arguments(forces_of(action))
        if not arguments:
            continue
        function = system.function(
            f"{name}.switches", [eq.t, eq.q, eq.v, eq.z, eq.p], [ca.vertcat(*arguments)]
        )
        nq, nv = system.nq, system.nv
        q, v, z = x[:nq], x[nq : nq + nv], x[nq + nv : nq + nv + system.nz]
        values = np.abs(function([t], q, v, z, system.parameter_vector(parameters))[0])
        if values.min() <= near:
            found.append((float(values.min()), name))
    return [name for _, name in sorted(found)]
