"""Measured compliance rates (deg/kN, mm/kN) of a wheel at held height, and the elastic modes that have these
rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from sekant.columns import Columns, read_columns
from sekant.errors import ModelError, counted, suggest
from sekant.model.joints.elastic import ElasticModes
from sekant.vehicle.curves import wheel
from sekant.vehicle.kc.compliance import CASES, MOVES, TURNS, ComplianceTable

Vector = NDArray[np.float64]
QUANTITIES = (*TURNS, *MOVES)
# of the largest compliance of a combination of loads: rates of rigs have errors of a few tenths of a percent
LEAST = 1e-3


@dataclass(frozen=True, eq=False)
class MeasuredCompliance:
    """Compliance rates (n,) of one wheel, in SI, at travel (n,) m, for each load on the wheel and each quantity.

    Loads are fx, fy, mz at the contact (fx with the wheel locked), and dx at the wheel's center. Quantities are those
    of a `ComplianceTable`.
    """

    side: str
    travel: Vector
    rates: dict[tuple[str, str], Vector]

    @classmethod
    def of(cls, tables: Sequence[tuple[float, ComplianceTable]], side: str = "left") -> MeasuredCompliance:
        """Rates from tables at held height, each with its travel (m)."""
        ordered = sorted(tables, key=lambda pair: pair[0])
        rows = [
            (travel, case, quantity, table.rate(case, side, quantity))
            for travel, table in ordered
            for case in table.cases
            for quantity in QUANTITIES
        ]
        return cls.from_rows(rows, side)

    @classmethod
    def from_rows(cls, rows: Sequence[tuple[float, str, str, float]], side: str) -> MeasuredCompliance:
        """Rates from rows of travel, case, quantity, rate (SI).

        If loads on both wheels were measured with equal and with opposite signs, the rate under a load on this wheel
        is half the sum of both rates. If only one of them was measured, the effect of the other wheel is neglected.
        """
        travel = np.unique([row[0] for row in rows])
        found: dict[tuple[str, str], list[list[float]]] = {}
        for at, case, quantity, rate in rows:
            load, *signs = CASES[case]
            if load == "fz":
                continue
            own = signs[0 if side == "left" else 1]
            places = found.setdefault((load, quantity), [[] for _ in travel])
            places[int(np.searchsorted(travel, at))].append(own * rate)
        for (load, quantity), places in found.items():
            if any(not values for values in places):
                raise ModelError(
                    f"the rate of {quantity} under {load} is missing at some values of travel; give it at every "
                    "travel"
                )
        rates = {key: np.array([float(np.mean(v)) for v in places]) for key, places in found.items()}
        return cls(side, travel, rates)

    def mirrored(self) -> MeasuredCompliance:
        """Rates of the other wheel of a symmetric axle: loads along y and about z and displacements along y change
        their sign."""
        sign = {"fy": -1.0, "mz": -1.0, "y": -1.0}
        rates = {
            (load, name): sign.get(load, 1.0) * sign.get(name, 1.0) * rate
            for (load, name), rate in self.rates.items()
        }
        return MeasuredCompliance("right" if self.side == "left" else "left", self.travel, rates)

    @property
    def loads(self) -> tuple[str, ...]:
        """The loads with known responses, in the order of `matrices`."""
        return tuple(load for load in ("fy", "fx", "dx", "mz") if (load, "toe") in self.rates)

    def matrices(self, u: Vector, R: Vector, radius: float) -> tuple[Vector, Vector]:
        """Loads (n, 6, k) on the wheel's center and responses (n, 6, k), in vehicle axes, at u (n,) m.

        R (n, 3, 3) are the axes of the wheel there. Splines interpolate rates between the measured travels; beyond
        them, rates are constant.
        """
        e, zero = R[:, :, 1], np.zeros((u.size, 3))
        arm = wheel.contact(zero, e, radius)  # from the center to the contact
        x, y, z = (np.broadcast_to(axis, arm.shape) for axis in np.eye(3))
        loads = {
            "fy": np.hstack([y, np.cross(arm, y)]),
            "fx": np.hstack([x, np.cross(arm, x)]),
            "dx": np.hstack([x, zero]),
            "mz": np.hstack([zero, z]),
        }
        turning = np.linalg.inv(_angles_by_turns(R, 1.0 if self.side == "left" else -1.0))
        parts = []
        for load in self.loads:
            moves = np.column_stack([self._at(u, load, name) for name in MOVES])
            angles = np.column_stack([self._at(u, load, name) for name in TURNS])
            parts.append(np.hstack([moves, np.einsum("nij,nj->ni", turning, angles)]))
        return np.stack([loads[load] for load in self.loads], axis=-1), np.stack(parts, axis=-1)

    def _at(self, u: Vector, load: str, quantity: str) -> Vector:
        """A rate at u (n,); zero if it was not measured."""
        from scipy.interpolate import CubicSpline

        rates = self.rates.get((load, quantity), np.zeros(self.travel.size))
        if self.travel.size < 3:
            return np.interp(u, self.travel, rates)
        return CubicSpline(self.travel, rates)(np.clip(u, self.travel[0], self.travel[-1]))

    def modes(self, u: Vector, R: Vector, radius: float, *, u2: Vector | None = None) -> ElasticModes:
        """Elastic modes at u (n,) m of a path with the axes R (n, 3, 3), or of a surface on the grid of u and `u2`.

        For a surface, R are the axes straight ahead; in the wheel's axes, the modes are the same for all u2.
        """
        if not self.loads:
            raise ModelError(
                "the compliance rates must contain toe under at least one of the loads fy, fx, dx, mz"
            )
        W, B = self.matrices(u, R, radius)
        for load, work in zip(self.loads, np.einsum("nik,nik->kn", W, B), strict=True):
            if not work.min() > 0:
                raise ModelError(
                    f"compliance rates: under {load} at travel {1e3 * u[int(np.argmin(work))]:.4g} mm, the wheel "
                    "moves opposite to the load; check the signs (toe-in, camber outward and y to the left are "
                    "positive)"
                )
        turn = np.zeros((u.size, 6, 6))
        turn[:, :3, :3] = turn[:, 3:, 3:] = R.transpose(0, 2, 1)
        W, B = (np.repeat(turn @ x, 1 if u2 is None else u2.size, axis=0) for x in (W, B))
        return ElasticModes.from_responses(u, W, B, LEAST, u2=u2)


def _angles_by_turns(R: Vector, s: float) -> Vector:
    """Derivatives (n, 3, 3) of toe, camber and pitch with respect to rotations of a wheel with the axes R about the
    vehicle's x, y, z."""
    x, e = R[:, :, 0], R[:, :, 1]
    found = np.empty((len(R), 3, 3))
    for i, axis in enumerate(np.eye(3)):
        e_u, x_u = np.cross(axis, e), np.cross(axis, x)
        found[:, 0, i] = -s * wheel.steer_angle_rate(e, e_u)
        found[:, 1, i] = wheel.camber_rate(e, e_u, s)
        found[:, 2, i] = -x_u[:, 2] / np.sqrt(1 - x[:, 2] ** 2)
    return found


def read_compliance(path: str | PathLike[str], side: str = "left") -> MeasuredCompliance:
    """Compliance rates of one wheel, from a CSV file with columns such as ``lateral_same.toe [deg/kN]``, ``braking.x
    [mm/kN]``.

    Cases and quantities are those of a `ComplianceTable`, with loads on this wheel. The file has one row for each
    travel in the column ``travel [mm]``; a single row needs no travel and applies everywhere.
    """
    table = read_columns(path)
    rows, travel = [], _travel(table)
    for name in table.names:
        if name == "travel":
            continue
        case, _, quantity = name.partition(".")
        if case not in CASES or quantity not in QUANTITIES:
            known = [f"{c}.{q}" for c in CASES for q in QUANTITIES]
            raise table.wrong(f"unknown column '{name}'; {suggest(name, known, 'columns')}")
        si = ("rad" if quantity in TURNS else "m") + ("/(N*m)" if CASES[case][0] == "mz" else "/N")
        values = table.column(name, si).tolist()
        rows += [(float(at), case, quantity, x) for at, x in zip(travel, values, strict=True)]
    if not rows:
        raise table.wrong("contains no rates")
    try:
        return MeasuredCompliance.from_rows(rows, side)
    except ModelError as error:
        raise table.wrong(error.message) from None


def _travel(table: Columns) -> Vector:
    """Travel (n,) m."""
    if "travel" not in table.names:
        if len(table.values) != 1:
            raise table.wrong(
                f"has {counted(len(table.values), 'rows')}, but no column 'travel'; add this column, or keep only "
                "one row"
            )
        return np.zeros(1)
    travel = table.column("travel", "m")
    if np.unique(travel).size != travel.size:
        raise table.wrong("the same travel occurs in several rows; keep one row for each travel")
    return travel
