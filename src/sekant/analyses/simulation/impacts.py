"""Impacts of rigid contacts: velocities after a gap has closed.

Impulses of all constraints, of the contact and of the other closed ones: M (v+ - v-) = -G^T L + J^T P, with
G v+ + drift = 0. Newton's law: the gap opens with `restitution` times the rate at which it closed; other closed
contacts stay closed, unless that would take a pull. With friction, the tangential impulse stops the slip if it
needs no more than the coefficient times the normal one; else it has that size, against the slip before the impact.
Dry friction in joints has no impulse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.bound_forces import ContactElement
from sekant.analyses.simulation.events import Instant

Floats = NDArray[np.float64]


def impact(now: Instant, hit: ContactElement, closed: Sequence[ContactElement]) -> tuple[Floats, bool]:
    """Velocities after contact `hit` closes while those in `closed` are, and whether it stays closed."""
    system, nv = now.system, now.system.nv

    def make() -> Any:
        eq = system.equations
        solved = eq.elements.friction
        J = ca.densify(eq.lookups.jacobian(solved.slip, eq.v))
        terms = [eq.mass_matrix, ca.densify(eq.G), eq.rate, J, solved.slip]
        return system.function("impact", [eq.t, eq.q, eq.v, eq.z, eq.p], terms)

    M, G, rate, J, slip = system.cached("impact", make)(*now.arguments)
    M, G, J, slip = M.reshape(nv, nv), G.reshape(-1, nv), J.reshape(-1, nv), slip.ravel()
    opening = -hit.restitution * slip[hit.i]
    rests = opening < hit.rest_speed
    others = list(closed)
    while True:
        normals = [hit.i, *(one.i for one in others)]
        wanted = [0.0 if rests else opening, *(0.0 for _ in others)]
        v, P = _impulses(M, G, rate.ravel(), J, slip, normals, wanted, hit, now.v)
        pulls = [one for k, one in enumerate(others) if P[k + 1] < 0]
        if not pulls:
            return v, rests
        others = [one for one in others if one not in pulls]


def _impulses(M, G, rate, J, slip, normals, wanted, hit, v) -> tuple[Floats, Floats]:
    """Velocities afterwards and the normal impulses; friction at `hit` sticks, or slides if that takes too much."""
    mu = hit.friction if hit.rough else 0.0
    tangents = [hit.i + 1, hit.i + 2] if mu else []
    target = np.concatenate([-rate, [w - slip[i] for w, i in zip(wanted, normals, strict=True)]])
    rows = np.vstack([G, J[normals], J[tangents]])
    change, P = _solve(M, rows, rows, np.concatenate([target, -slip[tangents]]))
    P = P[rate.size :]
    if not tangents or np.linalg.norm(P[len(normals) :]) <= mu * P[0]:
        return v + change, P[: len(normals)]
    direction = slip[tangents] / (np.linalg.norm(slip[tangents]) or 1.0)
    if not np.any(slip[tangents]):
        direction = -P[len(normals) :] / np.linalg.norm(P[len(normals) :])
    rows = np.vstack([G, J[normals]])
    push = rows.copy()
    push[rate.size] = J[hit.i] - mu * direction @ J[tangents]
    change, P = _solve(M, rows, push, target)
    return v + change, P[rate.size :]


def _solve(M: Floats, rows: Floats, push: Floats, target: Floats) -> tuple[Floats, Floats]:
    """Changes of velocities and impulses: M dv = push^T P, rows dv = target."""
    n, m = M.shape[0], len(rows)
    K = np.zeros((n + m, n + m))
    K[:n, :n], K[:n, n:], K[n:, :n] = M, -push.T, rows
    x = np.asarray(np.linalg.lstsq(K, np.concatenate([np.zeros(n), target]), rcond=None)[0], np.float64)
    return x[:n], x[n:]
