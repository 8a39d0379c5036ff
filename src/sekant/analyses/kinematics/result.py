"""The result of a kinematic analysis."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.kinematics.bodies import body_motion
from sekant.analyses.kinematics.equations import DrivenEquations
from sekant.analyses.kinematics.limits import LOST, MEETING, Limit, drive_text
from sekant.analyses.kinematics.quantities import SweepQuantity, find
from sekant.engine.codegen.native import NativeFunction
from sekant.errors import AnalysisWarning, SekantError, suggest, warning_lines
from sekant.geometry.pose_motion import PoseMotion
from sekant.geometry.pose_tables.pose_table import PoseTable
from sekant.geometry.spatial import SX
from sekant.results.table import write_rows

Array = NDArray[np.float64]
ALL = "*"
"""The name, within this module, of the quantity with all coordinates as components."""


@dataclass(frozen=True, eq=False, repr=False)
class KinematicsResult:
    """Positions of a mechanism at n reached values of one drive, or n points of two drives.

    With one drive, the result has the values `drive` (n,), the coordinates `q` (n, nq), and their first and second
    derivatives `dq` and `ddq` (n, nq) with respect to the drive. With two drives, the shapes are `drive` (n, 2),
    `dq` (n, 2, nq) and `ddq` (n, 2, 2, nq). Points are in the requested order. ``result["hub.z"]`` is any quantity
    that depends on the position; `derivative` and `second_derivative` are its derivatives with respect to the drive.
    `body` returns poses and twists. At singular positions (`singular`, (n,)) derivatives are NaN.
    """

    equations: DrivenEquations
    drive_names: tuple[str, ...]
    axes: tuple[Array, ...]  # requested values of each drive
    begin: Array  # (drives and held quantities,) values at the start
    asked: Array  # (N, drives and held quantities) requested points
    reached: NDArray[np.bool_]  # (N,) whether a requested point is in the result
    q: Array
    w: Array  # (n, m, nv) displacements by each drive
    ww: Array  # (n, m, m, nv)
    singular: NDArray[np.bool_]
    limits: tuple[Limit, ...]
    iterations: int

    def __len__(self) -> int:
        return self.q.shape[0]

    def __repr__(self) -> str:
        return f"<KinematicsResult {self.system.model.name}: {len(self)} of {self.reached.size} points>"

    @property
    def system(self) -> Any:
        return self.equations.system

    @cached_property
    def points(self) -> Array:
        """The reached points (n, drives and held quantities)."""
        return self.asked[self.reached]

    @property
    def nothing(self) -> str:
        """Message that says why no point was reached."""
        shown = [self.equations.shown_as(k) for k in self._drives]
        spans = zip(shown, self.asked.min(axis=0), self.asked.max(axis=0), strict=False)
        texts = (f"{name} = {low - zero:.6g} to {high - zero:.6g}" for (name, zero), low, high in spans)
        wanted = ", ".join(dict.fromkeys(texts))
        why = "; ".join(str(limit) for limit in self.limits) or "the branch was lost"
        return (
            f"model '{self.system.model.name}': no part of the range {wanted} can be reached from the start "
            f"at {drive_text(self.equations, self.begin)}: {why}"
        )

    @property
    def complete(self) -> bool:
        """Whether every requested point is in the result."""
        return bool(self.reached.all())

    @property
    def warnings(self) -> tuple[AnalysisWarning, ...]:
        """Warnings about values that were not reached, and positions without derivatives."""
        found = self._not_reached()
        for limit in self.limits:
            if limit.kind == MEETING:
                remedy = "check that the positions beyond are on the branch that you want"
                found.append(AnalysisWarning("branches_meet", "", "", limit.text, remedy))
        if self.singular.any():
            where = ", ".join(f"{value:.6g}" for value in self.points[self.singular][:6, 0])
            count = int(self.singular.sum())
            are = "position is singular and has" if count == 1 else "positions are singular and have"
            cause = f"{count} {are} no derivatives"
            remedy = "drive another quantity, or leave out such positions"
            place = f"{self.drive_names[0]} = {where}"
            found.append(AnalysisWarning("singular_points", "", place, cause, remedy))
        return tuple(found)

    def _not_reached(self) -> list[AnalysisWarning]:
        """A warning for each drive with missing points."""
        if self.complete:
            return []
        if not len(self):
            return [AnalysisWarning("range_not_reached", "", "", self.nothing, "")]
        ends = "; ".join(dict.fromkeys(limit.kind for limit in self.limits))
        missing = self.reached.size - len(self)
        cause = f"{missing} of {self.reached.size} points {'was' if missing == 1 else 'were'} not reached"
        cause += f" ({ends})" if ends else ""
        found = []
        for k, unit in enumerate(self.drive_units):
            label, zero = self.equations.shown_as(k)
            asked, got = self.asked[:, k] - zero, self.points[:, k] - zero
            if asked.size > 1 and not np.ptp(asked):
                continue
            place = f"requested {asked.min():.6g} to {asked.max():.6g} {unit}".strip()
            if len(self.axes) == 1:
                low, high = self._ends(k, got.min() + zero, got.max() + zero)
                remedy = f"use {up_to(low - zero, 1)} to {up_to(high - zero, -1)} {unit}".strip()
            else:
                low, high = got.min(), got.max()
                remedy = f"the points that were reached lie between {low:.6g} and {high:.6g} {unit}".strip()
            found.append(AnalysisWarning("range_not_reached", f"drive '{label}'", place, cause, remedy))
        return list(dict.fromkeys(found))

    def _ends(self, k: int, low: float, high: float) -> tuple[float, float]:
        """Range of the k-th drive: the limits outside the reached points, or the reached values `low` and `high`."""
        ends = [float(limit.value[k]) for limit in self.limits if limit.kind != LOST]
        return (
            max((end for end in ends if end < low), default=low),
            min((end for end in ends if end > high), default=high),
        )

    @property
    def drive(self) -> Array:
        """Values of the drive (n,), or of two drives (n, 2)."""
        values = self.points[:, : len(self.drive_names)]
        return values[:, 0] if len(self.drive_names) == 1 else values

    @property
    def drive_units(self) -> tuple[str, ...]:
        return tuple(drive.unit for drive in self.equations.drives[: len(self.drive_names)])

    @property
    def q_names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return self.system.state_names[: self.system.nq]

    def on_grid(self, values: Array) -> Array:
        """Values (n, ...) on the requested grid, (n1, ...) or (n1, n2, ...); NaN at points that were not reached."""
        shape = tuple(axis.size for axis in self.axes)
        if values.shape[0] == self.reached.size:
            return values.reshape(*shape, *values.shape[1:])
        full = np.full((self.reached.size, *values.shape[1:]), np.nan)
        full[self.reached] = values
        return full.reshape(*shape, *values.shape[1:])

    # -- coordinates -----------------------------------------------------------------------------------

    @cached_property
    def dq(self) -> Array:
        """Derivatives of the coordinates with respect to the drive (n, nq); (n, 2, nq) for two drives."""
        return self._first(ALL)

    @cached_property
    def ddq(self) -> Array:
        """Second derivatives of the coordinates with respect to the drive (n, nq); (n, 2, 2, nq) for two drives."""
        return self._second(ALL)

    # -- bodies and quantities -------------------------------------------------------------------------

    def body(self, reference: str) -> PoseMotion:
        """Pose of a body or of a frame on it (``body.frame``), with first and second derivatives with respect
        to the drive."""
        if reference not in self.system.model.frame_names():
            hint = suggest(reference, self.system.model.frame_names(), "frames")
            raise SekantError(f"kinematics: unknown body or frame '{reference}'; {hint}")
        return body_motion(
            self.system, reference, self.equations.t, self.equations.p, self.q, self.w, self.ww
        )

    def pose_table(self, bodies: Sequence[str] | None = None) -> PoseTable:
        """Table of the poses of the named bodies or frames (by default all bodies) and their derivatives with
        respect to the drive."""
        if len(self.drive_names) != 1:
            raise SekantError("kinematics: a pose table needs a sweep with one drive; this sweep has two")
        order = np.argsort(self.drive)
        order = order[~self.singular[order]]
        names = list(self.system.model.bodies) if bodies is None else list(bodies)
        motions = {name: self.body(name).at(order) for name in names}
        return PoseTable(self.drive[order], motions, self.drive_names[0], self.drive_units[0], exact=True)

    def quantity(self, name: str) -> SweepQuantity:
        """Unit and components of a quantity."""
        return self.system.cached(("quantity", name), lambda: find(self.system, name).described)

    def __getitem__(self, name: str) -> Array:
        """Values (n,) or (n, components) of a coordinate, point, sensor or force output, see `kinematics`."""
        quantity = self.quantity(name)
        values = self._functions(name)[0].map(self._time, self.q, self._row)[0]
        if quantity.periodic and len(self.drive_names) == 1 and len(self) > 1:
            order = np.argsort(self.drive)
            values[order] = np.unwrap(values[order], axis=0)
        return values if quantity.components else values[:, 0]

    def derivative(self, name: str) -> Array:
        """Derivative with respect to the drive (n,) or (n, components); with two drives (n, 2) or (n, 2,
        components)."""
        found = self._first(name)
        return found if self.quantity(name).components else found[..., 0]

    def second_derivative(self, name: str) -> Array:
        """Second derivative (n,) or (n, components); with two drives (n, 2, 2) or (n, 2, 2, components)."""
        found = self._second(name)
        return found if self.quantity(name).components else found[..., 0]

    def _first(self, name: str) -> Array:
        """Derivatives (n, k) of a quantity with k components; (n, 2, k) for two drives."""
        function = self._functions(name)[1]
        parts = [function.map(self._time, self.q, self.w[:, i], self._row)[0] for i in self._drives]
        return parts[0] if len(parts) == 1 else np.stack(parts, axis=1)

    def _second(self, name: str) -> Array:
        """Second derivatives (n, k) of a quantity with k components; (n, 2, 2, k) for two drives."""
        function, rows = self._functions(name)[2], []
        for i in self._drives:
            given = [
                (self._time, self.q, self.w[:, i], self.w[:, j], self.ww[:, i, j], self._row)
                for j in self._drives
            ]
            rows.append(np.stack([function.map(*one)[0] for one in given], axis=1))
        found = np.stack(rows, axis=1)
        return found[:, 0, 0] if len(rows) == 1 else found

    @property
    def _drives(self) -> range:
        return range(len(self.drive_names))

    @property
    def _time(self) -> Array:
        return np.array([[self.equations.t]])

    @property
    def _row(self) -> Array:
        return self.equations.p.reshape(1, -1)

    def _functions(self, name: str) -> tuple[NativeFunction, NativeFunction, NativeFunction]:
        return self.system.cached(("quantity functions", name), lambda: self._build(name))

    def _build(self, name: str) -> tuple[NativeFunction, NativeFunction, NativeFunction]:
        system, eq = self.system, self.system.equations
        w, u, ww = (SX.sym(key, system.nv) for key in ("w", "u", "ww"))
        y = eq.q if name == ALL else ca.densify(find(system, name).expression)
        N = ca.jacobian(eq.qdot, eq.v)
        slope = eq.lookups.jacobian(y, eq.q) @ N
        first = ca.densify(slope @ w)
        second = eq.lookups.jtimes(first, eq.q, N @ u) + slope @ ww
        return (
            system.function("quantity", [eq.t, eq.q, eq.p], [y]),
            system.function("quantity1", [eq.t, eq.q, w, eq.p], [first]),
            system.function("quantity2", [eq.t, eq.q, w, u, ww, eq.p], [ca.densify(second)]),
        )

    # -- tables and summaries --------------------------------------------------------------------------

    def table(self, names: Sequence[str] | None = None, derivatives: bool = True) -> tuple[list[str], Array]:
        """Labels with units, and rows of values: the drives, then the quantities `names` (by default the
        coordinates), each followed by its derivatives with respect to the drives."""
        labels = [_label(n, u) for n, u in zip(self.drive_names, self.drive_units, strict=True)]
        n = len(self)
        columns = [self.points[:, : len(self.drive_names)]]
        for name in self._default_names() if names is None else names:
            quantity = self.quantity(name)
            labels += [_label(label, quantity.unit) for label in quantity.labels]
            columns.append(self[name].reshape(n, -1))
            if not derivatives:
                continue
            slopes = self.derivative(name).reshape(n, len(self.drive_names), -1)
            for i, drive in enumerate(self.drive_names):
                labels += [f"d({label})/d({drive})" for label in quantity.labels]
                columns.append(slopes[:, i])
        return labels, np.column_stack(columns)

    def _default_names(self) -> list[str]:
        """Coordinates of all joints that report them; all coordinates for mechanisms modeled with points."""
        model = self.system.model
        if not model.joints:
            return list(self.q_names)
        names = []
        for name, joint in model.joints.items():
            cut = name in self.system.start_facts.cuts
            if joint.nv and not (cut and joint.unit_quaternion is not None):
                names += [f"{name}.{c.name}" for c in joint.coordinates]
        return [name for name in names if name not in self.drive_names]

    def to_csv(self, path: str | os.PathLike[str], names: Sequence[str] | None = None) -> None:
        """Write `table` as CSV with full precision."""
        write_rows(path, *self.table(names))

    def plot(self, path: str | os.PathLike[str], names: Sequence[str] | None = None) -> None:
        """Plot quantities against the drive, and write the figure to a file. With two drives, quantities are plotted
        against the first drive, for several values of the second."""
        from sekant.analyses.kinematics.picture import draw

        draw(self, path, list(names) if names is not None else self._default_names())

    def summary(self) -> str:
        """A text with the drives, the range that was reached and the ends of the travel."""
        lines = [
            f"kinematics of '{self.system.model.name}': {len(self)} of {self.reached.size} points reached"
        ]
        for k, (name, unit) in enumerate(zip(self.drive_names, self.drive_units, strict=True)):
            asked, got = self.axes[k], self.points[:, k]
            lines.append(
                f"  {name}: requested {asked.min():.6g} to {asked.max():.6g} {unit}, reached {got.min():.6g} to "
                f"{got.max():.6g} {unit}"
            )
        lines += [f"  {limit}" for limit in self.limits[:6]]
        if len(self.limits) > 6:
            lines.append(f"  and {len(self.limits) - 6} more limits")
        return "\n".join([*lines, *warning_lines(self.warnings)])

    def digest(self) -> dict[str, Any]:
        """The summary as data for JSON."""
        return {
            "model": self.system.model.name,
            "drives": {
                name: {
                    "unit": unit,
                    "asked": [float(self.axes[k].min()), float(self.axes[k].max()), int(self.axes[k].size)],
                    "reached": [float(self.points[:, k].min()), float(self.points[:, k].max())],
                }
                for k, (name, unit) in enumerate(zip(self.drive_names, self.drive_units, strict=True))
            },
            "points": self.reached.size,
            "reached": len(self),
            "complete": self.complete,
            "limits": [
                {"kind": limit.kind, "value": limit.value.tolist(), "text": limit.text}
                for limit in self.limits
            ],
            "warnings": [warning.as_dict() for warning in self.warnings],
        }


def up_to(value: float, inward: int, digits: int = 4) -> str:
    """A value as a string with a few digits, rounded up (`inward` 1) or down (-1) so that it lies within a range."""
    text = f"{value:.{digits}g}"
    if inward * (float(text) - value) < 0:
        unit = 10.0 ** (np.floor(np.log10(abs(value))) - digits + 1)
        text = f"{float(text) + inward * unit:.{digits}g}"
    return text


def _label(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name
