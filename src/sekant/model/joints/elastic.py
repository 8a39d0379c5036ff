"""Elastic modes of a path or surface joint: the few directions in which a body of a mechanism on bushings can
deviate from its path.

Loads F (6,) displace a body that is guided by links and bushings by C(u) F at a given place u of its path. C has as
many directions as the bushings allow, r <= 5. With W (6, r) fixed loads that span them,

    shapes B(u) = C(u) W ,   stiffness K(u) = W^T C(u) W ,   displacement B(u) e ,   V = V_0(u) + e^T K(u) e / 2 ,

have that compliance exactly: K e = B^T F gives B e = C F. All are as smooth in u as the mechanism itself. The
change of K along u is a force too, which conserves energy; V_0 is the energy of the bushings along the path itself.
On a surface u is the pair of its coordinates, both held while loads displace the body.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np
from pydantic import model_validator

from sekant.errors import ModelError
from sekant.geometry.spatial import SX
from sekant.model.joints.compliance import mirrored_springs
from sekant.model.motion import Action, Kinematics
from sekant.model.quantities import Description
from sekant.tables.table import Table, Table2

Rows = tuple[tuple[float, ...], ...]
LENGTH = 0.3  # m
RANK = 1e-4  # relative to the largest compliance: smaller directions count as rigid


class ElasticModes(Description):
    """Elastic modes of a joint with r elastic coordinates e: values at n positions u of a path, in SI units,
    interpolated by cubic splines.

    The coordinates of the joint are u and e1 to er. The product ``shapes e`` displaces the body from its pose
    on the path. Other bodies of the mechanism that share these coordinates (`coordinate_of`) have their own
    shapes, but no stiffness. On a surface, the n = n1 n2 positions form the grid of `u` and `u2`, row by row,
    where u2 varies fastest.
    """

    u: tuple[float, ...]
    """(n,) positions, increasing, over the whole range of the curve; for a surface (n1,) values of its first
    coordinate"""
    u2: tuple[float, ...] | None = None
    """(n2,) values of a surface's second coordinate, increasing, over its whole range"""
    shapes: tuple[Rows, ...]
    """(n, 6, r) displacement (3) and rotation (3) per unit of each elastic coordinate, in the frame that
    moves along the path"""
    stiffness: tuple[Rows, ...] | None = None
    """(n, r, r) stiffness matrices, symmetric and positive definite"""
    damping: tuple[Rows, ...] | None = None
    """(n, m + r, m + r) symmetric damping matrices for the rates of u (m = 1; on a surface m = 2) and of e"""
    force: tuple[float, ...] | None = None
    """for a path: (n,) force along u that holds the body against the bushings, in N if u is in m"""
    energy: tuple[float, ...] | None = None
    """(n,) energy V_0 of the bushings in the poses on the surface, in J"""

    @model_validator(mode="after")
    def _fits_together(self):
        shapes, m = self._array("shapes"), self.along
        for name in ("u", "u2")[:m]:
            places = getattr(self, name)
            if len(places) < 4:
                raise ValueError(f"elastic: {name} needs at least 4 values (got {len(places)})")
            if np.any(np.diff(places) <= 0):
                raise ValueError(f"elastic: the values of {name} must increase")
        n = len(self.u) * (1 if self.u2 is None else len(self.u2))
        r = shapes.shape[2] if shapes.ndim == 3 else 0
        if shapes.shape != (n, 6, r) or not 1 <= r <= 6 - m:
            raise ValueError(
                f"elastic: shapes must have the size ({n}, 6, r) with r from 1 to {6 - m} (got {shapes.shape})"
            )
        sizes = {"stiffness": (n, r, r), "damping": (n, m + r, m + r), "force": (n,), "energy": (n,)}
        for name, wanted in sizes.items():
            if getattr(self, name) is not None and self._array(name).shape != wanted:
                raise ValueError(
                    f"elastic: {name} must have the size {wanted} (got {self._array(name).shape})"
                )
        if (self.force if m == 2 else self.energy) is not None:
            raise ValueError("elastic: a path has 'force' and a surface has 'energy'; remove the other field")
        if self.stiffness is not None:
            self._check_positive(self._array("stiffness"))
        elif self.damping is not None or self.force is not None or self.energy is not None:
            raise ValueError(
                "elastic: damping, force and energy require a stiffness; give them at the joint that has the "
                "coordinates"
            )
        return self

    @property
    def along(self) -> int:
        """m, the number of coordinates of the path (1) or surface (2)."""
        return 1 if self.u2 is None else 2

    @property
    def places(self) -> np.ndarray:
        """(n, m) all positions, in the order of the values."""
        axes = [self.u] if self.u2 is None else [self.u, self.u2]
        return np.stack([grid.ravel() for grid in np.meshgrid(*axes, indexing="ij")], axis=1)

    @classmethod
    def from_compliance(
        cls, u: Any, C: Any, modes: int | None = None, *, u2: Any = None, length: float = LENGTH
    ) -> ElasticModes:
        """The modes of compliances C (n, 6, 6) at positions u (n,): displacement and rotation due to forces and
        moments.

        All in the axes of the frame on the path, at held u; of a surface at the grid of u and `u2`. `modes`:
        their number, by default all that are not rigid compared with the largest. A rotation counts as the
        displacement that it causes at the distance `length` (m).
        """
        C = np.asarray(C, float)
        n = len(u) * (1 if u2 is None else len(u2))
        if C.shape != (n, 6, 6):
            raise ModelError(f"elastic modes need compliances of size ({n}, 6, 6) (got {C.shape})")
        if np.abs(C - C.transpose(0, 2, 1)).max() > 1e-6 * np.abs(C).max():
            raise ModelError("elastic modes: a compliance must be symmetric; average it with its transpose")
        W = spanning_loads(C, modes, length)
        K = W.T @ C @ W
        K = 0.5 * (K + K.transpose(0, 2, 1))
        return cls(**_axes(u, u2), shapes=rows_of(C @ W), stiffness=rows_of(K))

    @classmethod
    def from_responses(
        cls, u: Any, loads: Any, responses: Any, least: float = RANK, *, u2: Any = None
    ) -> ElasticModes:
        """The modes of measured rates: at positions u (n,), `responses` (n, 6, k) of displacement and turn to k
        `loads` (n, 6, k) of force and moment, in the axes of the frame on the path, at held u; of a surface at the
        grid of u and `u2`.

        By Maxwell's theorem the work of load i on the response to load j is that of j on i. Measured rates are
        changed as little as that requires: the work is then the mean of both. Combinations of loads with less than
        `least` times the largest compliance count as rigid.
        """
        W, B = np.asarray(loads, float), np.asarray(responses, float)
        n = len(u) * (1 if u2 is None else len(u2))
        if W.shape != B.shape or W.shape[:2] != (n, 6):
            raise ModelError(
                f"elastic modes need loads and responses of size ({n}, 6, k) (got {W.shape} and {B.shape})"
            )
        given = np.einsum("nik,nil->nkl", W, B)
        G = 0.5 * (given + given.transpose(0, 2, 1))
        P = np.diag([1.0, 1.0, 1.0, *3 * [LENGTH**-2]])  # a turn counts as the displacement at that distance
        B = B + P @ W @ np.linalg.solve(W.transpose(0, 2, 1) @ P @ W, G - given)
        size = np.sqrt(np.abs(np.einsum("nkk->nk", G)).mean(axis=0))
        if not size.min() > 0:
            raise ModelError(
                "elastic modes: one of the loads does no work on the deflection that it causes; leave this "
                "load out"
            )
        G, W, B = G / np.outer(size, size), W / size, B / size
        values, V = np.linalg.eigh(G.mean(axis=0))
        V = V[:, values > least * values.max()][:, ::-1]
        return cls(**_axes(u, u2), shapes=rows_of(B @ V), stiffness=rows_of(V.T @ G @ V))

    def compliance(self, *u: float) -> np.ndarray:
        """C (6, 6) at u: displacement and turn by forces and moments, in the axes of the frame on the path."""
        tables, r = self.tables, self.count
        B, half = tables.shapes(*u).reshape(6, r), tables.stiffness(*u)
        K = np.array([[half[_place(r, i, j)] for j in range(r)] for i in range(r)])
        return B @ np.linalg.solve(K, B.T)

    def _array(self, name: str) -> np.ndarray:
        try:
            return np.array(getattr(self, name), float)
        except ValueError:
            raise ValueError(f"elastic: the rows of {name} have different lengths") from None

    def _check_positive(self, stiffness: np.ndarray) -> None:
        size = np.abs(stiffness).max()
        if np.abs(stiffness - stiffness.transpose(0, 2, 1)).max() > 1e-9 * size:
            raise ValueError(
                "elastic: stiffness must be symmetric; otherwise, motion along closed paths would create "
                "energy"
            )
        least = np.linalg.eigvalsh(stiffness)[:, 0]
        if least.min() <= 0:
            where = ", ".join(f"{value:g}" for value in self.places[int(np.argmin(least))])
            raise ValueError(
                f"elastic: stiffness is not positive definite at u = {where} (least eigenvalue "
                f"{least.min():.3g})"
            )

    @property
    def count(self) -> int:
        """r, the number of elastic coordinates."""
        return len(self.shapes[0][0])

    @property
    def tables(self) -> ModeTables:
        """All values as tables over u. Equal values return the same table objects."""
        return _tables(self.u, self.u2, self.shapes, self.stiffness, self.damping, self.force, self.energy)

    def _look(self, table: Any, u: SX, lookups: Any, by: int | None = None) -> SX:
        """A table at u (m,), or its derivative with respect to one of its coordinates."""
        orders = [int(i == by) for i in range(self.along)]
        return lookups(table, *ca.vertsplit(u), order=orders[0] if self.along == 1 else tuple(orders))

    def _symmetric(self, table: Any, n: int, u: SX, lookups: Any, by: int | None = None) -> SX:
        """(n, n) of a table of upper triangles, at u, or its derivative."""
        half = self._look(table, u, lookups, by)
        return ca.vertcat(*[ca.horzcat(*[half[_place(n, i, j)] for j in range(n)]) for i in range(n)])

    def action(self, joint: str, motion: Kinematics) -> Action | None:
        """Generalized forces of the bushings on u and e, the energy they store and the power they take."""
        if self.stiffness is None:
            return None
        m, r, lookups = self.along, self.count, motion.lookups
        pairs = [motion.coordinate(joint, i) for i in range(m + r)]
        q, v = (ca.vertcat(*column) for column in zip(*pairs, strict=True))
        u, e = q[:m], q[m:]
        tables = self.tables
        K = self._symmetric(tables.stiffness, r, u, lookups)
        along = [
            self._look(tables.potential, u, lookups, i)
            + 0.5 * e.T @ self._symmetric(tables.stiffness, r, u, lookups, i) @ e
            for i in range(m)
        ]
        lossy = SX.zeros(m + r)
        if tables.damping is not None:
            lossy = self._symmetric(tables.damping, m + r, u, lookups) @ v
        restoring = ca.vertcat(*along, K @ e) + lossy
        names = ["along"] if m == 1 else ["along1", "along2"]
        outputs = {f"e{i + 1}.force": ("N", restoring[m + i]) for i in range(r)} | {
            f"{name}.force": ("N", restoring[i]) for i, name in enumerate(names)
        }
        return Action(
            generalized=tuple((joint, i, -restoring[i]) for i in range(m + r)),
            potential=self._look(tables.potential, u, lookups) + 0.5 * e.T @ K @ e,
            power=-ca.dot(lossy, v),
            outputs=outputs,
        )

    def mirrored(self, plane: str) -> ElasticModes:
        """The elastic modes of the mirror image of the path, about the plane normal to an axis of its frame."""
        sign = np.array([-1.0 if axis == plane else 1.0 for axis in "xyz"])
        shapes = self._array("shapes") * np.concatenate([sign, -sign])[None, :, None]
        return self.model_copy(update={"shapes": rows_of(shapes)})


def mirrored_freedom(joint: Any, along: int, plane: str) -> dict[str, Any]:
    """Springs or elastic modes of the mirror image of a path (`along` 1) or surface (2) joint."""
    if joint.compliance is not None:
        signs = [coordinate.sign(plane) for coordinate in joint.coordinates[along:]]
        return {"compliance": mirrored_springs(joint.compliance, signs)}
    return {} if joint.elastic is None else {"elastic": joint.elastic.mirrored(plane)}


def check_elastic(joint: Any, along: int) -> None:
    """Check that the elastic modes of a path (`along` 1) or surface (2) joint are consistent with its other
    fields."""
    modes = joint.elastic
    if modes is None:
        return
    if joint.compliance is not None:
        raise ValueError(
            f"a {joint.type} joint has either springs (compliance) or elastic modes (elastic); remove one"
        )
    if (modes.stiffness is None) != (joint.coordinate_of is not None):
        raise ValueError("the elastic modes need a stiffness, unless coordinate_of names another joint")
    if modes.along != along:
        raise ValueError(
            "the elastic modes of a path depend on u, and those of a surface on u and u2; "
            f"{'remove' if along == 1 else 'give'} u2"
        )


@dataclass(frozen=True, eq=False)
class ModeTables:
    """Over u: shapes (6 r, row after row), upper triangles of stiffness and damping, V_0 (on a path 0 at first)."""

    shapes: Any
    stiffness: Any
    damping: Any
    potential: Any


@lru_cache(maxsize=256)
def _tables(
    u: Any, u2: Any, shapes: Any, stiffness: Any, damping: Any, force: Any, energy: Any
) -> ModeTables:
    axes = [np.array(u)] if u2 is None else [np.array(u), np.array(u2)]
    sizes: list[int] = [axis.size for axis in axes]
    spline: Any = Table.cubic if u2 is None else Table2.cubic

    def table(given: Any, name: str) -> Any:
        if given is None:
            return None
        values = np.array(given, float)
        if values.ndim == 3 and name != "shapes":
            values = values[:, *np.triu_indices(values.shape[1])]
        options = {"extrapolation": "linear", "name": f"elastic {name}"}
        return spline(*axes, values.reshape(*sizes, -1), **options)

    if u2 is None:
        potential = table(np.zeros(len(u)) if force is None else force, "force").antiderivative()
    else:
        potential = table(np.zeros(sizes) if energy is None else energy, "energy")
    return ModeTables(
        table(shapes, "shapes"), table(stiffness, "stiffness"), table(damping, "damping"), potential
    )


def _place(n: int, i: int, j: int) -> int:
    """Index of entry (i, j) of a symmetric (n, n) matrix in its upper triangle, row after row."""
    i, j = min(i, j), max(i, j)
    return i * n - i * (i - 1) // 2 + j - i


def spanning_loads(C: np.ndarray, modes: int | None = None, length: float = LENGTH) -> np.ndarray:
    """W (6, r): loads that span the directions in which compliances C (n, 6, 6) yield.

    Each is scaled to displace the body by one (m, or rad times `length`) at the middle position.
    """
    S = np.diag([1.0, 1.0, 1.0, length, length, length])
    scaled = S @ C @ S
    sizes = np.linalg.eigvalsh(scaled)[:, ::-1]
    if not sizes[:, 0].min() > 0:
        raise ModelError(
            "elastic modes: no load deflects the body at one of the positions; remove this position or the "
            "elastic modes"
        )
    rank = int((sizes > RANK * sizes.max()).sum(axis=1).min())
    r = rank if modes is None else modes
    if not 1 <= r <= rank:
        raise ModelError(
            f"elastic modes: the number of modes must be from 1 to {rank}, the number of directions in "
            f"which the body deflects (got {r})"
        )
    W = S @ np.linalg.eigh(scaled.mean(axis=0))[1][:, ::-1][:, :r]
    return W / np.abs(S @ C[len(C) // 2] @ W).max(axis=0)


def _axes(u: Any, u2: Any) -> dict[str, Any]:
    """The arrays of positions `u` (and `u2`)."""
    return {name: tuple(float(x) for x in axis) for name, axis in (("u", u), ("u2", u2)) if axis is not None}


def rows_of(array: np.ndarray) -> Any:
    """An array as nested tuples, the form used in descriptions."""
    return tuple(rows_of(part) for part in array) if array.ndim > 1 else tuple(array.tolist())
