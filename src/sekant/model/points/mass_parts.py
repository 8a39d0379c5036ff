"""Parts with mass: point masses, rods, rigid bodies in local frames of points and vectors (DERA 2.2 to 2.4).

The energy of each part is a function of its own defining points z (k, dim) and their rates alone, so the same
function gives the equations of motion of the whole and the forces on the part at its points.

A rigid body in the frame Q = [x, y, z] at the origin O has the kinetic energy

    T = 1/2 int |O' + Q' rho|^2 dm = m/2 |O'|^2 + m O' . (Q' c) + 1/2 tr(Q' J Q'^T) ,   J = int rho rho^T dm ,

with J = tr(I_O)/2 - I_O in space and int (xi^2 + eta^2) dm = I_O on |x'|^2 in the plane. On the rigid motions this
is DERA's 1/2 m C'^2 + 1/2 w^T I w; it is positive definite off them too, with a constant mass matrix in the plane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.model.points.geometric import Geometric

LEAST_ANGLE = 1e-6
"""Sine of the angle between the directions of a frame below which they count as collinear."""


@dataclass(frozen=True, eq=False)
class Part:
    """A part with mass, by default concentrated in one point. `points`: those that define its position, in
    the order of `kinetic` and `center`."""

    name: str
    points: tuple[Geometric, ...]
    mass: Any

    def kinetic(self, z: Sequence[SX], rate: Sequence[SX]) -> SX:
        """J, of the defining points z_i (dim,) m and their rates (dim,) m/s."""
        return self.mass * ca.sumsqr(rate[0]) / 2

    def center(self, z: Sequence[SX]) -> SX:
        """(dim,) center of mass in W."""
        return z[0]


@dataclass(frozen=True, eq=False)
class RodPart(Part):
    """A straight rod between two points; `inertia` kg m^2 about its middle, across; `length` m."""

    length: Any
    inertia: Any

    def kinetic(self, z: Sequence[SX], rate: Sequence[SX]) -> SX:
        middle, turn = (rate[0] + rate[1]) / 2, rate[1] - rate[0]
        return self.mass * ca.sumsqr(middle) / 2 + self.inertia * ca.sumsqr(turn) / self.length**2 / 2

    def center(self, z: Sequence[SX]) -> SX:
        return (z[0] + z[1]) / 2


@dataclass(frozen=True, eq=False)
class BodyPart(Part):
    """A rigid body whose local frame is given by an origin and one (plane) or two (space) points or vectors.

    `U` (dim, dim - 1): [x, y] = P U with the columns of P the points (DERA 2.2.3; in the plane U = S/r with
    S = [-alpha; 1]). `com` (dim,) m and `inertia` kg m^2 about the center of mass, both in the local frame.
    """

    U: np.ndarray
    com: np.ndarray
    inertia: np.ndarray
    children: list[Geometric] = field(default_factory=list)

    @property
    def origin(self) -> Geometric:
        return self.points[0]

    @property
    def dim(self) -> int:
        return self.com.size

    def frame(self, z: Sequence[SX]) -> SX:
        """Q (dim, dim): the axes of the local frame in W."""
        axes = ca.horzcat(*z) @ SX(ca.DM(self.U))
        if self.dim == 2:
            return ca.horzcat(axes, ca.vertcat(-axes[1], axes[0]))
        return ca.horzcat(axes, ca.cross(axes[:, 0], axes[:, 1]))

    def frame_rate(self, z: Sequence[SX], rate: Sequence[SX]) -> SX:
        """Time derivative of Q."""
        axes, turn = ca.horzcat(*z) @ SX(ca.DM(self.U)), ca.horzcat(*rate) @ SX(ca.DM(self.U))
        if self.dim == 2:
            return ca.horzcat(turn, ca.vertcat(-turn[1], turn[0]))
        third = ca.cross(turn[:, 0], axes[:, 1]) + ca.cross(axes[:, 0], turn[:, 1])
        return ca.horzcat(turn, third)

    @property
    def Q(self) -> SX:
        return self.frame([point.value for point in self.points])

    @property
    def angular_velocity(self) -> SX:
        """rad/s; in the plane (), in space (3,) in W."""
        z = [point.value for point in self.points]
        Q, dQ = self.frame(z), self.frame_rate(z, [point.velocity for point in self.points])
        if self.dim == 2:
            return ca.dot(Q[:, 1], dQ[:, 0])
        local = ca.vertcat(
            ca.dot(Q[:, 2], dQ[:, 1]), ca.dot(Q[:, 0], dQ[:, 2]), ca.dot(Q[:, 1], dQ[:, 0])
        )  # DERA after (2.2.5)
        return Q @ local

    def kinetic(self, z: Sequence[SX], rate: Sequence[SX]) -> SX:
        dQ, m = self.frame_rate(z, rate), self.mass
        O_dot = rate[0]
        T = m * ca.sumsqr(O_dot) / 2 + m * ca.dot(O_dot, dQ @ SX(ca.DM(self.com)))
        about_origin = moved_inertia(self.inertia, m, self.com)
        if self.dim == 2:
            return T + about_origin * ca.sumsqr(dQ[:, 0]) / 2
        J = ca.trace(about_origin) / 2 * SX.eye(3) - about_origin
        return T + ca.dot(dQ @ J, dQ) / 2

    def center(self, z: Sequence[SX]) -> SX:
        return z[0] + self.frame(z) @ SX(ca.DM(self.com))

    def carried(self, local: np.ndarray, point: bool) -> SX:
        """A position or direction (dim,) of the local frame, in W."""
        turned = self.Q @ SX(ca.DM(local))
        return self.origin.value + turned if point else turned


def moved_inertia(inertia: np.ndarray, mass: Any, com: np.ndarray) -> Any:
    """Inertia about the origin of the local frame from that about the center of mass (Huygens and Steiner)."""
    if com.size == 2:
        return float(inertia) + mass * float(com @ com)
    steiner = float(com @ com) * np.eye(3) - np.outer(com, com)
    return SX(ca.DM(inertia)) + mass * SX(ca.DM(steiner))


def frame_matrix(points: Sequence[Geometric], places: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """S (dim, dim - 1) and R (dim - 1, dim - 1) of DERA (2.2.1), U = S R^-1, from the positions of the points at the
    start."""
    if not points[0].is_point:
        raise ModelError("the first entry of its frame is the origin and must be a point")
    columns, S = [], [[], []][: len(points) - 1]
    for k, point in enumerate(points[1:]):
        alpha = 1.0 if point.is_point else 0.0
        columns.append(places[k + 1] - alpha * places[0])
        S[k] = [-alpha, *(1.0 if i == k else 0.0 for i in range(len(points) - 1))]
    first = float(np.linalg.norm(columns[0]))
    if first == 0.0:
        raise ModelError(
            "the second entry of its frame has length 0 and gives no direction; choose another entry"
        )
    if len(columns) == 1:
        return np.array(S).T, np.array([[first]])
    along = float(columns[1] @ columns[0]) / first
    across = columns[1] - along * columns[0] / first
    second = float(np.linalg.norm(across))
    if second <= LEAST_ANGLE * float(np.linalg.norm(columns[1])) or second == 0.0:
        raise ModelError(
            "the points and vectors of its frame are collinear at the start; choose a third entry that is "
            "not on the line through the first two"
        )
    return np.array(S).T, np.array([[first, along], [0.0, second]])


def given_frame(row: np.ndarray) -> np.ndarray:
    """R from the stated lengths of a frame: of the second entry, and in space of the third, and their product."""
    if row.size == 1:
        return np.array([[row[0]]])
    along = row[2] / row[0]
    height = row[1] ** 2 - along**2
    if height <= 0:
        raise ModelError(
            f"with the lengths {row.tolist()}, the axes of its frame are collinear; correct the lengths"
        )
    return np.array([[row[0], along], [0.0, np.sqrt(height)]])


def checked_inertia(given: np.ndarray, dim: int) -> np.ndarray:
    """A moment (plane), or a symmetric matrix (3, 3) from it, its diagonal, or one number for all axes."""
    if dim == 2:
        if given.size != 1 or not float(given.ravel()[0]) >= 0:
            raise ModelError(f"inertia must be one number, which must not be negative (got {given.tolist()})")
        return np.array(float(given.ravel()[0]))
    matrix = np.diag(given) if given.shape == (3,) else given * np.eye(3) if given.size == 1 else given
    if matrix.shape != (3, 3) or not np.allclose(matrix, matrix.T, rtol=1e-12):
        raise ModelError("inertia must be a number, three numbers or a symmetric (3, 3) matrix")
    moments = np.linalg.eigvalsh(matrix)
    if moments[0] < -1e-12 * moments[-1] or moments[0] + moments[1] < moments[2] * (1 - 1e-9):
        raise ModelError(
            f"no body has the principal moments {np.round(moments, 6).tolist()} kg m^2: no moment may be "
            "negative or exceed the sum of the other two"
        )
    return matrix
