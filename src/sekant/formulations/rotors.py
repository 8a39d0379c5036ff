"""Rotors: bodies on a hinge that look the same at any angle.

A body at the end of a branch, with its center of mass on its hinge's axis z and equal inertia about all axes across
it, has the same inertia in a frame that does not spin as in its own. All recursions can then use that frame,

    X_PM = X_PF ,   S = (0, 0, 1, 0, 0, 0) ,   zeta = V x S v ,

which differ from those of the spinning frame by a rotation about z that does not affect S and the inertia.
The hinge's angle then occurs in no equation, only in requested poses, so wheels and flywheels need neither sine nor
cosine.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from sekant.formulations.tree import Link
from sekant.geometry.spatial import SX
from sekant.model.joints import Revolute

ROUND_OFF = (
    1e-14  # of the largest moment of inertia: rounding error of rotating an inertia into a joint's axes
)


def rotors_of(links: Sequence[Link]) -> frozenset[int]:
    """Indices of the links that are rotors for all values of their parameters."""
    carriers = {link.parent for link in links}
    return frozenset(i for i, link in enumerate(links) if i not in carriers and _is_rotor(link))


def _is_rotor(link: Link) -> bool:
    if type(link.joint) is not Revolute or link.reversed:
        return False
    return all(_is_round(h.ravel(), J) for h, J in _samples(link.inertia.h, link.inertia.J))


def _is_round(h: np.ndarray, J: np.ndarray) -> bool:
    slack = ROUND_OFF * float(np.abs(J).max())
    across = abs(J[0, 0] - J[1, 1]) <= slack and np.abs(J[np.triu_indices(3, 1)]).max() <= slack
    # mass times distance from the axis, relative to the moments of inertia over a meter
    return bool(across and np.abs(h[:2]).max() <= slack)


def _samples(h: SX, J: SX) -> list[tuple[np.ndarray, np.ndarray]]:
    """The values of h and J. If they depend on parameters, the values at some samples of these; entries that agree
    there always agree."""
    symbols = ca.symvar(ca.veccat(h, J))
    function = ca.Function("inertia", [ca.vertcat(SX.zeros(0, 1), *symbols)], [ca.densify(h), ca.densify(J)])
    draws = np.random.default_rng(1).uniform(0.5, 1.5, (2, len(symbols))) if symbols else np.zeros((1, 0))
    found = (function.call([row]) for row in draws)
    return [(np.array(first), np.array(second)) for first, second in found]
