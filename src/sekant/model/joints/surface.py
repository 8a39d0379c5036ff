"""Surface joint: the child moves on a two-parameter family of poses, rigidly or on springs."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

import casadi as ca
from pydantic import InstanceOf, PlainSerializer, model_validator

from sekant.geometry.fingerprint import name_or_content
from sekant.geometry.pose_symbolic import (
    SurfaceMotion,
    motion_from_components,
    surface_motion_from_components,
)
from sekant.geometry.spatial import SX, Pose, Twist
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.examples import Stage
from sekant.model.joints.base import (
    ANGLES,
    Coordinate,
    mirror_of_image,
    refuse_own_start,
    register,
)
from sekant.model.joints.compliance import SurfaceCompliance
from sekant.model.joints.displaced import Displaced
from sekant.model.joints.elastic import ElasticModes, check_elastic, mirrored_freedom
from sekant.model.joints.guided import GuidedJoint
from sekant.model.quantities import AnyQuantity, CurveName, JointName


@register
class Surface(GuidedJoint):
    """The coordinates are the parameters u1 and u2 of the surface: X_FM = X(u1, u2). The child has the twist
    S (u1', u2') in the parent: the columns of S are the twists per unit of u1 and of u2.

    S^T projects forces onto these twists, whatever their length (HALL 3.109 uses unit vectors). With
    `compliance`, the joint has four more coordinates: the displacement along the surface normal and three
    rotations. With `elastic`, the joint has r <= 4 more coordinates: the elastic modes of a mechanism on
    bushings. With `coordinate_of`, the joint shares u1 and u2 with another joint. With
    `second_coordinate_of`, it shares only u2, with a joint that has one coordinate.
    """

    type: ClassVar[str] = "surface"
    summary: ClassVar[str] = "moves with two coordinates on a surface of poses; rigid or compliant"
    signals: ClassVar = ("compliance",)
    local_names: ClassVar = ("u1", "u2", "x", "rate")
    along: ClassVar = 2
    across: ClassVar = (Coordinate("n", "m", "opposite"), *ANGLES)

    surface: Annotated[CurveName | InstanceOf[PoseSurface], PlainSerializer(name_or_content)]
    """name of the surface in `curves`"""
    q0: tuple[AnyQuantity, AnyQuantity] | None = None
    """parameters of the surface at the start"""
    v0: tuple[AnyQuantity, AnyQuantity] = (0.0, 0.0)
    """rates of these parameters at the start"""
    compliance: SurfaceCompliance | None = None
    """springs and dampers in the four directions that a rigid joint locks"""
    elastic: ElasticModes | None = None
    """elastic modes of a mechanism on bushings, as `sk.reduce` computes them"""
    coordinate_of: JointName | None = None
    """joint whose two coordinates this joint shares, so that both move together"""
    second_coordinate_of: JointName | None = None
    """joint with one coordinate, which is also u2 of this surface; u1 remains a coordinate of this joint"""
    mirror: Literal["x", "y", "z"] | None = None
    """mirrors the surface about the plane through the origin of F that is normal to this axis of F"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(**stage.connection(), surface=stage.surface())

    @model_validator(mode="after")
    def _sharing_leaves_nothing_free(self):
        if self.second_coordinate_of is not None:
            if self.coordinate_of is not None:
                raise ValueError("coordinate_of already shares both coordinates; remove second_coordinate_of")
            if self.compliance is not None:
                raise ValueError(
                    "a compliant surface joint cannot share a coordinate of another joint; remove "
                    "compliance or second_coordinate_of"
                )
        check_elastic(self, 2)
        return refuse_own_start(self)

    @property
    def _units(self) -> tuple[str, ...]:
        return self.surface.units if isinstance(self.surface, PoseSurface) else ("1", "1")

    def mirror_changes(self, plane: str) -> dict[str, Any]:
        """Fields that change in the joint's mirror image, in addition to its frames."""
        changes = mirrored_freedom(self, 2, plane)
        if not isinstance(self.surface, str):
            return changes | {"surface": self.surface.mirrored(plane)}
        return changes | {"surface": self.surface, "mirror": mirror_of_image(self.mirror, plane)}

    def looks_up(self, geometry: PoseSurface) -> bool:
        inside = all(low <= 0.0 <= high for low, high in geometry.range)
        started = self.q0 is not None or self.coordinate_of is not None or inside
        return started and self.compliance is None and self.elastic is None and self.mirror is None

    def bound(self, surface: PoseSurface) -> Surface:
        """A copy of the joint with the surface itself instead of its name."""
        image = surface if self.mirror is None else surface.mirrored(self.mirror)
        return self.model_copy(update={"surface": image, "mirror": None})

    @property
    def guided(self) -> int:
        return min(self.nv, 2)

    @property
    def _geometry(self) -> PoseSurface:
        assert isinstance(self.surface, PoseSurface), "surfaces are bound before equations are built"
        return self.surface

    def _components(self, u1: SX, u2: SX, lookups) -> list[SX]:
        """The surface's components, and their derivatives with respect to u1, u2, u1 u1, u1 u2, u2 u2."""
        orders = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
        return [lookups(self._geometry.table, u1, u2, order=order) for order in orders]

    def _on_surface(self, u1: SX, u2: SX, lookups) -> SurfaceMotion:
        y, y_1, y_2, y_11, y_12, y_22 = self._components(u1, u2, lookups)
        surface = self._geometry
        return surface_motion_from_components(
            y, y_1, y_2, y_11, y_12, y_22, surface.orientation, surface.R_constant
        )

    def _deflected(self, q: SX, on: SurfaceMotion) -> tuple[Displaced, SX]:
        """Displacement from the surface's frame C, and the unit normal (3,) in C."""
        n = ca.cross(on.S[3:, 0], on.S[3:, 1])
        n = n / ca.sqrt(ca.dot(n, n))
        return Displaced.by(n * q[2], q[3:6], Pose.identity().R), n

    def _pose(self, q, lookups) -> Pose:
        on = self._on_surface(q[0], q[1], lookups)
        if self.compliance is not None:
            return self._deflected(q, on)[0].pose(on.R_FM, on.p_FM)
        return Pose(ca.densify(on.R_FM), on.p_FM)

    def _subspace(self, q, lookups) -> SX:
        on = self._on_surface(q[0], q[1], lookups)
        if self.compliance is None:
            return on.S
        moved, n = self._deflected(q, on)
        slopes = lookups.jacobian(moved.d, q[:2])
        along = [
            moved.column(w, v + ca.cross(w, moved.d) + slope)
            for w, v, slope in zip(*map(ca.horzsplit, (on.S[:3, :], on.S[3:, :], slopes)), strict=True)
        ]
        normal = ca.vertcat(SX.zeros(3), moved.R_MD @ n)
        return ca.horzcat(*along, normal, moved.S_angles)

    def _bias(self, q, v, S, lookups) -> SX:
        y, y1, y2, y11, y12, y22 = self._components(q[0], q[1], lookups)
        # along the curve that has these rates: one rate of a twist instead of four
        first = y1 * v[0] + y2 * v[1]
        second = (y11 * v[0] + 2 * y12 * v[1]) * v[0] + y22 * v[1] ** 2
        surface = self._geometry
        along = motion_from_components(y, first, second, surface.orientation, surface.R_constant)
        if self.compliance is None:
            return along.dS
        moved, _ = self._deflected(q, self._on_surface(q[0], q[1], lookups))
        d_rate = lookups.jtimes(moved.d, q[:3], v[:3])
        w, w_rate = along.S[:3], along.dS[:3]
        origin = along.dS[3:] + ca.cross(w_rate, moved.d) + ca.cross(w, d_rate)
        origin += lookups.jtimes(d_rate, q[:3], v[:3])
        return moved.bias(Twist.of(S @ v), v[3:], w_rate, origin)

    def out_of_range(self, q) -> str:
        for i, (low, high) in enumerate(self._geometry.range):
            slack = 1e-6 * (high - low)
            if self._geometry.table.extrapolation[i] == "error" and not low + slack < q[i] < high - slack:
                return (
                    f"u{i + 1} = {q[i]:.6g} leaves its surface [{low:.6g}, {high:.6g}]; enlarge the surface, "
                    "reduce the travel, or allow a continuation"
                )
        return ""

    def initial(self):
        start = self.q0 if self.q0 is not None else tuple(self._default_start())
        rest = (0.0,) * (self.nq - 2)
        return (*start, *rest), (*self.v0, *rest)

    def started(self, q):
        return self.model_copy(update={"q0": tuple(q[:2])})

    def _default_start(self) -> list[float]:
        return [0.0 if low <= 0.0 <= high else low for low, high in self._geometry.range]
