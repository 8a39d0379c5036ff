"""Points and vectors as weighted sums of basic ones."""

from __future__ import annotations

import casadi as ca
import numpy as np

from sekant.formulations.natural.points import Geometric
from sekant.geometry.spatial import SX


def combination(item: Geometric) -> dict[str, float] | None:
    """Names of basic points and vectors and the weights with which they add up to the item, if they do."""
    m = item.mechanism
    J = m.lookups.jacobian(item.value, m.y)
    if not J.is_constant():
        return None
    weights = np.array(ca.DM(J))
    found, left = {}, weights.copy()
    for i, c in enumerate(m.coordinates):
        owner, _, axis = c.name.rpartition(".")
        if axis == "x" and owner in m.geometry and weights[0, i]:
            found[owner] = float(weights[0, i])
            left[:, i : i + m.dim] -= weights[0, i] * np.eye(m.dim)
    rest = ca.substitute(
        item.value, m.y, SX.zeros(m.y.numel())
    )  # constant, or a function of time or parameters
    return found if found and not left.any() and rest.is_constant() and rest.is_zero() else None
