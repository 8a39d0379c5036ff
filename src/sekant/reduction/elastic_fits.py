"""Paths and surfaces of a mechanism on bushings, and their elastic modes, at as many nodes as a tolerance requires.

The elastic coordinates e at rest follow from the balance K e = g with the forces of the model. K is first that of
the whole mechanism; the part due to forces that remain in the reduced model (springs on bodies that follow,
weights) is then subtracted, so the reduced model as a whole has the compliance of the mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import DataError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.joints.elastic import LENGTH, ElasticModes, rows_of, spanning_loads
from sekant.reduction.bushings import BushingPath, RestingFrame
from sekant.reduction.fits import PoseError

Array = NDArray[np.float64]
NODES = ((33,), (9, 9))
MOST = (257, 65)  # along a path; of a surface, in either direction
# relative to the motion of the kept frame in the modes; m, and entries of R: smaller values are no motion
STILL = 1e-7
MODES = 1000.0  # times the tolerance of poses: tolerance of the compliance, relative to its largest entry


@dataclass(frozen=True, eq=False)
class RestingRow:
    """Solutions on a row or grid with the loads W (6, r) that span the modes, stiffness K (n, r, r) and coordinates
    e (n, r) at rest."""

    places: list[RestingFrame]
    W: Array
    K: Array
    e: Array
    _drive_of: dict[str, int | None] = field(default_factory=dict, init=False)

    @classmethod
    def of(cls, places: list[RestingFrame], W: Array) -> RestingRow:
        """The row with the stiffness of the whole mechanism."""
        C, g = np.array([place.C for place in places]), np.array([place.g for place in places]) @ W
        K = W.T @ C @ W
        K = 0.5 * (K + K.transpose(0, 2, 1))
        return cls(places, W, K, np.asarray(np.linalg.solve(K, g[..., None]), float)[..., 0])

    def modes(self) -> dict[str, ElasticModes]:
        """Elastic modes of the frame and of the bodies that follow it."""
        from scipy.interpolate import CubicSpline

        axes = [tuple(np.unique(u).tolist()) for u in np.transpose([place.u for place in self.places])]
        u: dict[str, Any] = dict(zip(("u", "u2"), axes, strict=False))
        frame, *followers = self.places[0].poses
        grid = self.e.reshape(*(len(axis) for axis in axes), -1)
        along = [
            CubicSpline(axis, grid, axis=i)(axis, 1).reshape(self.e.shape) for i, axis in enumerate(axes)
        ]
        slopes = np.stack(along, axis=-1)  # slopes (n, r, k) of e at rest, with respect to u
        damping = [place.damping(self.W, by) for place, by in zip(self.places, slopes, strict=True)]
        leading = ElasticModes(
            **u,
            shapes=self._shapes(frame),
            stiffness=rows_of(self.K),
            damping=rows_of(np.array(damping)) if np.any(damping) else None,
        )
        moved = [name for name in followers if self.drive_of(name) is None]
        return {frame: leading} | {name: ElasticModes(**u, shapes=self._shapes(name)) for name in moved}

    def drive_of(self, name: str) -> int | None:
        """The drive that alone moves a body which no mode displaces; None for other bodies."""
        if name not in self._drive_of:
            self._drive_of[name] = self._sole_drive(name)
        return self._drive_of[name]

    def _sole_drive(self, name: str) -> int | None:
        frame = next(iter(self.places[0].poses))
        given, largest = (
            max(float(np.abs(place.moved[which] @ self.W).max()) for place in self.places)
            for which in (name, frame)
        )
        if given > STILL * largest:
            return None
        u = np.array([place.u for place in self.places])
        pose = np.array([np.column_stack(place.poses[name]).ravel() for place in self.places])
        for k in range(u.shape[1]):
            _, same = np.unique(u[:, k], return_inverse=True)
            first = pose[[int(np.argmax(same == i)) for i in range(same.max() + 1)]]
            if np.abs(pose - first[same]).max() <= STILL:
                return k
        return None

    def _shapes(self, name: str) -> Any:
        return rows_of(np.array([free.shapes for free in self.unstrained(name)]))

    def unstrained(self, name: str) -> list[Any]:
        """The unstrained body or frame, at each node."""
        return [place.unstrained(name, self.W, e) for place, e in zip(self.places, self.e, strict=True)]

    def pose(self, name: str) -> tuple[Array, Array]:
        """Poses p (n, 3) and R (n, 3, 3) on the path."""
        if self.drive_of(name) is None:
            poses = [(free.p, free.R) for free in self.unstrained(name)]
        else:
            poses = [place.poses[name] for place in self.places]
        return np.array([p for p, _ in poses]), np.array([R for _, R in poses])

    def error(self, shape: PoseCurve | PoseSurface, name: str) -> PoseError:
        """Error of a curve or surface at these nodes."""
        u, k = np.transpose([place.u for place in self.places]), self.drive_of(name)
        R, p = shape.pose(*(u if k is None else u[[k]]))
        return PoseError.of((p, R), self.pose(name))

    def compliance_error(self, modes: ElasticModes) -> float:
        """Largest error of the modes' compliance here, in m and rad per N and N m, relative to its largest entry."""
        S, gaps, sizes = np.diag([1.0, 1.0, 1.0, LENGTH, LENGTH, LENGTH]), [], []
        free = self.unstrained(next(iter(self.places[0].poses)))
        for place, on_path in zip(self.places, free, strict=True):
            exact = on_path.change @ place.C @ on_path.change.T
            gaps.append(np.abs(S @ (modes.compliance(*place.u) - exact) @ S).max())
            sizes.append(np.abs(S @ exact @ S).max())
        return float(max(gaps) / max(sizes))


@dataclass(frozen=True, eq=False)
class PlaceFits:
    """A curve or surface of each name over a `row` of `counts` nodes.

    `errors` of the poses and `off`, the error of the compliance of the kept frame, are evaluated between the nodes.
    """

    row: RestingRow
    shapes: dict[str, Any]
    counts: tuple[int, ...]
    errors: dict[str, PoseError]
    off: float


def fit_places(
    path: BushingPath,
    spans: Sequence[tuple[float, float]],
    drives: Sequence[str],
    units: Sequence[str],
    tolerance: float,
    nodes: Sequence[int] | None,
    elastic: bool | int,
) -> PlaceFits:
    """Fits over the ranges of the drives, refined in the direction in which poses or compliance are inaccurate."""
    k = len(drives)
    counts = list(nodes) if nodes is not None else list(NODES[k - 1])
    while True:
        axes = [np.linspace(*span, n) for span, n in zip(spans, counts, strict=True)]
        places = _places(path, axes)
        W = spanning_loads(np.array([place.C for place in places]), None if elastic is True else int(elastic))
        row = RestingRow.of(places, W)
        shapes, modes = fitted(row, drives, units), row.modes()[path.names[0]]
        middles = [0.5 * (axis[:-1] + axis[1:]) for axis in axes]
        between = [
            _places(path, [middles[i] if i == j else axes[j][:: 4 if k == 2 else 1] for j in range(k)])
            for i in range(k)
        ]
        unseen = [RestingRow.of(some, W) for some in between]
        errors = [{name: some.error(shapes[name], name) for name in path.names} for some in unseen]
        off = [some.compliance_error(modes) for some in unseen]
        worst = {name: max((e[name] for e in errors), key=lambda e: e.worst) for name in path.names}
        found = PlaceFits(row, shapes, tuple(counts), worst, max(off))
        coarse = [
            max(e.worst for e in errors[i].values()) > tolerance or off[i] > MODES * tolerance
            for i in range(k)
        ]
        if nodes is not None or not any(coarse):
            return found
        counts = [2 * n - 1 if more else n for n, more in zip(counts, coarse, strict=True)]
        if max(counts) > MOST[k - 1]:
            raise _too_coarse(found, tolerance)


def fitted(row: RestingRow, drives: Sequence[str], units: Sequence[str]) -> dict[str, Any]:
    """Curves or surfaces through the poses of all bodies."""
    found: dict[str, Any] = {}
    given = dict(zip(drives, units, strict=True))
    for name in row.places[0].poses:
        u, k = np.transpose([place.u for place in row.places]), row.drive_of(name)
        data: dict[str, Any] = dict(zip(drives, u, strict=True))
        data["position"], data["rotation"] = row.pose(name)
        if k is not None:
            rows = np.unique(u[k], return_index=True)[1]
            data = {key: data[key][rows] for key in (drives[k], "position", "rotation")}
        if k is not None or len(drives) == 1:
            drive = drives[k or 0]
            found[name] = PoseCurve.fit(data, drive, units={drive: given[drive]}, name=name)
        else:
            found[name] = PoseSurface.fit(data, (drives[0], drives[1]), kind="spline", units=given, name=name)
    return found


def _places(path: BushingPath, axes: Sequence[Array]) -> list[RestingFrame]:
    """All nodes of a grid, the last axis varying fastest."""
    grid = np.stack([values.ravel() for values in np.meshgrid(*axes, indexing="ij")], axis=1)
    return [path.at(*u) for u in grid.tolist()]


def _too_coarse(found: PlaceFits, tolerance: float) -> DataError:
    worst = max(found.errors, key=lambda name: found.errors[name].worst)
    error, counts = found.errors[worst], " x ".join(str(n) for n in found.counts)
    return DataError(
        f"reduce: with {counts} poses, '{worst}' has errors of {error.position_max:.2g} m and {error.angle_max:.2g} "
        f"rad between the poses (tolerance {tolerance:g}), and the compliance has a relative error of "
        f"{found.off:.2g} (tolerance {MODES * tolerance:g}); narrow the range, or allow a larger tolerance"
    )
