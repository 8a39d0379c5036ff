"""Elastic modes of a path joint: the few ways in which a mechanism on bushings lets its body leave the path.

A body that links and bushings guide is displaced, by loads F (6,) on it at a given place u of its path, by C(u) F.
C has as many directions as the bushings let through, r <= 5. With W (6, r) fixed loads that span them,

    shapes B(u) = C(u) W ,   stiffness K(u) = W^T C(u) W ,   displacement B(u) e ,   V = V_0(u) + e^T K(u) e / 2 ,

have that compliance exactly: K e = B^T F gives B e = C F. All are as smooth in u as the mechanism itself. The
change of K along u is a force too, so that energy is kept; V_0 is what the bushings store along the path itself.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np
from pydantic import model_validator

from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.model.joints.compliance import Displaced
from sekant.model.motion import Action, Kinematics
from sekant.model.quantities import Description
from sekant.tables.table import Table

Rows = tuple[tuple[float, ...], ...]
LENGTH = 0.3  # m
RANK = 1e-4  # against the largest compliance: smaller directions count as rigid


class ElasticModes(Description):
    """Numbers at n places u of a path, in SI, joined by cubic splines; r elastic coordinates e.

    The joint's coordinates are then u and e1 ... er; the body is displaced by ``shapes e`` from its place on the
    path. Other bodies of the mechanism that follow it (`coordinate_of`) have shapes of their own, and no stiffness.
    """

    u: tuple[float, ...]
    """(n,) places, increasing, over the whole range of the curve"""
    shapes: tuple[Rows, ...]
    """(n, 6, r) displacement (3) and turn (3) about x, y, z of the frame on the path, in it, for each coordinate"""
    stiffness: tuple[Rows, ...] | None = None
    """(n, r, r) symmetric and positive"""
    damping: tuple[Rows, ...] | None = None
    """(n, 1 + r, 1 + r) symmetric: of the rates of u and of all coordinates"""
    force: tuple[float, ...] | None = None
    """(n,) that holds the body at u against the bushings, along the path; N where u is in m"""

    @model_validator(mode="after")
    def _fits_together(self):
        n, shapes = len(self.u), self._array("shapes")
        if n < 4 or np.any(np.diff(self.u) <= 0):
            raise ValueError(f"elastic: u needs at least 4 increasing values (got {n})")
        r = shapes.shape[2] if shapes.ndim == 3 else 0
        if shapes.shape != (n, 6, r) or not 1 <= r <= 5:
            raise ValueError(f"elastic: shapes must be ({n}, 6, r) with r from 1 to 5 (got {shapes.shape})")
        for name, wanted in (("stiffness", (n, r, r)), ("damping", (n, 1 + r, 1 + r)), ("force", (n,))):
            if getattr(self, name) is not None and self._array(name).shape != wanted:
                raise ValueError(f"elastic: {name} must be {wanted} (got {self._array(name).shape})")
        if self.stiffness is not None:
            self._check_positive(self._array("stiffness"))
        elif self.damping is not None or self.force is not None:
            raise ValueError(
                "elastic: damping and force go with a stiffness; give all of them to the leading joint"
            )
        return self

    @classmethod
    def from_compliance(
        cls, u: Any, C: Any, modes: int | None = None, *, length: float = LENGTH
    ) -> ElasticModes:
        """The modes of compliances C (n, 6, 6) at places u (n,): displacement and turn by forces and moments.

        All in the axes of the frame on the path, at held u. `modes`: how many, by default all that are not rigid
        beside the largest. A turn counts as the displacement at `length` (m).
        """
        C = np.asarray(C, float)
        if C.shape != (len(u), 6, 6):
            raise ModelError(f"elastic modes need compliances ({len(u)}, 6, 6) (got {C.shape})")
        if np.abs(C - C.transpose(0, 2, 1)).max() > 1e-6 * np.abs(C).max():
            raise ModelError("elastic modes: a compliance must be symmetric; average it with its transpose")
        W = spanning_loads(C, modes, length)
        K = W.T @ C @ W
        K = 0.5 * (K + K.transpose(0, 2, 1))
        return cls(u=tuple(float(value) for value in u), shapes=rows_of(C @ W), stiffness=rows_of(K))

    @classmethod
    def from_responses(cls, u: Any, loads: Any, responses: Any, least: float = RANK) -> ElasticModes:
        """The modes of measured rates: at places u (n,), `responses` (n, 6, k) of displacement and turn to k `loads`
        (n, 6, k) of force and moment, in the axes of the frame on the path, at held u.

        By Maxwell's theorem the work of load i on the response to load j is that of j on i. Measured rates are
        changed as little as that takes: the work is then the mean of both. Combinations of loads that give way
        less than `least` times the softest one count as rigid.
        """
        W, B = np.asarray(loads, float), np.asarray(responses, float)
        if W.shape != B.shape or W.shape[:2] != (len(u), 6):
            raise ModelError(
                f"elastic modes need loads and responses of {len(u)} places, (n, 6, k) (got {W.shape}, {B.shape})"
            )
        given = np.einsum("nik,nil->nkl", W, B)
        G = 0.5 * (given + given.transpose(0, 2, 1))
        P = np.diag([1.0, 1.0, 1.0, *3 * [LENGTH**-2]])  # a turn counts as the displacement at that distance
        B = B + P @ W @ np.linalg.solve(W.transpose(0, 2, 1) @ P @ W, G - given)
        size = np.sqrt(np.abs(np.einsum("nkk->nk", G)).mean(axis=0))
        if not size.min() > 0:
            raise ModelError("elastic modes: one of the loads does no work on its own response; leave it out")
        G, W, B = G / np.outer(size, size), W / size, B / size
        values, V = np.linalg.eigh(G.mean(axis=0))
        V = V[:, values > least * values.max()][:, ::-1]
        return cls(u=tuple(float(x) for x in u), shapes=rows_of(B @ V), stiffness=rows_of(V.T @ G @ V))

    def compliance(self, u: float) -> np.ndarray:
        """C (6, 6) at u: displacement and turn by forces and moments, in the axes of the frame on the path."""
        values, r = self.table(u), self.count
        B, K = values[: 6 * r].reshape(6, r), values[6 * r : 6 * r + r * r].reshape(r, r)
        return B @ np.linalg.solve(K, B.T)

    def _array(self, name: str) -> np.ndarray:
        try:
            return np.array(getattr(self, name), float)
        except ValueError:
            raise ValueError(f"elastic: rows of {name} differ in length") from None

    def _check_positive(self, stiffness: np.ndarray) -> None:
        size = np.abs(stiffness).max()
        if np.abs(stiffness - stiffness.transpose(0, 2, 1)).max() > 1e-9 * size:
            raise ValueError("elastic: stiffness must be symmetric, or energy would be made on closed ways")
        least = np.linalg.eigvalsh(stiffness)[:, 0]
        if least.min() <= 0:
            where = self.u[int(np.argmin(least))]
            raise ValueError(
                f"elastic: stiffness is not positive at u = {where:g} (least eigenvalue {least.min():.3g})"
            )

    @property
    def count(self) -> int:
        """r, the number of elastic coordinates."""
        return len(self.shapes[0][0])

    @property
    def _tables(self) -> tuple[Table, Table]:
        return _tables(self.u, self.shapes, self.stiffness, self.damping, self.force)

    @property
    def table(self) -> Table:
        """All numbers over u: shapes, stiffness, damping, force. The same table for the same numbers."""
        return self._tables[0]

    @property
    def potential(self) -> Table:
        """V_0(u) of the force along the path, zero at the first place."""
        return self._tables[1]

    def _shapes(self, u: SX, lookups: Any, order: int = 0) -> SX:
        """(6, r) at u, or their derivative."""
        r = self.count
        return ca.reshape(lookups(self.table, u, order=order)[: 6 * r], r, 6).T

    def _laws(self, u: SX, lookups: Any, order: int = 0) -> tuple[SX, SX, SX]:
        """Stiffness (r, r), damping (1 + r, 1 + r) and force () at u, or their derivatives."""
        r, values = self.count, lookups(self.table, u, order=order)
        ends = np.cumsum([6 * r, r * r, (1 + r) ** 2]).tolist()
        K = ca.reshape(values[ends[0] : ends[1]], r, r)
        return K, ca.reshape(values[ends[1] : ends[2]], 1 + r, 1 + r), values[ends[2]]

    def displaced(self, q: SX, lookups: Any) -> Displaced:
        """The displacement at coordinates q = (u, e)."""
        moved = self._shapes(q[0], lookups) @ q[1:]
        return Displaced.by(moved[:3], moved[3:])

    def columns(self, q: SX, S_C: SX, lookups: Any) -> SX:
        """(6, 1 + r) twists in M of the coordinates' rates, for the twist S_C of the frame C by u."""
        moved = self.displaced(q, lookups)
        B, B_u = (self._shapes(q[0], lookups, order) for order in (0, 1))
        turned = moved.S_angles

        def twist(change: SX) -> SX:
            return moved.shifted(change[:3]) + turned @ change[3:]

        along = moved.carried(S_C, SX.zeros(3)) + twist(B_u @ q[1:])
        return ca.horzcat(along, *[twist(B[:, i]) for i in range(self.count)])

    def action(self, joint: str, motion: Kinematics) -> Action | None:
        """Generalized forces of the bushings on u and e, the energy they store and the power they take."""
        if self.stiffness is None:
            return None
        r = self.count
        pairs = [motion.coordinate(joint, i) for i in range(1 + r)]
        q, v = (ca.vertcat(*column) for column in zip(*pairs, strict=True))
        u, e = q[0], q[1:]
        K, D, force = self._laws(u, motion.lookups)
        K_u = self._laws(u, motion.lookups, 1)[0]
        lossy = D @ v
        restoring = ca.vertcat(force + 0.5 * e.T @ K_u @ e, K @ e) + lossy
        potential = motion.lookups(self.potential, u, order=0) + 0.5 * e.T @ K @ e
        outputs = {f"e{i + 1}.force": ("N", restoring[1 + i]) for i in range(r)} | {
            "along.force": ("N", restoring[0])
        }
        return Action(
            generalized=tuple((joint, i, -restoring[i]) for i in range(1 + r)),
            potential=potential,
            power=-ca.dot(lossy, v),
            outputs=outputs,
        )

    def mirrored(self, plane: str) -> ElasticModes:
        """Of the mirror image of the path, about the plane normal to an axis of its frame."""
        sign = np.array([-1.0 if axis == plane else 1.0 for axis in "xyz"])
        shapes = self._array("shapes") * np.concatenate([sign, -sign])[None, :, None]
        return self.model_copy(update={"shapes": rows_of(shapes)})


@lru_cache(maxsize=256)
def _tables(u: Any, shapes: Any, stiffness: Any, damping: Any, force: Any) -> tuple[Table, Table]:
    """All numbers over u, and the antiderivative of the force."""
    n, r, places = len(u), len(shapes[0][0]), np.array(u)
    parts = [np.array(shapes, float)]
    along = np.zeros(n) if force is None else np.array(force)
    if stiffness is not None:
        lossy = np.zeros((n, 1 + r, 1 + r)) if damping is None else np.array(damping)
        parts += [np.array(stiffness, float), lossy, along]
    values = np.hstack([part.reshape(n, -1) for part in parts])
    options = {"extrapolation": "linear", "name": "elastic modes"}
    return Table.cubic(places, values, **options), Table.cubic(places, along, **options).antiderivative()


def spanning_loads(C: np.ndarray, modes: int | None = None, length: float = LENGTH) -> np.ndarray:
    """W (6, r): loads that span the directions in which compliances C (n, 6, 6) give way.

    Each is so large that it displaces by one (m, or rad times `length`) at the middle place.
    """
    S = np.diag([1.0, 1.0, 1.0, length, length, length])
    scaled = S @ C @ S
    sizes = np.linalg.eigvalsh(scaled)[:, ::-1]
    if not sizes[:, 0].min() > 0:
        raise ModelError("elastic modes: there is a place that gives way to no load; leave them out")
    rank = int((sizes > RANK * sizes.max()).sum(axis=1).min())
    r = rank if modes is None else modes
    if not 1 <= r <= rank:
        raise ModelError(f"elastic modes: the body gives way in {rank} directions (got {r} modes)")
    W = S @ np.linalg.eigh(scaled.mean(axis=0))[1][:, ::-1][:, :r]
    return W / np.abs(S @ C[len(C) // 2] @ W).max(axis=0)


def rows_of(array: np.ndarray) -> Any:
    """An array as nested tuples, as descriptions hold it."""
    return tuple(rows_of(part) for part in array) if array.ndim > 1 else tuple(array.tolist())
