"""Surfaces for contacts of points and balls: height fields, and the positions of pose surfaces.

The place where a ball touches is the foot of the perpendicular from its center, found by a few steps of Newton's
method within the equations themselves. They start at the point below the center. For a pose surface, this
point comes from a table of its parameters over x and y, which is computed once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any

import casadi as ca
import numpy as np
from pydantic import InstanceOf, PlainSerializer, model_validator

from sekant.errors import DataError, ModelError
from sekant.geometry.fingerprint import name_or_content
from sekant.geometry.spatial import SX
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.expressions.expression import Expression
from sekant.model.motion import FrameState, Kinematics
from sekant.model.quantities import CurveName, Description, FrameName, Length
from sekant.tables.table import Table2

ROUNDS = 4
"""Newton steps to the foot; each doubles the correct digits, and close to the surface one is enough."""
SAMPLES, PATCHES = 41, 12
"""Number of samples along each parameter of a pose surface, and of patches of the table of first guesses."""


@dataclass(frozen=True, slots=True)
class Foot:
    """The nearest point of a surface: `p` (3,) m, the unit normal `n` (3,), a unit tangent `t` (3,); in W.

    `above` (): height over the surface along its z (m), with the sign of the distance; None where it is as
    expensive as the distance.
    """

    state: FrameState
    p: SX
    n: SX
    t: SX
    above: SX | None


class SurfaceShape(Description):
    """Fields of items that touch a surface: its frame and either a height field or a pose surface."""

    surface: FrameName = "ground"
    """frame in which the surface is described"""
    height: Length | None = None
    """height of the surface, an expression of x and y in the frame `surface`; the expression may call tables"""
    pose_surface: Annotated[CurveName | InstanceOf[PoseSurface] | None, PlainSerializer(name_or_content)] = (
        None
    )
    """pose surface from `curves`, instead of `height`; only its positions are used, and contacts touch its
    upper side (+z)"""

    @model_validator(mode="after")
    def _one_shape(self):
        if (self.height is None) == (self.pose_surface is None):
            raise ValueError("needs either 'height' or 'pose_surface'")
        return self

    def mirror_changes(self, plane: str) -> dict[str, Any]:
        """Fields that change in the mirror image, in addition to frames."""
        if plane == "z":
            raise ModelError(
                "a surface that is touched from above has no mirror image about z; model it separately"
            )
        if isinstance(self.pose_surface, str):
            raise ModelError(
                f"surface '{self.pose_surface}' is given only by its name and cannot be mirrored; model the other "
                "side separately"
            )
        if self.pose_surface is not None:
            return {"pose_surface": self.pose_surface.mirrored(plane)}
        if not isinstance(self.height, Expression):
            return {}
        turned = self.height.renamed(
            lambda name: f"(-{name})" if name == plane else name, lambda table: table
        )
        return {"height": turned}

    def foot(self, motion: Kinematics, p_WC: SX) -> Foot:
        """The point of the surface nearest to p_WC (3,)."""
        surface = motion.frame(self.surface)
        place = surface.R.T @ (p_WC - surface.p)
        if isinstance(self.pose_surface, PoseSurface):
            (p, n, t), above = _on_pose_surface(motion, self.pose_surface, place), None
        else:
            p, n, t, above = _on_height_field(motion, self.height, place)
        return Foot(surface, surface.p + surface.R @ p, surface.R @ n, surface.R @ t, above)


def _on_height_field(motion: Kinematics, given: Any, place: SX) -> tuple[SX, SX, SX, SX]:
    """Foot, normal, tangent, height; (x - x0) + (z - h) h_x = 0, (y - y0) + (z - h) h_y = 0 at the foot (x0, y0)."""
    x, lookups = SX.sym("x", 2), motion.lookups
    height = motion.value(given, {"x": x[0], "y": x[1]})
    if ca.depends_on(height, motion.t):
        raise ModelError(
            "the height must not vary in time, because the energy balance would not include the work of "
            "this motion; attach the surface to a driven body"
        )
    slope = lookups.jacobian(height, x).T
    curvature = lookups.jacobian(slope, x)

    def at(expression: SX, foot: SX) -> SX:
        return lookups.substitute(expression, x, foot)

    foot = place[:2]
    for _ in range(ROUNDS):
        above = place[2] - at(height, foot)
        g = at(slope, foot)
        miss = foot - place[:2] - above * g
        foot = foot - _solved(SX.eye(2) + g @ g.T - above * at(curvature, foot), miss)
    g = at(slope, foot)
    normal = ca.vertcat(-g, 1) / ca.sqrt(1 + ca.dot(g, g))
    tangent = ca.vertcat(1, 0, g[0]) / ca.sqrt(1 + g[0] ** 2)
    return ca.vertcat(foot, at(height, foot)), normal, tangent, place[2] - at(height, place[:2])


def _on_pose_surface(motion: Kinematics, surface: PoseSurface, place: SX) -> tuple[SX, SX, SX]:
    """Foot, normal, tangent; r_1 . (r - place) = r_2 . (r - place) = 0 at the foot r(u1, u2)."""
    shape = _prepared(surface)

    def position(u: SX, *order: int) -> SX:
        return motion.lookups(shape.table, u[0], u[1], order=order)[:3]

    u = motion.lookups(shape.guess, place[0], place[1])
    for _ in range(ROUNDS):
        r1, r2, d = position(u, 1, 0), position(u, 0, 1), position(u, 0, 0) - place
        r11, r12, r22 = position(u, 2, 0), position(u, 1, 1), position(u, 0, 2)
        mixed = ca.dot(r1, r2) + ca.dot(r12, d)
        rows = [[ca.dot(r1, r1) + ca.dot(r11, d), mixed], [mixed, ca.dot(r2, r2) + ca.dot(r22, d)]]
        J = ca.vertcat(*[ca.horzcat(*row) for row in rows])
        u = u - _solved(J, ca.vertcat(ca.dot(r1, d), ca.dot(r2, d)))
    r1, r2 = position(u, 1, 0), position(u, 0, 1)
    n = shape.side * ca.cross(r1, r2)
    return position(u, 0, 0), n / ca.sqrt(ca.dot(n, n)), r1 / ca.sqrt(ca.dot(r1, r1))


def _solved(J: SX, b: SX) -> SX:
    """J^-1 b (2,)."""
    det = J[0, 0] * J[1, 1] - J[0, 1] * J[1, 0]
    return ca.vertcat(J[1, 1] * b[0] - J[0, 1] * b[1], J[0, 0] * b[1] - J[1, 0] * b[0]) / det


@dataclass(frozen=True, eq=False)
class _Prepared:
    """A pose surface that continues straight beyond its edges; `guess`: (x, y) -> (u1, u2), nearly; `side`: +1 or
    -1 such that side r_1 x r_2 points upward."""

    table: Table2
    guess: Table2
    side: float


@lru_cache(maxsize=16)
def _prepared(surface: PoseSurface) -> _Prepared:
    kinds = tuple("linear" if kind == "error" else kind for kind in surface.table.extrapolation)
    table = replace(surface.table, extrapolation=kinds)
    u = [np.linspace(*ends, SAMPLES) for ends in surface.range]
    u1, u2 = (x.ravel() for x in np.meshgrid(*u, indexing="ij"))
    p, r1, r2 = (table(u1, u2, order)[:, :3] for order in ((0, 0), (1, 0), (0, 1)))
    up = r1[:, 0] * r2[:, 1] - r1[:, 1] * r2[:, 0]
    if not (np.all(up > 0) or np.all(up < 0)):
        raise DataError(
            f"pose surface '{surface.name}' is vertical or folds over, so it has several heights at the same x "
            "and y, but a contact needs a single height at each x and y of the frame; rotate the surface, or split it"
        )
    return _Prepared(table, _guesses(table, p[:, :2], np.stack([u1, u2], axis=1)), float(np.sign(up[0])))


def _guesses(table: Table2, xy: np.ndarray, u: np.ndarray) -> Table2:
    """(x, y) -> (u1, u2) on a grid about the samples `xy` (n, 2) at `u` (n, 2)."""
    axes = [np.linspace(low, high, PATCHES + 1) for low, high in zip(xy.min(0), xy.max(0), strict=True)]
    wanted = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    found = u[np.argmin(((wanted[:, None] - xy[None]) ** 2).sum(-1), axis=1)]
    reach = np.ptp(u, axis=0)
    for _ in range(20):
        miss = table(found[:, 0], found[:, 1])[:, :2] - wanted
        slopes = [table(found[:, 0], found[:, 1], order)[:, :2] for order in ((1, 0), (0, 1))]
        step = np.linalg.solve(np.stack(slopes, axis=-1), miss[..., None])[..., 0]
        found = found - np.clip(step, -0.2 * reach, 0.2 * reach)
        found = np.clip(found, u.min(0) - reach, u.max(0) + reach)
    grid = found.reshape(PATCHES + 1, PATCHES + 1, 2)
    return Table2.cubic(axes[0], axes[1], grid, extrapolation="linear", name=f"{table.name} over x and y")
