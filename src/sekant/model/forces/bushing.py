"""Bushing: stiffnesses, tables, a coupled matrix and relaxing branches between two frames."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import casadi as ca
import numpy as np
from pydantic import model_validator

from sekant.geometry.spatial import SX, angle_of, scalar, vector
from sekant.model.ends import Ends
from sekant.model.examples import Stage
from sekant.model.forces.base import Force, register
from sekant.model.motion import Action, ElementKinematics, FrameState, PointWrench
from sekant.model.quantities import (
    AnyQuantity,
    Dampings,
    Description,
    Positive,
    RotationalDampings,
    RotationalStiffnesses,
    Stiffnesses,
    TableName,
    Time,
    is_known,
    negative,
)

NAMES = ("x", "y", "z", "a", "b", "c")
"""Directions: displacements, then angles."""
NO_TABLES = (None, None, None)
UPRIGHT = (
    "it has turned by 90 deg about y of its parent frame, where its angles are not unique; orient its frames "
    "so that large rotations are about x or z only"
)


class MaxwellBranch(Description):
    """A spring in series with a damper in each direction. The force is k (d - s), where the displacement s of
    the damper follows from T s' = d - s."""

    stiffness: Stiffnesses = (0.0, 0.0, 0.0)
    """stiffness of the spring along the axes of the parent frame"""
    rotational_stiffness: RotationalStiffnesses = (0.0, 0.0, 0.0)
    """stiffness of the spring about the axes of the parent frame"""
    time_constant: Positive[Time]
    """time constant T with which the force decays: damping divided by stiffness"""


@register
class Bushing(Ends, Force):
    """Elastic mount with principal directions along the axes of the parent frame.

    F is the parent frame and M the child frame. The displacement is d = p_FM, resolved in F; the angles (a,
    b, c) follow from R_FM = R_x(a) R_y(b) R_z(c). The elastic forces derive from a potential of e = (d, a, b,
    c). It is the sum of e.K e / 2 with the diagonal matrix K of stiffnesses, e.A e / 2 with A = `matrix`, the
    integrals of the tables, and the energy of the springs of the Maxwell branches. The elastic forces are therefore
    exactly conservative at any rotation with |b| < 90 deg. The force acts on both bodies at the origin of M.
    The moment is B^-T times the generalized moments of the angles, where B maps the rates of the angles to
    the relative angular velocity.
    """

    type: ClassVar[str] = "bushing"
    summary: ClassVar[str] = (
        "elastic mount with stiffness, damping, tables, a coupled stiffness matrix and Maxwell branches"
    )
    picture: ClassVar = "bushing"

    stiffness: Stiffnesses = (0.0, 0.0, 0.0)
    """stiffness along the axes of the parent frame"""
    damping: Dampings = (0.0, 0.0, 0.0)
    """damping along the axes of the parent frame"""
    rotational_stiffness: RotationalStiffnesses = (0.0, 0.0, 0.0)
    """stiffness about the axes of the parent frame"""
    rotational_damping: RotationalDampings = (0.0, 0.0, 0.0)
    """damping about the axes of the parent frame"""
    tables: tuple[TableName | None, TableName | None, TableName | None] = NO_TABLES
    """names of tables of restoring force versus displacement along x, y and z; these forces add to those of
    `stiffness`"""
    rotational_tables: tuple[TableName | None, TableName | None, TableName | None] = NO_TABLES
    """names of tables of restoring torque versus the angles a, b and c; these torques add to those of
    `rotational_stiffness`"""
    reversed: tuple[bool, bool, bool, bool, bool, bool] = (False, False, False, False, False, False)
    """whether the table f of each direction (x, y, z, a, b, c) is mirrored, so that it gives -f(-x)"""
    matrix: tuple[tuple[AnyQuantity, ...], ...] | None = None
    """symmetric 6 x 6 stiffness matrix for (x, y, z, a, b, c) in SI units, added to the other stiffnesses"""
    maxwell: tuple[MaxwellBranch, ...] = ()
    """Maxwell branches, whose forces relax with time; they make a rubber mount stiffer at high frequencies"""

    @model_validator(mode="after")
    def _sensible(self):
        if self.matrix is None:
            return self
        if len(self.matrix) != 6 or any(len(row) != 6 for row in self.matrix):
            raise ValueError("matrix must have 6 rows of 6 numbers, for (x, y, z, a, b, c)")
        numbers = np.array([[x if isinstance(x, float) else np.nan for x in row] for row in self.matrix])
        off = np.abs(numbers - numbers.T)
        if np.any(off > 1e-9 * np.nanmax(np.abs(numbers), initial=1e-300)):
            i, k = np.unravel_index(int(np.nanargmax(off)), off.shape)
            raise ValueError(
                f"matrix must be symmetric; otherwise, it would create energy: entries ({NAMES[i]}, "
                f"{NAMES[k]}) are {numbers[i, k]:g} and {numbers[k, i]:g}"
            )
        self._check_restoring(numbers)
        return self

    def _check_restoring(self, matrix: np.ndarray) -> None:
        """Together with the stiffnesses, and where no table acts, the matrix (6, 6) must be positive semidefinite."""
        own = (*self.stiffness, *self.rotational_stiffness)
        K = matrix + np.diag([x if isinstance(x, float) else np.nan for x in own])
        plain = [i for i, table in enumerate((*self.tables, *self.rotational_tables)) if table is None]
        K = K[np.ix_(plain, plain)]
        if not plain or not np.isfinite(K).all():
            return
        size = np.sqrt(np.abs(np.diag(K)))
        size[size == 0] = np.sqrt(np.abs(K).max(initial=1e-300))
        values, vectors = np.linalg.eigh(K / np.outer(size, size))
        if values[0] < -1e-6:
            e = vectors[:, 0] / size
            e = e / np.abs(e).max()
            way = ", ".join(f"{NAMES[i]}: {x:.2g}" for i, x in zip(plain, e, strict=True) if abs(x) > 1e-3)
            raise ValueError(
                "matrix must be positive semidefinite, together with the stiffnesses, but a displacement "
                f"({way}) is amplified instead of resisted; check the signs and units of the entries"
            )

    def mirror_changes(self, plane: str) -> dict[str, Any]:
        """Displacements normal to the plane and angles about the other axes change their signs."""
        sign = [-1.0 if axis == plane else 1.0 for axis in "xyz"]
        sign += [1.0 if axis == plane else -1.0 for axis in "xyz"]
        tables = (*self.tables, *self.rotational_tables)
        turned = [s < 0 and table is not None for s, table in zip(sign, tables, strict=True)]
        changes: dict[str, Any] = {
            "reversed": tuple(old != new for old, new in zip(self.reversed, turned, strict=True))
        }
        if self.matrix is None:
            return changes
        rows = [
            tuple(negative(x) if s * r < 0 else x for r, x in zip(sign, row, strict=True))
            for s, row in zip(sign, self.matrix, strict=True)
        ]
        return changes | {"matrix": tuple(rows)}

    @property
    def jumping(self) -> str:
        own = (*self.rotational_stiffness, *(k for one in self.maxwell for k in one.rotational_stiffness))
        stiff = self.matrix is not None or any(table is not None for table in self.rotational_tables)
        return "angles" if stiff or not all(is_known(k, 0.0) for k in own) else ""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        ends = stage.ends()
        rows = np.diag([3.0, 5.0, 4.0, 0.9, 0.7, 0.8])
        rows[0, 4] = rows[4, 0] = -0.6
        return cls(
            **ends,
            stiffness=stage.three(20, 60),
            damping=stage.three(1, 4),
            rotational_stiffness=stage.three(5, 9),
            rotational_damping=stage.three(0.3, 0.9),
            tables=(None, stage.table(), None),
            matrix=tuple(tuple(row) for row in rows.tolist()),
        )

    def action(self, motion: ElementKinematics) -> Action:
        F, M = motion.frame(self.parent), motion.frame(self.child)
        e, rates, B_inverse = _deformation(F, M)
        k = ca.vertcat(vector(self.stiffness), vector(self.rotational_stiffness))
        c = ca.vertcat(vector(self.damping), vector(self.rotational_damping))
        load, potential = k * e + c * rates, 0.5 * ca.dot(k * e, e)
        lossless = all(is_known(x, 0.0) for x in (*self.damping, *self.rotational_damping))
        power = None if lossless else -ca.dot(c * rates, rates)
        for i, name in enumerate((*self.tables, *self.rotational_tables)):
            if name is not None:
                side = -1.0 if self.reversed[i] else 1.0
                load[i] = load[i] + side * motion.table(name, side * e[i])
                potential = potential + motion.table(name, side * e[i], -1)
        if self.matrix is not None:
            K = ca.vertcat(*[ca.horzcat(*[scalar(x) for x in row]) for row in self.matrix])
            load, potential = load + K @ e, potential + 0.5 * ca.dot(K @ e, e)
        state_rates: dict[str, SX] = {}
        for number, branch in enumerate(self.maxwell):
            k_m = ca.vertcat(vector(branch.stiffness), vector(branch.rotational_stiffness))
            for i in range(6):
                if k_m[i].is_zero():
                    continue
                part = f"maxwell{number}_{NAMES[i]}"
                stretch = e[i] - motion.state(self.owner(motion), part, 0.0, "m" if i < 3 else "rad")
                state_rates[part] = stretch / scalar(branch.time_constant)
                load[i] = load[i] + k_m[i] * stretch
                potential = potential + 0.5 * k_m[i] * stretch * stretch
                power = (0 if power is None else power) - k_m[i] * stretch * state_rates[part]
        f_W = -F.R @ load[:3]
        n_W = -F.R @ (B_inverse.T @ load[3:])
        return Action(
            wrenches=(PointWrench(F.body, M.p, -f_W, -n_W), PointWrench(M.body, M.p, f_W, n_W)),
            potential=potential,
            power=power,
            outputs={
                "displacement": ("m", e[:3]),
                "angles": ("rad", e[3:]),
                "force": ("N", -load[:3]),
                "moment": ("N*m", F.R.T @ n_W),
            },
            rates=state_rates,
            margins={UPRIGHT: ca.cos(e[4])},
        )


def _deformation(F: FrameState, M: FrameState) -> tuple[SX, SX, SX]:
    """Displacement and angles e (6,) of M in F, their rates (6,), and B^-1 (3, 3), from w_FM to their rates."""
    d_W = M.p - F.p
    d = F.R.T @ d_W
    d_rate = F.R.T @ (M.v_WF - F.v_WF - ca.cross(F.w_WF, d_W))
    R = F.R.T @ M.R
    angles = ca.vertcat(
        angle_of(-R[1, 2], R[2, 2]),
        ca.asin(ca.fmax(-1, ca.fmin(1, R[0, 2]))),
        angle_of(-R[0, 1], R[0, 0]),
    )
    sa, ca_, sb, cb = ca.sin(angles[0]), ca.cos(angles[0]), ca.sin(angles[1]), ca.cos(angles[1])
    # inverse of B, whose columns are x of F, y after the first turn and z after the second, all in F
    B_inverse = ca.blockcat([[1, sa * sb / cb, -ca_ * sb / cb], [0, ca_, sa], [0, -sa / cb, ca_ / cb]])
    rates = B_inverse @ (F.R.T @ (M.w_WF - F.w_WF))
    return ca.vertcat(d, angles), ca.vertcat(d_rate, rates), B_inverse
