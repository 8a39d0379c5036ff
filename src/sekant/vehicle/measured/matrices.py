"""Compliance of a wheel versus its travel as full matrices, and elastic modes of the path or surface it follows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from sekant.columns import read_columns
from sekant.errors import AnalysisWarning, ModelError, SekantError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.joints.elastic import ElasticModes, rows_of
from sekant.vehicle.measured.ramps import LOADS, read_matrices, scaled
from sekant.vehicle.measured.rates import MeasuredCompliance, read_compliance

Vector = NDArray[np.float64]
RIGID = 1e-4  # of the largest compliance: directions with a smaller one are rigid
SOFT = 1e-2  # of the largest compliance: directions with a smaller one are left out without a warning
PLACES = 21  # points along the travel at which elastic modes are given
RACKS = 4  # points along the rack; measured rates do not depend on it
FREE = 1e-2  # of the largest compliance: with a larger one, the height was not held in the measurement


@dataclass(frozen=True, eq=False)
class ComplianceMatrices:
    """Compliance C (n, 6, 6), SI, at travel (n,) m: displacement and rotation of the wheel's center per load on it,
    in vehicle axes."""

    side: str
    travel: Vector
    C: Vector

    def mirrored(self) -> ComplianceMatrices:
        """Matrices of the other wheel of a symmetric axle."""
        sign = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
        return ComplianceMatrices(
            "right" if self.side == "left" else "left", self.travel, sign[:, None] * self.C * sign
        )

    def at(self, u: Vector) -> Vector:
        """Matrices (k, 6, 6) at u (k,) m, at held height.

        They are interpolated linearly, so they are symmetric and positive like the measured matrices.
        """
        C = np.array([_at_held_height(c) for c in self.C])
        flat = C.reshape(len(C), 36)
        if len(C) == 1:
            return np.repeat(C, u.size, axis=0)
        return np.column_stack([np.interp(u, self.travel, column) for column in flat.T]).reshape(-1, 6, 6)

    def modes(self, u: Vector, R: Vector, radius: float, *, u2: Vector | None = None) -> ElasticModes:
        """Elastic modes at u (n,) m of a path with the axes R (n, 3, 3), or of a surface on the grid of u and `u2`.

        A path has at most five modes, a surface four. If there are more directions, a warning is given, and only the
        softest ones are included.
        """
        turn = np.zeros((u.size, 6, 6))
        turn[:, :3, :3] = turn[:, 3:, 3:] = R.transpose(0, 2, 1)
        C = np.repeat(turn @ self.at(u) @ turn.transpose(0, 2, 1), 1 if u2 is None else u2.size, axis=0)
        C = 0.5 * (C + C.transpose(0, 2, 1))
        values = np.linalg.eigvalsh(scaled(C).mean(axis=0))
        most = 5 if u2 is None else 4
        soft = int(np.sum(values > RIGID * values.max()))
        if soft == 0:
            raise ModelError("the compliance matrices are zero; remove 'compliance', or correct its file")
        count = min(soft, most)
        if values[-count - 1] > SOFT * values.max():
            warnings.warn(
                str(_rigid_direction(self.side, count, values[-count - 1] / values.max())), stacklevel=2
            )
        return ElasticModes.from_compliance(u, C, count, u2=u2)


def _rigid_direction(side: str, count: int, softness: float) -> AnalysisWarning:
    return AnalysisWarning(
        "compliance_left_out",
        f"compliance of the {side} wheel",
        "",
        f"a steered wheel has at most {count} elastic modes, so the next direction is treated as rigid, although its "
        f"compliance is {softness:.1%} of the largest compliance",
        "to include five modes, give curves at only one rack position",
    )


def _at_held_height(C: Vector) -> Vector:
    """C under the constraint that the height is held: the row and the column of z are zero."""
    softest = float(scaled(C).diagonal().max())
    if C[2, 2] > FREE * softest:
        C = C - np.outer(C[:, 2], C[2]) / C[2, 2]
    C = C.copy()
    C[2], C[:, 2] = 0.0, 0.0
    return C


def read_rates(path: str | PathLike[str], side: str) -> MeasuredCompliance | ComplianceMatrices:
    """Rates of a wheel from a file, by cases (``lateral_same.toe``) or as full matrices (``fy.rz``)."""
    names = [name.partition(".")[0] for name in read_columns(path).names if name != "travel"]
    if names and all(name in LOADS for name in names):
        return ComplianceMatrices(side, *read_matrices(path))
    return read_compliance(path, side)


Rates = MeasuredCompliance | ComplianceMatrices


def elastic_modes(
    rates: Rates, shape: PoseCurve | PoseSurface, radius: float, lag: float = 0.0
) -> ElasticModes:
    """Elastic modes of measured rates along a path or surface, with a damping of `lag` (s) times the stiffness."""
    surface = isinstance(shape, PoseSurface)
    first, second = shape.range if surface else (shape.range, None)
    inside = (rates.travel > first[0]) & (rates.travel < first[1])
    places = np.union1d(np.linspace(*first, PLACES), rates.travel[inside])
    axes = shape.pose(places, 0.0 * places)[0] if surface else shape.pose(places)[0]
    racks = None if second is None else np.linspace(*second, RACKS)
    try:
        modes = rates.modes(places, axes, radius, u2=racks)
    except SekantError as error:
        raise ModelError(error.message, path=("compliance",)) from None
    if not lag:
        return modes
    K = np.array(modes.stiffness)
    damping = np.zeros((len(K), modes.along + modes.count, modes.along + modes.count))
    damping[:, modes.along :, modes.along :] = lag * K
    return modes.model_copy(update={"damping": rows_of(damping)})
