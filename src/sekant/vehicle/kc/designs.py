"""An axle compiled once with its hard points as run-time parameters: curves of any design, and their derivatives.

The curves are one compiled function of the position, the displacements by the drives, and the parameters. Their
derivatives are exact; they follow from the chain rule and `parameter_rates`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.assembly.assemble import assemble
from sekant.analyses.design.numbers_with_slopes import Derived
from sekant.analyses.kinematics.equations import DrivenEquations
from sekant.analyses.kinematics.grid import path_points, walk
from sekant.analyses.kinematics.parameter_rates import parameter_rates
from sekant.analyses.kinematics.quantities import scalar
from sekant.engine.system import System, compile
from sekant.errors import ModelError, check_known, counted, suggest
from sekant.solvers.sweep import Sweep
from sekant.vehicle.curves.frames import frame_pose
from sekant.vehicle.curves.ranges import grid_values, through_zero
from sekant.vehicle.hardpoints.coordinates import coordinates, placed
from sekant.vehicle.hardpoints.description import GivenPoints, hard_points
from sekant.vehicle.kc.compiled import CompiledCurves
from sekant.vehicle.kc.curves import AxleCurves, axle_curves, drives_of, ways_of
from sekant.vehicle.kc.roles import SIDES, AxleRoles, on_rig
from sekant.vehicle.kc.sensitivity import Sensitivities
from sekant.vehicle.suspension.build import axle

if TYPE_CHECKING:
    from sekant.analyses.design.design_point import Design

Vector = NDArray[np.float64]
TOLERANCE = 1e-12
HEIGHTS = 2  # drives with second derivatives
BEYOND = 1e3  # assumed deviation at a position that a design cannot reach
ASSEMBLED = 1e-10  # m: with smaller gaps of joints as drawn, no assembly is necessary


class AxleDesigns:
    """Curves of an axle with rigid joints, as functions of the coordinates of its hard points, such as
    `lower_ball.z`.

    `points` contains the names of the hard points that may move (default: all). `motion`, `travel` and `steering`
    have the same meaning as in `axle_curves`. Travel and changes are measured from the drawing of each design.
    """

    def __init__(
        self,
        given: GivenPoints,
        *,
        points: Sequence[str] | None = None,
        motion: str | Sequence[float] = "parallel",
        travel: ArrayLike | None = None,
        steering: ArrayLike | None = None,
        steered: bool = True,
    ):
        self.given = hard_points(given).model_copy(update={"compliant": False, "load": 0.0})
        self.drawn = coordinates(self.given)
        self.names = _chosen(self.drawn, points)
        model = axle(self.given, movable=True, steered=steered)
        self.roles = AxleRoles.of(model, self.given.suspension)
        self.model = on_rig(model, self.roles)
        ways, self.motion = ways_of(motion)
        if not all(ways):
            raise ModelError(
                "both wheels must move in designs of an axle; give a motion with two nonzero numbers"
            )
        self.ways = np.array(ways)
        self.travel = grid_values(travel, through_zero(*self.roles.left.travel, 41), "travel")
        self.steering = grid_values(steering, np.zeros(1), "steering")
        self.steered = self.roles.left.rack is not None
        self._last: tuple[Any, Vector, Vector] | None = None
        if steering is not None and not self.steered:
            raise ModelError(f"model '{model.name}' has no rack; omit the argument 'steering'")

    # -- compiled parts --------------------------------------------------------------------------------

    @cached_property
    def system(self) -> System:
        """The axle on its rig; its run-time parameters are the coordinates of the points."""
        return compile(self.model, parameters=self.names)

    @cached_property
    def _drives(self) -> tuple[Any, ...]:
        rack = self.roles.left.rack
        names = [f"{role.wheel_center}.z" for _, role in self.roles.sides]
        if rack is not None:
            names.append(f"{rack}.{self.model.joints[rack].coordinates[0].name}")
        return tuple(scalar(self.system, name) for name in names)

    @cached_property
    def _compiled(self) -> CompiledCurves:
        return CompiledCurves(self.system, self.model, self.roles, SIDES, drawn=True)

    @cached_property
    def _drawn_heights(self) -> ca.Function:
        """Heights (2,) of the wheels as drawn, and their derivatives (2, np), as a function of p."""
        eq = self.system.equations
        places = [frame_pose(eq.resolved.model, role.wheel_center) for _, role in self.roles.sides]
        drawn = ca.vertcat(*(place.p[2] for place in places))
        return ca.Function("drawn", [eq.p], [ca.densify(drawn), ca.densify(ca.jacobian(drawn, eq.p))])

    # -- one design ------------------------------------------------------------------------------------

    def curves(self, values: Mapping[str, float] | None = None) -> AxleCurves:
        """The curves of a design in which some coordinates have the given `values` (m); the others are as drawn."""
        rows, p = self._solved(values)
        data = self._compiled.columns(self._columns(rows, p))
        where = drives_of(self.roles, self.ways, self.travel, self.steering)
        limits, warnings = (), ()
        if not all(row.reached.all() for row in rows):
            again = self._by_model(values)
            limits, warnings = again.limits, again.warnings
        return AxleCurves(
            self.model.name,
            "axle",
            self.travel,
            self.steering,
            where | data,
            limits,
            warnings,
            motion=self.motion,
        )

    @property
    def shape(self) -> tuple[int, int]:
        return self.travel.size, self.steering.size

    def many(self, values: Mapping[str, ArrayLike], curves: Sequence[str] | None = None) -> dict[str, Vector]:
        """Curves (N, n, m) of N designs, SI, with NaN at positions that a design cannot reach.

        `values` contains N values (m) of each coordinate, by name.
        """
        columns = {name: np.atleast_1d(np.asarray(column, float)) for name, column in values.items()}
        counts = {column.size for column in columns.values()}
        if len(counts) != 1:
            raise ModelError(
                "all coordinates must have the same number of values, one for each design (got the numbers "
                f"{', '.join(map(str, sorted(counts))) or 'none'})"
            )
        wanted = [self.index(name) for name in curves] if curves else list(range(len(self._compiled.names)))
        found = np.empty((len(wanted), counts.pop(), *self.shape))
        for k in range(found.shape[1]):
            rows, p = self._solved({name: float(column[k]) for name, column in columns.items()})
            found[:, k] = np.moveaxis(self._columns(rows, p)[..., wanted], -1, 0)
        return dict(zip(curves or self._compiled.names, found, strict=True))

    def sensitivities(
        self,
        values: Mapping[str, float] | None = None,
        curves: Sequence[str] | None = None,
        coordinates: Sequence[str] | None = None,
    ) -> Sensitivities:
        """Exact derivatives of curves with respect to coordinates at the first position of the rack.

        By default, these are all curves and all coordinates.
        """
        wanted = [self.index(name) for name in curves] if curves else list(range(len(self._compiled.names)))
        chosen = list(coordinates or self.names)
        slopes = self._slopes(values, chosen)[:, 0][..., wanted]
        names, units = self._compiled.names, self._compiled.units
        labels = list(curves or names)
        return Sensitivities(
            self.model.name,
            self.travel,
            tuple(chosen),
            {labels[k]: units[i] for k, i in enumerate(wanted)},
            {labels[k]: slopes[..., k] for k in range(len(wanted))},
        )

    def index(self, curve: str) -> int:
        """The index of a curve; ``toe`` refers to the left wheel."""
        names = self._compiled.names
        for name in (curve, f"left.{curve}"):
            if name in names:
                return names.index(name)
        raise ModelError(f"there is no curve '{curve}'; {suggest(curve, names, 'curves')}")

    def _slopes(self, values: Mapping[str, float] | None, chosen: Sequence[str]) -> Vector:
        """Derivatives (n, m, k, c) of all curves with respect to the coordinates `chosen`, with NaN at positions
        that are not reached."""
        rows, p = self._solved(values)
        directions = np.zeros((len(chosen), p.size))
        for row, name in zip(directions, chosen, strict=True):
            self._check_movable(name)
            row[self.names.index(name)] = 1.0
        heights = np.array(self._drawn_heights(p)[1]) @ directions.T  # (2, k)
        moves = np.zeros((len(chosen), len(self._drives)))
        moves[:, :2] = heights.T
        equations = DrivenEquations(self.system, self._drives, 0.0, p)
        found = np.full((*self.shape, len(chosen), len(self._compiled.names)), np.nan)
        for j, row in enumerate(rows):
            there = row.reached == 1
            q, w, ww = row.q[there], row.w[there], row.ww[there]
            rates = parameter_rates(equations, q, w, ww, directions, moves)
            given = (q, w, ww, self.ways, np.zeros(0), p)
            found[there, j] = self._compiled.slopes(*given, rates, directions)
        return found

    # -- measures of designs for sk.studies.optimize -----------------------------------------------------------

    def deviation(
        self, targets: Mapping[str, ArrayLike], weights: Mapping[str, float] | None = None
    ) -> Callable[[Design], Derived]:
        """An objective of `sk.studies.optimize`: the sum of squares of `residuals`, with its exact gradient."""
        gaps = self.residuals(targets, weights)

        def squares(design: Design) -> Derived:
            gap, slope = gaps(design.parameters)
            return Derived(float(gap @ gap), 2 * gap @ slope)

        return squares

    def value(self, curve: str, travel: float = 0.0) -> Callable[[Design], Derived]:
        """A measure for `sk.studies.optimize`: a curve (SI) at the position nearest to a travel (m), and its
        gradient."""
        index, at = self.index(curve), int(np.argmin(np.abs(self.travel - travel)))

        def measure(design: Design) -> Derived:
            columns, slopes = self._both(design.parameters)
            return Derived(float(columns[at, 0, index]), slopes[at, 0, :, index])

        return measure

    def residuals(
        self,
        targets: Mapping[str, ArrayLike],
        weights: Mapping[str, float] | None = None,
        tolerances: Mapping[str, float] | None = None,
    ) -> Callable[[Mapping[str, float]], tuple[Vector, Vector]]:
        """A function of a design that returns deviations (r,) from targets and their slopes (r, k).

        `targets` contains values (n,) over the travel for each curve, by name; a curve is free where its target is
        NaN. Each deviation is divided by the tolerance (SI) of its curve, or without one by its largest target or
        deviation as drawn. It is also divided by the square root of the number of positions, and multiplied by the
        weight of the curve, so improvements are of order one. Slopes are with respect to the coordinates of the
        design.
        """
        goals = {name: np.asarray(values, float) for name, values in targets.items()}
        indices = [self.index(name) for name in goals]
        for name, goal in goals.items():
            if goal.shape != self.travel.shape:
                raise ModelError(
                    f"the target of '{name}' has {counted(goal.size, 'values')}, but the travel has "
                    f"{counted(self.travel.size, 'positions')}; give one value for each position"
                )
        wanted = {name: np.isfinite(goal) for name, goal in goals.items()}
        for name, there in wanted.items():
            if not there.any():
                raise ModelError(
                    f"the target of '{name}' is NaN at every position of the travel; give at least one value"
                )
        drawn = self._columns(*self._solved(None))[:, 0, indices].T
        size = [
            (weights or {}).get(name, 1.0)
            / np.sqrt(wanted[name].sum())
            / (tolerances or {}).get(name, max(1e-9, *_finite(goal), *_finite(goal - here)))
            for (name, goal), here in zip(goals.items(), drawn, strict=True)
        ]

        def gaps(values: Mapping[str, float]) -> tuple[Vector, Vector]:
            columns, slopes = self._both(values)
            parts, rows = [], []
            for index, (name, goal), scale in zip(indices, goals.items(), size, strict=True):
                there = wanted[name]
                parts.append(scale * (columns[there, 0, index] - goal[there]))
                rows.append(scale * slopes[there, 0, :, index])
            gap, slope = np.concatenate(parts), np.concatenate(rows)
            lost = ~np.isfinite(gap)  # penalize designs that do not reach a position
            gap[lost], slope[lost] = BEYOND, 0.0
            return gap, slope

        return gaps

    def _both(self, values: Mapping[str, float]) -> tuple[Vector, Vector]:
        """Curves (n, m, c) and slopes (n, m, k, c) with respect to the coordinates of `values`; the latest result is
        cached."""
        key = tuple(values.items())
        if self._last is None or self._last[0] != key:
            columns = self._columns(*self._solved(values))
            self._last = key, columns, self._slopes(values, list(values))
        return self._last[1:]

    # -- positions -------------------------------------------------------------------------------------

    def _solved(self, values: Mapping[str, float] | None) -> tuple[list[Sweep], Vector]:
        """The axle along its travel at each position of the rack, and p (np,)."""
        p = self.system.parameter_vector(self._known(values))
        equations = DrivenEquations(self.system, self._drives, 0.0, p)
        q0 = self._start(equations, values)
        d0, problem = equations.drive_values(q0), replace(equations.problem(), bends=HEIGHTS)
        drawn = np.array(self._drawn_heights(p)[0]).ravel()
        rows = []
        for move in self.steering:
            drives = [z + way * self.travel for z, way in zip(drawn, self.ways, strict=True)]
            if self.steered:
                drives.append(np.full(self.travel.size, move))
            points, axes = path_points((), drives, np.zeros(0))
            scale = max(1.0, float(np.abs(points).max()))
            rows.append(walk(problem, q0, d0, axes, points, TOLERANCE * scale, equations.pool))
        return rows, p

    def _known(self, values: Mapping[str, float] | None) -> dict[str, float]:
        for name in values or {}:
            self._check_movable(name)
        return dict(values or {})

    def _check_movable(self, name: str) -> None:
        check_known(name, self.names, f"'{name}' is not a coordinate of a movable point", "coordinates")

    def _start(self, equations: DrivenEquations, values: Mapping[str, float] | None) -> Vector:
        """Coordinates (nq,) as drawn; the axle is assembled if set-up changes open its joints."""
        q0 = self._drawn_state
        gaps = equations.terms(q0)[0][: -len(self._drives)]
        if np.abs(gaps).max(initial=0.0) < ASSEMBLED:
            return q0
        return assemble(self.system, parameters=self._known(values)).q

    @cached_property
    def _drawn_state(self) -> Vector:
        q = np.zeros(self.system.nq)
        for first, _ in self.system.equations.motion.unit_blocks:
            q[first] = 1.0
        return q

    def _columns(self, rows: list[Sweep], p: Vector) -> Vector:
        """Curves (n, m, c), with NaN at positions that the axle cannot reach."""
        found = np.full((*self.shape, len(self._compiled.names)), np.nan)
        for j, row in enumerate(rows):
            there = row.reached == 1
            given = (row.q[there], row.w[there], row.ww[there], self.ways, np.zeros(0), p)
            found[there, j] = self._compiled.values(*given)
        return found

    def _by_model(self, values: Mapping[str, float] | None) -> AxleCurves:
        """The curves of the design, computed from a rebuilt model, which finds the limits of the travel."""
        return axle_curves(
            placed(self.given, values or {}),
            motion=tuple(self.ways),
            travel=self.travel,
            steering=self.steering if self.steered else None,
        )


def _finite(values: Vector) -> Vector:
    """Magnitudes of the finite values."""
    return np.abs(values[np.isfinite(values)])


def _chosen(drawn: Mapping[str, float], points: Sequence[str] | None) -> list[str]:
    """Coordinates of the points that may move."""
    known = list(dict.fromkeys(name.rpartition(".")[0] for name in drawn))
    for name in points or ():
        check_known(name, known, f"there is no point '{name}'", "points")
    wanted = set(points or known)
    return [name for name in drawn if name.rpartition(".")[0] in wanted]
