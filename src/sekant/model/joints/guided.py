"""Common part of path and surface joints: a child that follows poses over coordinates, rigid, on springs or
elastic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sekant.geometry.spatial import SX, Pose
from sekant.model.joints.base import Coordinate, Joint, pose_difference
from sekant.model.joints.compliance import Deflection, action
from sekant.model.joints.elastic_pose import ElasticPose
from sekant.model.motion import Action, Kinematics

if TYPE_CHECKING:
    from sekant.model.joints.elastic import ElasticModes


class GuidedJoint(Joint):
    """The first `along` coordinates move along the curve or surface `_geometry`; the following ones move away
    from it."""

    along: ClassVar[int]
    across: ClassVar[tuple[Coordinate, ...]]
    """further coordinates of a compliant joint, away from the curve or surface"""

    if TYPE_CHECKING:
        compliance: Any
        elastic: ElasticModes | None

    @property
    def _geometry(self) -> Any:
        raise NotImplementedError

    @property
    def _units(self) -> tuple[str, ...]:
        """Units of the coordinates along the curve or surface."""
        raise NotImplementedError

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        names = ("u",) if self.along == 1 else ("u1", "u2")
        along = tuple(Coordinate(name, unit or "1") for name, unit in zip(names, self._units, strict=True))
        if self.elastic is not None:
            return (*along, *(Coordinate(f"e{i + 1}", "1") for i in range(self.elastic.count)))
        return along if self.compliance is None else (*along, *self.across)

    @property
    def velocities(self) -> tuple[Coordinate, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return tuple(Coordinate(f"{c.name}_rate", f"{c.unit}/s") for c in self.coordinates)

    def _elastic_pose(self, q: SX, lookups: Any) -> ElasticPose | None:
        return None if self.elastic is None else ElasticPose(self.elastic, self._geometry, q, lookups)

    def pose(self, q, lookups) -> Pose:
        elastic = self._elastic_pose(q, lookups)
        return self._pose(q, lookups) if elastic is None else elastic.pose

    def subspace(self, q, lookups) -> SX:
        elastic = self._elastic_pose(q, lookups)
        return self._subspace(q, lookups) if elastic is None else elastic.subspace

    def bias(self, q, v, S, lookups) -> SX:
        elastic = self._elastic_pose(q, lookups)
        return self._bias(q, v, S, lookups) if elastic is None else elastic.bias(v, S)

    def _pose(self, q: SX, lookups: Any) -> Pose:
        """`pose` of a joint without elastic modes."""
        raise NotImplementedError

    def _subspace(self, q: SX, lookups: Any) -> SX:
        raise NotImplementedError

    def _bias(self, q: SX, v: SX, S: SX, lookups: Any) -> SX:
        raise NotImplementedError

    @property
    def loop_parameters(self) -> int:
        return self.nq

    def loop_constraints(self, X_FM: Pose, parameters: SX, lookups) -> SX:
        """The six equations X_FM = X(u), with the coordinates as additional unknowns (HALL 3.1)."""
        return pose_difference(X_FM, self.pose(parameters, lookups))

    def action(self, name: str, motion: Kinematics) -> Action | None:
        if self.elastic is not None:
            return self.elastic.action(name, motion)
        if self.compliance is None:
            return None
        u = [motion.coordinate(name, i)[0] for i in range(self.along)]
        deflections = [
            Deflection(direction, getattr(self.compliance, direction), i, *motion.coordinate(name, i))
            for i, direction in enumerate(self.compliance.directions, start=self.along)
        ]
        return action(name, u, deflections, motion)
