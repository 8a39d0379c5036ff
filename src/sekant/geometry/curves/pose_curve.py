"""Pose curves: u -> X_FM(u) in SE(3), stored as one table of position and orientation components.

A pose curve does not depend on bodies. F is the frame in which it is defined, M the frame that moves along
it. Position,
twist and its derivatives are exact derivatives of the stored piecewise polynomials (see `pose_kinematics`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.cache.plain import NOT_CACHED
from sekant.errors import DataError
from sekant.geometry import pose_kinematics
from sekant.geometry.pose_kinematics import Frame
from sekant.geometry.rotations import (
    angle_between_rotations,
    euler_from_quaternion,
    quaternion_from_rotation,
)
from sekant.tables.continuity import Continuity, continuity_of
from sekant.tables.table import Table

if TYPE_CHECKING:
    import casadi as ca

    from sekant.geometry.curves.formulas import PoseFormula
    from sekant.geometry.fit.report import FitReport
    from sekant.geometry.pose_tables.pose_table import PoseTable

Array = NDArray[np.float64]
RANGE_BEHAVIORS = ("error", "linear", "periodic")


@dataclass(frozen=True, eq=False)
class PoseCurve:
    """X_FM(u): position p_FM [m] in F and orientation R_FM as a function of one parameter u.

    `table` has 3 components of the position, followed by 0 to 4 components of the orientation, depending on the tag
    `orientation` (see `pose_kinematics`). `table.extrapolation` determines the behavior outside the range: "error",
    "linear" (the components continue with constant derivatives) or "periodic" (the curve repeats, as a closed track
    does).
    """

    table: Table
    orientation: str = "none"
    R_constant: Array = field(default_factory=lambda: np.eye(3))  # R_FM if the orientation is "none"
    parameter: str = "u"
    unit: str = ""
    name: str = ""
    report: FitReport | None = None
    formula: PoseFormula | None = field(
        default=None, repr=False, metadata=NOT_CACHED
    )  # the source of the pieces

    def __post_init__(self) -> None:
        m = pose_kinematics.component_count(self.orientation)
        found = self.table.coefficients.shape[1]
        if found != m:
            raise DataError(
                f"orientation '{self.orientation}' requires a table with {m} components (got {found})"
            )
        if self.table.extrapolation not in RANGE_BEHAVIORS:
            raise DataError(
                f"a pose curve cannot continue as '{self.table.extrapolation}' outside its range; "
                f"use one of {', '.join(RANGE_BEHAVIORS)}"
            )
        if not np.allclose(self.R_constant @ self.R_constant.T, np.eye(3), atol=1e-9, rtol=0.0):
            raise DataError("R_constant is not a rotation matrix: R R^T differs from the identity")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "formula": None}

    @property
    def range(self) -> tuple[float, float]:
        """First and last value of the parameter."""
        return float(self.table.breaks[0]), float(self.table.breaks[-1])

    @property
    def length(self) -> float:
        """Extent of the range of the parameter."""
        return self.range[1] - self.range[0]

    @property
    def extrapolation(self) -> str:
        """The behavior outside the range: "error", "linear" or "periodic"."""
        return self.table.extrapolation

    @property
    def closed(self) -> bool:
        """Whether the curve is periodic."""
        return self.extrapolation == "periodic"

    def components(self, u: ArrayLike, order: int = 0) -> Array:
        """The m components (..., m) of the table, or their derivatives of the given order, at the values u (...) of
        the parameter."""
        u = np.asarray(u, float)
        a, b = self.range
        if self.extrapolation == "error":
            slack = 1e-12 * (b - a)
            bad = (u < a - slack) | (u > b + slack) | np.isnan(u)
            if np.any(bad):
                raise DataError(
                    f"pose curve '{self.name or self.parameter}': {self.parameter} = {u[bad].flat[0]:.9g} "
                    f"{self.unit} is outside its range [{a:.9g}, {b:.9g}]; stay inside, fit a longer path, "
                    "or allow continuation ('linear' or 'periodic')"
                )
            u = np.clip(u, a, b)
        flat = np.asarray(self.table(u.ravel(), order))
        return flat.reshape(*u.shape, flat.shape[-1])

    def jet(self, u: ArrayLike, order: int) -> Array:
        """The m components and their derivatives up to the given order, as an array (order + 1, ..., m)."""
        return np.stack([self.components(u, k) for k in range(order + 1)])

    def pose(self, u: ArrayLike) -> tuple[Array, Array]:
        """R_FM (..., 3, 3) and p_FM (..., 3) [m], in F."""
        y = self.components(u)
        return pose_kinematics.rotations(y, self.orientation, self.R_constant), y[..., :3]

    def position(self, u: ArrayLike, order: int = 0) -> Array:
        """p_FM (..., 3) [m] in F, or its derivative of the given order with respect to u."""
        return self.components(u, order)[..., :3]

    def quaternion(self, u: ArrayLike) -> Array:
        """Unit quaternion (..., 4) of R_FM."""
        y = self.components(u)
        if self.orientation == "quaternion":
            return y[..., 3:] / np.linalg.norm(y[..., 3:], axis=-1, keepdims=True)
        return quaternion_from_rotation(pose_kinematics.rotations(y, self.orientation, self.R_constant))

    def euler(self, u: ArrayLike, sequence: str = "zyx") -> Array:
        """Intrinsic Euler angles (..., 3) [rad] of R_FM, continuous along u."""
        return euler_from_quaternion(self.quaternion(u), sequence)

    def _twists(self, u: ArrayLike, order: int, frame: Frame) -> Array:
        return pose_kinematics.twists(self.jet(u, order + 1), self.orientation, self.R_constant, frame)[order]

    def twist(self, u: ArrayLike, frame: Frame = "M") -> Array:
        """V_u = (omega_u, v_u) (..., 6): twist of M in F for du/dt = 1, resolved in M (or in F)."""
        return self._twists(u, 0, frame)

    def twist_rate(self, u: ArrayLike, frame: Frame = "M") -> Array:
        """Derivative (..., 6) of the components of the twist with respect to u."""
        return self._twists(u, 1, frame)

    def twist_jerk(self, u: ArrayLike, frame: Frame = "M") -> Array:
        """Second derivative (..., 6) of the components of the twist with respect to u."""
        return self._twists(u, 2, frame)

    @cached_property
    def continuity(self) -> Continuity:
        """The highest order of derivative of the pose that is continuous, and where the next derivative jumps."""
        t = self.table
        return continuity_of(t.breaks, t.coefficients, t.increment if self.closed else None)

    def sample(self, count: int) -> Array:
        """`count` values of the parameter, evenly spaced over the range, including both ends."""
        return np.linspace(*self.range, count)

    def renamed(self, name: str) -> PoseCurve:
        """A copy of the curve with another name."""
        return replace(self, name=name)

    def reported(self, **entries: Any) -> PoseCurve:
        """A copy of the curve in whose report the given entries are replaced."""
        return replace(self, report=replace(self.report, **entries)) if self.report else self

    def extended(self, extrapolation: str) -> PoseCurve:
        """A copy of the curve with another behavior outside its range. Only a closed curve can be periodic."""
        t = self.table
        curve = replace(self, table=Table(t.breaks, t.coefficients, extrapolation, t.name, t.unit))
        if extrapolation == "periodic":
            curve.check_closed()
        return curve

    def mirrored(self, plane: str) -> PoseCurve:
        """The mirror image about the plane of F normal to `plane` ("x", "y" or "z"): with the reflection P, its
        position is P p and its orientation P R P."""
        t, signs = self.table, pose_kinematics.mirror_signs(self.orientation, plane)
        increment = signs * t.increment if self.closed else None
        c = signs[:, None] * t.coefficients
        table = Table(t.breaks, c, t.extrapolation, t.name, t.unit, increment=increment)
        R = pose_kinematics.mirrored_constant(self.R_constant, plane)
        return replace(self, table=table, R_constant=R, formula=None)

    def check_closed(self, tolerance: float = 1e-6) -> None:
        """Raise `DataError` if the two ends differ by more than `tolerance` (m and rad)."""
        a, b = self.range
        R, p = self.extended("linear").pose(np.array([a, b]))
        p[1] -= self.table.increment[:3]
        gap = float(np.linalg.norm(p[1] - p[0]))
        turn = float(angle_between_rotations(R[0], R[1]))
        if gap > tolerance or turn > max(tolerance, 1e-6):
            raise DataError(
                f"pose curve '{self.name or self.parameter}' does not close: its ends are {gap:.4g} m and "
                f"{np.degrees(turn):.4g} deg apart (at most {tolerance:g} m and rad are allowed); add the "
                "missing piece, or do not use 'periodic'"
            )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the curve as JSON (see `pose_files`). `load` restores exactly the same numbers."""
        from sekant.geometry.pose_files import save_pose

        save_pose(self, path)

    @staticmethod
    def load(path: str | PathLike[str]) -> PoseCurve:
        """Read a curve that `save` wrote."""
        from sekant.geometry.pose_files import CURVE_FORMAT, load_pose

        return load_pose(path, CURVE_FORMAT)

    @staticmethod
    def from_function(function: Any, range: tuple[float, float], **options: Any) -> PoseCurve:
        """Curve from a function of the parameter; see `pose_functions.curve_from_function`."""
        from sekant.geometry.curves.pose_functions import curve_from_function

        return curve_from_function(function, range, **options)

    @staticmethod
    def from_expression(
        symbol: ca.SX,
        position: ca.SX,
        range: tuple[float, float],
        rotation: ca.SX | None = None,
        **options: Any,
    ) -> PoseCurve:
        """Curve from CasADi expressions in `symbol`; see `pose_functions.curve_from_expression`."""
        from sekant.geometry.curves.pose_functions import curve_from_expression

        return curve_from_expression(symbol, position, range, rotation, **options)

    @staticmethod
    def from_control_points(points: ArrayLike, **options: Any) -> PoseCurve:
        """B-spline with the given control points; see `pose_functions.curve_from_control_points`."""
        from sekant.geometry.curves.pose_functions import curve_from_control_points

        return curve_from_control_points(points, **options)

    @staticmethod
    def from_table(table: PoseTable, body: str, **options: Any) -> PoseCurve:
        """Curve that interpolates the poses of a body in a pose table; see `pose_table.PoseTable.curve`."""
        return table.curve(body, **options)

    @staticmethod
    def fit(data: Any, parameter: str = "arc_length", **options: Any) -> PoseCurve:
        """Curve fitted to measured poses (CSV file or arrays); see `fit.path.fit_curve` for the options and the
        method."""
        from sekant.geometry.fit.path import fit_curve

        return fit_curve(data, parameter, **options)

    @staticmethod
    def track(segments: Sequence[Any], **options: Any) -> PoseCurve:
        """Curve of straight, arc, clothoid, helix and fitted segments; see `tracks.composite`."""
        from sekant.geometry.curves.tracks import composite

        return composite(segments, **options)
