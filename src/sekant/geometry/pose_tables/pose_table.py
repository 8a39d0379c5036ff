"""Pose tables: poses of any set of bodies over one drive, with derivatives, to be interpolated (PILS chapter 3).

A table comes from a kinematic analysis (``result.pose_table([...])``) or from arrays. `curve` gives the interpolated
pose of a body as a `PoseCurve`: a path joint can use it directly.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.errors import DataError, suggest
from sekant.files import replace_file
from sekant.geometry import pose_kinematics
from sekant.geometry.curves.formulas import beside
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.curves.refinement import refine
from sekant.geometry.curves.tabulate import achieved
from sekant.geometry.fit.report import FitReport
from sekant.geometry.pose_motion import FIELDS, PoseMotion
from sekant.geometry.pose_tables.pose_hermite import (
    METHODS,
    interpolant,
    quintic_coefficients,
)
from sekant.geometry.pose_tables.pose_rows import read_pose_rows, rows_without_header, write_pose_rows
from sekant.geometry.pose_tables.pose_text import read_pose_text, write_pose_text
from sekant.geometry.pose_tables.table_rates import check_rates
from sekant.geometry.rotations import check_rotations, quaternion_from_rotation, rotation_from_quaternion
from sekant.tables.pieces import check_breaks
from sekant.tables.table import Table

Array = NDArray[np.float64]
Exact = Callable[[Array], Mapping[str, PoseMotion]]  # drive (n,) -> poses of the bodies
FORMAT, VERSION = "sekant pose table", 1
REFIT = 1e-12  # m, or 1 for quaternions: tolerance of a curve against the cubic interpolant


@dataclass(frozen=True, eq=False)
class PoseTable:
    """Poses of bodies at n increasing values `drive` (n,), in the world; `bodies` maps names to `PoseMotion`.

    `exact` derivatives come from the same computation as the poses and are not checked. Others are refused if
    they contradict the poses (`table_rates`).
    """

    drive: Array
    bodies: Mapping[str, PoseMotion]
    parameter: str = "u"
    unit: str = ""
    exact: InitVar[bool] = False

    def __post_init__(self, exact: bool) -> None:
        u = check_breaks(self.drive, "pose table")
        object.__setattr__(self, "drive", u)
        if not self.bodies:
            raise DataError("a pose table needs at least one body")
        object.__setattr__(self, "bodies", {n: _checked(n, m, u.size) for n, m in self.bodies.items()})
        for name, nodes in self.bodies.items() if not exact else ():
            check_rates(name, u, nodes, self.parameter)

    @staticmethod
    def sampled(exact: Exact, nodes: ArrayLike, parameter: str = "u", unit: str = "") -> PoseTable:
        """The table of a function of the drive at given nodes (n,)."""
        u = np.asarray(nodes, float)
        return PoseTable(u, exact(u), parameter, unit, exact=True)

    @staticmethod
    def adapted(
        exact: Exact,
        range: tuple[float, float],
        tolerance: float,
        method: str = "quintic",
        parameter: str = "u",
        unit: str = "",
        most: int = 4096,
    ) -> PoseTable:
        """The table with as many nodes as `tolerance` (m, and rad) requires.

        Intervals are halved until the errors of position and rotation of every body are within the tolerance at
        points between the nodes.
        """
        u = np.linspace(float(range[0]), float(range[1]), 3)
        while True:
            table = PoseTable.sampled(exact, u, parameter, unit)
            bad = table._worst(exact, method) > tolerance
            if not bad.any():
                return table
            if u.size + bad.sum() > most:
                where = 0.5 * (u[:-1] + u[1:])[bad][0]
                raise DataError(
                    f"pose table: {most} nodes are not enough for the tolerance of {tolerance:g} (m, rad) "
                    f"near {parameter} = {where:.6g}; raise the tolerance, or leave out the singular "
                    "position, if there is one"
                )
            u = np.sort(np.concatenate([u, 0.5 * (u[:-1] + u[1:])[bad]]))

    def _worst(self, exact: Exact, method: str) -> Array:
        """Largest error (n - 1,) of position and rotation in each interval, at three points of it."""
        from sekant.geometry.pose_tables.table_errors import pose_errors

        worst = np.zeros(self.drive.size - 1)
        for share in (0.25, 0.5, 0.75):
            u = self.drive[:-1] + share * np.diff(self.drive)
            truth = exact(u)
            for name in self.bodies:
                found = pose_errors(self.motion(name, u, method), truth[name])
                worst = np.maximum(worst, np.maximum(found.e, found.theta))
        return worst

    def check(self, exact: Exact, tolerance: float, method: str = "quintic") -> None:
        """DataError if the table is too coarse for `tolerance` (m, rad); the message gives a sufficient step."""
        worst = self._worst(exact, method)
        i = int(np.argmax(worst))
        if worst[i] <= tolerance:
            return
        step = float(np.diff(self.drive)[i])
        order = 4 if method == "cubic" else 6
        raise DataError(
            f"pose table: the {method} interpolation is off by {worst[i]:.3g} (m or rad) between "
            f"{self.parameter} = {self.drive[i]:.6g} and {self.drive[i + 1]:.6g}, but the tolerance is "
            f"{tolerance:g}; use a step of about {step * (tolerance / worst[i]) ** (1 / order):.2g} there "
            f"instead of {step:.2g}"
        )

    @property
    def range(self) -> tuple[float, float]:
        return float(self.drive[0]), float(self.drive[-1])

    def nodes(self, body: str) -> PoseMotion:
        if body not in self.bodies:
            raise DataError(
                f"pose table: there is no body '{body}'; {suggest(body, list(self.bodies), 'bodies')}"
            )
        return self.bodies[body]

    def motion(self, body: str, u: ArrayLike, method: str = "quintic") -> PoseMotion:
        """Interpolated pose and derivatives at u (k,) within the range."""
        x = np.atleast_1d(np.asarray(u, float))
        low, high = self.range
        if not np.all((x >= low) & (x <= high)):
            raise DataError(
                f"pose table: {self.parameter} is outside its range [{low:.6g}, {high:.6g}] {self.unit}"
            )
        Y = interpolant(self.drive, self.nodes(body), method)(x, 2)
        V = pose_kinematics.twists(Y, "quaternion", np.eye(3), "F")
        return PoseMotion(
            Y[0, :, :3],
            rotation_from_quaternion(Y[0, :, 3:]),
            V[0, :, 3:],
            V[0, :, :3],
            V[1, :, 3:],
            V[1, :, :3],
        )

    def curve(
        self, body: str, method: str = "quintic", extrapolation: str = "error", name: str = ""
    ) -> PoseCurve:
        """The interpolated pose of a body as a curve whose parameter is the drive.

        The quintic interpolant is a piecewise polynomial and is used directly. The cubic interpolant is not a
        polynomial; pieces of degree 7 approximate it to 1e-12 and preserve the jumps of its second derivative
        at the nodes.
        """
        nodes = self.nodes(body)
        if method not in METHODS:
            raise DataError(f"unknown interpolation '{method}'; use one of {', '.join(METHODS)}")
        if method == "quintic":
            breaks, coefficients = self.drive, quintic_coefficients(self.drive, nodes)
            how = "quintic Hermite interpolation of pose and derivatives"
            found: dict[str, Any] = {"pieces": self.drive.size - 1}
        else:
            jet = interpolant(self.drive, nodes, method)
            pieces = refine(
                lambda x, order, side: jet(beside(x, self.drive, side), order),
                self.drive,
                "quaternion",
                tolerance=REFIT,
            )
            breaks, coefficients = pieces.breaks, pieces.coefficients
            how, found = "cubic Hermite interpolation of pose and rates", achieved(pieces, REFIT)
        report = FitReport(
            source="pose table",
            method=how,
            parameter=self.parameter,
            unit=self.unit,
            orientation="quaternion",
            points=self.drive.size,
            **found,
        )
        table = Table(breaks, coefficients, extrapolation=extrapolation, name=name or body, unit=self.unit)
        return PoseCurve(
            table, "quaternion", parameter=self.parameter, unit=self.unit, name=name or body, report=report
        )

    def every(self, step: int) -> PoseTable:
        """The table with every `step`-th node, and the last one."""
        keep = np.unique(np.append(np.arange(0, self.drive.size, step), self.drive.size - 1))
        bodies = {name: nodes.at(keep) for name, nodes in self.bodies.items()}
        return PoseTable(self.drive[keep], bodies, self.parameter, self.unit, exact=True)

    # -- files -----------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the table as JSON, rotations as unit quaternions (w, x, y, z)."""
        bodies = {}
        for name, nodes in self.bodies.items():
            entry = {key: getattr(nodes, key).tolist() for key in FIELDS if key != "rotation"}
            bodies[name] = entry | {"quaternion": quaternion_from_rotation(nodes.rotation).tolist()}
        data = {
            "format": FORMAT,
            "version": VERSION,
            "parameter": self.parameter,
            "unit": self.unit,
            "drive": self.drive.tolist(),
            "bodies": bodies,
        }
        replace_file(path, json.dumps(data, allow_nan=False) + "\n")

    def to_text(self, path: str | PathLike[str], body: str, *, header: bool = True) -> None:
        """Write the poses of one body as CSV: u, T, d, delta and their derivatives; see `pose_text`.

        Without `header`, the file contains only rows of values: u, T, d, delta, psi, theta, phi, x, y; see
        `pose_rows`.
        """
        (write_pose_text if header else write_pose_rows)(self, body, path)

    @staticmethod
    def from_text(
        path: str | PathLike[str], body: str = "body", units: Mapping[str, str] | None = None
    ) -> PoseTable:
        """The table of one body from a CSV file with the columns u, T11 to T34, d1 to d3, delta1 to delta3, each
        in the unit of its header; see `pose_text`. A file without a header has rows u, T (12 or 16 values), d,
        delta. Give its `units`: ``{"drive": "mm", "length": "mm", "angle": "rad"}``; see `pose_rows`."""
        bare = rows_without_header(path)
        if bare is not None:
            u, nodes, parameter, unit = read_pose_rows(path, *bare, units)
        else:
            u, nodes, parameter, unit = read_pose_text(path)
        try:
            return PoseTable(u, {body: nodes}, parameter, unit)
        except DataError as error:
            raise DataError(error.message, file=str(path)) from None

    @staticmethod
    def load(path: str | PathLike[str]) -> PoseTable:
        """Read a table that `save` wrote."""
        from sekant.geometry.pose_files import naming, read_format

        data = read_format(path, FORMAT)
        with naming(path):
            bodies = {}
            for name, entry in data["bodies"].items():
                arrays = {key: np.asarray(entry[key], float) for key in FIELDS if key != "rotation"}
                bodies[name] = PoseMotion(
                    rotation=rotation_from_quaternion(np.asarray(entry["quaternion"], float)), **arrays
                )
            return PoseTable(np.asarray(data["drive"], float), bodies, data["parameter"], data["unit"])


def _checked(name: str, nodes: PoseMotion, n: int) -> PoseMotion:
    for key, values in nodes.fields.items():
        wanted = (n, 3, 3) if key == "rotation" else (n, 3)
        if values.shape != wanted:
            raise DataError(f"pose table: '{name}': {key} must have shape {wanted} (got {values.shape})")
        if not np.all(np.isfinite(values)):
            raise DataError(
                f"pose table: '{name}': {key} is not finite at node {int(np.argwhere(~np.isfinite(values))[0][0])}; "
                "leave out singular positions"
            )
    check_rotations(nodes.rotation)
    return nodes
