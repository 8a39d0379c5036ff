"""Rotors: bodies on a hinge that look the same however far they have turned.

A body at the end of a branch, with its center of mass on its hinge's axis z and equal inertia about all axes across
it, has in a frame that does not turn the inertia that it has in its own. All recursions may then be carried out in
that frame,

    X_PM = X_PF ,   S = (0, 0, 1, 0, 0, 0) ,   zeta = V x S v ,

which are those of the turning frame but for a rotation about z that S and the inertia do not see. The hinge's angle
stands in no equation any more, only in poses that are asked for: wheels and flywheels cost neither sine nor cosine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sekant.formulations.tree import Link
from sekant.geometry.spatial import SX
from sekant.model.joints import Revolute

ROUND_OFF = 1e-14  # of the largest moment of inertia: what turning an inertia into a joint's axes leaves


def rotors_of(links: Sequence[Link]) -> frozenset[int]:
    """Numbers of the links that are rotors; masses that are parameters may change and are left alone."""
    carriers = {link.parent for link in links}
    return frozenset(i for i, link in enumerate(links) if i not in carriers and _is_rotor(link))


def _is_rotor(link: Link) -> bool:
    if type(link.joint) is not Revolute or link.reversed:
        return False
    if not (link.inertia.h.is_constant() and link.inertia.J.is_constant()):
        return False
    h, J = _numbers(link.inertia.h).ravel(), _numbers(link.inertia.J)
    slack = ROUND_OFF * float(np.abs(J).max())
    across = abs(J[0, 0] - J[1, 1]) <= slack and np.abs(J[np.triu_indices(3, 1)]).max() <= slack
    # mass times distance from the axis, against the moments of inertia over a meter
    return bool(across and np.abs(h[:2]).max() <= slack)


def _numbers(x: SX) -> np.ndarray:
    return np.array([[float(x[i, k]) for k in range(x.shape[1])] for i in range(x.shape[0])])
