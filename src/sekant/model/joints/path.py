"""Path joint: the child follows a pose curve, rigidly or on springs."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, Self

import casadi as ca
import numpy as np
from pydantic import Field, InstanceOf, PlainSerializer, model_validator

from sekant.errors import ModelError
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.fingerprint import name_or_content
from sekant.geometry.pose_symbolic import CurveMotion, motion_from_components
from sekant.geometry.spatial import SX, Pose, Twist, vector
from sekant.model.examples import Stage
from sekant.model.joints.base import (
    ANGLES,
    Coordinate,
    mirror_of_image,
    refuse_own_start,
    register,
)
from sekant.model.joints.compliance import PathCompliance
from sekant.model.joints.displaced import Displaced, FramedAxes, PathAxes
from sekant.model.joints.elastic import ElasticModes, check_elastic, mirrored_freedom
from sekant.model.joints.guided import GuidedJoint
from sekant.model.quantities import AnyQuantity, CurveName, Direction, JointName

_ALIGNED = 1e-9  # largest deviation of the curve's x axis from the tangent at which it counts as the tangent


@register
class Path(GuidedJoint):
    """The coordinate is the curve's parameter u: X_FM = X(u). The child has the twist V_u u' in the parent, and the
    bias of its acceleration is V_uu u'^2. V_u is the twist for u' = 1, and V_uu its derivative with respect to u.

    With `compliance`, the joint has five more coordinates (HALL 3.82-3.97): displacements n and b along the
    normal and the binormal of the path, and rotations about x, y, z of the frame C that moves along the path.
    In C, the displacement is n N(u) + b B(u), and the rotation is R_x R_y R_z. The velocity includes the
    change of N and B along the path, which HALL 3.84 neglects. The normal is `normal_direction` (in C), made
    perpendicular to the tangent. By default ("frame"), it is the y axis of C, or the z axis where y is nearly
    parallel to the tangent. With "frenet", it is the principal normal of the path, toward the center of
    curvature, as in HALL 3.83. Where the path is straight or starts to bend the other way, the normal is
    blended smoothly and stays on the same side of the path.

    With `elastic`, the joint has r <= 5 more coordinates: the elastic modes of a mechanism on bushings.

    With `coordinate_of`, u is the coordinate of another joint. Joints that share a coordinate form a group
    with one degree of freedom. In this way, each body of a mechanism can follow its own curve. If the other
    joint has several coordinates, as a surface joint has, `coordinate` selects one of them.
    """

    type: ClassVar[str] = "path"
    summary: ClassVar[str] = "follows a path in space with any orientation along it; rigid or compliant"
    signals: ClassVar = ("compliance",)
    local_names: ClassVar = ("u", "x", "rate")
    along: ClassVar = 1
    across: ClassVar = (Coordinate("n", "m"), Coordinate("b", "m", "opposite"), *ANGLES)

    curve: Annotated[CurveName | InstanceOf[PoseCurve], PlainSerializer(name_or_content)]
    """name of the curve in `curves`"""
    q0: AnyQuantity | None = None
    """parameter of the curve at the start"""
    v0: AnyQuantity = 0.0
    """rate of this parameter at the start"""
    compliance: PathCompliance | None = None
    """springs and dampers in the five directions that a rigid joint locks"""
    elastic: ElasticModes | None = None
    """elastic modes of a mechanism on bushings, as `sk.reduce` computes them"""
    normal_direction: Literal["frame", "frenet"] | Direction | None = None
    """normal of a compliant path: "frame" (y axis of the frame that moves along it, the default), "frenet"
    (toward the center of curvature), or a direction in the moving frame"""
    coordinate_of: JointName | None = None
    """joint whose coordinate this joint shares, so that both move together"""
    coordinate: Annotated[int, Field(ge=0)] | None = None
    """index of the shared coordinate, starting at 0, if the other joint has several"""
    mirror: Literal["x", "y", "z"] | None = None
    """mirrors the curve about the plane through the origin of F that is normal to this axis of F"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(**stage.connection(), curve=stage.curve())

    @property
    def _units(self) -> tuple[str, ...]:
        return (self.curve.unit or "",) if isinstance(self.curve, PoseCurve) else ("m",)

    @property
    def guided(self) -> int:
        return 1

    @model_validator(mode="after")
    def _normal_goes_with_compliance(self):
        if self.normal_direction is not None and self.compliance is None:
            raise ValueError(
                "normal_direction applies only to a compliant path; give compliance, or remove normal_direction"
            )
        check_elastic(self, 1)
        return self

    @model_validator(mode="after")
    def _sharing_leaves_nothing_free(self):
        if self.coordinate is not None and (self.coordinate_of is None or self.elastic is not None):
            raise ValueError(
                "coordinate selects a coordinate of the joint that coordinate_of names, and applies only to rigid "
                "paths; remove it"
            )
        return refuse_own_start(self)

    def mirror_changes(self, plane: str) -> dict[str, Any]:
        """Fields that change in the joint's mirror image, in addition to its frames."""
        changes = mirrored_freedom(self, 1, plane)
        if not isinstance(self.curve, str):
            return changes | self._image(self.curve, plane)
        return changes | {"curve": self.curve, "mirror": mirror_of_image(self.mirror, plane)}

    def _image(self, curve: PoseCurve, plane: str) -> dict[str, Any]:
        """Curve and normal of the mirror image: its normal is the mirror image of the normal."""
        image = {"curve": curve.mirrored(plane)}
        if self.compliance is None or self.normal_direction not in (None, "frame"):
            return image  # a direction that is given is mirrored as any other, Frenet's with the curve
        e = self.model_copy(update={"curve": curve, "normal_direction": None})._reference
        normal = tuple(-x if axis == plane else x for axis, x in zip("xyz", e, strict=True))
        return image | {"normal_direction": normal}

    def looks_up(self, geometry: PoseCurve) -> bool:
        low, high = geometry.range
        started = self.q0 is not None or self.coordinate_of is not None or low <= 0.0 <= high
        return started and self.compliance is None and self.elastic is None and self.mirror is None

    def bound(self, curve: PoseCurve) -> Path:
        """A copy of the joint with the curve itself instead of its name."""
        if self.mirror is None:
            return self.model_copy(update={"curve": curve})
        return self.model_copy(update={"mirror": None, **self._image(curve, self.mirror)})

    @property
    def _geometry(self) -> PoseCurve:
        assert isinstance(self.curve, PoseCurve), "curves are bound to joints before equations are built"
        return self.curve

    def _on_curve(self, u: SX, lookups) -> CurveMotion:
        table = self._geometry.table
        y, y1, y2 = (lookups(table, u, order=order) for order in range(3))
        return motion_from_components(y, y1, y2, self._geometry.orientation, self._geometry.R_constant)

    def _deflected(self, q: SX, lookups, order: int = 2) -> tuple[PathAxes | FramedAxes, Displaced]:
        """Axes along the path and displacement from the curve's frame C; `order` 3 for the rates of both."""
        along = self._on_curve(q[0], lookups)
        across = ca.vertcat(0, q[1], q[2])
        if self.normal_direction == "frenet":
            frame = self.model_copy(update={"curve": _frenet(self._geometry)})._on_curve(q[0], lookups)
            framed = FramedAxes(along, frame)
            return framed, Displaced.by(across, q[3:6], framed.R_CD)
        aligned = self._tangent_is_x and self.normal_direction in (None, "frame")
        e = None if aligned else vector(self._reference)
        y_3 = lookups(self._geometry.table, q[0], order=3)[:3] if order == 3 and not aligned else None
        axes = PathAxes(along, e, y_3)
        return axes, Displaced.by(across, q[3:6], axes.R_CD)

    def _pose(self, q, lookups) -> Pose:
        if self.compliance is not None:
            axes, moved = self._deflected(q, lookups)
            return moved.pose(axes.along.R_FM, axes.along.p_FM)
        along = self._on_curve(q[0], lookups)
        return Pose(ca.densify(along.R_FM), along.p_FM)

    def _subspace(self, q, lookups) -> SX:
        if self.compliance is None:
            return self._on_curve(q[0], lookups).S
        axes, moved = self._deflected(q, lookups)
        column = moved.column(axes.along.S[:3], axes.s_D + ca.cross(axes.turning, moved.d))
        across = ca.vertcat(SX.zeros(3, 2), moved.R_MD[:, 1:])
        return ca.horzcat(column, across, moved.S_angles)

    def _bias(self, q, v, S, lookups) -> SX:
        if self.compliance is None:
            return self._on_curve(q[0], lookups).dS * v[0] ** 2
        axes, moved = self._deflected(q, lookups, 3)
        turning = axes.along.dS[:3] * v[0] ** 2
        return moved.bias(Twist.of(S @ v), v[3:], turning, axes.origin_rate(moved.d, v))

    @property
    def _tangents(self) -> np.ndarray:
        """Unit tangents in M (k, 3) over the range."""
        v = self._geometry.twist(self._geometry.sample(401))[:, 3:]
        speed = np.linalg.norm(v, axis=1)
        if speed.min() <= 1e-9 * max(speed.max(), 1e-300):
            where = self._geometry.sample(401)[int(np.argmin(speed))]
            raise ModelError(
                f"the curve has no tangent at {self._geometry.parameter} = {where:.6g}, where its origin does not "
                "move, but a compliant path needs a tangent everywhere; move the origin away from the axis of "
                "rotation"
            )
        return v / speed[:, None]

    @property
    def _tangent_is_x(self) -> bool:
        return bool(np.abs(self._tangents - [1.0, 0.0, 0.0]).max() < _ALIGNED)

    @property
    def _reference(self) -> tuple:
        if isinstance(self.normal_direction, tuple):
            return self.normal_direction
        nearly = np.abs(self._tangents[:, 1]).max() > 0.9
        return (0.0, 0.0, 1.0) if nearly else (0.0, 1.0, 0.0)

    def out_of_range(self, q) -> str:
        low, high = self._geometry.range
        slack = 1e-6 * (high - low)
        if self._geometry.extrapolation != "error" or low + slack < q[0] < high - slack:
            return ""
        unit = f" {self._geometry.unit}" if self._geometry.unit else ""
        return (
            f"u = {q[0]:.6g}{unit} leaves its path [{low:.6g}, {high:.6g}]{unit}; lengthen the path, reduce the "
            "travel, or allow 'linear' or 'periodic' continuation"
        )

    def initial(self):
        start = self.q0 if self.q0 is not None else self._default_start()
        rest = (0.0,) * (self.nq - 1)
        return (start, *rest), (self.v0, *rest)

    def started(self, q):
        return self.model_copy(update={"q0": q[0]})

    def _default_start(self) -> float:
        low, high = self._geometry.range
        return 0.0 if low <= 0.0 <= high else low


@lru_cache(maxsize=64)
def _frenet(curve: PoseCurve) -> PoseCurve:
    """The path with its Frenet frame."""
    from sekant.geometry.curves.frames import with_frame

    u = curve.sample(401)
    slope, bend = curve.table(u, 1)[:, :3], curve.table(u, 2)[:, :3]
    low, high = curve.range
    sine = np.linalg.norm(np.cross(slope, bend), axis=1)
    if not np.any(sine * (high - low) > 1e-9 * np.linalg.norm(slope, axis=1) ** 2):
        raise ModelError(
            "a straight path has no Frenet normal; leave normal_direction out (the default is y of the "
            "frame), or give a direction"
        )
    return with_frame(curve, "frenet")
