"""Pose surfaces: (u1, u2) -> X_FM in SE(3), stored as one tensor-product table of components."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import DataError
from sekant.geometry import pose_kinematics
from sekant.geometry.rotations import quaternion_from_rotation
from sekant.tables.table import Table2

if TYPE_CHECKING:
    from sekant.geometry.fit.report import FitReport

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PoseSurface:
    """X_FM(u1, u2): position p_FM [m] in F and orientation R_FM as a function of two parameters.

    The components of the table and the orientation tags are the same as in `PoseCurve`.
    """

    table: Table2
    orientation: str = "none"
    R_constant: Array = field(default_factory=lambda: np.eye(3))
    parameters: tuple[str, str] = ("u1", "u2")
    units: tuple[str, str] = ("", "")
    name: str = ""
    report: FitReport | None = None

    def __post_init__(self) -> None:
        m = pose_kinematics.component_count(self.orientation)
        if self.table.components != m:
            raise DataError(
                f"orientation '{self.orientation}' requires a table with {m} components (got "
                f"{self.table.components})"
            )

    @property
    def range(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """First and last value of each parameter."""
        return self.table.range

    def components(self, u1: ArrayLike, u2: ArrayLike, order: tuple[int, int] = (0, 0)) -> Array:
        """The m components (..., m) of the table, or their partial derivatives of the given orders."""
        x1, x2 = np.broadcast_arrays(np.asarray(u1, float), np.asarray(u2, float))
        y = self.table(x1, x2, order)
        bad = ~np.isfinite(y[..., 0])
        if np.any(bad):
            at = np.unravel_index(int(np.argmax(bad)), bad.shape)
            (a1, b1), (a2, b2) = self.range
            raise DataError(
                f"pose surface '{self.name}': ({self.parameters[0]}, {self.parameters[1]}) = ({x1[at]:.6g}, "
                f"{x2[at]:.6g}) is outside its range [{a1:.6g}, {b1:.6g}] x [{a2:.6g}, {b2:.6g}]; stay inside or "
                "fit a larger surface"
            )
        return y

    def pose(self, u1: ArrayLike, u2: ArrayLike) -> tuple[Array, Array]:
        """R_FM (..., 3, 3) and p_FM (..., 3) [m], in F."""
        y = self.components(u1, u2)
        return pose_kinematics.rotations(y, self.orientation, self.R_constant), y[..., :3]

    def position(self, u1: ArrayLike, u2: ArrayLike, order: tuple[int, int] = (0, 0)) -> Array:
        """p_FM (..., 3) [m] in F, or its partial derivative of the given orders."""
        return self.components(u1, u2, order)[..., :3]

    def quaternion(self, u1: ArrayLike, u2: ArrayLike) -> Array:
        """Unit quaternion (..., 4) of R_FM."""
        return quaternion_from_rotation(self.pose(u1, u2)[0])

    def twists(self, u1: ArrayLike, u2: ArrayLike) -> Array:
        """S (..., 6, 2): twists V_1, V_2 of M in F for unit rates of u1 and u2, resolved in M."""
        directions = ((1, 0), (0, 1))
        columns = []
        y = self.components(u1, u2)
        for d in directions:
            jet = np.stack([y, self.components(u1, u2, d)])
            columns.append(pose_kinematics.twists(jet, self.orientation, self.R_constant)[0])
        return np.stack(columns, axis=-1)

    def twist_rates(self, u1: ArrayLike, u2: ArrayLike) -> Array:
        """dS (..., 6, 2, 2): the derivative of column i of S (see `twists`) with respect to u_j is dS[..., :, i, j].

        The diagonal entries are the twist rates of the curves along u1 and u2. The off-diagonal entries have two
        parts. The symmetric part follows from the rate of V_1 + V_2 along the direction (1, 1), which is
        dV_1/du1 + dV_1/du2 + dV_2/du1 + dV_2/du2. The antisymmetric part follows from
        dV_2/du1 - dV_1/du2 = -(V_1 x V_2), since mixed derivatives on SE(3) do not commute.
        """
        y = self.components(u1, u2)
        first = [self.components(u1, u2, d) for d in ((1, 0), (0, 1))]
        second = [self.components(u1, u2, d) for d in ((2, 0), (1, 1), (0, 2))]

        def rate(dy: Array, ddy: Array) -> Array:
            return pose_kinematics.twists(np.stack([y, dy, ddy]), self.orientation, self.R_constant)[1]

        d11, d22 = rate(first[0], second[0]), rate(first[1], second[2])
        both = rate(first[0] + first[1], second[0] + 2.0 * second[1] + second[2])
        mixed = both - d11 - d22
        S = self.twists(u1, u2)
        w1, v1, w2, v2 = S[..., :3, 0], S[..., 3:, 0], S[..., :3, 1], S[..., 3:, 1]
        bracket = np.concatenate([np.cross(w1, w2), np.cross(w1, v2) + np.cross(v1, w2)], axis=-1)
        out = np.empty((*S.shape, 2))
        out[..., 0, 0], out[..., 1, 1] = d11, d22
        out[..., 0, 1] = 0.5 * (mixed + bracket)
        out[..., 1, 0] = 0.5 * (mixed - bracket)
        return out

    def normal(self, u1: ArrayLike, u2: ArrayLike) -> Array:
        """The normal (..., 3) in F, not normalized: the cross product of dp_FM/du1 and dp_FM/du2. It vanishes where
        the positions do not span a surface."""
        return np.cross(self.position(u1, u2, (1, 0)), self.position(u1, u2, (0, 1)))

    def degeneracy(self, u1: ArrayLike, u2: ArrayLike, length: float | None = None) -> Array:
        """Ratio (...) of the smallest to the largest singular value of the two twists, each scaled to unit size over
        the surface.

        `length` [m] converts rotations to lengths; by default it is the diagonal of the box around the surface's
        positions. The ratio is zero where the two coordinates move the body in the same way; a joint on the surface
        loses a degree of freedom there.
        """
        arm, scale = self._scales
        S = self.twists(u1, u2)
        S[..., :3, :] *= arm if length is None else length
        one, other = np.moveaxis(S / scale, -1, 0)
        a, b, c = (np.sum(x * y, axis=-1) for x, y in ((one, one), (other, other), (one, other)))
        across = other - (c / np.maximum(a, 1e-300))[..., None] * one
        area = np.sqrt(a * np.sum(across**2, axis=-1))  # product of the singular values
        return area / np.maximum(0.5 * (a + b + np.hypot(a - b, 2.0 * c)), 1e-300)

    def degenerate_points(
        self, threshold: float = 1e-3, samples: int = 61
    ) -> list[tuple[float, float, float]]:
        """List of (u1, u2, ratio) for the points where `degeneracy` falls below `threshold`: minima on a grid, which
        are then refined."""
        g1, g2 = self._grid(samples)
        ratio = self.degeneracy(g1, g2)
        padded = np.pad(ratio, 1, constant_values=np.inf)
        shifts = [(i, j) for i in (0, 1, 2) for j in (0, 1, 2) if (i, j) != (1, 1)]
        around = np.stack([padded[i : i + samples, j : j + samples] for i, j in shifts])
        minima = np.argwhere((ratio <= around.min(axis=0)) & (ratio < max(0.1, 10.0 * threshold)))
        minima = minima[np.argsort(ratio[minima[:, 0], minima[:, 1]])][:12]
        if not len(minima):
            return []
        # shrink a 7 x 7 star of points around each minimum
        low, high = (np.array([limits[k] for limits in self.range]) for k in (0, 1))
        at = np.stack([g1[tuple(minima.T)], g2[tuple(minima.T)]], axis=1)
        star = np.stack([g.ravel() for g in np.meshgrid(*[np.linspace(-1.0, 1.0, 7)] * 2)], axis=1)
        width = (high - low) / (samples - 1)
        for _ in range(14):
            trial = np.clip(at[:, None] + width * star, low, high)
            value = self.degeneracy(trial[..., 0], trial[..., 1])
            best = np.argmin(value, axis=1)
            at, width = trial[np.arange(len(at)), best], 0.4 * width
        least = self.degeneracy(at[:, 0], at[:, 1])
        found: list[tuple[float, float, float]] = []
        for (x1, x2), value in zip(at.tolist(), least.tolist(), strict=True):
            apart = all(abs(x1 - p[0]) + abs(x2 - p[1]) > 1e-3 * float(np.sum(high - low)) for p in found)
            if value < threshold and apart:
                found.append((x1, x2, value))
        return found

    def _grid(self, samples: int) -> tuple[Array, Array]:
        (a1, b1), (a2, b2) = self.range
        g1, g2 = np.meshgrid(np.linspace(a1, b1, samples), np.linspace(a2, b2, samples), indexing="ij")
        return g1, g2

    @cached_property
    def _scales(self) -> tuple[float, Array]:
        """Length [m] for converting rotations, and root mean square size (2,) of the two twists on a grid."""
        grid = self._grid(25)
        p = self.position(*grid).reshape(-1, 3)
        size = float(np.linalg.norm(np.ptp(p, axis=0))) or 1.0
        S = self.twists(*grid)
        S[..., :3, :] *= size
        scale = np.sqrt(np.mean(np.sum(S**2, axis=-2), axis=(0, 1)))
        return size, np.where(scale > 0.0, scale, 1.0)

    def extended(self, extrapolation: str | tuple[str, str]) -> PoseSurface:
        """A copy of the surface with another behavior outside its range. Give one value for both parameters, or one
        for each."""
        t = self.table
        return replace(
            self, table=Table2(t.breaks1, t.breaks2, t.coefficients, extrapolation, t.name, t.unit)
        )

    def mirrored(self, plane: str) -> PoseSurface:
        """The mirror image about the plane of F normal to `plane` ("x", "y" or "z"): with the reflection P, its
        position is P p and its orientation P R P."""
        t, signs = self.table, pose_kinematics.mirror_signs(self.orientation, plane)
        c = signs[:, None, None] * t.coefficients
        table = Table2(t.breaks1, t.breaks2, c, t.extrapolation, t.name, t.unit)
        return replace(
            self, table=table, R_constant=pose_kinematics.mirrored_constant(self.R_constant, plane)
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the surface as JSON (see `pose_files`)."""
        from sekant.geometry.pose_files import save_pose

        save_pose(self, path)

    @staticmethod
    def load(path: str | PathLike[str]) -> PoseSurface:
        """Read a surface that `save` wrote."""
        from sekant.geometry.pose_files import SURFACE_FORMAT, load_pose

        return load_pose(path, SURFACE_FORMAT)

    @staticmethod
    def fit(data: Any, parameters: tuple[str, str] = ("u1", "u2"), **options: Any) -> PoseSurface:
        """Surface fitted to measured poses; two columns of the data contain the parameters. See
        `fit.surface.fit_surface`."""
        from sekant.geometry.fit.surface import fit_surface

        return fit_surface(data, parameters, **options)

    @staticmethod
    def from_function(function: Any, range: Any, **options: Any) -> PoseSurface:
        """Surface from a function of two CasADi symbols; see `surface_functions.surface_from_function`."""
        from sekant.geometry.surfaces.surface_functions import surface_from_function

        return surface_from_function(function, range, **options)
