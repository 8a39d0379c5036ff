"""Point masses on the kept body that replace dropped bodies with the smallest error of the motion (HALL 4.2, [114]).

Along the kept coordinates u, dropped bodies add to the mass matrix M(u) and to the weight Q(u) of the model. A
rigid addition to the kept body with the pseudo-inertia P (4, 4), second moments of its mass over (r, 1), adds

    M_ij = tr(A_i P A_j^T) ,   Q_i = g . R A_i P e_4 ,   A_i = [w_i x, v_i] ,

with w_i, v_i the velocities of the kept body by u_i in its own axes. P minimizes the squares of both errors along
u, relative to the whole M and Q. P = L L^T ensures that P is that of real masses, and four equal point masses
can have any such P. The remaining mass goes to the base, as in the split by joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError
from sekant.geometry.pose_motion import PoseMotion
from sekant.model.body import inertia_matrix
from sekant.model.resolve import resolve
from sekant.reduction.lumping import Lump, split_masses
from sekant.reduction.mechanism import MechanismParts
from sekant.reduction.poses import DrivenMechanism

Array = NDArray[np.float64]
PLACES = (33, 9)  # along a path; of a surface, in either direction
TOWARD_SPLIT = (
    1e-5  # weight of deviations from the split: settles components that the motion does not determine
)
MORE_MASS = 10.0  # weight of mass beyond that of the dropped bodies


@dataclass(frozen=True)
class MassError:
    """Largest errors of mass matrix and weight along the coordinates, relative to the largest values of the
    mechanism."""

    inertia: float
    weight: float

    @property
    def text(self) -> str:
        return f"largest error of inertia {100 * self.inertia:.2g} %, of weight {100 * self.weight:.2g} %"


@dataclass(frozen=True, eq=False)
class Added:
    """Contributions of some bodies at n positions: M (n, d, d), weight Q (n, d) for gravity in the base's axes."""

    M: Array
    Q: Array


def identify_masses(
    parts: MechanismParts, poses: DrivenMechanism, dropped: tuple[str, ...]
) -> tuple[tuple[Lump, ...], dict[str, MassError]]:
    """The point masses, and the errors of this method, of the split by joints and of a model without these masses."""
    if len(parts.keep) != 1:
        raise ModelError(
            f"reduce: inertia='identify' requires exactly one kept body (got {', '.join(parts.keep)}); "
            "keep one body, or use inertia='split'"
        )
    model: Any = resolve(parts.model).model
    keep = parts.keep[0]
    axes = [np.linspace(*span, PLACES[len(poses.ranges) - 1]) for span in poses.ranges]
    found = poses.bodies([keep, *dropped], *axes)
    g = np.array([float(x) for x in model.gravity]) if parts.base == "ground" else np.eye(3)
    ways = {name: _ways(motion) for name, motion in found.items()}
    inertias = {name: _pseudo_inertia(model.bodies[name]) for name in (keep, *dropped)}
    wanted = _sum([_added(*ways[name], inertias[name], g) for name in dropped])
    whole = _sum([wanted, _added(*ways[keep], inertias[keep], g)])
    size = (np.abs(whole.M).max(), max(np.abs(whole.Q).max(), 1e-300))
    split = split_masses(parts, dropped)
    start = sum((_point(lump) for lump in split if lump.body == keep), np.zeros((4, 4)))
    total = sum(float(model.bodies[name].mass) for name in dropped)

    def errors(P: Array) -> MassError:
        own = _added(*ways[keep], P, g)
        return MassError(
            float(np.abs(own.M - wanted.M).max() / size[0]), float(np.abs(own.Q - wanted.Q).max() / size[1])
        )

    P = _least(ways[keep], wanted, size, g, start, total)
    lumps = _four(P, keep, ", ".join(dropped))
    rest = total - float(P[3, 3])
    on_base = [lump for lump in split if lump.body == parts.base]
    if rest > 0 and on_base:
        weights = np.array([lump.mass for lump in on_base])
        shares = [rest * w / weights.sum() for w in weights]
        lumps += tuple(
            Lump(lump.source, lump.body, float(mass), lump.position)
            for lump, mass in zip(on_base, shares, strict=True)
        )
    compared = {"identify": errors(P), "split": errors(start), "ignore": errors(np.zeros((4, 4)))}
    return lumps, compared


def _ways(motion: PoseMotion) -> tuple[Array, Array]:
    """R (n, 3, 3) and A (n, d, 3, 4): a point r of the body has the velocity R A (r, 1) for each drive."""
    R = motion.rotation.reshape(-1, 3, 3)
    v, w = (x.reshape(len(R), -1, 3) @ R for x in (motion.velocity, motion.angular))  # in the body's axes
    A = np.zeros((*v.shape[:2], 3, 4))
    A[..., 3] = v
    A[..., 0, 1], A[..., 0, 2] = -w[..., 2], w[..., 1]
    A[..., 1, 0], A[..., 1, 2] = w[..., 2], -w[..., 0]
    A[..., 2, 0], A[..., 2, 1] = -w[..., 1], w[..., 0]
    return R, A


def _added(R: Array, A: Array, P: Array, g: Array) -> Added:
    """The additions for gravity g (3,), or for all directions (3, 3) if the base turns."""
    M = np.einsum("niab,bc,njac->nij", A, P, A)
    Q = np.einsum("...k,nkl,nil->n...i", g, R, A @ P[:, 3])
    return Added(M, Q.reshape(len(R), -1))


def _sum(parts: Sequence[Added]) -> Added:
    return Added(np.sum([p.M for p in parts], axis=0), np.sum([p.Q for p in parts], axis=0))


def _pseudo_inertia(body: Any) -> Array:
    """Pseudo-inertia (4, 4) of a resolved body, about its frame."""
    m, c = float(body.mass), np.array([float(x) for x in body.com])
    J = np.array(inertia_matrix(tuple(float(x) for x in body.inertia)), float)
    P = np.zeros((4, 4))
    P[:3, :3] = 0.5 * np.trace(J) * np.eye(3) - J + m * np.outer(c, c)
    P[:3, 3] = P[3, :3] = m * c
    P[3, 3] = m
    return P


def _point(lump: Lump) -> Array:
    r = np.array([*lump.position, 1.0])
    return lump.mass * np.outer(r, r)


def _least(
    ways: tuple[Array, Array], wanted: Added, size: tuple[float, float], g: Array, start: Array, total: float
) -> Array:
    """P with the smallest error; components that the motion does not determine stay near `start`."""
    from scipy.optimize import least_squares

    n = np.sqrt(len(wanted.M))
    lower = np.tril_indices(4)
    scale = np.trace(start) + total * 1e-3
    first = np.linalg.cholesky(start + 1e-6 * scale * np.eye(4))

    def left(x: Array) -> Array:
        L = np.zeros((4, 4))
        L[lower] = x
        P = L @ L.T
        own = _added(*ways, P, g)
        return np.concatenate(
            [
                ((own.M - wanted.M) / size[0] / n).ravel(),
                ((own.Q - wanted.Q) / size[1] / n).ravel(),
                TOWARD_SPLIT * ((P - start) / scale).ravel(),
                [MORE_MASS * max(0.0, P[3, 3] - total) / total],
            ]
        )

    found = least_squares(left, first[lower], xtol=1e-12, ftol=1e-12, gtol=1e-14, x_scale=np.sqrt(scale))
    L = np.zeros((4, 4))
    L[lower] = found.x
    return L @ L.T


def _four(P: Array, body: str, source: str) -> tuple[Lump, ...]:
    """Four equal point masses with the pseudo-inertia P = L L^T: L is rotated until the entries of its last row are
    equal."""
    values, V = np.linalg.eigh(P)
    L = V * np.sqrt(np.maximum(values, 0.0))
    m = float(P[3, 3])
    if m <= 0:
        return ()
    a, b = L[3] / np.sqrt(m), np.full(4, 0.5)
    h = a - b
    H = np.eye(4) if h @ h < 1e-24 else np.eye(4) - 2 * np.outer(h, h) / (h @ h)
    L = L @ H
    return tuple(
        Lump(source, body, m / 4, tuple(float(x) for x in L[:3, k] / L[3, k]))  # type: ignore[arg-type]
        for k in range(4)
    )
